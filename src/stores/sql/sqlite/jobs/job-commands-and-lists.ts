import { SORTED_JOBS_MAX } from "../../../shared/limits.ts";
import type { JobStatements } from "../../jobs/job-commands-and-lists.ts";
import type { Scan, ScannedTable } from "../../lists/list-scans.ts";
import { IS_BLOCKED_OR_DEPENDENT, JOB_STATE, type TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { guardSql } from "../driver/driver-and-failures.ts";
import { FEW_JOBS_MAX } from "../limits.ts";
import { hasAllLabels, isFirstLabel } from "../lists/label-index.ts";
import { foundIn, scanStatement } from "../lists/list-scans.ts";
import { isJobOfTask, jobAsJson } from "./job-rows.ts";

export function jobStatements(names: TableNames): JobStatements {
  const { jobs } = names;
  return lazily<JobStatements>({
    // ?1 id
    getJob: () => `SELECT ${jobAsJson(jobs)} AS record FROM ${jobs} WHERE id = ?1`,
    getJobs: () => jobLists(names),
  });
}

const { delayed, ready, leased, blocked } = JOB_STATE;

/** Whether a job belongs to the backfill ?14: the ids of its jobs are its own, a point, and their fire times. */
const IS_OF_BACKFILL = "id > ?14 || '.' AND id < ?14 || '/'";

/** The conditions of the scans, and the ids of their rows. The jobs of a schedule, and those that run, are sorted,
 *  because no index has them in the order of ids; the sign keeps SQLite from the index of all ids. The scan of a task
 *  is of another kind, see {@link scanOfTask}. */
const SCANS: Readonly<Record<string, readonly [condition: string, id: string]>> = {
  all: ["", "id"],
  backfill: [`${IS_OF_BACKFILL} AND `, "id"],
  schedule: ["schedule_id = ?5 AND ", "+id"],
  running: [`state = ${leased} AND acquired_until > 0 AND `, "+id"],
};

/**
 * By scan. ?3 id to start after, or null, ?4 taskId or null, ?5 scheduleId or null, ?6 state or null, ?7 from or
 * null, ?8 until or null, ?9 search or null, ?11 a key or null, ?12 the fewest attempts or null, ?13 labels or null,
 * ?14 backfillId or null.
 */
function jobLists(names: TableNames): Readonly<Record<string, string>> {
  const { jobs } = names;
  const state =
    `CASE WHEN t.state = ${leased} THEN 'running' ` + `WHEN t.state >= ${blocked} THEN 'blocked' ELSE 'queued' END`;
  const texts = ["id", "task_id", "schedule_id", "idempotency_key", "concurrency_key"];
  const list: ScannedTable = {
    table: jobs,
    key: "seq",
    record: jobAsJson("t"),
    texts: ["details", "attempt_history"],
    isTaken:
      `(?4 IS NULL OR t.task_id = ?4) AND (?5 IS NULL OR t.schedule_id = ?5) AND (?6 IS NULL OR ?6 = ${state}) ` +
      `AND (?7 IS NULL OR t.run_at >= ?7) AND (?8 IS NULL OR t.run_at < ?8) ` +
      "AND (?11 IS NULL OR ?11 IN (t.idempotency_key, t.concurrency_key)) " +
      "AND (?12 IS NULL OR ?12 <= t.failed_attempts + t.recoveries + (t.acquired_by IS NOT NULL)) " +
      `AND ${foundIn(
        "?9",
        texts.map((column) => `t.${column}`),
      )} AND ${hasAllLabels(names, "?13", { kind: "job", id: "t.id" })}`,
  };
  // A BLOB is greater than any text.
  const range = { oldest: "> coalesce(?3, '')", newest: "< coalesce(?3, x'')" } as const;
  const scan = ([condition, id]: readonly [string, string], order: "oldest" | "newest"): Scan => ({
    rows:
      `SELECT seq, id FROM ${jobs} WHERE ${condition}${id} ${range[order]} ` +
      `ORDER BY ${id}${order === "newest" ? " DESC" : ""}`,
    place: ["id"],
    isBackwards: order === "newest",
  });
  const statements = (["oldest", "newest"] as const).flatMap((order) => [
    ...Object.entries(SCANS).map(([name, rows]) => [`${name} ${order}`, scanStatement(list, scan(rows, order))]),
    [`task ${order}`, scanStatement(list, scanOfTask(jobs, scan(["", "id"], order), `id ${range[order]}`))],
    [`label ${order}`, scanStatement(list, scanOfLabel(names, range[order], order === "newest"))],
  ]);
  return Object.fromEntries([...statements, ...listsByTime(names, list)]);
}

/**
 * In the order of `runAt`, then of addition; ?3 and ?10 are the `seq` and the `run_at` to start after. An index has the
 * jobs that are not due yet in this order. The others are sorted; where there are too many of them, the statement fails
 * as a guard does.
 */
function listsByTime({ jobs, labels }: TableNames, list: ScannedTable): [name: string, sql: string][] {
  const placed = { ...list, record: jobAsJson("t", "t.seq") };
  const columns = `SELECT seq, run_at AS at FROM ${jobs} WHERE`;
  const byTime = (order: "oldest" | "newest"): [name: string, sql: string][] => {
    const [sign, direction] = order === "oldest" ? [">", "ASC"] : ["<", "DESC"];
    const isAfter = (time: string): string => `${time} ${sign}= ?10 AND (${time} ${sign} ?10 OR seq ${sign} ?3)`;
    const inOrder = (time: string): string => `ORDER BY ${time} ${direction}, seq ${direction}`;
    const sorted = (condition: string): string => `${columns} ${condition} AND ${isAfter("run_at")} ${inOrder("at")}`;
    const scan = (rows: string, given = ""): string =>
      scanStatement(placed, { given, rows, place: ["at", "seq"], isBackwards: order === "newest" });
    const some = (tasks: string, isOfTask: (task: string) => string): string => {
      const bounded = (rows: string): string => `SELECT * FROM (${rows} LIMIT ${SORTED_JOBS_MAX + 1})`;
      const others = [
        `${columns} state = ${ready} AND ${isOfTask("task_id")}`,
        `SELECT seq, run_at AS at FROM keyed k CROSS JOIN ${jobs} ON task_id = k.id AND ${IS_BLOCKED_OR_DEPENDENT}`,
        `${columns} state = ${leased} AND acquired_until > 0 AND ${isOfTask("+task_id")}`,
      ];
      const isFew = guardSql(`(SELECT count(*) FROM others) <= ${SORTED_JOBS_MAX}`);
      return scan(
        `SELECT seq, at FROM (SELECT * FROM (${columns} state = ${delayed} AND ${isAfter("run_at")} ` +
          `${inOrder("run_at")} LIMIT +?2) UNION ALL ` +
          `SELECT seq, at FROM others WHERE ${isFew} IS NOT NULL AND ${isAfter("at")}) ${inOrder("at")}`,
        `RECURSIVE keyed (id) AS (${tasks}), others AS MATERIALIZED (${others.map(bounded).join(" UNION ALL ")})`,
      );
    };
    // The tasks that have jobs in the index of those that are blocked, or wait for others.
    const nextKeyed = (after: string): string =>
      `(SELECT task_id FROM ${jobs} WHERE (concurrency_key IS NOT NULL OR ${IS_BLOCKED_OR_DEPENDENT}) ` +
      `AND task_id > ${after} ORDER BY task_id LIMIT 1)`;
    const allKeyed =
      `SELECT ${nextKeyed("''")} UNION ` + `SELECT ${nextKeyed("keyed.id")} FROM keyed WHERE keyed.id IS NOT NULL`;
    const ofLabel = scan(
      `SELECT seq, run_at AS at FROM labelled CROSS JOIN ${jobs} USING (id) WHERE ` +
        `${guardSql(`(SELECT count(*) FROM labelled) <= ${SORTED_JOBS_MAX}`)} IS NOT NULL ` +
        `AND ${isAfter("run_at")} ${inOrder("run_at")}`,
      `labelled AS MATERIALIZED (SELECT l.id AS id FROM ${labels} l WHERE ${isFirstLabel("?13", "job")} ` +
        `AND l.at = 0 LIMIT ${SORTED_JOBS_MAX + 1})`,
    );
    return [
      [`label by time ${order}`, ofLabel],
      [`all by time ${order}`, some(allKeyed, (task) => `${task} > ''`)],
      [`task by time ${order}`, some("SELECT ?4", (task) => `${task} = ?4`)],
      [`schedule by time ${order}`, scan(sorted("schedule_id = ?5"))],
      [`backfill by time ${order}`, scan(sorted(IS_OF_BACKFILL))],
      [`running by time ${order}`, scan(sorted(`state = ${leased} AND acquired_until > 0`))],
    ];
  };
  return [...byTime("oldest"), ...byTime("newest")];
}

/** Along the jobs with the first label, which the index of labels has in the order of their ids. */
function scanOfLabel({ labels, jobs }: TableNames, range: string, isBackwards: boolean): Scan {
  return {
    rows:
      `SELECT j.seq AS seq, l.id AS id FROM ${labels} l CROSS JOIN ${jobs} j ON j.id = l.id ` +
      `WHERE ${isFirstLabel("?13", "job")} AND l.at = 0 AND l.id ${range} ORDER BY l.id${isBackwards ? " DESC" : ""}`,
    place: ["id"],
    isBackwards,
  };
}

/** If the task ?4 has few jobs, the scan is along these, otherwise along all jobs: then the task has many of them, or a
 *  page takes several statements. */
function scanOfTask(jobs: string, all: Scan, isInRange: string): Scan {
  const isFew = `(SELECT count(*) FROM few) < ${FEW_JOBS_MAX}`;
  return {
    ...all,
    given: `few AS MATERIALIZED (SELECT seq, id FROM ${jobs} WHERE ${isJobOfTask("?4")} LIMIT ${FEW_JOBS_MAX})`,
    rows:
      `SELECT seq, id FROM few WHERE ${isFew} AND ${isInRange} UNION ALL ` +
      `SELECT seq, id FROM (${all.rows.replace(" WHERE ", ` WHERE NOT ${isFew} AND `)} LIMIT +?2)`,
  };
}
