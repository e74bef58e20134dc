import { durationOf, durationText } from "../../core/duration.ts";
import type { Temporal } from "../../core/temporal.ts";
import type { JSONOf } from "../../records/fields/field.ts";
import type { RETRY_FIELDS } from "../../records/fields/task.ts";
import type { RetryPolicy } from "../../records/policies.ts";

/** How often and after which pauses failed jobs run again. */
export interface TaskRetry {
  /** Attempts in all, the first included; 1 means no retry. */
  readonly maxAttempts: number;
  /** The pauses between attempts. */
  readonly backoff: {
    /** Pause before the second attempt. */
    readonly initial: Temporal.Duration;
    /** Each pause is the pause before, multiplied by this factor. */
    readonly factor: number;
    /** Longest pause. */
    readonly max: Temporal.Duration;
    /** `"full"` waits a random time between zero and the pause; `"none"` waits the pause itself. */
    readonly jitter: "full" | "none";
  };
}

export function retryOf({ maxAttempts, backoff: { initialMs, factor, maxMs, jitter } }: RetryPolicy): TaskRetry {
  return { maxAttempts, backoff: { initial: durationOf(initialMs), factor, max: durationOf(maxMs), jitter } };
}

export function retryAsJSON({ maxAttempts, backoff }: RetryPolicy): JSONOf<typeof RETRY_FIELDS> {
  const { initialMs, factor, maxMs, jitter } = backoff;
  return { maxAttempts, backoff: { initial: durationText(initialMs), factor, max: durationText(maxMs), jitter } };
}
