import type { JobResultRecord } from "../../records/job-result.ts";
import type { CleanupReport, JobResultFilter, JobResultSelection, RecordPage } from "../data-store.ts";
import { readResultCursor, resultCursor } from "../result-cursor.ts";
import { statement } from "./batch.ts";
import type { CleanUp } from "./clean-up.ts";
import type { Connection } from "./connection.ts";
import { FAR_FUTURE_MS, FAR_PAST_MS } from "./limits.ts";
import { readPage } from "./pages.ts";
import { resultIndexOf } from "./result-statements.ts";
import { jsonRecords, numberOrNull, type ResultRow, toResult } from "./rows.ts";
import type { Statements } from "./statements.ts";

/** The results of a `SqlDataStore`, and its cleaning. */
export class SqliteResults {
  readonly #connection: Connection;
  readonly #statements: Statements;
  readonly #cleanUp: CleanUp;

  constructor(connection: Connection, statements: Statements, cleanUp: CleanUp) {
    this.#connection = connection;
    this.#statements = statements;
    this.#cleanUp = cleanUp;
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

  async cleanup(request: { readonly now: number; readonly limit: number }): Promise<CleanupReport> {
    return this.#cleanUp.report(await this.#connection.write(() => this.#cleanUp.statements(request)));
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
