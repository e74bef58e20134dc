import * as v from "valibot";
import { expect, test } from "vitest";
import {
  CronSyntaxError,
  CronTrigger,
  DateTrigger,
  type EscapementError,
  IntervalTrigger,
  MemoryDataStore,
  OptionsError,
  PayloadError,
  Scheduler,
  SchedulerStateError,
  SerializationError,
  TaskLookupError,
} from "../../src/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { rejectionOf, setUp } from "./support.ts";

// What a newcomer gets wrong in the first hours, and what the library says. option-messages.test.ts has more options.

/** A program without types: whatever is passed arrives. */
type Untyped = (...given: unknown[]) => unknown;
type Loose = Readonly<Record<string, Untyped>>;
const make = (of: unknown, ...given: unknown[]): unknown => Reflect.construct(of as Untyped, given);

/** A scheduler with a task `x`, without types. */
function loose(): { s: Loose; x: unknown } {
  const { scheduler } = setUp();
  return { s: scheduler as unknown as Loose, x: scheduler.task("x", () => 1) };
}

const add = (options: unknown): unknown => {
  const { s, x } = loose();
  return s.addJob?.call(s, x, options);
};
const call = (verb: string, ...given: unknown[]): unknown => {
  const { s } = loose();
  return s[verb]?.call(s, ...given);
};
const settings = (given: unknown): unknown => call("task", "x", given, () => 1);
const loop: Record<string, unknown> = {};
loop.self = loop;

type ErrorClass = abstract new (...given: never[]) => EscapementError;
type Mistake = readonly [mistake: string, work: () => unknown, errorClass: ErrorClass, code: string, message: string];

const lossless = "cannot be carried as JSON without loss; convert it, or give the data store a DevalueSerializer";
const notStored = 'the payload of task "x" cannot be stored:';
const noInstant = "must be a Temporal.Instant, a Temporal.ZonedDateTime, a Date or ISO 8601 text with an offset";
const noId = "id must be text of 1 to 256 characters";

const MISTAKES: readonly Mistake[] = [
  [
    "a store in the place of the options",
    () => make(Scheduler, new MemoryDataStore()),
    OptionsError,
    "options",
    "new Scheduler() takes an object of options; got a MemoryDataStore: pass it as { dataStore: store }",
  ],
  [
    "a store under a name in lower case",
    () => make(Scheduler, { datastore: new MemoryDataStore() }),
    OptionsError,
    "options",
    'new Scheduler(): datastore is no option; did you mean "dataStore"?',
  ],
  [
    "a connection in the place of a store",
    () => make(Scheduler, { dataStore: { url: "file:x" } }),
    OptionsError,
    "options",
    'new Scheduler(): dataStore must be a DataStore; got { url: "file:x" }: write new LibsqlDataStore({ url: ... })',
  ],
  [
    "a class in the place of a store",
    () => make(Scheduler, { dataStore: LibsqlDataStore }),
    OptionsError,
    "options",
    "new Scheduler(): dataStore must be a DataStore; got the class LibsqlDataStore: write new LibsqlDataStore(...)",
  ],
  [
    "an address in the place of a connection",
    () => make(LibsqlDataStore, "file:x"),
    OptionsError,
    "options",
    'new LibsqlDataStore(connection) takes { url } or { client }; got "file:x": write { url: "file:x" }',
  ],
  [
    "a typo in the options of a store",
    () => make(LibsqlDataStore, { url: "file:x" }, { tablePrefx: "x_" }),
    OptionsError,
    "options",
    'new LibsqlDataStore(connection, options): tablePrefx is no option; did you mean "tablePrefix"?',
  ],
  [
    "a role that is none",
    () => make(Scheduler, { role: "workers" }),
    OptionsError,
    "options",
    'new Scheduler(): role must be "both", "scheduler" or "worker"; got "workers": did you mean "worker"?',
  ],
  [
    "a handler in the place of an executor",
    () => make(Scheduler, { executors: { thread: () => {} } }),
    OptionsError,
    "options",
    "new Scheduler(): executors.thread must be a JobExecutor; got the function thread: handlers are registered: " +
      "scheduler.task(id, handler)",
  ],
  [
    "no room for any job",
    () => make(Scheduler, { maxConcurrentJobs: 0 }),
    OptionsError,
    "options",
    "new Scheduler(): maxConcurrentJobs must be a whole number of 1 or more; got 0",
  ],
  [
    "a task without a handler",
    () => call("task", "x"),
    OptionsError,
    "options",
    'task "x" needs a handler: task(id, handler) or task(id, settings, handler)',
  ],
  [
    "a task without an id",
    () => call("task", () => 1),
    OptionsError,
    "options",
    `task ${noId}; got a function: a name comes first: task(id, handler)`,
  ],
  [
    "a timeout that is a number",
    () => settings({ timeout: 5000 }),
    OptionsError,
    "options",
    'task "x": timeout must be a duration such as "5m" or { minutes: 5 }; got 5000: a bare number has no unit; ' +
      "write { seconds: 5000 } or { milliseconds: 5000 }",
  ],
  [
    "retries that are an option",
    () => settings({ retries: 3 }),
    OptionsError,
    "options",
    'task "x": retries is no option here; write { retry: { maxAttempts: ... } }',
  ],
  [
    "a retry that is a number",
    () => settings({ retry: 3 }),
    OptionsError,
    "options",
    'task "x": retry must be an object; got 3: write { maxAttempts: 3 }',
  ],
  [
    "a schema that is none",
    () => settings({ schema: { type: "object" } }),
    OptionsError,
    "options",
    'task "x": schema must be a Standard Schema (valibot, zod, arktype, ...); got { type: "object" }',
  ],
  [
    "metadata with a Date",
    () => settings({ metadata: { since: new Date(0) } }),
    OptionsError,
    "options",
    'task "x": metadata must be an object of JSON data: an object of class Date at since cannot be carried as JSON ' +
      "without loss; write date.toISOString()",
  ],
  [
    "a bound function as a task",
    () => call("addJob", function send() {}.bind(null)),
    OptionsError,
    "options",
    'the bound function "bound send" has no name of its own; register it: scheduler.task("send", handler)',
  ],
  [
    "an anonymous function as a task",
    () => call("addJob", (() => () => {})()),
    OptionsError,
    "options",
    "an anonymous function has no name to be found by; register it: scheduler.task(id, handler)",
  ],
  [
    "the trigger before the task",
    () => call("addSchedule", new IntervalTrigger({ minutes: 1 }), "x"),
    OptionsError,
    "options",
    "addSchedule(): task must be a task, its id or a named function; got an IntervalTrigger: the task comes first, " +
      "then the trigger",
  ],
  [
    "a crontab in an object by another name",
    () => call("addSchedule", "x", { expression: "0 9 * * *" }),
    OptionsError,
    "options",
    "addSchedule(): trigger must be crontab text, { cron }, { every }, { at } or the JSON of a trigger; got " +
      '{ expression: "0 9 * * *" }: write { cron: "0 9 * * *" }',
  ],
  [
    "a time zone among the options of a schedule",
    () => call("addSchedule", "x", "0 9 * * *", { timeZone: "Europe/Berlin" }),
    OptionsError,
    "options",
    "addSchedule(): timeZone is no option here; it belongs to the trigger: CronTrigger.fromCrontab(text, " +
      "{ timeZone }), or to new Scheduler({ timeZone }), for crontab text",
  ],
  [
    "a crontab with 4 fields",
    () => call("addSchedule", "x", "0 9 * *"),
    CronSyntaxError,
    "cronSyntax",
    '"0 9 * *" has 4 fields, not 5, 6 or 7; did you mean "0 9 * * *"?',
  ],
  [
    "a minute that no clock shows",
    () => CronTrigger.fromCrontab("61 9 * * *"),
    CronSyntaxError,
    "cronSyntax",
    'minute "61" is outside 0-59 (position 0 in "61 9 * * *"); minute takes 0-59, and ranges, steps and lists of them',
  ],
  [
    "an hour that no clock shows",
    () => CronTrigger.fromCrontab("0 9-25 * * *"),
    CronSyntaxError,
    "cronSyntax",
    'hour "9-25" is outside 0-23 (position 2 in "0 9-25 * * *"); hour takes 0-23, and ranges, steps and lists of them',
  ],
  [
    "a step that is too large",
    () => CronTrigger.fromCrontab("*/90 * * * *"),
    CronSyntaxError,
    "cronSyntax",
    'minute "*/90" has a step larger than its range of 59 (position 0 in "*/90 * * * *"); write "0" for that value alone',
  ],
  [
    "every second Friday as a step",
    () => CronTrigger.fromCrontab("0 9 * * fri/2"),
    CronSyntaxError,
    "cronSyntax",
    'dayOfWeek "fri/2" has a step larger than its range of 1 (position 8 in "0 9 * * fri/2"); write "fri" for that ' +
      "value alone; every second week is new CalendarIntervalTrigger({ weeks: 2, startDate })",
  ],
  [
    "a time zone in the place of the options",
    () => make(CronTrigger, "0 9 * * *", "Europe/Berlin"),
    OptionsError,
    "options",
    'CronTrigger takes an object of options; got "Europe/Berlin": write { timeZone: "Europe/Berlin" }',
  ],
  [
    "a time zone in lower case",
    () => make(CronTrigger, { hour: 9 }, { timezone: "Europe/Berlin" }),
    OptionsError,
    "options",
    'CronTrigger: timezone is no option; did you mean "timeZone"?',
  ],
  [
    "a mistyped time zone among the fields",
    () => make(CronTrigger, { hour: 9, timezone: "Europe/Berlin" }),
    CronSyntaxError,
    "cronSyntax",
    '"timezone" is not a cron field; it is an option and comes second: new CronTrigger(fields, { timeZone })',
  ],
  [
    "a time zone among the fields",
    () => make(CronTrigger, { hour: 9, timeZone: "Europe/Berlin" }),
    CronSyntaxError,
    "cronSyntax",
    '"timeZone" is not a cron field; it is an option and comes second: new CronTrigger(fields, { timeZone })',
  ],
  [
    "no field",
    () => make(CronTrigger, {}),
    CronSyntaxError,
    "cronSyntax",
    "no field is set; give at least one, such as { hour: 9 }",
  ],
  [
    "a period that is a number",
    () => make(IntervalTrigger, 5000),
    OptionsError,
    "options",
    "IntervalTrigger takes an object of options; got 5000: write { seconds: 5000 } or { milliseconds: 5000 }",
  ],
  [
    "a unit in the singular",
    () => make(IntervalTrigger, { minute: 5 }),
    OptionsError,
    "options",
    'IntervalTrigger: minute is no option; did you mean "minutes"?',
  ],
  [
    "a period below zero",
    () => make(IntervalTrigger, { seconds: -5 }),
    OptionsError,
    "options",
    "IntervalTrigger: seconds must be a number of 0 or more; got -5",
  ],
  [
    "a unit that is text",
    () => make(IntervalTrigger, { seconds: "5" }),
    OptionsError,
    "options",
    'IntervalTrigger: seconds must be a number of 0 or more; got "5"',
  ],
  [
    "a word for a date",
    () => make(DateTrigger, "tomorrow"),
    OptionsError,
    "options",
    'DateTrigger: runTime must be ISO 8601 text with an offset, such as "2030-01-31T09:00:00Z" or ' +
      '"2030-01-31T09:00:00+01:00[Europe/Berlin]"; got "tomorrow"',
  ],
  [
    "a date that is none",
    () => make(DateTrigger, new Date("nope")),
    OptionsError,
    "options",
    "DateTrigger: runTime must be a valid date; got an invalid Date",
  ],
  [
    "a time of the wall clock without its zone",
    () => make(DateTrigger, "2030-01-01 09:00"),
    OptionsError,
    "options",
    'DateTrigger: runTime must be an instant; or a civil time, together with its time zone; got "2030-01-01 09:00": ' +
      'write new DateTrigger("2030-01-01 09:00:00", { timeZone: "Europe/Berlin" })',
  ],
  [
    "a payload of a class",
    () => add({ payload: new URL("http://x") }),
    SerializationError,
    "serialization",
    `${notStored} an object of class URL at the top level ${lossless}`,
  ],
  [
    "a payload with a function",
    () => add({ payload: { cb: () => {} } }),
    SerializationError,
    "serialization",
    `${notStored} a value of type function at cb cannot be carried as JSON without loss; ` +
      "leave it out, or pass data in its place",
  ],
  [
    "a payload with undefined in a list",
    () => add({ payload: [undefined] }),
    SerializationError,
    "serialization",
    `${notStored} a value of type undefined at [0] ${lossless}`,
  ],
  [
    "a payload with a bigint",
    () => add({ payload: { n: 1n } }),
    SerializationError,
    "serialization",
    `${notStored} a value of type bigint at n ${lossless}`,
  ],
  [
    "a payload with a cycle",
    () => add({ payload: loop }),
    SerializationError,
    "serialization",
    `${notStored} a cycle at self ${lossless}`,
  ],
  [
    "a payload that the schema refuses",
    () => {
      const { s } = loose();
      const schema = v.object({ to: v.string(), n: v.array(v.number("no number")) });
      const task = s.task?.call(s, "x", { schema }, () => 1);
      return s.addJob?.call(s, task, { payload: { to: "ada", n: [1, "2"] } });
    },
    PayloadError,
    "payload",
    'the payload of task "x" is not valid: n.1: no number',
  ],
  [
    "a payload in the place of the options",
    () => add({ name: "Ada" }),
    OptionsError,
    "options",
    "addJob(): name is no option here; what the handler gets is passed as { payload: { name: ... } }",
  ],
  [
    "text in the place of the options",
    () => add("text"),
    OptionsError,
    "options",
    'addJob() takes an object of options; got "text": what the handler gets is passed as { payload: ... }',
  ],
  [
    "a delay without a unit",
    () => add({ delay: 5000 }),
    OptionsError,
    "options",
    'addJob(): delay must be a duration such as "5m" or { minutes: 5 }; got 5000: a bare number has no unit; ' +
      "write { seconds: 5000 } or { milliseconds: 5000 }",
  ],
  [
    "a run time in epoch milliseconds",
    () => add({ runAt: 1_893_456_000_000 }),
    OptionsError,
    "options",
    `addJob(): runAt ${noInstant}; got 1893456000000: write new Date(1893456000000)`,
  ],
  [
    "no task",
    () => call("addJob", undefined),
    OptionsError,
    "options",
    "the task must be a task, its id or a named function; got undefined",
  ],
  [
    "a task of another scheduler",
    () =>
      call(
        "addJob",
        setUp().scheduler.task("y", () => 1),
      ),
    TaskLookupError,
    "taskLookup",
    'no task "y" is known here or in the data store; register it before it is used: scheduler.task("y", handler)',
  ],
  [
    "too large a page",
    () => call("getJobs", { limit: 5000 }),
    OptionsError,
    "options",
    "getJobs(): limit must be a whole number from 1 to 1000; got 5000",
  ],
  [
    "a filter by a shorter name",
    () => call("getJobs", { task: "x" }),
    OptionsError,
    "options",
    'getJobs(): task is no option; did you mean "taskId"?',
  ],
  [
    "a schedule in the place of its id",
    async () => {
      const { s } = loose();
      const schedule = await s.addSchedule?.call(s, "x", "@daily");
      return s.pauseSchedule?.call(s, schedule);
    },
    OptionsError,
    "options",
    `schedule ${noId}; got a Schedule: pass its id`,
  ],
  ...["getJobResult", "cancelJob"].map(
    (verb): Mistake => [
      `a job in the place of its id, for ${verb}`,
      async () => {
        const { s } = loose();
        const job = await s.addJob?.call(s, "x");
        return s[verb]?.call(s, job);
      },
      OptionsError,
      "options",
      `job ${noId}; got a Job: pass its id`,
    ],
  ),
  [
    "a bare number for the preview",
    () => call("previewSchedule", "id", 3),
    OptionsError,
    "options",
    "previewSchedule() takes an object of options; got 3: write { limit: 3 }",
  ],
  [
    "a bare number for the stop",
    () => call("stop", 5000),
    OptionsError,
    "options",
    "stop() takes an object of options; got 5000: write { drainTimeout: { milliseconds: 5000 } }",
  ],
  [
    "a drain time that is a number",
    () => call("stop", { drainTimeout: 5000 }),
    OptionsError,
    "options",
    'stop(): drainTimeout must be a duration such as "5m" or { minutes: 5 }; got 5000: a bare number has no unit; ' +
      "write { seconds: 5000 } or { milliseconds: 5000 }",
  ],
  [
    "an instant that is a number",
    () => call("unpauseSchedule", "a", { resumeFrom: 5 }),
    OptionsError,
    "options",
    `unpauseSchedule(): resumeFrom ${noInstant}; got 5: write new Date(5)`,
  ],
  [
    "a pause before the start",
    () => call("pause"),
    SchedulerStateError,
    "schedulerState",
    "pause() needs a scheduler that is started; this one is stopped",
  ],
];

test.each(MISTAKES)(
  "%s: the error says what is wrong, and what to write",
  async (_, work, errorClass, code, message) => {
    const error = await rejectionOf((async () => work())());
    expect(error).toBeInstanceOf(errorClass);
    expect({ code: Reflect.get(error as object, "code"), message: (error as Error).message }).toEqual({
      code,
      message,
    });
  },
);

test("fractions that rounding and divisions by 0 make fail no job", async () => {
  const { scheduler, log } = setUp();
  const heard: unknown[] = [];
  scheduler.subscribe("jobProgressed", ({ fraction }) => heard.push(fraction));
  scheduler.task("x", (_: undefined, { progress }) => {
    for (const fraction of [-1e-17, 1.0000000000000007, 1.05, 0 / 0, 5 / 0, 0.5]) progress(fraction);
    return "done";
  });
  const job = await scheduler.addJob("x");
  await scheduler.tick();
  expect((await job.result())?.returnValue).toBe("done");
  expect(heard).toEqual([0, 1, 1, 0.5]);
  const told = "progress(): fraction is %s, and is left out: is something divided by 0?";
  expect(log.map(({ message }) => message)).toEqual(
    ["NaN", "Infinity"].map((fraction) => expect.stringContaining(told.replace("%s", fraction))),
  );
});

test("a fraction in percent is refused in the handler, with the fraction", async () => {
  const { scheduler } = setUp();
  const heard: unknown[] = [];
  scheduler.task("x", (_: undefined, { progress }) => {
    try {
      progress(50);
    } catch (error) {
      heard.push((error as Error).message);
    }
  });
  await scheduler.addJob("x");
  await scheduler.tick();
  expect(heard).toEqual(["progress(): fraction must be a number from 0 to 1; got 50: write 0.5 for 50 %"]);
});

test("what newcomers try first works: a time zone of the scheduler, crontab text, short durations", async () => {
  const { scheduler } = setUp({ timeZone: "Europe/Berlin" });
  const task = scheduler.task("x", { timeout: "5m" }, () => 1);
  expect((await scheduler.addSchedule(task, "0 9 * * *")).nextFireTime?.toString()).toBe("2030-01-01T08:00:00Z");
});
