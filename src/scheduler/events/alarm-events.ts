import type { Clock } from "../../core/clock.ts";
import type { AlarmRecord } from "../../records/alarm.ts";
import type { EventRecord } from "../../records/events.ts";
import type { AlarmReport } from "../../stores/alarms.ts";

/** The events of what a step did to alarms. An alarm that is over was raised first. */
export function alarmEvents(
  { clock, identity }: { readonly clock: Clock; readonly identity: string },
  { raised, resolved }: AlarmReport,
): EventRecord[] {
  const timestampMs = clock.now();
  const factsOf = ({ scheduleId, taskId, fireTime: fireTimeMs, kind, dueAt: dueAtMs, jobId }: AlarmRecord) =>
    ({ timestampMs, scheduleId, taskId, fireTimeMs, kind, dueAtMs, jobId, schedulerId: identity }) as const;
  return [
    ...raised.map((alarm): EventRecord => ({ type: "occurrenceOverdue", ...factsOf(alarm) })),
    ...resolved.map(
      (alarm): EventRecord => ({
        type: "occurrenceResolved",
        ...factsOf(alarm),
        raisedAtMs: alarm.raisedAt,
        reason: alarm.reason,
      }),
    ),
  ];
}
