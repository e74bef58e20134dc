import type { Clock } from "../../core/clock.ts";
import type { BlackoutRecord } from "../../records/blackout.ts";
import type { EventRecord } from "../../records/events.ts";
import type { JobRecord } from "../../records/job.ts";
import type { JobLogRecord } from "../../records/job-log.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { JobStepRecord } from "../../records/job-step.ts";
import type { OverdueRecord } from "../../records/overdue.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { SerializedError } from "../../records/serialized-error.ts";
import type { TaskRecord } from "../../records/task.ts";
import type { OverdueReport } from "../../stores/contract/look-types.ts";
import type { LookedSchedule, OverlapReport, SchedulePlan } from "../../stores/data-store.ts";
import { MISSED_COUNT_STEPS_MAX } from "./limits.ts";

/** The scheduler that makes the events. */
export interface Origin {
  readonly clock: Clock;
  /** Identity of the scheduler. */
  readonly identity: string;
}

// Every event is made here. Each event is written out in full, because there are three events for every job, and a
// helper that puts the type and the time before the facts would copy each event once more.

// ---- tasks

export function taskSaved({ clock }: Origin, taskId: string, change: "added" | "updated"): EventRecord {
  return { type: change === "added" ? "taskAdded" : "taskUpdated", timestampMs: clock.now(), taskId };
}

export function taskOutdated({ clock, identity }: Origin, { id: taskId, version }: TaskRecord): EventRecord {
  return { type: "taskOutdated", timestampMs: clock.now(), taskId, schedulerId: identity, version: version ?? null };
}

export function taskRemoved({ clock }: Origin, taskId: string): EventRecord {
  return { type: "taskRemoved", timestampMs: clock.now(), taskId };
}

// ---- schedules

export function scheduleSaved(
  { clock }: Origin,
  { id: scheduleId, taskId, paused, nextFireTime }: Pick<ScheduleRecord, "id" | "taskId" | "paused" | "nextFireTime">,
  change: "added" | "updated",
): EventRecord {
  const type = change === "added" ? "scheduleAdded" : "scheduleUpdated";
  const nextFireTimeMs = paused ? null : nextFireTime;
  return { type, timestampMs: clock.now(), scheduleId, taskId, nextFireTimeMs };
}

/**
 * The event of a schedule that was paused or goes on; none where nothing of its pause changed.
 * @param by who asked for it; null for a pause that came to its end
 * @param before the schedule before the change. Default: it was not as it is now
 */
export function schedulePauseEvents(
  { clock }: Origin,
  schedule: Pausable & Pick<ScheduleRecord, "id" | "taskId">,
  by: string | null,
  before?: Pausable,
): EventRecord[] {
  const { id: scheduleId, taskId, paused, pausedUntil, pauseReason } = schedule;
  const isSame = before?.paused === paused && before.pausedUntil === pausedUntil && before.pauseReason === pauseReason;
  if (isSame) return [];
  const facts = { timestampMs: clock.now(), scheduleId, taskId, by };
  if (!paused) return [{ type: "scheduleUnpaused", ...facts }];
  return [{ type: "schedulePaused", ...facts, reason: pauseReason ?? null, untilMs: pausedUntil ?? null }];
}

type Pausable = Pick<ScheduleRecord, "paused" | "pausedUntil" | "pauseReason">;

/** @param finished whether a clean-up removed the schedule because it had ended */
export function scheduleRemoved({ clock }: Origin, scheduleId: string, finished: boolean): EventRecord {
  return { type: "scheduleRemoved", timestampMs: clock.now(), scheduleId, finished };
}

export function scheduleBacklogged(
  { clock, identity }: Origin,
  { scheduleId, taskId, unfinished }: Pick<EventRecord<"scheduleBacklogged">, "scheduleId" | "taskId" | "unfinished">,
): EventRecord {
  const type = "scheduleBacklogged";
  return { type, timestampMs: clock.now(), scheduleId, taskId, schedulerId: identity, unfinished };
}

export function scheduleFailed(
  { clock }: Origin,
  { id: scheduleId, taskId }: Pick<ScheduleRecord, "id" | "taskId">,
  error: SerializedError,
): EventRecord {
  return { type: "scheduleFailed", timestampMs: clock.now(), scheduleId, taskId, error };
}

/** @param version of the program that declared the schedule */
export function scheduleOutdated(
  { clock, identity }: Origin,
  { id: scheduleId, taskId }: Pick<ScheduleRecord, "id" | "taskId">,
  version: number | null,
): EventRecord {
  return { type: "scheduleOutdated", timestampMs: clock.now(), scheduleId, taskId, schedulerId: identity, version };
}

export function occurrenceSkipped(
  { clock }: Origin,
  { id: scheduleId, taskId }: Pick<ScheduleRecord, "id" | "taskId">,
  { fireTimeMs, count, reason, jobId }: Pick<EventRecord<"occurrenceSkipped">, SkipFact>,
): EventRecord {
  const type = "occurrenceSkipped";
  return { type, timestampMs: clock.now(), scheduleId, taskId, fireTimeMs, count, reason, jobId };
}

type SkipFact = "fireTimeMs" | "count" | "reason" | "jobId";

export function scheduleDeserializationFailed(
  { clock, identity }: Origin,
  { id: scheduleId, taskId }: Pick<ScheduleRecord, "id" | "taskId">,
  error: SerializedError,
): EventRecord {
  const type = "scheduleDeserializationFailed";
  return { type, timestampMs: clock.now(), scheduleId, taskId, schedulerId: identity, error };
}

export function zoneRulesChanged(
  { clock, identity }: Origin,
  { zones, schedules, total }: Pick<EventRecord<"zoneRulesChanged">, "zones" | "schedules" | "total">,
): EventRecord {
  return { type: "zoneRulesChanged", timestampMs: clock.now(), schedulerId: identity, zones, schedules, total };
}

// ---- blackouts

export function blackoutAdded(
  { clock }: Origin,
  { id: blackoutId, by, reason }: Pick<BlackoutRecord, "id" | "by" | "reason">,
): EventRecord {
  return { type: "blackoutAdded", timestampMs: clock.now(), blackoutId, by, reason };
}

export function blackoutRemoved({ clock }: Origin, blackoutId: string, by: string): EventRecord {
  return { type: "blackoutRemoved", timestampMs: clock.now(), blackoutId, by };
}

// ---- jobs, in the order of a job's life: `jobAdded`, then per attempt `jobAcquired` and, when it is not the last
// attempt, `jobRetried`; at last `jobReleased`

/** @param isLeased whether the commit that added the job also leased it */
export function jobAdded(
  { clock }: Origin,
  job: Pick<JobRecord, "id" | "taskId" | "scheduleId" | "executor" | "runAt">,
  isLeased: boolean,
): EventRecord {
  const { id: jobId, taskId, scheduleId, executor, runAt: runAtMs } = job;
  return { type: "jobAdded", timestampMs: clock.now(), jobId, taskId, scheduleId, executor, runAtMs, isLeased };
}

export function jobUnclaimed(
  { clock, identity }: Origin,
  {
    jobId,
    taskId,
    scheduleId,
    executor,
  }: Pick<EventRecord<"jobAdded">, "jobId" | "taskId" | "scheduleId" | "executor">,
  missing: EventRecord<"jobUnclaimed">["missing"],
): EventRecord {
  const facts = { jobId, taskId, scheduleId, schedulerId: identity, executor, missing };
  return { type: "jobUnclaimed", timestampMs: clock.now(), ...facts };
}

export function jobAcquired({ clock, identity }: Origin, job: JobRecord, attempt: number): EventRecord {
  const { id: jobId, taskId, scheduleId, scheduledFireTime: scheduledFireTimeMs } = job;
  return {
    type: "jobAcquired",
    timestampMs: clock.now(),
    jobId,
    taskId,
    scheduleId,
    schedulerId: identity,
    attempt,
    scheduledFireTimeMs,
  };
}

/** @param fraction 0 to 1 */
export function jobProgressed({ clock }: Origin, job: JobRecord, fraction: number, note: string | null): EventRecord {
  const { id: jobId, taskId, scheduleId } = job;
  return { type: "jobProgressed", timestampMs: clock.now(), jobId, taskId, scheduleId, fraction, note };
}

/** @param log what the store has of the attempt by now */
export function jobLogged({ clock }: Origin, job: JobRecord, log: JobLogRecord): EventRecord {
  const { id: jobId, taskId, scheduleId } = job;
  const lines = log.lines.length + log.dropped;
  return { type: "jobLogged", timestampMs: clock.now(), jobId, taskId, scheduleId, attempt: log.attempt, lines };
}

export function jobRetried(
  { clock }: Origin,
  { jobId, taskId, scheduleId, attempt, runAtMs, error }: Omit<EventRecord<"jobRetried">, "type" | "timestampMs">,
): EventRecord {
  return { type: "jobRetried", timestampMs: clock.now(), jobId, taskId, scheduleId, attempt, runAtMs, error };
}

/** @param step null for a job whose handler threw `RetryAfter` */
export function jobSleeps({ clock }: Origin, job: JobRecord, runAtMs: number, step: string | null): EventRecord {
  const { id: jobId, taskId, scheduleId } = job;
  return { type: "jobSleeps", timestampMs: clock.now(), jobId, taskId, scheduleId, step, runAtMs };
}

export function stepFinished({ clock }: Origin, job: JobRecord, { name, startedAt }: JobStepRecord): EventRecord {
  const { id: jobId, taskId, scheduleId } = job;
  const type = "stepFinished";
  return { type, timestampMs: clock.now(), jobId, taskId, scheduleId, step: name, startedAtMs: startedAt };
}

export function jobCancelRequested({ clock }: Origin, jobId: string): EventRecord {
  return { type: "jobCancelRequested", timestampMs: clock.now(), jobId };
}

/** @param schedulerId the scheduler that held the job, or null */
export function jobReleased({ clock }: Origin, result: JobResultRecord, schedulerId: string | null): EventRecord {
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

// ---- schedulers

export function schedulerStarted({ clock, identity }: Origin): EventRecord {
  return { type: "schedulerStarted", timestampMs: clock.now(), schedulerId: identity };
}

export function schedulerPaused({ clock, identity }: Origin, reason: string | null): EventRecord {
  return { type: "schedulerPaused", timestampMs: clock.now(), schedulerId: identity, reason };
}

export function schedulerResumed({ clock, identity }: Origin): EventRecord {
  return { type: "schedulerResumed", timestampMs: clock.now(), schedulerId: identity };
}

export function schedulerStopped({ clock, identity }: Origin): EventRecord {
  return { type: "schedulerStopped", timestampMs: clock.now(), schedulerId: identity };
}

/** The events of what a step did to overdue occurrences. One that is resolved was raised first. */
export function overdueEvents(
  { clock, identity }: { readonly clock: Clock; readonly identity: string },
  { raised, resolved }: OverdueReport,
): EventRecord[] {
  const timestampMs = clock.now();
  const factsOf = ({ scheduleId, taskId, fireTime: fireTimeMs, kind, dueAt: dueAtMs, jobId }: OverdueRecord) =>
    ({ timestampMs, scheduleId, taskId, fireTimeMs, kind, dueAtMs, jobId, schedulerId: identity }) as const;
  return [
    ...raised.map((occurrence): EventRecord => ({ type: "occurrenceOverdue", ...factsOf(occurrence) })),
    ...resolved.map(
      (occurrence): EventRecord => ({
        type: "occurrenceResolved",
        ...factsOf(occurrence),
        raisedAtMs: occurrence.raisedAt,
        reason: occurrence.reason,
      }),
    ),
  ];
}

const NO_OVERLAP: OverlapReport = { isSkipped: false, replaced: [], cancelRequested: [] };

/** The events of the fire times that made no job, or that lost their job to another one. Those that the plan's own job
 *  stands for (`coalesced`) have none, because that job tells of them. */
export function skipEvents(
  origin: Parameters<typeof occurrenceSkipped>[0],
  schedule: LookedSchedule,
  { fires, overlap, skips = [] }: SchedulePlan,
  { isSkipped, replaced }: OverlapReport = NO_OVERLAP,
): EventRecord[] {
  const events = skips.flatMap(({ verdict: reason, until: fireTimeMs, count }) => {
    if (reason !== "tooOld" && reason !== "overCount" && reason !== "blackedOut") return [];
    const least = count ?? MISSED_COUNT_STEPS_MAX;
    return [occurrenceSkipped(origin, schedule, { fireTimeMs, count: least, reason, jobId: null })];
  });
  if (overlap === undefined) return events;
  const { policy, passed, lastPassedTime } = overlap;
  const coalesces = policy === "latest" || policy === "earliest";
  for (const { jobId, fireTime: fireTimeMs } of replaced) {
    const reason = coalesces ? "coalesced" : "replaced";
    events.push(occurrenceSkipped(origin, schedule, { fireTimeMs, count: 1, reason, jobId }));
  }
  const fireTimeMs = lastPassedTime ?? fires[0]?.fireTime;
  // A fire without a job stands for no others.
  const missed = coalesces ? (fires[0]?.missedCount ?? MISSED_COUNT_STEPS_MAX) : 0;
  const count = passed + (isSkipped ? 1 + missed : 0);
  if (count === 0 || fireTimeMs === undefined) return events;
  const reason = coalesces ? "coalesced" : policy === "skip" ? "overlap" : "replaced";
  return [...events, occurrenceSkipped(origin, schedule, { fireTimeMs, count, reason, jobId: null })];
}
