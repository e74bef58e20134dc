import { callStorage } from "../../core/call-storage.ts";
import type { JobContext } from "../scheduler-client.ts";

const storage = callStorage<JobContext>();

/** Where the worker of an executor shows its storage to a copy of this file that a bundler put into the tasks'
 *  module. */
const OUTER = Symbol.for("escapement.currentJob");

/**
 * The context of the job whose handler calls this function, directly or through functions that the handler calls and
 * awaits; null outside of jobs. It works in the scheduler's own thread and in the workers of executors, and needs the
 * runtime's `AsyncLocalStorage` (Node, Deno, Bun, and Workers with `nodejs_compat`). On other runtimes it works until
 * the handler's first `await`.
 *
 * @example
 * function log(message: string): void {
 *   console.log(currentJob()?.job.id ?? "no job", message);
 * }
 */
export function currentJob(): JobContext | null {
  return storage.get() ?? (globalThis as { [OUTER]?: () => JobContext | null })[OUTER]?.() ?? null;
}

/** Lets other copies of this file in the same thread know the job, too. */
export function showCurrentJob(): void {
  Object.assign(globalThis, { [OUTER]: () => storage.get() ?? null });
}

/** Runs a handler so that {@link currentJob} knows its context. */
export function runAsCurrentJob<R>(context: JobContext, work: () => R): R {
  return storage.run(context, work);
}
