// The program of a thread of a WorkerExecutor.

import { parentPort } from "node:worker_threads";
import { importedModule } from "../../task-server/task-module.ts";
import { TaskServer } from "../../task-server/task-server.ts";

if (parentPort !== null) {
  const port = parentPort;
  const server = new TaskServer(importedModule, (messages) => port.postMessage({ escapement: messages }));
  port.on("message", (data) => server.receive(data));
}
