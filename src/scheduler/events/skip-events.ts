import { MISSED_COUNT_STEPS_MAX } from "../../core/limits.ts";
import type { EventRecord } from "../../records/events.ts";
import type { LookedSchedule, OverlapReport, SchedulePlan } from "../../stores/data-store.ts";
import { occurrenceSkipped } from "./event-records.ts";

const NO_OVERLAP: OverlapReport = { isSkipped: false, replaced: [], cancelRequested: [] };

/** The events of the fire times that made no job, or that lost their job to a newer one. Those that a job of another
 *  fire time stands for (`coalesced`) have none, because that job tells of them. */
export function skipEvents(
  origin: Parameters<typeof occurrenceSkipped>[0],
  schedule: LookedSchedule,
  { fires, overlap, skips = [] }: SchedulePlan,
  { isSkipped, replaced }: OverlapReport = NO_OVERLAP,
): EventRecord[] {
  const events = skips.flatMap(({ verdict: reason, until: fireTimeMs, count }) => {
    if (reason !== "tooOld" && reason !== "overCount") return [];
    const least = count ?? MISSED_COUNT_STEPS_MAX;
    return [occurrenceSkipped(origin, schedule, { fireTimeMs, count: least, reason, jobId: null })];
  });
  for (const { jobId, fireTime: fireTimeMs } of replaced) {
    events.push(occurrenceSkipped(origin, schedule, { fireTimeMs, count: 1, reason: "replaced", jobId }));
  }
  if (overlap === undefined) return events;
  const { policy, passed, lastPassedTime } = overlap;
  const fireTimeMs = lastPassedTime ?? fires[0]?.fireTime;
  const count = passed + (isSkipped ? 1 : 0);
  if (count === 0 || fireTimeMs === undefined) return events;
  const reason = policy === "skip" ? "overlap" : "replaced";
  return [...events, occurrenceSkipped(origin, schedule, { fireTimeMs, count, reason, jobId: null })];
}
