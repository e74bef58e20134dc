// @ts-check

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../check-process.mjs";
import { countRun, formatFailure, formatSeconds } from "../check-summary.mjs";

// Far beyond what a healthy run takes, on a busy machine too: it ends a run that hangs. A test that hangs ends before,
// unless it blocks its process.
const RUNTIME_HANG_MS = 3_600_000;

/**
 * What a reporter writes of a run of vitest.
 *
 * @typedef {{ passed: number, failed: number, skipped: { name: string, reason: string | null }[], notes?: string[] }} Report
 */

/**
 * Runs vitest in a runtime, and prints how it went.
 *
 * @param {import("../check-parts.mjs").Runtime} runtime
 * @param {{ root: string, args: string[], isWhole: boolean, mayBeEmpty: boolean, print: (line: string) => void }} options
 *   `args` are vitest's; `isWhole` takes tests too that compute the same on every runtime, see
 *   test/support/every-runtime.ts; `print` gets the lines once the run has ended
 * @returns {Promise<{ name: string, passed: number, failed: number, skipped: number, durationMs: number,
 *   reasons: string[] }>} `reasons` has one for each test that was skipped
 */
export async function runSuite({ name, run, env }, { root, args, isWhole, mayBeEmpty, print }) {
  const folder = mkdtempSync(join(tmpdir(), "escapement-test-"));
  const reportPath = join(folder, "report.json");
  const command = run(args);
  const startedAt = Date.now();
  const ended = await runCommand(command, {
    cwd: root,
    timeoutMs: RUNTIME_HANG_MS,
    env: { ...env, ESCAPEMENT_TEST_REPORT: reportPath, ...(isWhole && { ESCAPEMENT_ALL_TESTS: "1" }) },
  });
  const report = readReport(reportPath);
  if (report === null && ended.problem !== null) ended.problem += `; it was in ${readText(`${reportPath}.running`)}`;
  rmSync(folder, { recursive: true, force: true });
  const durationMs = Date.now() - startedAt;
  const counts = countRun(ended, report, { mayBeEmpty });
  print(`\nSuite on ${name}: ${counts.failed === 0 ? "ok" : "FAILED"} (${formatSeconds(durationMs)})`);
  if (counts.failed > 0) print(formatFailure(command, ended));
  const skipped = (report?.skipped ?? []).map(({ name, reason }) => ({ name, reason: reason ?? "no reason given" }));
  for (const { name, reason } of skipped) print(`  skipped: ${name}: ${reason}`);
  for (const line of report?.notes ?? []) print(`  ${line}`);
  return { name, ...counts, durationMs, reasons: skipped.map(({ reason }) => reason) };
}

/** @param {string} path @returns {Report | null} */
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
