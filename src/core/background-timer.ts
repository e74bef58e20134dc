import { unrefTimer } from "./host.ts";

/** Calls `run` about every `periodMs` milliseconds, until the returned function is called. Does not keep the process
 *  alive where the runtime has processes. */
export function startBackgroundTimer(periodMs: number, run: () => void): () => void {
  const handle: unknown = setInterval(run, periodMs);
  unrefTimer(handle);
  return () => clearInterval(handle as number);
}
