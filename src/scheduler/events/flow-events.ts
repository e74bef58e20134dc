import type { EventRecord } from "../../records/events.ts";
import type { JobRecord, NewJobRecord } from "../../records/job.ts";
import type { AdmittedJob, JobAddition, TaskPause } from "../../stores/data-store.ts";
import { jobAdded, type Origin } from "./event-records.ts";

// Events of flow control: what is blocked, what is admitted, and what is paused.

/** @param by who asked for it; null for a pause that came to its end */
export function taskPauseChanged(
  { clock }: Origin,
  { taskId, key, pausedUntil, pauseReason }: TaskPause,
  isPaused: boolean,
  by: string | null,
): EventRecord {
  const facts = { timestampMs: clock.now(), taskId, concurrencyKey: key, by };
  if (!isPaused) return { type: "taskUnpaused", ...facts };
  return { type: "taskPaused", ...facts, reason: pauseReason ?? null, untilMs: pausedUntil ?? null };
}

/**
 * The events of an addition: two for a job that is blocked; for a job that was there before none, unless the addition
 * changed it.
 * @param isLeased whether the commit that added the job also leased it
 */
export function additionEvents(
  origin: Origin,
  { job, isNew, hasEnded }: JobAddition,
  { debounce }: Pick<NewJobRecord, "debounce">,
  isLeased: boolean,
): EventRecord[] {
  if (!isNew) return debounce === undefined || hasEnded === true ? [] : [jobUpdated(origin, job)];
  const added = jobAdded(origin, job, isLeased);
  return job.blockedBy === undefined ? [added] : [added, jobBlocked(origin, job, job.blockedBy)];
}

function jobUpdated({ clock }: Origin, { id: jobId, taskId, scheduleId, runAt: runAtMs }: JobRecord): EventRecord {
  return { type: "jobUpdated", timestampMs: clock.now(), jobId, taskId, scheduleId, runAtMs };
}

function jobBlocked(
  { clock }: Origin,
  job: Pick<JobRecord, "id" | "taskId" | "scheduleId" | "concurrencyKey">,
  reason: EventRecord<"jobBlocked">["reason"],
): EventRecord {
  const { id: jobId, taskId, scheduleId, concurrencyKey = null } = job;
  return { type: "jobBlocked", timestampMs: clock.now(), jobId, taskId, scheduleId, reason, concurrencyKey };
}

/** @param isLeased whether the commit that admitted the job also leased it */
export function jobAdmitted({ clock, identity }: Origin, job: AdmittedJob, isLeased: boolean): EventRecord {
  const { jobId, taskId, scheduleId, concurrencyKey = null } = job;
  const facts = { jobId, taskId, scheduleId, schedulerId: identity, isLeased, concurrencyKey };
  return { type: "jobAdmitted", timestampMs: clock.now(), ...facts };
}
