import { INSTANT_MS_MAX } from "../../../core/temporal.ts";
import type { JobRecord } from "../../../records/job.ts";
import { type OccurrenceRecord, SKIP_VERDICTS } from "../../../records/ledger.ts";
import { JOB_OUTCOMES } from "../../../records/policies.ts";
import type { RecordPage } from "../../data-store.ts";
import type { OccurrenceRecordFilter } from "../../ledger.ts";
import { occurrenceCursor, readOccurrenceCursor } from "../../occurrence-cursor.ts";
import type { Connection } from "../driver/connection.ts";
import { statement } from "../driver/parameters.ts";
import { lazily } from "../lazily.ts";
import { BOOK_HOURLY_VISIT_MS, BOOKS_PER_SHELF, EXCESS_PER_VISIT_MAX, FAR_PAST_MS } from "../limits.ts";
import { readPage, type Walk, walkStatement } from "../lists.ts";
import { detail, instant, type JobRow, jobAsJson, jsonRecords, numberOrNull, toJob } from "../rows.ts";
import type { TableNames } from "../schema/schema.ts";

import { intoPartsOfSkips, isOf, readRun, shelfOf } from "./entries.ts";

type Statements = BookStatements;

/** What became of the fire times of schedules, in a `SqlDataStore`. */
export class SqliteOccurrences {
  readonly #connection: Connection;
  readonly #statements: Statements;

  constructor(connection: Connection, statements: Statements) {
    this.#connection = connection;
    this.#statements = statements;
  }

  async getStart(scheduleId: string): Promise<number | null> {
    const rows = await this.#connection.read(statement(this.#statements.getLedgerStart, scheduleId));
    return numberOrNull(rows, "since");
  }

  async getJob(scheduleId: string, fireTime: number): Promise<JobRecord | null> {
    const sql = this.#statements.getJobOfFireTime;
    const [row] = jsonRecords<JobRow>(await this.#connection.read(statement(sql, scheduleId, fireTime)));
    return row === undefined ? null : toJob(row);
  }

  async getPage(filter: OccurrenceRecordFilter): Promise<RecordPage<OccurrenceRecord>> {
    const { scheduleId, from, until, verdicts, order } = filter;
    if (filter.cursor !== null) readOccurrenceCursor(filter.cursor);
    const codes = verdicts === undefined ? null : JSON.stringify(verdicts.map(codeOf));
    const sql = this.#statements.getOccurrences[order];
    return readPage<EntryRow, OccurrenceRecord>(this.#connection, filter, {
      statement: (cursor, limit, walked) => {
        const after = cursor === null ? null : readOccurrenceCursor(cursor);
        return statement(sql, limit, walked, scheduleId, from, until, after, codes);
      },
      takesAll: verdicts === undefined,
      toRecord: toEntry,
      cursorOf: (entry) => occurrenceCursor(entry.kind === "run" ? entry.fireTime : entry.from),
      cursorAt: ([at]) => occurrenceCursor(Number(at)),
    });
  }
}

/** What `getOccurrences` yields. */
type EntryRow = [
  at: number,
  verdict: number,
  until: number | null,
  count: number | null,
  target: number | null,
  run: string | null,
];

function toEntry([place, verdict, end, count, target, run]: EntryRow): OccurrenceRecord {
  const at = instantOf(place);
  if (run !== null)
    return { kind: "run", fireTime: at, outcome: JOB_OUTCOMES[verdict] ?? "error", ...readRun(run, at) };
  const [until, into] = [end === null ? at : instantOf(end), target === null ? null : instantOf(target)];
  return { kind: "skip", from: at, until, verdict: SKIP_VERDICTS[verdict] ?? "replaced", count, into };
}

/** The nearest number that is an instant, in a damaged row. */
function instantOf(number: number): number {
  return Math.min(Math.max(number, -INSTANT_MS_MAX), INSTANT_MS_MAX);
}

/** An outcome or a verdict as `getOccurrences` compares it. */
function codeOf(name: NonNullable<OccurrenceRecordFilter["verdicts"]>[number]): number {
  const outcome = (JOB_OUTCOMES as readonly string[]).indexOf(name);
  return outcome >= 0 ? outcome : SKIP_CODE + (SKIP_VERDICTS as readonly string[]).indexOf(name);
}

/** The statements about the books of the ledger: they open them, clean them up, and read them. */
export interface BookStatements {
  readonly reopenBooks: string;
  readonly openBooks: string;
  readonly markBooks: string;
  readonly hasMoreVisits: string;
  readonly trimBooks: string;
  readonly closeBooks: string;
  readonly unmarkBooks: string;
  readonly isolateFireTimes: string;
  readonly getLedgerStart: string;
  readonly getJobOfFireTime: string;
  /** By order. */
  readonly getOccurrences: Readonly<Record<"oldest" | "newest", string>>;
}

/** While the clean-up removes entries of books, the `visit_at` of each is this, times 1, 2 or 3, plus the instant from
 *  which on the book keeps its entries. No other `visit_at` is so early. 2: the book is at least half full. 3: it has
 *  even more to remove. */
const MARK = "-2000000000000000000";
const IS_MARKED = "visit_at < -1000000000000000000";

/** Tells the verdicts of skips from those of runs in `getOccurrences`. */
const SKIP_CODE = 100;

/** A comment before each statement lists its arguments. */
export function bookStatements(names: TableNames): BookStatements {
  const { schedules, jobs, books, occurrences, changes } = names;
  const mark = (book: string): string => `(${book}.visit_at - 1000000000000000000) / ${MARK}`;
  const kept = (book: string): string => `${book}.visit_at - ${mark(book)} * ${MARK}`;
  // A skip that reaches into the time that is kept stays.
  const keptByAge = `coalesce((${skipReaching(occurrences, "b.seq", "?2")}), ?2)`;
  // While books are marked, one of them is the first.
  const first = `SELECT seq, visit_at FROM ${books} WHERE visit_at <= ?1 ORDER BY visit_at LIMIT 1`;
  const due = `(SELECT ${shelfOf("seq")} FROM (${first}) WHERE NOT ${IS_MARKED})`;
  const keptByCount =
    "CASE WHEN c.entries > ?3 THEN (SELECT at FROM (SELECT o.at AS at, row_number() OVER (ORDER BY o.at) AS number " +
    `FROM ${occurrences} o WHERE ${isOf("b.seq", "o")}) ` +
    `WHERE number > min(c.entries - ?3, ${EXCESS_PER_VISIT_MAX}) LIMIT 1) ELSE ${FAR_PAST_MS} END`;
  const counts = `SELECT book, count(*) AS entries FROM ${occurrences} WHERE shelf = ${due} GROUP BY book`;
  const lastBefore = `FROM ${occurrences} o WHERE ${isOf("v.book", "o")} AND o.at < v.kept ORDER BY o.at DESC LIMIT 1`;
  const removable =
    `(SELECT ${shelfOf("v.seq")} AS shelf, max(${kept("v")}) AS kept FROM ${books} v WHERE v.${IS_MARKED}) m ` +
    `CROSS JOIN ${occurrences} o ON o.shelf = m.shelf AND o.at < m.kept ` +
    `CROSS JOIN ${books} b ON b.seq = o.book AND b.${IS_MARKED} AND o.at < ${kept("b")}`;
  const since = "max(s.created_at, coalesce(s.last_fire_time + 1, s.created_at))";
  return lazily<BookStatements>({
    // ?1 ids of schedules that are to be added. Runs before they are.
    reopenBooks: () =>
      `UPDATE ${books} SET reopened = 1 WHERE schedule_id IN (SELECT value FROM json_each(?1)) AND reopened = 0 ` +
      `AND NOT EXISTS (SELECT 1 FROM ${schedules} s WHERE s.id = schedule_id)`,
    // ?1 ids of schedules
    openBooks: () =>
      `INSERT OR IGNORE INTO ${books} (schedule_id, since, visit_at) ` +
      `SELECT s.id, ${since}, s.created_at + ${BOOK_HOURLY_VISIT_MS} ` +
      `FROM json_each(?1) a CROSS JOIN ${schedules} s ON s.id = a.value`,

    // The next five run one after the other. They visit all books of one shelf, because all of its entries are read to
    // count those of one book. The first does nothing while books are marked.
    // The cast is there because some clients bind every number as a REAL, in which the sum would lose its last digits.
    // ?1 now, ?2 the instant before which entries are too old, ?3 most entries of a book
    markBooks: () =>
      `WITH v AS MATERIALIZED (SELECT b.seq AS book, c.entries AS entries, ` +
      `CAST(max(${keptByAge}, ${keptByCount}) AS INTEGER) AS kept ` +
      `FROM ${books} b LEFT JOIN (${counts}) c ON c.book = b.seq ` +
      `WHERE b.seq >= ${due} * ${BOOKS_PER_SHELF} AND b.seq < (${due} + 1) * ${BOOKS_PER_SHELF}) ` +
      `UPDATE ${books} SET visit_at = ${MARK} * CASE WHEN v.entries - ?3 > ${EXCESS_PER_VISIT_MAX} THEN 3 ` +
      `WHEN 2 * v.entries >= ?3 THEN 2 ELSE 1 END + v.kept, ` +
      `since = max(since, coalesce((SELECT coalesce(o.until, o.at) + 1 ${lastBefore}), since)) ` +
      `FROM v WHERE ${books}.seq = v.book`,
    // ?1 limit
    trimBooks: () =>
      `DELETE FROM ${occurrences} WHERE (shelf, at, book) IN (SELECT o.shelf, o.at, o.book FROM ${removable} ` +
      "LIMIT +?1)",
    // no arguments. Of schedules that are gone, without entries, without changes, and without a job that could make an
    // entry.
    closeBooks: () =>
      `DELETE FROM ${books} WHERE ${IS_MARKED} ` +
      `AND NOT EXISTS (SELECT 1 FROM ${schedules} s WHERE s.id = schedule_id) ` +
      `AND NOT EXISTS (SELECT 1 FROM ${changes} c WHERE c.schedule_id = ${books}.schedule_id) ` +
      `AND NOT EXISTS (SELECT 1 FROM ${jobs} j WHERE j.schedule_id = ${books}.schedule_id) ` +
      // Last, because it reads the whole shelf.
      `AND NOT EXISTS (SELECT 1 FROM ${occurrences} o WHERE ${isOf(`${books}.seq`, "o")})`,
    // ?1 now, ?2 after how many milliseconds most books are visited again. While there are entries to remove, the books
    // stay marked.
    unmarkBooks: () =>
      `UPDATE ${books} SET visit_at = ?1 + CASE ${mark(books)} WHEN 3 THEN 0 WHEN 2 THEN ${BOOK_HOURLY_VISIT_MS} ` +
      `ELSE ?2 END WHERE ${IS_MARKED} AND NOT EXISTS (SELECT 1 FROM ${removable})`,
    // ?1 now. Columns: whether there are books to visit.
    hasMoreVisits: () => `SELECT EXISTS (SELECT 1 FROM ${books} WHERE visit_at <= ?1) AS has_more`,

    // Gives fire times entries of their own, where these are in skips of several, so that runs can take their places.
    // ?1 rows [scheduleId, fireTime]
    isolateFireTimes: () =>
      `${intoPartsOfSkips(names)} WITH k AS MATERIALIZED (SELECT o.*, a.value->>1 AS fire, ` +
      "lead(a.value->>1, 1, o.until + 1) OVER part AS next, lag(a.value->>1) OVER part IS NULL AS is_first " +
      `FROM (SELECT DISTINCT value FROM json_each(?1)) a CROSS JOIN ${books} b ON b.schedule_id = a.value->>0 ` +
      `CROSS JOIN ${occurrences} o ON ${isOf("b.seq", "o")} AND o.at = (SELECT max(e.at) FROM ${occurrences} e ` +
      "WHERE e.book = b.seq AND e.at <= a.value->>1 AND e.run IS NULL) " +
      "WHERE o.until >= a.value->>1 AND o.until > o.at " +
      "WINDOW part AS (PARTITION BY o.book, o.at ORDER BY a.value->>1)) " +
      "SELECT shelf, book, at, verdict, fire - 1, NULL, target FROM k WHERE is_first AND at < fire UNION ALL " +
      "SELECT shelf, book, fire, verdict, fire, NULL, target FROM k UNION ALL " +
      "SELECT shelf, book, fire + 1, verdict, next - 1, NULL, target FROM k WHERE fire + 1 < next",

    // ?1 id of a schedule
    getLedgerStart: () => `SELECT ${instant("since")} AS since FROM ${books} WHERE schedule_id = ?1`,
    // ?1 id of a schedule, ?2 fire time
    getJobOfFireTime: () =>
      `SELECT ${jobAsJson(jobs)} AS record FROM ${jobs} WHERE schedule_id = ?1 AND fire_time = ?2 ` +
      `AND ${detail("retryOf")} IS NULL`,
    getOccurrences: () => occurrenceLists(names),
  });
}

/** SQL that selects where the skip begins that began before an instant and reaches up to it. There is one at most,
 *  because skips do not overlap. */
function skipReaching(occurrences: string, book: string, instant: string): string {
  return (
    `SELECT at FROM (SELECT at, until FROM ${occurrences} WHERE book = ${book} AND at < ${instant} AND run IS NULL ` +
    `ORDER BY at DESC LIMIT 1) WHERE until >= ${instant}`
  );
}

/** SQL of a column of an entry as a whole number. */
function whole(column: string): string {
  return `CAST(t.${column} + 0 AS INTEGER)`;
}

/** ?3 id of the schedule, ?4 from, ?5 until, ?6 the fire time after which the page begins, or null, ?7 the
 *  verdicts of runs, and those of skips plus `SKIP_CODE`, or null. */
function occurrenceLists({ books, occurrences }: TableNames): BookStatements["getOccurrences"] {
  const book = `(SELECT seq FROM ${books} WHERE schedule_id = ?3)`;
  const inBook = `shelf = ${shelfOf(book)} AND book = ${book}`;
  const list = {
    table: occurrences,
    key: "at",
    // What is no number in a damaged row reads as 0, and a BLOB, which no JSON can hold, as an empty text.
    record:
      `json_array(${["at", "verdict", "until", "count", "target"].map(whole).join(", ")}, ` +
      "CASE WHEN t.run < x'' THEN t.run WHEN t.run IS NOT NULL THEN '' END)",
    isTaken:
      `t.shelf = ${shelfOf(book)} AND t.book = ${book} AND coalesce(t.until, t.at) >= ?4 AND (?7 IS NULL OR ` +
      `t.verdict + ${SKIP_CODE} * (t.run IS NULL) IN (SELECT value FROM json_each(?7)))`,
  };
  const begin = `coalesce((${skipReaching(occurrences, book, "?4")}), ?4)`;
  const walk = (isBackwards: boolean): Walk => {
    const order = isBackwards ? "DESC" : "ASC";
    const range = isBackwards
      ? `at >= ${begin} AND at < min(coalesce(?6, ?5 + 1), ?5 + 1)`
      : `at >= max(coalesce(?6 + 1, ${begin}), ${begin}) AND at <= ?5`;
    return {
      rows: `SELECT at AS seq, at FROM ${occurrences} WHERE ${inBook} AND ${range} ORDER BY at ${order}`,
      place: ["at"],
      isBackwards,
    };
  };
  return { oldest: walkStatement(list, walk(false)), newest: walkStatement(list, walk(true)) };
}
