import type { RecordPage } from "../../data-store.ts";
import { PAGE_BYTES_MAX } from "../../shared/limits.ts";
import type { Connection } from "../driver/connection.ts";
import type { Row, SqlStatement } from "../driver/driver-and-failures.ts";
import { SCANNED_ROWS_FIRST, SCANNED_ROWS_MAX, SCANS_PER_PAGE_MAX } from "../limits.ts";
import { jsonArray, jsonRecords } from "../sql-and-json.ts";

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
