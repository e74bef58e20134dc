// How many jobs a second does a scheduler run on the memory store, how late do schedules fire, and what do they weigh?
// Guess: 150,000 jobs a second through events and an async handler; half of all fires within 2 ms of their time, as
// with croner and node-schedule, which only keep timers; less than 2 kB for a schedule and 1 kB for a queued job.
// Run: node bench/run.mjs scheduler [throughput] [lateness] [memory]
import { cpus } from "node:os";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Cron } from "croner";
import nodeSchedule from "node-schedule";
import { Scheduler } from "../src/mod.ts";
import type { SchedulerOptions } from "../src/scheduler/options/scheduler-options.ts";
import { MemoryDataStore } from "../src/stores/memory/store.ts";
import { CronTrigger } from "../src/triggers/cron.ts";
import { DateTrigger } from "../src/triggers/date.ts";
import { formatRatio, printTable } from "./lib/table.ts";

const JOBS = 100_000;
const ROUNDS = 4;
const BATCH = 10_000;
const GOAL_PER_SECOND = 150_000;
/** At once, where it is not the default (100): so that a whole second's fires start together. */
const CONCURRENT = 1000;
const SCHEDULES = 1000;
const SECONDS = 5;
const WEIGHED_SCHEDULES = 20_000;
const WEIGHED_JOBS = 200_000;

async function section(name: string, run: () => Promise<void>): Promise<void> {
  const only = process.argv.slice(2);
  if (only.length === 0 || only.includes(name)) await run();
}

// ---- throughput

async function measureThroughput(): Promise<void> {
  const rows: string[][] = [];
  const variants: [string, SchedulerOptions, boolean][] = [
    [`${CONCURRENT} at once, results kept`, { maxConcurrentJobs: CONCURRENT }, true],
    [`${CONCURRENT} at once, no results`, { maxConcurrentJobs: CONCURRENT }, false],
    ["100 at once (the default), results kept", {}, true],
  ];
  for (const [name, options, keepsResults] of variants) {
    const rates: Rate[] = [];
    for (let round = 0; round < ROUNDS; round++) rates.push(await throughputOnce(options, keepsResults));
    // The first round warms up.
    const run = median(rates.slice(1).map((rate) => rate.run));
    const add = median(rates.slice(1).map((rate) => rate.add));
    const cpu = median(rates.slice(1).map((rate) => rate.cpu));
    rows.push([name, perSecond(add), perSecond(run), perSecond(cpu), formatRatio(run / GOAL_PER_SECOND)]);
  }
  printTable(
    `Async no-op jobs through the memory store, ${JOBS} jobs, median of ${ROUNDS - 1} rounds`,
    ["", "addJobs, jobs/s", "run, jobs/s", "run, jobs/s of CPU", "of the goal"],
    rows,
  );
}

interface Rate {
  readonly add: number;
  readonly run: number;
  /** Per second of processor time, the collector's threads included: what a busy machine does not change. */
  readonly cpu: number;
}

async function throughputOnce(options: SchedulerOptions, keepsResults: boolean): Promise<Rate> {
  const scheduler = new Scheduler({ ...options, cleanupInterval: null });
  let handled = 0;
  let released = 0;
  const settings = { maxRunningJobs: null, ...(keepsResults ? {} : { resultExpirationTime: "PT0S" }) };
  const task = scheduler.task("noop", settings, async () => {
    handled++;
  });
  const addStartedAt = performance.now();
  for (let added = 0; added < JOBS; added += BATCH) {
    await scheduler.addJobs(Array.from({ length: BATCH }, () => ({ task })));
  }
  const addSeconds = (performance.now() - addStartedAt) / 1000;
  const allReleased = new Promise<void>((resolve) => {
    scheduler.subscribe("jobReleased", ({ outcome }) => {
      if (outcome === "success" && ++released === JOBS) resolve();
    });
  });
  const startedAt = performance.now();
  const cpuBefore = process.cpuUsage();
  await scheduler.start();
  await allReleased;
  const { user, system } = process.cpuUsage(cpuBefore);
  const seconds = (performance.now() - startedAt) / 1000;
  await scheduler.stop();
  if (handled !== JOBS) throw new Error(`${handled} of ${JOBS} jobs were run`);
  return { add: JOBS / addSeconds, run: JOBS / seconds, cpu: (JOBS / (user + system)) * 1e6 };
}

// ---- lateness

/** Starts something that calls `onFire` when its time has come, and returns what ends it. */
type Contestant = (onFire: (fireTimeMs: number) => void) => Promise<() => Promise<void> | void>;

async function measureLateness(): Promise<void> {
  const everySecond: [string, Contestant][] = [
    ["escapement", escapementEverySecond],
    ["croner", cronerEverySecond],
    ["node-schedule", nodeScheduleEverySecond],
  ];
  await compareLateness(`${SCHEDULES} cron schedules, all due at every full second`, everySecond, SCHEDULES * SECONDS);
  const dates: [string, (times: readonly number[]) => Contestant][] = [
    ["escapement", escapementDates],
    ["croner", cronerDates],
    ["node-schedule", nodeScheduleDates],
  ];
  const spread = dates.map(([name, make]): [string, Contestant] => [name, (onFire) => make(upcomingTimes())(onFire)]);
  await compareLateness(`${SCHEDULES} schedules a second, one a millisecond`, spread, SCHEDULES * SECONDS);
}

/** Once-only fire times, one in each millisecond from a second on. */
function upcomingTimes(): number[] {
  const first = Math.ceil(Date.now() / 1000) * 1000 + 2000;
  return Array.from({ length: SCHEDULES * SECONDS }, (_, index) => first + index);
}

async function compareLateness(title: string, contestants: [string, Contestant][], expected: number): Promise<void> {
  const rows: string[][] = [];
  let ours: number[] = [];
  for (const [name, contestant] of contestants) {
    const late = await latenessOf(contestant, expected);
    if (name === "escapement") ours = late;
    const cells = [quantile(late, 0.5), quantile(late, 0.99), late.at(-1) ?? 0].map((ms) => `${ms.toFixed(1)} ms`);
    const ratio = formatRatio(quantile(late, 0.99) / Math.max(0.1, quantile(ours, 0.99)));
    rows.push([name, `${late.length} of ${expected}`, ...cells, ratio]);
  }
  printTable(title, ["", "fired", "p50", "p99", "max", "p99, ours = 1"], rows);
}

/** The delays of the first `expected` fires, sorted. Whatever does not fire within twice the time is missing. */
async function latenessOf(contestant: Contestant, expected: number): Promise<number[]> {
  const late: number[] = [];
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const giveUp = setTimeout(finish, 2 * SECONDS * 1000 + 5000);
  const end = await contestant((fireTimeMs) => {
    if (late.length >= expected) return;
    late.push(performance.timeOrigin + performance.now() - fireTimeMs);
    if (late.length === expected) finish();
  });
  await finished;
  clearTimeout(giveUp);
  await end();
  return late.sort((a, b) => a - b);
}

const escapementEverySecond: Contestant = async (onFire) => {
  const scheduler = new Scheduler({ maxConcurrentJobs: CONCURRENT, cleanupInterval: null });
  const task = scheduler.task("fire", { maxRunningJobs: null, resultExpirationTime: "PT0S" }, (_, { job }) => {
    onFire(job.scheduledFireTime?.epochMilliseconds ?? 0);
  });
  await waitForMidSecond();
  for (let index = 0; index < SCHEDULES; index++) {
    await scheduler.addSchedule(task, CronTrigger.fromCrontab("* * * * * *"));
  }
  await scheduler.start();
  return () => scheduler.stop();
};

const cronerEverySecond: Contestant = async (onFire) => {
  await waitForMidSecond();
  const crons = Array.from({ length: SCHEDULES }, () => new Cron("* * * * * *", () => onFire(thisSecond())));
  return () => crons.forEach((cron) => void cron.stop());
};

const nodeScheduleEverySecond: Contestant = async (onFire) => {
  await waitForMidSecond();
  const jobs = Array.from({ length: SCHEDULES }, () =>
    nodeSchedule.scheduleJob("* * * * * *", (fireDate: Date) => onFire(fireDate.getTime())),
  );
  return () => jobs.forEach((job) => void job?.cancel());
};

function escapementDates(times: readonly number[]): Contestant {
  return async (onFire) => {
    const scheduler = new Scheduler({ maxConcurrentJobs: CONCURRENT, cleanupInterval: null });
    const task = scheduler.task("fire", { maxRunningJobs: null, resultExpirationTime: "PT0S" }, (_, { job }) => {
      onFire(job.scheduledFireTime?.epochMilliseconds ?? 0);
    });
    await Promise.all(times.map((time) => scheduler.addSchedule(task, new DateTrigger(new Date(time)))));
    await scheduler.start();
    return () => scheduler.stop();
  };
}

function cronerDates(times: readonly number[]): Contestant {
  return async (onFire) => {
    const crons = times.map((time) => new Cron(new Date(time), () => onFire(time)));
    return () => crons.forEach((cron) => void cron.stop());
  };
}

function nodeScheduleDates(times: readonly number[]): Contestant {
  return async (onFire) => {
    const jobs = times.map((time) => nodeSchedule.scheduleJob(new Date(time), () => onFire(time)));
    return () => jobs.forEach((job) => void job?.cancel());
  };
}

/** So that nobody is asked to fire while it is set up. */
async function waitForMidSecond(): Promise<void> {
  const leftMs = 1300 - (Date.now() % 1000);
  await new Promise((resolve) => setTimeout(resolve, leftMs));
}

function thisSecond(): number {
  return Math.floor(Date.now() / 1000) * 1000;
}

// ---- memory

async function measureMemory(): Promise<void> {
  const collect = garbageCollector();
  const scheduler = new Scheduler({ dataStore: new MemoryDataStore() });
  const task = scheduler.task("weigh", async () => {});
  const loaded = scheduler.task("weigh with a payload", async (_payload: { index: number }) => {});
  await scheduler.addJob(task);
  const start = collect();
  for (let index = 0; index < WEIGHED_SCHEDULES; index++) {
    await scheduler.addSchedule(task, CronTrigger.fromCrontab(`${index % 60} ${index % 24} * * *`), {
      id: `s${index}`,
    });
  }
  const withSchedules = collect();
  for (let added = 0; added < WEIGHED_JOBS; added += BATCH) {
    await scheduler.addJobs(Array.from({ length: BATCH }, (_, index) => ({ task: loaded, payload: { index } })));
  }
  const withJobs = collect();
  const bytes = (from: number, to: number, count: number): string => `${Math.round((to - from) / count)} bytes`;
  printTable(
    "Heap after a collection",
    ["", "count", "each"],
    [
      ["schedule (daily cron)", `${WEIGHED_SCHEDULES}`, bytes(start, withSchedules, WEIGHED_SCHEDULES)],
      ["queued job (small payload)", `${WEIGHED_JOBS}`, bytes(withSchedules, withJobs, WEIGHED_JOBS)],
    ],
  );
  await scheduler.stop();
}

/** Collects, and returns the bytes in use. */
function garbageCollector(): () => number {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  return () => {
    for (let round = 0; round < 3; round++) gc();
    return process.memoryUsage().heapUsed;
  };
}

// ---- helpers

function median(values: readonly number[]): number {
  return quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
}

/** Of sorted values. */
function quantile(sorted: readonly number[], at: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? Number.NaN;
}

function perSecond(rate: number): string {
  return Math.round(rate).toLocaleString("en");
}

function cpuName(): string {
  return `${cpus()[0]?.model ?? "unknown processor"}, ${cpus().length} cores`;
}

// Last, because it needs what the constants above hold.
await section("throughput", measureThroughput);
await section("lateness", measureLateness);
await section("memory", measureMemory);
console.log(`\n${process.versions.bun ? `Bun ${process.versions.bun}` : `Node ${process.version}`}, ${cpuName()}`);
process.exit(0);
