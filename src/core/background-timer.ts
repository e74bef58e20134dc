import { unrefTimer } from "./host.ts";

/** Calls `run` after `delayMs` milliseconds or later. The timer does not keep the program alive, where the runtime lets
 *  a program end while timers wait. @returns a function that stops the timer */
export function startBackgroundTimer(run: () => void, delayMs: number): () => void {
  const handle = setTimeout(run, delayMs);
  unrefTimer(handle);
  return () => clearTimeout(handle);
}

/** Calls `run` about every `periodMs` milliseconds, until the returned function is called. Does not keep the program
 *  alive either. */
export function startBackgroundInterval(periodMs: number, run: () => void): () => void {
  const handle = setInterval(run, periodMs);
  unrefTimer(handle);
  return () => clearInterval(handle);
}
