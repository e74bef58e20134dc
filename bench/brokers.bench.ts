// How late does a job start that another process added, over each broker, and without one? How many events a second
// does a broker carry, beside its client alone? How long is it deaf after a restart of its server?
// Guess: 10 ms at most where a server wakes the worker, and less than BullMQ, because a look into a file costs less
// than one at a server; half to three quarters of the client's rate; some 300 ms.
// Method and last results: README.md. Run: node bench/run.mjs brokers [wake] [rate] [recovery]
// [name of a contestant ...]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BenchBroker, BROKERS } from "./brokers/brokers.ts";
import { brokerRate, rawRate } from "./brokers/rate.ts";
import { measureRecovery } from "./brokers/recovery.ts";
import { type BenchServer, type BenchServerName, START } from "./brokers/servers.ts";
import { addAll, WAKE_CONTESTANTS, type WakeContestant, type WakeSettings, workUntilAll } from "./brokers/wake.ts";
import { machine } from "./lib/machine.ts";
import { printTable } from "./lib/table.ts";
import { versionOf } from "./lib/version-of.ts";
import { answer, runIsolated } from "./store/isolated.ts";
import { median } from "./store/median.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 3);
const PARTS: readonly string[] = ["wake", "rate", "recovery"];
const RUN_MS_MAX = 240_000;

const [mode, ...rest] = process.argv.slice(2);
if (mode === "work" || mode === "add") {
  const [name, url = "", folder = "", label = ""] = rest;
  const contestant = WAKE_CONTESTANTS.find((one) => one.name === name);
  if (contestant === undefined) throw new Error(`unknown: ${name}`);
  const settings: WakeSettings = { url, folder, label };
  answer(await (mode === "work" ? workUntilAll : addAll)(contestant, settings));
} else if (mode === "measure-rate") {
  const [name, kind, url = ""] = rest;
  const broker = BROKERS.find((one) => one.name === name);
  if (broker === undefined) throw new Error(`unknown: ${name}`);
  answer(await (kind === "raw" ? rawRate : brokerRate)(broker, url));
} else {
  await main(process.argv.slice(2));
}

async function main(chosen: readonly string[]): Promise<void> {
  console.log(machine());
  console.log(["postgres", "mqtt", "bullmq", "pg-boss"].map((name) => `${name} ${versionOf(name)}`).join(", "));
  const parts = chosen.filter((word) => PARTS.includes(word));
  const names = chosen.filter((word) => !PARTS.includes(word));
  const isChosen = (part: string): boolean => parts.length === 0 || parts.includes(part);
  const isCompared = ({ name }: { readonly name: string }): boolean =>
    names.length === 0 || names.some((chosenName) => name.includes(chosenName));
  const servers = new Map<BenchServerName, BenchServer>();
  try {
    if (isChosen("wake") || isChosen("rate")) {
      for (const [name, start] of Object.entries(START)) servers.set(name as BenchServerName, await start());
    }
    if (isChosen("wake")) await compareWakes(servers, WAKE_CONTESTANTS.filter(isCompared));
    if (isChosen("rate")) await compareRates(servers, BROKERS.filter(isCompared));
  } finally {
    for (const server of servers.values()) await server.stop();
  }
  if (isChosen("recovery")) await compareRecoveries(BROKERS.filter(isCompared));
}

async function compareWakes(
  servers: ReadonlyMap<BenchServerName, BenchServer>,
  contestants: readonly WakeContestant[],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "escapement-bench-"));
  const delays = new Map<string, number[]>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [place, { name, server }] of contestants.entries()) {
      const url = server === null ? "" : (servers.get(server)?.url ?? "");
      const args = [name, url, folder, `r${round}c${place}`];
      const [heard] = await Promise.all([
        runIsolated<readonly number[]>("node", ["work", ...args], RUN_MS_MAX),
        runIsolated<number>("node", ["add", ...args], RUN_MS_MAX),
      ]);
      delays.set(name, [...(delays.get(name) ?? []), ...heard]);
    }
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const rows = [...delays].map(([name, all]) => {
    const sorted = all.toSorted((a, b) => a - b);
    const at = (part: number): string => `${(sorted[Math.floor((sorted.length - 1) * part)] ?? 0).toFixed(1)} ms`;
    return [name, at(0.5), at(0.99), at(1), String(all.length)];
  });
  printTable("From addJob in one process to the handler's start in another", ["", "p50", "p99", "max", "jobs"], rows);
}

async function compareRates(
  servers: ReadonlyMap<BenchServerName, BenchServer>,
  brokers: readonly BenchBroker[],
): Promise<void> {
  const rows: string[][] = [];
  for (const { name, server } of brokers) {
    const url = servers.get(server)?.url ?? "";
    const [ours, raw]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      ours.push(await runIsolated<number>("node", ["measure-rate", name, "broker", url], RUN_MS_MAX));
      raw.push(await runIsolated<number>("node", ["measure-rate", name, "raw", url], RUN_MS_MAX));
    }
    const [ourRate, rawRateOf] = [median(ours), median(raw)];
    rows.push([name, thousands(ourRate), thousands(rawRateOf), (ourRate / rawRateOf).toFixed(2)]);
  }
  printTable(
    "Events a second, 100 a call, 10 calls in flight",
    ["", "broker", "client alone", "broker / client"],
    rows,
  );
}

async function compareRecoveries(brokers: readonly BenchBroker[]): Promise<void> {
  const rows: string[][] = [];
  for (const broker of brokers) {
    const all: number[] = [];
    for (let round = 0; round < ROUNDS; round++) all.push(await measureRecovery(broker));
    rows.push([broker.name, `${Math.round(median(all))} ms`, `${Math.round(Math.max(...all))} ms`]);
  }
  printTable("From a server that is back to the first event", ["", "median", "max"], rows);
}

function thousands(rate: number): string {
  return `${Math.round(rate / 1000)}k`;
}
