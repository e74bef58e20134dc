import { HandlerLookupError, NonRetryableError } from "../../core/errors.ts";
import type { RandomSource } from "../../core/ids.ts";
import type { RetryPolicy } from "../../records/policies.ts";

/** The pause before the next attempt, in milliseconds: exponential, with "full jitter" (uniform between zero and the
 *  computed pause), which spreads the retries of jobs that failed together (M. Brooker, "Exponential Backoff And
 *  Jitter", 2015). */
export function backoffMs(backoff: RetryPolicy["backoff"], failedAttempts: number, random: RandomSource): number {
  const { initialMs, factor, maxMs, jitter } = backoff;
  // Zero times a factor that has grown to infinity is no number.
  const grown = initialMs === 0 ? 0 : initialMs * factor ** (failedAttempts - 1);
  const pause = Math.min(maxMs, grown);
  return Math.round(jitter === "full" ? random() * pause : pause);
}

/** Whether another attempt may help. Errors are recognized by their code too, because an error that crossed a thread,
 *  or that comes from another copy of this library, is no instance of the class here. */
export function isRetryable(error: unknown): boolean {
  try {
    // A thrown Proxy may throw again at any question.
    if (error instanceof NonRetryableError || error instanceof HandlerLookupError) return false;
    return !(typeof error === "object" && error !== null && "code" in error && error.code === "nonRetryable");
  } catch {
    return true;
  }
}
