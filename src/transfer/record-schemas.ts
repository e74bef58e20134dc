import * as v from "valibot";
import { converted, oneOf, says, textUpTo, trueOrFalse, wholeNumber } from "../core/check.ts";
import { OptionsError } from "../core/errors.ts";
import { once } from "../core/once.ts";
import { mustBe } from "../core/option-errors.ts";
import { INSTANT_MS_MAX } from "../core/temporal.ts";
import { isStorable, STORABLE } from "../core/text.ts";
import type { AttemptRecord, JobProgress } from "../records/attempt.ts";
import { type BlackoutRecord, MISSED_POLICIES } from "../records/blackout.ts";
import type { JobRecord } from "../records/job.ts";
import type { JobResultRecord, KeptJob } from "../records/job-result.ts";
import { type OccurrenceRunRecord, SKIP_VERDICTS, type Skip } from "../records/ledger.ts";
import { ERROR_CAUSES_MAX, ID_LENGTH_MAX, SERIALIZED_LENGTH_MAX } from "../records/limits.ts";
import {
  COALESCE_POLICIES,
  JOB_OUTCOMES,
  type Metadata,
  PARENT_FAILURE_POLICIES,
  type RetryPolicy,
  RUN_OVERLAP_POLICIES,
} from "../records/policies.ts";
import type { ScheduleRecord } from "../records/schedule.ts";
import type { SerializedError } from "../records/serialized-error.ts";
import type { TaskRecord } from "../records/task.ts";
import { checkedLabelFilter } from "../scheduler/options/labels.ts";
import { BLACKOUT_TASKS_MAX, PARENTS_MAX } from "../scheduler/options/limits.ts";
import { checkMetadata } from "../scheduler/options/metadata.ts";
import type { PauseFacts } from "../stores/shared/pauses.ts";
import { triggerFromJSON } from "../triggers/codec.ts";
import { parseTrigger } from "../triggers/parse-trigger.ts";
import { ruleKey } from "../triggers/trigger.ts";

// What records must be that come from a text. Types are checked, and what else a store relies on. A field that a record
// gets has to be added here too: the entries of each schema are those of its type.

type RecordSchema<T> = v.GenericSchema<unknown, T>;

/** The schema of an object with exactly these fields. */
function exactly<T>(entries: { readonly [K in keyof T]-?: RecordSchema<T[K] | undefined> }): RecordSchema<T> {
  return v.strictObject(entries as v.ObjectEntries, ({ expected, received, input }) => {
    if (expected === "never") return "is no field that this program knows";
    return received === "undefined" && expected !== "Object" ? "is missing" : mustBe("an object", input);
  }) as unknown as RecordSchema<T>;
}

function absent<T>(schema: RecordSchema<T>): RecordSchema<T | undefined> {
  return v.optional(schema) as unknown as RecordSchema<T | undefined>;
}

const orNull = <T>(schema: RecordSchema<T>): RecordSchema<T | null> =>
  v.nullable(schema) as unknown as RecordSchema<T | null>;
const unknownly = <T>(schema: v.GenericSchema<T>): RecordSchema<T> => schema as RecordSchema<T>;

const id = once(() => unknownly(textUpTo(ID_LENGTH_MAX)));
const whole = once(() => unknownly(wholeNumber()));
const count = once(() => unknownly(wholeNumber(0)));
const instant = once(() => unknownly(wholeNumber(-INSTANT_MS_MAX, INSTANT_MS_MAX)));
const flag = (): RecordSchema<boolean> => unknownly(trueOrFalse);

/** A field that an export leaves out. */
const never = (): RecordSchema<never> => v.never("must not be there") as unknown as RecordSchema<never>;

/** Text of a payload or a name. */
const text = once(() =>
  unknownly(
    v.pipe(
      v.string(says("text")),
      v.maxLength(SERIALIZED_LENGTH_MAX, `must have at most ${SERIALIZED_LENGTH_MAX} characters`),
      v.check(isStorable, says(STORABLE)),
    ),
  ),
);

/** A priority ends in .5 for a job that makes up for a fire time. */
const priority = once(() =>
  unknownly(
    v.pipe(
      v.number(says("a number")),
      v.check((value) => Number.isSafeInteger(value * 2), says("a whole number, or one that ends in .5")),
    ),
  ),
);

const metadata = once(
  (): RecordSchema<Metadata> =>
    converted((value: unknown) => {
      const checked = checkMetadata(value);
      if ("metadata" in checked) return checked.metadata;
      throw new OptionsError(checked.problem, [{ path: "", message: checked.problem }]);
    }),
);

const retry = once(() =>
  exactly<RetryPolicy>({
    maxAttempts: unknownly(wholeNumber(1)),
    backoff: exactly<RetryPolicy["backoff"]>({
      initialMs: count(),
      factor: unknownly(v.pipe(v.number(says("a number")), v.finite(), v.minValue(1, says("a number of 1 or more")))),
      maxMs: count(),
      jitter: unknownly(oneOf(["full", "none"])),
    }),
  }),
);

const pauseFacts = () => ({
  pausedUntil: absent(instant()),
  pauseReason: absent(text()),
  pausedBy: absent(text()),
});

export const taskSchema: () => RecordSchema<TaskRecord> = once(() =>
  exactly<TaskRecord>({
    id: id(),
    executor: id(),
    maxRunningJobs: orNull(count()),
    misfireGraceMs: orNull(count()),
    maxRecoveries: count(),
    timeoutMs: orNull(count()),
    resultExpirationMs: count(),
    failureExpirationMs: absent(count()),
    retry: retry(),
    overlap: unknownly(oneOf(RUN_OVERLAP_POLICIES)),
    metadata: metadata(),
    labels: absent(converted(checkedLabelFilter)),
    maxRunningPerKey: absent(count()),
    rateLimit: absent(
      exactly<NonNullable<TaskRecord["rateLimit"]>>({
        limit: unknownly(wholeNumber(1)),
        perMs: unknownly(wholeNumber(1)),
        burst: unknownly(wholeNumber(1)),
      }),
    ),
    fair: absent(flag()),
    pauseAfterFailures: absent(count()),
    maxSnoozes: absent(wholeNumber(0)),
    abandonAfterMs: absent(count()),
    keepLogs: absent(exactly<NonNullable<TaskRecord["keepLogs"]>>({ lines: count(), bytes: count() })),
    paused: absent(flag()),
    ...pauseFacts(),
    declaration: absent(text()),
    version: absent(whole()),
    declaredBy: absent(text()),
  }),
);

const triggerText = once(() =>
  v.pipe(
    v.string(says("the JSON of a trigger, as text")),
    v.maxLength(SERIALIZED_LENGTH_MAX, `must have at most ${SERIALIZED_LENGTH_MAX} characters`),
  ),
);

export const blackoutSchema: () => RecordSchema<BlackoutRecord> = once(
  () =>
    v.pipe(
      exactly<BlackoutRecord>({
        id: id(),
        from: orNull(instant()),
        until: orNull(instant()),
        trigger: orNull(unknownly(triggerText())),
        durationMs: orNull(unknownly(wholeNumber(1))),
        labels: orNull(converted(checkedLabelFilter)),
        taskIds: orNull(
          unknownly(v.pipe(v.array(id() as v.GenericSchema<string>), v.minLength(1), v.maxLength(BLACKOUT_TASKS_MAX))),
        ),
        missed: unknownly(oneOf(MISSED_POLICIES)),
        reason: orNull(text()),
        by: orNull(text()),
        createdAt: instant(),
      }),
      v.check(hasWindow, "must have from and a later until, or a trigger that this program can read and durationMs"),
    ) as unknown as RecordSchema<BlackoutRecord>,
);

function hasWindow({ from, until, trigger, durationMs }: BlackoutRecord): boolean {
  if (trigger === null) return from !== null && until !== null && from < until && durationMs === null;
  if (from !== null || until !== null || durationMs === null) return false;
  try {
    parseTrigger(trigger);
    return true;
  } catch {
    return false;
  }
}

export const scheduleSchema: () => RecordSchema<ScheduleRecord> = once(() =>
  exactly<ScheduleRecord>({
    id: id(),
    name: orNull(text()),
    taskId: id(),
    trigger: unknownly(triggerText()),
    triggerRule: unknownly(triggerText()),
    payload: orNull(text()),
    executor: id(),
    priority: whole(),
    coalesce: unknownly(oneOf(COALESCE_POLICIES)),
    misfireGraceMs: orNull(count()),
    maxJitterMs: count(),
    catchUp: orNull(
      exactly<NonNullable<ScheduleRecord["catchUp"]>>({
        maxAgeMs: orNull(count()),
        maxCount: orNull(count()),
        paceMs: orNull(count()),
      }),
    ),
    resultExpirationMs: count(),
    failureExpirationMs: absent(count()),
    maxRecoveries: count(),
    overlap: unknownly(oneOf(RUN_OVERLAP_POLICIES)),
    metadata: metadata(),
    labels: absent(converted(checkedLabelFilter)),
    concurrencyKey: absent(id()),
    pauseAfterFailures: absent(count()),
    expectStartMs: absent(count()),
    expectFinishMs: absent(count()),
    paused: flag(),
    ...pauseFacts(),
    createdAt: instant(),
    nextFireTime: orNull(instant()),
    zoneRules: absent(text()),
    lastFireTime: orNull(instant()),
    paceUntil: orNull(instant()),
    fence: count(),
    revision: count(),
    skippedCount: count(),
    failures: absent(count()),
    lastFailure: absent(
      exactly<NonNullable<ScheduleRecord["lastFailure"]>>({
        jobId: id(),
        outcome: unknownly(oneOf(JOB_OUTCOMES)),
        scheduledFireTime: orNull(instant()),
        finishedAt: instant(),
        attempts: count(),
        error: orNull(
          exactly<NonNullable<NonNullable<ScheduleRecord["lastFailure"]>["error"]>>({
            name: text(),
            message: text(),
            code: orNull(text()),
          }),
        ),
      }),
    ),
    declaration: absent(text()),
    version: absent(whole()),
  }),
);

/** The schedule with the rule that its trigger has. The trigger is one that this program can read.
 *  @throws {DeserializationError} for a trigger that nobody can read, or that has a type that is not registered */
export function withRule(schedule: ScheduleRecord): ScheduleRecord {
  let json: unknown;
  try {
    json = JSON.parse(schedule.trigger);
  } catch {
    json = null;
  }
  return { ...schedule, triggerRule: ruleKey(triggerFromJSON(json)) };
}

/** A job as an export has it, without what tells of a lease. */
export const jobSchema: () => RecordSchema<JobRecord> = once(() =>
  exactly<JobRecord>({
    id: id(),
    taskId: id(),
    scheduleId: orNull(id()),
    executor: id(),
    payload: orNull(text()),
    priority: priority(),
    runAt: instant(),
    createdAt: instant(),
    fireTime: orNull(instant()),
    scheduledFireTime: orNull(instant()),
    startDeadline: orNull(instant()),
    missedCount: orNull(count()),
    firstMissedTime: orNull(instant()),
    lastMissedTime: orNull(instant()),
    resultExpirationMs: count(),
    failureExpirationMs: absent(count()),
    maxRecoveries: count(),
    metadata: metadata(),
    labels: absent(converted(checkedLabelFilter)),
    idempotencyKey: orNull(id()),
    failedAttempts: count(),
    recoveries: count(),
    startedFence: unknownly(wholeNumber(0, 0)),
    cancelRequested: v.literal(false) as RecordSchema<boolean>,
    acquiredBy: v.null() as RecordSchema<null>,
    acquiredUntil: v.null() as RecordSchema<null>,
    fence: count(),
    retry: absent(retry()),
    retryOf: absent(id()),
    attemptHistory: absent(never()),
    progress: absent(never()),
    concurrencyKey: absent(id()),
    pauseAfterFailures: absent(count()),
    after: absent(v.pipe(v.array(id()), v.minLength(1), v.maxLength(PARENTS_MAX)) as RecordSchema<readonly string[]>),
    onParentFailure: absent(unknownly(oneOf(PARENT_FAILURE_POLICIES))),
    blockedBy: absent(never()),
    sleep: absent(never()),
  }),
);

const error = (depth: number): RecordSchema<SerializedError> =>
  exactly<SerializedError>({
    name: text(),
    message: text(),
    stack: absent(text()),
    code: absent(text()),
    cause: absent(depth === 0 ? never() : error(depth - 1)),
    properties: absent(metadata()),
    errors: absent(
      depth === 0 ? never() : (v.array(v.lazy(() => error(0))) as unknown as RecordSchema<SerializedError[]>),
    ),
  });

const errors = once(() => error(ERROR_CAUSES_MAX));

const progress = once(() =>
  exactly<JobProgress>({
    fraction: unknownly(v.pipe(v.number(says("a number")), v.minValue(0), v.maxValue(1))),
    note: orNull(text()),
  }),
);

export const resultSchema: () => RecordSchema<JobResultRecord> = once(() =>
  exactly<JobResultRecord>({
    jobId: id(),
    taskId: id(),
    scheduleId: orNull(id()),
    scheduledFireTime: orNull(instant()),
    outcome: unknownly(oneOf(JOB_OUTCOMES)),
    startedAt: orNull(instant()),
    finishedAt: instant(),
    attempts: count(),
    returnValue: orNull(text()),
    error: orNull(errors()),
    expiresAt: instant(),
    job: absent(
      exactly<KeptJob>({
        payload: orNull(text()),
        omitsPayload: absent(v.literal(true) as unknown as RecordSchema<true>),
        metadata: metadata(),
        labels: absent(converted(checkedLabelFilter)),
        executor: id(),
        priority: priority(),
        fireTime: orNull(instant()),
        idempotencyKey: orNull(id()),
        maxRecoveries: count(),
        createdAt: instant(),
        concurrencyKey: absent(id()),
        after: absent(v.array(id()) as unknown as RecordSchema<readonly string[]>),
        resultExpirationMs: absent(count()),
        failureExpirationMs: absent(count()),
        retry: absent(retry()),
      }),
    ),
    attemptHistory: absent(
      v.array(
        exactly<AttemptRecord>({
          number: count(),
          startedAt: orNull(instant()),
          finishedAt: instant(),
          error: errors(),
        }),
      ) as unknown as RecordSchema<readonly AttemptRecord[]>,
    ),
    progress: absent(progress()),
    retryOf: absent(id()),
  }),
);

/** From when on the entries of a schedule are whole. They follow. */
export interface HistoryLine {
  readonly scheduleId: string;
  readonly since: number;
}

export const historySchema: () => RecordSchema<HistoryLine> = once(() =>
  exactly<HistoryLine>({ scheduleId: id(), since: instant() }),
);

/** An entry of the ledger. */
export type RunLine = OccurrenceRunRecord & { readonly scheduleId: string };
export type SkipLine = Skip & { readonly scheduleId: string };

export const runSchema: () => RecordSchema<RunLine> = once(() =>
  exactly<RunLine>({
    scheduleId: id(),
    fireTime: instant(),
    scheduledFireTime: instant(),
    jobId: id(),
    outcome: unknownly(oneOf(JOB_OUTCOMES)),
    createdAt: instant(),
    startedAt: orNull(instant()),
    finishedAt: instant(),
    attempts: count(),
    reason: absent(text()),
    isKeyed: flag(),
  }),
);

export const skipSchema: () => RecordSchema<SkipLine> = once(() =>
  exactly<SkipLine>({
    scheduleId: id(),
    from: instant(),
    until: instant(),
    verdict: unknownly(oneOf(SKIP_VERDICTS)),
    count: orNull(count()),
    into: orNull(instant()),
  }),
);

export interface TaskPauseLine extends PauseFacts {
  readonly taskId: string;
  readonly key: string | null;
}

export const taskPauseSchema: () => RecordSchema<TaskPauseLine> = once(() =>
  exactly<TaskPauseLine>({ taskId: id(), key: orNull(id()), ...pauseFacts() }),
);

/** A job that ran during the export. */
export type RunningJobLine = Pick<JobRecord, "id" | "taskId" | "scheduleId">;

export const runningJobSchema: () => RecordSchema<RunningJobLine> = once(() =>
  exactly<RunningJobLine>({ id: id(), taskId: id(), scheduleId: orNull(id()) }),
);
