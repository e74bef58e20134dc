import type { EventRecord } from "../../records/events.ts";
import type { LookedSchedule, OverlapReport, SchedulePlan } from "../../stores/data-store.ts";
import { occurrenceSkipped } from "./event-records.ts";

/** The events of the fire times that made no job, or that lost their job to a newer one. */
export function skipEvents(
  origin: Parameters<typeof occurrenceSkipped>[0],
  schedule: LookedSchedule,
  { fires, overlap }: SchedulePlan,
  { isSkipped, replaced }: OverlapReport,
): EventRecord[] {
  const events = replaced.map(({ jobId, fireTime: fireTimeMs }) =>
    occurrenceSkipped(origin, schedule, { fireTimeMs, count: 1, reason: "replaced", jobId }),
  );
  if (overlap === undefined) return events;
  const { policy, passed, lastPassedTime } = overlap;
  const fireTimeMs = lastPassedTime ?? fires[0]?.fireTime;
  const count = passed + (isSkipped ? 1 : 0);
  if (count === 0 || fireTimeMs === undefined) return events;
  const reason = policy === "skip" ? "overlap" : "replaced";
  return [...events, occurrenceSkipped(origin, schedule, { fireTimeMs, count, reason, jobId: null })];
}
