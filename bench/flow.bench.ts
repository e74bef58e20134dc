// What do limits cost? Jobs a second without limits, with at most one running job per key (1, 100 and 10,000 keys), and
// under a rate, here and in the queues that people compare with; and whom a tenant with 100,000 jobs delays. Each run
// checks that every job ran once, and tells how far the limits were kept. Method and last results: README.md. Run by run.mjs: node
// bench/run.mjs flow [limits] [fairness] [name of a contestant ...]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BULLMQ } from "./flow/bullmq.ts";
import type { FlowContestant, FlowLimit } from "./flow/contestant.ts";
import { ESCAPEMENT } from "./flow/escapement.ts";
import { BACKLOG, type Fairness, JOBS_OF_OTHERS, measureFairness, TENANTS } from "./flow/fairness.ts";
import { type FlowMeasurement, measureFlow } from "./flow/measurement.ts";
import { PG_BOSS } from "./flow/pg-boss.ts";
import { load, machine } from "./lib/machine.ts";
import { printTable } from "./lib/table.ts";
import { versionOf } from "./lib/version-of.ts";
import { answer, runIsolated } from "./store/isolated.ts";
import { median } from "./store/median.ts";
import { addressOf, startServers } from "./store/servers.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 3);
const RUN_MS_MAX = 240_000;
const CONTESTANTS: readonly FlowContestant[] = [...ESCAPEMENT, BULLMQ, ...PG_BOSS];

const RATE = 1000;
const SCENARIOS: readonly { readonly title: string; readonly limit: FlowLimit; readonly count: number }[] = [
  { title: "no limits", limit: { kind: "none" }, count: 20_000 },
  { title: "1 key", limit: { kind: "keys", keys: 1 }, count: 1000 },
  { title: "100 keys", limit: { kind: "keys", keys: 100 }, count: 10_000 },
  { title: "10,000 keys", limit: { kind: "keys", keys: 10_000 }, count: 20_000 },
  { title: `${RATE} a second`, limit: { kind: "rate", perSecond: RATE }, count: 3 * RATE },
];

const [mode, ...rest] = process.argv.slice(2);
if (mode === "measure-flow") {
  const [name, scenario = "", address = "", label = ""] = rest;
  const contestant = CONTESTANTS.find((one) => one.name === name);
  const { limit, count } = SCENARIOS[Number(scenario)] ?? {};
  if (contestant === undefined || limit === undefined || count === undefined) throw new Error(`unknown: ${rest}`);
  answer(await measureFlow(contestant, { address, label, limit, count }));
} else if (mode === "measure-fairness") {
  const [fair, folder = ""] = rest;
  answer(await measureFairness(folder, fair === "fair"));
} else {
  await main(process.argv.slice(2));
}

async function main(chosen: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "escapement-bench-"));
  console.log(machine());
  try {
    const names = chosen.filter((word) => word !== "limits" && word !== "fairness");
    if (chosen.length === 0 || chosen.includes("limits") || names.length > 0) await compareLimits(folder, names);
    if (chosen.length === 0 || chosen.includes("fairness")) await compareFairness(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function compareLimits(folder: string, names: readonly string[]): Promise<void> {
  const contestants = CONTESTANTS.filter(({ name }) => names.length === 0 || names.includes(name));
  const failures: string[] = [];
  const servers = await startServers(contestants, folder, (name, reason) => failures.push(`${name}: ${reason}`));
  const measured = new Map<string, FlowMeasurement[]>();
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [place, contestant] of contestants.entries()) {
        if (contestant.server !== null && !servers.has(contestant.server)) continue;
        for (const [scenario, { title, limit }] of SCENARIOS.entries()) {
          if (!contestant.kinds.includes(limit.kind)) continue;
          const key = `${contestant.name}: ${title}`;
          const address = addressOf(contestant.server, servers, folder);
          const args = ["measure-flow", contestant.name, String(scenario), address, `r${round}c${place}s${scenario}`];
          try {
            const one = await runIsolated<FlowMeasurement>(contestant.runtime, args, RUN_MS_MAX);
            measured.set(key, [...(measured.get(key) ?? []), one]);
          } catch (error) {
            failures.push(`${key}, round ${round + 1}: ${error instanceof Error ? error.message : String(error)}`);
          }
        }
      }
      console.log(`round ${round + 1} of ${ROUNDS} is done, load ${load()}`);
    }
  } finally {
    for (const server of servers.values()) await server.stop();
  }
  report(contestants, measured);
  for (const { name, configuration, packages, server } of contestants) {
    const running = server === null ? undefined : servers.get(server)?.description;
    const versions = packages.map((one) => `${one} ${versionOf(one)}`);
    console.log(`- ${name}: ${[...versions, running, configuration].filter(Boolean).join("; ")}`);
  }
  for (const failure of failures) console.log(`\nFailed: ${failure}`);
  if (failures.length > 0) process.exitCode = 1;
}

function report(contestants: readonly FlowContestant[], measured: ReadonlyMap<string, FlowMeasurement[]>): void {
  const cell = (name: string, title: string, show: (samples: readonly FlowMeasurement[]) => string): string => {
    const samples = measured.get(`${name}: ${title}`);
    return samples === undefined ? "-" : show(samples);
  };
  const header = ["Jobs a second", ...SCENARIOS.map(({ title }) => title)];
  const of = (key: keyof FlowMeasurement) => (samples: readonly FlowMeasurement[]) =>
    median(samples.map((sample) => sample[key])).toFixed(0);
  const most = (samples: readonly FlowMeasurement[]): string =>
    String(Math.max(...samples.map(({ mostStartsInASecond }) => mostStartsInASecond)));
  const rows = (show: (samples: readonly FlowMeasurement[]) => string): string[][] =>
    contestants.map(({ name }) => [name, ...SCENARIOS.map(({ title }) => cell(name, title, show))]);
  printTable(`Medians of ${ROUNDS} interleaved rounds`, header, rows(of("perSecond")));
  printTable("CPU of the process, us a job", ["", ...header.slice(1)], rows(of("cpuUsPerJob")));
  const keyed = SCENARIOS.filter(({ limit }) => limit.kind === "keys").map(({ title }) => title);
  const mostRunning = (samples: readonly FlowMeasurement[]): string =>
    String(Math.max(...samples.map(({ mostRunningOfKey }) => mostRunningOfKey)));
  printTable(
    "Most jobs of one key that ran at once, allowed: 1",
    ["", ...keyed],
    contestants
      .filter(({ kinds }) => kinds.includes("keys"))
      .map(({ name }) => [name, ...keyed.map((title) => cell(name, title, mostRunning))]),
  );
  const rate = SCENARIOS.filter(({ limit }) => limit.kind === "rate").map(({ title }) => title);
  printTable(
    `Most starts in any second, at ${RATE} a second (Escapement allows a twentieth more, its default burst)`,
    ["", ...rate],
    contestants
      .filter(({ kinds }) => kinds.includes("rate"))
      .map(({ name }) => [name, ...rate.map((title) => cell(name, title, most))]),
  );
}

async function compareFairness(folder: string): Promise<void> {
  const rows: string[][] = [];
  for (const fair of ["not fair", "fair"]) {
    const place = mkdtempSync(join(folder, "fair-"));
    const { startedBefore, seconds } = await runIsolated<Fairness>(
      "node",
      ["measure-fairness", fair, place],
      RUN_MS_MAX,
    );
    rows.push([fair, String(startedBefore), seconds.toFixed(2)]);
  }
  const others = (TENANTS - 1) * JOBS_OF_OTHERS;
  printTable(
    `A tenant with ${BACKLOG} jobs, then ${TENANTS - 1} others with ${others} in all: until the others' last start`,
    ["Escapement file NORMAL", "jobs of the big tenant started", "seconds"],
    rows,
  );
}
