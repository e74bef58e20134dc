import { instantOf, instantOrNull, type Temporal } from "../../core/temporal.ts";
import type { EventRecord, EventType } from "../../records/events.ts";

type Times<R> = { readonly timestamp: Temporal.Instant } & (R extends { nextFireTimeMs: number | null }
  ? { readonly nextFireTime: Temporal.Instant | null }
  : unknown) &
  (R extends { runAtMs: number } ? { readonly runAt: Temporal.Instant } : unknown) &
  (R extends { scheduledFireTimeMs: number | null }
    ? { readonly scheduledFireTime: Temporal.Instant | null; readonly startedAt: Temporal.Instant | null }
    : unknown);

/** An event as listeners get it: the record, with its instants also as `Temporal.Instant`. */
export type SchedulerEvent<T extends EventType = EventType> = { [K in T]: EventRecord<K> & Times<EventRecord<K>> }[T];

/** Temporal objects cost more than all else about an event, so they are made only when someone looks. */
class EventFace {
  constructor(record: EventRecord) {
    Object.assign(this, record);
  }
  get timestamp(): Temporal.Instant {
    return instantOf((this as unknown as EventRecord).timestampMs);
  }
  get nextFireTime(): Temporal.Instant | null {
    return instantOrNull((this as unknown as EventRecord<"scheduleAdded">).nextFireTimeMs);
  }
  get runAt(): Temporal.Instant {
    return instantOf((this as unknown as EventRecord<"jobAdded">).runAtMs);
  }
  get scheduledFireTime(): Temporal.Instant | null {
    return instantOrNull((this as unknown as EventRecord<"jobReleased">).scheduledFireTimeMs);
  }
  get startedAt(): Temporal.Instant | null {
    return instantOrNull((this as unknown as EventRecord<"jobReleased">).startedAtMs);
  }
}

/** The listener's view of a record. */
export function toEvent(record: EventRecord): SchedulerEvent {
  return new EventFace(record) as unknown as SchedulerEvent;
}
