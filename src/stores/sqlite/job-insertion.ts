import type { JobRecord } from "../../records/job.ts";
import type { SqlStatement } from "./driver.ts";
import { jobDetails, newJobRow, newJobState } from "./rows.ts";
import type { Statements } from "./statements.ts";

/**
 * The statement that adds jobs. Nearly always they are of one task, and set little: then what they share travels once.
 * Reading the columns out of each row is what costs SQLite most, so that halves it, and a smaller statement is prepared
 * faster.
 */
export function jobInsertion(statements: Statements, jobs: readonly JobRecord[]): SqlStatement {
  const [first] = jobs;
  if (first === undefined || !jobs.every((job) => isPlain(job) && isAlike(job, first))) {
    return { sql: statements.insertJobs, args: [JSON.stringify(jobs.map(newJobRow))] };
  }
  const rows = JSON.stringify(jobs.map((job) => [job.id, job.runAt, jobDetails(job)]));
  return {
    sql: statements.insertAlikeJobs,
    args: [rows, first.taskId, first.executor, first.priority, newJobState(first)],
  };
}

/** Whether the columns that `insertAlikeJobs` leaves out are what it takes them for. */
function isPlain(job: JobRecord): boolean {
  return (
    job.scheduleId === null &&
    job.fireTime === null &&
    job.idempotencyKey === null &&
    job.fence === 0 &&
    job.failedAttempts === 0 &&
    job.recoveries === 0
  );
}

function isAlike(job: JobRecord, other: JobRecord): boolean {
  return (
    job.taskId === other.taskId &&
    job.executor === other.executor &&
    job.priority === other.priority &&
    newJobState(job) === newJobState(other)
  );
}
