/** What a schedule does with several fire times that are due at once: one job for the latest, one for the earliest, or
 *  one for each. */
export type CoalescePolicy = "latest" | "earliest" | "all";

/** What adding a schedule under an id that exists does. */
export type ConflictPolicy = "doNothing" | "replace" | "error";

/** How a job ended. */
export type JobOutcome =
  | "success"
  | "error"
  | "missedStartDeadline"
  | "deserializationFailed"
  | "cancelled"
  | "abandoned";

export const JOB_OUTCOMES: readonly JobOutcome[] = Object.freeze([
  "success",
  "error",
  "missedStartDeadline",
  "deserializationFailed",
  "cancelled",
  "abandoned",
]);

/** How often and after which pauses a failed job runs again; resolved, in milliseconds. */
export interface RetryPolicy {
  /** Attempts in all, the first included; 1 means no retry. */
  readonly attemptsMax: number;
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** `"full"`: uniform between 0 and the computed pause. `"none"`: the computed pause. */
  readonly jitter: "full" | "none";
}

/** Data that travels with a task, schedule or job. Values must be JSON. */
export type Metadata = Readonly<Record<string, unknown>>;
