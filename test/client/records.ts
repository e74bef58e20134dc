import fc from "fast-check";
import type { AttemptRecord } from "../../src/records/attempt.ts";
import type { JobRecord } from "../../src/records/job.ts";
import type { JobResultRecord } from "../../src/records/job-result.ts";
import { OVERDUE_KINDS } from "../../src/records/overdue.ts";
import { JOB_OUTCOMES, RUN_OVERLAP_POLICIES } from "../../src/records/policies.ts";
import type { ScheduleRecord } from "../../src/records/schedule.ts";
import type { SerializedError } from "../../src/records/serialized-error.ts";
import type { TaskRecord } from "../../src/records/task.ts";
import { OCCURRENCE_VERDICTS } from "../../src/scheduler/options/occurrence-verdicts.ts";
import { type Cause, EXPLAINED_VERDICTS, type ExplanationFacts } from "../../src/scheduler/views/explanation.ts";
import type { SchedulerFacts, StoreFacts } from "../../src/scheduler/views/health.ts";
import type { OccurrenceFacts } from "../../src/scheduler/views/occurrence.ts";
import type { ScheduleChangeFacts } from "../../src/scheduler/views/schedule-change.ts";

// Records with any values that stores may hold.

const text = fc.string({ maxLength: 20, unit: "grapheme" });
const count = fc.nat();
const ms = fc.integer({ min: -8.64e15, max: 8.64e15 });
const duration = fc.integer({ min: 0, max: 31_557_600_000_000 });
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const value = fc.option(json.map((given) => JSON.stringify(given)));
const metadata = fc.dictionary(
  text.filter((key) => key !== "__proto__"),
  json,
  { maxKeys: 4 },
);
const orNull = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(one);

/** Any of the optional fields may be absent. */
function record<T extends object, O extends object>(
  required: { [K in keyof T]: fc.Arbitrary<T[K]> },
  optional: { [K in keyof O]: fc.Arbitrary<O[K]> },
): fc.Arbitrary<T & Partial<O>> {
  const names = Object.keys(required) as never[];
  return fc.record({ ...required, ...optional }, { requiredKeys: names }) as unknown as fc.Arbitrary<T & Partial<O>>;
}

const leafError: fc.Arbitrary<SerializedError> = record({ name: text, message: text }, { stack: text, code: text });
const error: fc.Arbitrary<SerializedError> = record(
  { name: text, message: text },
  { stack: text, code: text, cause: leafError },
);

const attempt: fc.Arbitrary<AttemptRecord> = fc.record({
  number: count,
  startedAt: orNull(ms),
  finishedAt: ms,
  error,
});
const progress = fc.record({ fraction: fc.double({ min: 0, max: 1, noNaN: true }).map(Math.abs), note: orNull(text) });

const catchUp = fc.record({ maxAgeMs: orNull(duration), maxCount: orNull(count), paceMs: orNull(duration) });

/** What is said of a pause, besides its end. */
const said = { pauseReason: text, pausedBy: text };

export const schedules: fc.Arbitrary<ScheduleRecord> = record(
  {
    ...{ id: text, name: orNull(text), taskId: text, executor: text, triggerRule: text },
    trigger: json.map((given) => JSON.stringify({ type: "t", version: 1, given })),
    ...{ payload: value, priority: fc.integer(), coalesce: fc.constantFrom("latest", "earliest", "all") },
    ...{ misfireGraceMs: orNull(duration), maxJitterMs: duration, catchUp: orNull(catchUp) },
    ...{ resultExpirationMs: duration, maxRecoveries: count, overlap: fc.constantFrom(...RUN_OVERLAP_POLICIES) },
    ...{ metadata, paused: fc.boolean(), createdAt: ms, nextFireTime: orNull(ms), lastFireTime: orNull(ms) },
    ...{ fence: count, revision: count, skippedCount: count },
  },
  { concurrencyKey: text, expectStartMs: duration, expectFinishMs: duration, ...said, pausedUntil: ms },
) as fc.Arbitrary<ScheduleRecord>;

export const jobs: fc.Arbitrary<JobRecord> = record(
  {
    ...{ id: text, taskId: text, scheduleId: orNull(text), executor: text, payload: value, priority: fc.integer() },
    ...{ runAt: ms, createdAt: ms, fireTime: orNull(ms), scheduledFireTime: orNull(ms), startDeadline: orNull(ms) },
    ...{ missedCount: orNull(count), firstMissedTime: orNull(ms), lastMissedTime: orNull(ms) },
    ...{ resultExpirationMs: duration, maxRecoveries: count, metadata, idempotencyKey: orNull(text) },
    ...{ failedAttempts: count, recoveries: count, startedFence: count, cancelRequested: fc.boolean() },
    ...{ acquiredBy: orNull(text), acquiredUntil: orNull(ms), fence: count },
  },
  {
    ...{ retryOf: text, attemptHistory: fc.array(attempt, { maxLength: 3 }), progress, concurrencyKey: text },
    ...{ after: fc.array(text, { maxLength: 3 }), blockedBy: fc.constantFrom("limit", "parents") },
    onParentFailure: fc.constantFrom("cancel", "run"),
  },
) as fc.Arbitrary<JobRecord>;

const keptJob = record(
  {
    ...{ payload: value, metadata, executor: text, priority: fc.integer(), fireTime: orNull(ms) },
    ...{ idempotencyKey: orNull(text), maxRecoveries: count, createdAt: ms },
  },
  { concurrencyKey: text },
);

export const results: fc.Arbitrary<JobResultRecord> = record(
  {
    ...{ jobId: text, taskId: text, scheduleId: orNull(text), scheduledFireTime: orNull(ms) },
    ...{ outcome: fc.constantFrom(...JOB_OUTCOMES), startedAt: orNull(ms), finishedAt: ms, attempts: count },
    ...{ returnValue: value, error: orNull(error), expiresAt: ms },
  },
  { job: keptJob, attemptHistory: fc.array(attempt, { maxLength: 3 }), progress, retryOf: text },
) as fc.Arbitrary<JobResultRecord>;

export const tasks: fc.Arbitrary<TaskRecord> = record(
  {
    ...{ id: text, executor: text, maxRunningJobs: orNull(count), misfireGraceMs: orNull(duration) },
    ...{ maxRecoveries: count, timeoutMs: orNull(duration), resultExpirationMs: duration, metadata },
    retry: fc.record({
      maxAttempts: count,
      backoff: fc.record({
        ...{ initialMs: duration, factor: fc.integer({ min: 1 }), maxMs: duration },
        jitter: fc.constantFrom("full", "none"),
      }),
    }),
    overlap: fc.constantFrom(...RUN_OVERLAP_POLICIES),
  },
  {
    ...{ maxRunningPerKey: count, fair: fc.boolean(), paused: fc.boolean(), declaration: text, version: count },
    ...{ ...said, pausedUntil: ms },
    rateLimit: fc.record({ limit: count, perMs: duration, burst: count }),
  },
) as fc.Arbitrary<TaskRecord>;

const smallMs = fc.integer({ min: 0, max: 4e12 });
const role = fc.constantFrom("both" as const, "scheduler" as const, "worker" as const);

const overdue = fc.record({
  open: fc.array(
    fc.record({
      ...{ scheduleId: text, taskId: text, fireTime: smallMs, dueAt: smallMs, raisedAt: smallMs, jobId: orNull(text) },
      kind: fc.constantFrom(...OVERDUE_KINDS),
    }),
    { minLength: 1, maxLength: 2 },
  ),
  count: fc.integer({ min: 1, max: 10_000 }),
});

/** What a look at a store found out; null where it could not be reached. */
export const schedulerFacts: fc.Arbitrary<SchedulerFacts | null> = orNull(
  fc.record({ eventsShared: fc.boolean(), versions: fc.record({ package: text, schema: orNull(count) }) }),
);

export const storeFacts: fc.Arbitrary<StoreFacts | null> = orNull(
  fc.record({
    inspection: record(
      {
        tasks: fc.array(
          record(
            { taskId: text, waiting: count, running: count },
            { held: count, isBlockedCapped: fc.constant(true), isQueuedCapped: fc.constant(true) },
          ),
          { maxLength: 3 },
        ),
        oldestDueJob: orNull(fc.record({ id: text, taskId: text, runAt: smallMs })),
        oldestDueSchedule: orNull(fc.record({ id: text, taskId: text, nextFireTime: smallMs })),
      },
      { overdue },
    ),
    schedulers: fc.array(
      fc.record({
        ...{ identity: text, role, isResident: fc.boolean(), aliveUntil: smallMs },
        ...{ tasks: fc.array(text, { maxLength: 3 }), executors: fc.array(text, { maxLength: 2 }) },
      }),
      { maxLength: 3 },
    ),
    backloggedSchedules: fc.array(
      fc.record({ scheduleId: text, taskId: text, unfinished: fc.record({ count, isCapped: fc.boolean() }) }),
      { maxLength: 2 },
    ),
    pauses: fc.array(record({ taskId: text, key: orNull(text) }, { ...said, pausedUntil: smallMs }), { maxLength: 2 }),
    latencyMs: count,
    clockSkewMs: orNull(fc.integer()),
    storeWarnings: fc.array(fc.record({ code: text, message: text }), { maxLength: 2 }),
  }),
) as fc.Arbitrary<StoreFacts | null>;

const timeZone = fc.constantFrom("UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia");
/** From 1950 on. Triggers fire until the year 9999. */
const fireTime = fc.integer({ min: -631_152_000_000, max: 253_402_000_000_000 });

export const occurrences: fc.Arbitrary<OccurrenceFacts> = fc.record({
  ...{ scheduleId: text, timeZone, fireTime, verdict: fc.constantFrom(...OCCURRENCE_VERDICTS), into: orNull(fireTime) },
  run: orNull(
    fc.record({
      ...{ jobId: text, scheduledFireTime: fireTime, createdAt: fireTime, attempts: count },
      ...{ startedAt: orNull(fireTime), finishedAt: orNull(fireTime) },
    }),
  ),
});

const at = orNull(fireTime);
const pause = { by: orNull(text), at, reason: orNull(text), until: at };
const causes: fc.Arbitrary<Cause<number>> = fc.oneof(
  fc.record({ kind: fc.constant("nobodyUp"), lacks: fc.constantFrom("scheduler", "worker"), from: at, until: at }),
  fc.record({ kind: fc.constant("held"), concurrencyKey: orNull(text) }),
  fc.record({ kind: fc.constant("taskPaused"), key: orNull(text), ...pause }),
  fc.record({ kind: fc.constant("unfinishedRun"), fireTime: at, jobId: orNull(text) }),
  fc.record({ kind: fc.constant("policy"), option: fc.constant("catchUp.maxAge") }),
  fc.record({ kind: fc.constant("error"), name: orNull(text), message: orNull(text) }),
  fc.record({ kind: fc.constant("retried"), attempts: count }),
  fc.record({ kind: fc.constant("bounds"), bound: fc.constantFrom("start", "end"), at }),
) as fc.Arbitrary<Cause<number>>;

const wall = fc.constantFrom("2027-03-28T02:00:00", "2027-10-31T03:00:00");

export const explanations: fc.Arbitrary<ExplanationFacts> = timeZone.chain((zone) =>
  fc.record({
    ...{
      scheduleId: text,
      timeZone: fc.constant(zone),
      at: fireTime,
      fireTime: at,
      shiftedFrom: at,
      before: at,
      after: at,
    },
    ...{ verdict: fc.constantFrom(...EXPLAINED_VERDICTS), cause: orNull(causes), occurrence: orNull(occurrences) },
    clockChanges: fc.array(fc.record({ timeZone, at: fireTime, from: wall, to: wall }), { maxLength: 2 }),
    ...{ advice: orNull(text), text },
  }),
);

const snapshots = fc.record({
  ...{ rule: text, timeZone, paused: fc.boolean(), pausedUntil: at, pauseReason: orNull(text) },
  ...{ nextFireTimes: fc.array(fireTime, { maxLength: 3 }) },
});

export const changes: fc.Arbitrary<ScheduleChangeFacts> = fc.record({
  ...{ seq: count, scheduleId: text, at: ms, by: orNull(text), changed: fc.array(text, { maxLength: 3 }) },
  kind: fc.constantFrom("added", "changed", "paused", "unpaused", "failed", "removed"),
  ...{ before: orNull(snapshots), after: orNull(snapshots) },
});
