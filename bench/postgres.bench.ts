// How does the store in PostgreSQL compare with the queues that are made for it? Jobs a second added and processed, with
// an fsync a commit and without; from addJob in one process to the start in another; what idle schedulers cost the
// server; and how the tables age beside a transaction that stays open. Guess: ahead where jobs are processed, because a
// commit carries many; behind where they are added one by one. Method and last results: README.md. Run by run.mjs:
// node bench/run.mjs postgres [queues] [wake] [idle] [soak]
// ROUNDS, IDLE_SECONDS, SCHEDULES, MINUTES (of a soak) and RATE (its jobs a second) come from the environment.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addAll, workUntilAll } from "./brokers/wake.ts";
import { load, machine } from "./lib/machine.ts";
import { printTable } from "./lib/table.ts";
import { versionOf } from "./lib/version-of.ts";
import { connectSql, QUEUES, SOAKED, WAKE_CONTESTANTS } from "./postgres/contestants.ts";
import { IDLE, type IdleCost, measureIdle } from "./postgres/idle.ts";
import { type Cost, measureQueue, type QueueCosts } from "./postgres/measurement.ts";
import { periodMs, type SoakSample, type SoakSettings, soakAdder, soakWorker, watchSoak } from "./postgres/soak.ts";
import type { BenchRuntime, Contestant } from "./store/contestant.ts";
import { answer, runIsolated } from "./store/isolated.ts";
import { median } from "./store/median.ts";
import { startServers } from "./store/servers.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 3);
const BULKS = Number(process.env.BULKS ?? 10);
const SCHEDULES = Number(process.env.SCHEDULES ?? 100_000);
const MINUTES = Number(process.env.MINUTES ?? 60);
const RATE = Number(process.env.RATE ?? 1000);
/** Beside what a run is made to take; a million schedules are copied in some minutes. */
const RUN_MS_MAX = 900_000;
const SOAK_START_MS = 10_000;

const DATABASES = { on: "postgres", off: "without_syncs" } as const;
type Syncs = keyof typeof DATABASES;

const ROWS: readonly [string, keyof QueueCosts][] = [
  ["add one by one", "addedOneByOne"],
  ["add, 20 callers", "addedBy20"],
  ["add 1,000 at once", "addedInBulk"],
  ["process, nothing kept", "processed"],
  ["process, results kept", "processedAndKept"],
];

const [mode, ...rest] = process.argv.slice(2);
const [name = "", address = "", label = "", last = ""] = rest;
if (mode === "measure-queue") {
  answer(await measureQueue(queueOf(name), address, label, BULKS));
} else if (mode === "work" || mode === "add") {
  const contestant = WAKE_CONTESTANTS.find((one) => one.name === name);
  if (contestant === undefined) throw new Error(`unknown: ${name}`);
  answer(await (mode === "work" ? workUntilAll : addAll)(contestant, { url: address, folder: last, label }));
} else if (mode === "measure-idle") {
  answer(await measureIdle(name, address, label, SCHEDULES));
} else if (mode === "soak-worker" || mode === "soak-adder") {
  const settings: SoakSettings = JSON.parse(address);
  answer(await (mode === "soak-worker" ? soakWorker : soakAdder)(queueOf(name), settings));
} else {
  await main(process.argv.slice(2));
}

function queueOf(wanted: string): Contestant {
  const contestant = [...QUEUES, ...SOAKED].find((one) => one.name === wanted);
  if (contestant === undefined) throw new Error(`there is no contestant ${wanted}`);
  return contestant;
}

async function main(chosen: readonly string[]): Promise<void> {
  console.log(machine());
  const folder = mkdtempSync(join(tmpdir(), "escapement-bench-"));
  const fail = (name: string, reason: string): never => {
    throw new Error(`${name}: ${reason}`);
  };
  const [server] = (await startServers(QUEUES.slice(0, 1), folder, fail)).values();
  if (server === undefined) return;
  try {
    const sql = await connectSql(server.address);
    await sql.unsafe(`CREATE DATABASE ${DATABASES.off}`);
    await sql.unsafe(`ALTER DATABASE ${DATABASES.off} SET synchronous_commit = off`);
    await sql.end();
    console.log(server.description);
    const packages = ["postgres", "graphile-worker", "pg-boss-12"];
    console.log(packages.map((name) => `${name} ${versionOf(name)}`).join(", "));
    const parts = { queues: compareQueues, wake: compareWakes, idle: compareIdle, soak: soakAll };
    for (const [part, run] of Object.entries(parts)) {
      const isByDefault = chosen.length === 0 && part !== "soak";
      if (isByDefault || chosen.includes(part)) await run(server.address, folder);
    }
    console.log(`\nload ${load()} at the end`);
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function databaseOf(server: string, syncs: Syncs): string {
  return server.replace(/[^/]*$/, DATABASES[syncs]);
}

async function compareQueues(server: string): Promise<void> {
  const measured = new Map<string, QueueCosts[]>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const syncs of Object.keys(DATABASES) as Syncs[]) {
      for (const [place, { name, runtime }] of QUEUES.entries()) {
        const args = ["measure-queue", name, databaseOf(server, syncs), `r${round}c${place}`];
        const one = await runIsolated<QueueCosts>(runtime, args, RUN_MS_MAX);
        const key = `${syncs} ${name}`;
        measured.set(key, [...(measured.get(key) ?? []), one]);
      }
    }
    console.log(`round ${round + 1} of ${ROUNDS} is done, load ${load()}`);
  }
  for (const syncs of Object.keys(DATABASES) as Syncs[]) {
    const of = (name: string, row: keyof QueueCosts, unit: keyof Cost): number | null => {
      const costs = (measured.get(`${syncs} ${name}`) ?? []).map((one) => one[row]).filter((one) => one !== null);
      return costs.length === 0 ? null : median(costs.map((cost) => cost[unit]));
    };
    const [ours = "", ...others] = QUEUES.map(({ name }) => name);
    const table = (title: string, show: (name: string, row: keyof QueueCosts) => string, names: string[]): void =>
      printTable(
        title,
        ["", ...names],
        ROWS.map(([row, key]) => [row, ...names.map((name) => show(name, key))]),
      );
    const commits = `synchronous_commit ${syncs}`;
    const all = [ours, ...others];
    table(`Jobs a second, ${commits}, medians of ${ROUNDS} rounds`, (name, row) => rate(of(name, row, "rate")), all);
    table(`CPU of process and server, us a job, ${commits}`, (name, row) => rate(of(name, row, "cpuUs")), all);
    const faster = (name: string, row: keyof QueueCosts): string => ratio(of(ours, row, "rate"), of(name, row, "rate"));
    table(`How many times as many jobs a second Escapement does, ${commits}`, faster, others);
    const cheaper = (name: string, row: keyof QueueCosts): string =>
      ratio(of(name, row, "cpuUs"), of(ours, row, "cpuUs"));
    table(`How many times the CPU of Escapement others take, ${commits}`, cheaper, others);
  }
  for (const { name, configuration } of QUEUES) console.log(`- ${name}: ${configuration}`);
}

function rate(perSecond: number | null): string {
  return perSecond === null ? "-" : Math.round(Number(perSecond.toPrecision(3))).toLocaleString("en-US");
}

function ratio(part: number | null, whole: number | null): string {
  return part === null || whole === null ? "-" : `${(part / whole).toFixed(2)}x`;
}

async function compareWakes(server: string, folder: string): Promise<void> {
  const delays = new Map<string, number[]>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [place, { name }] of WAKE_CONTESTANTS.entries()) {
      const runtime = name.startsWith("pg-boss") ? "node 24" : "node";
      const args = [name, databaseOf(server, "on"), `w${round}c${place}`, folder];
      const [heard] = await Promise.all([
        runIsolated<readonly number[]>(runtime, ["work", ...args], RUN_MS_MAX),
        runIsolated<number>(runtime, ["add", ...args], RUN_MS_MAX),
      ]);
      delays.set(name, [...(delays.get(name) ?? []), ...heard]);
    }
  }
  const rows = [...delays].map(([name, all]) => {
    const sorted = all.toSorted((a, b) => a - b);
    const at = (part: number): string => `${(sorted[Math.floor((sorted.length - 1) * part)] ?? 0).toFixed(1)} ms`;
    return [name, at(0.5), at(0.99), at(1), String(all.length)];
  });
  printTable("From addJob in one process to the handler's start in another", ["", "p50", "p99", "max", "jobs"], rows);
}

async function compareIdle(server: string): Promise<void> {
  const costs = new Map<string, IdleCost[]>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [place, name] of Object.keys(IDLE).entries()) {
      const runtime = name.startsWith("pg-boss") ? "node 24" : "node";
      const args = ["measure-idle", name, databaseOf(server, "on"), `i${round}c${place}`];
      try {
        const cost = await runIsolated<IdleCost>(runtime, args, RUN_MS_MAX);
        costs.set(name, [...(costs.get(name) ?? []), cost]);
      } catch (error) {
        console.log(`${name} has no result of round ${round + 1}: ${(error as Error).message}`);
      }
    }
  }
  const rows = [...costs].map(([name, all]) => [
    name,
    median(all.map(({ cpuMs }) => cpuMs)).toFixed(1),
    median(all.map(({ transactions }) => transactions)).toFixed(1),
  ]);
  const title = `4 idle instances, ${SCHEDULES.toLocaleString("en-US")} schedules`;
  printTable(title, ["", "ms of the server's CPU a second", "transactions a second"], rows);
}

/** All contestants at once, so that each has the same hour: the same neighbours, and the same open transactions. */
async function soakAll(server: string): Promise<void> {
  const startsAt = Date.now() + SOAK_START_MS;
  const loads: string[] = [];
  const watch = setInterval(() => loads.push(load()), (MINUTES * 60_000) / 4);
  const soaks = await Promise.all(
    SOAKED.map(({ name, runtime }, place) => soak(name, runtime, { server, schema: `soak${place}`, startsAt })),
  );
  clearInterval(watch);
  for (const { title, rows } of soaks) {
    const header = ["until, s", "open transaction", "run a second", "delay p50", "p99", "MB", "dead rows"];
    printTable(title, header, rows);
  }
  console.log(`load after each quarter: ${loads.slice(0, 4).join(", ")}`);
}

interface SoakOf {
  readonly server: string;
  readonly schema: string;
  readonly startsAt: number;
}

interface SoakReport {
  readonly title: string;
  readonly rows: readonly string[][];
}

async function soak(name: string, runtime: BenchRuntime, { server, schema, startsAt }: SoakOf): Promise<SoakReport> {
  const settings: SoakSettings = {
    ...{ address: databaseOf(server, "on"), schema, startsAt },
    ...{ minutes: MINUTES, perSecond: RATE },
  };
  const msMax = MINUTES * 60_000 + RUN_MS_MAX;
  const run = <T>(part: string): Promise<T> => runIsolated<T>(runtime, [part, name, JSON.stringify(settings)], msMax);
  const working = run<SoakSample[]>("soak-worker");
  // The tables are made by whoever comes first.
  await new Promise((resolve) => setTimeout(resolve, SOAK_START_MS / 2));
  const [samples, added, sizes] = await Promise.all([working, run<number>("soak-adder"), watchSoak(settings)]);
  const seconds = periodMs(settings) / 1000;
  const ran = samples.reduce((sum, sample) => sum + sample.ran, 0);
  const rows = samples.map((sample, index) => [
    String(Math.round((index + 1) * seconds)),
    sizes[index]?.isHeld === true ? "yes" : "",
    rate(sample.ran / seconds),
    `${sample.delayP50.toFixed(0)} ms`,
    `${sample.delayP99.toFixed(0)} ms`,
    (sizes[index]?.megabytes ?? Number.NaN).toFixed(1),
    rate(sizes[index]?.deadRows ?? null),
  ]);
  return { title: `${name}: ${MINUTES} minutes at ${RATE} jobs a second, ${added} added, ${ran} run`, rows };
}
