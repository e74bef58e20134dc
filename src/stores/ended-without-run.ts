import type { JobRecord } from "../records/job.ts";
import type { JobResultRecord } from "../records/job-result.ts";

/** The result of a job that a store ends by itself: because the job was cancelled while it waited, or was lost too
 *  often. */
export function endedWithoutRun(job: JobRecord, outcome: "cancelled" | "abandoned", now: number): JobResultRecord {
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
