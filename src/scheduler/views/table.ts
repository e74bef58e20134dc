import { type Temporal, zonedOf } from "../../core/temporal.ts";

/** One line of a table: what a person wants to know of a schedule, a job or a result, for `console.table`. */
export type TableRow = Readonly<Record<string, string | number | boolean | null>>;

/** Longest text of a cell, in UTF-16 units. Longer text is cut. */
const CELL_LENGTH_MAX = 60;

/** An instant as people read it, with the zone that it is shown in: `2030-01-31 09:00:00+01:00 Europe/Berlin`. */
export function timeText(epochMs: number | null, timeZone = "UTC"): string | null {
  if (epochMs === null) return null;
  const zoned: Temporal.ZonedDateTime = zonedOf(epochMs, timeZone);
  return `${zoned.toString({ timeZoneName: "never" }).replace("T", " ")} ${timeZone}`;
}

/** Text that fits into a cell: on one line, and not too long. */
export function cellText(text: string): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");
  return line.length <= CELL_LENGTH_MAX ? line : `${line.slice(0, CELL_LENGTH_MAX - 1)}…`;
}

/** Rows as lines of text, below a line with the names of the columns. The columns are those of the first row. */
export function tableLines(rows: readonly TableRow[]): string[] {
  const names = Object.keys(rows[0] ?? {});
  const lines = [names, ...rows.map((row) => names.map((name) => cellText(String(row[name] ?? "none"))))];
  const widths = names.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  return lines.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
