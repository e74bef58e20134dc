import { sleepFor } from "../../core/clock.ts";
import { EscapementError } from "../../core/errors.ts";
import type { Environment } from "../environment.ts";
import { OUTAGE_PAUSE_MS_MAX, OUTAGE_PAUSE_MS_MIN } from "./limits.ts";

/** The failure that each logger logged last. */
const logged = new WeakMap<object, unknown>();

/** Logs a failure, and waits before the next try. The wait is random between zero and a pause (full jitter); the pause
 *  doubles with every failure in a row. What fails with the very same error each time is logged once. */
export async function pauseAfterFailure(
  { clock, random, logger }: Environment,
  name: string,
  error: unknown,
  failures: number,
  signal: AbortSignal,
): Promise<void> {
  const pauseMs = Math.min(OUTAGE_PAUSE_MS_MAX, OUTAGE_PAUSE_MS_MIN * 2 ** Math.min(failures, 20)) * random();
  const level = error instanceof EscapementError ? "warn" : "error";
  if (logged.get(logger) !== error) {
    logger[level](`escapement: a call over ${name} failed and is repeated in ${Math.round(pauseMs)} ms`, error);
  }
  logged.set(logger, error);
  await sleepFor(clock, pauseMs, signal);
}
