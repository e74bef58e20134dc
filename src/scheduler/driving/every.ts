import { sleepFor } from "../../core/clock.ts";
import type { Environment } from "../environment.ts";
import { pauseAfterFailure } from "./outage-pause.ts";

/** Calls `run` again and again, `periodMs` milliseconds after the call before ended, until the signal is aborted. A
 *  failure is logged; it adds a pause that grows with every failure in a row. */
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
