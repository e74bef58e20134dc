import { type JobRecord, NEVER_RUN } from "../../records/job.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { PlannedFire } from "./plan-fires.ts";

/** The job of one fire of a schedule. */
export function jobOfFire(schedule: ScheduleRecord, fire: PlannedFire, id: string, now: number): JobRecord {
  return {
    id,
    taskId: schedule.taskId,
    scheduleId: schedule.id,
    executor: schedule.executor,
    payload: schedule.payload,
    priority: schedule.priority,
    runAt: fire.scheduledFireTime,
    createdAt: now,
    fireTime: fire.fireTime,
    scheduledFireTime: fire.scheduledFireTime,
    startDeadline: schedule.misfireGraceMs === null ? null : fire.scheduledFireTime + schedule.misfireGraceMs,
    missedCount: fire.missedCount,
    firstMissedTime: fire.firstMissedTime,
    lastMissedTime: fire.lastMissedTime,
    resultExpirationMs: schedule.resultExpirationMs,
    maxRecoveries: schedule.maxRecoveries,
    metadata: schedule.metadata,
    ...NEVER_RUN,
    idempotencyKey: null,
  };
}
