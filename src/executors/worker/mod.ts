/**
 * Handlers in threads: on Node, Deno and Bun.
 *
 * @module
 */
export type { RemoteExecutorOptions } from "../remote/remote-options.ts";
export { WorkerExecutor } from "./worker-executor.ts";
export type { WorkerExecutorOptions, WorkerResourceLimits } from "./worker-options.ts";
