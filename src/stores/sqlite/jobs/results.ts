import { PAGE_BYTES_MAX } from "../../../core/limits.ts";
import { present } from "../../../core/without-undefined.ts";
import type { JobProgress } from "../../../records/attempt.ts";
import { FAILURE_MESSAGE_MAX, FAILURES, type FailureRecord } from "../../../records/failure.ts";
import type { JobResultRecord, KeptJob } from "../../../records/job-result.ts";
import { JOB_OUTCOMES, type Labels } from "../../../records/policies.ts";
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
import { FAR_FUTURE_MS, FAR_PAST_MS } from "../bounds.ts";
import type { Connection } from "../driver/connection.ts";
import { statement } from "../driver/driver-and-failures.ts";
import { beginDetails, hasAllLabels, isFirstLabel, labelCount, labelsParameter } from "../label-index.ts";
import { type HistoryStatements, type LedgerSwitch, restoringHistories } from "../ledger/history-writes.ts";
import { foundIn, readPage, type Scan, scanStatement } from "../list-scans.ts";
import type { TableNames } from "../schema/tables.ts";
import {
  field,
  fieldsOf,
  jsonArray,
  jsonRecords,
  lazily,
  metadataField,
  numberOrNull,
  rowAsJson,
  rowParameters,
  sizeInBytes,
  validJson,
} from "../sql-and-json.ts";

type StatementsOfResults = ResultStatements & HistoryStatements & LedgerSwitch;

/** The results of a `SqlDataStore`, and its cleaning. */
export class SqliteResults {
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
const MERGED = [...FAILURES, "cancelled"] as const;

const UNSUCCESSFUL = JOB_OUTCOMES.filter((outcome) => outcome !== "success");

/** The conditions by which SQLite chooses each index. All indexes are in the order of the ends. SQLite uses the partial
 *  index only for an outcome that stands in the statement as text, together with the index's own condition. */
const INDEXES: Readonly<Record<string, string>> = {
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

export function resultStatements(names: TableNames): ResultStatements {
  const { results, jobSteps, labels } = names;
  const select = `SELECT ${resultAsJson(results)} AS record`;
  // ?1 from, ?2 until, ?3 taskId or null, ?4 scheduleId or null, ?5 outcome or null, ?6 limit, ?7 labels or null
  const isMatching =
    "(?3 IS NULL OR task_id = ?3) AND (?4 IS NULL OR schedule_id = ?4) AND (?5 IS NULL OR outcome = ?5) " +
    `AND ${hasAllLabels(names, "?7", { kind: "result", at: `${results}.finished_at`, id: `${results}.job_id` })}`;
  /** A statement for each index, of the rows that fit, the oldest first. */
  const ofMatching = (sql: (rows: (column: string) => string) => string): Readonly<Record<string, string>> => {
    const matching = (condition: string) => (column: string) =>
      `SELECT ${column} FROM ${results} WHERE ${condition} AND finished_at >= ?1 AND finished_at < ?2 ` +
      `AND ${isMatching} ORDER BY finished_at, rowid LIMIT +?6`;
    const ofLabel = (column: string) =>
      `SELECT ${results}.${column} FROM ${labels} l CROSS JOIN ${results} ON job_id = l.id AND finished_at = l.at ` +
      `WHERE ${isFirstLabel("?7", "result")} AND l.at >= ?1 AND l.at < ?2 AND ${isMatching} ` +
      `ORDER BY l.at, ${results}.rowid LIMIT +?6`;
    const statements = Object.entries(INDEXES).map(([name, condition]) => [name, sql(matching(condition))]);
    return { ...Object.fromEntries(statements), label: sql(ofLabel) };
  };
  return lazily<ResultStatements>({
    // ?1 rows of resultRow
    restoreResults: () =>
      `INSERT OR IGNORE INTO ${results} (job_id, task_id, schedule_id, outcome, expires_at, finished_at, details) ` +
      "SELECT r.value->>0, r.value->>1, r.value->>2, r.value->>3, r.value->>4, r.value->>5, r.value->>6 " +
      `FROM json_each(?1) r WHERE NOT EXISTS (SELECT 1 FROM ${names.jobs} WHERE id = r.value->>0)`,
    // ?1 job id, ?2 now
    getResult: () => `${select} FROM ${results} WHERE job_id = ?1 AND expires_at > ?2`,
    // ?1 job ids, ?2 now. In the order of the ids; what has no room on a page has no record.
    getResultsOfJobs: () =>
      `SELECT w.place AS place, CASE WHEN w.bytes_so_far <= ${PAGE_BYTES_MAX} OR w.bytes_so_far = w.bytes ` +
      `THEN ${resultAsJson("r")} END AS record FROM (SELECT k.*, sum(k.bytes) OVER (ORDER BY k.place ` +
      "ROWS UNBOUNDED PRECEDING) AS bytes_so_far FROM (SELECT a.key AS place, r.rowid AS seq, " +
      `${sizeInBytes("r.details")} AS bytes FROM json_each(?1) a CROSS JOIN ${results} r ON r.job_id = a.value ` +
      `WHERE r.expires_at > ?2) k) w CROSS JOIN ${results} r ON r.rowid = w.seq ORDER BY w.place`,
    getResults: () => resultLists(names),
    // ?1 from, ?2 until, ?3 taskId or null, ?4 scheduleId or null, ?5 now, ?6 limit. The last row has how many were
    // looked through, as a JSON list. The parts are in the order already, so that SQLite merges them.
    getFailures: () => {
      const parts = FAILURES.map(
        (outcome) =>
          `SELECT rowid AS seq, finished_at AS at FROM ${results} WHERE ${INDEXES[outcome]} ` +
          "AND finished_at >= ?1 AND finished_at < ?2",
      );
      const columns = ["job_id", "task_id", "schedule_id", "outcome", "finished_at"].map((column) => `t.${column}`);
      const error = [jsonField("$.error.name"), `substr(${jsonField("$.error.message")}, 1, ${FAILURE_MESSAGE_MAX})`];
      return (
        `WITH scanned AS MATERIALIZED (${parts.join(" UNION ALL ")} ORDER BY at DESC, seq DESC LIMIT +?6) ` +
        `SELECT * FROM (SELECT json_array(${[...columns, ...error].join(", ")}) AS record, NULL AS seen ` +
        `FROM scanned w CROSS JOIN ${results} t ON t.rowid = w.seq WHERE t.expires_at > ?5 ` +
        "AND (?3 IS NULL OR t.task_id = ?3) AND (?4 IS NULL OR t.schedule_id = ?4) " +
        "ORDER BY w.at DESC, w.seq DESC) UNION ALL SELECT NULL, json_array((SELECT count(*) FROM scanned))"
      );
    },
    // the arguments of `isMatching`
    removeResults: () => ({
      ...ofMatching((rows) => `DELETE FROM ${results} WHERE rowid IN (${rows("rowid")})`),
      jobs: `DELETE FROM ${results} WHERE job_id IN (SELECT value FROM json_each(?1))`,
    }),
    removeStepsOfResults: () => ({
      ...ofMatching((rows) => `DELETE FROM ${jobSteps} WHERE job_id IN (${rows("job_id")})`),
      jobs:
        `DELETE FROM ${jobSteps} WHERE job_id IN (SELECT job_id FROM ${results} ` +
        "WHERE job_id IN (SELECT value FROM json_each(?1)))",
    }),
    // ?1 now, ?2 limit
    removeExpired: () =>
      `DELETE FROM ${results} WHERE rowid IN (SELECT rowid FROM ${results} WHERE expires_at <= ?1 ` +
      "ORDER BY expires_at LIMIT +?2)",
    // How many rows the statement before this one changed.
    countChanges: () => "SELECT changes() AS changes",
  });
}

/**
 * By index and order. ?3 taskId or null, ?4 scheduleId or null, ?5 outcome or null, ?6 from, ?7 until,
 * ?8 and ?9 the end and the row of the result after which the page begins, ?10 now, ?11 search or null, ?12 outcomes as
 * a JSON list or null, ?13 a text of the error or null, ?14 and ?15 the shortest and the longest run time or null,
 * ?16 the fewest attempts or null, ?17 a key or null, ?18 labels or null.
 */
function resultLists(names: TableNames): Readonly<Record<string, string>> {
  const { results, labels } = names;
  const ofError = (name: string): string => jsonField(`$.error.${name}`);
  const ofJob = (name: string): string => jsonField(`$.job.${name}`);
  const columns = ["job_id", "task_id", "schedule_id"].map((column) => `t.${column}`);
  const texts = [...columns, ofError("name"), ofError("message"), ofJob("idempotencyKey"), ofJob("concurrencyKey")];
  const list = {
    table: results,
    key: "rowid",
    record: resultAsJson("t"),
    texts: ["details"],
    isTaken:
      "(?3 IS NULL OR t.task_id = ?3) AND (?4 IS NULL OR t.schedule_id = ?4) AND (?5 IS NULL OR t.outcome = ?5) " +
      `AND t.expires_at > ?10 AND ${foundIn("?11", texts)} ` +
      "AND (?12 IS NULL OR t.outcome IN (SELECT value FROM json_each(?12))) " +
      `AND ${foundIn("?13", [ofError("name"), ofError("message")])} ` +
      `AND (?14 IS NULL OR t.finished_at - ${jsonField("$.startedAt")} >= ?14) ` +
      `AND (?15 IS NULL OR t.finished_at - ${jsonField("$.startedAt")} <= ?15) ` +
      `AND (?16 IS NULL OR ${jsonField("$.attempts")} >= ?16) ` +
      `AND (?17 IS NULL OR ?17 IN (${ofJob("idempotencyKey")}, ${ofJob("concurrencyKey")})) ` +
      `AND ${hasAllLabels(names, "?18", { kind: "result", at: "t.finished_at", id: "t.job_id" })}`,
  };
  const scan = (conditions: readonly string[], isBackwards: boolean, from = results, at = "finished_at"): Scan => {
    const [sign, order] = isBackwards ? ["<", "DESC"] : [">", "ASC"];
    const rowid = `${results}.rowid`;
    const rows = conditions.map(
      (condition) =>
        `SELECT ${rowid} AS seq, ${at} AS at FROM ${from} WHERE ${condition} AND ${at} >= ?6 AND ${at} < ?7 ` +
        `AND (${at} ${sign} ?8 OR ${at} = ?8 AND ${rowid} ${sign} ?9)`,
    );
    return {
      rows: `${rows.join(" UNION ALL ")} ORDER BY ${conditions.length > 1 ? "at" : at} ${order}, seq ${order}`,
      place: ["at", "seq"],
      isBackwards,
    };
  };
  // Each part is in the order already, so that SQLite merges them.
  const unsuccessful = MERGED.map(
    (outcome) => `'${outcome}' IN (SELECT value FROM json_each(?12)) AND ${INDEXES[outcome]}`,
  );
  const scans = Object.entries({ ...INDEXES, unsuccessful }).flatMap(([name, condition]) =>
    [true, false].map((isBackwards) => [
      `${name} ${isBackwards ? "newest" : "oldest"}`,
      scanStatement(list, scan([condition].flat(), isBackwards)),
    ]),
  );
  const labelled = `${labels} l CROSS JOIN ${results} ON job_id = l.id AND finished_at = l.at`;
  const ofLabel = [true, false].map((isBackwards) => [
    `label ${isBackwards ? "newest" : "oldest"}`,
    scanStatement(list, scan([isFirstLabel("?18", "result")], isBackwards, labelled, "l.at")),
  ]);
  return Object.fromEntries([...scans, ...ofLabel]);
}

function jsonField(path: string): string {
  return `CASE WHEN json_valid(t.details) THEN json_extract(t.details, '${path}') END`;
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

function resultAsJson(table: string): string {
  const columns = ["job_id", "task_id", "schedule_id", "outcome", "expires_at", "rowid", "finished_at"];
  return rowAsJson(table, columns, [validJson(`${table}.details`)]);
}

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
