import { PAGE_BYTES_MAX } from "../../../shared/limits.ts";
import type { Scan, ScannedTable } from "../../lists/list-scans.ts";
import { sizeInBytes } from "../sql-and-json.ts";

/**
 * SQL that reads a page. ?1 and ?2 are the most records to take and the most rows to scan; the others belong to
 * the scan and to the filter. The column `record` has the records, and `bytes` about how large each is: after the first
 * record with which all have more than `PAGE_BYTES_MAX`, there are no more. If the scan ended because of ?2, there is
 * one more row, the last one, without a record: its `place` has the place in which the scan ended, as a JSON array of
 * texts.
 */
export function scanStatement({ table, key, record, isTaken, texts }: ScannedTable, scan: Scan): string {
  const { given = "", rows, place, isBackwards = false } = scan;
  const ordered = (alias: string, backwards: boolean): string =>
    place.map((column) => `${alias}.${column} ${backwards ? "DESC" : "ASC"}`).join(", ");
  const end = place.map((column) => `CAST(w.${column} AS TEXT)`).join(", ");
  const bytes = texts.map((column) => `coalesce(${sizeInBytes(`t.${column}`)}, 0)`).join(" + ");
  const taken =
    `SELECT w.*, ${bytes} AS bytes FROM scanned w CROSS JOIN ${table} t ON t.${key} = w.seq ` +
    `WHERE ${isTaken} ORDER BY ${ordered("w", isBackwards)} LIMIT +?1`;
  const sized =
    `SELECT k.*, sum(k.bytes) OVER (ORDER BY ${ordered("k", isBackwards)} ROWS UNBOUNDED PRECEDING) - k.bytes ` +
    `AS bytes_before FROM (${taken}) k`;
  return (
    `WITH ${given === "" ? "" : `${given}, `}scanned AS MATERIALIZED (${rows} LIMIT +?2) ` +
    `SELECT * FROM (SELECT ${record} AS record, NULL AS place, w.bytes AS bytes FROM (${sized}) w ` +
    `CROSS JOIN ${table} t ON t.${key} = w.seq WHERE w.bytes_before <= ${PAGE_BYTES_MAX} ` +
    `ORDER BY ${ordered("w", isBackwards)}) ` +
    `UNION ALL SELECT * FROM (SELECT NULL, json_array(${end}), NULL ` +
    `FROM scanned w WHERE (SELECT count(*) FROM scanned) >= ?2 ORDER BY ${ordered("w", !isBackwards)} LIMIT 1)`
  );
}

/** SQL of whether one of the expressions has the text of a parameter somewhere. Both sides are folded by one function,
 *  because a database may have a `lower` that knows more letters than A to Z. The parameter is null for any text. */
export function foundIn(parameter: string, expressions: readonly string[]): string {
  const found = expressions.map((expression) => `instr(lower(${expression}), lower(${parameter})) > 0`);
  return `(${parameter} IS NULL OR ${found.join(" OR ")})`;
}
