import type { JobRecord, NewJobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import { type JobOutcome, keptMsOf } from "../../records/policies.ts";

/** The job of an addition, without what decides about the addition. */
export function addedJob(addition: NewJobRecord): JobRecord {
  if (addition.debounce === undefined && addition.once === undefined) return addition;
  const { debounce: _debounce, once: _once, ...job } = addition;
  return job;
}

/** When a job runs that a debounced addition changes. @param createdAt of the job */
export function debouncedRunAt({ runAt, debounce }: NewJobRecord, createdAt: number): number {
  const maxWaitMs = debounce?.maxWaitMs ?? null;
  return maxWaitMs === null ? runAt : Math.min(runAt, createdAt + maxWaitMs);
}

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
    expiresAt: now + keptMsOf(job, outcome),
  };
}
