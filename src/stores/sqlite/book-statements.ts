import {
  BOOK_DAILY_VISIT_MS,
  BOOK_HOURLY_VISIT_MS,
  BOOKS_PER_CLEANUP_MAX,
  FAR_PAST_MS,
  SKIPS_REACHING_MAX,
} from "./limits.ts";
import { detail, instant, jobAsJson } from "./rows.ts";
import type { TableNames } from "./schema.ts";
import { type Walk, walkStatement } from "./walks.ts";

/** The statements about the books of the ledger: they open them, clean them up, and read them. */
export interface BookStatements {
  readonly openBooks: string;
  readonly markBooks: string;
  readonly trimBooks: string;
  readonly closeBooks: string;
  readonly unmarkBooks: string;
  readonly getLedgerStart: string;
  readonly getJobOfFireTime: string;
  /** By order. */
  readonly getOccurrences: Readonly<Record<"oldest" | "newest", string>>;
}

/** Within the commit of a clean-up, the `visit_at` of a book that is visited is this plus the instant from which on the
 *  book keeps its entries. No other `visit_at` is so early. */
const MARK = "-4000000000000000000";
const IS_MARKED = "visit_at < -3000000000000000000";

/** Tells the verdicts of skips from those of runs in `getOccurrences`. */
export const SKIP_CODE = 100;

/** A comment before each statement lists its arguments. */
export function bookStatements(names: TableNames): BookStatements {
  const { schedules, jobs, books, occurrences, changes } = names;
  const lastBefore = (book: string, instant: string, limit: number): string =>
    `FROM ${occurrences} WHERE book = ${book} AND at < ${instant} ORDER BY at DESC LIMIT ${limit}`;
  // A skip that reaches into the time that is kept stays.
  const reaching = `SELECT at FROM (SELECT at, until ${lastBefore("b.seq", "?2", 1)}) WHERE until >= ?2`;
  const keptByAge = `coalesce((${reaching}), ?2)`;
  const keptByCount = `(SELECT at FROM ${occurrences} WHERE book = b.seq ORDER BY at DESC LIMIT 1 OFFSET ?3 - 1)`;
  const since = "max(s.created_at, coalesce(s.last_fire_time + 1, s.created_at))";
  return {
    // ?1 ids of schedules
    openBooks:
      `INSERT OR IGNORE INTO ${books} (schedule_id, since, visit_at) ` +
      `SELECT s.id, ${since}, s.created_at + ${BOOK_DAILY_VISIT_MS} ` +
      `FROM json_each(?1) a CROSS JOIN ${schedules} s ON s.id = a.value`,

    // The next four run one after the other.
    // The cast is there because some clients bind every number as a REAL, in which the sum would lose its last digits.
    // ?1 now, ?2 the instant before which entries are too old, ?3 most entries of a book
    markBooks:
      `UPDATE ${books} SET visit_at = ${MARK} + v.kept, ` +
      `since = max(since, coalesce((SELECT coalesce(until, at) + 1 ${lastBefore("v.book", "v.kept", 1)}), since)) ` +
      "FROM (SELECT b.seq AS book, " +
      `CAST(max(${keptByAge}, coalesce(${keptByCount}, ${FAR_PAST_MS})) AS INTEGER) AS kept FROM ${books} b ` +
      `WHERE b.visit_at <= ?1 ORDER BY b.visit_at LIMIT ${BOOKS_PER_CLEANUP_MAX}) v WHERE ${books}.seq = v.book`,
    // ?1 limit
    trimBooks:
      `DELETE FROM ${occurrences} WHERE (book, at) IN (SELECT o.book, o.at FROM ${books} b ` +
      `CROSS JOIN ${occurrences} o ON o.book = b.seq AND o.at < b.visit_at - ${MARK} WHERE b.${IS_MARKED} LIMIT +?1)`,
    // no arguments. Of schedules that are gone, without entries, without changes, and without a job that could make an
    // entry.
    closeBooks:
      `DELETE FROM ${books} WHERE ${IS_MARKED} ` +
      `AND NOT EXISTS (SELECT 1 FROM ${occurrences} WHERE book = ${books}.seq) ` +
      `AND NOT EXISTS (SELECT 1 FROM ${schedules} s WHERE s.id = schedule_id) ` +
      `AND NOT EXISTS (SELECT 1 FROM ${changes} c WHERE c.schedule_id = ${books}.schedule_id) ` +
      `AND NOT EXISTS (SELECT 1 FROM ${jobs} j WHERE j.schedule_id = ${books}.schedule_id)`,
    // ?1 now, ?2 half of the most entries of a book. Books that have more to remove are visited at once, and those that
    // are half full soon.
    unmarkBooks:
      `UPDATE ${books} SET visit_at = ?1 + CASE ` +
      `WHEN EXISTS (SELECT 1 FROM ${occurrences} WHERE book = ${books}.seq AND at < visit_at - ${MARK}) THEN 0 ` +
      `WHEN EXISTS (SELECT 1 FROM ${occurrences} WHERE book = ${books}.seq LIMIT 1 OFFSET ?2 - 1) ` +
      `THEN ${BOOK_HOURLY_VISIT_MS} ELSE ${BOOK_DAILY_VISIT_MS} END WHERE ${IS_MARKED}`,

    // ?1 id of a schedule
    getLedgerStart: `SELECT ${instant("since")} AS since FROM ${books} WHERE schedule_id = ?1`,
    // ?1 id of a schedule, ?2 fire time
    getJobOfFireTime:
      `SELECT ${jobAsJson(jobs)} AS record FROM ${jobs} WHERE schedule_id = ?1 AND fire_time = ?2 ` +
      `AND ${detail("retryOf")} IS NULL`,
    getOccurrences: occurrenceLists(names),
  };
}

/** SQL of a column of an entry as a whole number. */
function whole(column: string): string {
  return `CAST(t.${column} + 0 AS INTEGER)`;
}

/** ?3 id of the schedule, ?4 from, ?5 until, ?6 the fire time after which the page begins, or null, ?7 the
 *  verdicts of runs, and those of skips plus `SKIP_CODE`, or null. */
function occurrenceLists({ books, occurrences }: TableNames): BookStatements["getOccurrences"] {
  const book = `(SELECT seq FROM ${books} WHERE schedule_id = ?3)`;
  const list = {
    table: occurrences,
    key: "at",
    // What is no number in a damaged row reads as 0, and a BLOB, which no JSON can hold, as an empty text.
    record:
      `json_array(${["at", "verdict", "until", "count", "target"].map(whole).join(", ")}, ` +
      "CASE WHEN t.run < x'' THEN t.run WHEN t.run IS NOT NULL THEN '' END)",
    isTaken:
      `t.book = ${book} AND coalesce(t.until, t.at) >= ?4 AND (?7 IS NULL OR ` +
      `t.verdict + ${SKIP_CODE} * (t.run IS NULL) IN (SELECT value FROM json_each(?7)))`,
  };
  // A skip that began before may reach into the time. Skips do not overlap, unless a schedule was set back.
  const begin =
    `coalesce((SELECT min(at) FROM (SELECT at, until FROM ${occurrences} WHERE book = ${book} AND at < ?4 ` +
    `ORDER BY at DESC LIMIT ${SKIPS_REACHING_MAX}) WHERE until >= ?4), ?4)`;
  const walk = (isBackwards: boolean): Walk => {
    const order = isBackwards ? "DESC" : "ASC";
    const range = isBackwards
      ? `at >= ${begin} AND at < min(coalesce(?6, ?5 + 1), ?5 + 1)`
      : `at >= max(coalesce(?6 + 1, ${begin}), ${begin}) AND at <= ?5`;
    return {
      rows: `SELECT at AS seq, at FROM ${occurrences} WHERE book = ${book} AND ${range} ORDER BY at ${order}`,
      place: ["at"],
      isBackwards,
    };
  };
  return { oldest: walkStatement(list, walk(false)), newest: walkStatement(list, walk(true)) };
}
