import { allOf, ITEMS_MAX, type Load } from "./api.ts";
import { attempt, Button } from "./parts/basics.tsx";

type ExportedRow = Readonly<Record<string, unknown>>;

/** Buttons that save a whole list, with the filter that it has. */
export function exportButtons<T>(name: string, load: Load<T>, rowOf: (item: T) => ExportedRow) {
  const save = (ending: "csv" | "json") =>
    attempt(async () => {
      const rows = (await allOf(load)).map(rowOf);
      const text = ending === "csv" ? csvOf(rows) : JSON.stringify(rows, null, 2);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: ending === "csv" ? "text/csv" : "application/json" }));
      link.download = `${name}.${ending}`;
      link.click();
      URL.revokeObjectURL(link.href);
      const bound = rows.length >= ITEMS_MAX ? ", which is the most" : "";
      return `${rows.length.toLocaleString("en")} rows are in ${name}.${ending}${bound}.`;
    });
  return (["csv", "json"] as const).map((ending) => (
    <Button
      key={ending}
      kind="ghost small hide-s"
      onClick={() => save(ending)}
      title={`Save the list as ${ending.toUpperCase()}`}
    >
      {ending.toUpperCase()}
    </Button>
  ));
}

/** RFC 4180. A cell that a spreadsheet would take for a formula gets an apostrophe. */
function csvOf(rows: readonly ExportedRow[]): string {
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
