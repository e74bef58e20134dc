import type { RecordPage } from "../data-store.ts";
import type { Connection } from "./connection.ts";
import type { Row, SqlStatement } from "./driver.ts";
import { WALKED_ROWS_FIRST, WALKED_ROWS_MAX, WALKS_PER_PAGE_MAX } from "./limits.ts";
import { jsonArray, jsonRecords } from "./rows.ts";

/** How to read pages of one kind of record. */
interface PageSource<Stored, Record> {
  /** Reads at most `limit` records on a walk along at most `walked` rows after a cursor, see `walkStatement`. */
  readonly statement: (cursor: string | null, limit: number, walked: number) => SqlStatement;
  /** Whether the filter takes every row of the walk, as far as is known. */
  readonly takesAll: boolean;
  readonly toRecord: (stored: Stored) => Record;
  readonly cursorOf: (record: Record) => string;
  /** The cursor of a place in the order of the walk. */
  readonly cursorAt: (place: readonly string[]) => string;
}

/** A page of records. One record more is read, which tells whether there is a next page. */
export async function readPage<Stored, Record>(
  connection: Connection,
  { limit, cursor }: { readonly limit: number; readonly cursor: string | null },
  source: PageSource<Stored, Record>,
): Promise<RecordPage<Record>> {
  // A remote server refuses answers above 10 MB. Then the page is shorter, and the other records follow on the next
  // pages.
  for (let size = limit; ; size = Math.ceil(size / 4)) {
    try {
      return await walk(connection, { limit: size, cursor }, source);
    } catch (error) {
      if (connection.failureKind(error) !== "tooLarge" || size <= 1) throw error;
    }
  }
}

/** Walks until the page is full, in several statements where the filter takes few rows, so that no statement takes long
 *  in a database that holds up the process meanwhile. */
async function walk<Stored, Record>(
  connection: Connection,
  { limit, cursor }: { readonly limit: number; readonly cursor: string | null },
  { statement, takesAll, toRecord, cursorOf, cursorAt }: PageSource<Stored, Record>,
): Promise<RecordPage<Record>> {
  const found: Record[] = [];
  let start = cursor;
  let walked = takesAll ? limit + 1 : Math.max(WALKED_ROWS_FIRST, limit + 1);
  for (let walks = 1; ; walks++) {
    const rows = await connection.read(statement(start, limit + 1 - found.length, walked));
    found.push(...jsonRecords<Stored>(rows.filter(hasRecord)).map(toRecord));
    const items = found.slice(0, limit);
    const last = items.at(-1);
    if (found.length > limit && last !== undefined) return { items, cursor: cursorOf(last) };
    const end = rows.find((row) => !hasRecord(row));
    start = end === undefined ? null : cursorAt(jsonArray<string>([end], "place"));
    if (start === null || walks === WALKS_PER_PAGE_MAX) return { items, cursor: start };
    walked = WALKED_ROWS_MAX;
  }
}

function hasRecord({ record }: Row): boolean {
  return record !== null && record !== undefined;
}
