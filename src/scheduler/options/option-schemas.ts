import * as v from "valibot";
import type { EventBroker } from "../../brokers/event-broker.ts";
import {
  anything,
  converted,
  durationMs,
  implementing,
  instantMs,
  numberFrom,
  objectOf,
  oneOf,
  recordOf,
  says,
  textUpTo,
  trueOrFalse,
  wholeNumber,
} from "../../core/check.ts";
import type { Clock } from "../../core/clock.ts";
import type { Duration } from "../../core/duration.ts";
import { OptionsError } from "../../core/errors.ts";
import { LOG_LEVELS } from "../../core/leveled-logger.ts";
import type { Logger } from "../../core/logger.ts";
import { once } from "../../core/once.ts";
import { isPlain, mustBe, mustBeOneOf } from "../../core/option-errors.ts";
import type { StandardSchemaV1 } from "../../core/standard-schema.ts";
import { toEpochMs } from "../../core/temporal.ts";
import { isStorable } from "../../core/text.ts";
import type { JobExecutor } from "../../executors/job-executor.ts";
import type { LeaseExtender } from "../../executors/lease-extender.ts";
import { MISSED_POLICIES } from "../../records/blackout.ts";
import { ID_LENGTH_MAX, REASON_LENGTH_MAX } from "../../records/limits.ts";
import {
  COALESCE_POLICIES,
  JOB_OUTCOMES,
  PARENT_FAILURE_POLICIES,
  RUN_OVERLAP_POLICIES,
} from "../../records/policies.ts";
import type { DataStore, JobResultFilter } from "../../stores/data-store.ts";
import { resolveTimeZone } from "../../triggers/options.ts";
import { TRIGGER_FORMS, type TriggerLike } from "../../triggers/short-trigger.ts";
import { Trigger } from "../../triggers/trigger.ts";
import type {
  CheckedBackfill,
  CheckedBlackout,
  CheckedBulk,
  CheckedChange,
  CheckedEventsOptions,
  CheckedJobFilter,
  CheckedJobOptions,
  CheckedNewJob,
  CheckedOccurrenceFilter,
  CheckedPause,
  CheckedPrintOptions,
  CheckedResultOptions,
  CheckedRevision,
  CheckedRunFilter,
  CheckedRunJobOptions,
  CheckedRunNow,
  CheckedRunOptions,
  CheckedScheduleChangeFilter,
  CheckedScheduleChanges,
  CheckedScheduleFilter,
  CheckedScheduleOptions,
  CheckedSchedulerOptions,
  CheckedStartOptions,
  CheckedSubscribeOptions,
  CheckedTaskPause,
  CheckedTaskSettings,
  CheckedTickOptions,
  CheckedUnpause,
  FailureFilter,
  JobSelection,
  KeyFunction,
  ResultSelection,
  RetrySelection,
  ScheduleSelection,
  StatsRequest,
  TaskFilter,
} from "./checked-options.ts";
import { checkedLabelFilter, checkedLabels } from "./labels.ts";
import {
  BLACKOUT_TASKS_MAX,
  BULK_ADD_MAX,
  BY_LENGTH_MAX,
  CATCH_UP_MAX,
  FLOW_LIMIT_MAX,
  JOB_LOG_BYTES_DEFAULT,
  JOB_LOG_BYTES_MAX,
  JOB_LOG_LINES_DEFAULT,
  JOB_LOG_LINES_MAX,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
  PARENTS_MAX,
  PAUSE_AFTER_FAILURES_MAX,
  PREVIEW_LENGTH_MAX,
  SNOOZES_MAX_DEFAULT,
} from "./limits.ts";
import { checkMetadata } from "./metadata.ts";
import type { NoticeChannel } from "./notice-channel.ts";
import { OCCURRENCE_VERDICTS } from "./occurrence-verdicts.ts";
import {
  BROKER_METHODS,
  backoffAdvice,
  catchUpAdvice,
  debounceAdvice,
  EXECUTOR_METHODS,
  executorAdvice,
  executorsAdvice,
  idOfParent,
  keyAdvice,
  keyFunctionAdvice,
  limitAdvice,
  parentAdvice,
  parentsAdvice,
  pausedKeyAdvice,
  rateAdvice,
  rateCountAdvice,
  retryAdvice,
  STORE_METHODS,
  signalAdvice,
  storeAdvice,
  textAdviceOf,
  throttleAdvice,
  triggerAdvice,
  unlimitedAdvice,
} from "./option-hints.ts";

// The options of every call, with their defaults. Options whose default depends on the store, the task or the present
// time have no default here. A schema is made when it is first used, because most programs use few of them.

const name = once(() => textUpTo(ID_LENGTH_MAX));

/** Who changes something. */
const by = once(() => v.optional(textUpTo(BY_LENGTH_MAX)));

const concurrencyKey = once(() => v.optional(v.nullable(textUpTo(ID_LENGTH_MAX, keyAdvice))));

/** The key of a burst, or of what happens once in a time. */
const windowKey = once(() => textUpTo(ID_LENGTH_MAX, textAdviceOf));

const CONFLICT_POLICIES = ["update", "doNothing", "replace", "error"] as const;

const metadata = once(() =>
  converted((value: unknown) => {
    const checked = checkMetadata(value);
    if ("metadata" in checked) return checked.metadata;
    throw new OptionsError(checked.problem);
  }),
);

const labels = once(() => converted(checkedLabels));

const signal = once(() =>
  v.custom<AbortSignal>(
    (value) => typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value,
    ({ input }) => mustBe("an AbortSignal", input, "", signalAdvice(input)),
  ),
);

const standardSchema = once(() =>
  v.custom<StandardSchemaV1>(
    (value) => typeof (value as StandardSchemaV1 | null)?.["~standard"]?.validate === "function",
    says("a Standard Schema (valibot, zod, arktype, ...)"),
  ),
);

const backoffDefaults = once(() =>
  objectOf(
    {
      initial: v.optional(durationMs(), { seconds: 1 }),
      factor: v.optional(numberFrom(1), 2),
      max: v.optional(durationMs(), { hours: 1 }),
      jitter: v.optional(oneOf(["full", "none"]), "full"),
    },
    backoffAdvice,
  ),
);

const retryDefaults = once(() =>
  objectOf({ maxAttempts: v.optional(wholeNumber(1), 1), backoff: v.optional(backoffDefaults(), {}) }, retryAdvice),
);

/** What is given of `retry`, of a task or of a job. */
const retry = once(() =>
  v.partial(objectOf({ ...retryDefaults().entries, backoff: v.partial(backoffDefaults()) }, retryAdvice)),
);

const rateLimit = once(() =>
  objectOf(
    {
      limit: wholeNumber(1, FLOW_LIMIT_MAX, rateCountAdvice),
      per: durationMs(1),
      burst: v.optional(wholeNumber(1, FLOW_LIMIT_MAX)),
    },
    rateAdvice,
  ),
);

const keyFunction = once(() =>
  v.custom<KeyFunction>(
    (value) => typeof value === "function",
    ({ input }) => mustBe("a function that returns the key of a payload", input, "", keyFunctionAdvice(input)),
  ),
);

const keepLogs = once(() =>
  objectOf(
    {
      lines: v.optional(wholeNumber(1, JOB_LOG_LINES_MAX), JOB_LOG_LINES_DEFAULT),
      bytes: v.optional(wholeNumber(1000, JOB_LOG_BYTES_MAX), JOB_LOG_BYTES_DEFAULT),
    },
    (value) => (value === true ? "write { keepLogs: {} } for 1,000 lines and 65,536 bytes" : null),
  ),
);

const pauseAfterFailures = once(() =>
  v.optional(v.nullable(wholeNumber(1, PAUSE_AFTER_FAILURES_MAX, unlimitedAdvice))),
);

const taskDefaults = once(() =>
  objectOf({
    executor: v.optional(name(), "inline"),
    maxRunningJobs: v.optional(v.nullable(wholeNumber(1, undefined, limitAdvice))),
    maxRunningPerKey: v.optional(v.nullable(wholeNumber(1, FLOW_LIMIT_MAX, limitAdvice))),
    rateLimit: v.optional(v.nullable(rateLimit())),
    fair: v.optional(trueOrFalse),
    keepLogs: v.optional(v.nullable(keepLogs())),
    misfireGraceTime: v.optional(v.nullable(durationMs()), null),
    retry: v.optional(retryDefaults(), {}),
    maxRecoveries: v.optional(wholeNumber(0), 3),
    maxSnoozes: v.optional(wholeNumber(0, 1_000_000), SNOOZES_MAX_DEFAULT),
    timeout: v.optional(v.nullable(durationMs(1)), null),
    abandonAfter: v.optional(v.nullable(durationMs())),
    resultExpirationTime: v.optional(durationMs(), { hours: 24 }),
    failureExpirationTime: v.optional(v.nullable(durationMs())),
    overlap: v.optional(oneOf(RUN_OVERLAP_POLICIES), "queue"),
    pauseAfterFailures: pauseAfterFailures(),
    metadata: v.optional(metadata(), {}),
    labels: v.optional(labels()),
  }),
);

/** Settings of one task, which go over the defaults of its scheduler. A setting that is not given is left out. */
const taskSettings = once(() =>
  v.partial(
    objectOf({
      ...taskDefaults().entries,
      retry: retry(),
      concurrencyKey: keyFunction(),
      schema: standardSchema(),
    }),
  ),
);
export const taskSettingsSchema: () => v.GenericSchema<unknown, CheckedTaskSettings> = once(() => taskSettings());

const executors = once(() =>
  v.pipe(
    // recordOf alone would accept a list.
    v.custom<unknown>(
      (value) => !Array.isArray(value),
      ({ input }) => mustBe("an object of executors by name", input, "", executorsAdvice(input)),
    ),
    recordOf(
      name(),
      implementing<JobExecutor>("a JobExecutor", EXECUTOR_METHODS, executorAdvice),
      says("an object of executors by name"),
    ),
  ),
);

const timeZone = once(() =>
  converted((value: unknown) => {
    if (typeof value !== "string") throw new OptionsError(mustBe('an IANA time zone such as "Europe/Berlin"', value));
    resolveTimeZone(value);
    return value;
  }),
);

const catchUp = once(() =>
  objectOf(
    {
      maxAge: v.optional(v.nullable(durationMs(1))),
      maxCount: v.optional(v.nullable(wholeNumber(1, CATCH_UP_MAX, unlimitedAdvice))),
      pace: v.optional(v.nullable(durationMs(1))),
    },
    catchUpAdvice,
  ),
);

const scheduleDefaults = once(() => {
  const { coalesce, maxJitter, catchUp: bounds, priority } = scheduleSettings();
  return objectOf({
    ...{ coalesce, maxJitter, catchUp: bounds, priority },
    conflictPolicy: v.optional(oneOf(CONFLICT_POLICIES)),
  });
});

export const schedulerOptionsSchema: () => v.GenericSchema<unknown, CheckedSchedulerOptions> = once(() =>
  objectOf({
    dataStore: v.optional(implementing<DataStore>("a DataStore", STORE_METHODS, storeAdvice)),
    eventBroker: v.optional(implementing<EventBroker>("an EventBroker", BROKER_METHODS)),
    executors: v.optional(executors()),
    role: v.optional(oneOf(["both", "scheduler", "worker"]), "both"),
    identity: v.optional(name()),
    maxConcurrentJobs: v.optional(wholeNumber(1), 100),
    taskDefaults: v.optional(taskDefaults(), {}),
    scheduleDefaults: v.optional(scheduleDefaults()),
    notices: v.optional(
      v.array(
        implementing<NoticeChannel>("what webhook() or ping() returns", ["send"]),
        says("a list of what webhook() or ping() returns"),
      ),
    ),
    timeZone: v.optional(timeZone(), "UTC"),
    leaseDuration: v.optional(durationMs(100), { seconds: 60 }),
    leaseThread: v.optional(
      implementing<LeaseExtender>("a LeaseThread", ["start", "hold", "drop", "heldUntil", "stop"]),
    ),
    cleanupInterval: v.optional(v.nullable(durationMs(1)), { minutes: 15 }),
    maxIdle: v.optional(durationMs(1)),
    zoneRules: v.optional(oneOf(["auto", "adopt", "keep"]), "auto"),
    version: v.optional(wholeNumber(0)),
    logger: v.optional(implementing<Logger>("a Logger, such as console", ["debug", "info", "warn", "error"])),
    logLevel: v.optional(oneOf(LOG_LEVELS)),
    clock: v.optional(implementing<Clock>("a Clock", ["now", "sleep", "yield"])),
    random: v.optional(v.function(says("a function that returns numbers from 0 to 1"))),
  }),
);

/** Options that schedules and jobs inherit from their task where they are not given. */
const inherited = once(() => ({
  executor: v.optional(name()),
  metadata: v.optional(metadata()),
  labels: v.optional(labels()),
  resultExpirationTime: v.optional(durationMs()),
  failureExpirationTime: v.optional(v.nullable(durationMs())),
}));

const scheduleSettings = once(() => ({
  ...inherited(),
  name: v.optional(v.nullable(name())),
  payload: v.optional(anything),
  coalesce: v.optional(oneOf(COALESCE_POLICIES)),
  misfireGraceTime: v.optional(v.nullable(durationMs())),
  maxJitter: v.optional(durationMs()),
  priority: v.optional(wholeNumber()),
  overlap: v.optional(oneOf(RUN_OVERLAP_POLICIES)),
  pauseAfterFailures: pauseAfterFailures(),
  concurrencyKey: concurrencyKey(),
  catchUp: v.optional(v.nullable(catchUp())),
  expectStartWithin: v.optional(v.nullable(durationMs(1))),
  expectFinishWithin: v.optional(v.nullable(durationMs(1))),
}));

const newScheduleEntries = once(() => ({
  ...scheduleSettings(),
  conflictPolicy: v.optional(oneOf(CONFLICT_POLICIES), "update"),
  paused: v.optional(trueOrFalse),
  spread: v.optional(trueOrFalse),
  by: by(),
}));

export const scheduleOptionsSchema: () => v.GenericSchema<unknown, CheckedScheduleOptions> = once(() =>
  objectOf({
    ...newScheduleEntries(),
    id: v.optional(name()),
    ifRevision: v.optional(wholeNumber(0)),
    requestHash: v.optional(name()),
  }),
);

/** Options of `schedule`: those of a schedule, and settings of its task. */
export const scheduledTaskSchema: () => v.GenericSchema = once(() =>
  objectOf({ ...newScheduleEntries(), ...taskSettings().entries }),
);

/** What `checkTrigger` reads later on. */
const triggerLike = once(() =>
  v.custom<TriggerLike>(
    (value) => value instanceof Trigger || typeof value === "string" || isPlain(value),
    ({ input }) => mustBe(`a trigger, ${TRIGGER_FORMS}`, input, "", triggerAdvice(input)),
  ),
);

/** Changes of a schedule. Fields that are not given stay as they are. */
export const scheduleChangesSchema: () => v.GenericSchema<unknown, CheckedScheduleChanges> = once(() =>
  v.partial(
    objectOf({
      ...scheduleSettings(),
      trigger: triggerLike(),
      nextFireTime: instantMs,
    }),
  ),
);

const debounce = once(() =>
  objectOf({ key: windowKey(), wait: durationMs(1), maxWait: v.optional(durationMs(1)) }, debounceAdvice),
);
const throttle = once(() => objectOf({ key: windowKey(), per: durationMs(1) }, throttleAdvice));

const parents = once(() =>
  converted((value: unknown) => {
    if (!Array.isArray(value)) throw new OptionsError(mustBe("a list of jobs", value, "", parentsAdvice(value)));
    if (value.length === 0) throw new OptionsError("must name a job at least; leave it out for none");
    const ids = new Set(
      // `map` would pass over holes.
      Array.from(value, (job: unknown, index) => {
        const id = idOfParent(job);
        if (id !== null && id.length > 0 && id.length <= ID_LENGTH_MAX && isStorable(id)) return id;
        throw new OptionsError(`at ${index} ${mustBe("a job or the id of one", job, "", parentAdvice(job))}`);
      }),
    );
    if (ids.size <= PARENTS_MAX) return [...ids];
    const advice = "let a job in between come after some of them";
    throw new OptionsError(`must name at most ${PARENTS_MAX} jobs; got ${ids.size}: ${advice}`);
  }),
);

const onceEntries = once(() => ({
  idempotencyKey: v.optional(name()),
  uniqueFor: v.optional(durationMs(1)),
  requestHash: v.optional(name()),
}));

const jobEntries = once(() => ({
  ...inherited(),
  payload: v.optional(anything),
  runAt: v.optional(instantMs),
  delay: v.optional(durationMs()),
  priority: v.optional(wholeNumber(), 0),
  ...onceEntries(),
  debounce: v.optional(debounce()),
  throttle: v.optional(throttle()),
  concurrencyKey: concurrencyKey(),
  startDeadline: v.optional(instantMs),
  retry: v.optional(retry()),
  after: v.optional(parents()),
  onParentFailure: v.optional(oneOf(PARENT_FAILURE_POLICIES)),
}));

export const jobOptionsSchema: () => v.GenericSchema<unknown, CheckedJobOptions> = once(() => objectOf(jobEntries()));

export const newJobSchema: () => v.GenericSchema<unknown, CheckedNewJob> = once(() =>
  objectOf({
    ...jobEntries(),
    task: anything,
  }),
);

export const batchOptionsSchema: () => v.GenericSchema<unknown, { then?: unknown }> = once(() =>
  objectOf({ then: anything }),
);

export const runJobOptionsSchema: () => v.GenericSchema<unknown, CheckedRunJobOptions> = once(() =>
  objectOf({
    ...jobEntries(),
    signal: v.optional(signal()),
  }),
);

export const startOptionsSchema: () => v.GenericSchema<unknown, CheckedStartOptions> = once(() =>
  objectOf({
    paused: v.optional(trueOrFalse, false),
    handleSignals: v.optional(trueOrFalse, false),
  }),
);

export const stopOptionsSchema: () => v.GenericSchema<unknown, { drainTimeoutMs: number }> = once(() =>
  objectOf({
    drainTimeout: v.optional(durationMs(), { seconds: 30 }),
  }),
);

const stay = once(() => ({
  ...converted((value: "whileRunning" | Duration) => {
    if (value === "whileRunning") return value;
    const dataset = durationMs()["~run"]({ value }, {});
    if (dataset.issues === undefined) return dataset.value as number;
    throw new OptionsError(dataset.issues[0].message.replace("must be", 'must be "whileRunning" or'));
  }),
  isMs: true as const,
}));

export const tickOptionsSchema: () => v.GenericSchema<unknown, CheckedTickOptions> = once(() =>
  objectOf({
    maxDuration: v.optional(durationMs(1), { seconds: 30 }),
    stay: v.optional(stay(), { seconds: 0 }),
    maxJobs: v.optional(wholeNumber(1)),
    maxRoundTrips: v.optional(wholeNumber(1)),
    signal: v.optional(signal()),
  }),
);

export const runOptionsSchema: () => v.GenericSchema<unknown, CheckedRunOptions> = once(() =>
  objectOf({
    signal: v.optional(signal()),
    handleSignals: v.optional(trueOrFalse, true),
  }),
);

export const nextEventOptionsSchema: () => v.GenericSchema<unknown, { signal?: AbortSignal | undefined }> = once(() =>
  objectOf({
    signal: v.optional(signal()),
  }),
);

export const resultOptionsSchema: () => v.GenericSchema<unknown, CheckedResultOptions> = once(() =>
  objectOf({
    wait: v.optional(trueOrFalse, false),
    signal: v.optional(signal()),
  }),
);

export const retryJobSchema: () => v.GenericSchema<unknown, { restart: boolean }> = once(() =>
  objectOf({ restart: v.optional(trueOrFalse, false) }),
);

export const subscribeOptionsSchema: () => v.GenericSchema<unknown, CheckedSubscribeOptions> = once(
  () =>
    objectOf({
      once: v.optional(trueOrFalse, false),
      onGap: v.optional(v.function(says("a function that is called after a gap"))),
      onStop: v.optional(v.function(says("a function"))),
    }) as v.GenericSchema<unknown, CheckedSubscribeOptions>,
);

export const eventsOptionsSchema: () => v.GenericSchema<unknown, CheckedEventsOptions> = once(
  () =>
    objectOf({
      signal: v.optional(signal()),
      onDropped: v.optional(v.function(says("a function that gets the number of dropped events"))),
    }) as v.GenericSchema<unknown, CheckedEventsOptions>,
);

export const changeOptionsSchema: () => v.GenericSchema<unknown, CheckedChange> = once(() => objectOf({ by: by() }));

export const revisionOptionsSchema: () => v.GenericSchema<unknown, CheckedRevision> = once(() =>
  objectOf({ by: by(), ifRevision: v.optional(wholeNumber(0)) }),
);

export const unpauseOptionsSchema: () => v.GenericSchema<unknown, CheckedUnpause> = once(() =>
  objectOf({
    resumeFrom: v.optional(converted((value: unknown) => (value === "now" ? value : toEpochMs(value as string, "")))),
    by: by(),
  }),
);

export const runNowSchema: () => v.GenericSchema<unknown, CheckedRunNow> = once(() => objectOf(onceEntries()));

export const backfillSchema: () => v.GenericSchema<unknown, CheckedBackfill> = once(() =>
  objectOf({
    from: instantMs,
    until: instantMs,
    order: v.optional(oneOf(["oldest", "newest"]), "oldest"),
    pace: v.optional(durationMs(1)),
    limit: v.optional(wholeNumber(1)),
    includeRan: v.optional(trueOrFalse, false),
    includeCoalesced: v.optional(trueOrFalse, false),
    includeUnrecorded: v.optional(trueOrFalse, false),
    dryRun: v.optional(trueOrFalse, false),
    idempotencyKey: v.optional(name()),
    signal: v.optional(signal()),
  }),
);

const taskIds = once(() =>
  converted((value: unknown): string[] => {
    const isText = (one: unknown): boolean =>
      typeof one === "string" && one.length > 0 && one.length <= ID_LENGTH_MAX && isStorable(one);
    const isRight = Array.isArray(value) && value.length > 0 && value.length <= BLACKOUT_TASKS_MAX;
    if (isRight && Array.from(value).every(isText)) return [...new Set(value as string[])];
    throw new OptionsError(mustBe(`a list of 1 to ${BLACKOUT_TASKS_MAX} ids of tasks`, value));
  }),
);

export const blackoutSchema: () => v.GenericSchema<unknown, CheckedBlackout> = once(() =>
  objectOf({
    from: v.optional(instantMs),
    until: v.optional(instantMs),
    trigger: v.optional(triggerLike()),
    duration: v.optional(durationMs(1)),
    labels: v.optional(converted(checkedLabelFilter)),
    taskIds: v.optional(taskIds()),
    missed: v.optional(oneOf(MISSED_POLICIES), "skip"),
    reason: v.optional(textUpTo(REASON_LENGTH_MAX, textAdviceOf)),
    conflictPolicy: v.optional(oneOf(CONFLICT_POLICIES), "update"),
    by: by(),
  }),
);

const pauseEntries = once(() => ({
  until: v.optional(instantMs),
  reason: v.optional(textUpTo(REASON_LENGTH_MAX, textAdviceOf)),
  by: by(),
}));
export const pauseOptionsSchema: () => v.GenericSchema<unknown, CheckedPause> = once(() => objectOf(pauseEntries()));

const pausedKey = once(() => v.optional(textUpTo(ID_LENGTH_MAX, pausedKeyAdvice)));
export const taskPauseSchema: () => v.GenericSchema<unknown, CheckedTaskPause> = once(() =>
  objectOf({ key: pausedKey(), ...pauseEntries() }),
);
export const taskUnpauseSchema: () => v.GenericSchema<unknown, CheckedTaskPause> = once(() =>
  objectOf({ key: pausedKey(), by: by() }),
);

export const previewOptionsSchema: () => v.GenericSchema<unknown, { limit: number; from?: number | undefined }> = once(
  () => objectOf({ limit: wholeNumber(0, PREVIEW_LENGTH_MAX), from: v.optional(instantMs) }),
);

const saysCursor = says("the cursor of a page, which is text");

const page = once(() => ({
  limit: v.optional(wholeNumber(1, PAGE_SIZE_MAX), PAGE_SIZE_DEFAULT),
  cursor: v.optional(v.nullable(v.pipe(v.string(saysCursor), v.check(isStorable, saysCursor))), null),
}));

const labelFilter = once(() => ({ labels: v.exactOptional(converted(checkedLabelFilter)) }));

export const taskFilterSchema: () => v.GenericSchema<unknown, TaskFilter> = once(() => objectOf(labelFilter()));

const saysNamed = says("a list of 1 to 1,000 ids");

const counted = once(() => ({ total: v.exactOptional(trueOrFalse), facets: v.exactOptional(trueOrFalse) }));
const include = once(() => v.exactOptional(objectOf(counted())));

export const scheduleFilterSchema: () => v.GenericSchema<unknown, CheckedScheduleFilter> = once(() =>
  objectOf({
    ...page(),
    ids: v.exactOptional(v.pipe(v.array(name(), saysNamed), v.minLength(1, saysNamed), v.maxLength(1000, saysNamed))),
    include: v.exactOptional(
      objectOf({
        next: v.exactOptional(wholeNumber(1, PREVIEW_LENGTH_MAX)),
        runs: v.exactOptional(wholeNumber(1, PREVIEW_LENGTH_MAX)),
        stats: v.exactOptional(trueOrFalse),
        ...counted(),
      }),
    ),
    taskId: v.exactOptional(name()),
    paused: v.exactOptional(trueOrFalse),
    state: v.exactOptional(oneOf(["active", "paused", "ended", "failing"])),
    ...labelFilter(),
    search: v.exactOptional(name()),
    sort: v.exactOptional(oneOf(["id", "nextFireTime"])),
  }),
);

/** One of some words, or a list of them; the checked value is a list. @param noun such as `a verdict` */
const someOf = <Word extends string>(words: readonly Word[], noun: string) =>
  converted((value: unknown): readonly Word[] => {
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (list.length === 0) throw new OptionsError(`must name ${noun} at least; leave it out for all`);
    for (const one of list) {
      if (words.some((word) => word === one)) continue;
      throw new OptionsError(mustBeOneOf(words, one));
    }
    return [...new Set(list as readonly Word[])];
  });

export const occurrenceFilterSchema: () => v.GenericSchema<unknown, CheckedOccurrenceFilter> = once(() =>
  objectOf({
    ...page(),
    from: v.exactOptional(instantMs),
    until: v.exactOptional(instantMs),
    verdict: v.exactOptional(someOf(OCCURRENCE_VERDICTS, "a verdict")),
    order: v.optional(oneOf(["newest", "oldest"]), "newest"),
  }),
);

export const scheduleChangeFilterSchema: () => v.GenericSchema<unknown, CheckedScheduleChangeFilter> = once(() =>
  objectOf({ ...page(), order: v.optional(oneOf(["newest", "oldest"]), "newest") }),
);

const saysIds = says(`a list of at most ${BULK_ADD_MAX} ids`);
const ids = () => v.exactOptional(v.pipe(v.array(name(), saysIds), v.maxLength(BULK_ADD_MAX, saysIds)));

export const printOptionsSchema: () => v.GenericSchema<unknown, CheckedPrintOptions> = once(
  () =>
    objectOf({
      write: v.exactOptional(v.function(says("a function that gets a line"))),
      taskId: v.exactOptional(name()),
      paused: v.exactOptional(trueOrFalse),
      limit: page().limit,
    }) as v.GenericSchema<unknown, CheckedPrintOptions>,
);

export const jobFilterSchema: () => v.GenericSchema<unknown, CheckedJobFilter> = once(() =>
  objectOf({
    ...page(),
    taskId: v.exactOptional(name()),
    scheduleId: v.exactOptional(name()),
    backfillId: v.exactOptional(name()),
    state: v.exactOptional(oneOf(["queued", "blocked", "running"])),
    from: v.exactOptional(instantMs),
    until: v.exactOptional(instantMs),
    ...labelFilter(),
    search: v.exactOptional(name()),
    sort: v.exactOptional(oneOf(["id", "runAt"])),
    order: v.exactOptional(oneOf(["oldest", "newest"])),
    include: include(),
  }),
);

const resultSelection = once(() => ({
  taskId: v.exactOptional(name()),
  scheduleId: v.exactOptional(name()),
  outcome: v.exactOptional(oneOf(JOB_OUTCOMES)),
  from: v.exactOptional(instantMs),
  until: v.exactOptional(instantMs),
  ...labelFilter(),
}));

export const jobResultFilterSchema: () => v.GenericSchema<unknown, JobResultFilter> = once(() =>
  objectOf({
    ...page(),
    ...resultSelection(),
    order: v.exactOptional(oneOf(["newest", "oldest"])),
    search: v.exactOptional(name()),
  }),
);

const runSelection = once(() => ({
  ...resultSelection(),
  outcome: v.exactOptional(someOf(JOB_OUTCOMES, "an outcome")),
  error: v.exactOptional(name()),
  key: v.exactOptional(name()),
  minRunTime: v.exactOptional(durationMs()),
  maxRunTime: v.exactOptional(durationMs()),
  minAttempts: v.exactOptional(wholeNumber(0)),
  search: v.exactOptional(name()),
}));

export const runFilterSchema: () => v.GenericSchema<unknown, CheckedRunFilter> = once(() =>
  objectOf({
    ...page(),
    ...runSelection(),
    state: v.exactOptional(someOf(["queued", "blocked", "running", "ended"] as const, "a state")),
    include: include(),
  }),
);

export const failureOptionsSchema: () => v.GenericSchema<unknown, FailureFilter> = once(() =>
  objectOf({
    groupBy: v.optional(someOf(["task", "error"] as const, "a word"), ["task", "error"]),
    taskId: v.exactOptional(name()),
    scheduleId: v.exactOptional(name()),
    from: v.exactOptional(instantMs),
    until: v.exactOptional(instantMs),
    limit: page().limit,
  }),
);

export const statsOptionsSchema: () => v.GenericSchema<unknown, StatsRequest> = once(() =>
  objectOf({
    from: v.exactOptional(instantMs),
    until: v.exactOptional(instantMs),
    bucket: v.exactOptional(durationMs(1)),
    by: v.exactOptional(oneOf(["task", "schedule"])),
    taskId: v.exactOptional(name()),
    scheduleId: v.exactOptional(name()),
    limit: page().limit,
  }),
);

const bulk = once(() => ({ all: v.optional(trueOrFalse, false), signal: v.exactOptional(signal()) }));

export const retryJobsSchema: () => v.GenericSchema<unknown, CheckedBulk<RetrySelection>> = once(() =>
  objectOf({ ...resultSelection(), failureKey: v.exactOptional(name()), ids: ids(), ...bulk() }),
);

export const bulkResultSchema: () => v.GenericSchema<unknown, CheckedBulk<ResultSelection>> = once(() =>
  objectOf({ ...runSelection(), dryRun: v.exactOptional(trueOrFalse), ids: ids(), ...bulk() }),
);

export const bulkScheduleSchema: () => v.GenericSchema<unknown, CheckedBulk<ScheduleSelection>> = once(() =>
  objectOf({
    taskId: v.exactOptional(name()),
    paused: v.exactOptional(trueOrFalse),
    ...labelFilter(),
    ids: ids(),
    ...bulk(),
  }),
);

export const bulkJobSchema: () => v.GenericSchema<unknown, CheckedBulk<JobSelection>> = once(() =>
  objectOf({
    taskId: v.exactOptional(name()),
    scheduleId: v.exactOptional(name()),
    backfillId: v.exactOptional(name()),
    ...labelFilter(),
    ids: ids(),
    ...bulk(),
  }),
);
