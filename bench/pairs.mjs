// Did a change make the library slower?
// node bench/pairs.mjs --old DIR --new DIR [--pairs 20] [--minutes N] [measure ...]
// DIR are checkouts with node_modules, built by `npm run build`. Measures: see pairs/measures.mjs; by default all.
// After N minutes no pair begins.
// Each measure runs in a process of its own, in turns for old and new, because then drift of the machine falls on both.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { ask } from "./pairs/answer.mjs";
import { MEASURES } from "./pairs/measures.mjs";
import { printReport } from "./pairs/report.mjs";
import { startSqld } from "./pairs/sqld.mjs";
import { PAIRS_MIN } from "./pairs/statistics.mjs";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    old: { type: "string" },
    new: { type: "string" },
    pairs: { type: "string", default: "20" },
    minutes: { type: "string", default: "Infinity" },
  },
});
const checkouts = { old: checkout("old"), new: checkout("new") };
const pairs = Number(options.pairs);
if (!Number.isInteger(pairs) || pairs < PAIRS_MIN) fail(`--pairs must be a whole number of at least ${PAIRS_MIN}`);
const minutes = Number(options.minutes);
if (!(minutes > 0)) fail("--minutes must be a number above 0");
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
  for (const measure of measures.values()) await runPair(measure, pair);
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

/** Old before new, and the next time new before old. A pair that fails is left out of the report, and named. */
async function runPair(measure, pair) {
  const order = pair % 2 === 0 ? ["old", "new"] : ["new", "old"];
  const answers = {};
  for (const side of order) {
    const runFolder = mkdtempSync(join(folder, "run-"));
    const run = { folder: runFolder, address: server?.address, label: `p${pair}${side}` };
    const file = fileURLToPath(new URL(`pairs/${measure.program}`, import.meta.url));
    try {
      answers[side] = await ask(file, [checkouts[side], ...(measure.args?.(run) ?? [])]);
    } catch (error) {
      return fails(measure, `${side}, pair ${pair + 1}: ${error.message}`);
    } finally {
      rmSync(runFolder, { recursive: true, force: true });
    }
  }
  if (!isDeepStrictEqual(answers.old.computed, answers.new.computed)) {
    const [was, is] = [answers.old.computed, answers.new.computed].map((computed) => JSON.stringify(computed));
    return fails(measure, `pair ${pair + 1}: old computed ${was}, new ${is}`);
  }
  measure.answers.push({ old: answers.old.values, new: answers.new.values });
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
