// What do questions to triggers of all kinds cost, what does a question cost that uses up its budget, and does memory stay
// flat while 20 million triggers are made and dropped? Method and last results: README.md. Run by run.mjs.
import { kernel } from "../src/cron/kernel.ts";
import { CalendarIntervalTrigger } from "../src/triggers/calendar-interval.ts";
import { AndTrigger, OrTrigger } from "../src/triggers/combining.ts";
import { CronTrigger } from "../src/triggers/cron.ts";
import { ExcludingTrigger } from "../src/triggers/excluding.ts";
import { IntervalTrigger } from "../src/triggers/interval.ts";
import { stepsTaken } from "../src/triggers/step-budget.ts";
import type { Trigger } from "../src/triggers/trigger.ts";
import { instantsNear, NOW } from "./lib/instants.ts";
import { loopOver, measure, workDone } from "./lib/measure.ts";
import { formatNs, printTable } from "./lib/table.ts";

const ZONE = "Europe/Berlin";
const ROUNDS = 9;
const MIB = 1024 * 1024;
const startTime = new Date(NOW - 1e9);
const [triggersMade = "20000000"] = process.argv.slice(2).filter((argument) => /^\d+$/.test(argument));
const only = process.argv.slice(2).filter((argument) => /^[a-z]/.test(argument));

section("calendar", timeCalendarIntervals);
section("exclusions", timeExclusions);
section("combined", timeCombined);
section("budget", timeBudget);
await sectionOfMemory();
console.log(`\nchecksum ${workDone().toExponential(3)}`);

function section(name: string, run: () => void): void {
  if (only.length === 0 || only.includes(name)) run();
}

function timeCalendarIntervals(): void {
  const startDate = "2020-01-31";
  timeQuestions("Calendar intervals, instants of one day near the present, a question", [
    ["every day, UTC", new CalendarIntervalTrigger({ days: 1, hour: 9, startDate })],
    ["every day", new CalendarIntervalTrigger({ days: 1, hour: 9, startDate, timeZone: ZONE })],
    ["the 31st of every month", new CalendarIntervalTrigger({ months: 1, hour: 9, startDate, timeZone: ZONE })],
    [
      "every month and a week",
      new CalendarIntervalTrigger({ months: 1, weeks: 1, hour: 9, startDate, timeZone: ZONE }),
    ],
    ["every day, without a start", new CalendarIntervalTrigger({ days: 1, hour: 9, timeZone: ZONE })],
  ]);
}

function timeExclusions(): void {
  const dates = (count: number): string[] =>
    Array.from({ length: count }, (_, index) => new Date((10_957 + 2 * index) * 86_400_000).toISOString().slice(0, 10));
  const hourly = CronTrigger.fromCrontab("0 * * * *", { timeZone: ZONE });
  const interval = new IntervalTrigger({ hours: 1 });
  const weekends = CronTrigger.fromCrontab("* * * * * sat,sun", { timeZone: ZONE });
  timeQuestions("Exclusions, instants of one day near the present, a question", [
    ["hourly, less 10 dates", new ExcludingTrigger(hourly, dates(10))],
    ["hourly, less 10,000 dates", new ExcludingTrigger(hourly, dates(10_000))],
    ["an interval without a start, less 1,000 dates", new ExcludingTrigger(interval, dates(1000), { timeZone: ZONE })],
    ["hourly, less weekends as a trigger", new ExcludingTrigger(hourly, weekends)],
  ]);
}

function timeCombined(): void {
  const nine = CronTrigger.fromCrontab("0 9 * * *", { timeZone: ZONE });
  const seconds = CronTrigger.fromCrontab("* * * * * *");
  timeQuestions("Combined triggers, instants of one day near the present, a question", [
    ["an interval", new IntervalTrigger({ minutes: 90, startTime })],
    ["any of two", new OrTrigger([nine, new CronTrigger({ hour: 17 })])],
    ["every minute and nine o'clock", new AndTrigger([CronTrigger.fromCrontab("* * * * *"), nine])],
    ["every second and every other second", new AndTrigger([seconds, new CronTrigger({ second: "*/2" })])],
  ]);
}

function timeQuestions(title: string, rows: readonly (readonly [name: string, trigger: Trigger])[]): void {
  const near = instantsNear();
  const contestants = rows.flatMap(([name, trigger]) => [
    { name: `${name}, next`, run: loopOver((ms) => trigger.nextMs(ms), near) },
    { name: `${name}, previous`, run: loopOver((ms) => trigger.previousMs(ms), near) },
  ]);
  const timings = new Map(measure(contestants).map(({ name, ns }) => [name, formatNs(ns)]));
  const cells = rows.map(([name]) => [
    name,
    ...["next", "previous"].map((side) => timings.get(`${name}, ${side}`) ?? "-"),
  ]);
  printTable(title, ["Trigger", "nextMs", "previousMs"], cells);
}

/** Questions that find nothing until their budget ends. */
function timeBudget(): void {
  const every = (milliseconds: number, phase = 0) =>
    new IntervalTrigger({ milliseconds, startTime: new Date(startTime.getTime() + phase) });
  const exactly = (...triggers: Trigger[]) => new AndTrigger(triggers, { threshold: "PT0S", maxIterations: 1_000_000 });
  const seconds = CronTrigger.fromCrontab("* * * * * *");
  const monthly = new CalendarIntervalTrigger({ months: 1, hour: 9, startDate: "2026-01-01", timeZone: ZONE });
  let nested = exactly(every(4999), every(5003));
  for (let level = 1; level < 5; level++) nested = exactly(nested, exactly(every(4993), every(5009, level)));
  const questions: readonly (readonly [string, Trigger])[] = [
    ["every second, less every second", new ExcludingTrigger(seconds, seconds)],
    [
      "monthly at nine, less nine o'clock",
      new ExcludingTrigger(monthly, new CronTrigger({ hour: 9 }, { timeZone: ZONE })),
    ],
    ["two intervals that never meet", exactly(every(4999), every(4999, 1))],
    ["meetings of meetings, five levels deep", nested],
    ["intervals that always share times", new AndTrigger([every(10_000), every(10_000, 5000)], { threshold: "PT6S" })],
  ];
  const rows = questions.map(([name, trigger]) => {
    // The first question may read the whole table of a zone, once a process.
    answersFar(trigger);
    const spentMs = Array.from({ length: ROUNDS }, () => {
      const before = process.cpuUsage();
      answersFar(trigger);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    });
    const sorted = spentMs.toSorted((a, b) => a - b);
    const shown = [sorted[ROUNDS >> 1] ?? 0, sorted.at(-1) ?? 0].map((ms) => formatNs(ms * 1e6));
    return [name, Math.round(stepsTaken()).toLocaleString("en"), ...shown];
  });
  printTable("Questions that use up their budget, CPU", ["Trigger", "steps", "median", "slowest"], rows);
}

/** Whether a trigger answers a question that it cannot answer within its budget. */
function answersFar(trigger: Trigger): boolean {
  try {
    trigger.nextMs(NOW + 1e12);
    return true;
  } catch {
    return false;
  }
}

/** Makes and drops triggers, asks each once, and lets the event loop turn, as a server does. */
async function sectionOfMemory(): Promise<void> {
  if (only.length > 0 && !only.includes("memory")) return;
  const total = Number(triggersMade);
  const kinds: readonly (readonly [string, (index: number) => string])[] = [
    ["840 rules", (index) => `${index % 60} ${index % 24} ${1 + (index % 28)} * *`],
    ["lists of years", (index) => `0 ${index % 60} ${index % 24} 1 1 * 2028,2030,${2033 + (index % 900)}`],
    [
      "ever new rules",
      (index) =>
        `${index % 60} ${((index / 60) % 60) | 0} ${((index / 3600) % 24) | 0} ${1 + (((index / 86_400) % 28) | 0)} * *`,
    ],
  ];
  for (const [name, textOf] of kinds) {
    const rows: string[][] = [];
    let sum = 0;
    for (let made = 0; made < total; made++) {
      sum += CronTrigger.fromCrontab(textOf(made)).nextMs(NOW) ?? 0;
      if (made % 2000 === 0) await new Promise((resolve) => setTimeout(resolve));
      if ((made + 1) % (total / 4) !== 0) continue;
      const { heapUsed, rss } = process.memoryUsage();
      const sizes = [kernel.memory.buffer.byteLength, heapUsed, rss].map((bytes) => (bytes / MIB).toFixed(1));
      rows.push([(made + 1).toLocaleString("en"), ...sizes]);
    }
    const header = ["Triggers", "linear memory, MiB", "heap, MiB", "RSS, MiB"];
    printTable(`Memory while triggers are made and dropped, ${name} (checksum ${sum.toExponential(3)})`, header, rows);
  }
}
