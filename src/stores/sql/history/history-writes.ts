import { type JobResultRecord, type KeptJob, skipReasonOf } from "../../../records/job-result.ts";
import type { OccurrenceRunRecord } from "../../../records/ledger.ts";
import type { LedgerLimits } from "../../contract/ledger-types.ts";
import type { RestoredHistory } from "../../contract/restore-types.ts";
import { type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import { TRIM_DAILY_MS, TRIM_HOURLY_MS } from "../limits.ts";
import { instantKey, memberParameters, rowParameters } from "../sql-and-json.ts";

/** Part of the statements of a store with a ledger, or without one. */
export interface LedgerSwitch {
  /** Whether the store keeps the ledger. If not, the store writes none of its tables. */
  readonly keepsLedger: boolean;
}

/** A job that ends, as a scheduler releases it. */
interface FinishedJob {
  readonly jobId: string;
  readonly fence: number;
  readonly result: JobResultRecord;
}

/**
 * The statements that write the runs of jobs; none when no fire time made any of the jobs. They precede those that
 * remove the jobs.
 * @param isPlain whether the releases count for sure, of jobs without a concurrency key
 */
export function runEntries(
  {
    keepsLedger,
    enterRuns,
    enterBlockedRuns,
  }: LedgerSwitch & Pick<HistoryStatements, "enterRuns" | "enterBlockedRuns">,
  finished: readonly FinishedJob[],
  schedulerId: string,
  isPlain: boolean,
): SqlStatement[] {
  if (!keepsLedger) return [];
  const fired = finished.filter(isFired);
  if (fired.length === 0) return [];
  const outcomes = new Set(fired.map(({ result }) => result.outcome));
  // Notices depend on the order of the ends.
  if (!isPlain || outcomes.size > 1 || !fired.every(isWhole)) {
    const rows = fired.map(({ jobId, fence, result }) => {
      const { outcome, startedAt, finishedAt, attempts } = result;
      return [jobId, fence, outcome, startedAt, finishedAt, attempts, reasonText(result)];
    });
    return rowParameters(rows).map(({ text }) => statement(enterBlockedRuns, text, schedulerId));
  }
  const [outcome] = outcomes;
  return memberParameters(fired.map(({ result }) => memberOf(result))).map(({ text }) =>
    statement(enterRuns, text, outcome ?? ""),
  );
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

/** Why the handler skipped the run, without slashes; empty for a run that it did not skip. */
function reasonText(result: JobResultRecord): string {
  return (skipReasonOf(result) ?? "").replace(/[%/]/g, encodeURIComponent);
}

/** The column `run`: the jitter, when the job was made, its start and its end, its attempts, whether it had a key, why
 *  it was skipped (nothing for another run, see {@link reasonText}), and its id after a slash. The first two are
 *  differences to the fire time, the next two to when the job was made; a hyphen stands for null. `ledger-reads.ts`
 *  reads it. */
function runText(result: WholeJob["result"]): string {
  const { jobId, scheduledFireTime, startedAt, finishedAt, attempts, job } = result;
  const { fireTime, createdAt } = job;
  const jitter = scheduledFireTime === null ? 0 : scheduledFireTime - fireTime;
  const started = startedAt === null ? "-" : startedAt - createdAt;
  const times = `${jitter} ${createdAt - fireTime} ${started} ${finishedAt - createdAt}`;
  return `${times} ${attempts} 0 ${reasonText(result)}/${jobId}`;
}

/** The statements that write what another store remembers, and keep what is there. */
export function restoringHistories(
  { keepsLedger, restoreRuns, restoreSkips, restoreSince }: LedgerSwitch & HistoryStatements,
  histories: readonly RestoredHistory[],
): SqlStatement[] {
  if (!keepsLedger) return [];
  const [runs, skips, starts]: [unknown[][], unknown[][], unknown[][]] = [[], [], []];
  for (const { scheduleId, since, entries } of histories) {
    if (since !== null) starts.push([scheduleId, since]);
    for (const entry of entries) {
      if (entry.kind === "run") runs.push([scheduleId, entry.fireTime, entry.outcome, textOfRun(entry)]);
      else skips.push([scheduleId, entry.from, entry.until, entry.verdict, entry.count, entry.into]);
    }
  }
  const all = (sql: string, rows: unknown[][]): SqlStatement[] =>
    rowParameters(rows).map(({ text }) => statement(sql, text));
  return [...all(restoreRuns, runs), ...all(restoreSkips, skips), ...all(restoreSince, starts)];
}

/** The text of a run that is known as a whole, see {@link runText}. */
function textOfRun({
  fireTime,
  scheduledFireTime,
  createdAt,
  startedAt,
  finishedAt,
  ...run
}: OccurrenceRunRecord): string {
  const started = startedAt === null ? "-" : startedAt - createdAt;
  const times = `${scheduledFireTime - fireTime} ${createdAt - fireTime} ${started} ${finishedAt - createdAt}`;
  const reason = (run.reason ?? "").replace(/[%/]/g, encodeURIComponent);
  return `${times} ${run.attempts} ${run.isKeyed ? 1 : 0} ${reason}/${run.jobId}`;
}

/** The statements that trim one partition of histories, in their order. */
export function trimHistories(
  statements: HistoryStatements & { readonly countChanges: string },
  { ageMsMax, countMax }: LedgerLimits,
  { now, limit }: { readonly now: number; readonly limit: number },
): SqlStatement[] {
  const { removeHistories, raiseKeptFrom, postponeTrim, trimRuns, trimSkips, hasMoreToTrim, countChanges } = statements;
  // Rows that are kept for less than a day do not wait for a day.
  const trimMs = Math.min(Math.max(ageMsMax, TRIM_HOURLY_MS), TRIM_DAILY_MS);
  return [
    statement(removeHistories, now),
    statement(raiseKeptFrom, now, now - ageMsMax, countMax),
    statement(postponeTrim, now, trimMs, Math.ceil(countMax / 2) - 1),
    statement(trimRuns, now, limit),
    statement(countChanges),
    statement(trimSkips, now, limit),
    statement(countChanges),
    statement(hasMoreToTrim, now),
  ];
}

/** The statements that write and trim histories. */
export interface HistoryStatements {
  readonly openHistories: string;
  readonly enterRuns: string;
  readonly enterBlockedRuns: string;
  readonly restoreRuns: string;
  readonly restoreSkips: string;
  readonly restoreSince: string;
  readonly removeHistories: string;
  readonly raiseKeptFrom: string;
  readonly postponeTrim: string;
  readonly trimRuns: string;
  readonly trimSkips: string;
  readonly hasMoreToTrim: string;
}
