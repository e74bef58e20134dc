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

/** The same for skips. */
export function intoSkips({ occurrences }: TableNames): string {
  return `INSERT OR REPLACE INTO ${occurrences} (shelf, book, at, verdict, until, count, target)`;
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
 *  that a process of an earlier version added. The columns have names of their own, so that conditions on the jobs need
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
