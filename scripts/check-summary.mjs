// @ts-check

/**
 * What one row of the summary counts.
 *
 * @typedef {{ name: string, passed: number, failed: number, skipped: number, durationMs: number }} Row
 */

/** @param {Row} row */
export function formatRow({ name, passed, failed, skipped, durationMs }) {
  return `${name.padEnd(8)} ${formatCounts({ passed, failed, skipped })} (${formatSeconds(durationMs)})`;
}

/** The sum of all rows: the very last line. @param {readonly Row[]} rows */
export function formatTotal(rows) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const row of rows) {
    total.passed += row.passed;
    total.failed += row.failed;
    total.skipped += row.skipped;
  }
  return formatCounts(total);
}

/** @param {number} durationMs */
export function formatSeconds(durationMs) {
  return `${(durationMs / 1000).toFixed(1)} s`;
}

/**
 * What is shown of a command that failed.
 *
 * @param {readonly string[]} command
 * @param {{ exitCode: number | null, output: string, problem: string | null }} ended
 */
export function formatFailure(command, { exitCode, output, problem }) {
  const end = problem ?? `exit code ${exitCode}`;
  return [`$ ${command.join(" ")}`, output.trimEnd(), end].join("\n").replace(/^/gm, "  ");
}

/**
 * Counts of a runtime's run. A run that ended badly counts at least one failure, whatever its report says, and so does
 * one without a report: a runtime that cannot run never passes.
 *
 * @param {{ exitCode: number | null, problem: string | null }} ended
 * @param {{ passed: number, failed: number, skipped: readonly unknown[] } | null} report
 * @param {{ mayBeEmpty: boolean }} options
 */
export function countRun(ended, report, { mayBeEmpty }) {
  const counts = { passed: report?.passed ?? 0, failed: report?.failed ?? 0, skipped: report?.skipped.length ?? 0 };
  const isEmpty = counts.passed + counts.failed + counts.skipped === 0;
  const isBroken = ended.exitCode !== 0 || ended.problem !== null || report === null || (isEmpty && !mayBeEmpty);
  if (isBroken && counts.failed === 0) counts.failed = 1;
  return counts;
}

/** @param {{ passed: number, failed: number, skipped: number }} counts */
function formatCounts({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
