import type { FailureRecord } from "../../records/failure.ts";
import type { JobOutcome, Labels } from "../../records/policies.ts";

// Pages of records, and which records they have. Times are epoch milliseconds.

/** A page of a list. It may have fewer items than its `limit`, or none, and yet a cursor. See rules I1 and I2 of
 *  docs/store-contract.md. */
export interface RecordPage<T> {
  readonly items: T[];
  /** Pass this as `cursor` to get the next page; null when this page is the last. */
  readonly cursor: string | null;
}

/** What each list of labelled records is filtered by. */
interface LabelFilter {
  /** The records that have all of these; never empty. See rule I15. */
  readonly labels?: Labels;
}

interface PageRequest {
  readonly limit: number;
  /** Where the previous page ended, or null for the first page. */
  readonly cursor: string | null;
}

/** Which schedules, and in which order; absent fields do not matter. */
export interface ScheduleFilter extends PageRequest, LabelFilter {
  /** At most 1,000 ids; they are for the order of ids alone. */
  readonly ids?: readonly string[];
  readonly taskId?: string;
  readonly paused?: boolean;
  /** `ended`: the schedule has no fire time left, paused or not. `paused`: it has one, and is paused. `active`: it has
   *  one, and is not paused. `failing`: its last runs failed, as far as they count (rule S18), paused or not. */
  readonly state?: "active" | "paused" | "ended" | "failing";
  /** The id or the name has this text somewhere. For the letters A to Z, case does not matter. Never empty. */
  readonly search?: string;
  /** `nextFireTime`: the earliest first, then by id; schedules that have no fire time left are the last. Default:
   *  `id`. */
  readonly sort?: "id" | "nextFireTime";
}

/** Which jobs, and in which order; absent fields do not matter. */
export interface JobFilter extends PageRequest, LabelFilter {
  readonly taskId?: string;
  readonly scheduleId?: string;
  /** The jobs that a backfill added, and those that repeat them. */
  readonly backfillId?: string;
  /** `running`: under a lease, live or not. `blocked`: `blockedBy` says why. `queued`: neither. */
  readonly state?: "queued" | "blocked" | "running";
  /** `runAt` is this instant or later. */
  readonly from?: number;
  /** `runAt` is before this instant. */
  readonly until?: number;
  /** One of `id`, `taskId`, `scheduleId`, `idempotencyKey` and `concurrencyKey` has this text somewhere, as in
   *  {@link ScheduleFilter}. */
  readonly search?: string;
  /** `runAt`: the earliest first, then in the order of addition. See rule I14. Default: `id`. */
  readonly sort?: "id" | "runAt";
  /** `newest` is the opposite order. Default: `oldest`. Ids that schedulers make grow in the order of addition. */
  readonly order?: "oldest" | "newest";
  /** The idempotency key or the concurrency key is this text. */
  readonly key?: string;
  /** At least so many attempts were begun: failed ones, lost ones, and the one of the lease. */
  readonly attemptsMin?: number;
}

/** Which results; absent fields do not matter. */
export interface JobResultSelection extends LabelFilter {
  readonly taskId?: string;
  readonly scheduleId?: string;
  readonly outcome?: JobOutcome;
  /** `finishedAt` is this instant or later. */
  readonly from?: number;
  /** `finishedAt` is before this instant. */
  readonly until?: number;
}

/** Which results to remove: those that fit, or those of some jobs. */
export interface ResultRemoval extends JobResultSelection {
  /** The results of these jobs, at most as many as the limit. Not together with other fields. */
  readonly jobIds?: readonly string[];
}

/** Which failures; absent fields do not matter. */
export interface FailureSelection extends Pick<JobResultSelection, "taskId" | "scheduleId" | "from" | "until"> {
  /** Most failures that are looked through, those that ended last. */
  readonly limit: number;
}

/** Failures, those that ended last first. */
export interface FailureList {
  readonly items: readonly FailureRecord[];
  /** How many failures were looked through. With `limit`, there may be more. */
  readonly seen: number;
}

/** Which results, and in which order; absent fields do not matter. */
export interface JobResultFilter extends PageRequest, JobResultSelection {
  /** At least two outcomes, of which the result has one. Not together with `outcome`. */
  readonly outcomes?: readonly JobOutcome[];
  /** The name or the message of the error has this text somewhere. */
  readonly error?: string;
  /** From the start of the last attempt to the end, in milliseconds, both included; results without a start are left
   *  out. */
  readonly runTimeMsMin?: number;
  /** The longest run time, in milliseconds, included. */
  readonly runTimeMsMax?: number;
  /** At least so many attempts were begun. */
  readonly attemptsMin?: number;
  /** The idempotency key or the concurrency key of the job is this text. */
  readonly key?: string;
  /** Default: `newest`, which is the opposite order. */
  readonly order?: "newest" | "oldest";
  /** One of `jobId`, `taskId`, `scheduleId`, the name and the message of the error, and the job's `idempotencyKey` and
   *  `concurrencyKey` has this text somewhere, as in {@link ScheduleFilter}. */
  readonly search?: string;
}
