import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseCrontab } from "../../src/cli/engine.ts";
import { importAPScheduler } from "../../src/cli/import/apscheduler.ts";
import type { Trigger } from "../../src/cron.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { clockChanges } from "../../src/triggers/clock-changes.ts";
import { NO_APSCHEDULER, pythonWithAPScheduler } from "../migrate/originals.ts";
import { run } from "../package/run.ts";
import { ROOT } from "../package/stage.ts";
import { folderWith } from "./support.ts";

/** What export.py writes of an APScheduler 3 fires when its triggers say. */

const FIRES = 20;
const RULES_MIN = 300;
const DAY_MS = 86_400_000;
const FROM_MS = Date.UTC(2027, 0, 1, 10, 17, 5);
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"];

/** A trigger by the name and the arguments of its class; a text is one for `CronTrigger.from_crontab`. */
type Made = readonly ["cron" | "interval" | "date" | "and" | "or", Readonly<Record<string, unknown>> | readonly Made[]];

/** Adds a job for each trigger, exports them all, and tells when each of them fires; null for what has no such trigger. */
const PROGRAM = `
import json, sys
from datetime import datetime, timedelta, timezone
from apscheduler.schedulers.background import BackgroundScheduler
from apscheduler.triggers.combining import AndTrigger, OrTrigger
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.date import DateTrigger
from apscheduler.triggers.interval import IntervalTrigger
from export import export_jobs

def made(kind, given):
    if kind in ("and", "or"):
        return (AndTrigger if kind == "and" else OrTrigger)([made(*one) for one in given])
    if "crontab" in given:
        return CronTrigger.from_crontab(given["crontab"], timezone=given["timezone"])
    return {"cron": CronTrigger, "interval": IntervalTrigger, "date": DateTrigger}[kind](**given)

def fires(trigger, start, count):
    found, previous, now = [], None, start
    while len(found) < count:
        previous = trigger.get_next_fire_time(previous, now)
        if previous is None:
            break
        now = previous
        # Later it has no changes of clocks.
        if previous.year > 2036:
            break
        if previous >= start:
            found.append(int(previous.timestamp() * 1000))
    return found

scheduler = BackgroundScheduler(timezone="UTC")
told = []
for index, asked in enumerate(json.load(open("asked.json"))):
    kind, given = asked["made"]
    start = datetime.fromtimestamp(asked["fromMs"] / 1000, timezone.utc)
    try:
        trigger = made(kind, given)
    except ValueError:
        told.append(None)
        continue
    scheduler.add_job(print, trigger, id=str(index))
    # Its AndTrigger never finds a second time where the first ones of its triggers differ.
    told.append(fires(trigger, start, 1 if kind == "and" else asked["count"]))
scheduler.start(paused=True)
export_jobs(scheduler, "jobs.json")
json.dump(told, open("told.json", "w"))
`;

/** A trigger, and the time from which on fire times are asked for. */
interface Asked {
  readonly made: Made;
  readonly fromMs: number;
  readonly count: number;
}

interface Told {
  /** What APScheduler says; null for a trigger that it refuses. */
  readonly theirs: readonly string[] | null;
  readonly ours: readonly string[];
  readonly timeZone: string;
}

/** What both say of triggers, in the order of these. */
async function told(asked: readonly Asked[]): Promise<Told[]> {
  await using folder = await folderWith({
    "asked.json": JSON.stringify(asked),
    "program.py": PROGRAM,
    "export.py": readFileSync(join(ROOT, "examples/apscheduler/export.py"), "utf8"),
  });
  const env = { PYTHONWARNINGS: "ignore" };
  const argv = [pythonWithAPScheduler() ?? "python3", "program.py"];
  const { exitCode, output } = await run(argv, { cwd: folder.path, env });
  if (exitCode !== 0) throw new Error(output);
  const read = (name: string): unknown => JSON.parse(readFileSync(join(folder.path, name), "utf8"));
  const clock = new VirtualClock(new Date(FROM_MS));
  const settings = { timeZone: "UTC", taskId: undefined, system: undefined, nowMs: FROM_MS, clock };
  const { schedules, queue } = await importAPScheduler(read("jobs.json"), 3, settings);
  expect(queue?.left).toEqual([]);
  const triggers = new Map(schedules.map(({ id, trigger }) => [Number(id), trigger]));
  return (read("told.json") as (number[] | null)[]).map((theirs, index) => {
    const trigger = triggers.get(index);
    const { fromMs = 0, count = 0 } = asked[index] ?? {};
    const ours = trigger === undefined ? [] : firesOf(trigger, fromMs, count);
    return { theirs: theirs?.map(iso) ?? null, ours, timeZone: trigger?.timeZone ?? "UTC" };
  });
}

function firesOf(trigger: Trigger, fromMs: number, count: number): string[] {
  const fires: string[] = [];
  for (let at = trigger.nextMs(fromMs - 1); at !== null && fires.length < count; at = trigger.nextMs(at)) {
    fires.push(iso(at));
  }
  return fires;
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** Half of them, to be quick. Of dates that are rare it is slow to find 20. */
const PUBLIC: readonly Made[] = [
  ...new Set(
    parseCrontab(readFileSync(join(ROOT, "test/cli/public.crontab"), "utf8"), { system: false }).entries.map(
      ({ expression }) => expression,
    ),
  ),
]
  .filter((_, index) => index % 2 === 0)
  .filter((rule) => !/^\S+ \S+ (30|31|29)/.test(rule))
  .map((crontab, index) => ["cron", { crontab, timezone: ZONES[(index >> 1) % ZONES.length] }]);
const timezone = "Europe/Berlin";
/** What its user guide and its own tests have, and parts that mean something else here. */
const OTHERS: readonly Made[] = [
  ["cron", { year: "2028/2", timezone }],
  ["cron", { year: "2027-2029", month: "1/3", day: "5-6", timezone }],
  ["cron", { month: "6-8,11-12", day: "3rd fri", hour: "0-3", timezone }],
  ["cron", { month: "jan-mar,dec", day: "last", hour: 12, timezone }],
  ["cron", { day: "last sun", hour: 12, timezone }],
  ["cron", { day: "1st mon,3rd wed,last", timezone }],
  ["cron", { day: "5th fri", timezone }],
  ["cron", { day: "Last", hour: "9", timezone }],
  ["cron", { week: 53, day_of_week: "sun", timezone }],
  ["cron", { week: "1/2", day_of_week: "mon,wed-fri", timezone }],
  ["cron", { week: "*/2", timezone }],
  ["cron", { day_of_week: "0", timezone }],
  ["cron", { day_of_week: "6", hour: 3, timezone }],
  ["cron", { day_of_week: "*/2", hour: 3, timezone }],
  ["cron", { day_of_week: "1/2", hour: 3, timezone }],
  ["cron", { day_of_week: "2-5/2", hour: 3, timezone }],
  ["cron", { day_of_week: "sat-sun", hour: 3, timezone }],
  ["cron", { day_of_week: "MON-Fri", hour: 3, timezone }],
  ["cron", { day: "13", day_of_week: "fri", timezone }],
  ["cron", { day: "1-7", day_of_week: "0", hour: 0, minute: 30, timezone }],
  ["cron", { hour: "*/5", minute: "10/7", timezone }],
  ["cron", { hour: "9-17/3", minute: "0,30", second: "*/20", timezone }],
  ["cron", { second: "*/17", timezone }],
  ["cron", { minute: "5/70", timezone }],
  ["cron", { hour: 8, start_date: "2027-02-01 08:00:00", end_date: "2027-02-05 08:00:00", timezone }],
  ["cron", { hour: "8,20", end_date: "2027-01-03", timezone }],
  ["cron", { month: 2, day: 29, timezone }],
  ["interval", { seconds: 90, start_date: "2027-01-01 00:00:10", timezone }],
  ["interval", { hours: 5, minutes: 7, start_date: "2026-03-01 01:02:03", timezone }],
  ["interval", { days: 1, start_date: "2026-12-01 02:30:00", timezone: "America/New_York" }],
  ["interval", { weeks: 2, start_date: "2027-06-01 12:00:00", timezone }],
  ["interval", { seconds: 0.25, start_date: "2027-01-01 00:00:00", timezone }],
  ["interval", { minutes: 10, start_date: "2026-01-01", end_date: "2027-01-01 12:00:00", timezone }],
  ["date", { run_date: "2027-03-28 01:30:00", timezone }],
  ["date", { run_date: "2027-10-31 02:30:00", timezone }],
  ["date", { run_date: "2027-03-28 02:30:00", timezone }],
  ["date", { run_date: "2027-05-01", timezone: "Asia/Kolkata" }],
  [
    "and",
    [
      ["cron", { day_of_week: "fri", timezone }],
      ["cron", { day: 13, timezone }],
    ],
  ],
  [
    "or",
    [
      ["cron", { hour: 3, timezone }],
      ["cron", { day_of_week: "sun", hour: "3,15", timezone }],
    ],
  ],
];

/** Rules around changes of clocks. */
const CHANGES_MS = [Date.UTC(2027, 2, 13), Date.UTC(2027, 2, 27), Date.UTC(2027, 9, 30), Date.UTC(2027, 10, 6)];
const CHANGING: readonly string[] = [
  ...["30 2 * * *", "0 2 * * *", "0,30 2 * * *", "0 */2 * * *", "30 1-3 * * *", "15 1 * * *", "*/20 2,3 * * *"],
  ...["30 * * * *", "0 * * * *", "*/30 * * * *", "0 1 * * *", "0 3 * * *", "30 0 * * *", "15 2 * * sun"],
];
/** What APScheduler 3.9 loses there: a second time within a gap, the day after a gap, and times of the first of two
 *  equal hours. None of it is lost here. */
const LOST = [
  ...["Europe/Berlin 0,30 2 * * * 2027-03-28T01:30:00.000Z", "Europe/Berlin 30 0 * * * 2027-03-28T22:30:00.000Z"],
  ...["America/New_York 0,30 2 * * * 2027-03-14T07:30:00.000Z", "America/New_York 30 0 * * * 2027-03-15T04:30:00.000Z"],
  ...["Europe/Berlin 30 * * * * 2027-10-31T00:30:00.000Z", "Europe/Berlin */30 * * * * 2027-10-31T00:30:00.000Z"],
  ...["Europe/Berlin */30 * * * * 2027-10-31T01:00:00.000Z", "America/New_York 30 * * * * 2027-11-07T05:30:00.000Z"],
  ...["America/New_York */30 * * * * 2027-11-07T05:30:00.000Z"],
];

describe("what export.py writes of an APScheduler 3 fires when its triggers say:", () => {
  test("cron rules of public crontabs, and triggers of all kinds", async ({ skip }) => {
    if (pythonWithAPScheduler() === null) return skip(NO_APSCHEDULER);
    const all = [...PUBLIC, ...OTHERS];
    let count = 0;
    const answers = await told(all.map((made) => ({ made, fromMs: FROM_MS, count: FIRES })));
    for (const [index, { theirs, ours, timeZone }] of answers.entries()) {
      if (theirs === null) continue;
      const mine = ours.filter((at) => theirs.includes(at) || !isLost(at, timeZone)).slice(0, theirs.length);
      expect([all[index], mine]).toEqual([all[index], theirs.slice(0, mine.length)]);
      expect(mine.length).toBeGreaterThanOrEqual(theirs.length - 1);
      count++;
    }
    expect(count).toBeGreaterThan(RULES_MIN);
  });

  test("rules around changes of clocks, of which it loses some", async ({ skip }) => {
    if (pythonWithAPScheduler() === null) return skip(NO_APSCHEDULER);
    const asked = CHANGES_MS.flatMap((fromMs) =>
      ["Europe/Berlin", "America/New_York"].flatMap((zone) => {
        const interval: Made = ["interval", { minutes: 45, start_date: "2026-12-01 02:30:00", timezone: zone }];
        const daily: Made = ["interval", { days: 1, start_date: "2026-12-01 02:30:00", timezone: zone }];
        const crons = CHANGING.map((crontab): Made => ["cron", { crontab, timezone: zone }]);
        return [interval, daily, ...crons].map((made) => ({ made, fromMs, count: 60 }));
      }),
    );
    const more = new Set<string>();
    for (const [index, { theirs, ours }] of (await told(asked)).entries()) {
      const [, given] = asked[index]?.made ?? [];
      const last = theirs?.at(-1) ?? "";
      expect([given, theirs?.filter((at) => at <= (ours.at(-1) ?? "") && !ours.includes(at))]).toEqual([given, []]);
      const { timezone: zone, crontab } = given as Record<string, string>;
      for (const at of ours) if (at < last && theirs?.includes(at) === false) more.add(`${zone} ${crontab} ${at}`);
    }
    expect([...more].sort()).toEqual([...LOST].sort());
  });
});

/** Whether a time lies in the day after clocks went forward, of which APScheduler 3.9 loses some. */
function isLost(at: string, timeZone: string): boolean {
  const ms = Date.parse(at);
  const changes = [...clockChanges(timeZone, ms - 2 * DAY_MS, ms)];
  return changes.some(({ atMs, shiftMs }) => shiftMs > 0 && ms >= atMs && ms - atMs < 1.1 * DAY_MS);
}
