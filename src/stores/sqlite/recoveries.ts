import type { JobResultRecord } from "../../records/job-result.ts";
import type { LeaseEnd, RecoveryReport } from "../data-store.ts";
import { endedWithoutRun } from "../ended-without-run.ts";
import { statement } from "./batch.ts";
import type { Row, SqlStatement } from "./driver.ts";
import { FAR_FUTURE_MS } from "./limits.ts";
import { type JobRow, jsonRecords, toJob } from "./rows.ts";
import type { Statements } from "./statements.ts";

/** Which leases to take back. Instants are in epoch milliseconds. */
export interface Recovery {
  readonly now: number;
  /** Only leases that end at this instant or earlier. */
  readonly endedBy: number;
  /** Only leases of this holder; null for all holders. */
  readonly holder: string | null;
  /** Only leases of jobs that this step put back although recovery has to end them or to take them back; null for all
   *  jobs. */
  readonly putBackBy: string | null;
  /** The step that takes the leases back; null outside of steps. */
  readonly stepId: string | null;
  /** The incarnation whose leases are left alone, besides those of others that are alive; null for none. */
  readonly spares: string | null;
  /** Whether jobs among them may have children; goes with `isAware`. If not, and one has, the whole batch is undone. */
  readonly hasParents: boolean;
  readonly limit: number;
  /** Whether to heed flow control, see `Awareness`. */
  readonly isAware: boolean;
}

/** Moves the ends of leases that are not as somebody judges who has watched the heartbeats of their holders. */
export function leaseMoves({ moveLeases }: Statements, leaseEnds: readonly LeaseEnd[], now: number): SqlStatement[] {
  const move = (isAlive: boolean, after: number, upTo: number): SqlStatement[] => {
    const ends = leaseEnds.filter(({ until }) => until > now === isAlive);
    const pairs = JSON.stringify(ends.map(({ incarnation, until }) => [incarnation, until]));
    return ends.length === 0 ? [] : [statement(moveLeases, pairs, after, upTo)];
  };
  return [...move(true, 0, now), ...move(false, now, FAR_FUTURE_MS)];
}

/** Takes back leases. Read the answers with {@link recoveryReport}. */
export function recovery(
  statements: Statements,
  { now, endedBy, holder, putBackBy, spares, limit, stepId, isAware, hasParents }: Recovery,
): SqlStatement[] {
  const args = [endedBy, holder, now, putBackBy, limit, spares] as const;
  const { keepsLedger, wakeLost, keepLost, enterLost, removeLost, putBackLost } = statements;
  const { keepLostAware, enterLostAware, noteLost, removeLostAware, removeLostParents, putBackLostAware } = statements;
  // A server refuses a parameter that a statement does not use.
  if (!isAware) {
    return [
      statement(keepLost, ...args),
      ...(keepsLedger ? [statement(enterLost, ...args)] : []),
      statement(removeLost, ...args),
      statement(putBackLost, ...args, stepId),
    ];
  }
  return [
    statement(wakeLost, ...args),
    statement(keepLostAware, ...args),
    ...(keepsLedger ? [statement(enterLostAware, ...args)] : []),
    ...(hasParents ? [statement(noteLost, ...args)] : []),
    statement(hasParents ? removeLostParents : removeLostAware, ...args),
    statement(putBackLostAware, ...args, stepId),
  ];
}

/** Ends jobs that have missed their start. The children of those that end are left to `settling`. Read the answers with
 *  {@link missedResults}. */
export function endingMissed(statements: Statements, now: number): SqlStatement[] {
  const { keepsLedger, keepMissed, enterMissed, wakeMissed, noteMissed, unlinkMissed, removeMissed } = statements;
  const entering = keepsLedger ? [enterMissed] : [];
  return [keepMissed, ...entering, wakeMissed, noteMissed, unlinkMissed, removeMissed].map((sql) =>
    statement(sql, now),
  );
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
