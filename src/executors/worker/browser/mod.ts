/**
 * What browsers get of `escapement/worker`: handlers in Web Workers.
 *
 * @module
 */
export type { RemoteExecutorOptions } from "../../remote/remote-options.ts";
export { serveTasks } from "./serve-tasks.ts";
export type { WebWorkerEvent, WebWorkerLike } from "./web-worker.ts";
export { WorkerExecutor } from "./web-worker-executor.ts";
export type { WebWorkerExecutorOptions } from "./web-worker-options.ts";
