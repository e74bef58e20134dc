import { TOMBSTONE_MS } from "../../core/limits.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { CleanupReport, JobResultFilter, JobResultSelection, RecordPage } from "../data-store.ts";
import { readResultCursor, resultCursor } from "../result-cursor.ts";
import { statement } from "./batch.ts";
import type { Connection } from "./connection.ts";
import { DEAD_SCHEDULER_MS, FAR_FUTURE_MS, FAR_PAST_MS, ORPHANS_PER_CLEANUP_MAX } from "./limits.ts";
import { readPage } from "./pages.ts";
import { resultIndexOf } from "./result-statements.ts";
import { fieldsOf, idsOf, jsonRecords, numberOrNull, type ResultRow, toResult } from "./rows.ts";
import type { Statements } from "./statements.ts";

const FIRST_LINK: readonly [string, string] = Object.freeze(["", ""]);

/** The results of a `SqlDataStore`, and its cleaning. */
export class SqliteResults {
  readonly #connection: Connection;
  readonly #statements: Statements;
  /** The link after which the next clean-up looks for parents that are gone. */
  #orphansAfter: readonly [parentId: string, childId: string] = FIRST_LINK;

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
    const isOldestFirst = filter.order === "oldest";
    const sql = this.#statements.getResults[`${resultIndexOf(filter)} ${isOldestFirst ? "oldest" : "newest"}`] ?? "";
    const start = { finishedAt: isOldestFirst ? FAR_PAST_MS : FAR_FUTURE_MS, place: 0 };
    const page = await readPage<ResultRow, Placed>(this.#connection, filter, {
      statement: (cursor, limit) => {
        const { finishedAt, place } = cursor === "" ? start : readResultCursor(cursor);
        const [after, before, ...rest] = selectionArgs(filter);
        // The range of the index begins where the page before ended.
        const range = isOldestFirst
          ? [Math.max(after, finishedAt), before]
          : [after, Math.min(before, finishedAt + (cursor === "" ? 0 : 1))];
        return statement(sql, ...range, ...rest, limit, now, finishedAt, place);
      },
      toRecord: placed,
      idOf: ({ cursor }) => cursor,
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

  async cleanup({ now, limit }: { readonly now: number; readonly limit: number }): Promise<CleanupReport> {
    const { removeExpired, countChanges, removeExhausted, removeStamps, removeDead, removeWindows } = this.#statements;
    const { settleOrphans, nextOrphans } = this.#statements;
    const orphans = [...this.#orphansAfter, ORPHANS_PER_CLEANUP_MAX] as const;
    const { captureForgotten, wakeForgotten, removeIdle } = this.#statements;
    const [, expired, exhausted, , , , windows, , [last] = []] = await this.#connection.write(() => [
      statement(removeExpired, now, limit),
      statement(countChanges),
      statement(removeExhausted, now, limit),
      statement(removeStamps, now - TOMBSTONE_MS),
      statement(removeDead, now - DEAD_SCHEDULER_MS, now),
      statement(removeWindows, now - TOMBSTONE_MS, limit),
      statement(countChanges),
      statement(settleOrphans, ...orphans),
      statement(nextOrphans, ...orphans),
      statement(captureForgotten, limit),
      statement(wakeForgotten, now),
      statement(removeIdle, now, limit),
    ]);
    const removedWindows = numberOrNull(windows, "changes") ?? 0;
    this.#orphansAfter = last === undefined ? FIRST_LINK : [String(last.parent_id), String(last.child_id)];
    return {
      removedResults: numberOrNull(expired, "changes") ?? 0,
      removedScheduleIds: idsOf(exhausted),
      ...(removedWindows === 0 ? {} : { removedWindows }),
    };
  }
}

/** A result, and the cursor of a page that ends with it. */
interface Placed {
  readonly result: JobResultRecord;
  readonly cursor: string;
}

function placed(row: ResultRow): Placed {
  const [[, , , , expiresAt, place, finishedAt], details] = row;
  return {
    result: toResult(row),
    // The same as `FINISHED_AT` in SQL.
    cursor: resultCursor({ finishedAt: finishedAt ?? fieldsOf(details, {}).finishedAt ?? expiresAt, place }),
  };
}

/** The arguments ?1 to ?5 of `getResults` and `removeResults`. */
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
