// @ts-check

/**
 * A row of the matrix. `problem` says why a runtime did not run at all.
 *
 * @typedef {{ name: string, version: string, temporal: string, passed: number, failed: number, skipped: number,
 *   reasons: string[], durationMs: number, problem: string | null }} MatrixRow
 */

const HEADER = ["runtime", "version", "Temporal", "passed", "failed", "skipped", "time"];
const TEMPORAL_TEXTS = new Map([
  ["object", "native"],
  ["undefined", "polyfilled"],
]);

/** The row of a runtime that could not run. @param {string} name @param {string} problem @returns {MatrixRow} */
export function rowWithoutRun(name, problem) {
  return { name, version: "", temporal: "", passed: 0, failed: 0, skipped: 0, reasons: [], durationMs: 0, problem };
}

/** Whether every runtime ran, ran some test, and failed none. @param {readonly MatrixRow[]} rows */
export function isGreen(rows) {
  return rows.length > 0 && rows.every(({ problem, failed, passed }) => problem === null && failed === 0 && passed > 0);
}

/** The matrix as a table, then why runtimes did not run and tests were skipped. @param {readonly MatrixRow[]} rows */
export function formatMatrix(rows) {
  const table = [HEADER, ...rows.map(cellsOf)];
  const widths = HEADER.map((_, column) => Math.max(...table.map((cells) => cells[column]?.length ?? 0)));
  const [header, ...lines] = table.map(
    (cells) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`,
  );
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
  return [header, rule, ...lines, ...notesOf(rows)].join("\n");
}

/** @param {MatrixRow} row */
function cellsOf({ name, version, temporal, passed, failed, skipped, durationMs, problem }) {
  if (problem !== null) return [name, "-", "-", "did not run", "-", "-", "-"];
  const counts = [passed, failed, skipped].map(String);
  return [name, version, TEMPORAL_TEXTS.get(temporal) ?? temporal, ...counts, `${Math.round(durationMs / 1000)} s`];
}

/** @param {readonly MatrixRow[]} rows */
function notesOf(rows) {
  const notes = rows.flatMap(({ name, problem, reasons }) => {
    if (problem !== null) return [`${name} did not run: ${problem}`];
    const counts = new Map();
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    return [...counts].map(([reason, count]) => `${name} skipped ${count}: ${reason}`);
  });
  return notes.length > 0 ? ["", ...notes] : [];
}
