import { instantOf, instantOrNull, type Temporal } from "../core/temporal.ts";
import type { SerializedError } from "./job-result.ts";
import type { JobOutcome } from "./policies.ts";

interface TaskFacts {
  readonly taskId: string;
}

interface ScheduleFacts extends TaskFacts {
  readonly scheduleId: string;
}

interface JobFacts extends TaskFacts {
  readonly jobId: string;
  /** The schedule that made the job, or null. */
  readonly scheduleId: string | null;
}

interface SchedulerFacts {
  /** Identity of the scheduler. */
  readonly schedulerId: string;
}

/** What happened, by type. */
interface FactsByType {
  taskAdded: TaskFacts;
  taskUpdated: TaskFacts;
  taskRemoved: TaskFacts;
  scheduleAdded: ScheduleFacts & { readonly nextFireTimeMs: number | null };
  scheduleUpdated: ScheduleFacts & { readonly nextFireTimeMs: number | null };
  /** `finished`: removed by the clean-up because it had no fire time left. */
  scheduleRemoved: { readonly scheduleId: string; readonly finished: boolean };
  /** The schedule's trigger failed, and the schedule was paused. */
  scheduleFailed: ScheduleFacts & { readonly error: SerializedError };
  jobAdded: JobFacts & { readonly runAtMs: number };
  jobAcquired: JobFacts & SchedulerFacts & { readonly attempt: number };
  jobProgressed: JobFacts & { readonly fraction: number; readonly note: string | null };
  /** An attempt failed (`error`), or was lost with its process (`error` is null), and the job is back in the queue. */
  jobRetried: JobFacts & { readonly attempt: number; readonly runAtMs: number; readonly error: SerializedError | null };
  /** The job ended. `schedulerId` is null when no scheduler held it. */
  jobReleased: JobFacts & {
    readonly schedulerId: string | null;
    readonly outcome: JobOutcome;
    readonly error: SerializedError | null;
    readonly scheduledFireTimeMs: number | null;
    readonly startedAtMs: number | null;
  };
  schedulerStarted: SchedulerFacts;
  schedulerStopped: SchedulerFacts;
}

export type EventType = keyof FactsByType;

/** Every event type, once. */
export const EVENT_TYPES: readonly EventType[] = Object.freeze([
  "taskAdded",
  "taskUpdated",
  "taskRemoved",
  "scheduleAdded",
  "scheduleUpdated",
  "scheduleRemoved",
  "scheduleFailed",
  "jobAdded",
  "jobAcquired",
  "jobProgressed",
  "jobRetried",
  "jobReleased",
  "schedulerStarted",
  "schedulerStopped",
]);

/** An event as brokers carry it: plain JSON, instants as epoch milliseconds in fields that end in `Ms`. */
export type EventRecord<T extends EventType = EventType> = {
  [K in T]: Readonly<FactsByType[K]> & { readonly type: K; readonly timestampMs: number };
}[T];

type Times<R> = { readonly timestamp: Temporal.Instant } & (R extends { nextFireTimeMs: number | null }
  ? { readonly nextFireTime: Temporal.Instant | null }
  : unknown) &
  (R extends { runAtMs: number } ? { readonly runAt: Temporal.Instant } : unknown) &
  (R extends { scheduledFireTimeMs: number | null }
    ? { readonly scheduledFireTime: Temporal.Instant | null; readonly startedAt: Temporal.Instant | null }
    : unknown);

/** An event as listeners get it: the record, with its instants also as `Temporal.Instant`. */
export type Event<T extends EventType = EventType> = { [K in T]: EventRecord<K> & Times<EventRecord<K>> }[T];

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
export function toEvent(record: EventRecord): Event {
  return new EventFace(record) as unknown as Event;
}
