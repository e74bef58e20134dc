/** What a schedule does with several fire times that are due at once. It makes one job for the latest fire time
 *  (`latest`, the default), one job for the earliest (`earliest`), or one job for each (`all`). */
export type CoalescePolicy = "latest" | "earliest" | "all";

/** What happens when a schedule is added under an id that exists. `doNothing` (the default) keeps the stored schedule,
 *  `replace` replaces it, and `error` rejects with `ConflictingIdError`. */
export type ConflictPolicy = "doNothing" | "replace" | "error";

/**
 * How a job ended.
 * - `success`: the handler returned.
 * - `error`: the last attempt failed, or ran longer than the task's `timeout`.
 * - `missedStartDeadline`: the job was not started in time.
 * - `deserializationFailed`: the payload cannot be read.
 * - `cancelled`: somebody cancelled the job.
 * - `abandoned`: the job was lost with its process more often than `maxRecoveries` allows.
 */
export type JobOutcome =
  | "success"
  | "error"
  | "missedStartDeadline"
  | "deserializationFailed"
  | "cancelled"
  | "abandoned";

/** All outcomes. */
export const JOB_OUTCOMES: readonly JobOutcome[] = Object.freeze([
  "success",
  "error",
  "missedStartDeadline",
  "deserializationFailed",
  "cancelled",
  "abandoned",
]);

/** How often, and after which pauses, a failed job runs again. All values are filled in; pauses are in milliseconds. */
export interface RetryPolicy {
  /** Attempts in all, the first included; 1 means no retry. */
  readonly attemptsMax: number;
  /** Pause before the second attempt. */
  readonly initialMs: number;
  /** Each pause is the pause before, multiplied by this factor. */
  readonly factor: number;
  /** Longest pause. */
  readonly maxMs: number;
  /** `"full"` waits a random time between zero and the pause; `"none"` waits the pause itself. */
  readonly jitter: "full" | "none";
}

/** JSON data that travels with a task, schedule or job. For example, `{ owner: "billing" }`. */
export type Metadata = Readonly<Record<string, unknown>>;
