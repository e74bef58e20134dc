import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { JobOutcome } from "../../records/policies.ts";

export type OutcomeWithoutRun = Extract<JobOutcome, "cancelled" | "abandoned" | "missedStartDeadline">;

/** The result of a job that a store ends by itself: because the job was cancelled while it waited, was lost too
 *  often, or missed its `startDeadline`. */
export function endedWithoutRun(job: JobRecord, outcome: OutcomeWithoutRun, now: number): JobResultRecord {
  return {
    jobId: job.id,
    taskId: job.taskId,
    scheduleId: job.scheduleId,
    scheduledFireTime: job.scheduledFireTime,
    outcome,
    startedAt: null,
    finishedAt: now,
    attempts: job.failedAttempts + job.recoveries + (job.acquiredBy === null ? 0 : 1),
    returnValue: null,
    error: null,
    expiresAt: now + job.resultExpirationMs,
  };
}
