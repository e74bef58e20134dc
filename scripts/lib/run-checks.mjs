// @ts-check

import { CHECKS } from "../check-parts.mjs";
import { runCommand } from "../check-process.mjs";
import { formatFailure, formatSeconds } from "../check-summary.mjs";

// Far beyond what a healthy check takes, on a busy machine too: it ends one that hangs.
const CHECK_HANG_MS = 900_000;

/**
 * Runs the checks one after the other.
 *
 * @param {string} root the folder of the repository
 * @param {{ isFast: boolean, print: (line: string) => void }} options `print` gets a line for each, as soon as it ended
 * @returns {Promise<import("../check-summary.mjs").Row>}
 */
export async function runChecks(root, { isFast, print }) {
  const row = { name: "checks", passed: 0, failed: 0, skipped: 0, durationMs: 0 };
  print("\nChecks");
  for (const { name, command, isSlow, env } of CHECKS) {
    if (isFast && isSlow) {
      row.skipped++;
      print(`  ${name}: skipped, because of --fast`);
      continue;
    }
    const startedAt = Date.now();
    const ended = await runCommand(command, { cwd: root, timeoutMs: CHECK_HANG_MS, ...(env && { env }) });
    const durationMs = Date.now() - startedAt;
    row.durationMs += durationMs;
    if (ended.exitCode === 0 && ended.problem === null) {
      row.passed++;
      print(`  ${name}: ok (${formatSeconds(durationMs)})`);
    } else {
      row.failed++;
      print(`  ${name}: FAILED (${formatSeconds(durationMs)})`);
      print(formatFailure(command, ended));
    }
  }
  return row;
}
