import type { Mutable } from "../../../core/mutable.ts";
import type { AttemptRecord, JobProgress } from "../../../records/attempt.ts";
import type { JobRecord } from "../../../records/job.ts";
import { JOB_STATE } from "../schema/tables.ts";
import { fieldsOf, jsonOrUndefined } from "../sql-and-json.ts";

// How rows of jobs read.

/** The details of a job whose stored details are no valid JSON. The payload here is no valid JSON either, so the job
 *  ends as `deserializationFailed`. */
const DAMAGED: Partial<JobRecord> = Object.freeze({ payload: "this row is damaged" });

/** What {@link jobAsJson} and {@link endedJobAsJson} yield. */
export type JobRow = [
  id: string,
  taskId: string,
  scheduleId: string | null,
  executor: string,
  priority: number,
  runAt: number,
  fireTime: number | null,
  idempotencyKey: string | null,
  failedAttempts: number,
  recoveries: number,
  cancelRequested: number,
  acquiredBy: string | null,
  acquiredUntil: number | null,
  fence: number,
  startedFence: number,
  state: number,
  concurrencyKey: string | null,
  /** See the column `virtual_time`. */
  virtualTime: number | null,
  /** As JSON, or the details that matter; null for a BLOB. */
  details: string | null | Partial<JobRecord>,
  attemptHistory?: string | null,
  progress?: string | null,
  seq?: number,
];

export function toJob(row: JobRow): JobRecord {
  const stored = row[18];
  const isText = typeof stored === "string" || stored === null;
  const details = fieldsOf((isText ? jsonOrUndefined<Partial<JobRecord>>(stored) : stored) ?? DAMAGED, DAMAGED);
  const job: Mutable<JobRecord> = {
    id: row[0],
    taskId: row[1],
    scheduleId: row[2],
    executor: row[3],
    payload: details.payload ?? null,
    priority: row[4],
    runAt: row[5],
    createdAt: details.createdAt ?? 0,
    fireTime: row[6],
    scheduledFireTime: details.scheduledFireTime ?? null,
    startDeadline: details.startDeadline ?? null,
    missedCount: details.missedCount ?? null,
    firstMissedTime: details.firstMissedTime ?? null,
    lastMissedTime: details.lastMissedTime ?? null,
    resultExpirationMs: details.resultExpirationMs ?? 0,
    maxRecoveries: details.maxRecoveries ?? 0,
    metadata: details.metadata ?? {},
    idempotencyKey: row[7] ?? details.idempotencyKey ?? null,
    failedAttempts: row[8],
    recoveries: row[9],
    cancelRequested: row[10] === 1,
    acquiredBy: row[11],
    acquiredUntil: row[12],
    fence: row[13],
    startedFence: row[14],
  };
  if (details.labels !== undefined) job.labels = details.labels;
  if (details.retryOf !== undefined) job.retryOf = details.retryOf;
  if (details.after !== undefined) job.after = details.after;
  if (details.onParentFailure !== undefined) job.onParentFailure = details.onParentFailure;
  if (details.retry !== undefined) job.retry = details.retry;
  if (typeof details.failureExpirationMs === "number") job.failureExpirationMs = details.failureExpirationMs;
  if (details.pauseAfterFailures !== undefined) job.pauseAfterFailures = details.pauseAfterFailures;
  if (details.sleep !== undefined) job.sleep = details.sleep;
  const blockedBy = blockedByOf(row[15]);
  if (blockedBy !== undefined) job.blockedBy = blockedBy;
  const concurrencyKey = row[16];
  // The stores' key of jobs without a key is empty.
  if (concurrencyKey !== null && concurrencyKey !== "") job.concurrencyKey = concurrencyKey;
  // Nearly no job has either.
  const attemptHistory = jsonOrUndefined<AttemptRecord[]>(row[19]);
  if (attemptHistory !== undefined) job.attemptHistory = attemptHistory;
  const progress = jsonOrUndefined<JobProgress>(row[20]);
  if (progress !== undefined) job.progress = progress;
  return job;
}

/** What holds a job in this state; undefined for nothing. */
export function blockedByOf(state: number): JobRecord["blockedBy"] {
  if (state === JOB_STATE.dependent) return "parents";
  return state === JOB_STATE.blocked ? "limit" : undefined;
}

/** Sorts jobs that a commit leased in the order of acquisition. */
export function inOrder(rows: JobRow[]): JobRow[] {
  return rows.sort(
    (a, b) => b[4] - a[4] || virtualTimeOf(a) - virtualTimeOf(b) || a[5] - b[5] || (a[21] ?? 0) - (b[21] ?? 0),
  );
}

/** The virtual time of a job of a fair task; the jobs of other tasks come after all of these. */
function virtualTimeOf(row: JobRow): number {
  return row[17] ?? Number.MAX_SAFE_INTEGER;
}
