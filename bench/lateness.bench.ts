// How late is a fire at a known instant, and what does punctuality cost? Guess: bare timers are late by 1 to 25 ms,
// depending on the host, and precise sleeps by less than 1 ms, for some milliseconds of CPU a fire.
// An idle process; contestants take turns, some seconds each, and each instant is met by one of them alone.
// Run by run.mjs: node bench/run.mjs lateness [rounds]
// Then the same for whole schedulers, from the fire time to the first line of the handler, beside the write to the disk
// that a durable fire cannot do without.
import { mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cron } from "croner";
import { coarseClock, systemClock } from "../src/core/clock.ts";
import { LOOK_AHEAD_MS } from "../src/core/timer-limits.ts";
import { Scheduler } from "../src/scheduler/scheduler.ts";
import type { DataStore } from "../src/stores/data-store.ts";
import { LibsqlDataStore } from "../src/stores/libsql/mod.ts";
import { MemoryDataStore } from "../src/stores/memory/store.ts";
import { IntervalTrigger } from "../src/triggers/interval.ts";
import { printTable } from "./lib/table.ts";
import { millisecondsAhead } from "./lib/wall-clock.ts";

/** Waits for instants that are `periodMs` apart, and says at each that it is there. */
type Wait = (firstMs: number, periodMs: number, count: number, arrive: (atMs: number) => void) => Promise<void>;

interface Fires {
  readonly latenessMs: number[];
  cpuMs: number;
  earlyCount: number;
}

function oneByOne(sleep: (untilMs: number) => Promise<void>): Wait {
  return async (firstMs, periodMs, count, arrive) => {
    for (let n = 0; n < count; n++) {
      const atMs = firstMs + n * periodMs;
      await sleep(atMs);
      arrive(atMs);
    }
  };
}

const bare: Wait = oneByOne(
  (untilMs) => new Promise((resolve) => void setTimeout(resolve, Math.max(0, untilMs - Date.now()))),
);
const coarse: Wait = oneByOne((untilMs) => coarseClock.sleep(untilMs));
const precise: Wait = oneByOne((untilMs) => systemClock.sleepExactly(untilMs));

/** As a scheduler waits that looks into its store shortly before a fire. */
const aheadAndPrecise: Wait = oneByOne(async (untilMs) => {
  await systemClock.sleep(untilMs - LOOK_AHEAD_MS);
  await systemClock.sleepExactly(untilMs);
});

/** It knows whole seconds only, so it fires half as often. */
const croner: Wait = (_firstMs, _periodMs, count, arrive) =>
  new Promise((resolve) => {
    let fires = 0;
    const job = new Cron("* * * * * *", () => {
      arrive(Math.round(Date.now() / 1000) * 1000);
      if (++fires < count / 2) return;
      job.stop();
      resolve();
    });
  });

/** A scheduler of its own for each turn; idle but for one schedule. */
function scheduled(makeStore: () => DataStore): Wait {
  return async (firstMs, periodMs, count, arrive) => {
    const scheduler = new Scheduler({ dataStore: makeStore() });
    let fires = 0;
    let finish = (): void => {};
    const done = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const task = scheduler.task("fire", { maxRunningJobs: null, resultExpirationTime: "PT0S" }, (_, { job }) => {
      if (job.fireTime === null || fires++ >= count) return;
      arrive(job.fireTime.epochMilliseconds);
      if (fires === count) finish();
    });
    await scheduler.start();
    // The store is open, and what is compiled at the first use is compiled.
    await scheduler.runJob(task);
    const startTime = new Date(firstMs + Math.ceil(Math.max(0, Date.now() - firstMs) / periodMs + 1) * periodMs);
    await scheduler.addSchedule(task, new IntervalTrigger({ milliseconds: periodMs, startTime }));
    await done;
    await scheduler.stop();
  };
}

const folder = mkdtempSync(join(tmpdir(), "lateness-"));
let files = 0;
const onFile = (durability: "full" | "normal"): Wait =>
  scheduled(() => new LibsqlDataStore({ url: `file:${join(folder, `${files++}.db`)}` }, { durability }));

/** The least that a durable fire costs: a page is appended and synchronised after a pause. */
const synchronised: Wait = async (firstMs, periodMs, count, arrive) => {
  const file = await open(join(folder, `${files++}.bin`), "w");
  const page = Buffer.alloc(4096, 1);
  for (let n = 0; n < count; n++) {
    const atMs = firstMs + n * periodMs;
    await systemClock.sleepExactly(atMs);
    await file.write(page);
    await file.datasync();
    arrive(atMs);
  }
  await file.close();
};

interface Section {
  readonly title: string;
  readonly periodMs: number;
  readonly count: number;
  readonly peers: Readonly<Record<string, Wait>>;
  readonly ours: Readonly<Record<string, Wait>>;
}

const SECTIONS: readonly Section[] = [
  {
    title: "A fire every 500 ms",
    periodMs: 500,
    count: 8,
    peers: { "bare setTimeout": bare, "croner, every second": croner },
    ours: { coarse, precise, "precise, 60 ms ahead": aheadAndPrecise },
  },
  {
    title: "A fire every 60 ms",
    periodMs: 60,
    count: 40,
    peers: { "bare setTimeout": bare },
    ours: { coarse, precise },
  },
];

const SCHEDULERS: Section = {
  title: "Whole schedulers, a fire every 500 ms",
  periodMs: 500,
  count: 20,
  peers: { "bare setTimeout": bare, "croner, every second": croner, "precise, then one fdatasync": synchronised },
  ours: {
    "scheduler, memory": scheduled(() => new MemoryDataStore()),
    "scheduler, file, full": onFile("full"),
    "scheduler, file, normal": onFile("normal"),
  },
};

const rounds = Number(process.argv[2] ?? 3);
let earlyCount = 0;
for (const { title, periodMs, count, peers, ours } of [...SECTIONS, SCHEDULERS]) {
  const all = Object.entries({ ...peers, ...ours });
  const fires = new Map<string, Fires>(all.map(([name]) => [name, { latenessMs: [], cpuMs: 0, earlyCount: 0 }]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, wait] of all) await turn(wait, periodMs, count, fires.get(name));
  }
  const rows = [...fires].map(([name, { latenessMs, cpuMs, earlyCount: early }]) => {
    const sorted = latenessMs.toSorted((a, b) => a - b);
    const part = (quantile: number): string =>
      (sorted[Math.min(sorted.length - 1, Math.floor(quantile * sorted.length))] ?? Number.NaN).toFixed(2);
    const cpuAFire = (cpuMs / sorted.length).toFixed(2);
    return [name, `${sorted.length}`, part(0.5), part(0.9), part(0.99), part(1), cpuAFire, `${early}`];
  });
  printTable(
    `${title}: milliseconds late`,
    ["wait", "fires", "p50", "p90", "p99", "max", "CPU a fire, ms", "early"],
    rows,
  );
  for (const name of Object.keys(ours)) earlyCount += fires.get(name)?.earlyCount ?? 0;
}
rmSync(folder, { recursive: true });
if (earlyCount > 0) {
  console.error(`${earlyCount} sleeps of ours ended early.`);
  process.exit(1);
}

async function turn(wait: Wait, periodMs: number, count: number, fires: Fires | undefined): Promise<void> {
  if (fires === undefined) return;
  const aheadMs = millisecondsAhead();
  // Instants at all parts of a second, so that nobody profits from the beat of the host's own work.
  const firstMs = Date.now() + periodMs + Math.floor(Math.random() * 20);
  const before = process.cpuUsage();
  await wait(firstMs, periodMs, count, (atMs) => {
    if (Date.now() < atMs) fires.earlyCount++;
    fires.latenessMs.push(performance.now() + aheadMs - atMs);
  });
  const { user, system } = process.cpuUsage(before);
  fires.cpuMs += (user + system) / 1000;
}
