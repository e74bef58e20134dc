import * as v from "valibot";
import { expect, test } from "vitest";
import { CronBatch, preloadZones } from "../../src/cron.ts";
import { createCronHandler } from "../../src/http-cron/mod.ts";
import {
  AndTrigger,
  CalendarIntervalTrigger,
  CronTrigger,
  DateTrigger,
  defineTasks,
  ExcludingTrigger,
  InlineExecutor,
  IntervalTrigger,
  LocalEventBroker,
  MemoryDataStore,
  OptionsError,
  OrTrigger,
  Scheduler,
  Temporal,
} from "../../src/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { LibsqlDataStore as LibsqlHttpDataStore } from "../../src/stores/libsql-http/mod.ts";

/** A program without types: whatever is passed arrives. */
type Untyped = (...given: unknown[]) => unknown;
const create =
  (of: unknown) =>
  (...given: unknown[]): unknown =>
    Reflect.construct(of as Untyped, given);

const scheduler = new Scheduler();
const call =
  (verb: string) =>
  (...given: unknown[]): unknown =>
    (Reflect.get(scheduler, verb) as Untyped).apply(scheduler, given);

const task = scheduler.task("report", () => {});
const FORMS = "a trigger, crontab text, { cron }, { every }, { at } or the JSON of a trigger";
const minutely = new IntervalTrigger({ minutes: 1 });
const [newScheduler, newLibsql, newCron, newInterval] = [Scheduler, LibsqlDataStore, CronTrigger, IntervalTrigger].map(
  create,
) as [Untyped, Untyped, Untyped, Untyped];
const settings = (given: unknown): unknown => call("task")("report", given, () => {});
const addSchedule = (given: unknown): unknown => call("addSchedule")(task, minutely, given);
const addJob = (given: unknown): unknown => call("addJob")(task, given);

const MISTAKES: readonly (readonly [mistake: string, work: () => unknown, message: string])[] = [
  [
    "new Scheduler(store)",
    () => newScheduler(new MemoryDataStore()),
    "new Scheduler() takes an object of options; got a MemoryDataStore: pass it as { dataStore: store }",
  ],
  [
    "schedule({ retries })",
    () => call("schedule")("id", minutely, { retries: 3 }, () => {}),
    "schedule(): retries is no option here; write { retry: { maxAttempts: ... } }",
  ],
  [
    "schedule({ backoff })",
    () => call("schedule")("id", minutely, { backoff: "1s" }, () => {}),
    'schedule(): backoff is no option here; write { retry: { maxAttempts: ..., backoff: { initial: "1s" } } }',
  ],
  [
    "addJob({ misfireGraceTime })",
    () => addJob({ misfireGraceTime: "5m" }),
    "addJob(): misfireGraceTime is no option here; it counts for jobs of schedules; " +
      "write { startDeadline: new Date(Date.now() + milliseconds) }",
  ],
  [
    "addSchedule({ catchUp: 3 })",
    () => addSchedule({ catchUp: 3 }),
    "addSchedule(): catchUp must be an object; got 3: write { maxCount: 3 }",
  ],
  [
    'addSchedule({ catchUp: "1d" })',
    () => addSchedule({ catchUp: "1d" }),
    'addSchedule(): catchUp must be an object; got "1d": write { maxAge: "1d" }',
  ],
  [
    "addSchedule({ catchUp: false })",
    () => addSchedule({ catchUp: false }),
    "addSchedule(): catchUp must be an object; got false: write null for no limit",
  ],
  [
    "new Scheduler(broker)",
    () => newScheduler(new LocalEventBroker()),
    "new Scheduler() takes an object of options; got a LocalEventBroker: pass it as { eventBroker: broker }",
  ],
  [
    "new Scheduler(executor)",
    () => newScheduler(new InlineExecutor()),
    "new Scheduler() takes an object of options; got an InlineExecutor: pass it as { executors: { " +
      "name: executor } }",
  ],
  [
    'new Scheduler("file:jobs.db")',
    () => newScheduler("file:jobs.db"),
    'new Scheduler() takes an object of options; got "file:jobs.db": write new LibsqlDataStore({ ' +
      'url: "file:jobs.db" }) and pass it as { dataStore: store }',
  ],
  ["new Scheduler(null)", () => newScheduler(null), "new Scheduler() takes an object of options; got null"],
  [
    "a store under a name in another case",
    () => newScheduler({ datastore: new MemoryDataStore() }),
    'new Scheduler(): datastore is no option; did you mean "dataStore"?',
  ],
  [
    "a store under a shorter name",
    () => newScheduler({ store: new MemoryDataStore() }),
    'new Scheduler(): store is no option; did you mean "dataStore"?',
  ],
  [
    "a store that is an address",
    () => newScheduler({ dataStore: "libsql://jobs.example?authToken=abc" }),
    'new Scheduler(): dataStore must be a DataStore; got "libsql://jobs.example?…": write new ' +
      'LibsqlDataStore({ url: "libsql://jobs.example?…" })',
  ],
  [
    "a store that is a connection",
    () => newScheduler({ dataStore: { url: "file:x", authToken: "abc" } }),
    'new Scheduler(): dataStore must be a DataStore; got { url: "file:x", authToken: text that is ' +
      "not shown }: write new LibsqlDataStore({ url: ... })",
  ],
  [
    "a store that is a class",
    () => newScheduler({ dataStore: LibsqlDataStore }),
    "new Scheduler(): dataStore must be a DataStore; got the class LibsqlDataStore: write new " +
      "LibsqlDataStore(...)",
  ],
  [
    "a time zone that nobody knows",
    () => newScheduler({ timeZone: "Europe/Berln" }),
    'new Scheduler(): timeZone must be an IANA time zone such as "Europe/Berlin", or an offset such as "+05:30"; got ' +
      '"Europe/Berln": did you mean "Europe/Berlin"?',
  ],
  [
    "a time zone by another name",
    () => newScheduler({ timezone: "Europe/Berlin" }),
    'new Scheduler(): timezone is no option; did you mean "timeZone"?',
  ],
  [
    "a role that is none",
    () => newScheduler({ role: "workers" }),
    'new Scheduler(): role must be "both", "scheduler" or "worker"; got "workers": did you mean "worker"?',
  ],
  [
    "an executor that is a function",
    () => newScheduler({ executors: { thread: () => {} } }),
    "new Scheduler(): executors.thread must be a JobExecutor; got the function thread: handlers are " +
      "registered: scheduler.task(id, handler)",
  ],
  [
    "no room for jobs",
    () => newScheduler({ maxConcurrentJobs: 0 }),
    "new Scheduler(): maxConcurrentJobs must be a whole number of 1 or more; got 0",
  ],
  [
    "a logger that lacks methods",
    () => newScheduler({ logger: { log() {} } }),
    "new Scheduler(): logger must be a Logger, such as console; got { log: the function log }: it " +
      "lacks debug(), info(), warn(), error()",
  ],
  [
    "a clock that is a class of the language",
    () => newScheduler({ clock: Date }),
    "new Scheduler(): clock must be a Clock; got the function Date",
  ],
  [
    "a bare number as lease",
    () => newScheduler({ leaseDuration: 60_000 }),
    'new Scheduler(): leaseDuration must be a duration such as "5m" or { minutes: 5 }; got 60000: ' +
      "a bare number has no unit; write { seconds: 60000 } or { milliseconds: 60000 }",
  ],
  [
    "a lease that is too short",
    () => newScheduler({ leaseDuration: "PT0.01S" }),
    'new Scheduler(): leaseDuration must be a duration of at least 100 milliseconds; got "PT0.01S"',
  ],
  [
    "a typo far inside",
    () => newScheduler({ taskDefaults: { retry: { backoff: { maximum: "PT5M" } } } }),
    'new Scheduler(): taskDefaults.retry.backoff.maximum is no option; did you mean "max"?',
  ],
  [
    "a wrong value far inside",
    () => newScheduler({ taskDefaults: { retry: { backoff: { max: 5 } } } }),
    'new Scheduler(): taskDefaults.retry.backoff.max must be a duration such as "5m" or { minutes: ' +
      "5 }; got 5: a bare number has no unit; write { seconds: 5 } or { milliseconds: 5 }",
  ],
  [
    "several problems at once",
    () => newScheduler({ role: "boss", maxIdle: 5, colour: 1, loger: console }),
    [
      "new Scheduler(): 4 problems",
      '- role must be "both", "scheduler" or "worker"; got "boss": did you mean "both"?',
      '- maxIdle must be a duration such as "5m" or { minutes: 5 }; got 5: a bare number has no ' +
        "unit; write { seconds: 5 } or { milliseconds: 5 }",
      "- colour is no option; the options are dataStore, eventBroker, executors, role, identity, " +
        "maxConcurrentJobs, taskDefaults, scheduleDefaults, notices, timeZone, leaseDuration, leaseThread, cleanupInterval, " +
        "maxIdle, zoneRules, version, logger, logLevel, clock and random",
      '- loger is no option; did you mean "logger"?',
    ].join("\n"),
  ],
  [
    "options of a task on the scheduler",
    () => newScheduler({ timeout: "PT5M" }),
    "new Scheduler(): timeout is no option here; it is a setting of the task: scheduler.task(id, { " +
      "timeout }, handler)",
  ],
  [
    "a bare number as timeout",
    () => settings({ timeout: 5000 }),
    'task "report": timeout must be a duration such as "5m" or { minutes: 5 }; got 5000: a bare ' +
      "number has no unit; write { seconds: 5000 } or { milliseconds: 5000 }",
  ],
  [
    "a timeout with a unit that is none",
    () => settings({ timeout: { minute: 5 } }),
    'task "report": timeout must be a duration such as "5m" or { minutes: 5 }; got { minute: 5 }: ' +
      'not a duration; did you mean "minutes"?',
  ],
  [
    "a timeout that is text without a meaning",
    () => settings({ timeout: "soon" }),
    'task "report": timeout must be a duration such as "5m" or { minutes: 5 }; got "soon": not a ' + "duration",
  ],
  [
    "a duration in the place of the settings",
    () => settings("PT5S"),
    'task "report" takes an object of options; got "PT5S": write { timeout: "PT5S" }',
  ],
  [
    "a timeout in words",
    () => settings({ timeout: "5 minutes" }),
    'task "report": timeout must be a duration such as "5m" or { minutes: 5 }; got "5 minutes": write "5m"',
  ],
  [
    "attempts by a shorter name",
    () => settings({ retry: { attempts: 3 } }),
    'task "report": retry.attempts is no option; did you mean "maxAttempts"?',
  ],
  [
    "a backoff that is a number",
    () => settings({ retry: { maxAttempts: 3, backoff: 10 } }),
    'task "report": retry.backoff must be an object; got 10: write { initial: { milliseconds: 10 } }',
  ],
  [
    "a default of tasks among those of schedules",
    () => newScheduler({ scheduleDefaults: { misfireGraceTime: "5m" } }),
    "new Scheduler(): scheduleDefaults.misfireGraceTime is no option here; tasks have it too, and schedules " +
      "inherit it from them: { taskDefaults: { misfireGraceTime: ... } }",
  ],
  [
    "retries as a number",
    () => settings({ retries: 3 }),
    'task "report": retries is no option here; write { retry: { maxAttempts: ... } }',
  ],
  [
    "a retry that is a number",
    () => settings({ retry: 3 }),
    'task "report": retry must be an object; got 3: write { maxAttempts: 3 }',
  ],
  [
    "attempts beside the retry",
    () => settings({ maxAttempts: 3 }),
    'task "report": maxAttempts is no option here; write { retry: { maxAttempts: ... } }',
  ],
  [
    "an option of schedules on a task",
    () => settings({ coalesce: "latest" }),
    'task "report": coalesce is no option here; it is an option of schedules: addSchedule(task, ' +
      "trigger, { coalesce })",
  ],
  [
    "a schema in the place of the settings",
    () => settings(v.object({ to: v.string() })),
    'task "report" takes an object of options; got { kind: "schema", type: "object", reference: the ' +
      'function object, expects: "Object", async: false, … }: pass it as { schema }',
  ],
  [
    "a schema that is none",
    () => settings({ schema: { type: "object" } }),
    'task "report": schema must be a Standard Schema (valibot, zod, arktype, ...); got { type: "object" }',
  ],
  [
    "metadata with a date",
    () => settings({ metadata: { since: new Date(0) } }),
    'task "report": metadata must be an object of JSON data: an object of class Date at since cannot ' +
      "be carried as JSON without loss; write date.toISOString()",
  ],
  [
    "metadata that is a list",
    () => settings({ metadata: [] }),
    'task "report": metadata must be an object of JSON data; got a list of 0',
  ],
  [
    "a function in the place of a task's id",
    () => call("task")(() => {}),
    "task id must be text of 1 to 256 characters; got a function: a name comes first: task(id, handler)",
  ],
  [
    "the settings behind the handler",
    () => call("task")("report", () => {}, { maxRunningJobs: 2 }),
    'task "report" needs a handler: task(id, handler) or task(id, settings, handler)',
  ],
  [
    "a duration in the place of the trigger",
    () => call("addSchedule")(task, "90m"),
    `addSchedule(): trigger must be ${FORMS}; got "90m": write { every: "90m" }`,
  ],
  [
    "a date in the place of the trigger",
    () => call("addSchedule")(task, "2030-01-01"),
    `addSchedule(): trigger must be ${FORMS}; got "2030-01-01": write new DateTrigger("2030-01-01")`,
  ],
  [
    "a crontab in an object by another name",
    () => call("addSchedule")(task, { crontab: "0 9 * * *" }),
    "addSchedule(): trigger must be crontab text, { cron }, { every }, { at } or the JSON of a trigger; got " +
      '{ crontab: "0 9 * * *" }: write { cron: "0 9 * * *" }',
  ],
  [
    "the trigger before the task",
    () => call("addSchedule")(minutely, task),
    "addSchedule(): task must be a task, its id or a named function; got an IntervalTrigger: the task comes " +
      "first, then the trigger",
  ],
  [
    "units in the place of the trigger",
    () => call("addSchedule")(task, { minutes: 5 }),
    "addSchedule(): trigger must be crontab text, { cron }, { every }, { at } or the JSON of a trigger; got " +
      '{ minutes: 5 }: write such as { every: "5m" } or { cron: "0 9 * * *" }',
  ],
  [
    "a time zone of a schedule",
    () => addSchedule({ timezone: "Europe/Berlin" }),
    "addSchedule(): timezone is no option here; it belongs to the trigger: " +
      "CronTrigger.fromCrontab(text, { timeZone }), or to new Scheduler({ timeZone }), for crontab text",
  ],
  [
    "a start time of a schedule",
    () => addSchedule({ startTime: "2030-01-01T00:00:00Z" }),
    "addSchedule(): startTime is no option here; it belongs to the trigger: " +
      "CronTrigger.fromCrontab(text, { startTime })",
  ],
  [
    "an option of jobs on a schedule",
    () => addSchedule({ runAt: "2030-01-01T00:00:00Z" }),
    "addSchedule(): runAt is no option here; it is an option of jobs: addJob(task, { runAt })",
  ],
  [
    "a conflict policy that is none",
    () => addSchedule({ conflictPolicy: "Replace" }),
    'addSchedule(): conflictPolicy must be "update", "doNothing", "replace" or "error"; got "Replace": did you ' +
      'mean "replace"?',
  ],
  [
    "a jitter by a shorter name",
    () => addSchedule({ jitter: { seconds: 5 } }),
    'addSchedule(): jitter is no option; did you mean "maxJitter"?',
  ],
  ["yes for true", () => addSchedule({ paused: "yes" }), 'addSchedule(): paused must be true or false; got "yes"'],
  [
    "an id in the place of the options",
    () => addSchedule("report"),
    'addSchedule() takes an object of options; got "report": pass it as { id: ... }, or as { ' +
      "payload: ... } if the handler gets it",
  ],
  [
    "a second trigger in the place of the options",
    () => addSchedule(minutely),
    "addSchedule() takes an object of options; got an IntervalTrigger: the trigger comes second; new " +
      "OrTrigger([first, second]) combines two",
  ],
  [
    "changes that are a trigger",
    () => call("updateSchedule")("report", minutely),
    "updateSchedule() takes an object of options; got an IntervalTrigger: pass it as { trigger }",
  ],
  [
    "a change of the time zone",
    () => call("updateSchedule")("report", { timeZone: "Europe/Berlin" }),
    "updateSchedule(): timeZone is no option here; it belongs to the trigger: " +
      "CronTrigger.fromCrontab(text, { timeZone }), or to new Scheduler({ timeZone }), for crontab text",
  ],
  [
    "a payload in the place of the options",
    () => addJob({ name: "Ada" }),
    "addJob(): name is no option here; what the handler gets is passed as { payload: { name: ... } }",
  ],
  [
    "text in the place of the options",
    () => addJob("Ada"),
    'addJob() takes an object of options; got "Ada": what the handler gets is passed as { payload: ... }',
  ],
  [
    "a list in the place of the options",
    () => addJob(["Ada"]),
    "addJob() takes an object of options; got a list of 1: what the handler gets is passed as { payload: ... }",
  ],
  [
    "an instant in the place of the options",
    () => addJob(Temporal.Instant.fromEpochMilliseconds(0)),
    "addJob() takes an object of options; got an Instant: write { runAt: instant }",
  ],
  [
    "a trigger in the place of a job's options",
    () => addJob(minutely),
    "addJob() takes an object of options; got an IntervalTrigger: jobs run once; a trigger makes a " +
      "schedule: addSchedule(task, trigger)",
  ],
  [
    "options that were not awaited",
    () => addJob(Promise.resolve({})),
    "addJob() takes an object of options; got a Promise: await it first",
  ],
  [
    "a start that is put off",
    () => addJob({ startAfter: 60 }),
    'addJob(): startAfter is no option here; write { delay: "5m" } for a time from now, or { runAt } for an instant',
  ],
  [
    "a time from now",
    () => addJob({ in: "5m" }),
    'addJob(): in is no option here; write { delay: "5m" } for a time from now, or { runAt } for an instant',
  ],
  ...["repeat", "cron", "every"].map(
    (name) =>
      [
        `a job that repeats, by ${name}`,
        () => addJob({ [name]: "0 9 * * *" }),
        `addJob(): ${name} is no option here; a job runs once; a schedule adds a job at each fire time: ` +
          'addSchedule(task, "0 9 * * *", options)',
      ] as const,
  ),
  [
    "an order of jobs",
    () => addJob({ lifo: true }),
    "addJob(): lifo is no option here; write { priority }: jobs run by priority, then by runAt, then in the order of " +
      "their addition",
  ],
  [
    "a queue of dead letters",
    () => addJob({ deadLetter: "failed" }),
    "addJob(): deadLetter is no option here; jobs that failed for good are kept as results: " +
      'getJobResults({ outcome: "error" }) lists them, retryJobs(filter) runs them again',
  ],
  [
    "a delay besides a run time",
    () => addJob({ delay: "5s", runAt: new Date(0) }),
    "addJob(): delay cannot go together with runAt: delay counts from now, runAt is the instant itself; choose one",
  ],
  [
    "epoch milliseconds as the run time",
    () => addJob({ runAt: 1_893_456_000_000 }),
    "addJob(): runAt must be a Temporal.Instant, a Temporal.ZonedDateTime, a Date or ISO 8601 text " +
      "with an offset; got 1893456000000: write new Date(1893456000000)",
  ],
  [
    "a run time without an offset",
    () => addJob({ runAt: "2030-01-01T09:00:00" }),
    'addJob(): runAt must be ISO 8601 text with an offset, such as "2030-01-31T09:00:00Z" or ' +
      '"2030-01-31T09:00:00+01:00[Europe/Berlin]"; got "2030-01-01T09:00:00"',
  ],
  [
    "an invalid date",
    () => addJob({ startDeadline: new Date(Number.NaN) }),
    "addJob(): startDeadline must be a valid date; got an invalid Date",
  ],
  [
    "a setting of the task on a job",
    () => addJob({ timeout: "PT5M" }),
    "addJob(): timeout is no option here; it is a setting of the task: scheduler.task(id, { timeout }, handler)",
  ],
  ["a priority in words", () => addJob({ priority: "high" }), 'addJob(): priority must be a whole number; got "high"'],
  [
    "a signal where nothing waits",
    () => addJob({ signal: new AbortController().signal }),
    "addJob(): signal is no option here; runJob(task, { signal }) takes it",
  ],
  [
    "a bound function as a task",
    () => call("addJob")(function send() {}.bind(null)),
    'the bound function "bound send" has no name of its own; register it: scheduler.task("send", handler)',
  ],
  [
    "a function without a name as a task",
    () => call("addJob")((() => () => {})()),
    "an anonymous function has no name to be found by; register it: scheduler.task(id, handler)",
  ],
  ["no task", () => call("addJob")(undefined), "the task must be a task, its id or a named function; got undefined"],
  [
    "all tasks in the place of one",
    () => call("addJob")(defineTasks({ mail: {} })),
    "the task must be a task, its id or a named function; got { mail: a DefinedTask }: pass one of its tasks",
  ],
  [
    "a handler before the options",
    () => call("schedule")("report", "@daily", () => {}, { priority: 1 }),
    "schedule(): handler must be a function, the last argument: schedule(id, trigger, handler) or schedule(id, " +
      "trigger, options, handler)",
  ],
  [
    "an id among the options of schedule()",
    () => call("schedule")("report", "@daily", { id: "x" }, () => {}),
    "schedule(): id is no option here; the id comes first: schedule(id, trigger, options, handler)",
  ],
  [
    "a typo among the options of schedule()",
    () => call("schedule")("report", "@daily", { maxRuningJobs: 2 }, () => {}),
    'schedule(): maxRuningJobs is no option; did you mean "maxRunningJobs"?',
  ],
  [
    "a controller in the place of its signal",
    () => call("runJob")(task, { signal: new AbortController() }),
    "runJob(): signal must be an AbortSignal; got an AbortController: pass its signal",
  ],
  [
    "a job among several",
    () => call("addJobs")([{ task }, { task, prority: 1 }]),
    'addJobs()[1]: prority is no option; did you mean "priority"?',
  ],
  ["a job without its task", () => call("addJobs")([{ payload: 1 }]), "addJobs()[0]: task is missing"],
  [
    "a task in the place of a job",
    () => call("addJobs")([task]),
    'addJobs()[0] takes an object of options; got { id: "report" }: write { task }',
  ],
  [
    "one job in the place of several",
    () => call("addJobs")({ task }),
    "addJobs() takes a list of at most 10000 jobs; got { task: {…} }",
  ],
  [
    "a job in the place of its id",
    () => call("getJob")({ id: "0190", taskId: "report" }),
    'job id must be text of 1 to 256 characters; got { id: "0190", taskId: "report" }: pass its id',
  ],
  ["no id", () => call("getJob")(undefined), "job id must be text of 1 to 256 characters; got undefined"],
  [
    "too large a page",
    () => call("getJobs")({ limit: 5000 }),
    "getJobs(): limit must be a whole number from 1 to 1000; got 5000",
  ],
  [
    "a cursor with half of a character",
    () => call("getJobs")({ cursor: "\ud83d" }),
    'getJobs(): cursor must be the cursor of a page, which is text; got "\\ud83d"',
  ],
  [
    "a filter by another name",
    () => call("getJobs")({ task: "report" }),
    'getJobs(): task is no option; did you mean "taskId"?',
  ],
  [
    "a preview without a limit",
    () => call("previewSchedule")("report", {}),
    "previewSchedule(): limit is missing; it must be a whole number from 0 to 1000",
  ],
  [
    "a bare number for the preview",
    () => call("previewSchedule")("report", 3),
    "previewSchedule() takes an object of options; got 3: write { limit: 3 }",
  ],
  [
    "a bare number for the stop",
    () => call("stop")(5000),
    "stop() takes an object of options; got 5000: write { drainTimeout: { milliseconds: 5000 } }",
  ],
  [
    "a bare number as drain time",
    () => call("stop")({ drainTimeout: 5000 }),
    'stop(): drainTimeout must be a duration such as "5m" or { minutes: 5 }; got 5000: a bare ' +
      "number has no unit; write { seconds: 5000 } or { milliseconds: 5000 }",
  ],
  [
    "a signal in the place of the options",
    () => call("tick")(new AbortController().signal),
    "tick() takes an object of options; got an AbortSignal: pass it as { signal }",
  ],
  [
    "a store by its address alone",
    () => newLibsql("file:x"),
    'new LibsqlDataStore(connection) takes { url } or { client }; got "file:x": write { url: "file:x" }',
  ],
  [
    "a store by its address and token",
    () => newLibsql({ url: "file:x" }, "eyJhbGciOiJIUzI1NiJ9.secret"),
    "new LibsqlDataStore(connection, options) takes an object of options; got text that is not " +
      "shown: write { url, authToken } for a database with a token",
  ],
  [
    "a store by a URL object",
    () => newLibsql(new URL("file:///x")),
    "new LibsqlDataStore(connection) takes { url } or { client }; got a URL: write { url: url.href }",
  ],
  [
    "a store by a client alone",
    () => newLibsql({ execute() {}, batch() {}, close() {} }),
    "new LibsqlDataStore(connection) takes { url } or { client }; got { execute: the function " +
      "execute, batch: the function batch, close: the function close }: pass it as { client }",
  ],
  [
    "a store without an address",
    () => newLibsql({}),
    "new LibsqlDataStore(connection): url is missing; it must be text that is not empty",
  ],
  [
    "an address that the environment lacks",
    () => newLibsql({ url: undefined }),
    "new LibsqlDataStore(connection): url must be text that is not empty; got undefined: is the " +
      "environment variable set?",
  ],
  ...[
    ...["file:", "file://", "file:///", "file:?mode=rwc", "file: ", "FILE:", "file://localhost/", "libsql://"],
    ...["file:undefined", "file:null", "file:undefined?mode=rwc", "libsql://undefined", "https://null"],
    ...["file:./undefined", "file:///data/null", "file:data/"],
  ].map((url): [string, () => unknown, string] => [
    `nothing behind the scheme of ${url}`,
    () => newLibsql({ url }),
    `new LibsqlDataStore(connection): url must be an address with something behind the scheme; got "${url}": is the ` +
      "environment variable set?",
  ]),
  [
    "a token that is no text",
    () => newLibsql({ url: "libsql://jobs.example", authToken: 123_456 }),
    "new LibsqlDataStore(connection): authToken must be text that is not empty; got a value that is not shown",
  ],
  [
    "a token by another name",
    () => newLibsql({ url: "libsql://jobs.example", token: "abc" }),
    'new LibsqlDataStore(connection): token is no option; did you mean "authToken"?',
  ],
  [
    "a path for an address",
    () => newLibsql({ path: "jobs.db" }),
    'new LibsqlDataStore(connection) takes { url } or { client }; got { path: "jobs.db" }: write { url: "file:jobs.db" }',
  ],
  [
    "a path alone for an address",
    () => newLibsql("jobs.db"),
    'new LibsqlDataStore(connection) takes { url } or { client }; got "jobs.db": write { url: "file:jobs.db" }',
  ],
  [
    "a path for the address of a server",
    () => new LibsqlHttpDataStore({ path: "jobs.db" } as never),
    'new LibsqlDataStore(connection) takes { url, authToken }; got { path: "jobs.db" }: a file needs escapement/sqlite ' +
      "or escapement/libsql",
  ],
  [
    "a path for a url",
    () => newLibsql({ url: "jobs.db" }),
    "new LibsqlDataStore(connection): url must be file:, http:, https:, ws:, wss: or libsql: and an " +
      'address, or :memory:; got "jobs.db": write { url: "file:jobs.db" }',
  ],
  [
    "retries of a store as a number",
    () => newLibsql({ url: ":memory:" }, { retries: 3 }),
    'new LibsqlDataStore(connection, options): retries is no option; did you mean "retry"?',
  ],
  [
    "a memory store by its address",
    () => create(MemoryDataStore)("file:jobs.db"),
    'new MemoryDataStore() takes an object of options; got "file:jobs.db": a database is kept by new ' +
      'LibsqlDataStore({ url: "file:jobs.db" })',
  ],
  [
    "a memory store with an option of a database",
    () => create(MemoryDataStore)({ reset: true }),
    "new MemoryDataStore(): reset is no option here; a store in a database has it: new LibsqlDataStore({ " +
      "url }, options)",
  ],
  [
    "an option of the store in its connection",
    () => newLibsql({ url: ":memory:", tablePrefix: "x_" }),
    "new LibsqlDataStore(connection): tablePrefix is no option here; it comes second: new " +
      "LibsqlDataStore(connection, { tablePrefix })",
  ],
  [
    "a typo in the options of a store",
    () => newLibsql({ url: ":memory:" }, { tableprefix: "x_" }),
    'new LibsqlDataStore(connection, options): tableprefix is no option; did you mean "tablePrefix"?',
  ],
  [
    "a token among the options of a store",
    () => newLibsql({ url: ":memory:" }, { authToken: "abc" }),
    "new LibsqlDataStore(connection, options): authToken is no option here; it comes first: new " +
      "LibsqlDataStore({ url, authToken })",
  ],
  [
    "a prefix that is no name",
    () => newLibsql({ url: ":memory:" }, { tablePrefix: "a b" }),
    "new LibsqlDataStore(connection, options): tablePrefix must be letters, digits and _, at most " +
      '64, not beginning with a digit; got "a b"',
  ],
  [
    "a client and an address",
    () => newLibsql({ client: { execute() {}, batch() {}, close() {} }, url: ":memory:" }),
    "new LibsqlDataStore(connection): url is no option here; a connection is given by url or by " +
      "client, not by both",
  ],
  [
    "a time zone alone beside a crontab",
    () => newCron("0 9 * * *", "Europe/Berlin"),
    'CronTrigger takes an object of options; got "Europe/Berlin": write { timeZone: "Europe/Berlin" }',
  ],
  [
    "a time zone by a shorter name",
    () => newCron({ hour: 9 }, { tz: "Europe/Berlin" }),
    'CronTrigger: tz is no option; did you mean "timeZone"?',
  ],
  [
    "a period as a bare number",
    () => newInterval(5000),
    "IntervalTrigger takes an object of options; got 5000: write { seconds: 5000 } or { milliseconds: 5000 }",
  ],
  [
    "a unit in the singular",
    () => newInterval({ minute: 5 }),
    'IntervalTrigger: minute is no option; did you mean "minutes"?',
  ],
  [
    "a unit in text",
    () => newInterval({ seconds: "5" }),
    'IntervalTrigger: seconds must be a number of 0 or more; got "5"',
  ],
  [
    "a period below zero",
    () => newInterval({ seconds: -5 }),
    "IntervalTrigger: seconds must be a number of 0 or more; got -5",
  ],
  ["no period", () => newInterval({}), "IntervalTrigger needs an interval longer than zero, such as { minutes: 5 }"],
  [
    "a period of months",
    () => newInterval({ months: 1 }),
    "IntervalTrigger: months is no option here; it has no fixed length; write new CalendarIntervalTrigger({ " +
      "months: ... })",
  ],
  [
    "a time zone of a period",
    () => newInterval({ hours: 24, timeZone: "Europe/Berlin" }),
    "IntervalTrigger: timeZone is no option here; elapsed time is the same in every zone; new " +
      "CalendarIntervalTrigger({ days, timeZone }) follows the wall clock",
  ],
  [
    "a jitter of a trigger",
    () => newInterval({ hours: 1, jitter: 120 }),
    "IntervalTrigger: jitter is no option here; it belongs to the schedule: addSchedule(task, trigger, { maxJitter })",
  ],
  [
    "a start date with a time",
    () => create(CalendarIntervalTrigger)({ days: 1, startDate: "2026-12-25T09:00" }),
    'CalendarIntervalTrigger: startDate must be a date such as "2026-12-25" or a Temporal.PlainDate; got ' +
      '"2026-12-25T09:00": a date has no time of day; write "2026-12-25"',
  ],
  [
    "an excluded date as text",
    () => create(ExcludingTrigger)(minutely, "2026-12-25"),
    'ExcludingTrigger: excluded must be a trigger or a list of at most 10000 dates; got "2026-12-25": write ' +
      '["2026-12-25"]',
  ],
  [
    "an excluded range by another name",
    () => create(ExcludingTrigger)(minutely, [{ from: "2026-12-24", to: "2026-12-26" }]),
    'ExcludingTrigger: excluded.0 must be a date such as "2026-12-25", or { from, until }; got { from: "2026-12-24", ' +
      'to: "2026-12-26" }: the last date is named "until", not "to"',
  ],
  [
    "an excluded range without a list",
    () => create(ExcludingTrigger)(minutely, { from: "2026-12-24", until: "2026-12-26" }),
    'ExcludingTrigger: excluded must be a trigger or a list of at most 10000 dates; got { from: "2026-12-24", ' +
      'until: "2026-12-26" }: write it in a list: [{ from, until }]',
  ],
  [
    "an excluded Date",
    () => create(ExcludingTrigger)(minutely, [new Date(0)]),
    'ExcludingTrigger: excluded.0 must be a date such as "2026-12-25" or a Temporal.PlainDate; got the Date ' +
      "1970-01-01T00:00:00.000Z: a Date is an instant, and its date depends on the time zone; write the date as text",
  ],
  [
    "half a day",
    () => create(CalendarIntervalTrigger)({ days: 1.5 }),
    "CalendarIntervalTrigger: days must be a whole number from 0 to 4000000; got 1.5",
  ],
  [
    "a word for a date",
    () => create(DateTrigger)("tomorrow"),
    'DateTrigger: runTime must be ISO 8601 text with an offset, such as "2030-01-31T09:00:00Z" or ' +
      '"2030-01-31T09:00:00+01:00[Europe/Berlin]"; got "tomorrow"',
  ],
  [
    "no instant to explain",
    () => call("explain")("report"),
    "explain(): at must be a Temporal.Instant, a Temporal.ZonedDateTime, a Temporal.PlainDateTime, a Date or ISO 8601 " +
      "text; got undefined",
  ],
  [
    "a word to explain",
    () => call("explain")("report", "tomorrow"),
    'explain(): at must be ISO 8601 text, such as "2030-01-31 09:00" (in the zone of the rule), ' +
      '"2030-01-31T09:00:00Z" or "2030-01-31T09:00:00+01:00[Europe/Berlin]"; got "tomorrow"',
  ],
  [
    "an offset that lost its plus sign in a URL",
    () => addJob({ runAt: "2030-01-31T09:00 01:00" }),
    'addJob(): runAt must be ISO 8601 text with an offset, such as "2030-01-31T09:00:00Z" or ' +
      '"2030-01-31T09:00:00+01:00[Europe/Berlin]"; got "2030-01-31T09:00 01:00": the offset lacks its sign; in a URL, ' +
      'write "+" as %2B',
  ],
  [
    "a list that is none",
    () => create(OrTrigger)(minutely),
    "OrTrigger: triggers must be a list of 1 to 100 triggers; got an IntervalTrigger",
  ],
  [
    "an option of a combined trigger",
    () => create(AndTrigger)([minutely], { treshold: "PT1S" }),
    'AndTrigger: treshold is no option; did you mean "threshold"?',
  ],
  [
    "an option of APScheduler: max_instances",
    () => addSchedule({ max_instances: 1 }),
    'addSchedule(): max_instances is no option here; overlap: "skip" fires only after the run before; ' +
      "scheduler.task(id, { maxRunningJobs }, handler) is how many run",
  ],
  [
    "an option of APScheduler: replace_existing",
    () => addSchedule({ replace_existing: true }),
    'addSchedule(): replace_existing is no option; did you mean "conflictPolicy"?',
  ],
  [
    "an option of APScheduler: nextRunTime",
    () => addSchedule({ nextRunTime: new Date() }),
    "addSchedule(): nextRunTime is no option here; updateSchedule(id, { nextFireTime }) sets it, and " +
      "runScheduleNow(id) runs now",
  ],
  [
    "an option of croner: protect",
    () => addSchedule({ protect: true }),
    'addSchedule(): protect is no option; did you mean "overlap"?',
  ],
  [
    "an option of BullMQ: attempts",
    () => addJob({ attempts: 3 }),
    "addJob(): attempts is no option here; write { retry: { maxAttempts: ... } }",
  ],
  [
    "an option of BullMQ: removeOnComplete",
    () => addJob({ removeOnComplete: true }),
    'addJob(): removeOnComplete is no option; did you mean "resultExpirationTime"?',
  ],
  [
    "parts of an interval among the options",
    () => addSchedule({ minutes: 5 }),
    "addSchedule(): minutes is no option here; it is said by the trigger: new IntervalTrigger({ minutes: 5 })",
  ],
  [
    "parts of a cron trigger among the options",
    () => addSchedule({ hour: 9 }),
    'addSchedule(): hour is no option here; it is said by the trigger: crontab text, such as "0 9 * * *"',
  ],
  [
    "a task among the options",
    () => call("addSchedules")([{ taskId: "report", trigger: minutely }]),
    "addSchedules()[0]: taskId is no option here; the task comes first; addSchedules() takes { task }",
  ],
  [
    "a trigger among the options",
    () => addSchedule({ trigger: minutely }),
    "addSchedule(): trigger is no option here; it comes before the options",
  ],
  [
    "options within the options",
    () => call("addSchedules")([{ task, trigger: minutely, id: "a", options: { priority: 1 } }]),
    'addSchedules()[0] (id "a"): options is no option here; write what it holds in its place',
  ],
  [
    "an option of BullMQ: immediately",
    () => addSchedule({ immediately: true }),
    "addSchedule(): immediately is no option here; runScheduleNow(id) runs now",
  ],
  [
    "an option of BullMQ: limit",
    () => addSchedule({ limit: 10 }),
    "addSchedule(): limit is no option here; give the trigger an endTime",
  ],
  [
    "an option of BullMQ: backoff.type",
    () => addJob({ retry: { maxAttempts: 3, backoff: { type: "fixed" } } }),
    'addJob(): retry.backoff.type is no option here; a fixed pause is { initial: "1s", factor: 1, jitter: "none" }',
  ],
  [
    "a revision among the changes",
    () => call("updateSchedule")("report", { priority: 1, ifRevision: 2 }),
    "updateSchedule(): ifRevision is no option here; it stands apart from the changes: updateSchedule(id, changes, { " +
      "ifRevision })",
  ],
  [
    "a revision among the changes, by the name of its header",
    () => call("updateSchedule")("report", { ifMatch: 2 }),
    "updateSchedule(): ifMatch is no option here; it stands apart from the changes: updateSchedule(id, changes, { " +
      "ifRevision })",
  ],
  [
    "ifMatch for ifRevision",
    () => call("removeSchedule")("report", { ifMatch: 2 }),
    'removeSchedule(): ifMatch is no option; did you mean "ifRevision"?',
  ],
  [
    "a revision in the place of the options",
    () => call("updateSchedule")("report", { priority: 1 }, 2),
    "updateSchedule() takes an object of options; got 2: write { ifRevision: 2 }",
  ],
  [
    "crontab text before the task",
    () => call("addSchedule")("0 9 * * *", "report"),
    'addSchedule(): task must be a task, its id or a named function; got "0 9 * * *": the task comes first, then the ' +
      "trigger",
  ],
  [
    "crontab text before the handler",
    () => call("addSchedule")("0 9 * * *", function report() {}),
    `addSchedule(): trigger must be ${FORMS}; got the function report: the task comes first, then the trigger`,
  ],
  [
    "a schedule in one object",
    () => call("addSchedule")({ task, trigger: "0 9 * * *" }),
    'addSchedule(): task must be a task, its id or a named function; got { task: {…}, trigger: "0 9 * * *" }: write ' +
      "addSchedule(task, trigger, options)",
  ],
  [
    "a trigger before the id",
    () => call("schedule")(minutely, "report", () => {}),
    "schedule id must be text of 1 to 256 characters; got an IntervalTrigger: the id comes first",
  ],
  [
    "a task and its schedule in one object",
    () => call("schedule")({ id: "report", cron: "0 9 * * *", handler() {} }),
    'schedule id must be text of 1 to 256 characters; got { id: "report", cron: "0 9 * * *", handler: the function ' +
      "handler }: write schedule(id, trigger, options, handler)",
  ],
  [
    "a function in the place of the options of a cron handler",
    () => (createCronHandler as Untyped)(() => scheduler),
    "createCronHandler() takes an object of options; got a function: pass it as { scheduler }",
  ],
  [
    "an option of BullMQ in the defaults of tasks: backoff.type",
    () => newScheduler({ taskDefaults: { retry: { backoff: { type: "exponential" } } } }),
    'new Scheduler(): taskDefaults.retry.backoff.type is no option here; a fixed pause is { initial: "1s", factor: 1, ' +
      'jitter: "none" }',
  ],
  [
    "a payload before the task",
    () => call("addJob")({ to: "Ada" }, task),
    'addJob() takes an object of options; got { id: "report" }: the task comes first, then the options',
  ],
  [
    "a payload before a defined task",
    () => call("runJob")("Ada", defineTasks({ mail: { handler: () => {} } }).mail),
    "runJob() takes an object of options; got a DefinedTask: the task comes first, then the options",
  ],
  [
    "a job in one object",
    () => call("addJob")({ task, payload: "Ada" }),
    'the task must be a task, its id or a named function; got { task: {…}, payload: "Ada" }: the task comes first, then ' +
      "the options",
  ],
  [
    "a stay without a unit",
    () => call("tick")({ stay: 10 }),
    'tick(): stay must be "whileRunning" or a duration such as "5m" or { minutes: 5 }; got 10: a bare number has no ' +
      "unit; write { seconds: 10 } or { milliseconds: 10 }",
  ],
  [
    "a stay in other words",
    () => call("tick")({ stay: "55 seconds" }),
    'tick(): stay must be "whileRunning" or a duration such as "5m" or { minutes: 5 }; got "55 seconds": write "55s"',
  ],
  [
    "a negative delay without a unit",
    () => addJob({ delay: -1 }),
    'addJob(): delay must be a duration such as "5m" or { minutes: 5 }; got -1: must not be negative',
  ],
  [
    "a start date among the options",
    () => addSchedule({ startDate: "2030-01-01" }),
    "addSchedule(): startDate is no option here; it belongs to the trigger: CronTrigger.fromCrontab(text, { " +
      "startTime })",
  ],
  [
    "a first run among the options",
    () => addSchedule({ firstRun: "afterInterval" }),
    "addSchedule(): firstRun is no option here; it belongs to the trigger: new IntervalTrigger({ minutes: 5, " +
      "firstRun })",
  ],
  [
    "a duration as a time to run at",
    () => addJob({ runAt: "5m" }),
    'addJob(): runAt must be ISO 8601 text with an offset, such as "2030-01-31T09:00:00Z" or ' +
      '"2030-01-31T09:00:00+01:00[Europe/Berlin]"; got "5m": a time from now is new Date(Date.now() + ' +
      "milliseconds)",
  ],
  [
    "an object of units as a time to run at",
    () => addJob({ runAt: { minutes: 5 } }),
    "addJob(): runAt must be a Temporal.Instant, a Temporal.ZonedDateTime, a Date or ISO 8601 text with an " +
      "offset; got { minutes: 5 }: a time from now is new Date(Date.now() + milliseconds)",
  ],
  [
    "an infinite limit",
    () => settings({ maxRunningJobs: Number.POSITIVE_INFINITY }),
    'task "report": maxRunningJobs must be a whole number of 1 or more; got Infinity: write null for no limit',
  ],
  [
    "a backoff beside retry",
    () => settings({ backoff: 5 }),
    'task "report": backoff is no option here; write { retry: { maxAttempts: ..., backoff: { initial: "1s" } } }',
  ],
  [
    "another word for a limit",
    () => settings({ maxConcurrency: 5 }),
    'task "report": maxConcurrency is no option; did you mean "maxRunningJobs"?',
  ],
  [
    "a backoff that is a word",
    () => settings({ retry: { backoff: "exponential" } }),
    'task "report": retry.backoff must be an object; got "exponential": write { initial: "1s" }; each pause is ' +
      "twice the last",
  ],
  [
    "retries among the defaults of tasks",
    () => newScheduler({ taskDefaults: { retries: 3 } }),
    "new Scheduler(): taskDefaults.retries is no option here; write { retry: { maxAttempts: ... } }",
  ],
  [
    "a number as a trigger",
    () => call("schedule")("a", 5000, () => {}),
    `schedule(): trigger must be ${FORMS}; got 5000: write new IntervalTrigger({ milliseconds: 5000 })`,
  ],
  [
    "English as a trigger",
    () => call("schedule")("a", "every 5 minutes", () => {}),
    `schedule(): trigger must be ${FORMS}; got "every 5 minutes": write { every: "5m" }`,
  ],
  [
    "text as the changes of a schedule",
    () => call("updateSchedule")("a", "0 9 * * *"),
    'updateSchedule() takes an object of options; got "0 9 * * *": pass it as { trigger: "0 9 * * *" }',
  ],
  [
    "no filter for a bulk",
    () => call("retryJobs")(),
    "retryJobs() takes a filter; got undefined: write { all: true } if you mean everything",
  ],
  [
    "an event of BullMQ",
    () => call("subscribe")("completed", () => {}),
    'there is no event type "completed"; did you mean "jobReleased"?',
  ],
  [
    "a typo in an event",
    () => call("subscribe")("jobReleasd", () => {}),
    'there is no event type "jobReleasd"; did you mean "jobReleased"?',
  ],
  [
    "a preview without a limit",
    () => call("previewSchedule")("a"),
    "previewSchedule() takes an object of options; got undefined: write { limit: 10 }",
  ],
  [
    "a rate that is a number",
    () => settings({ rateLimit: 14 }),
    'task "report": rateLimit must be an object; got 14: write { limit: 14, per: "1s" }',
  ],
  [
    "a rate that is text",
    () => settings({ rateLimit: "14/min" }),
    'task "report": rateLimit must be an object; got "14/min": write { limit: 14, per: "1m" }',
  ],
  [
    "a rate without its time",
    () => settings({ rateLimit: { limit: 14 } }),
    'task "report": rateLimit.per is missing; it must be a duration such as "5m" or { minutes: 5 }',
  ],
  [
    "a rate in no time",
    () => settings({ rateLimit: { limit: 14, per: 0 } }),
    'task "report": rateLimit.per must be a duration such as "5m" or { minutes: 5 }; got 0: a bare ' +
      "number has no unit; write { seconds: 0 } or { milliseconds: 0 }",
  ],
  [
    "a rate as BullMQ has it",
    () => settings({ rateLimit: { max: 14, duration: 1000 } }),
    'task "report": 4 problems\n- rateLimit.limit is missing; it must be a whole number from 1 to ' +
      '1000000\n- rateLimit.per is missing; it must be a duration such as "5m" or { minutes: 5 }\n- ' +
      'rateLimit.max is no option; did you mean "limit"?\n- rateLimit.duration is no option; did you ' +
      'mean "per"?',
  ],
  [
    "a rate of nothing",
    () => settings({ rateLimit: { limit: 0, per: "1s" } }),
    'task "report": rateLimit.limit must be a whole number from 1 to 1000000; got 0: to let nothing ' +
      "run, call pauseTask(id), or pauseTask(id, { key }) for one key",
  ],
  [
    "a burst that is too large",
    () => settings({ rateLimit: { limit: 14, per: "1s", burst: 1_000_001 } }),
    'task "report": rateLimit.burst must be a whole number from 1 to 1000000; got 1000001',
  ],
  [
    "no job per key",
    () => settings({ maxRunningPerKey: 0 }),
    'task "report": maxRunningPerKey must be a whole number from 1 to 1000000; got 0: to let ' +
      "nothing run, call pauseTask(id), or pauseTask(id, { key }) for one key",
  ],
  [
    "no job at all",
    () => settings({ maxRunningJobs: 0 }),
    'task "report": maxRunningJobs must be a whole number of 1 or more; got 0: to let nothing run, ' +
      "call pauseTask(id), or pauseTask(id, { key }) for one key",
  ],
  [
    "the name of a property as the key",
    () => settings({ concurrencyKey: "tenant" }),
    'task "report": concurrencyKey must be a function that returns the key of a payload; got ' +
      '"tenant": write (payload) => payload.tenant, or () => "tenant" for one key that all jobs have',
  ],
  [
    "the path of a property as the key",
    () => settings({ concurrencyKey: "account.id" }),
    'task "report": concurrencyKey must be a function that returns the key of a payload; got "account.id": write ' +
      '(payload) => payload.account.id, or () => "account.id" for one key that all jobs have',
  ],
  [
    "a limit of something",
    () => settings({ limit: 2 }),
    'task "report": limit is no option here; maxRunningJobs is how many run at once, and rateLimit: { limit, per } how ' +
      "many start in a time",
  ],
  [
    "a limit per key by another name",
    () => settings({ maxConcurrencyPerKey: 2 }),
    'task "report": maxConcurrencyPerKey is no option; did you mean "maxRunningPerKey"?',
  ],
  [
    "a rate with a key",
    () => settings({ rateLimit: { limit: 14, per: "1s", key: "api" } }),
    'task "report": rateLimit.key is no option here; the rate counts for each concurrencyKey of the task',
  ],
  [
    "a rate of less than a job",
    () => settings({ rateLimit: { limit: 0.5, per: "1s" } }),
    'task "report": rateLimit.limit must be a whole number from 1 to 1000000; got 0.5: write a longer time: ' +
      '{ limit: 1, per: "10s" }',
  ],
  [
    "a job that is unique",
    () => addJob({ unique: true }),
    'addJob(): unique is no option here; write { idempotencyKey: ..., uniqueFor: "1h" }',
  ],
  [
    "a job that is a singleton",
    () => settings({ singleton: true }),
    'task "report": singleton is no option here; maxRunningJobs: 1, the default, lets one job run at once, and ' +
      "addJob(task, { idempotencyKey }) adds one",
  ],
  [
    "a group",
    () => settings({ group: () => "a" }),
    'task "report": group is no option; did you mean "concurrencyKey"?',
  ],
  [
    "a function as the key of a job",
    () => addJob({ concurrencyKey: () => "a" }),
    "addJob(): concurrencyKey must be text of 1 to 256 characters; got the function concurrencyKey: " +
      "a function is a setting of the task: scheduler.task(id, { concurrencyKey }, handler)",
  ],
  [
    "a key that is empty",
    () => addSchedule({ concurrencyKey: "" }),
    'addSchedule(): concurrencyKey must be text of 1 to 256 characters; got "": write null for no ' + "key",
  ],
  [
    "a limit of the task as an option of a job",
    () => addJob({ maxRunningPerKey: 2 }),
    "addJob(): maxRunningPerKey is no option here; it is a setting of the task: scheduler.task(id, " +
      "{ maxRunningPerKey }, handler)",
  ],
  [
    "a key function among the defaults of tasks",
    () => newScheduler({ taskDefaults: { concurrencyKey: () => "a" } }),
    "new Scheduler(): taskDefaults.concurrencyKey is no option here; it is about the payload of one " +
      "task: scheduler.task(id, { concurrencyKey }, handler)",
  ],
  [
    "a limit per key where nothing tells the key",
    () => {
      call("task")("limited", { maxRunningPerKey: 2 }, () => {});
      return call("addJob")("limited");
    },
    'addJob(): concurrencyKey is missing: task "limited" has maxRunningPerKey, and nothing here ' +
      "tells the key; give the task { concurrencyKey: (payload) => ... }, pass a task of " +
      'defineTasks() instead of its id, or pass { concurrencyKey: "..." } (null for a job without ' +
      "limit)",
  ],
  [
    "the key to pause as text",
    () => call("pauseTask")("report", "a"),
    'pauseTask() takes an object of options; got "a": write { key: "a" }',
  ],
  [
    "the key to pause by another name",
    () => call("unpauseTask")("report", { concurrencyKey: "a" }),
    'unpauseTask(): concurrencyKey is no option; did you mean "key"?',
  ],
  [
    "the key to pause that is undefined",
    () => call("pauseTask")("report", { key: undefined }),
    "pauseTask(): key must be text of 1 to 256 characters; got undefined: leave it out for the whole task",
  ],
  [
    "the key to pause that is empty",
    () => call("pauseTask")("report", { key: "" }),
    'pauseTask(): key must be text of 1 to 256 characters; got "": leave it out for the whole task',
  ],
  [
    "the key to pause that is a number",
    () => call("pauseTask")("report", { key: 7 }),
    'pauseTask(): key must be text of 1 to 256 characters; got 7: write "7"',
  ],
  [
    "a list of parents with a hole",
    () => addJob({ after: new Array(1) }),
    "addJob(): after at 0 must be a job or the id of one; got undefined",
  ],
  [
    "a list of triggers with a hole",
    () => create(OrTrigger)(withHole(minutely)),
    "OrTrigger: triggers.1 must be a trigger; got undefined",
  ],
  [
    "a list of cron triggers with a hole",
    () => create(CronBatch)(new Array(1)),
    "CronBatch: triggers.0 must be a cron trigger; got undefined",
  ],
  [
    "a list of excluded dates with a hole",
    () => create(ExcludingTrigger)(minutely, withHole("2026-12-25")),
    'ExcludingTrigger: excluded.1 must be a date such as "2026-12-25" or a Temporal.PlainDate; got undefined',
  ],
  [
    "a list of secrets with a hole",
    () => (createCronHandler as Untyped)({ scheduler, secret: new Array(1) }),
    "createCronHandler(): secret must be text without spaces, a list of such texts, null, or a function that gives " +
      "one; got a value that is not shown: is the environment variable set? A function without a public address may " +
      "have secret: null",
  ],
  ["an option whose getter throws", () => addJob(throwing("priority")), "addJob(): priority cannot be read: gone"],
  [
    "an option within an option whose getter throws",
    () => settings({ retry: throwing("maxAttempts") }),
    'task "report": retry.maxAttempts cannot be read: gone',
  ],
  ["a list of jobs whose getter throws", () => call("addJobs")(throwing("0", [])), "addJobs(): 0 cannot be read: gone"],
  [
    "a list of jobs that is a Proxy that throws",
    () => call("addJobs")(new Proxy([], { get: () => Reflect.get(throwing("length"), "length") })),
    "addJobs() cannot be read: gone",
  ],
  [
    "a list of triggers whose getter throws",
    () => create(OrTrigger)(throwing("0", [])),
    "OrTrigger: triggers.0 cannot be read: gone",
  ],
  [
    "a list of excluded dates whose getter throws",
    () => create(ExcludingTrigger)(minutely, throwing("0", [])),
    "ExcludingTrigger: excluded.0 cannot be read: gone",
  ],
  [
    "a list of event types whose getter throws",
    () => call("subscribe")(throwing("0", []), () => {}),
    "types: 0 cannot be read: gone",
  ],
  [
    "an object in the place of event types",
    () => call("subscribe")({}, () => {}),
    "types must be an event type, a list of them, or null; got {}",
  ],
  [
    "options that are a Proxy that throws",
    () => addJob(new Proxy({}, { ownKeys: () => Reflect.get(throwing("keys"), "keys") })),
    "addJob() cannot be read: gone",
  ],
  [
    "a definition of a task whose getter throws",
    () => (defineTasks as Untyped)({ mail: throwing("handler") }),
    "defineTasks(): mail.handler cannot be read: gone",
  ],
  [
    "an option of a trigger whose getter throws",
    () => newInterval(throwing("minutes")),
    "IntervalTrigger: minutes cannot be read: gone",
  ],
  ["a list of jobs that is a Proxy that throws", () => call("addJobs")(UNREADABLE), "addJobs() cannot be read: gone"],
  ["jobs of a batch in a Proxy that throws", () => call("addBatch")(UNREADABLE), "addBatch() cannot be read: gone"],
  ["parents in a Proxy that throws", () => addJob({ after: UNREADABLE }), "addJob(): after cannot be read: gone"],
  ["types of events in a Proxy that throws", () => call("events")(UNREADABLE), "types cannot be read: gone"],
  ["triggers in a Proxy that throws", () => create(OrTrigger)(UNREADABLE), "OrTrigger: triggers cannot be read: gone"],
  [
    "cron triggers in a Proxy that throws",
    () => create(CronBatch)(UNREADABLE),
    "CronBatch: triggers cannot be read: gone",
  ],
  [
    "excluded dates in a Proxy that throws",
    () => create(ExcludingTrigger)(minutely, UNREADABLE),
    "ExcludingTrigger: excluded cannot be read: gone",
  ],
  [
    "time zones in a Proxy that throws",
    () => (preloadZones as Untyped)(UNREADABLE),
    "preloadZones(): timeZones cannot be read: gone",
  ],
  [
    "a type of events that is no text",
    () => call("events")(7),
    "types must be an event type, a list of them, or null; got 7",
  ],
];

const UNREADABLE: unknown = new Proxy([], {
  get: () => {
    throw new Error("gone");
  },
});

function withHole(first: unknown): unknown[] {
  return Object.assign(new Array<unknown>(2), { 0: first });
}

function throwing(name: string, object: object = {}): object {
  const get = (): never => {
    throw new Error("gone");
  };
  return Object.defineProperty(object, name, { enumerable: true, get });
}

async function refusalOf(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  return expect.unreachable("nothing was refused");
}

test.each(MISTAKES)("%s is refused, with what to do", async (_mistake, work, message) => {
  const error = await refusalOf(work);
  expect(error).toBeInstanceOf(OptionsError);
  expect((error as OptionsError).message).toBe(message);
});
