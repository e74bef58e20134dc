import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { parseCrontab } from "../../src/cli/engine.ts";
import { importAgenda } from "../../src/cli/import/agenda.ts";
import { importBullmq } from "../../src/cli/import/bullmq.ts";
import { importCrontab } from "../../src/cli/import/crontab.ts";
import type { Imported } from "../../src/cli/import/imported.ts";
import { importKubernetes } from "../../src/cli/import/kubernetes.ts";
import { importPgBoss } from "../../src/cli/import/pg-boss.ts";
import { importSystemd } from "../../src/cli/import/systemd.ts";
import type { Trigger } from "../../src/cron.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { ROOT } from "../package/stage.ts";

/** Rules that were imported fire when the library of the other system says: each for its next 20 fire times. */

const FIRES = 20;
const RULES_MIN = 300;
const FROM_MS = Date.UTC(2027, 0, 1, 10, 17, 5);
const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"] as const;
const clock = new VirtualClock(new Date(FROM_MS));
const settings = { timeZone: "UTC", taskId: undefined, system: undefined, nowMs: FROM_MS, clock };

/** A rule, and the zone that it is read in. */
interface Case {
  readonly rule: string;
  readonly zone: string;
}

/** Rules of public crontabs, and each of them with a step in one day field and a value in the other. */
const CASES: readonly Case[] = [
  ...new Set(
    parseCrontab(readFileSync(join(ROOT, "test/cli/public.crontab"), "utf8"), { system: false }).entries.map(
      ({ expression }) => expression,
    ),
  ),
  ...["*/2", "1-31", "*/1", "1/3", "?", "*/2,15"].flatMap((day) =>
    ["1", "*/2", "1/2", "0-7", "5-7", "sun", "MON-fri/2", "7"].map((weekday) => `0 0 ${day} * ${weekday}`),
  ),
  ...["@minutely", "@secondly", "@weekdays", "@weekends", "@hourly", "@Daily", "@midnight", "*/90 * * * *"],
  ...["15 30 9 * * 1-5", "*/20 * 9 * * *", "0 0 L * *", "0 0 1,L * *", "0 0 * * 5L", "0 0 * * 1,5L", "0 0 * * fri#2"],
].map((rule, index) => ({ rule, zone: ZONES[(index >> 1) % ZONES.length] ?? "UTC" }));
/** So many of them are public. */
const PUBLIC = 800;

function firesOf(trigger: Trigger, fromMs = FROM_MS, count = FIRES): string[] {
  const fires: string[] = [];
  for (let at = trigger.nextMs(fromMs); at !== null && fires.length < count; at = trigger.nextMs(at)) {
    fires.push(new Date(at).toISOString());
  }
  return fires;
}

interface CronParser {
  readonly CronExpressionParser: {
    parse(text: string, options: object): { take(count: number): readonly { toDate(): Date }[] };
  };
}

/** What cron-parser says, in the version that a package finds; null for a rule that it refuses. */
function cronParserOf(name: string): (one: Case, fromMs?: number, count?: number) => string[] | null {
  const entry = createRequire(join(ROOT, "package.json")).resolve(name);
  const { CronExpressionParser } = createRequire(entry)("cron-parser") as CronParser;
  return ({ rule, zone }, fromMs = FROM_MS, count = FIRES) => {
    try {
      const fires = CronExpressionParser.parse(rule, { tz: zone, currentDate: new Date(fromMs) });
      return fires.take(count).map((at) => at.toDate().toISOString());
    } catch {
      return null;
    }
  };
}

type Read = (cases: readonly Case[]) => Promise<Imported>;

const bullmq: Read = (cases) => {
  const schedulers = cases.map(({ rule, zone }, index) => ({ key: `${index}`, name: "a", pattern: rule, tz: zone }));
  return importBullmq({ queue: "q", schedulers }, settings);
};
const pgBoss: Read = (cases) => {
  const schedules = cases.map(({ rule, zone }, index) => ({ name: "q", key: `${index}`, cron: rule, timezone: zone }));
  return importPgBoss({ schedules }, settings);
};
const agenda: Read = (cases) =>
  importAgenda(
    cases.map(({ rule, zone }, index) => {
      return { _id: `${index}`, name: "q", repeatInterval: rule, repeatTimezone: zone };
    }),
    settings,
  );

/** The fire times of what was imported, by the number of the case. */
async function imported(read: Read, cases: readonly Case[], fromMs = FROM_MS, count = FIRES) {
  const { schedules } = await read(cases);
  return new Map(schedules.map(({ id, trigger }) => [Number(id.split("/")[1]), firesOf(trigger, fromMs, count)]));
}

const SOURCES: readonly (readonly [name: string, read: Read])[] = [
  ["bullmq", bullmq],
  ["pg-boss", pgBoss],
  ["agenda", agenda],
];

describe.each(SOURCES)("rules of %s fire as its cron-parser says:", (name, read) => {
  // Half of the public ones, to be quick. Agenda takes nicknames for lengths, which the next test has.
  const half = SOURCES.findIndex(([one]) => one === name) % 2;
  const cases = CASES.filter(({ rule }, index) => {
    return (index % 2 === half || index >= PUBLIC) && !(name === "agenda" && rule.startsWith("@"));
  });
  const theirs = cronParserOf(name);

  test("those of public crontabs, and others", async () => {
    const ours = await imported(read, cases);
    let count = 0;
    for (const [index, one] of cases.entries()) {
      const mine = ours.get(index);
      // cron-parser takes long for what is rare.
      const isRare = Date.parse(mine?.at(-1) ?? "") > Date.UTC(2035, 0);
      const fires = theirs(one, FROM_MS, isRare ? 3 : FIRES);
      // H is another value at each reading there. Fewer words than five are read from the end: that is told instead.
      // A range to a last weekday is a mistake that earlier versions read past.
      const isOdd = /H|-\w+L$|^[^@\s]\S*( \S+){0,3}$/.test(one.rule);
      if (fires === null || isOdd) continue;
      expect([one, mine?.slice(0, fires.length)]).toEqual([one, fires]);
      count++;
    }
    expect(count).toBeGreaterThan(RULES_MIN);
  });

  test.each([
    ["30 2 * * *", "Europe/Berlin"],
    ["0 */2 * * *", "Europe/Berlin"],
    ["*/30 * * * *", "America/New_York"],
    ["30 1-3 * * *", "Europe/Berlin"],
    ["0 9 * * *", "Europe/Berlin"],
    ["*/20 2,3 * * *", "America/New_York"],
    ["15 1 * * sun", "America/New_York"],
  ])("%s in %s, when clocks change", async (rule, zone) => {
    for (const fromMs of [Date.UTC(2027, 2, 12), Date.UTC(2027, 2, 26), Date.UTC(2027, 9, 29), Date.UTC(2027, 10, 5)]) {
      const one = { rule, zone };
      const ours = await imported(read, [one], fromMs, 50);
      expect(ours.get(0)).toEqual(theirs(one, fromMs, 50));
    }
  });
});

test("Agenda takes nicknames for lengths, where they have the name of one", async () => {
  const path = createRequire(join(ROOT, "package.json")).resolve("agenda");
  const file = pathToFileURL(join(path, "../utils/nextRunAt.js")).href;
  const { computeFromInterval } = (await import(/* @vite-ignore */ file)) as {
    computeFromInterval(attributes: object): Date;
  };
  const rules = ["@hourly", "@minutely", "@weekly", "@monthly", "@yearly", "@daily", "@annually", "@secondly"];
  const nextRunAt = new Date(FROM_MS).toISOString();
  const jobs = [...rules, "@weekdays"].map((rule) => {
    return { _id: rule, name: "q", repeatInterval: rule, repeatTimezone: "UTC", nextRunAt };
  });
  const { schedules, queue } = await importAgenda(jobs, settings);
  const theirs = rules.map((rule) => {
    const attributes = { name: "q", repeatInterval: rule, repeatTimezone: "UTC", lastRunAt: new Date(FROM_MS) };
    return computeFromInterval(attributes).toISOString();
  });
  expect(schedules.map(({ trigger }) => firesOf(trigger, FROM_MS, 1)[0])).toEqual(theirs);
  expect(queue?.left.map(({ message }) => message)).toEqual([expect.stringContaining("is a length for Agenda")]);
});

describe("rules of iCalendar of pg-boss fire as it says:", () => {
  test.each([
    ["FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "Europe/Berlin"],
    [
      "DTSTART;TZID=America/New_York:20260101T090000\nRRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;UNTIL=20271231T235959Z",
      "UTC",
    ],
    ["DTSTART:20260101T090000Z\nRRULE:FREQ=DAILY", "Europe/Berlin"],
    ["DTSTART:20260101T230000Z\nRRULE:FREQ=WEEKLY;BYDAY=FR,MO", "Asia/Tokyo"],
    ["dtstart:20260105T080000Z\nrrule:freq=weekly;byday=mo,fr", "America/New_York"],
    ["DTSTART:20260101T090000\r\nRRULE:FREQ=DAILY;BYDAY=MO,TU,\r\n WE\r\n", "Europe/Berlin"],
    ["DTSTART:20260101T090000Z\nRRULE:FREQ=DAILY\nEXDATE:20270103T090000Z,20270104T090000Z", "UTC"],
    ["RRULE:FREQ=DAILY;COUNT=500\nDTSTART;TZID=Europe/Berlin:20260901T023000", "UTC"],
    ["RRULE:FREQ=MONTHLY;BYDAY=2TU;BYHOUR=7", "Europe/Berlin"],
    ["RRULE:FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "Europe/Berlin"],
    ["FREQ=MONTHLY;BYMONTHDAY=31;BYHOUR=8", "UTC"],
    ["FREQ=HOURLY;INTERVAL=6", "UTC"],
    ["DTSTART;VALUE=DATE:20260105\nRRULE:FREQ=WEEKLY", "Europe/Berlin"],
  ])("%j in %s", async (rule, zone) => {
    const path = createRequire(join(ROOT, "package.json")).resolve("pg-boss");
    const { rruleWalker } = (await import(/* @vite-ignore */ pathToFileURL(join(path, "../rrule.js")).href)) as {
      rruleWalker(expression: string, timeZone: string, from: Date): () => Date | null;
    };
    const walk = rruleWalker(rule, zone, new Date(FROM_MS));
    const theirs = Array.from({ length: FIRES }, () => walk()?.toISOString());
    expect((await imported(pgBoss, [{ rule, zone }])).get(0)).toEqual(theirs);
  });

  test("what pg-boss refuses, and parts that are not of RFC 5545, are told", async () => {
    const rules = [
      "DTSTART:20260101T090000Z\nRRULE:FREQ=DAILY;UNTIL=20271231",
      "DTSTART:20261301T090000Z\nRRULE:FREQ=DAILY",
      "DTSTART:20260101T090000Z",
      "FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD",
      "SUMMARY:x\nRRULE:FREQ=DAILY",
    ];
    const { schedules, queue } = await pgBoss(rules.map((rule) => ({ rule, zone: "UTC" })));
    expect([schedules, queue?.left.length]).toEqual([[], rules.length]);
  });
});

/** When something fires that robfig/cron reads. Source: spec_test.go, parser_test.go and constantdelay_test.go of its
 *  version 3, without the field of seconds that some of those rules have there, and which are 0. */
const ROBFIG: readonly (readonly [rule: string, from: string, next: string | null])[] = [
  ["0/15 * * * *", "2012-07-09T14:45:00Z", "2012-07-09T15:00:00Z"],
  ["5/15 * * * *", "2012-07-09T15:05:00Z", "2012-07-09T15:20:00Z"],
  ["20-35/15 * * * *", "2012-07-09T15:45:00Z", "2012-07-09T16:20:00Z"],
  ["*/15 * * * *", "2012-07-09T23:46:00Z", "2012-07-10T00:00:00Z"],
  ["20-35/15 1/2 */2 * *", "2012-07-09T23:35:51Z", "2012-07-11T01:20:00Z"],
  ["20-35/15 * 9-20 Jul *", "2012-07-09T23:35:51Z", "2012-07-10T00:20:00Z"],
  ["0 0 */5 Apr,Aug,Oct Mon", "2012-07-09T23:35:00Z", "2012-08-01T00:00:00Z"],
  ["0 0 */5 Oct Mon", "2012-07-09T23:35:00Z", "2012-10-01T00:00:00Z"],
  ["0 0 * Feb Mon", "2012-07-09T23:35:00Z", "2013-02-04T00:00:00Z"],
  ["0 0 * Feb Mon/2", "2012-07-09T23:35:00Z", "2013-02-01T00:00:00Z"],
  ["0 0 29 Feb ?", "2012-07-09T23:35:00Z", "2016-02-29T00:00:00Z"],
  ["30 08 ? Jul Sun", "2012-07-14T00:00:00Z", "2012-07-15T08:30:00Z"],
  ["30 08 15 Jul ?", "2012-07-14T00:00:00Z", "2012-07-15T08:30:00Z"],
  ["0 0 1,15 * Sun", "2012-07-14T00:00:00Z", "2012-07-15T00:00:00Z"],
  ["0 0 1,15 * Sun", "2012-07-30T00:00:00Z", "2012-08-01T00:00:00Z"],
  ["0 0 */10 * Sun", "2012-07-14T00:00:00Z", "2012-07-15T00:00:00Z"],
  ["@hourly", "2012-07-09T14:59:00Z", "2012-07-09T15:00:00Z"],
  ["@weekly", "2012-07-07T00:00:00Z", "2012-07-08T00:00:00Z"],
  ["@monthly", "2012-06-30T00:00:00Z", "2012-07-01T00:00:00Z"],
  ["TZ=America/New_York 30 2 11 Mar ?", "2012-03-11T05:00:00Z", "2013-03-11T06:30:00Z"],
  ["CRON_TZ=America/New_York 0 * * * ?", "2012-03-11T06:00:00Z", "2012-03-11T07:00:00Z"],
  ["TZ=America/New_York 0 2 * * ?", "2012-03-11T05:00:00Z", "2012-03-12T06:00:00Z"],
  ["TZ=America/New_York 30 1 04 Nov ?", "2012-11-04T05:45:00Z", "2012-11-04T06:30:00Z"],
  ["TZ=America/New_York 0 1 * * ?", "2012-11-04T04:00:00Z", "2012-11-04T05:00:00Z"],
  ["TZ=America/New_York 0 1 * * ?", "2012-11-04T05:00:00Z", "2012-11-04T06:00:00Z"],
  ["TZ=America/New_York 0 1 * * ?", "2012-11-04T06:00:00Z", "2012-11-05T06:00:00Z"],
  ["TZ=America/New_York 0 3 * * ?", "2012-11-04T04:00:00Z", "2012-11-04T08:00:00Z"],
  ["TZ=America/Sao_Paulo 0 9 10 * ?", "2018-10-17T09:00:00Z", "2018-11-10T11:00:00Z"],
  ["TZ=America/Sao_Paulo 0 9 22 * ?", "2018-02-14T10:00:00Z", "2018-02-22T12:00:00Z"],
  ["14 14 * * ?", "2016-01-03T13:09:03Z", "2016-01-03T14:14:00Z"],
  // Counted from the time at which the CronJob was made.
  ["@every 15m", "2012-07-09T14:45:00Z", "2012-07-09T15:00:00Z"],
  ["@every 35m24s", "2012-07-09T14:45:00Z", "2012-07-09T15:20:24Z"],
  ["@every 44m50s", "2012-12-31T23:00:00Z", "2012-12-31T23:44:50Z"],
  ["@every 15ms", "2012-07-09T14:45:00Z", "2012-07-09T14:45:01Z"],
  ["@every 2.7s", "2012-07-09T14:45:00Z", "2012-07-09T14:45:02Z"],
  ...[
    ...["0 0 30 Feb ?", "0 0 31 Apr ?", "xyz", "60 0 * * *", "0 0 * * XYZ", "TZ=America/New_York 15/0 * * * *"],
    ...["* * * *", "0 0 * * 7", "0 0 0 * * *", "5-3 * * * *", "@Daily", "@minutely", "@every", "@every 5", "@reboot"],
    ...["0 0 L * *", "0 0 * * fri#2", "H 3 * * *", "0 0 * * sat-sun", "TZ=Local 0 0 * * *", "1-2-3 * * * *"],
  ].map((rule) => [rule, "2012-07-09T00:00:00Z", null] as const),
];

test.each(ROBFIG)("Kubernetes reads %j as robfig/cron does", async (rule, from, next) => {
  const nowMs = Date.parse(from);
  const manifest = { kind: "CronJob", metadata: { name: "a", creationTimestamp: from }, spec: { schedule: rule } };
  const { schedules, problems } = await importKubernetes(JSON.stringify(manifest), { ...settings, nowMs });
  const fires = schedules.flatMap(({ trigger }) => firesOf(trigger, nowMs, 1));
  expect([fires, problems.length]).toEqual(next === null ? [[], 1] : [[next.replace("Z", ".000Z")], 0]);
});

test("a star with a step of more than 1 restricts its day field in Kubernetes, and with one of 1 it does not", async () => {
  const rules = ["0 0 */2 * 1", "0 0 1 * */2", "0 0 */1 * 1", "0 0 */2,15 * 1", "0 0 1-31 * 1", "0 0 *,1 * 1"];
  const list = rules.map((schedule, index) => ({
    kind: "CronJob",
    metadata: { name: `${index}` },
    spec: { schedule },
  }));
  const { schedules } = await importKubernetes(JSON.stringify({ kind: "List", items: list }), settings);
  expect(schedules.map(({ trigger }) => trigger.describe().slice("At 00:00, ".length, -", in UTC".length))).toEqual([
    "on every 2nd day from 1 to 31 of the month or Monday",
    "on day 1 of the month or Tuesday, Thursday, Saturday and Sunday",
    "Monday",
    "on every 2nd day from 1 to 31 of the month or Monday",
    "",
    "Monday",
  ]);
});

/** What crontab(5) of Debian says: both day fields restricted is either, unless one of them begins with a star. */
test.each([
  ["0 0 */2 * 1", "At 00:00, on every 2nd day from 1 to 31 of the month if it is Monday, in UTC"],
  ["0 0 1 * */2", "At 00:00, on day 1 of the month if it is Tuesday, Thursday, Saturday and Sunday, in UTC"],
  ["30 4 1,15 * 5", "At 04:30, on days 1 and 15 of the month or Friday, in UTC"],
  ["*/90 * * * *", "Every hour, in UTC"],
  ["0 0 * * 7", "At 00:00, Sunday, in UTC"],
  ["0 0-23/2 * * *", "Every 2 hours, in UTC"],
  ["@midnight", "At 00:00, in UTC"],
  ["5 0 * 8 Mon-Fri", "At 00:05, Monday to Friday, in August, in UTC"],
])("a crontab has %j as cron reads it", async (rule, description) => {
  const { schedules } = await importCrontab(`${rule} job\n`, settings);
  expect(schedules.map(({ trigger }) => trigger.describe())).toEqual([description]);
});

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

/** Timers of Debian's packages, and what systemd.time(7) shows. */
const TIMERS: readonly string[] = [
  ...["daily", "weekly", "*-*-* 6,18:00", "*-*-* 00:00:00", "Sun *-*-* 03:10:00", "*-*-* 06:30", "hourly UTC"],
  ...["*:0/15", "*:00,30", "00:00", "Mon..Fri 22:30", "*-*-1..7 18:00:00", "Sat *-*-1..7 18:00:00", "Mon *-05~07/1"],
  ...["Sat,Thu,Mon..Wed,Sat..Sun", "Mon,Sun 12-*-* 2,1:23", "Wed *-1", "Wed..Wed,Wed *-1", "Wed, 17:48", "10-15"],
  ...["Wed..Sat,Tue 12-10-15 1:2:3", "*-*-7 0:0:0", "monday *-12-* 17:00", "Mon,Fri *-*-3,1,2 *:30:45", "*:2/3"],
  ...["12,14,13,12:20,10,30", "12..14:10,20,30", "mon,fri *-1/2-1,3 *:30:45", "03-05 08:05:40", "08:05:40", "05:40"],
  ...["Sat,Sun 12-05 08:05:40", "2027-02..04-05", "*-02~03", "*-*~1..3", "*-*~07/2", "27-*-01", "semi-annually"],
  ...["2027-03-05 05:40:23.42", "*:0:0.5", "Sat..Mon", "*:*/15", "0/90:00", "5..3:00", "50/15:00", "Mon Fri", "2027"],
  ...["12-10-15", "@1395716396", "@1900000000", "*-*-31", "*-2-29", "Fri *-*-13", "10:00:60", "*-*-* 25:00", ""],
];
const WEEKDAYS = ["", "Mon", "Mon..Fri", "sat,Sunday", "Tue-Thu,Sun", "Fri, "];
const DATES = ["", "*-*-*", "*-*-01", "*-1/3-15", "*-*~02", "27-*-10..20/3"];
const TIMES = ["", "02:30", "*:05", "1/6:00", "9..17:0/20", "*:*:30", "2,3:15,45", "00:00:00"];

/** What one call says of all of them: the instants of each, but for those that it cannot read. */
function elapsesBySystemd(expressions: readonly string[]): Map<string, string[]> {
  const argv = ["calendar", `--iterations=${FIRES}`, "--base-time=2027-03-27 10:17:05 UTC", ...expressions];
  const { stdout, stderr } = spawnSync("systemd-analyze", argv, {
    encoding: "utf8",
    maxBuffer: 1e8,
    env: { TZ: "UTC", PATH: "/usr/bin:/bin" },
  });
  const refused = new Set([...stderr.matchAll(/^Failed to parse calendar \w+ '(.*)'/gm)].map(([, one]) => one));
  const read = expressions.filter((one) => !refused.has(one));
  const blocks = stdout.split("Normalized form:").slice(1);
  expect(blocks).toHaveLength(read.length);
  return new Map(
    read.map((one, index) => {
      const lines = blocks[index]?.matchAll(/(?:Next elapse|Iter\. #\d+|Iteration #\d+): \w+ (\S+) (\S+) UTC/g) ?? [];
      return [one, [...lines].map(([, date, time]) => `${date}T${time}.000Z`)];
    }),
  );
}

test("timers elapse as systemd-analyze says", async ({ skip }) => {
  if (!hasSystemd) return skip("there is no systemd-analyze here (Debian's package systemd)");
  const made = WEEKDAYS.flatMap((weekday) =>
    DATES.flatMap((date) => TIMES.map((time) => [weekday, date, time].filter((part) => part !== "").join(" "))),
  );
  const expressions = [...new Set([...TIMERS, ...made])].map((one, index) => {
    const zone = ["", " Europe/Berlin", " America/New_York"][index % 3] ?? "";
    return one === "" || / [A-Z][^. ]+$/.test(one) ? one : `${one}${zone}`;
  });
  // Before clocks go forward.
  const fromMs = Date.UTC(2027, 2, 27, 10, 17, 5);
  const text = expressions.map((one) => `OnCalendar=${one || "never"}\n`).join("");
  const { schedules } = await importSystemd(text, { ...settings, nowMs: fromMs });
  const ours = new Map(schedules.map(({ where, trigger }) => [where, firesOf(trigger, fromMs)]));
  const elapses = elapsesBySystemd(expressions.filter((one) => one !== ""));
  let count = 0;
  for (const [index, one] of expressions.entries()) {
    const fires = ours.get(`line ${index + 1}`) ?? null;
    const theirs = elapses.get(one) ?? null;
    // Parts of a second do not map, and are told.
    if (/:\d+\.\d+( |$)/.test(one)) expect([one, fires]).toEqual([one, null]);
    // A date on another weekday never comes: that is told.
    else if (theirs?.length === 0) expect([one, fires ?? []]).toEqual([one, []]);
    else expect([one, fires]).toEqual([one, theirs]);
    if (theirs !== null) count++;
  }
  expect(count).toBeGreaterThan(RULES_MIN);
});
