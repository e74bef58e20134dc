// Plain text tables, as Markdown reads them.

export function printTable(title: string, header: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = header.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)));
  // The first column is aligned to the left, numbers to the right.
  const padded = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const line = (cells: readonly string[]): string => `| ${cells.map(padded).join(" | ")} |`;
  const rule = widths.map((width, column) => (column === 0 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`));
  console.log(`\n### ${title}\n`);
  console.log(line(header));
  console.log(`|${rule.join("|")}|`);
  for (const row of rows) console.log(line(row));
}

/** Nanoseconds in three digits. */
export function formatNs(ns: number): string {
  if (Number.isNaN(ns)) return "-";
  if (ns >= 1e6) return `${(ns / 1e6).toPrecision(3)} ms`;
  if (ns >= 1e3) return `${(ns / 1e3).toPrecision(3)} us`;
  return `${ns < 1 ? ns.toFixed(2) : ns.toPrecision(3)} ns`;
}

/** How many times as long, without decimals where they mean nothing. */
export function formatRatio(ratio: number): string {
  if (Number.isNaN(ratio)) return "-";
  return ratio >= 10 ? `${Math.round(ratio)}x` : `${ratio.toFixed(1)}x`;
}
