import { sleepFor } from "../../core/clock.ts";
import type { Environment } from "../environment.ts";
import { pauseAfterFailure } from "./outage-pause.ts";

/** Repeats something after every so many milliseconds, until the signal is aborted. What fails is logged, and repeated
 *  after a pause that grows. */
export async function every(
  env: Environment,
  name: string,
  periodMs: number,
  signal: AbortSignal,
  run: () => Promise<void>,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    await sleepFor(env.clock, periodMs, signal);
    if (signal.aborted) return;
    try {
      await run();
      failures = 0;
    } catch (error) {
      await pauseAfterFailure(env, name, error, ++failures, signal);
    }
  }
}
