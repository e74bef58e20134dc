// The program of a process of a ProcessExecutor.

import process from "node:process";
import { importedModule } from "../../task-server/task-module.ts";
import { TaskServer } from "../../task-server/task-server.ts";
import { watchParent } from "./watch-parent.ts";

const server = new TaskServer(importedModule, (messages) => {
  process.send?.({ escapement: messages }, undefined, undefined, ignore);
});
process.on("message", (data) => server.receive(data));

// Its end is told by the runtime, and its reason here. A handler's module may catch what nobody else does.
process.on("uncaughtExceptionMonitor", (error) => {
  if (process.listenerCount("uncaughtException") === 0) server.crashes(error);
});
// Nobody waits for its jobs any more.
process.on("disconnect", () => process.exit());
// Ctrl-C goes to all processes of the terminal, and a service manager may do the same. The scheduler decides how long
// jobs may run then, and ends this process itself.
process.on("SIGINT", ignore);
process.on("SIGTERM", ignore);
watchParent();

function ignore(): void {}
