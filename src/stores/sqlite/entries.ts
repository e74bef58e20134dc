import { SKIP_VERDICTS, type SkipVerdict } from "../../records/ledger.ts";
import { JOB_OUTCOMES, type JobOutcome } from "../../records/policies.ts";
import { BOOKS_PER_SHELF } from "./limits.ts";
import { detail } from "./rows.ts";
import type { TableNames } from "./schema.ts";

// How the entries of the ledger are written, see the table `occurrences`.

/** SQL of the shelf of a book. The entries of a shelf are in the order of their fire times, whatever their books. */
export function shelfOf(book: string): string {
  return `${book} / ${BOOKS_PER_SHELF}`;
}

/** SQL of the columns `shelf` and `book`. */
export function placeOf(book: string): string {
  return `${shelfOf(book)}, ${book}`;
}

/** SQL of whether an entry is of a book. */
export function isOf(book: string, entry: string): string {
  return `${entry}.shelf = ${shelfOf(book)} AND ${entry}.book = ${book}`;
}

/** The beginning of a statement that writes runs, and the order of their columns. An entry of the same fire time is
 *  replaced: that of a job which this job repeats, or that of an earlier try. */
export function intoRuns({ occurrences }: TableNames): string {
  return `INSERT OR REPLACE INTO ${occurrences} (shelf, book, at, verdict, run)`;
}

/** The same for skips. An entry that is there stays. */
export function intoSkips(names: TableNames): string {
  return `INSERT OR IGNORE ${skipsOf(names)}`;
}

/** The same for the parts of a skip, which take its place. */
export function intoPartsOfSkips(names: TableNames): string {
  return `INSERT OR REPLACE ${skipsOf(names)}`;
}

function skipsOf({ occurrences }: TableNames): string {
  return `INTO ${occurrences} (shelf, book, at, verdict, until, count, target)`;
}

/**
 * A statement that writes what skips leave of themselves outside of the entries that there are, and of the fire times
 * of unfinished jobs: an earlier life of the schedule may have left both. Only then the entries within a skip are read,
 * because those of other books lie between them.
 * @param skips SQL that selects rows `book, schedule_id, at, until, verdict, count, target`
 */
export function enterParts(names: TableNames, skips: string): string {
  const { books, occurrences, jobs } = names;
  const reaching = `(SELECT max(e.at) FROM ${occurrences} e WHERE e.book = k.book AND e.at < k.at AND e.run IS NULL)`;
  const entries = (condition: string): string =>
    `SELECT k.*, o.at AS start, coalesce(o.until, o.at) AS stop FROM k CROSS JOIN ${occurrences} o ` +
    `ON ${isOf("k.book", "o")} AND o.at ${condition}`;
  const spans = [
    `${entries("BETWEEN k.at AND k.until")} WHERE (SELECT reopened FROM ${books} WHERE seq = k.book) = 1`,
    entries(`= ${reaching}`),
    `SELECT k.*, j.fire_time, j.fire_time FROM k CROSS JOIN ${jobs} j ` +
      "ON j.schedule_id = k.schedule_id AND j.fire_time BETWEEN k.at AND k.until",
    "SELECT k.*, k.until + 1, k.until + 1 FROM k",
  ];
  const before =
    "max(stop) OVER (PARTITION BY book, at ORDER BY start, stop ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)";
  return (
    `${intoSkips(names)} WITH k AS (${skips}) ` +
    `SELECT ${placeOf("book")}, part, verdict, start - 1, ` +
    "CASE WHEN part = at AND start > until THEN count END, target " +
    `FROM (SELECT *, max(at, coalesce(${before} + 1, at)) AS part FROM (${spans.join(" UNION ALL ")})) ` +
    "WHERE part < start"
  );
}

/** The column `verdict` of a run. */
export function runVerdict(outcome: JobOutcome): number {
  return JOB_OUTCOMES.indexOf(outcome);
}

/** The column `verdict` of a skip. */
export function skipVerdict(verdict: SkipVerdict): number {
  return SKIP_VERDICTS.indexOf(verdict);
}

/** The books of jobs, as what follows `CROSS JOIN`. Jobs that no fire time made have none, nor have those of schedules
 *  that a store with `ledger: false` added. The columns have names of their own, so that conditions on the jobs need
 *  no alias. */
export function booksOf({ books }: TableNames): string {
  return (
    `(SELECT seq AS book, schedule_id AS book_of FROM ${books}) b ` +
    "ON b.book_of = schedule_id AND fire_time IS NOT NULL"
  );
}

/** The columns of the run of a job, of the jobs table and {@link booksOf}, in the order of {@link intoRuns}. The texts
 *  are SQL; `startedAt` and `finishedAt` are epoch milliseconds. */
export function runColumns(
  { jobs }: TableNames,
  run: {
    readonly verdict: string;
    readonly startedAt: string;
    readonly finishedAt: string;
    readonly attempts: string;
  },
): string {
  const createdAt = `coalesce(${detail("createdAt")}, fire_time)`;
  const facts = [
    `coalesce(${detail("scheduledFireTime")}, fire_time) - fire_time`,
    `${createdAt} - fire_time`,
    `${run.startedAt} - ${createdAt}`,
    `${run.finishedAt} - ${createdAt}`,
    run.attempts,
    "concurrency_key IS NOT NULL",
  ];
  const texts = facts.map((fact) => `coalesce(CAST(${fact} AS INTEGER), '-') || ' '`);
  return `${placeOf("book")}, fire_time, ${run.verdict}, ${texts.join(" || ")} || '/' || ${jobs}.id`;
}

/** A statement that writes the runs of jobs that end without one, without its condition. They are the same as those of
 *  `endedWithoutRun`. */
export function enterEnded(names: TableNames, verdict: string, now: string): string {
  const attempts = "failed_attempts + recoveries + (acquired_by IS NOT NULL)";
  return (
    `${intoRuns(names)} SELECT ${runColumns(names, { verdict, startedAt: "NULL", finishedAt: now, attempts })} ` +
    `FROM ${names.jobs} CROSS JOIN ${booksOf(names)}`
  );
}
