import type { EventRecord } from "../../records/events.ts";
import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { WorkerEnvironment } from "../environment.ts";

/** The events of a job's life, in the order in which they happen: `jobAdded`, then per attempt `jobAcquired` and, when it is not
 *  the last one, `jobRetried`; at last `jobReleased`. */

// Written out, as there are three for every job: a helper that puts type and time before the facts costs a copy of each.

export function jobAdded({ clock }: WorkerEnvironment, job: JobRecord): EventRecord {
  const { id: jobId, taskId, scheduleId, runAt: runAtMs } = job;
  return { type: "jobAdded", timestampMs: clock.now(), jobId, taskId, scheduleId, runAtMs };
}

export function jobAcquired({ clock, identity }: WorkerEnvironment, job: JobRecord, attempt: number): EventRecord {
  const { id: jobId, taskId, scheduleId } = job;
  return { type: "jobAcquired", timestampMs: clock.now(), jobId, taskId, scheduleId, schedulerId: identity, attempt };
}

export function jobRetried(
  { events }: WorkerEnvironment,
  facts: Omit<EventRecord<"jobRetried">, "type" | "timestampMs">,
): EventRecord {
  return events.record("jobRetried", facts);
}

export function jobReleased(
  { clock }: WorkerEnvironment,
  result: JobResultRecord,
  schedulerId: string | null,
): EventRecord {
  return {
    type: "jobReleased",
    timestampMs: clock.now(),
    jobId: result.jobId,
    taskId: result.taskId,
    scheduleId: result.scheduleId,
    schedulerId,
    outcome: result.outcome,
    error: result.error,
    scheduledFireTimeMs: result.scheduledFireTime,
    startedAtMs: result.startedAt,
  };
}
