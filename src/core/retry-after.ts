import { type Duration, toDurationMs } from "./duration.ts";
import { EscapementError } from "./errors.ts";
import { type InstantLike, toEpochMs } from "./temporal.ts";

/**
 * A handler throws it to run again later, without having failed: because what it polls is not there yet, or because the
 * other side says when to come back (status 429). No attempt is spent; how often is bounded by the task's
 * `maxSnoozes`. Beyond that it counts as any other error.
 *
 * @example
 * if (response.status === 429) throw new RetryAfter(`${response.headers.get("retry-after") ?? 60}s`);
 */
export class RetryAfter extends EscapementError {
  static override readonly errorName: string = "RetryAfter";
  readonly code = "retryAfter";
  /** How long to wait, in milliseconds; null where an instant was given. */
  readonly delayMs: number | null;
  /** When to run again, in epoch milliseconds; null where a duration was given. */
  readonly atMs: number | null;

  /** @param after a duration such as `"90s"`, or an instant: a Temporal object, a `Date` or ISO 8601 text
   *  @throws {OptionsError} for anything else */
  constructor(after: Duration | InstantLike, options?: { cause?: unknown }) {
    const isInstant =
      typeof after === "string"
        ? /^[+-]?\d{4,6}-/.test(after)
        : after instanceof Date || (typeof after === "object" && after !== null && "epochMilliseconds" in after);
    const atMs = isInstant ? toEpochMs(after as InstantLike, "after") : null;
    const delayMs = isInstant ? null : toDurationMs(after as Duration, "after");
    super(atMs === null ? `runs again after ${delayMs} ms` : `runs again at ${new Date(atMs).toISOString()}`, options);
    this.atMs = atMs;
    this.delayMs = delayMs;
  }
}

/** When the job is to run again whose handler threw this, in epoch milliseconds; null for any other error. It is known
 *  by its code, because an error that crossed a thread is no instance of the class here. */
export function retryAfterOf(thrown: unknown, now: number): number | null {
  try {
    // A Proxy may throw at any question.
    if (typeof thrown !== "object" || thrown === null) return null;
    const { code, delayMs, atMs } = thrown as { code?: unknown; delayMs?: unknown; atMs?: unknown };
    if (code !== "retryAfter") return null;
    const at = typeof delayMs === "number" ? now + delayMs : Number(atMs ?? Number.NaN);
    return Number.isSafeInteger(at) ? at : null;
  } catch {
    return null;
  }
}
