import type { RandomSource } from "../core/ids.ts";
import { FAILURE_KEPT_MS } from "./limits.ts";

/** What a schedule does with several fire times that are due at once. It makes one job for the latest fire time
 *  (`latest`, the default), one job for the earliest (`earliest`), or one job for each (`all`). */
export type CoalescePolicy = "latest" | "earliest" | "all";

export const COALESCE_POLICIES: readonly CoalescePolicy[] = Object.freeze(["latest", "earliest", "all"]);

/**
 * What a fire of a schedule does while an earlier run of the schedule is unfinished: its job waits, runs, or waits for
 * a retry. Only jobs that fire times made count; those of `addJob`, `runScheduleNow`, `retryJob` and `backfill` neither
 * count nor are touched.
 *
 * - `queue` (the default): the fire makes its job, which waits for its turn. Temporal's `BufferAll`; with
 *   `maxRunningJobs: null`, Temporal's `AllowAll`; APScheduler 4.
 * - `skip`: the fire makes no job. Temporal's `Skip`, APScheduler 3's `max_instances`, croner's `protect`.
 * - `replaceQueued`: the job takes the place of those that wait, so that one waits at most, the newest. Temporal's
 *   `BufferOne` also lets one wait at most, but the oldest.
 * - `cancelRunning`: as `replaceQueued`, and the run that is under way is cancelled. Temporal's `CancelOther`.
 */
export type RunOverlapPolicy = "queue" | "skip" | "replaceQueued" | "cancelRunning";

/** All overlap policies. */
export const RUN_OVERLAP_POLICIES: readonly RunOverlapPolicy[] = Object.freeze([
  "queue",
  "skip",
  "replaceQueued",
  "cancelRunning",
]);

/** Which of the fire times that a schedule has missed are made up for, and how fast. At least one field is not null. */
export interface CatchUp {
  /** Due fire times that are older than this when they are planned make no job, whatever `coalesce` is; in
   *  milliseconds. Null is unlimited. */
  readonly maxAgeMs: number | null;
  /** With `coalesce: "all"`: the most due fire times that make jobs, the newest ones. Null is unlimited. */
  readonly maxCount: number | null;
  /** With `coalesce: "all"` and `overlap: "queue"`: the jobs of fire times that are due together start at
   *  least this many milliseconds apart. Null lets all of them run at once. */
  readonly paceMs: number | null;
}

/** What happens when a schedule is added under an id that exists. `update` (the default) applies what the program
 *  changed since it last declared the schedule, `doNothing` keeps the stored schedule, `replace` replaces it, and
 *  `error` rejects with `ConflictingIdError`. */
export type ConflictPolicy = "update" | "doNothing" | "replace" | "error";

/**
 * How a job ended.
 * - `success`: the handler returned.
 * - `error`: the last attempt failed, or ran longer than the task's `timeout`.
 * - `missedStartDeadline`: the job was not started in time.
 * - `deserializationFailed`: the payload cannot be read.
 * - `cancelled`: somebody cancelled the job.
 * - `abandoned`: the job was lost with its process more often than `maxRecoveries` allows.
 * - `skipped`: the handler threw a `SkipRun`, because there was nothing to do. No failure.
 */
export type JobOutcome =
  | "success"
  | "error"
  | "missedStartDeadline"
  | "deserializationFailed"
  | "cancelled"
  | "abandoned"
  | "skipped";

/** Whether a run failed (true) or succeeded (false); null for one that says neither: it was skipped or cancelled. */
export function countsAsFailure(outcome: JobOutcome): boolean | null {
  if (outcome === "success") return false;
  return outcome === "skipped" || outcome === "cancelled" ? null : true;
}

/** All outcomes. */
export const JOB_OUTCOMES: readonly JobOutcome[] = Object.freeze([
  "success",
  "error",
  "missedStartDeadline",
  "deserializationFailed",
  "cancelled",
  "abandoned",
  "skipped",
]);

/** Whether a job that ended so has failed. */
export function isFailure(outcome: JobOutcome): boolean {
  return !isDone(outcome) && outcome !== "cancelled";
}

/** Whether a job that ended so lets jobs that come after it run, whatever their `onParentFailure` says. */
export function isDone(outcome: JobOutcome): boolean {
  return outcome === "success" || outcome === "skipped";
}

/** How many attempts may start in a time, over all schedulers. It is the generic cell rate algorithm (GCRA): attempts
 *  start `perMs / limit` apart, and up to `burst` of them at once after a pause. So no time of `perMs` has more than
 *  `limit + burst - 1` starts. */
export interface RateLimit {
  readonly limit: number;
  /** In milliseconds. */
  readonly perMs: number;
  readonly burst: number;
}

/** What becomes of a job whose parents did not all succeed: it is cancelled, or it runs all the same. */
export type ParentFailurePolicy = "cancel" | "run";

export const PARENT_FAILURE_POLICIES: readonly ParentFailurePolicy[] = Object.freeze(["cancel", "run"]);

/** How often, and after which pauses, a failed job runs again. All values are filled in; pauses are in milliseconds. */
export interface RetryPolicy {
  /** Attempts in all, the first included; 1 means no retry. */
  readonly maxAttempts: number;
  /** The pauses between attempts, in milliseconds. */
  readonly backoff: {
    /** Pause before the second attempt. */
    readonly initialMs: number;
    /** Each pause is the pause before, multiplied by this factor. */
    readonly factor: number;
    /** Longest pause. */
    readonly maxMs: number;
    /** `"full"` waits a random time between zero and the pause; `"none"` waits the pause itself. */
    readonly jitter: "full" | "none";
  };
}

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

/** JSON data that travels with a task, schedule or job. For example, `{ owner: "billing" }`. */
export type Metadata = Readonly<Record<string, unknown>>;

/** Names and values by which tasks, schedules, jobs and results are found. For example, `{ team: "billing" }`. */
export type Labels = Readonly<Record<string, string>>;

export const NO_LABELS: Labels = Object.freeze({});

/** Whether labels have all those of a filter. */
export function hasLabels(labels: Labels | undefined, wanted: Labels | undefined): boolean {
  return wanted === undefined || Object.entries(wanted).every(([name, value]) => labelOf(labels, name) === value);
}

function labelOf(labels: Labels | undefined, name: string): string | undefined {
  // A label may be called `constructor`.
  return labels !== undefined && Object.hasOwn(labels, name) ? labels[name] : undefined;
}

/** How long the result of a job is kept, in milliseconds. A failure is kept as long as its setting says; without one,
 *  30 days, longer where results are, and not at all where none is kept. */
export function keptMsOf(
  {
    resultExpirationMs,
    failureExpirationMs,
  }: { readonly resultExpirationMs: number; readonly failureExpirationMs?: number },
  outcome: JobOutcome,
): number {
  if (!isFailure(outcome)) return resultExpirationMs;
  return failureExpirationMs ?? (resultExpirationMs === 0 ? 0 : Math.max(FAILURE_KEPT_MS, resultExpirationMs));
}
