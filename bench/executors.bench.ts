// What does it cost to run a job in a thread or a process, beside inline, piscina and raw messages? One call after the
// other, 64 in flight, and a whole scheduler. Method, guesses and last results: README.md.
// Run by run.mjs: node bench/run.mjs executors [--runtime=deno|bun] [calls] [scheduler]
import { CONTESTANTS } from "./executors/contestants.ts";
import { type ExecutorFigures, measureExecutor } from "./executors/measurement.ts";
import { measureSchedulers } from "./executors/scheduler.ts";
import { load, machine } from "./lib/machine.ts";
import { printTable } from "./lib/table.ts";
import { versionOf } from "./lib/version-of.ts";
import { median } from "./store/median.ts";

const ROUNDS = Number(process.env.ROUNDS ?? 5);
/** Names of contestants, to measure these alone. */
const ONLY = process.env.ONLY?.split(",");

// A pool that waits for the end of its threads does not keep the program alive by that.
const awake = setInterval(() => {}, 1000);
await main(process.argv.slice(2));
clearInterval(awake);
// Whatever a contestant has left behind does not hold up the end.
process.exit(0);

async function main(chosen: readonly string[]): Promise<void> {
  const has = (part: string): boolean => chosen.length === 0 || chosen.includes(part);
  console.log(`${machine()}; piscina ${versionOf("piscina")}`);
  if (has("calls")) await compareCalls();
  if (has("scheduler")) {
    const rows = (await measureSchedulers(ROUNDS)).map(([name, perSecond]) => [name, perSecond.toFixed(0)]);
    printTable("Jobs a second of a whole scheduler, memory store", ["", "jobs/s"], rows);
  }
  console.log(`\nLoad at the end: ${load()}`);
}

async function compareCalls(): Promise<void> {
  const contestants = CONTESTANTS.filter(({ name }) => ONLY?.includes(name) ?? true);
  const measured = new Map<string, ExecutorFigures[]>(contestants.map(({ name }) => [name, []]));
  // They take turns, so that a busy machine disturbs all alike.
  for (let round = 0; round < ROUNDS; round++) {
    for (const contestant of contestants) measured.get(contestant.name)?.push(await measureExecutor(contestant));
  }
  const figuresOf = (name: string, key: keyof ExecutorFigures): number[] =>
    (measured.get(name) ?? []).map((figures) => figures[key]);
  const perSecondOf = (name: string): number => median(figuresOf(name, "perSecond"));
  const ratio = (name: string, peer: string): string => (perSecondOf(name) / perSecondOf(peer)).toFixed(2);
  const rows = contestants.map(({ name }) => [
    name,
    median(figuresOf(name, "p50Us")).toFixed(1),
    perSecondOf(name).toFixed(0),
    Math.max(...figuresOf(name, "perSecond")).toFixed(0),
    median(figuresOf(name, "cpuUs")).toFixed(1),
    ratio(name, "piscina"),
    ratio(name, "raw postMessage"),
  ]);
  printTable(
    `Calls of one worker, ${ROUNDS} rounds`,
    ["", "p50, us", "calls/s, 64 in flight", "best round", "us of CPU", "of piscina", "of raw"],
    rows,
  );
}
