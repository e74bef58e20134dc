import type { Page } from "./api.ts";
import { attempt, Button } from "./parts/basics.tsx";

/** Most rows of a file. */
const ROWS_MAX = 10_000;

type Row = Readonly<Record<string, unknown>>;

/** Buttons that save a whole list, with the filter that it has. */
export function exportButtons<T>(
  name: string,
  load: (cursor: string | undefined) => Promise<Page<T>>,
  rowOf: (item: T) => Row,
) {
  const all = async (): Promise<Row[]> => {
    const rows: Row[] = [];
    let cursor: string | undefined;
    do {
      const page = await load(cursor);
      rows.push(...page.items.map(rowOf));
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined && rows.length < ROWS_MAX);
    return rows;
  };
  const save = (ending: "csv" | "json") =>
    attempt(async () => {
      const rows = await all();
      const text = ending === "csv" ? csvOf(rows) : JSON.stringify(rows, null, 2);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: ending === "csv" ? "text/csv" : "application/json" }));
      link.download = `${name}.${ending}`;
      link.click();
      URL.revokeObjectURL(link.href);
      const bound = rows.length >= ROWS_MAX ? ", which is the most" : "";
      return `${rows.length.toLocaleString("en")} rows are in ${name}.${ending}${bound}.`;
    });
  return (
    <>
      <Button kind="ghost small hide-s" onClick={() => save("csv")} title="Save the list as CSV">
        CSV
      </Button>
      <Button kind="ghost small hide-s" onClick={() => save("json")} title="Save the list as JSON">
        JSON
      </Button>
    </>
  );
}

/** RFC 4180. A cell that a spreadsheet would take for a formula gets an apostrophe. */
function csvOf(rows: readonly Row[]): string {
  const names = Object.keys(rows[0] ?? {});
  const cell = (value: unknown): string => {
    const text =
      value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
    const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [names, ...rows.map((row) => names.map((name) => row[name]))]
    .map((cells) => cells.map(cell).join(","))
    .join("\r\n");
}
