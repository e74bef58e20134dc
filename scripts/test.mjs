// @ts-check

// Everything a contributor needs before a commit. Runs every part even when an earlier one failed, two at once, and
// ends with a line per runtime and the total. `npm test -- --help` names the options.

import { PARTS, parseOptions, USAGE } from "./check-options.mjs";
import { RUNTIMES, STARTING_ORDER, vitestArguments } from "./check-parts.mjs";
import { formatRow, formatTotal } from "./check-summary.mjs";
import { startBusyLoops } from "./lib/busy-loops.mjs";
import { inLanes } from "./lib/lanes.mjs";
import { runChecks } from "./lib/run-checks.mjs";
import { ROOT, runMain } from "./lib/run-main.mjs";
import { runSuite } from "./lib/run-suite.mjs";

const LANES = 2;

await runMain(async () => {
  const options = parseOptions(process.argv.slice(2));
  if (options.isHelp) {
    console.log(USAGE);
    return 0;
  }
  const endBusyLoops = startBusyLoops(options.busyLoops);
  const rows = await runParts(options).finally(endBusyLoops);

  const isNothingRun = rows.every(({ passed, failed, skipped }) => passed + failed + skipped === 0);
  if (isNothingRun) console.log(`\nNo test file matches ${options.filters.join(" ")}.`);
  console.log("\nSummary");
  for (const row of rows) console.log(formatRow(row));
  console.log(formatTotal(rows));
  return isNothingRun || rows.some(({ failed }) => failed > 0) ? 1 : 0;
}, USAGE);

/** @param {ReturnType<typeof parseOptions>} options @returns the rows in the order of the summary */
async function runParts({ parts, isFast, filters }) {
  const started = STARTING_ORDER.filter((name) => parts.has(name));
  if (started.length > LANES) console.log(`${started.join(", ")}: ${LANES} at a time`);
  const rows = await inLanes(started, LANES, (name) =>
    runPart(name, { isFast, filters, isAlone: started.length === 1 }),
  );
  return rows.sort((a, b) => PARTS.indexOf(a.name) - PARTS.indexOf(b.name));
}

/** @param {string} name @param {{ isFast: boolean, filters: string[], isAlone: boolean }} options */
async function runPart(name, { isFast, filters, isAlone }) {
  const lines = /** @type {string[]} */ ([]);
  // The lines of two parts would mix.
  const print = isAlone ? console.log : (/** @type {string} */ line) => lines.push(line);
  const runtime = RUNTIMES.find((candidate) => candidate.name === name);
  const row =
    runtime === undefined
      ? await runChecks(ROOT, { isFast, print })
      : await runSuite(runtime, {
          root: ROOT,
          args: vitestArguments({ filters, isFast }),
          isWhole: filters.length > 0,
          mayBeEmpty: filters.length > 0,
          print,
        });
  if (lines.length > 0) console.log(lines.join("\n"));
  return row;
}
