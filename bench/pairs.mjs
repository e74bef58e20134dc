// Did a change make the library slower?
// node bench/pairs.mjs --old DIR --new DIR [--pairs 20] [--minutes N] [--times N] [measure ...]
// DIR are checkouts with node_modules, built by `npm run build`. Measures: see pairs/measures.mjs; by default all.
// After N minutes no pair begins. Each queue is measured so many times longer, for small differences.
// Old and new run in processes of their own and work in turns, so that whatever else the machine does falls on both.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { MEASURES } from "./pairs/measures.mjs";
import { printReport } from "./pairs/report.mjs";
import { runPair } from "./pairs/run-pair.mjs";
import { startSqld } from "./pairs/sqld.mjs";
import { PAIRS_MIN } from "./pairs/statistics.mjs";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    old: { type: "string" },
    new: { type: "string" },
    pairs: { type: "string", default: "20" },
    minutes: { type: "string", default: "Infinity" },
    times: { type: "string", default: "1" },
  },
});
const checkouts = { old: checkout("old"), new: checkout("new") };
const pairs = Number(options.pairs);
if (!Number.isInteger(pairs) || pairs < PAIRS_MIN) fail(`--pairs must be a whole number of at least ${PAIRS_MIN}`);
const minutes = Number(options.minutes);
if (!(minutes > 0)) fail("--minutes must be a number above 0");
if (!(Number.isInteger(Number(options.times)) && Number(options.times) >= 1))
  fail("--times must be a whole number of at least 1");
const unknown = positionals.find((name) => !Object.hasOwn(MEASURES, name));
if (unknown !== undefined) fail(`unknown measure ${unknown}: use ${Object.keys(MEASURES).join(", ")}`);

/** A measure that has failed so often is not tried again, nor reported. */
const FAILURES_MAX = 3;
const skipped = [];
const failed = [];
const measures = new Map();
for (const name of positionals.length > 0 ? positionals : Object.keys(MEASURES)) {
  const reason = MEASURES[name].whyNot?.([checkouts.old, checkouts.new]) ?? null;
  if (reason === null) measures.set(name, { ...MEASURES[name], name, answers: [] });
  else skipped.push(`${name}: ${reason}`);
}

const startedAt = performance.now();
const loadAtStart = loadavg()[0];
const folder = mkdtempSync(join(tmpdir(), "escapement-pairs-"));
let server = null;
process.once("SIGINT", () => process.exit(130));
process.once("exit", cleanUp);
if ([...measures.values()].some(({ needsServer }) => needsServer)) server = await startSqld(folder);
let pair = 0;
for (; pair < pairs && seconds() < minutes * 60; pair++) {
  for (const measure of measures.values()) await measurePair(measure, pair);
  console.error(`pair ${pair + 1} of ${pairs}, ${seconds()} s, load ${loadavg()[0].toFixed(1)}`);
}

const reported = [...measures.values()].filter(({ answers }) => answers.length >= PAIRS_MIN);
const hasSlower = printReport(reported);
for (const { name, answers } of measures.values()) {
  if (answers.length < PAIRS_MIN)
    failed.push(`${name}, ${answers.length} pairs have no interval: it takes ${PAIRS_MIN}`);
}
for (const line of skipped) console.log(`\nSkipped: ${line}`);
for (const line of failed) console.log(`\nFailed: ${line}`);
const load = `load ${loadAtStart.toFixed(1)} at the start, ${loadavg()[0].toFixed(1)} at the end`;
console.log(
  `\nNode ${process.version}, ${cpus()[0]?.model}, ${cpus().length} cores, ${load}; ${pair} pairs in ${seconds()} s`,
);
process.exitCode = hasSlower || failed.length > 0 ? 1 : 0;

/** Old begins, and in the next pair new. A pair that fails is left out of the report, and named. */
async function measurePair(measure, pair) {
  const pairFolder = mkdtempSync(join(folder, "pair-"));
  const file = fileURLToPath(new URL(`pairs/${measure.program}`, import.meta.url));
  const sides = ["old", "new"].map((name) => {
    const run = { folder: pairFolder, address: server?.address, label: `${name}${pair}`, times: options.times };
    return { name, args: [checkouts[name], ...(measure.args?.(run) ?? [])] };
  });
  try {
    const answers = await runPair(file, pair % 2 === 0 ? sides : sides.toReversed());
    const [was, is] = [answers.old.computed, answers.new.computed];
    if (!isDeepStrictEqual(was, is)) throw new Error(`old computed ${JSON.stringify(was)}, new ${JSON.stringify(is)}`);
    measure.answers.push({ old: answers.old.values, new: answers.new.values });
  } catch (error) {
    fails(measure, `pair ${pair + 1}: ${error.message}`);
  } finally {
    rmSync(pairFolder, { recursive: true, force: true });
  }
}

function cleanUp() {
  server?.stop();
  rmSync(folder, { recursive: true, force: true });
}

function fails(measure, reason) {
  failed.push(`${measure.name}, ${reason}`);
  measure.failures = (measure.failures ?? 0) + 1;
  if (measure.failures >= FAILURES_MAX) measures.delete(measure.name);
}

function checkout(side) {
  const given = options[side];
  if (given === undefined) fail(`--${side} DIR is missing: the checkout that is ${side}`);
  const path = resolve(given);
  if (!existsSync(`${path}/dist/mod.js`)) fail(`${path} has no dist/mod.js: run npm run build there`);
  return path;
}

function seconds() {
  return Math.round((performance.now() - startedAt) / 1000);
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
