import { callStorage } from "../../core/call-storage.ts";
import type { JobContext } from "../scheduler-client.ts";

const storage = callStorage<JobContext>();

/**
 * The context of the job whose handler called this, directly or through whatever it calls and awaits; null outside of
 * jobs. Known in handlers that run in the scheduler's own thread. Needs the runtime's `AsyncLocalStorage` (Node, Deno,
 * Bun, and Workers with `nodejs_compat`); elsewhere it is known until the handler's first `await`.
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
