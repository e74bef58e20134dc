import type { LookedSchedule, PlannedJob } from "../../stores/data-store.ts";
import type { PlannedFire } from "./plan-fires.ts";

/** The job of one fire of a schedule: only those fields that the store cannot take from the schedule's row. */
export function plannedJob(schedule: LookedSchedule, fire: PlannedFire, jobId: string, now: number): PlannedJob {
  const { fireTime, scheduledFireTime, pacedTime, missedCount, firstMissedTime, lastMissedTime } = fire;
  const runAt = pacedTime === undefined ? scheduledFireTime : Math.max(scheduledFireTime, pacedTime);
  return {
    jobId,
    createdAt: now,
    fireTime,
    scheduledFireTime,
    runAt,
    // Of a job that a pace puts off, the grace begins when the pace lets the job run.
    startDeadline: schedule.misfireGraceMs === null ? null : runAt + schedule.misfireGraceMs,
    missedCount,
    firstMissedTime,
    lastMissedTime,
  };
}
