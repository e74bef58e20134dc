import type { JobResultRecord } from "../../../records/job-result.ts";
import type { JobResultFilter, JobResultSelection, RecordPage } from "../../data-store.ts";
import { readResultCursor, resultCursor } from "../../result-cursor.ts";
import type { Connection } from "../driver/connection.ts";
import { statement } from "../driver/parameters.ts";
import { lazily } from "../lazily.ts";
import { FAR_FUTURE_MS, FAR_PAST_MS, STAMPS_PER_CLEANUP_MAX } from "../limits.ts";
import { foundIn, readPage, type Walk, walkStatement } from "../lists.ts";
import { detail, IDEMPOTENCY_KEY, jsonRecords, numberOrNull, type ResultRow, resultAsJson, toResult } from "../rows.ts";
import type { TableNames } from "../schema/schema.ts";

type Statements = ResultStatements;

/** The results of a `SqlDataStore`, and its cleaning. */
export class SqliteResults {
  readonly #connection: Connection;
  readonly #statements: Statements;

  constructor(connection: Connection, statements: Statements) {
    this.#connection = connection;
    this.#statements = statements;
  }

  async get(jobId: string, now: number): Promise<JobResultRecord | null> {
    const rows = await this.#connection.read(statement(this.#statements.getResult, jobId, now));
    const [row] = jsonRecords<ResultRow>(rows);
    return row === undefined ? null : toResult(row);
  }

  /** In several reads where the answer is larger than the server sends. */
  async getOfJobs(jobIds: readonly string[], now: number): Promise<JobResultRecord[]> {
    if (jobIds.length === 0) return [];
    const ids = [...new Set(jobIds)];
    try {
      const sql = this.#statements.getResultsOfJobs;
      const rows = await this.#connection.read(statement(sql, JSON.stringify(ids), now));
      return jsonRecords<ResultRow>(rows).map(toResult);
    } catch (error) {
      if (this.#connection.failureKind(error) !== "tooLarge" || ids.length === 1) throw error;
      const half = Math.ceil(ids.length / 2);
      return [...(await this.getOfJobs(ids.slice(0, half), now)), ...(await this.getOfJobs(ids.slice(half), now))];
    }
  }

  async getPage(filter: JobResultFilter, now: number): Promise<RecordPage<JobResultRecord>> {
    if (filter.cursor !== null) readResultCursor(filter.cursor);
    const { taskId, outcome, search, order = "newest" } = filter;
    const index = resultIndexOf(filter);
    const sql = this.#statements.getResults[`${index} ${order}`] ?? "";
    const isOldestFirst = order === "oldest";
    const begin = { finishedAt: isOldestFirst ? FAR_PAST_MS : FAR_FUTURE_MS, place: 0 };
    const [after, before, ...selection] = selectionArgs(filter);
    const others = [index === "task" ? undefined : taskId, index === outcome ? undefined : outcome, search];
    const page = await readPage<ResultRow, Placed>(this.#connection, filter, {
      statement: (cursor, limit, walked) => {
        const { finishedAt, place } = cursor === null ? begin : readResultCursor(cursor);
        // The range of the index begins where the page before ended.
        const range = isOldestFirst
          ? [Math.max(after, finishedAt), before]
          : [after, Math.min(before, finishedAt + (cursor === null ? 0 : 1))];
        return statement(sql, limit, walked, ...selection, ...range, finishedAt, place, now, search ?? null);
      },
      takesAll: others.every((part) => part === undefined),
      toRecord: placed,
      cursorOf: ({ cursor }) => cursor,
      cursorAt: ([finishedAt, place]) => resultCursor({ finishedAt: Number(finishedAt), place: Number(place) }),
    });
    return { items: page.items.map(({ result }) => result), cursor: page.cursor };
  }

  async remove(selection: JobResultSelection, limit: number): Promise<number> {
    const { removeResults, countChanges } = this.#statements;
    const [, removed] = await this.#connection.write(() => [
      statement(removeResults[resultIndexOf(selection)] ?? "", ...selectionArgs(selection), limit),
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
  const { finishedAfter = FAR_PAST_MS, finishedBefore = FAR_FUTURE_MS } = selection;
  return [
    finishedAfter,
    finishedBefore,
    selection.taskId ?? null,
    selection.scheduleId ?? null,
    selection.outcome ?? null,
  ];
}

/** The statements about results, and those of the clean-up. */
export interface ResultStatements {
  readonly getResult: string;
  readonly getResultsOfJobs: string;
  /** By the index that a page is read from, then its order. See {@link resultIndexOf}. */
  readonly getResults: Readonly<Record<string, string>>;
  /** By the index by which they are found. */
  readonly removeResults: Readonly<Record<string, string>>;
  readonly removeExpired: string;
  readonly countChanges: string;
  readonly removeStamps: string;
  readonly removeDead: string;
}

/** The conditions by which SQLite chooses each index. All indexes are in the order of the ends. SQLite uses the partial
 *  index only for an outcome that stands in the statement as text, together with the index's own condition. */
const INDEXES: Readonly<Record<string, string>> = {
  all: "true",
  task: "task_id = ?3",
  schedule: "schedule_id = ?4",
  ...Object.fromEntries(
    ["error", "missedStartDeadline", "deserializationFailed", "cancelled", "abandoned"].map((outcome) => [
      outcome,
      `outcome = '${outcome}' AND outcome <> 'success'`,
    ]),
  ),
};

/** The index that fits a filter best. The other parts of the filter are tested row by row. */
function resultIndexOf({ taskId, scheduleId, outcome }: JobResultSelection): string {
  if (scheduleId !== undefined) return "schedule";
  if (outcome !== undefined && INDEXES[outcome] !== undefined) return outcome;
  return taskId === undefined ? "all" : "task";
}

export function resultStatements({ results, steps, schedulers }: TableNames): ResultStatements {
  const select = `SELECT ${resultAsJson(results)} AS record`;
  // ?1 finishedAfter, ?2 finishedBefore, ?3 taskId or null, ?4 scheduleId or null, ?5 outcome or null
  const matching = (condition: string): string =>
    `FROM ${results} WHERE ${condition} ` +
    `AND finished_at >= ?1 AND finished_at < ?2 ` +
    "AND (?3 IS NULL OR task_id = ?3) AND (?4 IS NULL OR schedule_id = ?4) AND (?5 IS NULL OR outcome = ?5)";
  return lazily<ResultStatements>({
    // ?1 job id, ?2 now
    getResult: () => `${select} FROM ${results} WHERE job_id = ?1 AND expires_at > ?2`,
    // ?1 job ids, ?2 now
    getResultsOfJobs: () =>
      `SELECT ${resultAsJson("r")} AS record FROM json_each(?1) a CROSS JOIN ${results} r ON r.job_id = a.value ` +
      "WHERE r.expires_at > ?2",
    getResults: () => resultLists(results),
    // the arguments of `matching`, and ?6 limit
    removeResults: () =>
      Object.fromEntries(
        Object.entries(INDEXES).map(([name, condition]) => [
          name,
          `DELETE FROM ${results} WHERE rowid IN (SELECT rowid ${matching(condition)} ` +
            `ORDER BY finished_at, rowid LIMIT +?6)`,
        ]),
      ),
    // ?1 now, ?2 limit
    removeExpired: () =>
      `DELETE FROM ${results} WHERE rowid IN (SELECT rowid FROM ${results} WHERE expires_at <= ?1 ` +
      "ORDER BY expires_at LIMIT +?2)",
    // How many rows the statement before this one changed.
    countChanges: () => "SELECT changes() AS changes",
    // ?1 the instant up to which stamps are removed
    removeStamps: () =>
      `DELETE FROM ${steps} WHERE id IN (SELECT id FROM ${steps} WHERE at <= ?1 ` +
      `ORDER BY at LIMIT ${STAMPS_PER_CLEANUP_MAX})`,
    // ?1 the instant up to which resident schedulers are removed, ?2 now
    removeDead: () => `DELETE FROM ${schedulers} WHERE alive_until <= ?2 AND (resident = 0 OR alive_until <= ?1)`,
  });
}

/**
 * By index and order. ?3 taskId or null, ?4 scheduleId or null, ?5 outcome or null, ?6 finishedAfter, ?7
 * finishedBefore, ?8 and ?9 the end and the row of the result after which the page begins, ?10 now, ?11 search or null.
 */
function resultLists(results: string): Readonly<Record<string, string>> {
  const ofError = (name: string): string => jsonField(`$.error.${name}`);
  const ofJob = (name: string): string => jsonField(`$.job.${name}`);
  const columns = ["job_id", "task_id", "schedule_id"].map((column) => `t.${column}`);
  const texts = [...columns, ofError("name"), ofError("message"), ofJob("idempotencyKey"), ofJob("concurrencyKey")];
  const list = {
    table: results,
    key: "rowid",
    record: resultAsJson("t"),
    isTaken:
      "(?3 IS NULL OR t.task_id = ?3) AND (?4 IS NULL OR t.schedule_id = ?4) AND (?5 IS NULL OR t.outcome = ?5) " +
      `AND t.expires_at > ?10 AND ${foundIn("?11", texts)}`,
  };
  const walk = (condition: string, isBackwards: boolean): Walk => {
    const [sign, order] = isBackwards ? ["<", "DESC"] : [">", "ASC"];
    return {
      rows:
        `SELECT rowid AS seq, finished_at AS at FROM ${results} WHERE ${condition} AND finished_at >= ?6 ` +
        `AND finished_at < ?7 AND (finished_at ${sign} ?8 OR finished_at = ?8 AND rowid ${sign} ?9) ` +
        `ORDER BY finished_at ${order}, rowid ${order}`,
      place: ["at", "seq"],
      isBackwards,
    };
  };
  return Object.fromEntries(
    Object.entries(INDEXES).flatMap(([name, condition]) => [
      [`${name} newest`, walkStatement(list, walk(condition, true))],
      [`${name} oldest`, walkStatement(list, walk(condition, false))],
    ]),
  );
}

function jsonField(path: string): string {
  return `CASE WHEN json_valid(t.details) THEN json_extract(t.details, '${path}') END`;
}

/** SQL that keeps the results of the jobs of a condition, which end without a run: the fields that `endedWithoutRun`
 *  gives a result, and what `withKeptFacts` keeps of the job. Merging into `{}` leaves out fields that are null; it
 *  would do so within metadata, too. */
export function keepEnded({ jobs, results }: TableNames, outcome: string, now: string, condition: string): string {
  const valid = (column: string): string => `json(CASE WHEN json_valid(${column}) THEN ${column} END)`;
  const metadata = "json(CASE WHEN json_valid(details) THEN details->'metadata' END)";
  const after = "json(CASE WHEN json_valid(details) THEN details->'after' END)";
  const details = ["payload", "maxRecoveries", "createdAt"].map((name) => `'${name}', ${detail(name)}`);
  const kept =
    `json_object(${details.join(", ")}, 'metadata', ${metadata}, 'executor', executor, 'priority', priority, ` +
    `'fireTime', fire_time, 'idempotencyKey', ${IDEMPOTENCY_KEY}, 'after', ${after}, ` +
    "'concurrencyKey', nullif(concurrency_key, ''), " +
    "'omitsPayload', json(CASE WHEN NOT json_valid(details) THEN 'true' END))";
  return (
    `INSERT OR REPLACE INTO ${results} (job_id, task_id, schedule_id, outcome, expires_at, finished_at, details) ` +
    `SELECT id, task_id, schedule_id, ${outcome}, ${now} + ${detail("resultExpirationMs")}, CAST(${now} AS INTEGER), ` +
    `json_set(json_patch('{}', json_object('scheduledFireTime', ${detail("scheduledFireTime")}, ` +
    `'retryOf', ${detail("retryOf")}, ` +
    "'attempts', failed_attempts + recoveries + (acquired_by IS NOT NULL))), " +
    `'$.job', ${kept}, '$.attemptHistory', ${valid("attempt_history")}, '$.progress', ${valid("progress")}) ` +
    `FROM ${jobs} WHERE ${condition} AND ${detail("resultExpirationMs")} > 0`
  );
}
