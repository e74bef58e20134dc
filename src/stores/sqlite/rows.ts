import { StoreUnavailableError } from "../../core/errors.ts";
import type { AttemptRecord, JobProgress } from "../../records/attempt.ts";
import type { JobRecord, NewJobRecord } from "../../records/job.ts";
import type { JobResultRecord, KeptJob } from "../../records/job-result.ts";
import type { Metadata } from "../../records/policies.ts";
import type { TaskRecord } from "../../records/task.ts";
import { hasParents } from "../parents.ts";
import type { Row } from "./driver/driver.ts";
import { JOB_STATE, type TableNames } from "./schema/schema.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

// Rows travel as JSON text in both directions: many rows go in as one parameter, and a row comes out as one value. The
// client spends microseconds on every single value of a result, which is more than SQLite needs for the whole row.

/** The details of a job whose stored details are no valid JSON. The payload here is no valid JSON either, so the job
 *  ends as `deserializationFailed`. */
const DAMAGED: Partial<JobRecord> = Object.freeze({ payload: "this row is damaged" });

/** SQL that yields a job's row as JSON text. The columns that hold JSON travel as strings, which `toJob` parses one by
 *  one. This is cheaper than to prove in SQL that each of them is JSON. `table` is the name or alias of the table in
 *  the statement, `more` are further items. */
export function jobAsJson(table: string, ...more: string[]): string {
  const texts = ["details", "attempt_history", "progress"].map((column) => textOrNull(`${table}.${column}`));
  return `json_array(${[...readableColumns(table, JOB_COLUMNS), ...texts, ...more].join(", ")})`;
}

/** As {@link jobAsJson}, but with only those details that `endedWithoutRun` needs, so that the answer stays small. */
export function endedJobAsJson(table: string): string {
  const fields = ["scheduledFireTime", "resultExpirationMs"].map((name) => `'${name}', ${detail(name, table)}`);
  return `json_array(${readableColumns(table, JOB_COLUMNS).join(", ")}, json_object(${fields.join(", ")}))`;
}

/** SQL of a text; NULL for a BLOB, which is never less than another BLOB that is empty. */
function textOrNull(column: string): string {
  return `CASE WHEN ${column} < x'' THEN ${column} END`;
}

export function resultAsJson(table: string): string {
  const columns = ["job_id", "task_id", "schedule_id", "outcome", "expires_at", "rowid", "finished_at"];
  return rowAsJson(table, columns, [validJson(`${table}.details`)]);
}

export function taskAsJson(table: string): string {
  const [id, declaration] = ["id", "declaration"].map((column) => readableColumn(table, column));
  const columns = [
    id ?? "",
    `${table}.max_running_jobs + 0`,
    declaration ?? "",
    `${table}.version + 0`,
    `${table}.paused + 0`,
  ];
  return rowAsJson(null, columns, [validJson(`${table}.details`)]);
}

/**
 * SQL of a JSON array: its first item is the JSON array of `columns`, and its other items are the texts of `jsons`.
 * These texts are joined as they are, because parsing and printing them once more would cost most. Without `table`,
 * `columns` are SQL expressions.
 */
export function rowAsJson(table: string | null, columns: readonly string[], jsons: readonly string[]): string {
  const plain = (table === null ? columns : readableColumns(table, columns)).join(", ");
  return `'[' || json_array(${plain})${jsons.map((json) => ` || ',' || ${json}`).join("")} || ']'`;
}

/** SQL of an instant that JSON and clients can hold; NULL for what is damaged. */
export function instant(column: string): string {
  return `CASE WHEN ${column} BETWEEN -9e15 AND 9e15 THEN ${column} + 0 END`;
}

/** SQL of a column that holds JSON, or of `otherwise` in a damaged row, because one damaged row must not make the text
 *  of all rows unreadable. SQLite's functions of JSON end at a NUL, and pass over what stands behind it. */
export function validJson(column: string, otherwise = "{}"): string {
  return `CASE WHEN json_valid(${column}) AND instr(${column}, char(0)) = 0 THEN ${column} ELSE '${otherwise}' END`;
}

/** Columns that hold numbers; the others hold text. */
const NUMBERS: ReadonlySet<string> = new Set([
  "priority",
  "run_at",
  "fire_time",
  "failed_attempts",
  "recoveries",
  "cancel_requested",
  "acquired_until",
  "fence",
  "started_fence",
  "paused",
  "created_at",
  "next_fire_time",
  "last_fire_time",
  "pace_until",
  "max_running_jobs",
  "version",
  "expires_at",
  "skipped_count",
  "finished_at",
  "rowid",
  "state",
  "turn",
]);

/** SQL of a column for `json_array`, which fails at a BLOB, and with it the answer about all rows. In a damaged row,
 *  text where a number belongs reads as 0. */
export function readableColumn(table: string, column: string): string {
  return NUMBERS.has(column) ? `${table}.${column} + 0` : `CAST(${table}.${column} AS TEXT)`;
}

function readableColumns(table: string, columns: readonly string[]): string[] {
  return columns.map((column) => readableColumn(table, column));
}

/** SQL of one field of a row's details; NULL where the details have no such field. */
export function detail(name: string, table?: string): string {
  const column = table === undefined ? "details" : `${table}.details`;
  return `CASE WHEN json_valid(${column}) THEN ${column}->>'${name}' END`;
}

/** SQL of the length of a text in bytes. `length` without the cast counts characters, and stops at a NUL. */
export function sizeInBytes(text: string): string {
  return `length(CAST(${text} AS BLOB))`;
}

/** SQL of the idempotency key of a job. The column of a job that missed its start is null where another has its key. */
export const IDEMPOTENCY_KEY: string = `coalesce(idempotency_key, ${detail("idempotencyKey")})`;

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
  "started_fence",
  "state",
  "concurrency_key",
  "turn",
];

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
  /** See the column `turn`. */
  turn: number | null,
  /** As JSON, or the details that matter; null for a BLOB. */
  details: string | null | Partial<JobRecord>,
  attemptHistory?: string | null,
  progress?: string | null,
  seq?: number,
];

export type ResultRow = [
  [
    jobId: string,
    taskId: string,
    scheduleId: string | null,
    outcome: JobResultRecord["outcome"],
    expiresAt: number,
    /** Of the row, not of the record: what tells apart the results of one instant. */
    rowid: number,
    finishedAt: number,
  ],
  Omit<Partial<JobResultRecord>, "finishedAt" | "job" | "attemptHistory" | "progress" | "retryOf"> & {
    readonly job?: Partial<KeptJob>;
    readonly attemptHistory?: JobResultRecord["attemptHistory"] | null;
    readonly progress?: JobProgress | null;
    readonly retryOf?: string | null;
  },
];

export type TaskRow = [
  [id: string, maxRunningJobs: number | null, declaration: string | null, version: number | null, paused: number],
  Omit<TaskRecord, "id" | "maxRunningJobs" | "declaration" | "version" | "paused">,
];

/** The records of an answer, in order: the JSON in the column `record` of each row. */
export function jsonRecords<R>(rows: readonly Row[] | undefined): R[] {
  return (rows ?? []).map((row) => parseJson<R>(row.record));
}

/** The JSON array in a column of the first row of an answer; empty for null. */
export function jsonArray<R>(rows: readonly Row[] | undefined, column: string): R[] {
  const text = rows?.[0]?.[column];
  return text === null || text === undefined ? [] : parseJson<R[]>(text);
}

/** The number in a column of the first row of an answer, or null. */
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
    // Our own statements wrote this text. A type test of each field would cost as much as the query.
    return JSON.parse(String(text)) as T;
  } catch (cause) {
    throw new StoreUnavailableError("the database holds a row that is not what this library wrote", { cause });
  }
}

/** The details of a row, or `otherwise` where they are JSON, but no object. */
export function fieldsOf<T extends object>(details: T, otherwise: Partial<T>): Partial<T> {
  return typeof details === "object" && details !== null && !Array.isArray(details) ? details : otherwise;
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

/** How many columns {@link newJobRow} has. */
export const NEW_JOB_ROW_LENGTH = 16;

/** The state of a new job (see `JOB_STATE`), unless the key of its task (`own_key`) becomes its key: dependent if the
 *  job has parents, delayed if its `runAt` is later than its addition, else blocked or ready. */
export function newJobState(job: JobRecord): number {
  if (hasParents(job)) return JOB_STATE.dependent;
  if (job.runAt > job.createdAt) return JOB_STATE.delayed;
  return job.concurrencyKey === undefined ? JOB_STATE.ready : JOB_STATE.blocked;
}

/** As JSON. The text is put together by hand, because to make an object without null first, and its text then, costs
 *  twice as much, and every job comes by here. */
export function jobDetails(job: NewJobRecord): string {
  const { scheduledFireTime, startDeadline, missedCount, firstMissedTime, lastMissedTime } = job;
  const ofFire =
    member("scheduledFireTime", scheduledFireTime) +
    member("startDeadline", startDeadline) +
    member("missedCount", missedCount) +
    member("firstMissedTime", firstMissedTime) +
    member("lastMissedTime", lastMissedTime);
  return (
    `{"createdAt":${job.createdAt}${member("payload", job.payload)}${ofFire}` +
    `${member("resultExpirationMs", job.resultExpirationMs)}${member("maxRecoveries", job.maxRecoveries)}` +
    `${member("metadata", isEmpty(job.metadata) ? null : job.metadata)}${member("retryOf", job.retryOf)}` +
    `${member("after", hasParents(job) ? job.after : null)}${member("onParentFailure", job.onParentFailure)}` +
    `${member("maxWaitMs", job.debounce?.maxWaitMs)}}`
  );
}

/** A further member of a JSON object; nothing for null. */
function member(name: string, value: unknown): string {
  if (value === null || value === undefined) return "";
  return `,"${name}":${typeof value === "number" && Number.isFinite(value) ? value : JSON.stringify(value)}`;
}

function isEmpty(metadata: Metadata): boolean {
  return Object.keys(metadata).length === 0;
}

/** Sorts jobs that a step leased in the order of acquisition. */
export function inOrder(rows: JobRow[]): JobRow[] {
  return rows.sort((a, b) => b[4] - a[4] || turnOf(a) - turnOf(b) || a[5] - b[5] || (a[21] ?? 0) - (b[21] ?? 0));
}

/** The turn of a job of a fair task; that of all others comes after every turn. */
function turnOf(row: JobRow): number {
  return row[17] ?? Number.MAX_SAFE_INTEGER;
}

/** What holds a job in this state; undefined for nothing. */
export function heldByOf(state: number): JobRecord["heldBy"] {
  if (state === JOB_STATE.dependent) return "parents";
  return state === JOB_STATE.blocked ? "limit" : undefined;
}

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
  if (details.retryOf !== undefined) job.retryOf = details.retryOf;
  if (details.after !== undefined) job.after = details.after;
  if (details.onParentFailure !== undefined) job.onParentFailure = details.onParentFailure;
  const heldBy = heldByOf(row[15]);
  if (heldBy !== undefined) job.heldBy = heldBy;
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

/** The JSON in a column; undefined where there is none, or where it is damaged. */
function jsonOrUndefined<T>(text: string | null | undefined): T | undefined {
  if (text === null || text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}

/** The columns of a result as `keepResults` reads them. */
export function resultRow(result: JobResultRecord): (string | number | null)[] {
  const { jobId, taskId, scheduleId, outcome, expiresAt, finishedAt } = result;
  return [jobId, taskId, scheduleId, outcome, expiresAt, finishedAt, resultDetails(result)];
}

/** As JSON, see {@link jobDetails}. */
export function resultDetails(result: JobResultRecord): string {
  const { job } = result;
  const ofRun = member("startedAt", result.startedAt) + member("attempts", result.attempts);
  const outcome = member("returnValue", result.returnValue) + member("error", result.error);
  const kept =
    (job === undefined ? "" : `,"job":${keptJob(job)}`) +
    member("attemptHistory", result.attemptHistory) +
    member("progress", result.progress) +
    member("retryOf", result.retryOf);
  const fireTime = member("scheduledFireTime", result.scheduledFireTime);
  return `{${`${ofRun}${fireTime}${outcome}${kept}`.slice(1)}}`;
}

/** What nearly all jobs have is left out. */
function keptJob(kept: KeptJob): string {
  const { payload, metadata, executor, priority, maxRecoveries } = kept;
  const ofPayload = member("payload", payload) + member("omitsPayload", kept.omitsPayload);
  const keys = member("fireTime", kept.fireTime) + member("idempotencyKey", kept.idempotencyKey);
  const settings =
    member("metadata", isEmpty(metadata) ? null : metadata) +
    member("executor", executor === EXECUTOR_DEFAULT ? null : executor) +
    member("priority", priority === 0 ? null : priority) +
    member("maxRecoveries", maxRecoveries === 0 ? null : maxRecoveries);
  const flow = member("concurrencyKey", kept.concurrencyKey) + member("after", kept.after);
  return `{"createdAt":${kept.createdAt}${ofPayload}${settings}${keys}${flow}}`;
}

const EXECUTOR_DEFAULT = "inline";

function toKeptJob(kept: Partial<KeptJob>): KeptJob {
  return {
    payload: kept.payload ?? null,
    ...(kept.omitsPayload === true ? { omitsPayload: true } : {}),
    metadata: kept.metadata ?? {},
    executor: kept.executor ?? EXECUTOR_DEFAULT,
    priority: kept.priority ?? 0,
    fireTime: kept.fireTime ?? null,
    idempotencyKey: kept.idempotencyKey ?? null,
    maxRecoveries: kept.maxRecoveries ?? 0,
    createdAt: kept.createdAt ?? 0,
    ...(typeof kept.concurrencyKey === "string" ? { concurrencyKey: kept.concurrencyKey } : {}),
    ...(kept.after === undefined || kept.after === null ? {} : { after: kept.after }),
  };
}

export function toResult([columns, stored]: ResultRow): JobResultRecord {
  const details = fieldsOf(stored, {});
  const { job, attemptHistory, progress, retryOf } = details;
  return {
    jobId: columns[0],
    taskId: columns[1],
    scheduleId: columns[2],
    scheduledFireTime: details.scheduledFireTime ?? null,
    outcome: columns[3],
    startedAt: details.startedAt ?? null,
    finishedAt: columns[6],
    attempts: details.attempts ?? 0,
    returnValue: details.returnValue ?? null,
    error: details.error ?? null,
    expiresAt: columns[4],
    ...(job === undefined ? {} : { job: toKeptJob(job) }),
    ...(attemptHistory === undefined || attemptHistory === null ? {} : { attemptHistory }),
    ...(progress === undefined || progress === null ? {} : { progress }),
    ...(retryOf === undefined || retryOf === null ? {} : { retryOf }),
  };
}

function taskDetails(task: TaskRecord): string {
  const { id: _id, maxRunningJobs: _maxRunningJobs, declaration: _hash, version: _version, ...details } = task;
  return JSON.stringify({ ...details, paused: undefined });
}

/** The columns of a task as `putTasks` and looks read them. Those of flow control are left out where there is none. */
export function taskRow(task: TaskRecord): (string | number | null)[] {
  const row = [task.id, task.maxRunningJobs, taskDetails(task), task.declaration ?? null, task.version ?? null];
  if (!hasFlowControl(task)) return row;
  const { maxRunningPerKey = null, rateLimit, fair = false } = task;
  const isAdmitted = rateLimit !== undefined || fair;
  const rate = [rateLimit?.limit ?? null, rateLimit?.perMs ?? null, rateLimit?.burst ?? null];
  return [...row, 1, maxRunningPerKey, ...rate, fair ? 1 : 0, isAdmitted ? "" : null];
}

export function hasFlowControl({ maxRunningPerKey, rateLimit, fair = false }: TaskRecord): boolean {
  return maxRunningPerKey !== undefined || rateLimit !== undefined || fair;
}

/** The settings of a task whose stored details are damaged. */
const DAMAGED_TASK: TaskRow[1] = {
  executor: "",
  misfireGraceMs: null,
  maxRecoveries: 0,
  timeoutMs: null,
  resultExpirationMs: 0,
  retry: { attemptsMax: 1, initialMs: 0, factor: 1, maxMs: 0, jitter: "none" },
  overlap: "queue",
  metadata: {},
};

export function toTask([[id, maxRunningJobs, declaration, version, paused], stored]: TaskRow): TaskRecord {
  const details = { ...DAMAGED_TASK, ...fieldsOf(stored, {}) };
  const { maxRunningPerKey, rateLimit, fair } = details;
  return {
    id,
    executor: details.executor,
    maxRunningJobs,
    misfireGraceMs: details.misfireGraceMs,
    maxRecoveries: details.maxRecoveries,
    timeoutMs: details.timeoutMs,
    resultExpirationMs: details.resultExpirationMs,
    retry: details.retry,
    overlap: details.overlap,
    metadata: details.metadata,
    ...(maxRunningPerKey === undefined ? {} : { maxRunningPerKey }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(fair === undefined ? {} : { fair }),
    ...(paused === 1 ? { paused: true } : {}),
    ...(declaration === null ? {} : { declaration }),
    ...(version === null ? {} : { version }),
  };
}

/** SQL conditions by which a repeated addition finds what became of the job that it added before. Each takes the SQL of
 *  the job's id. */
export interface ExistenceChecks {
  /** It is unfinished. */
  readonly isJob: (id: string) => string;
  /** It has ended, and its result is kept. */
  readonly hasResult: (id: string) => string;
  /** Its addition, or the batch that added it, left a stamp. */
  readonly isStamped: (id: string) => string;
}

export function existenceChecks({ jobs, results, steps }: TableNames): ExistenceChecks {
  return {
    isJob: (id) => `EXISTS (SELECT 1 FROM ${jobs} WHERE id = ${id})`,
    hasResult: (id) => `EXISTS (SELECT 1 FROM ${results} WHERE job_id = ${id})`,
    isStamped: (id) => `EXISTS (SELECT 1 FROM ${steps} WHERE id = ${id})`,
  };
}
