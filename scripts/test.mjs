// @ts-check

// Everything a contributor needs before a commit. Runs every part even when an earlier one failed, and ends with a
// line per runtime and the total. `npm test -- --help` names the options.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseOptions, USAGE } from "./check-options.mjs";
import { CHECKS, RUNTIMES, vitestArguments } from "./check-parts.mjs";
import { endCommandsOnSignal, runCommand } from "./check-process.mjs";
import { countRun, formatRow, formatSeconds, formatTotal } from "./check-summary.mjs";
import { startBusyLoops } from "./lib/busy-loops.mjs";

// Both are far beyond what a healthy run takes, on a busy machine too: they end a run that hangs. A test that hangs
// ends before, unless it blocks its process.
const CHECK_HANG_MS = 900_000;
const RUNTIME_HANG_MS = 3_600_000;

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
  for (const runtime of RUNTIMES) if (options.parts.has(runtime.name)) rows.push(await runSuite(runtime, options));
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

/** @param {import("./check-parts.mjs").Runtime} runtime @param {{ isFast: boolean, filters: string[] }} options */
async function runSuite({ name, run, env }, options) {
  const folder = mkdtempSync(join(tmpdir(), "escapement-test-"));
  const reportPath = join(folder, "report.json");
  const command = run(vitestArguments(options));
  const startedAt = Date.now();
  process.stdout.write(`\nSuite on ${name}: `);
  const ended = await runCommand(command, {
    cwd: root,
    timeoutMs: RUNTIME_HANG_MS,
    env: { ...env, ESCAPEMENT_TEST_REPORT: reportPath },
  });
  const report = readReport(reportPath);
  if (report === null && ended.problem !== null) ended.problem += `; it was in ${readText(`${reportPath}.running`)}`;
  rmSync(folder, { recursive: true, force: true });
  const durationMs = Date.now() - startedAt;
  const counts = countRun(ended, report, { mayBeEmpty: options.filters.length > 0 });
  if (counts.failed === 0) console.log(`ok (${formatSeconds(durationMs)})`);
  else printFailure(durationMs, command, ended);
  for (const skipped of report?.skipped ?? []) {
    console.log(`  skipped: ${skipped.name}: ${skipped.reason ?? "no reason given"}`);
  }
  for (const line of report?.notes ?? []) console.log(`  ${line}`);
  return { name, ...counts, durationMs };
}

/** @param {string} path @returns {{ passed: number, failed: number, skipped: { name: string, reason: string | null }[], notes?: string[] } | null} */
function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}

/** @param {string} path */
function readText(path) {
  try {
    return readFileSync(path, "utf8") || "no test file";
  } catch {
    return "no test file yet";
  }
}

/** @param {number} durationMs @param {string[]} command @param {{ exitCode: number | null, output: string, problem: string | null }} ended */
function printFailure(durationMs, command, { exitCode, output, problem }) {
  console.log(`FAILED (${formatSeconds(durationMs)})`);
  console.log(`  $ ${command.join(" ")}`);
  console.log(output.trimEnd().replace(/^/gm, "  "));
  console.log(`  ${problem ?? `exit code ${exitCode}`}`);
}
