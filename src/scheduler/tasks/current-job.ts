import { callStorage } from "../../core/call-storage.ts";
import type { JobContext } from "../scheduler-client.ts";

const storage = callStorage<JobContext>();

/**
 * The context of the job whose handler calls this function, directly or through functions that the handler calls and
 * awaits; null outside of jobs. It works in handlers that run in the scheduler's own thread, and needs the runtime's
 * `AsyncLocalStorage` (Node, Deno, Bun, and Workers with `nodejs_compat`). On other runtimes it works until the
 * handler's first `await`.
 *
 * @example
 * function log(message: string): void {
 *   console.log(currentJob()?.job.id ?? "no job", message);
 * }
 */
export function currentJob(): JobContext | null {
  return storage.get() ?? null;
}

/** Runs a handler so that {@link currentJob} knows its context. */
export function runAsCurrentJob<R>(context: JobContext, work: () => R): R {
  return storage.run(context, work);
}
