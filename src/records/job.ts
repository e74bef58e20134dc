import type { Metadata } from "./policies.ts";

/** A job as stores keep it: times are epoch milliseconds, serialized values are text. Only unfinished jobs exist. */
export interface JobRecord {
  readonly id: string;
  readonly taskId: string;
  /** The id of the schedule that made the job, or null for a job that was added directly. */
  readonly scheduleId: string | null;
  readonly executor: string;
  /** Serialized payload, or null for none. */
  readonly payload: string | null;
  /** Jobs with a higher priority run first. */
  readonly priority: number;
  /** The job does not start before this instant. */
  readonly runAt: number;
  readonly createdAt: number;
  /** The schedule's fire time, without jitter; unique together with `scheduleId`. */
  readonly fireTime: number | null;
  /** The fire time with jitter. */
  readonly scheduledFireTime: number | null;
  /** The job does not start after this instant; null is unlimited. */
  readonly startDeadline: number | null;
  /** Fire times before this one that coalescing skipped: how many (null where counting would cost too much), the
   *  first and the last of them. */
  readonly missedCount: number | null;
  readonly firstMissedTime: number | null;
  readonly lastMissedTime: number | null;
  readonly resultExpirationMs: number;
  readonly maxRecoveries: number;
  readonly metadata: Metadata;
  /** Unique among the unfinished jobs of the task. */
  readonly idempotencyKey: string | null;
  /** How many attempts have failed so far. */
  readonly failedAttempts: number;
  /** How many times the job was lost with its process so far, after it had started. */
  readonly recoveries: number;
  /** The fence of the last lease under which the store knows the job to have started; 0 for none. */
  readonly startedFence: number;
  readonly cancelRequested: boolean;
  readonly acquiredBy: string | null;
  readonly acquiredUntil: number | null;
  /** Grows with every acquisition of this job. */
  readonly fence: number;
}

/** The part of a {@link JobRecord} that tells of its runs, before the first. */
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
