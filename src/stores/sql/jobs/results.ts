import { present } from "../../../core/without-undefined.ts";
import type { JobProgress } from "../../../records/attempt.ts";
import { FAILURES, type FailureRecord } from "../../../records/failure.ts";
import type { JobResultRecord, KeptJob } from "../../../records/job-result.ts";
import { JOB_OUTCOMES, type JobOutcome, type Labels } from "../../../records/policies.ts";
import type {
  FailureList,
  FailureSelection,
  JobResultFilter,
  JobResultSelection,
  RecordPage,
  RestoredRecords,
  ResultRemoval,
  ResultsOfJobs,
} from "../../data-store.ts";
import { readResultCursor, resultCursor } from "../../shared/cursors-and-search.ts";
import type { Connection } from "../driver/connection.ts";
import { statement } from "../driver/driver-and-failures.ts";
import { type HistoryStatements, type LedgerSwitch, restoringHistories } from "../history/history-writes.ts";
import { FAR_FUTURE_MS, FAR_PAST_MS } from "../limits.ts";
import { beginDetails, labelCount, labelsParameter } from "../lists/label-index.ts";
import { readPage } from "../lists/list-scans.ts";
import {
  field,
  fieldsOf,
  jsonArray,
  jsonRecords,
  metadataField,
  numberOrNull,
  rowParameters,
} from "../sql-and-json.ts";

type StatementsOfResults = ResultStatements & HistoryStatements & LedgerSwitch;

/** The results of a `SqlDataStore`, and its cleaning. */
export class SqlResults {
  readonly #connection: Connection;
  readonly #statements: StatementsOfResults;

  constructor(connection: Connection, statements: StatementsOfResults) {
    this.#connection = connection;
    this.#statements = statements;
  }

  async get(jobId: string, now: number): Promise<JobResultRecord | null> {
    const rows = await this.#connection.read(statement(this.#statements.getResult, jobId, now));
    const [row] = jsonRecords<ResultRow>(rows);
    return row === undefined ? null : toResult(row);
  }

  /** Of half the ids where the answer is larger than the server sends. */
  async getOfJobs(ids: readonly string[], now: number): Promise<ResultsOfJobs> {
    if (ids.length === 0) return { results: [], read: 0 };
    try {
      const sql = this.#statements.getResultsOfJobs;
      const rows = await this.#connection.read(statement(sql, JSON.stringify(ids), now));
      const end = rows.find(({ record }) => record === null);
      const fitting = rows.filter(({ record }) => record !== null);
      return { results: jsonRecords<ResultRow>(fitting).map(toResult), read: Number(end?.place ?? ids.length) };
    } catch (error) {
      if (this.#connection.failureKind(error) !== "tooLarge" || ids.length === 1) throw error;
      return this.getOfJobs(ids.slice(0, Math.ceil(ids.length / 2)), now);
    }
  }

  async restore(records: RestoredRecords): Promise<void> {
    const { restoreResults } = this.#statements;
    const rows = rowParameters(records.results.map(resultRow));
    const statements = [
      ...rows.map(({ text }) => statement(restoreResults, text)),
      ...restoringHistories(this.#statements, records.histories),
    ];
    if (statements.length > 0) await this.#connection.write(() => statements);
  }

  async getPage(filter: JobResultFilter, now: number): Promise<RecordPage<JobResultRecord>> {
    if (filter.cursor !== null) readResultCursor(filter.cursor);
    const { taskId, outcome, outcomes, search, error, runTimeMsMin, runTimeMsMax, attemptsMin, key } = filter;
    const { labels, order = "newest" } = filter;
    const index = resultIndexOf(filter);
    const sql = this.#statements.getResults[`${index} ${order}`] ?? "";
    const isOldestFirst = order === "oldest";
    const begin = { finishedAt: isOldestFirst ? FAR_PAST_MS : FAR_FUTURE_MS, place: 0 };
    const [after, before, ...selection] = selectionArgs(filter);
    const rest = [error, runTimeMsMin, runTimeMsMax, attemptsMin, key];
    const ofOutcomes = outcomes === undefined ? null : JSON.stringify(outcomes);
    const more = [search ?? null, ofOutcomes, ...rest.map((part) => part ?? null), labelsParameter(labels)];
    const isOfIndex = index === "unsuccessful" ? outcomes : index === outcome ? outcome : undefined;
    const ofTask = index === "task" ? undefined : taskId;
    const others = [ofTask, isOfIndex === undefined ? (outcome ?? outcomes) : undefined, search, ...rest];
    const otherLabels = labelCount(labels) - (index === "label" ? 1 : 0);
    const page = await readPage<ResultRow, Placed>(this.#connection, filter, {
      statement: (cursor, limit, scanned) => {
        const { finishedAt, place } = cursor === null ? begin : readResultCursor(cursor);
        // The range of the index begins where the page before ended.
        const range = isOldestFirst
          ? [Math.max(after, finishedAt), before]
          : [after, Math.min(before, finishedAt + (cursor === null ? 0 : 1))];
        return statement(sql, limit, scanned, ...selection, ...range, finishedAt, place, now, ...more);
      },
      takesAll: otherLabels === 0 && others.every((part) => part === undefined),
      toRecord: placed,
      cursorOf: ({ cursor }) => cursor,
      cursorAt: ([finishedAt, place]) => resultCursor({ finishedAt: Number(finishedAt), place: Number(place) }),
    });
    return { items: page.items.map(({ result }) => result), cursor: page.cursor };
  }

  /** Of fewer where the answer is larger than the server sends. */
  async getFailures(selection: FailureSelection, now: number): Promise<FailureList> {
    const { limit, taskId = null, scheduleId = null, from = FAR_PAST_MS, until = FAR_FUTURE_MS } = selection;
    try {
      const sql = this.#statements.getFailures;
      const rows = await this.#connection.read(statement(sql, from, until, taskId, scheduleId, now, limit));
      const [seen] = jsonArray<number>(rows.slice(-1), "seen");
      return { items: jsonRecords<FailureRow>(rows.slice(0, -1)).map(toFailure), seen: seen ?? 0 };
    } catch (error) {
      if (this.#connection.failureKind(error) !== "tooLarge" || limit === 1) throw error;
      const fewer = await this.getFailures({ ...selection, limit: Math.ceil(limit / 4) }, now);
      return { ...fewer, seen: limit };
    }
  }

  async remove({ jobIds, ...selection }: ResultRemoval, limit: number): Promise<number> {
    const { removeResults, countChanges, removeStepsOfResults } = this.#statements;
    const index = jobIds === undefined ? resultIndexOf(selection) : "jobs";
    const args =
      jobIds === undefined
        ? [...selectionArgs(selection), limit, labelsParameter(selection.labels)]
        : [JSON.stringify(jobIds)];
    const [, , removed] = await this.#connection.write(() => [
      statement(removeStepsOfResults[index] ?? "", ...args),
      statement(removeResults[index] ?? "", ...args),
      statement(countChanges),
    ]);
    return numberOrNull(removed, "changes") ?? 0;
  }
}

/** A result, and the cursor of a page that ends with it. */
interface Placed {
  readonly result: JobResultRecord;
  readonly cursor: string;
}

function placed(row: ResultRow): Placed {
  const [, , , , , place, finishedAt] = row[0];
  return { result: toResult(row), cursor: resultCursor({ finishedAt, place }) };
}

/** The arguments ?1 to ?5 of `removeResults`. */
function selectionArgs(selection: JobResultSelection): [after: number, before: number, ...(string | null)[]] {
  const { from = FAR_PAST_MS, until = FAR_FUTURE_MS, taskId = null, scheduleId = null, outcome = null } = selection;
  return [from, until, taskId, scheduleId, outcome];
}

/** The statements about results. */
export interface ResultStatements {
  readonly restoreResults: string;
  readonly getResult: string;
  readonly getResultsOfJobs: string;
  /** By the index that a page is read from, then its order. See {@link resultIndexOf}. */
  readonly getResults: Readonly<Record<string, string>>;
  /** By the index by which they are found; `jobs` is by their ids, a JSON list. */
  readonly removeResults: Readonly<Record<string, string>>;
  /** By the same. Runs before `removeResults`. */
  readonly removeStepsOfResults: Readonly<Record<string, string>>;
  readonly getFailures: string;
  readonly removeExpired: string;
  readonly countChanges: string;
}

/** The outcomes that are read together from their index: at most five, because cloud databases take no more parts of a
 *  compound select. */
export const MERGED: readonly JobOutcome[] = [...FAILURES, "cancelled"];

const UNSUCCESSFUL = JOB_OUTCOMES.filter((outcome) => outcome !== "success");

/** The conditions by which SQLite chooses each index. All indexes are in the order of the ends. SQLite uses the partial
 *  index only for an outcome that stands in the statement as text, together with the index's own condition. */
export const INDEXES: Readonly<Record<string, string>> = {
  all: "true",
  task: "task_id = ?3",
  schedule: "schedule_id = ?4",
  ...Object.fromEntries(UNSUCCESSFUL.map((outcome) => [outcome, `outcome = '${outcome}' AND outcome <> 'success'`])),
};

type Outcomes = Pick<JobResultFilter, "outcomes">;

/** The index that fits a filter best. The other parts of the filter are tested row by row. */
function resultIndexOf({ taskId, scheduleId, outcome, outcomes, labels }: JobResultSelection & Outcomes): string {
  if (scheduleId !== undefined) return "schedule";
  if (labels !== undefined) return "label";
  if (outcomes?.every((one) => MERGED.some((merged) => merged === one))) return "unsuccessful";
  if (outcome !== undefined && INDEXES[outcome] !== undefined) return outcome;
  return taskId === undefined ? "all" : "task";
}

type FailureRow = [
  jobId: string,
  taskId: string,
  scheduleId: string | null,
  outcome: JobResultRecord["outcome"],
  finishedAt: number,
  name: string | null,
  message: string | null,
];

function toFailure([jobId, taskId, scheduleId, outcome, finishedAt, name, message]: FailureRow): FailureRecord {
  return { jobId, taskId, scheduleId, outcome, finishedAt, name, message };
}

type ResultRow = [
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
    /** Those of the job. */
    readonly labels?: Labels;
    readonly attemptHistory?: JobResultRecord["attemptHistory"] | null;
    readonly progress?: JobProgress | null;
    readonly retryOf?: string | null;
  },
];

/** The columns of a result as `keepResults` reads them. */
export function resultRow(result: JobResultRecord): (string | number | null)[] {
  const { jobId, taskId, scheduleId, outcome, expiresAt, finishedAt } = result;
  return [jobId, taskId, scheduleId, outcome, expiresAt, finishedAt, resultDetails(result)];
}

/** As JSON, see {@link field}. */
export function resultDetails(result: JobResultRecord): string {
  const { job } = result;
  const ofRun = field("startedAt", result.startedAt) + field("attempts", result.attempts);
  const outcome = field("returnValue", result.returnValue) + field("error", result.error);
  const kept =
    (job === undefined ? "" : `,"job":${keptJob(job)}`) +
    field("attemptHistory", result.attemptHistory) +
    field("progress", result.progress) +
    field("retryOf", result.retryOf);
  const fireTime = field("scheduledFireTime", result.scheduledFireTime);
  return `${beginDetails(job?.labels)}${`${ofRun}${fireTime}${outcome}${kept}`.slice(1)}}`;
}

/** What nearly all jobs have is left out. */
function keptJob(kept: KeptJob): string {
  const { payload, metadata, executor, priority, maxRecoveries } = kept;
  const ofPayload = field("payload", payload) + field("omitsPayload", kept.omitsPayload);
  const keys = field("fireTime", kept.fireTime) + field("idempotencyKey", kept.idempotencyKey);
  const settings =
    metadataField(metadata) +
    field("executor", executor === EXECUTOR_DEFAULT ? null : executor) +
    field("priority", priority === 0 ? null : priority) +
    field("maxRecoveries", maxRecoveries === 0 ? null : maxRecoveries);
  const times =
    field("resultExpirationMs", kept.resultExpirationMs) + field("failureExpirationMs", kept.failureExpirationMs);
  const flow = field("concurrencyKey", kept.concurrencyKey) + field("after", kept.after) + field("retry", kept.retry);
  return `{"createdAt":${kept.createdAt}${ofPayload}${settings}${keys}${flow}${times}}`;
}

const EXECUTOR_DEFAULT = "inline";

function toKeptJob(kept: Partial<KeptJob>, labels: Labels | undefined): KeptJob {
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
    ...(labels === undefined ? {} : { labels }),
    ...(typeof kept.concurrencyKey === "string" ? { concurrencyKey: kept.concurrencyKey } : {}),
    ...(typeof kept.resultExpirationMs === "number" ? { resultExpirationMs: kept.resultExpirationMs } : {}),
    ...(typeof kept.failureExpirationMs === "number" ? { failureExpirationMs: kept.failureExpirationMs } : {}),
    ...present(kept, "after", "retry"),
  };
}

function toResult([columns, stored]: ResultRow): JobResultRecord {
  const details = fieldsOf(stored, {});
  const { job, labels } = details;
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
    ...(job === undefined ? {} : { job: toKeptJob(job, labels) }),
    ...present(details, "attemptHistory", "progress", "retryOf"),
  };
}
