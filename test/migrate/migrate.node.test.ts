import { createRequire } from "node:module";
import { join } from "node:path";
import { Cron } from "croner";
import cron from "node-cron";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { REDIS_CLIENTS, SQL_CLIENTS } from "../../src/cli/import/sources.ts";
import { CronTrigger } from "../../src/cron.ts";
import { call } from "../cli/support.ts";
import { ROOT } from "../package/stage.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { RedisServer } from "../support/redis-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { MAKERS } from "./makers.ts";
import { NO_APSCHEDULER, originals, pythonWithAPScheduler, runOriginal } from "./originals.ts";

const timeZone = "Europe/Berlin";
const programs = originals();
const running = programs.filter(({ notRun }) => notRun === null);

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let redis: RedisServer;
let postgres: PostgresServer;
/** What the programs printed, by their pages and by the names of the makers. */
const printed = new Map<string, Promise<string>>();

// All at once, because each of them mostly waits for its clock or its server.
beforeAll(async () => {
  folder = await temporaryFolder();
  [redis, postgres] = await Promise.all([RedisServer.start(), PostgresServer.start()]);
  const env = { REDIS_URL: redis.url, DATABASE_URL: postgres.url };
  const makers = Object.entries(MAKERS).map(([page, code]) => {
    return { page, code, language: page === "apscheduler3" ? ("python" as const) : ("js" as const) };
  });
  for (const program of [...makers, ...running].filter(({ language }) => !isMissing(language))) {
    const path = join(folder.path, program.page);
    printed.set(program.page, runOriginal(path, program, env, [join(ROOT, "examples/apscheduler")]));
  }
  await Promise.allSettled(printed.values());
});
afterAll(async () => {
  await Promise.all([redis.stop(), postgres.stop()]);
  await folder.remove();
});

function isMissing(language: "js" | "python"): boolean {
  return language === "python" && pythonWithAPScheduler() === null;
}

describe("the pages of docs/migrate", () => {
  test("have programs of other libraries, most of which run", () => {
    expect(running.map(({ page }) => page)).toEqual([
      ...["agenda.md", "apscheduler-3.md", "bullmq.md", "croner.md", "node-cron.md", "node-schedule.md", "pg-boss.md"],
    ]);
    expect(running.filter(({ expected }) => expected.length === 0)).toEqual([]);
  });

  test.for(running)("$page: its program of the other library prints what ours prints", async (program, { skip }) => {
    if (isMissing(program.language)) return skip(NO_APSCHEDULER);
    const output = await printed.get(program.page);
    expect(program.expected.filter((text) => !output?.includes(text))).toEqual([]);
  });
});

interface Found {
  readonly schedules: readonly { readonly id: string; readonly description: string; readonly settings: object }[];
  readonly jobs: readonly { readonly taskId: string; readonly settings: { readonly runAt?: string } }[];
  readonly pausedTaskIds: readonly string[];
  readonly left: readonly { readonly where: string; readonly message: string }[];
}

/** As cron-parser does it, which these libraries take. */
const AT_HALF_PAST_TWO =
  "At 02:30, in Europe/Berlin (skipped times fire later by the gap, repeated times fire the first time)";

/** What `escapement import --dry-run` finds of what a maker left. */
async function leftBy(maker: keyof typeof MAKERS, source: string): Promise<object> {
  await printed.get(maker);
  const argv = ["import", source, "--from", maker, "--dry-run", "--json", "--tz", "Europe/Berlin"];
  const { out, err } = await call(argv, { cwd: join(folder.path, maker), now: "2030-01-01T00:00:00Z" });
  if (out.length === 0) throw new Error(err.join("\n"));
  const { schedules, jobs, pausedTaskIds, left } = JSON.parse(out.join("\n")) as Found;
  return {
    schedules: Object.fromEntries(schedules.map(({ id, description, settings }) => [id, [description, settings]])),
    jobs: jobs.map(({ taskId, settings }) => ({ taskId, ...settings })),
    pausedTaskIds,
    left: left.map(({ message }) => message),
  };
}

describe("escapement import reads what the originals left:", () => {
  test("BullMQ in Redis", async () => {
    const first = { taskId: "mail", metadata: { name: "first" }, payload: { n: 1 } };
    expect(await leftBy("bullmq", `${redis.url}?prefix=moved`)).toEqual({
      schedules: {
        "mail/nightly": [AT_HALF_PAST_TWO, { payload: { to: "Ada" }, priority: -2, metadata: { name: "report" } }],
        "mail/poll": ["Every 1 minute and 30 seconds, from 2040-01-01T00:00:10Z", { metadata: { name: "poll" } }],
      },
      jobs: [
        { ...first, idempotencyKey: expect.stringMatching(/^bullmq\/mail\/\d+$/) },
        { ...first, payload: "text", metadata: { name: "second" }, idempotencyKey: expect.any(String) },
        { ...first, payload: [3], priority: -5, metadata: { name: "urgent" }, idempotencyKey: expect.any(String) },
        {
          ...{ taskId: "mail", payload: { n: 4 }, metadata: { name: "later" }, idempotencyKey: "bullmq/mail/a:b:c" },
          retry: { maxAttempts: 2, backoff: { initial: "500ms", factor: 1, jitter: "none" } },
        },
      ],
      pausedTaskIds: ["mail"],
      left: ["it has a limit of repetitions: give its trigger an endTime, or remove it in the handler"],
    });
  });

  test("pg-boss in PostgreSQL", async () => {
    const job = { taskId: "mail", idempotencyKey: expect.stringMatching(/^pgboss\/[0-9a-f-]{36}$/) };
    const retry = { maxAttempts: 4, backoff: { initial: "5000ms", factor: 2, jitter: "full" } };
    const flow = { maxAttempts: 3, backoff: { initial: "1ms", factor: 1, jitter: "none" } };
    expect(await leftBy("pgboss", `${postgres.url}?schema=moved`)).toEqual({
      schedules: {
        flow: [expect.stringContaining("Every week on Friday at 17:00"), { catchUp: { maxAge: "1m" } }],
        mail: [AT_HALF_PAST_TWO, { payload: { to: "Ada" }, priority: 2, catchUp: { maxAge: "1m" } }],
        "mail/often": ["Every 5 minutes, in UTC", {}],
      },
      jobs: [
        { ...job, payload: { n: 2 }, runAt: "2040-01-01T00:00:00.000Z", retry },
        { ...job, taskId: "flow", retry: flow },
        { ...job, payload: { n: 3 }, retry },
      ],
      pausedTaskIds: [],
      left: ["it waits for other jobs: add them anew, with after", "jobs that run (1): let them end there"],
    });
  });

  test("Agenda, by what queryJobs() gives", async () => {
    const key = (name: string) => expect.stringMatching(new RegExp(`^${name}/[0-9a-f-]{36}$`));
    const found = (await leftBy("agenda", "left.json")) as { schedules: object; jobs: object };
    expect(Object.values(found.schedules)).toEqual([
      ["At 15:30, in Europe/Berlin", { payload: {} }],
      [expect.stringMatching(/^Every 1 hour and 20 minutes, from /), { payload: {} }],
      [AT_HALF_PAST_TWO, { payload: { to: "Ada" } }],
      [expect.stringMatching(/^Every 1 minute and 30 seconds, from /), { payload: {}, paused: true }],
    ]);
    expect(Object.keys(found.schedules)).toEqual([key("daily"), key("extra"), "report", "tick"]);
    expect(found).toMatchObject({
      jobs: expect.arrayContaining([
        { taskId: "mail", idempotencyKey: key("agenda/mail"), payload: { n: 1 }, runAt: "2040-01-01T00:00:00.000Z" },
        { taskId: "mail", idempotencyKey: key("agenda/mail"), payload: { n: 2 } },
      ]),
      left: [],
    });
  });

  test("APScheduler 3, by examples/apscheduler/export.py", async ({ skip }) => {
    if (isMissing("python")) return skip(NO_APSCHEDULER);
    const grace = { misfireGraceTime: "1000ms", overlap: "skip" };
    expect(await leftBy("apscheduler3", "left.json")).toEqual({
      schedules: {
        weekdays: [
          "At 09:00, Monday to Friday, in Europe/Berlin",
          { ...grace, payload: { to: "Ada" }, misfireGraceTime: "60000ms" },
        ],
        sundays: ["At 02:30, Sunday, in UTC", { ...grace, coalesce: "all", paused: true }],
        poll: [
          "Every 1 minute and 30 seconds, from 2025-12-31T23:00:30Z",
          { misfireGraceTime: "1000ms", maxJitter: "5000ms" },
        ],
        once: ["Once, at 2040-01-01T08:00:00Z", { ...grace, payload: { args: ["Alan"] } }],
        both: [expect.stringContaining("Any of: (At 08:00, on the last day of the month"), grace],
      },
      jobs: [],
      pausedTaskIds: [],
      left: ["its arguments have a Decimal, which is no JSON"],
    });
  });

  test.each(Object.entries(SQL_CLIENTS))("by the package %s", async (_, open) => {
    const connection = await open(postgres.url);
    expect(await connection.texts("select current_setting('application_name')")).toEqual(["escapement import"]);
    await connection.close();
  });

  test.each(Object.entries(REDIS_CLIENTS))("by the package %s", async (_, open) => {
    const connection = await open(redis.url);
    expect(await connection.command("HMGET", "no such key", "a", "b")).toEqual([null, null]);
    expect(await connection.command("LRANGE", "no such key", "0", "1")).toEqual([]);
    await connection.close();
  });

  test("and adds it once, however often it is called", async () => {
    await printed.get("bullmq");
    const options = { cwd: folder.path, now: "2030-01-01T00:00:00Z" };
    const argv = ["import", `${redis.url}?prefix=moved`, "--store", "file:jobs.db"];
    const added = { code: 1, out: ["2 schedules and 4 jobs are there now"] };
    expect(await call(argv, options)).toMatchObject(added);
    expect(await call(argv, options)).toMatchObject(added);
    const { out } = await call(["list", "jobs", "--json", "--store", "file:jobs.db"], options);
    const { items } = JSON.parse(out.join("\n")) as { readonly items: readonly { readonly payload: unknown }[] };
    expect(items.map(({ payload }) => payload)).toEqual([{ n: 1 }, "text", [3], { n: 4 }]);
  });
});

/** Whether another library's rule fires, minute by minute. */
function nodeCronTimes(rule: string, from: string, until: string): string[] {
  const task = cron.createTask(rule, () => {}, { timezone: timeZone });
  const times: string[] = [];
  for (let ms = Date.parse(from); ms < Date.parse(until); ms += 60_000) {
    if (task.match(new Date(ms))) times.push(new Date(ms).toISOString());
  }
  return times;
}

function cronParserTimes(rule: string, from: string, until: string): string[] {
  // BullMQ's own; pg-boss and Agenda have a version of it, too.
  const { CronExpressionParser } = createRequire(createRequire(import.meta.url).resolve("bullmq"))("cron-parser");
  return timesUntil(
    CronExpressionParser.parse(rule, { currentDate: new Date(Date.parse(from) - 1), tz: timeZone }),
    until,
  );
}

function timesUntil(rule: { next(): { toISOString(): string | null } }, until: string): string[] {
  const times: string[] = [];
  for (let next = rule.next().toISOString() ?? ""; next < until; next = rule.next().toISOString() ?? "") {
    times.push(next);
  }
  return times;
}

function cronerTimes(rule: string, from: string, until: string): string[] {
  const times = new Cron(rule, { timezone: timeZone }).nextRuns(100, new Date(Date.parse(from) - 1));
  return times.map((time) => time.toISOString()).filter((time) => time < until);
}

const OTHERS = { "node-cron": nodeCronTimes, croner: cronerTimes, "cron-parser": cronParserTimes };
const SPRING = ["2027-03-27T23:00:00.000Z", "2027-03-28T22:00:00.000Z"] as const;
const AUTUMN = ["2027-10-30T22:00:00.000Z", "2027-10-31T23:00:00.000Z"] as const;
const AUGUST = ["2027-08-12T00:00:00.000Z", "2027-08-21T00:00:00.000Z"] as const;

describe("what the pages say about rules of others is so:", () => {
  test.each([
    ["node-cron", "30 2 * * *", SPRING, { dst: { gap: "skip" } }],
    ["node-cron", "30 2 * * *", AUTUMN, { dst: { overlap: "both" } }],
    ["node-cron", "0 9 13 * fri", AUGUST, { dayMatch: "and" }],
    ["croner", "30 2 * * *", SPRING, {}],
    ["croner", "30 2 * * *", AUTUMN, {}],
    ["croner", "*/30 * * * *", SPRING, {}],
    ["croner", "*/30 * * * *", AUTUMN, {}],
    ["croner", "30 2,14 * * *", SPRING, { dst: { gap: "skip" } }],
    ["croner", "0 9 13 * fri", AUGUST, {}],
    ["cron-parser", "30 2 * * *", SPRING, { dst: { gap: "shift" } }],
    ["cron-parser", "30 2 * * *", AUTUMN, {}],
    ["cron-parser", "*/30 * * * *", SPRING, {}],
    ["cron-parser", "0 9 13 * fri", AUGUST, {}],
  ] as const)("%s fires %j as this library does with the options that a page names", (name, rule, span, options) => {
    const [from, until] = span;
    const trigger = CronTrigger.fromCrontab(rule, { timeZone, ...options });
    const ours = Array.from(trigger.expand({ from, limit: 100 }), (ms) => new Date(ms).toISOString());
    expect(OTHERS[name](rule, from, until)).toEqual(ours.filter((time) => time < until));
  });

  test("APScheduler 3 shifts what clocks skip, takes the second of two, and counts weekdays from Monday", async ({
    skip,
  }) => {
    if (pythonWithAPScheduler() === null) return skip(NO_APSCHEDULER);
    const rules = [
      [{ hour: "2", minute: "30" }, SPRING[0]],
      [{ hour: "2", minute: "30" }, AUTUMN[0]],
      [{ day_of_week: "0", hour: "9" }, AUGUST[0]],
      [{ day: "last", hour: "9" }, AUGUST[0]],
    ] as const;
    const code = `
import json, sys
from datetime import datetime, timezone
from apscheduler.triggers.cron import CronTrigger
for fields, at in json.loads(sys.argv[1]):
    now = datetime.fromisoformat(at.replace("Z", "+00:00"))
    next = CronTrigger(timezone="${timeZone}", **fields).get_next_fire_time(None, now)
    print(next.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"))
`;
    const folder = await temporaryFolder();
    const output = await runOriginal(folder.path, { language: "python", code }, {}, [JSON.stringify(rules)]);
    await folder.remove();
    const dst = { gap: "shift", overlap: "second" } as const;
    const ours = [
      new CronTrigger({ hour: 2, minute: 30 }, { timeZone, dst }).next(SPRING[0]),
      new CronTrigger({ hour: 2, minute: 30 }, { timeZone, dst }).next(AUTUMN[0]),
      new CronTrigger({ dayOfWeek: "mon", hour: 9 }, { timeZone }).next(AUGUST[0]),
      new CronTrigger({ day: "L", hour: 9 }, { timeZone }).next(AUGUST[0]),
    ];
    expect(output.trim().split("\n")).toEqual(ours.map((time) => String(time?.toInstant())));
  });
});
