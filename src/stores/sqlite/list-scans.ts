import { PAGE_BYTES_MAX } from "../../core/limits.ts";
import type { RecordPage } from "../data-store.ts";
import { SCANNED_ROWS_FIRST, SCANNED_ROWS_MAX, SCANS_PER_PAGE_MAX } from "./bounds.ts";
import type { Connection } from "./driver/connection.ts";
import type { Row, SqlStatement } from "./driver/driver-and-failures.ts";
import { jsonArray, jsonRecords, sizeInBytes } from "./sql-and-json.ts";

/**
 * How a page of a list is read: a scan along the rows of an index, in the order of the list, from the end of the page
 * before. The filter takes some of the rows. A scan ends after a number of rows, because a filter may take few of very
 * many.
 */
export interface Scan {
  /** A common table expression that `rows` reads. Default: none */
  readonly given?: string;
  /** A select of the rows of the scan, in order, without the limit. Its columns are `seq`, the key of the row, and the
   *  columns of the place. */
  readonly rows: string;
  /** The columns that make up the place of a row in the order. */
  readonly place: readonly string[];
  /** Whether the order is descending. */
  readonly isBackwards?: boolean;
}

/** A list of which pages are read. */
export interface ScannedTable {
  readonly table: string;
  /** The name of the key of its rows. */
  readonly key: string;
  /** SQL of a record, and of whether the filter takes it. The table's alias is `t`. */
  readonly record: string;
  readonly isTaken: string;
  /** The columns that may be large. */
  readonly texts: readonly string[];
}

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

/** How to read pages of one kind of record. */
interface ListSource<Stored, Record> {
  /** Reads at most `limit` records on a scan along at most `scanned` rows after a cursor, see `scanStatement`. */
  readonly statement: (cursor: string | null, limit: number, scanned: number) => SqlStatement;
  /** Whether the filter takes every row of the scan, as far as is known. */
  readonly takesAll: boolean;
  readonly toRecord: (stored: Stored) => Record;
  readonly cursorOf: (record: Record) => string;
  /** The cursor of a place in the order of the scan. */
  readonly cursorAt: (place: readonly string[]) => string;
}

/** A page of records. One record more is read, which tells whether there is a next page. */
export async function readPage<Stored, Record>(
  connection: Connection,
  { limit, cursor }: { readonly limit: number; readonly cursor: string | null },
  source: ListSource<Stored, Record>,
): Promise<RecordPage<Record>> {
  // A remote server refuses answers above 10 MB. Then the page is shorter, and the other records follow on the next
  // pages.
  for (let size = limit; ; size = Math.ceil(size / 4)) {
    try {
      return await scan(connection, { limit: size, cursor }, source);
    } catch (error) {
      if (connection.failureKind(error) !== "tooLarge" || size <= 1) throw error;
    }
  }
}

/** Scans until the page is full, in several statements where the filter takes few rows, so that no statement takes long
 *  in a database that holds up the process meanwhile. */
async function scan<Stored, Record>(
  connection: Connection,
  { limit, cursor }: { readonly limit: number; readonly cursor: string | null },
  { statement, takesAll, toRecord, cursorOf, cursorAt }: ListSource<Stored, Record>,
): Promise<RecordPage<Record>> {
  const items: Record[] = [];
  let bytes = 0;
  let start = cursor;
  let scanned = takesAll ? limit + 1 : Math.max(SCANNED_ROWS_FIRST, limit + 1);
  for (let scans = 1; ; scans++) {
    const rows = await connection.read(statement(start, limit + 1 - items.length, scanned));
    for (const row of rows.filter(hasRecord)) {
      const last = items.at(-1);
      bytes += Number(row.bytes);
      const isFull = items.length === limit || bytes > PAGE_BYTES_MAX;
      if (isFull && last !== undefined) return { items, cursor: cursorOf(last) };
      items.push(...jsonRecords<Stored>([row]).map(toRecord));
    }
    const last = items.at(-1);
    if (bytes > PAGE_BYTES_MAX && last !== undefined) return { items, cursor: cursorOf(last) };
    const end = rows.find((row) => !hasRecord(row));
    start = end === undefined ? null : cursorAt(jsonArray<string>([end], "place"));
    if (start === null || scans === SCANS_PER_PAGE_MAX) return { items, cursor: start };
    scanned = SCANNED_ROWS_MAX;
  }
}

function hasRecord({ record }: Row): boolean {
  return record !== null && record !== undefined;
}
