import type * as v from "valibot";
import { type Checker, checker, namesOf } from "../../core/check.ts";
import { durationText } from "../../core/duration.ts";
import { once } from "../../core/once.ts";
import { isPlain, mustBe, optionError, optionsError, shown } from "../../core/option-errors.ts";
import { isSameWord, nearest } from "../../core/suggest.ts";
import { isStorable, STORABLE, STORABLE_ADVICE } from "../../core/text.ts";
import { ID_LENGTH_MAX } from "../../records/limits.ts";
import { DAY_MS, HOUR_MS } from "../../records/stats.ts";
import type { JobResultFilter } from "../../stores/data-store.ts";
import { CronTrigger } from "../../triggers/cron.ts";
import { IntervalTrigger } from "../../triggers/interval.ts";
import { hasHash } from "../../triggers/seeded-crontab.ts";
import { readShortTrigger, TRIGGER_FORMS } from "../../triggers/short-trigger.ts";
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
  ResultSelection,
  RetrySelection,
  ScheduleSelection,
  StatsRequest,
  TaskFilter,
} from "./checked-options.ts";
import { INCLUDED_MAX } from "./limits.ts";
import {
  idAdvice,
  jobAdvice,
  pausedKeyAdvice,
  scheduleAdvice,
  schedulerAdvice,
  signalOptionAdvice,
  stopAdvice,
  taskAdvice,
  textAdvice,
  triggerAdvice,
} from "./option-hints.ts";
import * as schemas from "./option-schemas.ts";
import { meaningOf } from "./synonyms.ts";
import { contradictions } from "./window-options.ts";

export type {
  CheckedJobOptions,
  CheckedScheduleChanges,
  CheckedScheduleOptions,
  CheckedSchedulerOptions,
  CheckedScheduleSettings,
  CheckedTaskDefaults,
  CheckedTaskSettings,
  KeyFunction,
} from "./checked-options.ts";

/** Options that callers often pass in the wrong place, and the advice for each. The first entry that has the name
 *  counts. */
const homes = once((): readonly { names: readonly string[]; advice: (name: string) => string }[] => [
  {
    names: namesOf(schemas.taskSettingsSchema()),
    advice: (name) => `it is a setting of the task: scheduler.task(id, { ${name} }, handler)`,
  },
  {
    names: namesOf(schemas.schedulerOptionsSchema()),
    advice: (name) => `it belongs to the scheduler: new Scheduler({ ${name} })`,
  },
  { names: ["signal"], advice: () => "runJob(task, { signal }) takes it" },
  {
    names: namesOf(schemas.jobOptionsSchema()),
    advice: (name) => `it is an option of jobs: addJob(task, { ${name} })`,
  },
  {
    // A name is more likely a part of the payload.
    names: namesOf(schemas.scheduleOptionsSchema()).filter((option) => option !== "name"),
    advice: (name) => `it is an option of schedules: addSchedule(task, trigger, { ${name} })`,
  },
]);

function elsewhere(name: string): string | null {
  const advice = meaningOf(["anywhere"], name);
  if (advice !== null) return advice;
  for (const { names, advice } of homes()) {
    const known = names.find((candidate) => isSameWord(candidate, name));
    if (known !== undefined) return advice(known);
  }
  return null;
}

/** Advice for a name that belongs elsewhere, or that is part of a payload that was passed as the options. */
function elsewhereOrPayload(schema: () => object): (name: string) => string | null {
  return (name) =>
    elsewhere(name) ??
    (nearest(name, namesOf(schema())) === null
      ? `what the handler gets is passed as { payload: { ${name}: ... } }`
      : null);
}

/** What a name means in a call, or in an object of its options. */
function wordsOf(...places: readonly string[]): (path: string, name: string) => string | null {
  return (path, name) => meaningOf(path === "" ? places : [path, path.replace("taskDefaults.", "")], name);
}

const jobWords = wordsOf("job", "retried", "keyed", "handled");
const jobHints = { instead: jobAdvice, elsewhere: elsewhereOrPayload(schemas.jobOptionsSchema), words: jobWords };

export const checkSchedulerOptions: Checker<CheckedSchedulerOptions> = checker(schemas.schedulerOptionsSchema, {
  instead: schedulerAdvice,
  elsewhere,
  words: wordsOf("scheduler"),
});
export const checkTaskSettings: Checker<CheckedTaskSettings> = checker(schemas.taskSettingsSchema, {
  instead: taskAdvice,
  elsewhere,
  words: wordsOf("task", "retried", "keyed"),
});
export const checkScheduleOptions: Checker<CheckedScheduleOptions> = checker(schemas.scheduleOptionsSchema, {
  instead: scheduleAdvice,
  elsewhere: elsewhereOrPayload(schemas.scheduleOptionsSchema),
  words: wordsOf("schedule", "keyed", "handled", "fires"),
});
/** Names of the options of a schedule. */
export const scheduleOptionNames = (): readonly string[] => namesOf(schemas.scheduleOptionsSchema());
/** What `schedule` gets besides the trigger and the handler. */
export const checkScheduledTask: Checker<unknown> = checker(schemas.scheduledTaskSchema, {
  instead: scheduleAdvice,
  elsewhere: elsewhereOrPayload(schemas.scheduledTaskSchema),
  words: wordsOf("scheduledTask", "retried", "schedule", "keyed", "handled", "fires"),
});
/** Names of the options of `schedule` that are settings of the task. */
export const taskSettingNames = (): readonly string[] => namesOf(schemas.taskSettingsSchema());
export const checkScheduleChanges: Checker<CheckedScheduleChanges> = checker(schemas.scheduleChangesSchema, {
  instead: (value) =>
    value instanceof Trigger || typeof value === "string" ? `pass it as { trigger${triggerOf(value)} }` : null,
  elsewhere: elsewhereOrPayload(schemas.scheduleChangesSchema),
  words: wordsOf("changes", "keyed", "handled", "fires"),
});
export const checkJobOptions: Checker<CheckedJobOptions> = agreeing(checker(schemas.jobOptionsSchema, jobHints));
const newJobHints = {
  ...jobHints,
  instead: (value: unknown) => (isTask(value) ? "write { task }" : null),
  elsewhere: elsewhereOrPayload(schemas.newJobSchema),
};
export const checkNewJob: Checker<CheckedNewJob> = agreeing(checker(schemas.newJobSchema, newJobHints));
/** The job of a batch that comes after the others. */
export const checkThenJob: Checker<CheckedNewJob> = agreeing(
  checker(schemas.newJobSchema, { ...newJobHints, instead: thenAdvice }),
  [],
);
const checkBatch: Checker<{ then?: unknown }> = checker(schemas.batchOptionsSchema, {
  takes: "an object with then, the job that comes after all others",
  instead: (value) => (value === undefined || value === null ? NO_THEN_ADVICE : thenAdvice(value)),
  elsewhere: (name) =>
    name === "task" || namesOf(schemas.jobOptionsSchema()).includes(name) ? "write { then: { task, ... } }" : null,
  words: wordsOf("batch"),
});
export const checkBatchOptions: Checker<{ then?: unknown }> = (value, where) => {
  const isWithoutThen = isPlain(value) && (value.then === undefined || value.then === null);
  if (!isWithoutThen || Object.keys(value).some((name) => name !== "then")) return checkBatch(value, where);
  throw optionsError(where, [{ path: "then", message: `is missing: ${NO_THEN_ADVICE}` }]);
};
export const checkRunJobOptions: Checker<CheckedRunJobOptions> = agreeing(
  checker(schemas.runJobOptionsSchema, jobHints),
);

export const checkStartOptions: Checker<CheckedStartOptions> = checker(schemas.startOptionsSchema);
export const checkStopOptions: Checker<{ drainTimeoutMs: number }> = checker(schemas.stopOptionsSchema, {
  instead: stopAdvice,
});
export const checkTickOptions: Checker<CheckedTickOptions> = checker(schemas.tickOptionsSchema, {
  instead: signalOptionAdvice,
});
export const checkRunOptions: Checker<CheckedRunOptions> = checker(schemas.runOptionsSchema, {
  instead: signalOptionAdvice,
});
export const checkNextEventOptions: Checker<{ signal?: AbortSignal | undefined }> = checker(
  schemas.nextEventOptionsSchema,
  { instead: signalOptionAdvice },
);
export const checkResultOptions: Checker<CheckedResultOptions> = checker(schemas.resultOptionsSchema, {
  instead: signalOptionAdvice,
});
export const checkRetryJob: Checker<{ restart: boolean }> = checker(schemas.retryJobSchema);
export const checkSubscribeOptions: Checker<CheckedSubscribeOptions> = checker(schemas.subscribeOptionsSchema, {
  instead: (value) => (value === true ? "write { once: true }" : null),
});
export const checkEventsOptions: Checker<CheckedEventsOptions> = checker(schemas.eventsOptionsSchema, {
  instead: signalOptionAdvice,
});
export const checkChangeOptions: Checker<CheckedChange> = checker(schemas.changeOptionsSchema, {
  instead: (value) => (typeof value === "string" ? `write { by: ${shown(value)} }` : null),
});
export const checkRevisionOptions: Checker<CheckedRevision> = checker(schemas.revisionOptionsSchema, {
  instead: (value) => {
    if (typeof value === "number") return `write { ifRevision: ${value} }`;
    return typeof value === "string" ? `write { by: ${shown(value)} }` : null;
  },
  words: wordsOf("revised"),
});
export const checkUnpauseOptions: Checker<CheckedUnpause> = checker(schemas.unpauseOptionsSchema);
const checkRunNow: Checker<CheckedRunNow> = checker(schemas.runNowSchema, {
  instead: (value) => (typeof value === "string" ? `write { idempotencyKey: ${shown(value)} }` : null),
});
export const checkRunNowOptions: Checker<CheckedRunNow> = (value, where) => {
  const options = checkRunNow(value, where);
  const issues = contradictions({ ...options, priority: 0 });
  if (issues.length > 0) throw optionsError(where, issues);
  return options;
};
const checkBackfill: Checker<CheckedBackfill> = checker(schemas.backfillSchema, {
  words: wordsOf("backfill"),
});
export const checkBackfillOptions: Checker<CheckedBackfill> = (value, where) => {
  const options = checkBackfill(value, where);
  if (options.from < options.until) return options;
  throw optionError(where, "from", "must be earlier than until, because until itself is not included");
};
const checkBlackoutOptions: Checker<CheckedBlackout> = checker(schemas.blackoutSchema, {
  takes: "{ from, until } or { trigger, duration }",
  words: wordsOf("paused"),
});
/** A blackout is one of two forms. */
export const checkBlackout: Checker<CheckedBlackout> = (value, where) => {
  const checked = checkBlackoutOptions(value, where);
  const { from, until, trigger, durationMs } = checked;
  const isOnce = from !== undefined && until !== undefined && trigger === undefined && durationMs === undefined;
  const recurs = trigger !== undefined && durationMs !== undefined && from === undefined && until === undefined;
  if (!isOnce && !recurs) throw optionError(where, "", "takes either from and until, or trigger and duration");
  if (isOnce && until <= from) throw optionError(where, "until", "must be later than from");
  return checked;
};
/** How a schedule, or schedules, are paused. */
export const checkPauseOptions: Checker<CheckedPause> = checker(schemas.pauseOptionsSchema, {
  instead: (value) => (typeof value === "string" ? `write { reason: ${shown(value)} }` : null),
  words: wordsOf("paused"),
});
export const checkTaskPause: Checker<CheckedTaskPause> = keyChecker(schemas.taskPauseSchema, "pause", "paused");
export const checkTaskUnpause: Checker<CheckedTaskPause> = keyChecker(schemas.taskUnpauseSchema, "pause");

/** A key that is undefined by mistake must not pause the whole task. */
function keyChecker(
  schema: () => v.GenericSchema<unknown, CheckedTaskPause>,
  ...places: readonly string[]
): Checker<CheckedTaskPause> {
  const check = checker(schema, {
    instead: (value) => (typeof value === "string" ? `write { key: ${shown(value)} }` : null),
    words: wordsOf(...places),
  });
  return (value, where) => {
    const pause = check(value, where);
    if (pause.key !== undefined || !isPlain(value) || !("key" in value)) return pause;
    const message = mustBe(`text of 1 to ${ID_LENGTH_MAX} characters`, undefined, "", pausedKeyAdvice(undefined));
    throw optionError(where, "key", message);
  };
}
export const checkPreviewOptions: Checker<{ limit: number; from?: number | undefined }> = checker(
  schemas.previewOptionsSchema,
  {
    instead: (value) => (typeof value === "number" || value === undefined ? `write { limit: ${value ?? 10} }` : null),
  },
);
/** The check of options that only say what is read: one that is undefined is as one that is not given, also within
 *  `include`. */
function readingChecker<T>(
  schema: () => v.GenericSchema<unknown, T>,
  hints?: Parameters<typeof checker>[1],
): Checker<T> {
  const check = checker(schema, hints);
  return (value, where) => check(withoutUnset(value, namesOf(schema())), where);
}

/** Options without those that are undefined. An unknown name stays, and is refused. */
function withoutUnset(value: unknown, known?: readonly string[]): unknown {
  try {
    if (!isPlain(value)) return value;
    const given = Object.entries(value).filter(([name, item]) => item !== undefined || known?.includes(name) === false);
    return Object.fromEntries(given.map(([name, item]) => [name, name === "include" ? withoutUnset(item) : item]));
  } catch {
    // The check says which option cannot be read.
    return value;
  }
}

export const checkTaskFilter: Checker<TaskFilter> = readingChecker(schemas.taskFilterSchema);
const checkSchedules: Checker<CheckedScheduleFilter> = readingChecker(schemas.scheduleFilterSchema, {
  words: wordsOf("schedules", "search"),
});
export const checkScheduleFilter: Checker<CheckedScheduleFilter> = (value, where) => {
  const filter = checkSchedules(value, where);
  const { ids, sort, limit, include = {} } = filter;
  if (ids !== undefined && sort === "nextFireTime") throw optionError(where, "ids", "come in the order of ids alone");
  for (const name of ["next", "runs"] as const) {
    if (limit * (include[name] ?? 0) <= INCLUDED_MAX) continue;
    const message = `must be at most ${Math.floor(INCLUDED_MAX / limit)} where limit is ${limit}`;
    throw optionError(where, `include.${name}`, message);
  }
  return filter;
};
export const checkOccurrenceFilter: Checker<CheckedOccurrenceFilter> = readingChecker(schemas.occurrenceFilterSchema, {
  words: wordsOf("occurrences"),
});
export const checkScheduleChangeFilter: Checker<CheckedScheduleChangeFilter> = readingChecker(
  schemas.scheduleChangeFilterSchema,
);
export const checkPrintOptions: Checker<CheckedPrintOptions> = readingChecker(schemas.printOptionsSchema, {
  instead: (value) => (typeof value === "function" ? "pass it as { write }" : null),
});
export const checkJobFilter: Checker<CheckedJobFilter> = readingChecker(schemas.jobFilterSchema, {
  words: wordsOf("search"),
});
export const checkJobResultFilter: Checker<JobResultFilter> = readingChecker(schemas.jobResultFilterSchema, {
  words: wordsOf("results", "search"),
});
export const checkRunFilter: Checker<CheckedRunFilter> = readingChecker(schemas.runFilterSchema, {
  words: wordsOf("search"),
});
export const checkBulkResults: Checker<CheckedBulk<ResultSelection>> = bulkChecker(schemas.bulkResultSchema);
export const checkFailureOptions: Checker<FailureFilter> = readingChecker(schemas.failureOptionsSchema);
const checkStats: Checker<StatsRequest> = readingChecker(schemas.statsOptionsSchema);
export const checkStatsOptions: Checker<StatsRequest> = (value, where) => {
  const request = checkStats(value, where);
  const { by, taskId, scheduleId, bucketMs = DAY_MS } = request;
  if (scheduleId !== undefined && (taskId !== undefined || by === "task")) {
    throw optionError(where, "scheduleId", `goes without ${taskId === undefined ? 'by: "task"' : "taskId"}`);
  }
  const isOfSchedules = by === "schedule" || scheduleId !== undefined;
  if (bucketMs % (isOfSchedules ? DAY_MS : HOUR_MS) === 0) return request;
  const unit = isOfSchedules ? "whole days of 24 hours, because schedules are counted by the day" : "whole hours";
  throw optionError(where, "bucket", `must be ${unit}; got ${durationText(bucketMs)}`);
};
export const checkRetryJobs: Checker<CheckedBulk<RetrySelection>> = bulkChecker(schemas.retryJobsSchema);
export const checkBulkSchedules: Checker<CheckedBulk<ScheduleSelection>> = bulkChecker(schemas.bulkScheduleSchema);
export const checkBulkJobs: Checker<CheckedBulk<JobSelection>> = bulkChecker(schemas.bulkJobSchema);

/** Options that may contradict others; without them, nothing can. */
const COMBINED = ["delayMs", "debounce", "throttle", "uniqueForMs", "onParentFailure"] as const;

/** Options of a job that say when and how often it is added may contradict each other. @param parents the parents that
 *  the job has besides those that are given */
function agreeing<T extends CheckedJobOptions>(check: Checker<T>, parents?: readonly string[]): Checker<T> {
  return (value, where) => {
    const options = check(value, where);
    if (COMBINED.every((name) => options[name] === undefined)) return options;
    const issues = contradictions({ ...options, after: options.after ?? parents });
    if (issues.length > 0) throw optionsError(where, issues);
    return options;
  };
}

const EVERYTHING_ADVICE = "write { all: true } if you mean everything";

function bulkAdvice(value: unknown): string | null {
  if (value === undefined) return EVERYTHING_ADVICE;
  if (typeof value === "string" || Array.isArray(value)) return "write { ids }";
  return signalOptionAdvice(value);
}

/** A filter that names nothing may be a mistake, such as a variable that is undefined, and would mean everything. */
function bulkChecker<Selection extends object>(
  schema: () => v.GenericSchema<unknown, CheckedBulk<Selection>>,
  words: Parameters<typeof checker>[1] = {},
): Checker<CheckedBulk<Selection>> {
  const check = checker(schema, { takes: "a filter", instead: bulkAdvice, ...words });
  return (value, where) => {
    const checked = check(value, where);
    const {
      ids,
      all,
      signal: _signal,
      dryRun: _dryRun,
      ...selection
    } = checked as typeof checked & { dryRun?: boolean };
    const isSelective = Object.keys(selection).length > 0;
    if (ids !== undefined && (all || isSelective))
      throw optionError(where, "ids", "go without a filter, and without all");
    if (all || isSelective || ids !== undefined) return checked;
    const message = `takes a filter that names something, because any other means everything; ${EVERYTHING_ADVICE}`;
    throw optionError(where, "", message);
  };
}

/** An id of a task, schedule or job; `where` says which, for example `"task id"`. */
export const checkId: Checker<string> = (value, where) => {
  if (typeof value === "string" && value.length > 0 && value.length <= ID_LENGTH_MAX) {
    if (isStorable(value)) return value;
    throw optionsError(where, [{ path: "", message: mustBe(STORABLE, value, "", STORABLE_ADVICE) }]);
  }
  const message = mustBe(`text of 1 to ${ID_LENGTH_MAX} characters`, value, "", idAdvice(value));
  throw optionError(where, "", message);
};

/** What `addSchedule` gets first and second. @throws {OptionsError} when they were swapped, or come in one object */
export function checkOrder(task: unknown, trigger: unknown, where: string): void {
  const isOne = isPlain(task) && "trigger" in task;
  // No crontab is a single word.
  const isSwapped = typeof task === "string" && /^[\d*]\S*( \S+){4,6}$/.test(task) && /^[^\s@]+$/.test(String(trigger));
  if (!(task instanceof Trigger || isOne || isSwapped)) return;
  const advice = isOne ? "write addSchedule(task, trigger, options)" : "the task comes first, then the trigger";
  throw optionError(where, "task", mustBe("a task, its id or a named function", task, "", advice));
}

/** What picks the values of `H`, and the times of a spread: the id of the schedule. */
export interface Spreading {
  readonly id?: string | undefined;
  readonly spread?: boolean | undefined;
}

/** What stands for a trigger. Crontab text is read in a time zone where it names none.
 *  @throws {CronSyntaxError} @throws {OptionsError} @throws {DeserializationError} */
export function checkTrigger(
  value: unknown,
  where: string,
  timeZone: string,
  { id: seed, spread = false }: Spreading = {},
): Trigger {
  if (spread && seed === undefined)
    throw optionError(where, "spread", "goes together with an id, which picks the time");
  if (value instanceof Trigger) return spread ? spreadTrigger(value, where, seed as string) : value;
  if (isPlain(value)) {
    const { rule, timeZone: zone = timeZone } = readShortTrigger(value, where, triggerAdvice);
    return checkTrigger(rule, where, zone, { id: seed, spread });
  }
  const advice = typeof value === "string" ? textAdvice(value) : triggerAdvice(value);
  if (typeof value === "string" && advice === null) {
    const isSeeded = seed !== undefined && (spread || hasHash(value));
    return CronTrigger.fromCrontab(value, isSeeded ? { timeZone, seed, spread } : { timeZone });
  }
  const message = mustBe(`a trigger, ${TRIGGER_FORMS}`, value, "", advice);
  throw optionError(where, "trigger", message);
}

function spreadTrigger(trigger: Trigger, where: string, seed: string): Trigger {
  if (trigger instanceof IntervalTrigger) return trigger.spreadBy(seed);
  if (trigger instanceof CronTrigger && trigger.written !== null) return trigger;
  const message = "is for intervals and nicknames such as @daily; in crontab text write H for a value";
  throw optionError(where, "spread", message);
}

function triggerOf(value: unknown): string {
  return typeof value === "string" ? `: ${shown(value)}` : "";
}

const NO_THEN_ADVICE =
  "write { then: { task } } for the job that comes after all others; addJobs(jobs) adds jobs without such a job";

function thenAdvice(value: unknown): string | null {
  return isTask(value) ? "write { then: { task } }" : null;
}

function isTask(value: unknown): boolean {
  if (typeof value === "function" || typeof value === "string") return true;
  return typeof value === "object" && value !== null && "id" in value && !("task" in value);
}
