import type { JobRecord, NewJobRecord } from "../../../records/job.ts";
import { hasParents } from "../../shared/parents-of-jobs.ts";
import { type SqlStatement, statement } from "../driver/driver-and-failures.ts";
import { ALIKE_DETAILS_LENGTH_MAX } from "../limits.ts";
import { beginDetails } from "../lists/label-index.ts";
import { JOB_STATE } from "../schema/tables.ts";
import { field, instantKey, member, metadataField, parametersOf, rowParameters } from "../sql-and-json.ts";

/** The statements that add jobs which are neither debounced nor added once in a time. */
export interface InsertionStatements {
  readonly jobs: string;
  readonly stampedJobs: string;
  readonly alikeJobs: string;
  readonly oneJob: string;
  readonly stampedAlikeJobs: string;
}

/** The statements that add jobs, besides those of windows. */
export interface AdditionStatements {
  readonly insert: InsertionStatements;
  /** The same for jobs without a key in a database that needs no flow control, as far as the store knows. If it needs
   *  flow control nevertheless, `backfillKeys` gives their keys to these jobs. */
  readonly insertPlainly: InsertionStatements;
  readonly freeKeys: string;
  readonly findExistingJobs: string;
  readonly findOutdated: string;
  readonly stampAdditions: string;
  readonly removeStamps: string;
}

/** The columns of a new job as the statements of `InsertionStatements` read them. */
export function newJobRow(job: NewJobRecord): (string | number | null)[] {
  return [
    job.id,
    job.taskId,
    job.executor,
    job.scheduleId,
    job.fireTime,
    job.idempotencyKey,
    job.priority,
    job.runAt,
    newJobState(job),
    job.fence,
    job.failedAttempts,
    job.recoveries,
    jobDetails(job),
    job.concurrencyKey ?? null,
    job.retryOf ?? null,
    job.startDeadline,
  ];
}

/** The state of a new job (see `JOB_STATE`), unless the key of its task (`own_key`) becomes its key: dependent if the
 *  job has parents, delayed if its `runAt` is later than its addition, else blocked or ready. */
export function newJobState(job: JobRecord): number {
  if (hasParents(job)) return JOB_STATE.dependent;
  if (job.runAt > job.createdAt) return JOB_STATE.delayed;
  return job.concurrencyKey === undefined ? JOB_STATE.ready : JOB_STATE.blocked;
}

/** As JSON, see {@link field}. */
function jobDetails(job: NewJobRecord): string {
  const { scheduledFireTime, startDeadline, missedCount, firstMissedTime, lastMissedTime } = job;
  const ofFire =
    field("scheduledFireTime", scheduledFireTime) +
    field("startDeadline", startDeadline) +
    field("missedCount", missedCount) +
    field("firstMissedTime", firstMissedTime) +
    field("lastMissedTime", lastMissedTime);
  return (
    `${beginDetails(job.labels)}"createdAt":${job.createdAt}${field("payload", job.payload)}${ofFire}` +
    `${field("resultExpirationMs", job.resultExpirationMs)}${field("maxRecoveries", job.maxRecoveries)}` +
    `${metadataField(job.metadata)}${field("retryOf", job.retryOf)}` +
    `${field("after", hasParents(job) ? job.after : null)}${field("onParentFailure", job.onParentFailure)}` +
    `${field("retry", job.retry)}${field("failureExpirationMs", job.failureExpirationMs)}` +
    `${field("pauseAfterFailures", job.pauseAfterFailures)}${field("maxWaitMs", job.debounce?.maxWaitMs)}}`
  );
}

/**
 * The statements that insert jobs. Nearly always the jobs are of one task, and set few fields. Then the values that
 * they share travel once. This halves the cost, because reading columns out of rows is what costs SQLite most, and a
 * smaller statement is prepared faster.
 *
 * @param stampId the stamp of the batch, or null for none
 */
export function insertionsOf(
  insert: InsertionStatements,
  jobs: readonly NewJobRecord[],
  stampId: string | null,
): SqlStatement[] {
  const [first] = jobs;
  if (first === undefined) return [];
  const state = newJobState(first);
  if (!jobs.every((job) => isPlain(job) && isAlike(job, first, state))) return insertionsOfRows(insert, jobs, stampId);
  const { taskId, executor, priority } = first;
  if (stampId === null && jobs.length === 1) {
    const details = jobDetails(first);
    if (details.length > ALIKE_DETAILS_LENGTH_MAX) return insertionsOfRows(insert, jobs, stampId);
    return [statement(insert.oneJob, first.id, taskId, executor, priority, state, first.runAt, details)];
  }
  const rows = jobs.map((job) => member(instantKey(job.runAt, job.id), jobDetails(job)));
  if (rows.some(({ length }) => length > ALIKE_DETAILS_LENGTH_MAX)) return insertionsOfRows(insert, jobs, stampId);
  return parametersOf(rows).map(({ text }) =>
    stampId === null
      ? statement(insert.alikeJobs, text, taskId, executor, priority, state)
      : statement(insert.stampedAlikeJobs, text, taskId, executor, priority, state, stampId),
  );
}

function insertionsOfRows(
  insert: InsertionStatements,
  jobs: readonly NewJobRecord[],
  stampId: string | null,
): SqlStatement[] {
  return rowParameters(jobs.map(newJobRow)).map(({ text }) =>
    stampId === null ? statement(insert.jobs, text) : statement(insert.stampedJobs, text, stampId),
  );
}

export function hasUniqueKey(job: JobRecord): boolean {
  return job.idempotencyKey !== null || job.fireTime !== null;
}

/** Whether the columns that `alikeJobs` leaves out have the values that this statement gives them. */
export function isPlain(job: JobRecord): boolean {
  return (
    !hasUniqueKey(job) &&
    job.startDeadline === null &&
    job.concurrencyKey === undefined &&
    job.scheduleId === null &&
    job.fence === 0 &&
    job.failedAttempts === 0 &&
    job.recoveries === 0
  );
}

/** @param state of the other job */
function isAlike(job: JobRecord, other: JobRecord, state: number): boolean {
  return (
    job.taskId === other.taskId &&
    job.executor === other.executor &&
    job.priority === other.priority &&
    newJobState(job) === state
  );
}
