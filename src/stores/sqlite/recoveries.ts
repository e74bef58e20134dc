import type { JobResultRecord } from "../../records/job-result.ts";
import type { RecoveryReport } from "../data-store.ts";
import { endedWithoutRun } from "../ended-without-run.ts";
import { statement } from "./batch.ts";
import type { Row, SqlStatement } from "./driver.ts";
import { type JobRow, jsonRecords, toJob } from "./rows.ts";
import type { Statements } from "./statements.ts";

/** Which leases to take back. */
export interface Recovery {
  readonly now: number;
  /** Those that end by then. */
  readonly endedBy: number;
  /** Those of one holder, or of all. */
  readonly holder: string | null;
  /** Those of jobs that this step put back though they are to be cancelled, or of all. */
  readonly putBackBy: string | null;
  /** The incarnation whose leases are left alone, or null. */
  readonly spares: string | null;
  readonly limit: number;
}

/** Takes back leases. Read the answers with {@link recoveryReport}. */
export function recovery(
  { keepLost, removeLost, putBackLost }: Statements,
  { now, endedBy, holder, putBackBy, spares, limit }: Recovery,
): SqlStatement[] {
  return [keepLost, removeLost, putBackLost].map((sql) =>
    statement(sql, endedBy, holder, now, putBackBy, limit, spares),
  );
}

export function recoveryReport([, removed, putBack]: readonly Row[][], now: number): RecoveryReport {
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
