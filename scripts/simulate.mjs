// @ts-check

// Runs the deterministic simulation (test/simulation) over many seeds, on all cores, or shows one seed:
//
//   node scripts/simulate.mjs [--from 0] [--count 100000] [--workers 2] [--failures 20] [--only operators|steps|clocks|postgres]
//   node scripts/simulate.mjs --seed 4711 [--trace] [--only operators|steps|clocks|postgres]
//
// `--only operators` runs the small simulation of what operators do (test/simulation/operators), `--only steps` the part
// of it about jobs with steps: each hundredth seed of both on SQLite, the others on the memory store. `--only clocks`
// runs the one of wrong clocks (test/simulation/clocks), and `--only postgres` the first two on PGlite.
// Exits with 1 when a promise was broken. A seed gives the same run everywhere. Many seeds run with lighter stand-ins
// for some of the host's globals (scripts/lib/light-host.mjs), one seed runs with the host's own. A long run tells every
// 20 s how far it is, so that a run that is ended early still tells what it covered.

import { fork } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const BATCH = 25;
const REPORT_MS = 20_000;

const root = fileURLToPath(new URL("..", import.meta.url));
const outfile = `${root}node_modules/.cache/escapement/simulation-${process.env.ESCAPEMENT_SIMULATION ?? process.pid}.mjs`;

/** Which simulation alone; empty for the large one. */
let only = process.env.ESCAPEMENT_SIMULATION_ONLY ?? "";

if (process.send === undefined) process.exitCode = await main();
else await work();

async function main() {
  const { values } = parseArgs({
    options: {
      from: { type: "string", default: "0" },
      count: { type: "string", default: "100000" },
      workers: { type: "string", default: String(availableParallelism()) },
      failures: { type: "string", default: "20" },
      seed: { type: "string" },
      trace: { type: "boolean", default: false },
      only: { type: "string" },
    },
  });
  if (values.only !== undefined && !["operators", "steps", "clocks", "postgres"].includes(values.only)) {
    console.error(`--only takes "operators", "steps", "clocks" or "postgres", not "${values.only}"`);
    return 2;
  }
  only = values.only ?? "";
  await bundle();
  if (values.seed !== undefined) return showOne(Number(values.seed), values.trace);
  const from = Number(values.from);
  const count = Number(values.count);
  const what = `--from ${from} --count ${count} --workers ${values.workers}${only === "" ? "" : ` --only ${only}`}`;
  console.log(`node scripts/simulate.mjs ${what}`);
  console.log(`Node ${process.version}, seeds ${from} to ${from + count - 1}`);
  return runMany(from, from + count, Number(values.workers), Number(values.failures));
}

async function bundle() {
  await mkdir(new URL(".", pathToFileURL(outfile)), { recursive: true });
  await build({
    stdin: {
      contents: `
        export { simulate } from "./simulate.ts";
        export { simulateOnPostgres } from "./simulate-on-postgres.ts";
        export { simulateClocks } from "./clocks/clocks.ts";
        export { simulateOperations, simulateSteps } from "./operators/simulate-some-on-sqlite.ts";`,
      resolveDir: `${root}test/simulation`,
    },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    logLevel: "warning",
    external: ["@electric-sql/pglite", "temporal-polyfill", "valibot"],
  });
}

/** @returns {Promise<Pick<typeof import("../test/simulation/simulate.ts"), "simulate">>} */
async function load() {
  const { simulate, ...others } = await import(pathToFileURL(outfile).href);
  const {
    simulateOperations: operators,
    simulateSteps: steps,
    simulateClocks: clocks,
    simulateOnPostgres: postgres,
  } = others;
  return { simulate: { operators, steps, clocks, postgres }[only] ?? simulate };
}

/** @param {number} seed @param {boolean} isTraced */
async function showOne(seed, isTraced) {
  const { simulate } = await load();
  const report = await simulate({ seed, ...(isTraced && { trace: (line) => console.log(line) }) });
  for (const violation of report.violations) console.log(`seed ${seed}: ${violation}`);
  console.log(`seed ${seed}: ${report.violations.length === 0 ? "clean" : "FAILED"}, ${formatCounts(report.counts)}`);
  return report.violations.length === 0 ? 0 : 1;
}

/** @param {number} from @param {number} until @param {number} workersCount @param {number} failuresMax */
async function runMany(from, until, workersCount, failuresMax) {
  const startedAt = performance.now();
  let next = from;
  let done = 0;
  /** @type {number[]} */
  const failed = [];
  const counts = new Map();
  /** Where the batches begin that are not done. */
  const begun = new Set();
  const report = () => {
    const below = Math.min(next, ...begun);
    console.log(
      `${done} seeds, ${failed.length} failed, ${seconds(startedAt)} s; all of ${from} to ${below - 1} are done`,
    );
  };
  const reporting = setInterval(report, REPORT_MS);
  const workers = Array.from({ length: workersCount }, () =>
    fork(fileURLToPath(import.meta.url), {
      env: { ...process.env, ESCAPEMENT_SIMULATION: String(process.pid), ESCAPEMENT_SIMULATION_ONLY: only },
    }),
  );
  const ends = workers.map(
    (worker) =>
      new Promise((resolve) => {
        worker.on("exit", (code) => resolve(code));
        worker.on("message", (/** @type {Batch | "ready"} */ message) => {
          if (message !== "ready") {
            done += message.count;
            begun.delete(message.from);
            for (const [name, count] of message.counts) counts.set(name, (counts.get(name) ?? 0) + count);
            for (const { seed, violation } of message.failures) {
              failed.push(seed);
              console.log(`seed ${seed}: ${violation}`);
            }
          }
          if (next >= until || failed.length >= failuresMax) worker.send({ from: 0, until: 0 });
          else {
            const last = Math.min(until, next + BATCH);
            begun.add(next);
            worker.send({ from: next, until: last });
            next = last;
          }
        });
      }),
  );
  const codes = await Promise.all(ends);
  clearInterval(reporting);
  const msPerSeed = ((performance.now() - startedAt) * workersCount) / Math.max(1, done);
  console.log(`${formatCounts(counts)}`);
  console.log(
    `${done} seeds in ${seconds(startedAt)} s on ${workersCount} workers (${msPerSeed.toFixed(1)} ms each), ${failed.length} failed`,
  );
  const onlyText = only === "" ? "" : `--only ${only} `;
  if (failed.length > 0) console.log(`replay with: node scripts/simulate.mjs ${onlyText}--seed ${failed[0]} --trace`);
  return failed.length > 0 || done < until - from || codes.some((code) => code !== 0) ? 1 : 0;
}

/**
 * What a worker tells after a batch.
 *
 * @typedef {{ from: number, count: number, counts: [string, number][], failures: { seed: number, violation: string }[] }} Batch
 */

async function work() {
  await import("./lib/light-host.mjs");
  const { simulate } = await load();
  process.on("message", async (/** @type {{ from: number, until: number }} */ { from, until }) => {
    if (from === until) process.exit(0);
    /** @type {Batch} */
    const batch = { from, count: until - from, counts: [], failures: [] };
    const counts = new Map();
    for (let seed = from; seed < until; seed++) {
      const report = await simulate({ seed });
      for (const [name, count] of report.counts) counts.set(name, (counts.get(name) ?? 0) + count);
      const [violation] = report.violations;
      if (violation !== undefined) batch.failures.push({ seed, violation });
    }
    batch.counts = [...counts];
    process.send?.(batch);
  });
  process.send?.("ready");
}

/** @param {ReadonlyMap<string, number>} counts */
function formatCounts(counts) {
  return [...counts].map(([name, count]) => `${name} ${count}`).join(", ");
}

/** @param {number} startedAt */
function seconds(startedAt) {
  return ((performance.now() - startedAt) / 1000).toFixed(0);
}
