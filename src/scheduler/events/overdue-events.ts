import type { Clock } from "../../core/clock.ts";
import type { AlarmRecord } from "../../records/alarm.ts";
import type { EventRecord } from "../../records/events.ts";
import type { AlarmReport } from "../../stores/alarms.ts";

/** The events of what a step did to overdue occurrences. One that is resolved was raised first. */
export function overdueEvents(
  { clock, identity }: { readonly clock: Clock; readonly identity: string },
  { raised, resolved }: AlarmReport,
): EventRecord[] {
  const timestampMs = clock.now();
  const factsOf = ({ scheduleId, taskId, fireTime: fireTimeMs, kind, dueAt: dueAtMs, jobId }: AlarmRecord) =>
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
