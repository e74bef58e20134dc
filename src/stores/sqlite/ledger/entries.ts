import { INSTANT_MS_MAX } from "../../../core/temporal.ts";
import type { JobResultRecord, KeptJob } from "../../../records/job-result.ts";
import type { Run } from "../../../records/ledger.ts";
import { SKIP_VERDICTS, type SkipVerdict } from "../../../records/ledger.ts";
import { JOB_OUTCOMES, type JobOutcome } from "../../../records/policies.ts";
import type { SqlStatement } from "../driver/driver.ts";
import { instantKey, memberParameters, rowParameters, statement } from "../driver/parameters.ts";
import { BOOKS_PER_SHELF } from "../limits.ts";
import { detail } from "../rows.ts";
import type { TableNames } from "../schema/schema.ts";

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

/** Part of the statements of a store with a ledger, or without one. */
export interface LedgerSwitch {
  /** Whether the store keeps the ledger. If not, nothing of it is written. */
  readonly keepsLedger: boolean;
}

/** A job that ends, as a scheduler releases it. */
interface FinishedJob {
  readonly jobId: string;
  readonly fence: number;
  readonly result: JobResultRecord;
}

/**
 * The statements that enter the runs of jobs into the ledger; none when no fire time made any of the jobs. They precede
 * those that remove the jobs.
 * @param isPlain whether the releases count for sure, of jobs without a concurrency key
 */
export function runEntries(
  {
    keepsLedger,
    enterRuns,
    enterHeldRuns,
  }: LedgerSwitch & { readonly enterRuns: string; readonly enterHeldRuns: string },
  finished: readonly FinishedJob[],
  schedulerId: string,
  isPlain: boolean,
): SqlStatement[] {
  if (!keepsLedger) return [];
  const fired = finished.filter(isFired);
  if (fired.length === 0) return [];
  if (!isPlain || !fired.every(isWhole)) {
    const rows = fired.map(({ jobId, fence, result: { outcome, startedAt, finishedAt, attempts } }) => [
      ...[jobId, fence, runVerdict(outcome), startedAt, finishedAt, attempts],
    ]);
    return rowParameters(rows).map(({ text }) => statement(enterHeldRuns, text, schedulerId));
  }
  // Nearly always the jobs end alike.
  return [...new Set(fired.map(({ result }) => result.outcome))].flatMap((outcome) => {
    const rows = fired.flatMap(({ result }) => (result.outcome === outcome ? [memberOf(result)] : []));
    return memberParameters(rows).map(({ text }) => statement(enterRuns, text, runVerdict(outcome)));
  });
}

interface WholeJob extends FinishedJob {
  readonly result: JobResultRecord & { readonly job: KeptJob & { readonly fireTime: number } };
}

/** Whether a fire time made the job, as far as the result tells. */
function isFired({ result: { scheduleId, scheduledFireTime, job } }: FinishedJob): boolean {
  return scheduleId !== null && (scheduledFireTime !== null || (job?.fireTime ?? null) !== null);
}

/** Whether the result has all that a run needs. */
function isWhole(finished: FinishedJob): finished is WholeJob {
  const { job } = finished.result;
  return job !== undefined && job.fireTime !== null;
}

function memberOf(result: WholeJob["result"]): readonly [key: string, json: string] {
  return [instantKey(result.job.fireTime, runText(result)), JSON.stringify(result.scheduleId)];
}

/** The column `run`: the jitter, when the job was made, its start and its end, its attempts, whether it was keyed, and
 *  its id after a slash. The first two instants are differences to the fire time, the others to when the job was made;
 *  a hyphen stands for none. This costs a third less than a column for each. */
function runText({ jobId, scheduledFireTime, startedAt, finishedAt, attempts, job }: WholeJob["result"]): string {
  const { fireTime, createdAt } = job;
  const jitter = scheduledFireTime === null ? 0 : scheduledFireTime - fireTime;
  const started = startedAt === null ? "-" : startedAt - createdAt;
  return `${jitter} ${createdAt - fireTime} ${started} ${finishedAt - createdAt} ${attempts} 0 /${jobId}`;
}

/** What the column `run` of a fire time tells. */
export function readRun(text: string, fireTime: number): Omit<Run, "fireTime" | "outcome"> {
  const slash = text.indexOf("/");
  const [jitter, created, started, finished, attempts, keyed] = text.slice(0, Math.max(slash, 0)).split(" ");
  const createdAt = instantAfter(fireTime, created);
  return {
    scheduledFireTime: instantAfter(fireTime, jitter),
    jobId: text.slice(slash + 1),
    createdAt,
    startedAt: started === "-" ? null : instantAfter(createdAt, started),
    finishedAt: instantAfter(createdAt, finished),
    attempts: numberOf(attempts),
    isKeyed: keyed === "1",
  };
}

/** In a damaged row the instant itself, where the sum would be none. */
function instantAfter(instant: number, difference: string | undefined): number {
  const sum = instant + numberOf(difference);
  return Math.abs(sum) <= INSTANT_MS_MAX ? sum : instant;
}

/** 0 in a damaged row. */
function numberOf(text: string | undefined): number {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : 0;
}
