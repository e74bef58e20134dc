import { PAGE_BYTES_MAX } from "../../../shared/limits.ts";
import type { Scan, ScannedTable } from "../../lists/list-scans.ts";
import { LABELLED, type TableNames } from "../../schema/tables.ts";
import { sizeInBytes } from "../sql-and-json.ts";

/** SQL that reads a page, see the function of this name on SQLite's SQL. */
export function scanStatement({ table, key, record, isTaken, texts }: ScannedTable, scan: Scan): string {
  const { given = "", rows, place, isBackwards = false } = scan;
  const ordered = (alias: string, backwards: boolean): string =>
    place.map((column) => `${alias}.${column} ${backwards ? "DESC" : "ASC"}`).join(", ");
  const end = place.map((column) => `w.${column}::text`).join(", ");
  const bytes = texts.map((column) => sizeInBytes(`t.${column}`)).join(" + ");
  const taken =
    `SELECT w.*, ${bytes} AS bytes FROM scanned w JOIN ${table} t ON t.${key} = w.seq ` +
    `WHERE ${isTaken} ORDER BY ${ordered("w", isBackwards)} LIMIT ?1`;
  const sized =
    `SELECT k.*, row_number() OVER o AS nth, sum(k.bytes) OVER o - k.bytes AS bytes_before FROM (${taken}) k ` +
    `WINDOW o AS (ORDER BY ${ordered("k", isBackwards)} ROWS UNBOUNDED PRECEDING)`;
  return (
    `WITH ${given === "" ? "" : `${given}, `}scanned AS MATERIALIZED (${rows} LIMIT ?2) ` +
    `SELECT p.record, p.place, p.bytes FROM (SELECT w.nth, ${record} AS record, NULL AS place, w.bytes AS bytes ` +
    `FROM (${sized}) w JOIN ${table} t ON t.${key} = w.seq WHERE w.bytes_before <= ${PAGE_BYTES_MAX} ` +
    `UNION ALL (SELECT NULL, NULL, json_build_array(${end})::text, NULL ` +
    `FROM scanned w WHERE (SELECT count(*) FROM scanned) >= ?2 ORDER BY ${ordered("w", !isBackwards)} LIMIT 1)) p ` +
    "ORDER BY p.nth NULLS LAST"
  );
}

/** SQL of whether one of the expressions has the text of a parameter somewhere. The parameter is null for any text. */
export function foundIn(parameter: string, expressions: readonly string[]): string {
  // In this collation, `lower` knows the letters A to Z alone, as everywhere else.
  const folded = (text: string): string => `lower(${text} COLLATE "C")`;
  const found = expressions.map((expression) => `strpos(${folded(expression)}, ${folded(`${parameter}::text`)}) > 0`);
  return `(${parameter}::text IS NULL OR ${found.join(" OR ")})`;
}

/** SQL of whether a record has all labels of a parameter, see `labelsParameter`.
 *  @param at SQL of the column `at` of its labels @param id SQL of its id */
export function hasAllLabels(
  { labels }: TableNames,
  parameter: string,
  { kind, at = "0", id }: { readonly kind: keyof typeof LABELLED; readonly at?: string; readonly id: string },
): string {
  return (
    `(${parameter}::text IS NULL OR NOT EXISTS (SELECT 1 FROM json_array_elements(${parameter}::json) n WHERE ` +
    `NOT EXISTS (` +
    `SELECT 1 FROM ${labels} l WHERE l.kind = ${LABELLED[kind]} AND l.name = n->>0 ` +
    `AND l.value = n->>1 AND l.at = ${at} AND l.id = ${id})))`
  );
}

/** SQL condition of the rows `l` of the first label of a parameter. */
export function isFirstLabel(parameter: string, kind: keyof typeof LABELLED): string {
  const first = `(${parameter}::json->0)`;
  return `l.kind = ${LABELLED[kind]} AND l.name = ${first}->>0 AND l.value = ${first}->>1`;
}
