import { printAsFields } from "../../core/inspect.ts";
import { instantOf, instantOrNull, type Temporal } from "../../core/temporal.ts";
import type { EventRecord, EventType } from "../../records/events.ts";

type Times<R> = { readonly timestamp: Temporal.Instant } & (R extends { nextFireTimeMs: number | null }
  ? { readonly nextFireTime: Temporal.Instant | null }
  : unknown) &
  (R extends { fireTimeMs: number } ? { readonly fireTime: Temporal.Instant } : unknown) &
  (R extends { dueAtMs: number } ? { readonly dueAt: Temporal.Instant } : unknown) &
  (R extends { raisedAtMs: number } ? { readonly raisedAt: Temporal.Instant } : unknown) &
  (R extends { runAtMs: number } ? { readonly runAt: Temporal.Instant } : unknown) &
  (R extends { scheduledFireTimeMs: number | null }
    ? { readonly scheduledFireTime: Temporal.Instant | null }
    : unknown) &
  (R extends { untilMs: number | null } ? { readonly until: Temporal.Instant | null } : unknown) &
  (R extends { startedAtMs: number | null } ? { readonly startedAt: Temporal.Instant | null } : unknown);

/** An event as listeners get it: the fields of its record, and its instants also as `Temporal.Instant`. For example,
 *  `timestamp` beside `timestampMs`. */
export type SchedulerEvent<T extends EventType = EventType> = { [K in T]: EventRecord<K> & Times<EventRecord<K>> }[T];

/** Makes the instants of an event only when a listener reads them, because Temporal objects cost more than everything
 *  else about an event. */
class EventFace {
  static {
    printAsFields(EventFace.prototype);
  }
  constructor(record: EventRecord) {
    Object.assign(this, record);
  }
  get timestamp(): Temporal.Instant {
    return instantOf((this as unknown as EventRecord).timestampMs);
  }
  get nextFireTime(): Temporal.Instant | null {
    return instantOrNull((this as unknown as EventRecord<"scheduleAdded">).nextFireTimeMs);
  }
  get fireTime(): Temporal.Instant {
    return instantOf((this as unknown as EventRecord<"occurrenceSkipped">).fireTimeMs);
  }
  get dueAt(): Temporal.Instant {
    return instantOf((this as unknown as EventRecord<"occurrenceOverdue">).dueAtMs);
  }
  get raisedAt(): Temporal.Instant {
    return instantOf((this as unknown as EventRecord<"occurrenceResolved">).raisedAtMs);
  }
  get runAt(): Temporal.Instant {
    return instantOf((this as unknown as EventRecord<"jobAdded">).runAtMs);
  }
  get scheduledFireTime(): Temporal.Instant | null {
    return instantOrNull((this as unknown as EventRecord<"jobReleased">).scheduledFireTimeMs);
  }
  get until(): Temporal.Instant | null {
    return instantOrNull((this as unknown as EventRecord<"schedulePaused">).untilMs);
  }
  get startedAt(): Temporal.Instant | null {
    return instantOrNull((this as unknown as EventRecord<"jobReleased">).startedAtMs);
  }
}

/** The listener's view of a record. */
export function toEvent(record: EventRecord): SchedulerEvent {
  return new EventFace(record) as unknown as SchedulerEvent;
}
