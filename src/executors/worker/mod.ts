/**
 * Handlers in threads, and a thread that keeps the leases of a blocked event loop: on Node, Deno and Bun. Browsers get
 * another module, with handlers in Web Workers: `WorkerExecutor` and `serveTasks`, and no `LeaseThread`.
 *
 * @module
 */

export { serveTasks } from "../../task-server/serve-tasks.ts";
export type { RemoteExecutorOptions } from "../remote/remote-options.ts";
export type { WebWorkerEvent, WebWorkerLike } from "./browser/web-worker.ts";
export type { WebWorkerExecutorOptions } from "./browser/web-worker-options.ts";
export { LeaseThread } from "./lease-thread.ts";
export type { LeaseThreadOptions } from "./lease-thread-options.ts";
export { WorkerExecutor } from "./worker-executor.ts";
export type { WorkerExecutorOptions, WorkerResourceLimits } from "./worker-options.ts";
