// @ts-check

// Everything a contributor needs before a commit. Runs every part even when an earlier one failed, and ends with a
// line per runtime and the total. `npm test -- --help` names the options.

import { fileURLToPath } from "node:url";
import { parseOptions, USAGE } from "./check-options.mjs";
import { CHECKS, RUNTIMES, vitestArguments } from "./check-parts.mjs";
import { endCommandsOnSignal, runCommand } from "./check-process.mjs";
import { formatRow, formatSeconds, formatTotal } from "./check-summary.mjs";
import { startBusyLoops } from "./lib/busy-loops.mjs";
import { printFailure, runSuite } from "./lib/run-suite.mjs";

// Far beyond what a healthy check takes, on a busy machine too: it ends one that hangs.
const CHECK_HANG_MS = 900_000;

const root = fileURLToPath(new URL("..", import.meta.url));
process.chdir(root);
endCommandsOnSignal();

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  console.error(`\n${USAGE}`);
  process.exitCode = 2;
}

async function main() {
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
}

/** @param {ReturnType<typeof parseOptions>} options */
async function runParts(options) {
  const rows = [];
  if (options.parts.has("checks")) rows.push(await runChecks(options));
  const suite = { root, args: vitestArguments(options), mayBeEmpty: options.filters.length > 0 };
  for (const runtime of RUNTIMES) if (options.parts.has(runtime.name)) rows.push(await runSuite(runtime, suite));
  return rows;
}

/** @param {{ isFast: boolean }} options */
async function runChecks({ isFast }) {
  const row = { name: "checks", passed: 0, failed: 0, skipped: 0, durationMs: 0 };
  console.log("Checks");
  for (const { name, command, isSlow, env } of CHECKS) {
    if (isFast && isSlow) {
      row.skipped++;
      console.log(`  ${name}: skipped, because of --fast`);
      continue;
    }
    const startedAt = Date.now();
    process.stdout.write(`  ${name}: `);
    const ended = await runCommand(command, { cwd: root, timeoutMs: CHECK_HANG_MS, ...(env && { env }) });
    const durationMs = Date.now() - startedAt;
    row.durationMs += durationMs;
    if (ended.exitCode === 0 && ended.problem === null) {
      row.passed++;
      console.log(`ok (${formatSeconds(durationMs)})`);
    } else {
      row.failed++;
      printFailure(durationMs, command, ended);
    }
  }
  return row;
}
