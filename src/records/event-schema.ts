import * as v from "valibot";
import { once } from "../core/once.ts";
import { INSTANT_MS_MAX } from "../core/temporal.ts";
import type { EventRecord, EventType } from "./events.ts";
import {
  ERROR_CAUSES_MAX,
  ERROR_TEXT_LENGTH_MAX,
  EVENT_LIST_MAX,
  EVENTS_PER_MESSAGE_MAX,
  ID_LENGTH_MAX,
  REASON_LENGTH_MAX,
  SERIALIZED_LENGTH_MAX,
} from "./limits.ts";
import { OVERDUE_ENDS, OVERDUE_KINDS } from "./overdue.ts";
import { JOB_OUTCOMES } from "./policies.ts";
import { type FlatSchema, quickReader } from "./quick-reader.ts";
import type { SerializedError } from "./serialized-error.ts";

// What a broker receives may come from anybody: from another version of this library, or from another program. Fields
// that are not named here are left out.

type EventSchemas = { readonly [K in EventType]: FlatSchema<EventRecord<K>> };

/** Of each event, the fields that not all events have. */
type EventFields = {
  readonly [K in EventType]: {
    readonly [F in Exclude<keyof EventRecord<K>, "type" | "timestampMs">]-?: v.GenericSchema<
      unknown,
      EventRecord<K>[F]
    >;
  };
};

/** The schema of each event. Made when a message comes for the first time, because most programs receive none.
 *  @internal */
export const eventSchemas: () => EventSchemas = once(() => {
  const id = text(ID_LENGTH_MAX);
  const ms = v.pipe(v.number(), v.safeInteger(), v.minValue(-INSTANT_MS_MAX), v.maxValue(INSTANT_MS_MAX));
  const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
  const attempt = v.pipe(count, v.minValue(1));
  const fraction = v.pipe(v.number(), v.minValue(0), v.maxValue(1));
  const error = errorSchema();

  const task = { taskId: id };
  const schedule = { ...task, scheduleId: id };
  const job = { ...task, jobId: id, scheduleId: v.nullable(id) };
  const overdue = {
    ...schedule,
    schedulerId: id,
    fireTimeMs: ms,
    kind: v.picklist(OVERDUE_KINDS),
    dueAtMs: ms,
    jobId: v.nullable(id),
  };
  const by = v.nullable(id);
  const pause = { by, reason: v.nullable(text(REASON_LENGTH_MAX)), untilMs: v.nullable(ms) };
  const scheduler = { schedulerId: id };

  const fields: EventFields = {
    taskAdded: task,
    taskUpdated: task,
    taskRemoved: task,
    taskPaused: { ...task, concurrencyKey: v.nullable(id), ...pause },
    taskUnpaused: { ...task, concurrencyKey: v.nullable(id), by },
    taskOutdated: { ...task, schedulerId: id, version: v.nullable(count) },
    scheduleAdded: { ...schedule, nextFireTimeMs: v.nullable(ms) },
    scheduleUpdated: { ...schedule, nextFireTimeMs: v.nullable(ms) },
    schedulePaused: { ...schedule, ...pause },
    scheduleUnpaused: { ...schedule, by },
    scheduleRemoved: { scheduleId: id, finished: v.boolean() },
    scheduleBacklogged: { ...schedule, schedulerId: id, unfinished: count },
    scheduleFailed: { ...schedule, error },
    scheduleOutdated: { ...schedule, schedulerId: id, version: v.nullable(count) },
    occurrenceSkipped: {
      ...schedule,
      fireTimeMs: ms,
      count: v.pipe(count, v.minValue(1)),
      reason: v.picklist(["overlap", "replaced", "coalesced", "tooOld", "overCount", "blackedOut"]),
      jobId: v.nullable(id),
    },
    occurrenceOverdue: overdue,
    occurrenceResolved: { ...overdue, raisedAtMs: ms, reason: v.picklist(OVERDUE_ENDS) },
    blackoutAdded: { blackoutId: id, by, reason: v.nullable(text(REASON_LENGTH_MAX)) },
    blackoutRemoved: { blackoutId: id, by },
    scheduleDeserializationFailed: { ...schedule, schedulerId: id, error },
    zoneRulesChanged: {
      ...scheduler,
      zones: list(v.object({ zone: id, former: id, present: id })),
      schedules: list(v.object({ scheduleId: id, formerFireTimeMs: ms, nextFireTimeMs: v.nullable(ms) })),
      total: count,
    },
    jobAdded: { ...job, executor: id, runAtMs: ms, isLeased: v.boolean() },
    jobUpdated: { ...job, runAtMs: ms },
    jobBlocked: { ...job, reason: v.picklist(["limit", "parents"]), concurrencyKey: v.nullable(id) },
    jobAdmitted: { ...job, schedulerId: id, isLeased: v.boolean(), concurrencyKey: v.nullable(id) },
    jobUnclaimed: {
      ...job,
      schedulerId: id,
      executor: id,
      missing: v.picklist(["task", "executor", "worker", "room"]),
    },
    jobAcquired: {
      ...job,
      schedulerId: id,
      attempt,
      // Earlier versions do not say it.
      scheduledFireTimeMs: v.optional(v.nullable(ms), null),
    },
    jobProgressed: { ...job, fraction, note: v.nullable(text(SERIALIZED_LENGTH_MAX)) },
    jobLogged: { ...job, attempt, lines: count },
    jobRetried: { ...job, attempt, runAtMs: ms, error: v.nullable(error) },
    stepFinished: { ...job, step: id, startedAtMs: ms },
    jobSleeps: { ...job, step: v.nullable(id), runAtMs: ms },
    jobCancelRequested: { jobId: id },
    jobReleased: {
      ...job,
      schedulerId: v.nullable(id),
      outcome: v.picklist(JOB_OUTCOMES),
      error: v.nullable(error),
      scheduledFireTimeMs: v.nullable(ms),
      startedAtMs: v.nullable(ms),
    },
    schedulerStarted: scheduler,
    schedulerPaused: { ...scheduler, reason: v.nullable(v.string()) },
    schedulerResumed: scheduler,
    schedulerStopped: scheduler,
  };
  const schemas = Object.entries(fields).map(([type, entries]) => [
    type,
    v.object({ type: v.literal(type), timestampMs: ms, ...entries }),
  ]);
  return Object.fromEntries(schemas) as EventSchemas;
});

const quickReaders = once(() => {
  const schemas: { readonly [type: string]: FlatSchema<EventRecord> } = eventSchemas();
  return Object.fromEntries(Object.entries(schemas).map(([type, schema]) => [type, quickReader(schema)]));
});

/** Makes what {@link receivedEvents} needs, which takes some milliseconds. Otherwise the first message has to wait for
 *  it, and a job with the message. */
export function prepareToReceive(): void {
  quickReaders();
}

/**
 * The events of a message that a broker received. What is no event is left out; it never throws, whatever the message
 * is. Every broker passes what comes from outside of its process through this function, because an event decides when
 * a scheduler wakes.
 *
 * @param list what was sent as the argument of `publish`
 * @param onRefused called with the reason for each event that is left out: one of a type that only a newer version of
 *   this library knows, or something that is no event
 * @example
 * socket.onmessage = ({ data }) => deliver(receivedEvents(JSON.parse(data), (reason) => logger.debug(reason)));
 */
export function receivedEvents(list: unknown, onRefused: (reason: string) => void = () => {}): EventRecord[] {
  const items = itemsOf(list);
  if (items === null) {
    onRefused("a message that is no list of events is dropped");
    return [];
  }
  if (items.length > EVENTS_PER_MESSAGE_MAX) {
    onRefused(`all but the first ${EVENTS_PER_MESSAGE_MAX} events of a message are dropped`);
  }
  const events: EventRecord[] = [];
  for (const item of items.slice(0, EVENTS_PER_MESSAGE_MAX)) {
    const event = readEvent(item);
    if (typeof event === "string") onRefused(event);
    else events.push(event);
  }
  return events;
}

/** The items of a list, one more than a message may have; null for what is no list, or cannot be read. */
function itemsOf(list: unknown): unknown[] | null {
  try {
    return Array.isArray(list) ? Array.prototype.slice.call(list, 0, EVENTS_PER_MESSAGE_MAX + 1) : null;
  } catch {
    return null;
  }
}

/** The event, or why it is none. */
function readEvent(value: unknown): EventRecord | string {
  try {
    const type: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "type") : undefined;
    if (typeof type !== "string") return "a message that is no event is dropped";
    const isKnown = Object.hasOwn(eventSchemas(), type);
    const event = isKnown ? quickReaders()[type]?.(value as object) : null;
    if (event) return event;
    const name = JSON.stringify(type.slice(0, SHOWN_LENGTH_MAX));
    if (!isKnown) return `events of the type ${name} are dropped, because this version knows none`;
    const result = eventSchemas()[type as EventType]["~run"]({ value }, { abortEarly: true });
    if (result.issues === undefined) return result.value;
    const path = result.issues[0].path?.map(({ key }) => String(key)).join(".") ?? "content";
    return `an event of the type ${name} is dropped, because its ${path} is not what it must be`;
  } catch {
    return "a message that cannot be read is dropped";
  }
}

/** Longest piece of a message that an error shows, so that the error stays a line. */
const SHOWN_LENGTH_MAX = 80;

/** Causes beyond the deepest that this library writes are left out. */
function errorSchema(): v.GenericSchema<unknown, SerializedError> {
  // What was cut ends in three dots.
  const line = text(ERROR_TEXT_LENGTH_MAX + 3);
  const entries = { name: line, message: line, stack: v.exactOptional(line), code: v.exactOptional(line) };
  let schema: v.GenericSchema<unknown, SerializedError> = v.object(entries);
  for (let depth = 0; depth < ERROR_CAUSES_MAX; depth++) {
    schema = v.object({ ...entries, cause: v.exactOptional(schema) });
  }
  return schema;
}

function list<T>(item: v.GenericSchema<unknown, T>): v.GenericSchema<unknown, T[]> {
  return v.pipe(v.array(item), v.maxLength(EVENT_LIST_MAX));
}

function text(lengthMax: number): v.GenericSchema<unknown, string> {
  return v.pipe(v.string(), v.maxLength(lengthMax));
}
