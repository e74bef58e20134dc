import type { LookedSchedule, PlannedJob } from "../../stores/data-store.ts";
import type { PlannedFire } from "./plan-fires.ts";

/** The job of one fire of a schedule: only those fields that the store cannot take from the schedule's row. */
export function plannedJob(schedule: LookedSchedule, fire: PlannedFire, jobId: string, now: number): PlannedJob {
  const { fireTime, scheduledFireTime, missedCount, firstMissedTime, lastMissedTime } = fire;
  return {
    jobId,
    createdAt: now,
    fireTime,
    scheduledFireTime,
    runAt: scheduledFireTime,
    startDeadline: schedule.misfireGraceMs === null ? null : scheduledFireTime + schedule.misfireGraceMs,
    missedCount,
    firstMissedTime,
    lastMissedTime,
  };
}
