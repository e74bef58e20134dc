// What do metrics and traces cost a scheduler that has them? One that has none has nothing of them in its program, see
// test/observability/cost.node.test.ts.
// Guess: metrics a fifth of the throughput, because each job then has a signal; traces without an SDK a tenth.
// Run: node bench/run.mjs observability
import { MemoryDataStore, Scheduler } from "../src/mod.ts";
import { Metrics } from "../src/observability/metrics/mod.ts";
import { Telemetry } from "../src/observability/otel/mod.ts";
import type { DataStore } from "../src/stores/data-store.ts";
import { printTable } from "./lib/table.ts";

const JOBS = 50_000;
const ROUNDS = 6;

interface Parts {
  dataStore: DataStore;
  maxConcurrentJobs: number;
  cleanupInterval: null;
}

const VARIANTS: readonly (readonly [string, (parts: Parts) => Parts])[] = [
  ["neither", (parts) => parts],
  ["metrics", (parts) => new Metrics().watch(parts)],
  ["traces, without an SDK", (parts) => new Telemetry().watch(parts)],
  ["both", (parts) => new Telemetry().watch(new Metrics().watch(parts))],
];

/** Jobs a second of processor time, which a busy machine does not change. */
async function rateOf(watch: (parts: Parts) => Parts): Promise<number> {
  const parts: Parts = { dataStore: new MemoryDataStore(), maxConcurrentJobs: 1000, cleanupInterval: null };
  const scheduler = new Scheduler({ ...watch(parts), logLevel: "silent" });
  const task = scheduler.task("noop", { maxRunningJobs: null }, async () => {});
  for (let added = 0; added < JOBS; added += 10_000) {
    await scheduler.addJobs(Array.from({ length: 10_000 }, () => ({ task })));
  }
  let released = 0;
  const allReleased = new Promise<void>((resolve) => {
    scheduler.subscribe("jobReleased", () => {
      if (++released === JOBS) resolve();
    });
  });
  const before = process.cpuUsage();
  await scheduler.start();
  await allReleased;
  const { user, system } = process.cpuUsage(before);
  await scheduler.stop();
  return (JOBS / (user + system)) * 1e6;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}

const rates = VARIANTS.map((): number[] => []);
for (let round = 0; round < ROUNDS; round++) {
  // They take turns, so that a busy machine disturbs all alike.
  for (const [index, [, watch]] of VARIANTS.entries()) rates[index]?.push(await rateOf(watch));
}
// The first round warms up.
const medians = rates.map((ofVariant) => median(ofVariant.slice(1)));
const rows = VARIANTS.map(([name], index) => {
  const rate = medians[index] ?? Number.NaN;
  return [name, String(Math.round(rate)), `${(rate / (medians[0] ?? Number.NaN)).toFixed(2)}x`];
});
printTable(
  `No-op jobs on the memory store, ${JOBS} jobs, median of ${ROUNDS - 1} rounds`,
  ["", "jobs/s of CPU", "neither = 1x"],
  rows,
);
