import type { RecordPage } from "../data-store.ts";
import type { Connection } from "./connection.ts";
import type { SqlStatement } from "./driver.ts";
import { jsonRecords } from "./rows.ts";

/** How to read pages of one kind of record. */
interface PageSource<Row, Record> {
  /** Reads at most `limit` rows whose id is greater than `after`, by id. */
  readonly statement: (after: string, limit: number) => SqlStatement;
  readonly toRecord: (row: Row) => Record;
  readonly idOf: (record: Record) => string;
}

/** A page of records, ordered by id. The statement reads one row more, which tells whether there is a next page. */
export async function readPage<Row, Record>(
  connection: Connection,
  { limit, cursor }: { readonly limit: number; readonly cursor: string | null },
  source: PageSource<Row, Record>,
): Promise<RecordPage<Record>> {
  // A remote server refuses answers above 10 MB. Then the page is shorter, and the other records follow on the next
  // pages.
  for (let size = limit; ; size = Math.ceil(size / 4)) {
    try {
      const rows = await connection.read(source.statement(cursor ?? "", size + 1));
      const records = jsonRecords<Row>(rows).map(source.toRecord);
      const items = records.slice(0, size);
      const last = items.at(-1);
      return { items, cursor: records.length > size && last !== undefined ? source.idOf(last) : null };
    } catch (error) {
      if (connection.failureKind(error) !== "tooLarge" || size <= 1) throw error;
    }
  }
}
