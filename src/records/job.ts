import type { AttemptRecord, JobProgress } from "./attempt.ts";
import type { JobSleep } from "./job-step.ts";
import type { Labels, Metadata, ParentFailurePolicy, RetryPolicy } from "./policies.ts";

/** An unfinished job, in the form that stores keep. Times are epoch milliseconds. A job that ends is removed, and
 *  leaves a `JobResultRecord`. */
export interface JobRecord {
  readonly id: string;
  readonly taskId: string;
  /** The id of the schedule that made the job, or null for a job that was added directly. */
  readonly scheduleId: string | null;
  readonly executor: string;
  /** Serialized payload, or null for none. */
  readonly payload: string | null;
  /** Jobs with a higher priority run first. A whole number, less 0.5 for a job that makes up for a fire time, so that
   *  it comes behind the others of its priority. See {@link givenPriority}. */
  readonly priority: number;
  /** The job does not start before this instant. */
  readonly runAt: number;
  readonly createdAt: number;
  /** The schedule's fire time, without jitter; null for a job that no fire time made. No two unfinished jobs have the
   *  same `scheduleId` and `fireTime`. */
  readonly fireTime: number | null;
  /** The fire time with jitter; null for a job that no fire time made. */
  readonly scheduledFireTime: number | null;
  /** The job does not start after this instant, see {@link hasMissedStart}; null is unlimited. */
  readonly startDeadline: number | null;
  /** How many other fire times this job stands for, because of coalescing; null when there are too many to count, and
   *  for a job that no fire time made. Fire times that `catchUp` left out do not count, because no job stands for them.
   *  The next two fields are the first and the last of these times; null when there are none. */
  readonly missedCount: number | null;
  readonly firstMissedTime: number | null;
  readonly lastMissedTime: number | null;
  /** How long the result is kept, in milliseconds; 0 keeps none. */
  readonly resultExpirationMs: number;
  /** How many times a job that was lost with its process goes back to the queue. */
  readonly maxRecoveries: number;
  readonly metadata: Metadata;
  /** Absent for none; never empty. */
  readonly labels?: Labels;
  /** Unique among the unfinished jobs of the task; null for none. */
  readonly idempotencyKey: string | null;
  /** How many attempts have failed so far. */
  readonly failedAttempts: number;
  /** How many times the job was lost with its process so far, after it had started. */
  readonly recoveries: number;
  /** The fence of the last lease under which the store knows the job to have started; 0 for none. */
  readonly startedFence: number;
  /** Whether somebody asked to cancel the job while it was leased. */
  readonly cancelRequested: boolean;
  /** Identity of the scheduler that holds the lease; null without a lease. */
  readonly acquiredBy: string | null;
  /** When the lease ends; null without a lease. */
  readonly acquiredUntil: number | null;
  /** Grows with every acquisition of this job. */
  readonly fence: number;
  /** How long it is kept how the job failed, in milliseconds; absent is as `keptMsOf` says. */
  readonly failureExpirationMs?: number;
  /** How often a failing job runs again; absent where the task says it. */
  readonly retry?: RetryPolicy;
  /** The id of the job that this job repeats; absent for none. */
  readonly retryOf?: string;
  /** The attempts that failed so far, the oldest first; absent for none. */
  readonly attemptHistory?: readonly AttemptRecord[];
  /** What the handler last said about its progress, a second ago at most where its scheduler is resident; absent for
   *  nothing. */
  readonly progress?: JobProgress;
  /** Limits of the task count per key, see `TaskRecord.maxRunningPerKey`; absent for none. Never empty. */
  readonly concurrencyKey?: string;
  /** The ids of the jobs that must have ended before this job may start, at most 1,000; absent for none. */
  readonly after?: readonly string[];
  /** Goes with `after`. */
  readonly onParentFailure?: ParentFailurePolicy;
  /** Why the job cannot be acquired although it may be due: a limit of its key (`limit`), or parents that have not
   *  ended (`parents`). Absent for a job that is not blocked. Stores set it; in an addition it means nothing. */
  readonly blockedBy?: "limit" | "parents";
  /** That of the schedule when its fire time made the job; absent for none. */
  readonly pauseAfterFailures?: number;
  /** How the job last slept; absent for a job that never did. It sleeps until `runAt` while it has no lease. */
  readonly sleep?: JobSleep;
}

/** A job that is to be added, and what decides about its addition. */
export interface NewJobRecord extends JobRecord {
  /** Until the job is acquired for the first time, another addition of the task with this `key` takes the job's place
   *  (see rules W1 to W7 of docs/store-contract.md). Not together with `once`. */
  readonly debounce?: {
    readonly key: string;
    /** Pause after the last addition, in milliseconds: `runAt` of the record is `createdAt` + this. */
    readonly waitMs: number;
    /** The latest start after the first addition, in milliseconds; null is unlimited. */
    readonly maxWaitMs: number | null;
  };
  /** Until the instant `until`, other additions of the task with the same `kind` and `key` add nothing. */
  readonly once?: { readonly kind: "throttle" | "unique"; readonly key: string; readonly until: number };
  /** Goes with `retryOf`: the job begins with a copy of the steps of that job. Default: false. */
  readonly copiesSteps?: boolean;
}

/** Whether a job has missed its `startDeadline`, so that it never starts: no attempt has failed, and it is not known to
 *  have started. @param now epoch milliseconds */
export function hasMissedStart(
  { startDeadline, failedAttempts, startedFence }: Pick<JobRecord, "startDeadline" | "failedAttempts" | "startedFence">,
  now: number,
): boolean {
  return startDeadline !== null && startDeadline < now && failedAttempts === 0 && startedFence === 0;
}

/** The fields of a {@link JobRecord} that tell of its runs, with the values of a job that never ran. They come first in
 *  a new record: spread after other fields, they would cost more than the rest of the record. */
export const NEVER_RUN: Pick<
  JobRecord,
  "failedAttempts" | "recoveries" | "startedFence" | "cancelRequested" | "acquiredBy" | "acquiredUntil" | "fence"
> = Object.freeze({
  failedAttempts: 0,
  recoveries: 0,
  startedFence: 0,
  cancelRequested: false,
  acquiredBy: null,
  acquiredUntil: null,
  fence: 0,
});

/** The priority that was asked for. */
export function givenPriority({ priority }: Pick<JobRecord, "priority">): number {
  // Without the sum, -0.5 would become -0.
  return Math.ceil(priority) + 0;
}
