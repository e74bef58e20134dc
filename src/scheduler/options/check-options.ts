import * as v from "valibot";
import type { EventBroker } from "../../brokers/event-broker.ts";
import type { Clock } from "../../core/clock.ts";
import { type Duration, toDurationMs } from "../../core/duration.ts";
import { type Issue, OptionsError } from "../../core/errors.ts";
import {
  CATCH_UP_MAX,
  DURATION_MS_MAX,
  ID_LENGTH_MAX,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
  PREVIEW_LENGTH_MAX,
  SERIALIZED_LENGTH_MAX,
} from "../../core/limits.ts";
import type { Logger } from "../../core/logger.ts";
import { type InstantLike, toEpochMs } from "../../core/temporal.ts";
import type { JobExecutor } from "../../executors/job-executor.ts";
import { type CoalescePolicy, type ConflictPolicy, JOB_OUTCOMES, type Metadata } from "../../records/policies.ts";
import { JSONSerializer } from "../../serializers/json.ts";
import type { DataStore, JobFilter, JobResultFilter, ScheduleFilter } from "../../stores/data-store.ts";

// Options as they are after the check: known names only, durations and instants as milliseconds.

export interface CheckedTaskSettings {
  executor?: string | undefined;
  maxRunningJobs?: number | null | undefined;
  misfireGraceTime?: number | null | undefined;
  retry?: CheckedRetry | undefined;
  maxRecoveries?: number | undefined;
  timeout?: number | null | undefined;
  resultExpirationTime?: number | undefined;
  metadata?: Metadata | undefined;
}

interface CheckedRetry {
  maxAttempts?: number | undefined;
  backoff?:
    | {
        initial?: number | undefined;
        factor?: number | undefined;
        max?: number | undefined;
        jitter?: "full" | "none" | undefined;
      }
    | undefined;
}

export interface CheckedScheduleChanges {
  payload?: unknown;
  coalesce?: CoalescePolicy | undefined;
  misfireGraceTime?: number | null | undefined;
  maxJitter?: number | undefined;
  metadata?: Metadata | undefined;
  executor?: string | undefined;
  priority?: number | undefined;
  resultExpirationTime?: number | undefined;
  maxCatchUp?: number | null | undefined;
}

export interface CheckedScheduleOptions extends CheckedScheduleChanges {
  id?: string | undefined;
  conflictPolicy?: ConflictPolicy | undefined;
  paused?: boolean | undefined;
}

export interface CheckedJobOptions {
  payload?: unknown;
  runAt?: number | undefined;
  priority?: number | undefined;
  idempotencyKey?: string | undefined;
  metadata?: Metadata | undefined;
  executor?: string | undefined;
  resultExpirationTime?: number | undefined;
  startDeadline?: number | undefined;
}

export interface CheckedSchedulerOptions {
  role?: "both" | "scheduler" | "worker" | undefined;
  identity?: string | undefined;
  maxConcurrentJobs?: number | undefined;
  taskDefaults?: CheckedTaskSettings | undefined;
  leaseDuration?: number | undefined;
  cleanupInterval?: number | null | undefined;
  maxIdle?: number | undefined;
}

/**
 * Checks a value and returns it with durations and instants as milliseconds.
 * @throws {OptionsError} with one issue per problem and its path; `where` begins the message
 */
export type Checker<T> = (value: unknown, where: string) => T;

/** Reads a value through a converter that throws `OptionsError`, so that its message stands at the value's path. */
function converted<I, O>(convert: (value: I) => O): v.GenericSchema<I, O> {
  return v.pipe(
    v.unknown(),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      try {
        return convert(dataset.value as I);
      } catch (error) {
        if (!(error instanceof OptionsError)) throw error;
        addIssue({ message: error.message });
        return NEVER;
      }
    }),
  ) as unknown as v.GenericSchema<I, O>;
}

const durationMs = v.pipe(
  converted((value: Duration) => toDurationMs(value, "the value")),
  v.maxValue(DURATION_MS_MAX, "must be at most 1,000 years"),
);
const positiveDurationMs = v.pipe(durationMs, v.minValue(1, "must be at least one millisecond"));
const instantMs = converted((value: InstantLike) => toEpochMs(value, "the value"));
const count = v.pipe(v.number(), v.safeInteger("must be a whole number"), v.minValue(0, "must be 0 or more"));
const positiveCount = v.pipe(v.number(), v.safeInteger("must be a whole number"), v.minValue(1, "must be 1 or more"));
const name = v.pipe(
  v.string(),
  v.minLength(1, "must not be empty"),
  v.maxLength(ID_LENGTH_MAX, `must have at most ${ID_LENGTH_MAX} characters`),
);
const json = new JSONSerializer();
const metadata = v.pipe(
  // A record takes lists for objects.
  v.custom<Record<string, unknown>>((value) => !Array.isArray(value), "must be an object"),
  v.record(v.string(), v.unknown(), "must be an object"),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    try {
      const { length } = json.serialize(dataset.value);
      if (length > SERIALIZED_LENGTH_MAX)
        addIssue({ message: `must have at most ${SERIALIZED_LENGTH_MAX} characters as JSON` });
    } catch (error) {
      addIssue({ message: error instanceof Error ? error.message : String(error) });
    }
  }),
);
const priority = v.pipe(v.number(), v.safeInteger("must be a whole number"));
const signal = v.custom<AbortSignal>(
  (value) => typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value,
  "must be an AbortSignal",
);

/** An object that has these methods: another class than the caller thinks is found here, not at the first use. */
function implementing<T>(what: string, methods: readonly (keyof T & string)[]): v.GenericSchema<T> {
  return v.custom<T>(
    (value) =>
      typeof value === "object" &&
      value !== null &&
      methods.every((method) => typeof Reflect.get(value, method) === "function"),
    `must be ${what}`,
  );
}

const retry = v.strictObject({
  maxAttempts: v.optional(positiveCount),
  backoff: v.optional(
    v.strictObject({
      initial: v.optional(durationMs),
      factor: v.optional(v.pipe(v.number(), v.finite("must be finite"), v.minValue(1, "must be 1 or more"))),
      max: v.optional(durationMs),
      jitter: v.optional(v.picklist(["full", "none"])),
    }),
  ),
});

const inherited = {
  executor: v.optional(name),
  metadata: v.optional(metadata),
  resultExpirationTime: v.optional(durationMs),
};

const taskSettings = v.strictObject({
  ...inherited,
  maxRunningJobs: v.optional(v.nullable(positiveCount)),
  misfireGraceTime: v.optional(v.nullable(durationMs)),
  retry: v.optional(retry),
  maxRecoveries: v.optional(count),
  timeout: v.optional(v.nullable(positiveDurationMs)),
});

const scheduleChanges = {
  ...inherited,
  payload: v.optional(v.unknown()),
  coalesce: v.optional(v.picklist(["latest", "earliest", "all"])),
  misfireGraceTime: v.optional(v.nullable(durationMs)),
  maxJitter: v.optional(durationMs),
  priority: v.optional(priority),
  maxCatchUp: v.optional(
    v.nullable(v.pipe(positiveCount, v.maxValue(CATCH_UP_MAX, `must be at most ${CATCH_UP_MAX}`))),
  ),
};

const scheduleOptions = v.strictObject({
  ...scheduleChanges,
  id: v.optional(name),
  conflictPolicy: v.optional(v.picklist(["doNothing", "replace", "error"])),
  paused: v.optional(v.boolean()),
});

const jobOptions = v.strictObject({
  ...inherited,
  payload: v.optional(v.unknown()),
  runAt: v.optional(instantMs),
  priority: v.optional(priority),
  idempotencyKey: v.optional(name),
  startDeadline: v.optional(instantMs),
});

const schedulerOptions = v.strictObject({
  dataStore: v.optional(implementing<DataStore>("a DataStore", ["open", "look", "step"])),
  eventBroker: v.optional(implementing<EventBroker>("an EventBroker", ["open", "publish", "subscribe"])),
  executors: v.optional(v.record(name, implementing<JobExecutor>("a JobExecutor", ["open", "execute"]))),
  role: v.optional(v.picklist(["both", "scheduler", "worker"])),
  identity: v.optional(name),
  maxConcurrentJobs: v.optional(positiveCount),
  taskDefaults: v.optional(taskSettings),
  leaseDuration: v.optional(v.pipe(durationMs, v.minValue(100, "must be at least 100 milliseconds"))),
  cleanupInterval: v.optional(v.nullable(positiveDurationMs)),
  maxIdle: v.optional(positiveDurationMs),
  logger: v.optional(implementing<Logger>("a Logger, such as console", ["debug", "info", "warn", "error"])),
  clock: v.optional(implementing<Clock>("a Clock", ["now", "sleep", "yield"])),
  random: v.optional(v.function()),
});

const page = {
  limit: v.optional(
    v.pipe(positiveCount, v.maxValue(PAGE_SIZE_MAX, `must be at most ${PAGE_SIZE_MAX}`)),
    PAGE_SIZE_DEFAULT,
  ),
  cursor: v.optional(v.nullable(v.string()), null),
};

export const checkId: Checker<string> = checker(name);
export const checkTaskSettings: Checker<CheckedTaskSettings> = checker(taskSettings);
export const checkScheduleOptions: Checker<CheckedScheduleOptions> = checker(scheduleOptions);
export const checkScheduleChanges: Checker<CheckedScheduleChanges> = checker(v.strictObject(scheduleChanges));
export const checkJobOptions: Checker<CheckedJobOptions> = checker(jobOptions);
export const checkSchedulerOptions: Checker<CheckedSchedulerOptions> = checker(schedulerOptions);
export const checkStartOptions: Checker<{ paused?: boolean | undefined }> = checker(
  v.strictObject({ paused: v.optional(v.boolean()) }),
);
export const checkStopOptions: Checker<{ drainTimeout?: number | undefined }> = checker(
  v.strictObject({ drainTimeout: v.optional(durationMs) }),
);
export const checkTickOptions: Checker<{
  maxDuration?: number | undefined;
  maxJobs?: number | undefined;
  signal?: AbortSignal | undefined;
}> = checker(
  v.strictObject({
    maxDuration: v.optional(positiveDurationMs),
    maxJobs: v.optional(positiveCount),
    signal: v.optional(signal),
  }),
);
export const checkRunOptions: Checker<{ signal?: AbortSignal | undefined }> = checker(
  v.strictObject({ signal: v.optional(signal) }),
);
export const checkResultOptions: Checker<{ wait?: boolean | undefined; signal?: AbortSignal | undefined }> = checker(
  v.strictObject({ wait: v.optional(v.boolean()), signal: v.optional(signal) }),
);
export const checkUnpauseOptions: Checker<{ resumeFrom?: "now" | number | undefined }> = checker(
  v.strictObject({
    resumeFrom: v.optional(
      converted((value: "now" | InstantLike) => (value === "now" ? value : toEpochMs(value, "the value"))),
    ),
  }),
);
export const checkPreviewOptions: Checker<{ limit: number; from?: number | undefined }> = checker(
  v.strictObject({
    limit: v.pipe(count, v.maxValue(PREVIEW_LENGTH_MAX, `must be at most ${PREVIEW_LENGTH_MAX}`)),
    from: v.optional(instantMs),
  }),
);
export const checkScheduleFilter: Checker<ScheduleFilter> = checker(
  v.strictObject({ ...page, taskId: v.exactOptional(name), paused: v.exactOptional(v.boolean()) }),
);
export const checkJobFilter: Checker<JobFilter> = checker(
  v.strictObject({ ...page, taskId: v.exactOptional(name), scheduleId: v.exactOptional(name) }),
);
export const checkJobResultFilter: Checker<JobResultFilter> = checker(
  v.strictObject({
    ...page,
    taskId: v.exactOptional(name),
    scheduleId: v.exactOptional(name),
    outcome: v.exactOptional(v.picklist(JOB_OUTCOMES)),
  }),
);

function checker<T>(schema: v.GenericSchema<unknown, T>): Checker<T> {
  return (value, where) => {
    const result = v.safeParse(schema, value);
    if (result.success) return result.output;
    const issues = result.issues.map(
      (issue): Issue => ({ path: v.getDotPath(issue) ?? "", message: messageOf(issue) }),
    );
    const list = issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
    throw new OptionsError(`${where}: ${list}`, issues);
  };
}

function messageOf(issue: v.BaseIssue<unknown>): string {
  if (issue.type === "strict_object" && issue.expected === "never")
    return "there is no such option; check its spelling";
  return issue.message;
}
