import { createRequire } from "node:module";
import { join } from "node:path";
import { Cron } from "croner";
import cron from "node-cron";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CronTrigger } from "../../src/cron.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { RedisServer } from "../support/redis-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { NO_APSCHEDULER, originals, pythonWithAPScheduler, runOriginal } from "./originals.ts";

const timeZone = "Europe/Berlin";
const programs = originals();
const running = programs.filter(({ notRun }) => notRun === null);

describe("the pages of docs/migrate", () => {
  test("have programs of other libraries, most of which run", () => {
    expect(running.map(({ page }) => page)).toEqual([
      ...["agenda.md", "apscheduler-3.md", "bullmq.md", "croner.md", "node-cron.md", "node-schedule.md", "pg-boss.md"],
    ]);
    expect(running.filter(({ expected }) => expected.length === 0)).toEqual([]);
  });

  // All at once, because each of them mostly waits for its clock or its server.
  let printed: Map<string, Promise<string>>;
  let servers: readonly { stop(): Promise<void> }[] = [];
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    folder = await temporaryFolder();
    const [redis, postgres] = await Promise.all([RedisServer.start(), PostgresServer.start()]);
    servers = [redis, postgres];
    const env = { REDIS_URL: redis.url, DATABASE_URL: postgres.url };
    printed = new Map(
      running
        .filter(({ language }) => language === "js" || pythonWithAPScheduler() !== null)
        .map((program) => [program.page, runOriginal(join(folder.path, program.page), program, env)]),
    );
    await Promise.allSettled(printed.values());
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await folder.remove();
  });

  test.each(running)("$page: its program of the other library prints what ours prints", async (program) => {
    const output = await printed.get(program.page);
    expect(program.expected.filter((text) => !output?.includes(text))).toEqual([]);
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
