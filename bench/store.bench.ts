// How many jobs a second can be added and processed, here and in the queues that people compare with? And what does a
// commit cost when the store holds a million schedules? Guess: ahead of what asks a server for every job; behind plainjob
// where jobs are added one by one, because it is synchronous. Method and last results: README.md. Run by run.mjs: node
// bench/run.mjs store [queues] [stores] [tick] [name of a contestant ...]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load, machine } from "./lib/machine.ts";
import { printTable } from "./lib/table.ts";
import { versionOf } from "./lib/version-of.ts";
import { type AnyContestant, CONTESTANTS } from "./store/contestants.ts";
import { answer, runIsolated } from "./store/isolated.ts";
import { type Measurement, measureContestant } from "./store/measurement.ts";
import { median } from "./store/median.ts";
import { addressOf, type RunningServer, type ServerName, startServers } from "./store/servers.ts";
import { measureTick, type TickCost } from "./store/tick.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 3);
const CONTESTANT_MS_MAX = 240_000;
const SCHEDULE_COUNTS = [1000, 100_000, 1_000_000];

const ROWS: readonly [string, keyof Measurement, (value: number) => string][] = [
  ["add one by one", "addedOneByOne", formatRate],
  ["add, 20 callers", "addedBy20", formatRate],
  ["add 1,000 at once", "addedInBulk", formatRate],
  ["process, nothing kept", "processed", formatRate],
  ["process, results kept", "processedAndKept", formatRate],
  ["CPU an addition, us", "cpuUsPerAddition", (us) => us.toFixed(0)],
  ["WAL an addition, bytes", "walBytesPerAddition", formatRate],
  ["CPU a processed job, us", "cpuUsPerJob", (us) => us.toFixed(0)],
];

const LOCAL_STORES = CONTESTANTS.filter(({ name, server }) => name.startsWith("Escapement") && server === null).map(
  ({ name }) => name,
);

/** What Escapement is to reach, jobs a second. */
const GOALS: readonly [string, string, keyof Measurement, number][] = [
  ["end to end, file NORMAL", "Escapement file NORMAL", "processed", 40_000],
  ["end to end, file FULL", "Escapement file FULL", "processed", 25_000],
  ["end to end, sqld over HTTP", "Escapement sqld over HTTP", "processed", 10_000],
  ["add 1,000 at once, file FULL", "Escapement file FULL", "addedInBulk", 75_000],
  ["add 1,000 at once, file NORMAL", "Escapement file NORMAL", "addedInBulk", 75_000],
  ["end to end, memory", "Escapement memory", "processed", 150_000],
];

const [mode, ...rest] = process.argv.slice(2);
if (mode === "measure-contestant") {
  const [name, address = "", label = ""] = rest;
  const contestant = CONTESTANTS.find((one) => one.name === name);
  if (contestant === undefined) throw new Error(`there is no contestant ${name}`);
  const measure = "measure" in contestant ? contestant.measure : measureContestant.bind(null, contestant);
  answer(await measure(address, label));
} else if (mode === "measure-tick") {
  const [count, folder = ""] = rest;
  answer(await measureTick(Number(count), folder));
} else {
  await main(process.argv.slice(2));
}

async function main(chosen: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "escapement-bench-"));
  console.log(machine());
  try {
    const names = chosen.filter((word) => !["queues", "stores", "tick"].includes(word));
    // The stores that need no server.
    if (chosen.includes("stores")) names.push(...LOCAL_STORES);
    const isAll = chosen.length === 0;
    if (isAll || chosen.includes("queues") || names.length > 0) await compareQueues(folder, names);
    if (isAll || chosen.includes("tick")) await compareTicks(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function compareQueues(folder: string, names: readonly string[]): Promise<void> {
  const contestants = CONTESTANTS.filter(({ name }) => names.length === 0 || names.includes(name));
  const failures = new Map<string, string>();
  const servers = await startServers(contestants, folder, (name, reason) => failures.set(name, reason));
  const measurements = new Map<AnyContestant, Measurement[]>(contestants.map((contestant) => [contestant, []]));
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, contestant] of contestants.entries()) {
        // A server that is missing stays so; another failure may be that round's alone.
        if (contestant.server !== null && !servers.has(contestant.server)) continue;
        try {
          const measured = await measureIsolated(contestant, servers, folder, `r${round}c${index}`);
          measurements.get(contestant)?.push(measured);
        } catch (error) {
          failures.set(
            contestant.name,
            `round ${round + 1}: ${error instanceof Error ? error.message : String(error)}`,
          );
        }
      }
      console.log(`round ${round + 1} of ${ROUNDS} is done, load ${load()}`);
    }
  } finally {
    for (const server of servers.values()) await server.stop();
  }
  report(measurements, servers, failures);
}

function measureIsolated(
  { name, runtime, server }: AnyContestant,
  servers: ReadonlyMap<ServerName, RunningServer>,
  folder: string,
  label: string,
): Promise<Measurement> {
  const address = addressOf(server, servers, folder);
  return runIsolated<Measurement>(runtime, ["measure-contestant", name, address, label], CONTESTANT_MS_MAX);
}

function report(
  measurements: ReadonlyMap<AnyContestant, readonly Measurement[]>,
  servers: ReadonlyMap<ServerName, RunningServer>,
  failures: ReadonlyMap<string, string>,
): void {
  const measured = [...measurements].filter(([, samples]) => samples.length > 0);
  const of = (samples: readonly Measurement[], key: keyof Measurement): number | null => {
    const values = samples.map((sample) => sample[key]).filter((value) => value !== null);
    return values.length === 0 ? null : median(values);
  };
  const header = ["Jobs a second", ...ROWS.map(([title]) => title)];
  printTable(
    `Medians of ${ROUNDS} interleaved rounds`,
    header,
    measured.map(([{ name }, samples]) => [
      name,
      ...ROWS.map(([, key, format]) => {
        const value = of(samples, key);
        return value === null ? "-" : format(value);
      }),
    ]),
  );
  const base = measured.find(([{ name }]) => name === "Escapement file NORMAL")?.[1] ?? [];
  if (base.length > 0) {
    printTable(
      "How many times as fast Escapement on a file, synchronous NORMAL, is",
      ["than", ...ROWS.slice(0, 5).map(([title]) => title)],
      measured.map(([{ name }, samples]) => [
        name,
        ...ROWS.slice(0, 5).map(([, key]) => {
          const [ours, theirs] = [of(base, key), of(samples, key)];
          return ours === null || theirs === null ? "-" : `${(ours / theirs).toPrecision(2)}x`;
        }),
      ]),
    );
  }
  const goals = GOALS.flatMap(([title, name, key, goal]) => {
    const value = of(measured.find(([contestant]) => contestant.name === name)?.[1] ?? [], key);
    return value === null ? [] : [[title, formatRate(value), formatRate(goal), value >= goal ? "reached" : "missed"]];
  });
  printTable("Goals", ["Row", "Measured", "Goal", ""], goals);
  console.log("");
  for (const [{ name, packages, configuration }] of measured) {
    const versions = packages.map((one) => `${one} ${versionOf(one)}`).join(", ");
    console.log(`- ${name}${versions === "" ? "" : ` (${versions})`}: ${configuration}`);
  }
  for (const { description } of servers.values()) console.log(`- server: ${description}`);
  for (const [name, reason] of failures) {
    const rounds = measured.find(([contestant]) => contestant.name === name)?.[1].length ?? 0;
    console.log(`- FAILED, measured in ${rounds} of ${ROUNDS} rounds: ${name}: ${reason}`);
  }
}

function formatRate(perSecond: number): string {
  return Math.round(Number(perSecond.toPrecision(3))).toLocaleString("en-US");
}

async function compareTicks(folder: string): Promise<void> {
  const costs: TickCost[] = [];
  for (const count of SCHEDULE_COUNTS) {
    costs.push(await runIsolated<TickCost>("node", ["measure-tick", String(count), folder], CONTESTANT_MS_MAX));
  }
  const [few, , many] = costs;
  if (few === undefined || many === undefined) return;
  const columns = ["idleLookMs", "dueLookMs", "planCommitMs", "emptyCommitMs"] as const;
  printTable(
    "Looks and commits on a file, synchronous NORMAL, milliseconds",
    ["schedules in the store", "a look, none due", "a look, 100 due", "a commit of 100 plans", "a commit without work"],
    [
      ...costs.map((cost) => [cost.count.toLocaleString("en-US"), ...columns.map((key) => cost[key].toFixed(3))]),
      ["a million to a thousand", ...columns.map((key) => `${(many[key] / few[key]).toFixed(2)}x`)],
    ],
  );
}
