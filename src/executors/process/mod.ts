/**
 * Handlers in processes: on Node, Deno and Bun.
 *
 * @module
 */
export type { RemoteExecutorOptions } from "../remote/remote-options.ts";
export { ProcessExecutor } from "./process-executor.ts";
export type { ProcessExecutorOptions } from "./process-options.ts";
