import { describe, expect, test, vi } from "vitest";
import { openByFirst } from "../../src/cli/import/sources.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { call, folderWith } from "./support.ts";

/** As cron-parser does it, which these libraries take. */
const AT_HALF_PAST_TWO =
  "At 02:30, in Europe/Berlin (skipped times fire later by the gap, repeated times fire the first time)";

interface Found {
  readonly schedules: readonly {
    readonly id: string;
    readonly taskId: string;
    readonly description: string;
    readonly settings: { readonly paused?: boolean };
    readonly next: string | null;
    readonly notes: readonly string[];
  }[];
  readonly jobs: readonly { readonly taskId: string; readonly settings: object }[];
  readonly pausedTaskIds: readonly string[];
  readonly left: readonly { readonly where: string; readonly message: string }[];
  readonly notes: readonly string[];
}

async function dryRun(from: string, value: unknown, ...more: string[]): Promise<Found & { code: number }> {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  await using folder = await folderWith({ "jobs.json": text });
  const argv = ["import", "jobs.json", "--from", from, "--dry-run", "--json", "--tz", "Europe/Berlin", ...more];
  const { code, out } = await call(argv, { cwd: folder.path });
  return { code, ...(JSON.parse(out.join("\n")) as Found) };
}

/** Ids, rules and settings of schedules, and what stays behind. */
async function gist(from: string, value: unknown): Promise<object> {
  const { schedules, left } = await dryRun(from, value);
  return {
    schedules: Object.fromEntries(schedules.map(({ id, description, settings }) => [id, [description, settings]])),
    left: left.map(({ message }) => message),
  };
}

describe("escapement import --from pgboss", () => {
  test("takes schedules and waiting jobs of a file over", async () => {
    const found = await dryRun("pgboss", {
      schedules: [
        { name: "report", key: "", cron: "30 2 * * *", timezone: "Europe/Berlin", data: { to: "Ada" } },
        { name: "report", key: "often", cron: "*/5 * * * *", options: { missed: "once", priority: 2, retryLimit: 3 } },
        { name: "week", kind: "rrule", cron: "FREQ=WEEKLY;BYDAY=FR;BYHOUR=17", timezone: "Europe/Berlin" },
      ],
      jobs: [
        { id: "a", name: "mail", state: "created", data: { n: 1 }, retryLimit: 2, retryDelay: 5, priority: 3 },
        {
          id: "b",
          name: "mail",
          state: "retry",
          retryLimit: 2,
          retryCount: 0,
          retryBackoff: true,
          startAfter: "2030-01-01",
        },
        { id: "c", name: "mail", state: "completed" },
        { id: "d", name: "__pgboss__send-it", state: "created" },
        { id: "e", name: "mail", state: "created", blocked: true, pendingDependencies: 1 },
      ],
    });
    expect(found.schedules).toMatchObject([
      {
        id: "report",
        taskId: "report",
        description: AT_HALF_PAST_TWO,
        settings: { payload: { to: "Ada" }, catchUp: { maxAge: "1m" } },
      },
      {
        id: "report/often",
        description: "Every 5 minutes, in UTC",
        settings: { priority: 2 },
        notes: ["retryLimit and retryDelay are the task's retry"],
      },
      { id: "week", next: "2027-01-01T17:00:00+01:00", notes: ["programs on this store import escapement/rrule"] },
    ]);
    expect(found.jobs.map(({ taskId, settings }) => ({ taskId, ...settings }))).toEqual([
      {
        taskId: "mail",
        idempotencyKey: "pgboss/a",
        payload: { n: 1 },
        priority: 3,
        retry: { maxAttempts: 3, backoff: { initial: "5000ms", factor: 1, jitter: "none" } },
      },
      {
        taskId: "mail",
        idempotencyKey: "pgboss/b",
        runAt: "2030-01-01T00:00:00.000Z",
        retry: { maxAttempts: 2, backoff: { initial: "1s", factor: 2, jitter: "full" } },
      },
    ]);
    expect([found.code, found.left]).toEqual([
      1,
      [{ where: "queue mail, job e", message: "it waits for other jobs: add them anew, with after" }],
    ]);
  });
});

describe("escapement import --from bullmq", () => {
  test("leaves jobs of a file behind that have ended or run, and takes those that wait for another attempt", async () => {
    const job = { name: "send", timestamp: 1_798_700_000_000, opts: { attempts: 3 } };
    const begun = { processedOn: 1_798_700_001_000 };
    const jobs = [
      { ...job, ...begun, id: "done", finishedOn: 1_798_700_002_000, returnvalue: 1 },
      { ...job, id: "failed", finishedOn: 1_798_700_002_000, failedReason: "no" },
      { ...job, ...begun, id: "runs" },
      { ...job, ...begun, id: "runs again", attemptsStarted: 2, attemptsMade: 1 },
      { ...job, ...begun, id: "retried", attemptsStarted: 1, attemptsMade: 1 },
    ];
    const found = await dryRun("bullmq", { queue: "mail", jobs });
    expect(found.jobs).toMatchObject([
      { settings: { idempotencyKey: "bullmq/mail/retried", retry: { maxAttempts: 2 } } },
    ]);
    expect(found.left.map(({ where, message }) => `${where}: ${message}`)).toEqual([
      "queue mail, job done: it has ended",
      "queue mail, job failed: it has ended",
      "queue mail, job runs: it runs: let it end there",
      "queue mail, job runs again: it runs: let it end there",
    ]);
  });

  test("takes job schedulers and waiting jobs over, the pause of a queue too", async () => {
    const found = await dryRun("bullmq", [
      {
        queue: "mail",
        isPaused: true,
        active: 2,
        schedulers: [
          {
            ...{ key: "nightly", name: "report", pattern: "0 30 2 * * *" },
            template: { data: { to: "Ada" }, opts: { priority: 2, attempts: 3 } },
          },
          { key: "poll", name: "poll", every: 60_000, offset: 6815 },
          { key: "few", name: "few", every: 60_000, limit: 5 },
          { key: "own", name: "own" },
        ],
        jobs: [
          { id: "1", name: "welcome", data: [1], opts: { attempts: 4, backoff: { type: "exponential", delay: 500 } } },
          {
            id: "2",
            name: "later",
            data: 5,
            opts: {},
            timestamp: Date.UTC(2027, 0, 1),
            delay: 60_000,
            attemptsMade: 1,
          },
          { id: "repeat:poll:1", name: "poll", data: {}, opts: {}, repeatJobKey: "poll" },
          { id: "3", name: "child", data: {}, opts: {}, parentKey: "bull:a:1" },
        ],
      },
    ]);
    expect(found.schedules).toMatchObject([
      {
        id: "mail/nightly",
        taskId: "mail",
        description: AT_HALF_PAST_TWO,
        settings: { payload: { to: "Ada" }, priority: -2, metadata: { name: "report" } },
        notes: ["attempts and backoff are the task's retry"],
      },
      { id: "mail/poll", next: "2027-01-01T00:00:06.815Z", settings: { metadata: { name: "poll" } } },
    ]);
    expect(found.jobs.map(({ settings }) => settings)).toEqual([
      {
        idempotencyKey: "bullmq/mail/1",
        payload: [1],
        metadata: { name: "welcome" },
        retry: { maxAttempts: 4, backoff: { initial: "500ms", factor: 2, jitter: "none" } },
      },
      {
        idempotencyKey: "bullmq/mail/2",
        payload: 5,
        runAt: "2027-01-01T00:01:00.000Z",
        metadata: { name: "later" },
      },
    ]);
    expect([found.pausedTaskIds, found.left.map(({ where }) => where)]).toEqual([
      ["mail"],
      ["queue mail, job scheduler few", "queue mail, job scheduler own", "queue mail, job 3", "queue mail"],
    ]);
    expect(found.notes).toEqual(["no time zone: read in Europe/Berlin, which --tz changes"]);
  });
});

describe("escapement import --from agenda", () => {
  test("takes the lines of mongoexport over", async () => {
    const lines = [
      { _id: { $oid: "65a" }, name: "report", type: "single", repeatInterval: "30 2 * * *", data: { to: "Ada" } },
      { _id: { $oid: "65b" }, name: "mail", nextRunAt: { $date: "2030-01-01T00:00:00Z" }, data: null, priority: 10 },
      { _id: { $oid: "65c" }, name: "mail", nextRunAt: { $date: { $numberLong: "1000" } }, data: 1 },
      { _id: { $oid: "65d" }, name: "mail", nextRunAt: null, lastFinishedAt: { $date: "2026-01-01T00:00:00Z" } },
      { _id: "65e", name: "mail", nextRunAt: "2026-12-31", lockedAt: "2026-12-31", lastRunAt: "2026-12-31" },
      { _id: "65f", name: "off", nextRunAt: "2026-12-31", disabled: true },
    ];
    const found = await dryRun("agenda", lines.map((line) => JSON.stringify(line)).join("\n"));
    expect(found.schedules).toMatchObject([
      {
        id: "report",
        taskId: "report",
        description: AT_HALF_PAST_TWO,
        settings: { payload: { to: "Ada" } },
      },
    ]);
    expect(found.jobs.map(({ settings }) => settings)).toEqual([
      { idempotencyKey: "agenda/mail/65b", runAt: "2030-01-01T00:00:00.000Z", priority: 10 },
      { idempotencyKey: "agenda/mail/65c", payload: 1 },
    ]);
    expect(found.left.map(({ message }) => message)).toEqual([
      "it runs: let it end there",
      "it is disabled, and has no schedule: add it when it may run",
    ]);
    expect(found.notes).toContain("jobs that have ended stay where they are");
  });

  test.each([
    [{ repeatInterval: "3 minutes" }, "Every 3 minutes"],
    [{ repeatInterval: "1 hour and 20 minutes" }, "Every 1 hour and 20 minutes"],
    [{ repeatInterval: "one and a half days" }, null],
    [{ repeatInterval: "a day, 2 hours" }, "Every 1 day and 2 hours"],
    [{ repeatInterval: "1.5 hours" }, "Every 1 hour and 30 minutes"],
    [{ repeatInterval: "90000" }, "Every 1 minute and 30 seconds"],
    [{ repeatInterval: { $numberInt: "500" } }, "Every 500 milliseconds"],
    [{ repeatInterval: "@daily", repeatTimezone: "UTC" }, "At 00:00, in UTC"],
    [{ repeatAt: "3:30pm" }, "At 15:30, in Europe/Berlin"],
    [{ repeatAt: "12am" }, "At 00:00, in Europe/Berlin"],
    [{ repeatAt: "tomorrow at noon" }, null],
    [{ repeatInterval: "1 day", skipDays: [0] }, null],
    [{ repeatInterval: "every now and then" }, null],
    [{ repeatInterval: 0 }, null],
  ])("reads %j", async (repeat, description) => {
    const { schedules, left } = await dryRun("agenda", { jobs: [{ _id: "1", name: "a", ...repeat }] });
    expect([schedules.map((one) => one.description), left.length]).toEqual(
      description === null ? [[], 1] : [[description], 0],
    );
  });
});

/** What its version 3 does when clocks change. */
const AS_IN_3 = " (skipped times fire later by the gap, repeated times fire the second time)";

describe("escapement import --from apscheduler", () => {
  const cron = (fields: Record<string, string>): object => ({
    class: "CronTrigger",
    fields: Object.entries(fields).map(([name, text]) => ({ name, text, default: false })),
    timezone: "Europe/Berlin",
  });
  const jobs = (list: object): object => ({
    apscheduler: 3,
    jobs: Object.entries(list).map(([id, job]) => ({ id, func_ref: "shop:send", args: [], kwargs: {}, ...job })),
  });

  test("takes the jobs of version 3 over", async () => {
    const interval = { class: "IntervalTrigger", interval: 90, start_date: "2026-01-01T00:00:30+01:00" };
    expect(
      await gist("apscheduler3", {
        ...jobs({
          weekdays: { trigger: cron({ day_of_week: "0-4", hour: "9" }), max_instances: 1, misfire_grace_time: 1 },
          nightly: { trigger: cron({ hour: "2", minute: "30" }) },
          poll: { trigger: { ...interval, jitter: 5 }, coalesce: false, kwargs: { to: "Ada" }, next_run_time: null },
          once: {
            trigger: { class: "DateTrigger", run_date: "2030-01-01T09:00:00+01:00" },
            args: ["Ada"],
            name: "One",
          },
          both: { trigger: { class: "OrTrigger", triggers: [cron({ hour: "1" }), cron({ day: "last" })] } },
          lambda: { trigger: cron({ hour: "1" }), func_ref: null },
          decimal: { trigger: cron({ hour: "1" }), args: [{ not_json: "Decimal" }] },
          own: { trigger: { class: "MoonTrigger" } },
        }),
      }),
    ).toEqual({
      schedules: {
        weekdays: ["At 09:00, Monday to Friday, in Europe/Berlin", { overlap: "skip", misfireGraceTime: "1000ms" }],
        nightly: [`At 02:30, in Europe/Berlin${AS_IN_3}`, {}],
        poll: [
          "Every 1 minute and 30 seconds, from 2025-12-31T23:00:30Z",
          { payload: { to: "Ada" }, coalesce: "all", maxJitter: "5000ms", paused: true },
        ],
        once: ["Once, at 2030-01-01T08:00:00Z", { name: "One", payload: { args: ["Ada"] } }],
        both: ["Any of: (At 01:00, in Europe/Berlin), (At 00:00, on the last day of the month, in Europe/Berlin)", {}],
      },
      left: [
        "its function has no name, as a lambda: give it one, or write the task",
        "its arguments have a Decimal, which is no JSON",
        "its trigger is a MoonTrigger, which is the program's own",
      ],
    });
  });

  test.each([
    ["0", "Monday"],
    ["6", "Sunday"],
    ["mon-fri", "Monday to Friday"],
    ["5-6", "Saturday and Sunday"],
    ["*/3", "Monday, Thursday and Sunday"],
    ["1,3", "Tuesday and Thursday"],
    ["mon,sun", "Monday and Sunday"],
  ])("counts the weekday %s from Monday", async (day_of_week, days) => {
    const { schedules } = await dryRun("apscheduler3", jobs({ a: { trigger: cron({ day_of_week }) } }));
    // Sunday comes first in texts of this library.
    const words = (text: string): string[] =>
      text
        .split(/\W+/)
        .filter((word) => /day$/.test(word))
        .sort();
    expect(words(schedules[0]?.description ?? "")).toEqual(words(days));
  });

  test("takes the schedules of version 4 over, and tells the version by itself", async () => {
    const of4 = { task_id: "shop:send", args: [], kwargs: {}, paused: false, coalesce: "latest" };
    const text = JSON.stringify({
      apscheduler: 4,
      schedules: [
        {
          ...{ ...of4, id: "a", coalesce: "all", max_jitter: 2, misfire_grace_time: 60, metadata: { team: "shop" } },
          trigger: { class: "CronTrigger", hour: 9, day_of_week: "0-4", timezone: "Europe/Berlin", minute: null },
        },
        {
          ...{ ...of4, id: "b", paused: true },
          trigger: { class: "IntervalTrigger", hours: 1, minutes: 30, start_time: "2026-01-01T00:00:00+00:00" },
        },
        {
          ...{ ...of4, id: "c" },
          trigger: {
            ...{ class: "CalendarIntervalTrigger", months: 1, hour: 8, minute: 0, second: 0 },
            ...{ start_date: "2026-01-31", end_date: null, timezone: "Europe/Berlin" },
          },
        },
      ],
    });
    await using folder = await folderWith({ "a.json": text });
    const { code, out } = await call(["import", "a.json", "--dry-run", "--json"], { cwd: folder.path });
    const { schedules } = JSON.parse(out.join("\n")) as Found;
    expect([code, schedules.map(({ description, settings }) => [description, settings])]).toEqual([
      0,
      [
        [
          "At 09:00, Monday to Friday, in Europe/Berlin",
          { misfireGraceTime: "60000ms", coalesce: "all", maxJitter: "2000ms", metadata: { team: "shop" } },
        ],
        ["Every 1 hour and 30 minutes, from 2026-01-01T00:00:00Z", { paused: true }],
        [expect.stringMatching(/^Every month on the 31st .* \(skipped times do not fire, /), {}],
      ],
    ]);
  });
});

describe("what is wrong with a file of another library", () => {
  test.each([
    ["pgboss", "{", "the file is no JSON"],
    ["pgboss", '{"a":1}\n{"b"}', "line 2 is no JSON"],
    ["pgboss", "{}", "the file has no schedules of pg-boss"],
    ["pgboss", "5", "the file has no schedules of pg-boss"],
    ["bullmq", "null", "the file has no queue of BullMQ"],
    ["bullmq", '[{"schedulers":[]}]', "the file has no queue of BullMQ"],
    ["agenda", '"x"', "the file has no jobs of Agenda"],
    ["agenda", '[{"title":"x"}]', "the file has no jobs of Agenda"],
    ["apscheduler3", "{}", "the file is not written by export.py"],
    ["apscheduler3", '{"apscheduler":4,"schedules":[]}', "the file is of version 4"],
    ["apscheduler4", '{"apscheduler":5,"schedules":[]}', "the file is of version 5"],
    ["apscheduler3", "(dp0\nVversion\np1\nI1\ns.", "the file is no JSON"],
  ])("is told, and nothing is added: %s %s", async (from, text, message) => {
    await using folder = await folderWith({ "jobs.json": text });
    const argv = ["import", "jobs.json", "--from", from, "--store", "file:jobs.db"];
    const { code, err } = await call(argv, { cwd: folder.path });
    expect([code, err[0]]).toEqual([2, expect.stringContaining(message)]);
  });

  const long = "x".repeat(300);
  const deep = "[".repeat(90_000).concat("]".repeat(90_000));
  test.each([
    ["what is no object", "pgboss", { schedules: [null, 5, [], {}, { name: 1 }] }, 5],
    [
      "rules",
      "pgboss",
      {
        schedules: [
          { name: "a", cron: "x" },
          { name: "b", cron: "FREQ=DAILY;COUNT=x" },
        ],
      },
      2,
    ],
    ["ids", "pgboss", { schedules: [{ name: long, cron: "@daily" }] }, 1],
    ["zones", "pgboss", { schedules: [{ name: "a", cron: "@daily", timezone: "Mars/Olympus" }] }, 1],
    ["numbers", "pgboss", { jobs: [{ name: "a", state: "created", id: "1", priority: "high" }] }, 1],
    ["large payloads", "pgboss", { jobs: [{ name: "a", state: "created", id: "1", data: "x".repeat(1_000_001) }] }, 1],
    ["deep payloads", "agenda", `[{"name":"a","nextRunAt":1,"data":${deep}}]`, 1],
    [
      "periods",
      "bullmq",
      {
        queue: "a",
        schedulers: [
          { key: "k", every: -1 },
          { key: "l", every: 0 },
        ],
      },
      2,
    ],
    ["names and instants", "bullmq", { queue: "a", jobs: [{ id: "1" }, { id: "2", name: "b", timestamp: "x" }] }, 2],
    [
      "repetitions",
      "agenda",
      [
        { name: "a", repeatInterval: "* * *" },
        { name: "b", nextRunAt: "soon" },
      ],
      2,
    ],
    ["triggers", "apscheduler3", { apscheduler: 3, jobs: [{ id: "a" }, { id: "b", func_ref: "m:f", trigger: {} }] }, 2],
  ])("stays behind, item by item: %s of %s", async (_, from, value, count) => {
    const { code, schedules, jobs, left } = await dryRun(from, value);
    expect([code, schedules, jobs, left.length]).toEqual([1, [], [], count]);
  });

  test("does not fill the screen", async () => {
    const schedules = Array.from({ length: 3000 }, () => ({}));
    await using folder = await folderWith({ "jobs.json": JSON.stringify({ schedules }) });
    const { err } = await call(["import", "jobs.json", "--from", "pgboss", "--dry-run"], { cwd: folder.path });
    expect([err.length, err.at(-2)]).toEqual([52, "and 951 more, which --json lists"]);
  });

  test.each([
    ["redis://127.0.0.1:1", "pgboss", "--from pgboss takes a file"],
    ["postgres://127.0.0.1:1/a", "crontab", "--from crontab takes a file"],
  ])("is an address that the system is not on: %s --from %s", async (address, from, message) => {
    const { code, err } = await call(["import", address, "--from", from, "--dry-run"]);
    expect([code, err[0]]).toEqual([2, expect.stringContaining(message)]);
  });

  test("is a package that is not installed", async () => {
    const missing = async (): Promise<never> => {
      throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    };
    const opened = openByFirst(
      "Redis",
      { ioredis: missing, "@redis/client": async () => "by the second" },
      "redis://a",
    );
    expect(await opened).toBe("by the second");
    await expect(openByFirst("Redis", { ioredis: missing }, "redis://a")).rejects.toMatchObject({
      message: "reading Redis needs the package ioredis",
      lines: ["  npm install ioredis"],
    });
  });

  test.each([
    ["redis://:secret@127.0.0.1:1/0", "error: redis://127.0.0.1:1/0 cannot be read: "],
    ["postgres://ada:secret@127.0.0.1:1/a?password=secret", "error: postgres://127.0.0.1:1/a cannot be read: "],
  ])("is a server that does not answer, which exits with 3: %s", async (address, message) => {
    const { code, err } = await call(["import", address, "--dry-run"]);
    expect([code, err[0]?.startsWith(message), err.join("").includes("secret")]).toEqual([3, true, false]);
  });
});

test("escapement import adds what a queue has once, and says what stays behind", async () => {
  const value = {
    schedules: [{ name: "report", key: "", cron: "0 9 * * *" }, { name: "broken" }],
    jobs: [{ id: "1", name: "mail", state: "created", data: { to: "Ada" } }],
  };
  await using folder = await folderWith({ "jobs.json": JSON.stringify(value) });
  const options = { cwd: folder.path };
  const argv = ["import", "jobs.json", "--from", "pgboss", "--store", "file:jobs.db"];
  const done = {
    code: 1,
    out: ["1 schedule and 1 job are there now"],
    err: ["stays behind: schedule broken: cron must be text"],
  };
  expect(await call(argv, options)).toEqual(done);
  const first = await call(["export", "--store", "file:jobs.db"], options);
  expect(await call(argv, options)).toEqual(done);
  const second = await call(["export", "--store", "file:jobs.db"], options);
  const records = (lines: readonly string[]): string[] => lines.filter((line) => !line.includes('"exportedAt"'));
  expect(records(second.out)).toEqual(records(first.out));
  const { out } = await call(["list", "jobs", "--json", "--store", "file:jobs.db"], options);
  expect(JSON.parse(out.join("\n"))).toMatchObject({ items: [{ taskId: "mail", payload: { to: "Ada" } }] });
});

type Schedules = readonly { readonly nextFireTime: string | null; readonly paused: boolean }[];

const AP = { func_ref: "shop:send", args: [], kwargs: {} };
const CRON = { class: "CronTrigger", fields: [{ name: "hour", text: "9", default: false }], timezone: "UTC" };

/** What was read at midnight of 2027. */
test.each([
  ["bullmq", { queue: "q", schedulers: [{ key: "a", every: 86_400_000, offset: 5000 }] }, "2027-01-01T00:00:05Z"],
  ["bullmq", { queue: "q", schedulers: [{ key: "a", every: 7000, startDate: "2020-01-01" }] }, "2027-01-01T00:00:02Z"],
  ["bullmq", { queue: "q", schedulers: [{ key: "a", every: 6e8, next: 1798761599000 }] }, "2026-12-31T23:59:59Z"],
  [
    "bullmq",
    { queue: "q", schedulers: [{ key: "a", pattern: "0 9 * * *", tz: "UTC", startDate: "2020-01-01" }] },
    "2027-01-01T09:00:00Z",
  ],
  [
    "pgboss",
    { schedules: [{ name: "a", cron: "DTSTART:20200101T090000Z\nRRULE:FREQ=DAILY" }] },
    "2027-01-01T09:00:00Z",
  ],
  [
    "agenda",
    [{ _id: "1", name: "a", repeatInterval: "1 day", nextRunAt: "2026-12-31T23:00:00Z" }],
    "2026-12-31T23:00:00Z",
  ],
  [
    "agenda",
    [{ _id: "1", name: "a", repeatInterval: "1 day", nextRunAt: "2027-01-01T08:00:00Z" }],
    "2027-01-01T08:00:00Z",
  ],
  [
    "kubernetes",
    { kind: "CronJob", metadata: { creationTimestamp: "2026-12-31T22:30:00Z" }, spec: { schedule: "@every 1h" } },
    "2027-01-01T00:30:00Z",
  ],
  [
    "apscheduler3",
    {
      apscheduler: 3,
      jobs: [
        { ...AP, id: "a", trigger: { class: "IntervalTrigger", interval: 3600, start_date: "2026-01-01T00:10:00Z" } },
      ],
    },
    "2027-01-01T00:10:00Z",
  ],
  [
    "apscheduler3",
    { apscheduler: 3, jobs: [{ ...AP, id: "a", trigger: { ...CRON, start_date: "2026-01-01T00:00:00Z" } }] },
    "2027-01-01T09:00:00Z",
  ],
  [
    "apscheduler4",
    {
      apscheduler: 4,
      schedules: [
        {
          ...{ ...AP, id: "a", task_id: "t", paused: true },
          trigger: { class: "CalendarIntervalTrigger", days: 2, hour: 8, start_date: "2026-12-30", timezone: "UTC" },
        },
      ],
    },
    "2027-01-01T08:00:00Z",
  ],
])("a rule of %s whose start is past goes on from now, in the dry run too: %j", async (system, value, next) => {
  await using folder = await folderWith({ file: JSON.stringify(value) });
  const clock = new VirtualClock("2027-01-01T00:00:00Z");
  const options = { cwd: folder.path, clock };
  const argv = ["import", "file", "--from", system, "--json"];
  const dry = JSON.parse((await call([...argv, "--dry-run"], options)).out.join("\n")) as Found;
  const real = async (): Promise<Schedules> => {
    const { out } = await call([...argv, "--store", "file:jobs.db"], options);
    return (JSON.parse(out.join("\n")) as { readonly schedules: Schedules }).schedules;
  };
  const [added] = await real();
  expect([Date.parse(dry.schedules[0]?.next ?? ""), added]).toMatchObject([
    Date.parse(next),
    { nextFireTime: next, paused: dry.schedules[0]?.settings.paused ?? false },
  ]);
  await clock.advance("3d");
  // What is there already keeps its next fire time.
  expect(await real()).toMatchObject([{ nextFireTime: next, paused: added?.paused }]);
});

test("a file that is no JSON is told before the importer has been loaded, and rejects nothing besides", async () => {
  await using folder = await folderWith({ "jobs.json": "{" });
  vi.resetModules();
  const { code, err } = await call(["import", "jobs.json", "--from", "pgboss", "--dry-run"], { cwd: folder.path });
  expect([code, err[0]]).toEqual([2, expect.stringContaining("the file is no JSON")]);
});

describe("what no store would take", () => {
  test("stays behind, and keeps nothing else from being added", async () => {
    const good = { name: "good", id: "1", state: "created" };
    const value = {
      schedules: [
        { name: "a\0b", cron: "* * * * *" },
        { name: "q", key: "\ud800", cron: "* * * * *" },
        { name: "good", cron: "* * * * *" },
      ],
      jobs: [{ ...good, id: "2", name: "\ud800" }, good, good],
    };
    const dry = await dryRun("pgboss", value);
    await using folder = await folderWith({ "jobs.json": `\ufeff${JSON.stringify(value)}` });
    const argv = ["import", "jobs.json", "--from", "pgboss", "--store", "file:jobs.db", "--json"];
    const { code, out } = await call(argv, { cwd: folder.path });
    const real = JSON.parse(out.join("\n")) as Found;
    expect(code).toBe(1);
    for (const { schedules, jobs, left } of [dry, real]) {
      expect([schedules.map(({ id }) => id), jobs.map(({ taskId }) => taskId)]).toEqual([["good"], ["good"]]);
      expect(left.map(({ message }) => message.replace(/;.*/s, ""))).toEqual([
        "another job has the same id",
        "task id must be text without NUL characters and without halves of surrogate pairs",
        expect.stringContaining("id must be text without NUL"),
        "task id must be text without NUL characters and without halves of surrogate pairs",
      ]);
    }
  });

  test("is an instant beyond all others, and a queue whose name is none", async () => {
    const schedulers = [{ key: "far", every: 2 ** 53 - 1, offset: 2 ** 53 - 2 }];
    const jobs = [{ id: "1", name: "a", timestamp: 8e15, delay: 2 ** 53 - 1 }];
    const { left, pausedTaskIds } = await dryRun("bullmq", [
      { queue: "q", schedulers, jobs },
      { queue: "\0", isPaused: true },
    ]);
    expect([left.map(({ message }) => message), pausedTaskIds]).toEqual([
      [
        ...["it has an instant that cannot be", "it has an instant that cannot be"],
        expect.stringContaining("must be text without NUL"),
      ],
      [],
    ]);
  });

  test("ids differ, also where one has the number that another one would get", async () => {
    const schedules = ["a", "a", "a-2"].map((name) => ({ name, cron: "* * * * *" }));
    const found = await dryRun("pgboss", { schedules });
    expect(found.schedules.map(({ id }) => id)).toEqual(["a", "a-2", "a-2-2"]);
  });

  test.each([
    ["agenda", [{ _id: "1", name: "a", repeatInterval: "1 hour" }, { _id: "2", repeatInterval: "1 hour" }, 7]],
    ["bullmq", [{ schedulers: [] }, { queue: "a", schedulers: [{ key: "k", every: 1000 }] }, 7]],
    ["bullmq", [{ queue: "a", schedulers: [{ key: "k", every: 1000 }] }, { queue: "b", active: "many" }, null]],
    ["pgboss", { schedules: [{ name: "a", cron: "0 3 * * *" }, { cron: "0 3 * * *" }, null] }],
  ])("the rest of what %s has is imported beside what cannot be told from anything: %j", async (system, value) => {
    const { schedules, left } = await dryRun(system, value);
    expect([schedules.length, left.length]).toEqual([1, 2]);
  });

  test("jobs of Agenda without an id are told, and not taken for one job", async () => {
    const { jobs, left } = await dryRun("agenda", [{ name: "mail", nextRunAt: "2030-01-01" }]);
    expect([jobs, left.map(({ message }) => message)]).toEqual([
      [],
      ["it has no _id, by which it would be added once"],
    ]);
  });

  test("a named argument does not replace those by position", async () => {
    const trigger = { class: "IntervalTrigger", interval: 60 };
    const job = { id: "a", func_ref: "m:f", args: [1], kwargs: { args: 2 }, trigger };
    const { left } = await dryRun("apscheduler3", { apscheduler: 3, jobs: [job] });
    expect(left.map(({ message }) => message)).toEqual([expect.stringContaining("positional arguments")]);
  });

  test("is a trigger within twenty thousand others", async () => {
    const [open, close] = ['{"class":"OrTrigger","triggers":[', "]}"].map((text) => text.repeat(20_000));
    const job = `{"id":"a","func_ref":"m:f","trigger":${open}${close}}`;
    const { left } = await dryRun("apscheduler3", `{"apscheduler":3,"jobs":[${job}]}`);
    expect(left).toEqual([{ where: "job a", message: "is nested too deeply" }]);
  });
});
