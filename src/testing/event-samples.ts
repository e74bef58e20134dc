import type { EventRecord, EventType } from "../records/events.ts";
import type { SerializedError } from "../records/serialized-error.ts";

// What the contract of event brokers publishes.

export function eventOf(id: string): EventRecord {
  return { type: "taskAdded", timestampMs: 1_800_000_000_000, taskId: id };
}

/** One event of each type, with every field filled in. */
export function sampleOf(type: EventType): EventRecord {
  const timestampMs = 1_800_000_000_001;
  const error = { name: "TypeError", message: "über \u{1F551}", stack: "at x", cause: { name: "Error", message: "" } };
  const task = { timestampMs, taskId: "task" };
  const schedule = { ...task, scheduleId: "schedule" };
  const job = { ...task, jobId: "job", scheduleId: null };
  const overdue = { schedulerId: "scheduler", fireTimeMs: 1_800_000_000_000, dueAtMs: 1_800_000_000_003 };
  switch (type) {
    case "taskAdded":
    case "taskUpdated":
    case "taskRemoved":
      return { type, ...task };
    case "taskPaused":
      return { type, ...task, concurrencyKey: null, by: "Ada", reason: "upgrade", untilMs: 1_800_000_000_005 };
    case "taskUnpaused":
      return { type, ...task, concurrencyKey: null, by: null };
    case "taskOutdated":
      return { type, ...task, schedulerId: "scheduler", version: null };
    case "scheduleAdded":
      return { type, ...schedule, nextFireTimeMs: 1_800_000_000_002 };
    case "scheduleUpdated":
      return { type, ...schedule, nextFireTimeMs: null };
    case "schedulePaused":
      return { type, ...schedule, by: "Ada", reason: null, untilMs: null };
    case "scheduleUnpaused":
      return { type, ...schedule, by: null };
    case "scheduleRemoved":
      return { type, timestampMs, scheduleId: "schedule", finished: true };
    case "scheduleBacklogged":
      return { type, ...schedule, schedulerId: "scheduler", unfinished: 11 };
    case "scheduleFailed":
      return { type, ...schedule, error };
    case "scheduleOutdated":
      return { type, ...schedule, schedulerId: "scheduler", version: 6 };
    case "occurrenceSkipped":
      return { type, ...schedule, fireTimeMs: 1_800_000_000_002, count: 3, reason: "replaced", jobId: "job" };
    case "occurrenceOverdue":
      return { type, ...schedule, ...overdue, kind: "start", jobId: null };
    case "occurrenceResolved":
      return { type, ...schedule, ...overdue, kind: "finish", jobId: "job", raisedAtMs: 4, reason: "finished" };
    case "blackoutAdded":
      return { type, timestampMs, blackoutId: "blackout", by: "Ada", reason: "maintenance" };
    case "blackoutRemoved":
      return { type, timestampMs, blackoutId: "blackout", by: null };
    case "scheduleDeserializationFailed":
      return { type, ...schedule, schedulerId: "scheduler", error };
    case "zoneRulesChanged": {
      const zones = [{ zone: "Europe/Berlin", former: "2024 00000001", present: "2024 00000002" }];
      const moved = { scheduleId: "schedule", formerFireTimeMs: 1_800_000_000_002, nextFireTimeMs: null };
      return { type, timestampMs, schedulerId: "scheduler", zones, schedules: [moved], total: 2 };
    }
    case "jobAdded":
      return { type, ...job, scheduleId: "schedule", executor: "inline", runAtMs: 1_800_000_000_003, isLeased: false };
    case "jobUpdated":
      return { type, ...job, runAtMs: 1_800_000_000_003 };
    case "jobBlocked":
      return { type, ...job, reason: "limit", concurrencyKey: "key" };
    case "jobAdmitted":
      return { type, ...job, schedulerId: "scheduler", isLeased: false, concurrencyKey: null };
    case "jobUnclaimed":
      return { type, ...job, schedulerId: "scheduler", executor: "threads", missing: "executor" };
    case "jobAcquired":
      return { type, ...job, schedulerId: "scheduler", attempt: 2, scheduledFireTimeMs: 1_800_000_000_000 };
    case "jobProgressed":
      return { type, ...job, fraction: 0.25, note: null };
    case "jobLogged":
      return { type, ...job, attempt: 1, lines: 7 };
    case "jobRetried":
      return { type, ...job, attempt: 1, runAtMs: 1_800_000_000_004, error };
    case "stepFinished":
      return { type, ...job, step: "step", startedAtMs: 1_800_000_000_005 };
    case "jobSleeps":
      return { type, ...job, step: "settle", runAtMs: 1_800_000_000_006 };
    case "jobCancelRequested":
      return { type, timestampMs, jobId: "job" };
    case "jobReleased":
      return { type, ...job, schedulerId: null, outcome: "error", error, scheduledFireTimeMs: null, startedAtMs: 5 };
    case "schedulerPaused":
      return { type, timestampMs, schedulerId: "scheduler", reason: "clock" };
    case "schedulerStarted":
    case "schedulerResumed":
    case "schedulerStopped":
      return { type, timestampMs, schedulerId: "scheduler" };
    default:
      return type satisfies never;
  }
}

/** Events with the longest texts that this library writes, in letters of two bytes. */
export const LARGE_EVENTS: readonly EventRecord[] = [
  { ...(sampleOf("jobReleased") as EventRecord<"jobReleased">), error: largeError(8) },
  { ...(sampleOf("scheduleFailed") as EventRecord<"scheduleFailed">), error: largeError(8) },
  { ...(sampleOf("jobProgressed") as EventRecord<"jobProgressed">), note: "ü".repeat(1_000_000) },
];

function largeError(causes: number): SerializedError {
  const text = "ü".repeat(16_384);
  const error = { name: "Error", message: text, stack: text, code: "E" };
  return causes === 0 ? error : { ...error, cause: largeError(causes - 1) };
}

/** An event without what a broker may shorten. */
export function withoutTexts(event: EventRecord): EventRecord {
  if (event.type === "jobProgressed") return { ...event, note: null };
  if (!("error" in event) || event.error === null) return event;
  return { ...event, error: { name: event.error.name, message: "" } };
}

/** What strangers send in the place of a list of events. */
export const HOSTILE_MESSAGES: readonly unknown[] = Object.freeze([
  null,
  7,
  "events",
  {},
  { length: 1 },
  [],
  [[]],
  [null, 7],
]);

/** What strangers, and newer versions of this library, send as events. */
export const HOSTILE_EVENTS: readonly unknown[] = Object.freeze([
  {},
  { type: 7 },
  { type: "constructor", timestampMs: 1 },
  { type: "__proto__", timestampMs: 1 },
  { type: "ofANewerVersion", timestampMs: 1, taskId: "task" },
  { type: "taskAdded", taskId: "a" },
  { type: "taskAdded", timestampMs: 1 },
  { type: "taskAdded", timestampMs: 1, taskId: ["a"] },
  { type: "taskAdded", timestampMs: 1, taskId: "a".repeat(1_000_000) },
  ...["2030-01-01T00:00:00Z", Number.NaN, Number.POSITIVE_INFINITY, 1.5, 1e300, null, undefined, {}].map((runAtMs) => ({
    ...sampleOf("jobAdded"),
    runAtMs,
  })),
  { ...sampleOf("scheduleUpdated"), nextFireTimeMs: "2030" },
  { ...sampleOf("scheduleUpdated"), nextFireTimeMs: undefined },
  { ...sampleOf("jobReleased"), outcome: "fine" },
  { ...sampleOf("jobReleased"), error: "broken" },
  { ...sampleOf("jobRetried"), error: { name: "Error" } },
  { ...sampleOf("jobRetried"), error: { name: "Error", message: nested(1000) } },
  { ...sampleOf("jobProgressed"), fraction: 2 },
]);

function nested(depth: number): unknown {
  let value: unknown = 7;
  for (let left = depth; left > 0; left--) value = [value];
  return value;
}
