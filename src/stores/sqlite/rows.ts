import { StoreUnavailableError } from "../../core/errors.ts";
import type { JobRecord } from "../../records/job.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { TaskRecord } from "../../records/task.ts";
import type { Row } from "./driver.ts";
import { JOB_STATE } from "./schema.ts";

// Rows travel as JSON text in both directions: many rows go in as one parameter, and come out as one value. The client
// spends microseconds on every single value of a result, which is more than SQLite needs for the whole row.

/** SQL that yields a job's row as JSON text: its columns, then its details. `table` is its name or alias in the
 *  statement. */
export function jobAsJson(table: string): string {
  return asJson(table, JOB_COLUMNS, ["details"]);
}

export function scheduleAsJson(table: string): string {
  return asJson(table, SCHEDULE_COLUMNS, ["metadata", "details"]);
}

export function resultAsJson(table: string): string {
  return asJson(table, ["job_id", "task_id", "schedule_id", "outcome", "expires_at"], ["details"]);
}

export function taskAsJson(table: string): string {
  return asJson(table, ["id", "max_running_jobs"], ["details"]);
}

/** What is JSON already is joined as it is: parsing and printing it once more is what would cost most. */
function asJson(table: string, columns: readonly string[], jsonColumns: readonly string[]): string {
  const plain = columns.map((column) => `${table}.${column}`).join(", ");
  return `'[' || json_array(${plain})${jsonColumns.map((column) => ` || ',' || ${table}.${column}`).join("")} || ']'`;
}

const JOB_COLUMNS = [
  "id",
  "task_id",
  "schedule_id",
  "executor",
  "priority",
  "run_at",
  "fire_time",
  "idempotency_key",
  "failed_attempts",
  "recoveries",
  "cancel_requested",
  "acquired_by",
  "acquired_until",
  "fence",
];

const SCHEDULE_COLUMNS = [
  "id",
  "task_id",
  "trigger_json",
  "trigger_rule",
  "paused",
  "created_at",
  "next_fire_time",
  "last_fire_time",
  "acquired_by",
  "acquired_until",
  "fence",
];

/** What {@link jobAsJson} yields. */
export type JobRow = [
  [
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
  ],
  Partial<JobRecord>,
];

export type ScheduleRow = [
  [
    id: string,
    taskId: string,
    trigger: string,
    triggerRule: string,
    paused: number,
    createdAt: number,
    nextFireTime: number | null,
    lastFireTime: number | null,
    acquiredBy: string | null,
    acquiredUntil: number | null,
    fence: number,
  ],
  ScheduleRecord["metadata"],
  Partial<ScheduleRecord>,
];

export type ResultRow = [
  [jobId: string, taskId: string, scheduleId: string | null, outcome: JobResultRecord["outcome"], expiresAt: number],
  Partial<JobResultRecord>,
];

export type TaskRow = [[id: string, maxRunningJobs: number | null], Omit<TaskRecord, "id" | "maxRunningJobs">];

/** The records of an answer, in order: the JSON in the column `record` of each row. */
export function jsonRecords<R>(rows: readonly Row[] | undefined): R[] {
  return (rows ?? []).map((row) => parseJson<R>(row.record));
}

/** The JSON array in the first row of an answer; empty for null. */
export function jsonArray<R>(rows: readonly Row[] | undefined, column: string): R[] {
  const text = rows?.[0]?.[column];
  return text === null || text === undefined ? [] : parseJson<R[]>(text);
}

/** The number in the first row of an answer, or null. */
export function numberOrNull(rows: readonly Row[] | undefined, column: string): number | null {
  const value = rows?.[0]?.[column];
  return value === null || value === undefined ? null : Number(value);
}

/** The ids that the rows of an answer name. */
export function idsOf(rows: readonly Row[] | undefined): string[] {
  return (rows ?? []).map((row) => String(row.id));
}

function parseJson<T>(text: unknown): T {
  try {
    // Our own statements wrote and shaped this text; a type test per field would cost as much as the query.
    return JSON.parse(String(text)) as T;
  } catch (cause) {
    throw new StoreUnavailableError("the database holds a row that is not what this library wrote", { cause });
  }
}

/** The columns of a new job as `insertJobs` reads them. New jobs are unleased, and ready unless they are to wait. */
export function newJobRow(job: JobRecord): (string | number | null)[] {
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
  ];
}

/** The state of a new job (see `JOB_STATE`): delayed or ready. */
export function newJobState(job: JobRecord): number {
  return job.runAt > job.createdAt ? JOB_STATE.delayed : JOB_STATE.ready;
}

export function jobDetails(job: JobRecord): string {
  return JSON.stringify({
    payload: job.payload ?? undefined,
    createdAt: job.createdAt,
    scheduledFireTime: job.scheduledFireTime ?? undefined,
    startDeadline: job.startDeadline ?? undefined,
    missedCount: job.missedCount ?? undefined,
    firstMissedTime: job.firstMissedTime ?? undefined,
    lastMissedTime: job.lastMissedTime ?? undefined,
    resultExpirationMs: job.resultExpirationMs,
    maxRecoveries: job.maxRecoveries,
    metadata: job.metadata,
  });
}

export function toJob([columns, details]: JobRow): JobRecord {
  return {
    id: columns[0],
    taskId: columns[1],
    scheduleId: columns[2],
    executor: columns[3],
    payload: details.payload ?? null,
    priority: columns[4],
    runAt: columns[5],
    createdAt: details.createdAt ?? 0,
    fireTime: columns[6],
    scheduledFireTime: details.scheduledFireTime ?? null,
    startDeadline: details.startDeadline ?? null,
    missedCount: details.missedCount ?? null,
    firstMissedTime: details.firstMissedTime ?? null,
    lastMissedTime: details.lastMissedTime ?? null,
    resultExpirationMs: details.resultExpirationMs ?? 0,
    maxRecoveries: details.maxRecoveries ?? 0,
    metadata: details.metadata ?? {},
    idempotencyKey: columns[7],
    failedAttempts: columns[8],
    recoveries: columns[9],
    cancelRequested: columns[10] === 1,
    acquiredBy: columns[11],
    acquiredUntil: columns[12],
    fence: columns[13],
  };
}

/** The columns of a result as `keepResults` reads them. */
export function resultRow(result: JobResultRecord): (string | number | null)[] {
  return [result.jobId, result.taskId, result.scheduleId, result.outcome, result.expiresAt, resultDetails(result)];
}

function resultDetails(result: JobResultRecord): string {
  return JSON.stringify({
    scheduledFireTime: result.scheduledFireTime ?? undefined,
    startedAt: result.startedAt ?? undefined,
    finishedAt: result.finishedAt,
    attempts: result.attempts,
    returnValue: result.returnValue ?? undefined,
    error: result.error ?? undefined,
  });
}

export function toResult([columns, details]: ResultRow): JobResultRecord {
  return {
    jobId: columns[0],
    taskId: columns[1],
    scheduleId: columns[2],
    scheduledFireTime: details.scheduledFireTime ?? null,
    outcome: columns[3],
    startedAt: details.startedAt ?? null,
    finishedAt: details.finishedAt ?? 0,
    attempts: details.attempts ?? 0,
    returnValue: details.returnValue ?? null,
    error: details.error ?? null,
    expiresAt: columns[4],
  };
}

/** The columns of a schedule as `insertSchedules` reads them. */
export function newScheduleRow(schedule: ScheduleRecord): (string | number | null)[] {
  return [
    schedule.id,
    schedule.taskId,
    schedule.trigger,
    schedule.triggerRule,
    schedule.paused ? 1 : 0,
    schedule.createdAt,
    schedule.nextFireTime,
    schedule.lastFireTime,
    schedule.fence,
    JSON.stringify(schedule.metadata),
    JSON.stringify(scheduleDetails(schedule)),
  ];
}

/** The fields that live in `details`; null leaves them out, which reads back as null. */
export function scheduleDetails(schedule: Partial<ScheduleRecord>): Partial<Record<keyof ScheduleRecord, unknown>> {
  const { payload, executor, priority, coalesce, misfireGraceMs, maxJitterMs, maxCatchUp } = schedule;
  const { resultExpirationMs, maxRecoveries } = schedule;
  return {
    payload,
    executor,
    priority,
    coalesce,
    misfireGraceMs,
    maxJitterMs,
    maxCatchUp,
    resultExpirationMs,
    maxRecoveries,
  };
}

export function toSchedule([columns, metadata, details]: ScheduleRow): ScheduleRecord {
  return {
    id: columns[0],
    taskId: columns[1],
    trigger: columns[2],
    triggerRule: columns[3],
    payload: details.payload ?? null,
    executor: details.executor ?? "",
    priority: details.priority ?? 0,
    coalesce: details.coalesce ?? "latest",
    misfireGraceMs: details.misfireGraceMs ?? null,
    maxJitterMs: details.maxJitterMs ?? 0,
    maxCatchUp: details.maxCatchUp ?? null,
    resultExpirationMs: details.resultExpirationMs ?? 0,
    maxRecoveries: details.maxRecoveries ?? 0,
    metadata,
    paused: columns[4] === 1,
    createdAt: columns[5],
    nextFireTime: columns[6],
    lastFireTime: columns[7],
    acquiredBy: columns[8],
    acquiredUntil: columns[9],
    fence: columns[10],
  };
}

export function taskDetails(task: TaskRecord): string {
  const { id: _id, maxRunningJobs: _maxRunningJobs, ...details } = task;
  return JSON.stringify(details);
}

export function toTask([[id, maxRunningJobs], details]: TaskRow): TaskRecord {
  return {
    id,
    executor: details.executor,
    maxRunningJobs,
    misfireGraceMs: details.misfireGraceMs,
    maxRecoveries: details.maxRecoveries,
    timeoutMs: details.timeoutMs,
    resultExpirationMs: details.resultExpirationMs,
    retry: details.retry,
    metadata: details.metadata,
  };
}
