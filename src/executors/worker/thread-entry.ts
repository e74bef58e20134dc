// The program of a thread of a WorkerExecutor.

import { parentPort } from "node:worker_threads";
import { importedHandlers } from "../remote/task-module.ts";
import { TaskServer } from "../remote/task-server.ts";

if (parentPort !== null) {
  const port = parentPort;
  const server = new TaskServer(importedHandlers, (messages) => port.postMessage({ escapement: messages }));
  port.on("message", (data) => server.receive(data));
}
