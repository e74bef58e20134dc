import type * as v from "valibot";
import { type Checker, checker, namesOf } from "../../core/check.ts";
import { ID_LENGTH_MAX } from "../../core/limits.ts";
import { once } from "../../core/once.ts";
import { isPlain, mustBe, optionError, optionsError, shown } from "../../core/option-errors.ts";
import { isSameWord, nearest } from "../../core/suggest.ts";
import { isStorable, STORABLE, STORABLE_ADVICE } from "../../core/text.ts";
import type { JobFilter, JobResultFilter, JobResultSelection, ScheduleFilter } from "../../stores/data-store.ts";
import { CronTrigger } from "../../triggers/cron.ts";
import { Trigger } from "../../triggers/trigger.ts";
import type {
  CheckedBulk,
  CheckedChange,
  CheckedEventsOptions,
  CheckedJobOptions,
  CheckedNewJob,
  CheckedOccurrenceFilter,
  CheckedPrintOptions,
  CheckedRemoval,
  CheckedResultOptions,
  CheckedRevision,
  CheckedRunJobOptions,
  CheckedRunOptions,
  CheckedScheduleChangeFilter,
  CheckedScheduleChanges,
  CheckedScheduleOptions,
  CheckedSchedulerOptions,
  CheckedStartOptions,
  CheckedSubscribeOptions,
  CheckedTaskSettings,
  CheckedTickOptions,
} from "./checked-options.ts";
import {
  idAdvice,
  jobAdvice,
  MAX_CATCH_UP_ADVICE,
  pausedKeyAdvice,
  removalAdvice,
  scheduleAdvice,
  schedulerAdvice,
  signalOptionAdvice,
  stopAdvice,
  taskAdvice,
  textAdvice,
  triggerAdvice,
} from "./option-hints.ts";
import * as schemas from "./option-schemas.ts";
import { contradictions, withinWindow } from "./window-options.ts";

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
    names: ["timeZone", "tz", "startTime", "endTime", "dst", "dayMatch"],
    advice: (name) =>
      isSameWord(name, "tz") || name === "timeZone"
        ? "it belongs to the trigger: CronTrigger.fromCrontab(text, { timeZone }), " +
          "or to new Scheduler({ timeZone }), for crontab text"
        : `it belongs to the trigger: CronTrigger.fromCrontab(text, { ${name} })`,
  },
  {
    names: ["startDate", "endDate"],
    advice: (name) => {
      const time = name.replace("Date", "Time");
      return `it belongs to the trigger: CronTrigger.fromCrontab(text, { ${time} })`;
    },
  },
  { names: ["firstRun"], advice: () => "it belongs to the trigger: new IntervalTrigger({ minutes: 5, firstRun })" },
  {
    names: ["attempts", "maxAttempts", "retries", "maxRetries", "backoff"],
    advice: () => "it is a setting of the task: scheduler.task(id, { retry: { maxAttempts, backoff } }, handler)",
  },
  {
    names: ["maxInstances"],
    advice: () =>
      'overlap: "skip" fires only after the run before; ' +
      "scheduler.task(id, { maxRunningJobs }, handler) is how many run",
  },
  { names: ["maxCatchUp"], advice: () => MAX_CATCH_UP_ADVICE },
  {
    names: ["nextRunTime"],
    advice: () => "updateSchedule(id, { nextFireTime }) sets it, and runScheduleNow(id) runs now",
  },
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
  for (const { names, advice } of homes()) {
    const known = names.find((candidate) => isSameWord(candidate, name));
    if (known !== undefined) return advice(known);
  }
  return null;
}

/** Advice for a name that belongs elsewhere, or that is part of a payload that was passed as the options. */
function elsewhereOrPayload(known: readonly string[]): (name: string) => string | null {
  return (name) =>
    elsewhere(name) ??
    (nearest(name, known) === null ? `what the handler gets is passed as { payload: { ${name}: ... } }` : null);
}

/** The same, with words of other libraries for a job that is added once. */
function jobElsewhere(known: readonly string[]): (name: string) => string | null {
  const orPayload = elsewhereOrPayload(known);
  return (name) => {
    if (/^(is)?_?(unique|singleton)$/i.test(name)) return 'write { idempotencyKey: ..., uniqueFor: "1h" }';
    return isSameWord(name, "misfireGraceTime") ? DEADLINE_ADVICE : orPayload(name);
  };
}

/** Advice for a part of a trigger that was passed as an option of the schedule. */
function elsewhereThanSchedule(known: readonly string[]): (name: string) => string | null {
  const orPayload = elsewhereOrPayload(known);
  return (name) => {
    if (INTERVAL_PARTS.has(name)) return "the trigger comes before the options: new IntervalTrigger({ minutes: 5 })";
    if (CRON_PARTS.has(name)) return 'the trigger comes before the options: crontab text, such as "0 9 * * *"';
    return orPayload(name);
  };
}

const INTERVAL_PARTS = new Set(["weeks", "days", "hours", "minutes", "seconds", "milliseconds", "every", "interval"]);
const CRON_PARTS = new Set(["cron", "crontab", "pattern", "hour", "minute", "second", "dayOfWeek", "day_of_week"]);

const KEY_SYNONYMS = {
  group: "concurrencyKey",
  groupid: "concurrencyKey",
  groupkey: "concurrencyKey",
  partitionkey: "concurrencyKey",
};

const JOB_SYNONYMS = {
  delay: "runAt",
  at: "runAt",
  when: "runAt",
  id: "idempotencyKey",
  jobid: "idempotencyKey",
  deadline: "startDeadline",
  data: "payload",
  args: "payload",
  kwargs: "payload",
  singletonkey: "idempotencyKey",
  jobkey: "idempotencyKey",
  uniquekey: "idempotencyKey",
  uniqueperiod: "uniqueFor",
  uniqueuntil: "uniqueFor",
  removeoncomplete: "resultExpirationTime",
  removeonfail: "resultExpirationTime",
  dependencies: "after",
  dependson: "after",
  parents: "after",
  onfailure: "onParentFailure",
  ...KEY_SYNONYMS,
};

const SCHEDULE_SYNONYMS = {
  ...KEY_SYNONYMS,
  scheduleid: "id",
  jitter: "maxJitter",
  replaceexisting: "conflictPolicy",
  protect: "overlap",
  data: "payload",
  args: "payload",
  kwargs: "payload",
};

/** The grace time of the task would do nothing for a job that is added. */
const DEADLINE_ADVICE = "it counts for jobs of schedules; write { startDeadline: new Date(Date.now() + milliseconds) }";
const RETRY_ADVICE = "write { retry: { maxAttempts: ... } }";
const BACKOFF_ADVICE = 'write { retry: { maxAttempts: ..., backoff: { initial: "1s" } } }';
/** Advice for a part of `retry` that stands beside it. */
function retryAdvice(name: string): string | null {
  if (name === "backoff") return BACKOFF_ADVICE;
  return /^(max)?_?(retries|attempts)$/i.test(name) ? RETRY_ADVICE : null;
}
const LIMIT_ADVICE = "maxRunningJobs is how many run at once, and rateLimit: { limit, per } how many start in a time";
const SINGLETON_ADVICE =
  "maxRunningJobs: 1, the default, lets one job run at once, and addJob(task, { idempotencyKey }) adds one";

const jobHints = {
  instead: jobAdvice,
  elsewhere: (name: string) => jobElsewhere(namesOf(schemas.jobOptionsSchema()))(name),
  synonyms: JOB_SYNONYMS,
  within: withinWindow,
};

export const checkSchedulerOptions: Checker<CheckedSchedulerOptions> = checker(schemas.schedulerOptionsSchema, {
  instead: schedulerAdvice,
  elsewhere,
  within: (path, name) => {
    if (path === "taskDefaults" && /^(max)?_?(retries|attempts)$/i.test(name)) return RETRY_ADVICE;
    if (path === "taskDefaults" && name === "concurrencyKey") {
      return "it is about the payload of one task: scheduler.task(id, { concurrencyKey }, handler)";
    }
    if (path === "scheduleDefaults" && isSameWord(name, "maxCatchUp")) return elsewhere(name);
    const isSetting = path === "scheduleDefaults" && namesOf(schemas.taskSettingsSchema()).includes(name);
    return isSetting
      ? `tasks have it too, and schedules inherit it from them: { taskDefaults: { ${name}: ... } }`
      : null;
  },
  synonyms: {
    store: "dataStore",
    database: "dataStore",
    broker: "eventBroker",
    jobexecutors: "executors",
    concurrency: "maxConcurrentJobs",
    maxworkers: "maxConcurrentJobs",
    tz: "timeZone",
    zone: "timeZone",
    jobdefaults: "taskDefaults",
  },
});
export const checkTaskSettings: Checker<CheckedTaskSettings> = checker(schemas.taskSettingsSchema, {
  instead: taskAdvice,
  elsewhere: (name) => {
    if (name === "limit") return LIMIT_ADVICE;
    if (name === "singleton") return SINGLETON_ADVICE;
    return retryAdvice(name) ?? elsewhere(name);
  },
  within: (path, name) =>
    path === "rateLimit" && name === "key" ? "the rate counts for each concurrencyKey of the task" : null,
  synonyms: {
    concurrency: "maxRunningJobs",
    maxconcurrency: "maxRunningJobs",
    maxinstances: "maxRunningJobs",
    limiter: "rateLimit",
    ratelimiter: "rateLimit",
    key: "concurrencyKey",
    maxperkey: "maxRunningPerKey",
    maxconcurrencyperkey: "maxRunningPerKey",
    limitperkey: "maxRunningPerKey",
    concurrencyperkey: "maxRunningPerKey",
    roundrobin: "fair",
    ...KEY_SYNONYMS,
  },
});
export const checkScheduleOptions: Checker<CheckedScheduleOptions> = checker(schemas.scheduleOptionsSchema, {
  instead: scheduleAdvice,
  elsewhere: (name) => elsewhereThanSchedule(namesOf(schemas.scheduleOptionsSchema()))(name),
  synonyms: SCHEDULE_SYNONYMS,
});
/** Names of the options of a schedule. */
export const scheduleOptionNames = (): readonly string[] => namesOf(schemas.scheduleOptionsSchema());
/** What `schedule` gets besides the trigger and the handler. */
export const checkScheduledTask: Checker<unknown> = checker(schemas.scheduledTaskSchema, {
  instead: scheduleAdvice,
  elsewhere: (name) =>
    name === "id"
      ? "the id comes first: schedule(id, trigger, options, handler)"
      : (retryAdvice(name) ?? elsewhereThanSchedule(namesOf(schemas.scheduledTaskSchema()))(name)),
  synonyms: SCHEDULE_SYNONYMS,
});
/** Names of the options of `schedule` that are settings of the task. */
export const taskSettingNames = (): readonly string[] => namesOf(schemas.taskSettingsSchema());
export const checkScheduleChanges: Checker<CheckedScheduleChanges> = checker(schemas.scheduleChangesSchema, {
  instead: (value) =>
    value instanceof Trigger || typeof value === "string" ? `pass it as { trigger${triggerOf(value)} }` : null,
  elsewhere: (name) =>
    name === "paused"
      ? "call pauseSchedule(id) or unpauseSchedule(id)"
      : name === "by"
        ? "it stands apart from the changes: updateSchedule(id, changes, { by })"
        : elsewhereThanSchedule(namesOf(schemas.scheduleChangesSchema()))(name),
  synonyms: { nextruntime: "nextFireTime" },
});
export const checkJobOptions: Checker<CheckedJobOptions> = agreeing(checker(schemas.jobOptionsSchema, jobHints));
const newJobHints = {
  ...jobHints,
  instead: (value: unknown) => (isTask(value) ? "write { task }" : null),
  elsewhere: (name: string) => jobElsewhere(namesOf(schemas.newJobSchema()))(name),
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
  synonyms: { after: "then", callback: "then", next: "then" },
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
export const checkStopOptions: Checker<{ drainTimeout: number }> = checker(schemas.stopOptionsSchema, {
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
export const checkSubscribeOptions: Checker<CheckedSubscribeOptions> = checker(schemas.subscribeOptionsSchema, {
  instead: (value) => (value === true ? "write { once: true }" : null),
});
export const checkEventsOptions: Checker<CheckedEventsOptions> = checker(schemas.eventsOptionsSchema, {
  instead: signalOptionAdvice,
});
const CHANGE_SYNONYMS = { who: "by", user: "by", actor: "by", author: "by" };

export const checkChangeOptions: Checker<CheckedChange> = checker(schemas.changeOptionsSchema, {
  instead: (value) => (typeof value === "string" ? `write { by: ${shown(value)} }` : null),
  synonyms: CHANGE_SYNONYMS,
});
export const checkRevisionOptions: Checker<CheckedRevision> = checker(schemas.revisionOptionsSchema, {
  instead: (value) => (typeof value === "string" ? `write { by: ${shown(value)} }` : null),
  synonyms: CHANGE_SYNONYMS,
});
export const checkUnpauseOptions: Checker<CheckedChange & { resumeFrom?: "now" | number | undefined }> = checker(
  schemas.unpauseOptionsSchema,
  { synonyms: CHANGE_SYNONYMS },
);
export const checkRunNowOptions: Checker<{ idempotencyKey?: string | undefined }> = checker(schemas.runNowSchema, {
  instead: (value) => (typeof value === "string" ? `write { idempotencyKey: ${shown(value)} }` : null),
});
const checkPause: Checker<CheckedChange & { key?: string | undefined }> = checker(schemas.taskPauseSchema, {
  instead: (value) => (typeof value === "string" ? `write { key: ${shown(value)} }` : null),
  synonyms: { concurrencykey: "key", ...CHANGE_SYNONYMS },
});
/** A key that is undefined by mistake must not pause the whole task. */
export const checkTaskPause: Checker<CheckedChange & { key?: string | undefined }> = (value, where) => {
  const pause = checkPause(value, where);
  if (pause.key !== undefined || !isPlain(value) || !("key" in value)) return pause;
  const message = mustBe(`text of 1 to ${ID_LENGTH_MAX} characters`, undefined, "", pausedKeyAdvice(undefined));
  throw optionError(where, "key", message);
};
export const checkPreviewOptions: Checker<{ limit: number; from?: number | undefined }> = checker(
  schemas.previewOptionsSchema,
  {
    instead: (value) => (typeof value === "number" || value === undefined ? `write { limit: ${value ?? 10} }` : null),
  },
);
const SEARCH_SYNONYMS = { q: "search", query: "search", text: "search" };
const RANGE_SYNONYMS = { since: "from", to: "until", sort: "order", orderby: "order", sortby: "order" };

export const checkScheduleFilter: Checker<ScheduleFilter> = checker(schemas.scheduleFilterSchema, {
  synonyms: { ...SEARCH_SYNONYMS, order: "sort", orderby: "sort", sortby: "sort", status: "state" },
});
export const checkOccurrenceFilter: Checker<CheckedOccurrenceFilter> = checker(schemas.occurrenceFilterSchema, {
  synonyms: {
    ...{ outcome: "verdict", status: "verdict", state: "verdict", verdicts: "verdict" },
    ...RANGE_SYNONYMS,
  },
});
export const checkScheduleChangeFilter: Checker<CheckedScheduleChangeFilter> = checker(
  schemas.scheduleChangeFilterSchema,
  { synonyms: { sort: "order", orderby: "order" } },
);
export const checkPrintOptions: Checker<CheckedPrintOptions> = checker(schemas.printOptionsSchema, {
  instead: (value) => (typeof value === "function" ? "pass it as { write }" : null),
});
const checkRemoval: Checker<CheckedRemoval> = checker(schemas.scheduleRemovalSchema, {
  takes: "a filter",
  instead: removalAdvice,
  synonyms: { id: "ids" },
});
/** A filter that is empty by mistake must not remove everything. */
export const checkScheduleRemoval: Checker<CheckedRemoval> = (value, where) => {
  const removal = checkRemoval(value, where);
  const { all, ...filter } = removal;
  if ((all === true) !== (Object.keys(filter).length === 0)) {
    const message =
      all === true
        ? "must stand alone, because it means every schedule; leave it out to remove those that the filter takes"
        : "needs taskId, paused or ids; write { all: true } to remove every schedule";
    throw optionError(where, all === true ? "all" : "", message);
  }
  return removal;
};
const JOB_SEARCH_SYNONYMS = { ...SEARCH_SYNONYMS, ...RANGE_SYNONYMS };

export const checkJobFilter: Checker<JobFilter> = checker(schemas.jobFilterSchema, {
  synonyms: { ...JOB_SEARCH_SYNONYMS, status: "state" },
});
export const checkJobResultFilter: Checker<JobResultFilter> = checker(schemas.jobResultFilterSchema, {
  synonyms: { ...JOB_SEARCH_SYNONYMS, state: "outcome", status: "outcome" },
});
export const checkBulkResults: Checker<CheckedBulk<JobResultSelection>> = bulkChecker(schemas.bulkResultSchema);
export const checkBulkJobs: Checker<CheckedBulk<Pick<JobFilter, "taskId" | "scheduleId">>> = bulkChecker(
  schemas.bulkJobSchema,
);

/** Options of a job that say when and how often it is added may contradict each other. @param parents the parents that
 *  the job has besides those that are given */
function agreeing<T extends CheckedJobOptions>(check: Checker<T>, parents?: readonly string[]): Checker<T> {
  return (value, where) => {
    const options = check(value, where);
    const { debounce, throttle, uniqueFor, onParentFailure } = options;
    if (debounce === undefined && throttle === undefined && uniqueFor === undefined && onParentFailure === undefined) {
      return options;
    }
    const issues = contradictions({ ...options, after: options.after ?? parents });
    if (issues.length > 0) throw optionsError(where, issues);
    return options;
  };
}

const EVERYTHING_ADVICE = "write { all: true } if you mean everything";

/** A filter that names nothing may be a mistake, such as a variable that is undefined, and would mean everything. */
function bulkChecker<Selection extends object>(
  schema: () => v.GenericSchema<unknown, CheckedBulk<Selection>>,
): Checker<CheckedBulk<Selection>> {
  const instead = (value: unknown) => (value === undefined ? EVERYTHING_ADVICE : signalOptionAdvice(value));
  const check = checker(schema, { takes: "a filter", instead });
  return (value, where) => {
    const checked = check(value, where);
    const { all, signal: _signal, ...selection } = checked;
    if (all || Object.keys(selection).length > 0) return checked;
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

/** What `addSchedule` gets first. */
export const checkNoTrigger: Checker<unknown> = (value, where) => {
  if (!(value instanceof Trigger)) return value;
  const message = mustBe("a task, its id or a named function", value, "", "the task comes first, then the trigger");
  throw optionError(where, "task", message);
};

/** A trigger, or crontab text, which is read in a time zone. @throws {CronSyntaxError} */
export function checkTrigger(value: unknown, where: string, timeZone: string): Trigger {
  if (value instanceof Trigger) return value;
  const advice = typeof value === "string" ? textAdvice(value) : triggerAdvice(value);
  if (typeof value === "string" && advice === null) return CronTrigger.fromCrontab(value, { timeZone });
  const message = mustBe("a trigger or crontab text", value, "", advice);
  throw optionError(where, "trigger", message);
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
