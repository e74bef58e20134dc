import { TOMBSTONE_MS } from "../../core/limits.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { CleanupReport, JobResultFilter, RecordPage } from "../data-store.ts";
import { statement } from "./batch.ts";
import type { Connection } from "./connection.ts";
import { DEAD_SCHEDULER_MS } from "./limits.ts";
import { readPage } from "./pages.ts";
import { idsOf, jsonRecords, numberOrNull, type ResultRow, toResult } from "./rows.ts";
import type { Statements } from "./statements.ts";

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

  getPage(filter: JobResultFilter, now: number): Promise<RecordPage<JobResultRecord>> {
    const { taskId = null, scheduleId = null, outcome = null } = filter;
    const sql = this.#statementFor(filter);
    return readPage(this.#connection, filter, {
      statement: (after, limit) => statement(sql, after, limit, now, taskId, scheduleId, outcome),
      toRecord: toResult,
      idOf: (result) => result.jobId,
    });
  }

  async cleanup({ now, limit }: { readonly now: number; readonly limit: number }): Promise<CleanupReport> {
    const { removeExpired, countChanges, removeExhausted, removeStamps, removeDead } = this.#statements;
    const [, expired, exhausted] = await this.#connection.write(() => [
      statement(removeExpired, now, limit),
      statement(countChanges),
      statement(removeExhausted, now, limit),
      statement(removeStamps, now - TOMBSTONE_MS),
      statement(removeDead, now - DEAD_SCHEDULER_MS, now),
    ]);
    return {
      removedResults: numberOrNull(expired, "changes") ?? 0,
      removedScheduleIds: idsOf(exhausted),
    };
  }

  /** The statement whose index fits the filter best. The other parts of the filter are tested row by row. */
  #statementFor({ taskId, scheduleId, outcome }: JobResultFilter): string {
    if (scheduleId !== undefined) return this.#statements.getResultsOfSchedule;
    const unsuccessful = outcome === undefined ? undefined : this.#statements.getUnsuccessful[outcome];
    if (unsuccessful !== undefined) return unsuccessful;
    return taskId === undefined ? this.#statements.getResults : this.#statements.getResultsOfTask;
  }
}
