/**
 * What browsers get of `escapement/worker`: handlers in Web Workers.
 *
 * @module
 */

export { serveTasks } from "../../../task-server/serve-tasks.ts";
export type { RemoteExecutorOptions } from "../../remote/remote-options.ts";
export type { WebWorkerEvent, WebWorkerLike } from "./web-worker.ts";
export { WorkerExecutor } from "./web-worker-executor.ts";
export type { WebWorkerExecutorOptions } from "./web-worker-options.ts";
