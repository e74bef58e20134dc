import type { JobFilter } from "../data-store.ts";
import { jobAsJson } from "./rows.ts";
import { JOB_STATE, type TableNames } from "./schema.ts";
import { foundIn, type Walk, walkStatement } from "./walks.ts";

const { leased, held } = JOB_STATE;

/** The conditions of the walks, and the ids of their rows. The jobs of a schedule, and those that run, are sorted,
 *  because no index has them in the order of ids; the sign keeps SQLite from the index of all ids. */
const WALKS: Readonly<Record<string, readonly [condition: string, id: string]>> = {
  all: ["", "id"],
  task: ["task_id = ?4 AND ", "id"],
  schedule: ["schedule_id = ?5 AND ", "+id"],
  running: [`state = ${leased} AND acquired_until > 0 AND `, "+id"],
};

/** The walk that fits a filter best, and whether the filter takes every row of the walk. */
export function jobWalkOf(filter: JobFilter): [name: string, boolean] {
  const { taskId, scheduleId, state, runAfter, runBefore, search, order = "oldest" } = filter;
  const name =
    scheduleId !== undefined ? "schedule" : state === "running" ? state : taskId !== undefined ? "task" : "all";
  const others = [
    runAfter,
    runBefore,
    search,
    name === "task" ? undefined : taskId,
    name === "running" ? undefined : state,
  ];
  return [`${name} ${order}`, others.every((part) => part === undefined)];
}

/**
 * By walk. ?3 id to start after, or null, ?4 taskId or null, ?5 scheduleId or null, ?6 state or null, ?7 runAfter or
 * null, ?8 runBefore or null, ?9 search or null.
 */
export function jobLists({ jobs }: TableNames): Readonly<Record<string, string>> {
  const state = `CASE WHEN t.state = ${leased} THEN 'running' WHEN t.state >= ${held} THEN 'held' ELSE 'queued' END`;
  const texts = ["id", "task_id", "schedule_id", "idempotency_key", "concurrency_key"];
  const list = {
    table: jobs,
    key: "seq",
    record: jobAsJson("t"),
    isTaken:
      `(?4 IS NULL OR t.task_id = ?4) AND (?5 IS NULL OR t.schedule_id = ?5) AND (?6 IS NULL OR ?6 = ${state}) ` +
      `AND (?7 IS NULL OR t.run_at >= ?7) AND (?8 IS NULL OR t.run_at < ?8) ` +
      `AND ${foundIn(
        "?9",
        texts.map((column) => `t.${column}`),
      )}`,
  };
  // A BLOB is greater than any text.
  const range = { oldest: "> coalesce(?3, '')", newest: "< coalesce(?3, x'')" } as const;
  const walk = ([condition, id]: readonly [string, string], order: "oldest" | "newest"): Walk => ({
    rows:
      `SELECT seq, id FROM ${jobs} WHERE ${condition}${id} ${range[order]} ` +
      `ORDER BY ${id}${order === "newest" ? " DESC" : ""}`,
    place: ["id"],
    isBackwards: order === "newest",
  });
  return Object.fromEntries(
    Object.entries(WALKS).flatMap(([name, rows]) => [
      [`${name} oldest`, walkStatement(list, walk(rows, "oldest"))],
      [`${name} newest`, walkStatement(list, walk(rows, "newest"))],
    ]),
  );
}
