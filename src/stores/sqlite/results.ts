import type { JobResultRecord } from "../../records/job-result.ts";
import type { CleanupReport, JobResultFilter, RecordPage } from "../data-store.ts";
import type { Connection } from "./connection.ts";
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
    const rows = await this.#connection.read({ sql: this.#statements.getResult, args: [jobId, now] });
    const [row] = jsonRecords<ResultRow>(rows);
    return row === undefined ? null : toResult(row);
  }

  getPage(filter: JobResultFilter, now: number): Promise<RecordPage<JobResultRecord>> {
    const { taskId = null, scheduleId = null, outcome = null } = filter;
    const sql = this.#statementFor(filter);
    return readPage(this.#connection, filter, {
      statement: (after, limit) => ({ sql, args: [after, limit, now, taskId, scheduleId, outcome] }),
      toRecord: toResult,
      idOf: (result) => result.jobId,
    });
  }

  async cleanup({ now, limit }: { readonly now: number; readonly limit: number }): Promise<CleanupReport> {
    const [, expired, exhausted] = await this.#connection.write(() => [
      { sql: this.#statements.removeExpired, args: [now, limit] },
      { sql: this.#statements.countChanges, args: [] },
      { sql: this.#statements.removeExhausted, args: [now, limit] },
    ]);
    return {
      removedResults: numberOrNull(expired, "changes") ?? 0,
      removedScheduleIds: idsOf(exhausted),
    };
  }

  /** The statement whose index fits best; the filter's other parts are tested row by row. */
  #statementFor({ taskId, scheduleId, outcome }: JobResultFilter): string {
    if (scheduleId !== undefined) return this.#statements.getResultsOfSchedule;
    const unsuccessful = outcome === undefined ? undefined : this.#statements.getUnsuccessful[outcome];
    if (unsuccessful !== undefined) return unsuccessful;
    return taskId === undefined ? this.#statements.getResults : this.#statements.getResultsOfTask;
  }
}
