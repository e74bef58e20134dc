import type { JobResultRecord } from "../../../records/job-result.ts";
import type { LeaseEnd, RecoveryReport } from "../../data-store.ts";
import { endedWithoutRun } from "../../shared/added-and-ended-jobs.ts";
import { type Row, type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import type { LedgerSwitch } from "../history/history-writes.ts";
import { FAR_FUTURE_MS } from "../limits.ts";
import { jsonRecords } from "../sql-and-json.ts";
import { type JobRow, toJob } from "./job-rows.ts";

// Jobs that end, or go back to their queue, without a release: their lease has ended (*recovery*), they have missed
// their start, or they are cancelled.

type StatementsOfRecovery = RecoveryStatements & LedgerSwitch;

/** Which leases to take back. Instants are in epoch milliseconds. */
export interface Recovery {
  readonly now: number;
  /** Only leases that end at this instant or earlier. */
  readonly endedBy: number;
  /** Only leases of this holder; null for all holders. */
  readonly holder: string | null;
  /** Only leases of jobs that this commit put back although recovery has to end them or to take them back; null for all
   *  jobs. */
  readonly putBackBy: string | null;
  /** The commit that takes the leases back; null outside of commits. */
  readonly commitId: string | null;
  /** The instance whose leases are left alone, besides those of others that are alive; null for none. */
  readonly spares: string | null;
  /** Whether jobs among them may have children. If not, and one has, the whole batch is undone. */
  readonly hasParents: boolean;
  readonly limit: number;
}

/** Moves the ends of leases that are not as somebody judges who has watched the heartbeats of their holders. */
export function leaseMoves(
  { moveLeases }: StatementsOfRecovery,
  leaseEnds: readonly LeaseEnd[],
  now: number,
): SqlStatement[] {
  const move = (isAlive: boolean, after: number, upTo: number): SqlStatement[] => {
    const ends = leaseEnds.filter(({ until }) => until > now === isAlive);
    const pairs = JSON.stringify(ends.map(({ instanceId, until }) => [instanceId, until]));
    return ends.length === 0 ? [] : [statement(moveLeases, pairs, after, upTo)];
  };
  return [...move(true, 0, now), ...move(false, now, FAR_FUTURE_MS)];
}

/** Takes back leases. Read the answers with {@link recoveryReport}. */
export function recovery(
  statements: StatementsOfRecovery,
  { now, endedBy, holder, putBackBy, spares, limit, commitId, hasParents }: Recovery,
): SqlStatement[] {
  const args = [endedBy, holder, now, putBackBy, limit, spares] as const;
  const { keepsLedger, countLost, markLost, keepLost, enterLost, addLost } = statements;
  const { failLost, endLost, removeLost, putBackLost } = statements;
  return [
    statement(countLost, ...args),
    statement(markLost, ...args),
    statement(keepLost, ...args),
    ...(keepsLedger ? [statement(enterLost, ...args), statement(addLost, ...args)] : []),
    statement(failLost, ...args),
    ...(hasParents ? [statement(endLost, ...args)] : []),
    statement(removeLost, ...args, hasParents ? 1 : 0),
    statement(putBackLost, ...args, commitId),
  ];
}

/** Ends jobs that have missed their start. The children of those that end are left to `resolving`. Read the answers
 *  with {@link missedResults}. */
export function endingMissed(statements: StatementsOfRecovery, now: number): SqlStatement[] {
  const { keepsLedger, countMissed, keepMissed, enterMissed, addMissed, failMissed, markMissed, endMissed } =
    statements;
  const { forgetMissed, removeMissed } = statements;
  const entering = keepsLedger ? [enterMissed, addMissed] : [];
  const ending = [failMissed, markMissed, endMissed, forgetMissed, removeMissed];
  return [countMissed, keepMissed, ...entering, ...ending].map((sql) => statement(sql, now));
}

export function missedResults(answers: readonly Row[][], now: number): JobResultRecord[] {
  return jsonRecords<JobRow>(answers.at(-1)).map((row) => endedWithoutRun(toJob(row), "missedStartDeadline", now));
}

export function recoveryReport(answers: readonly Row[][], now: number): RecoveryReport {
  const [removed, putBack] = answers.slice(-2);
  const ended: JobResultRecord[] = jsonRecords<JobRow>(removed).map((row) => {
    const job = toJob(row);
    return endedWithoutRun(job, job.cancelRequested ? "cancelled" : "abandoned", now);
  });
  const recovered = putBack?.map((row) => ({
    jobId: String(row.id),
    taskId: String(row.task_id),
    scheduleId: typeof row.schedule_id === "string" ? row.schedule_id : null,
    attempt: Number(row.attempt),
  }));
  return { recovered: recovered ?? [], ended };
}

/**
 * The statements that take back leases that have ended, and that end jobs without a run. The arguments of those that
 * end in `Lost`, which run in this order: ?1 the latest end of the leases, ?2 their holder or null for every holder, ?3
 * now, ?4 the commit that put the jobs back or null for every job, ?5 limit, ?6 the instance whose leases are left
 * alone, besides those of the living, or null for none.
 */
export interface RecoveryStatements {
  readonly moveLeases: string;
  readonly markLost: string;
  readonly keepLost: string;
  readonly countLost: string;
  readonly enterLost: string;
  readonly addLost: string;
  readonly failLost: string;
  readonly endLost: string;
  readonly removeLost: string;
  readonly putBackLost: string;
  /** These end jobs that have missed their start, and run one after the other. ?1 now. */
  readonly countMissed: string;
  readonly keepMissed: string;
  readonly enterMissed: string;
  readonly addMissed: string;
  readonly failMissed: string;
  readonly markMissed: string;
  readonly endMissed: string;
  readonly forgetMissed: string;
  readonly removeMissed: string;
}

/** The statements that cancel jobs, in their order. */
export interface CancellationStatements {
  readonly stampCancel: string;
  readonly readStamp: string;
  readonly requestCancel: string;
  readonly cancelRequests: string;
  readonly keepCancelled: string;
  readonly enterCancelled: string;
  readonly addCancelled: string;
  readonly removeCancelled: string;
  readonly markCancelled: string;
}
