/**
 * Handlers in threads, and a thread that keeps the leases of a blocked event loop: on Node, Deno and Bun.
 *
 * @module
 */
export type { RemoteExecutorOptions } from "../remote/remote-options.ts";
export { LeaseThread } from "./lease-thread.ts";
export type { LeaseThreadOptions } from "./lease-thread-options.ts";
export { WorkerExecutor } from "./worker-executor.ts";
export type { WorkerExecutorOptions, WorkerResourceLimits } from "./worker-options.ts";
