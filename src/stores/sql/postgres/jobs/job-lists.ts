import { SORTED_JOBS_MAX } from "../../../shared/limits.ts";
import type { JobStatements } from "../../jobs/job-commands-and-lists.ts";
import type { Scan, ScannedTable } from "../../lists/list-scans.ts";
import { JOB_STATE } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { foundIn, hasAllLabels, isFirstLabel, scanStatement } from "../lists/lists.ts";
import { guardSql, type PostgresNames } from "../schema/names.ts";
import { jobAsJson } from "./job-rows.ts";

const { delayed, ready, leased, blocked } = JOB_STATE;

/** The arguments are those of the statements on SQLite's SQL. */
export function jobStatements(names: PostgresNames): JobStatements {
  const { jobs } = names;
  return lazily<JobStatements>({
    getJob: () => `SELECT ${jobAsJson(names, "j")} AS record FROM ${jobs} j WHERE j.id = ?1`,
    getJobs: () => jobLists(names),
  });
}

type ListOrder = "oldest" | "newest";

/** Whether a job belongs to the backfill ?14: the ids of its jobs are its own, a point, and their fire times. */
const IS_OF_BACKFILL = "j.id > ?14::text || '.' AND j.id < ?14::text || '/'";

/** The conditions of the scans. */
const SCANS: Readonly<Record<string, string>> = {
  all: "true",
  backfill: IS_OF_BACKFILL,
  schedule: "j.schedule_id = ?5",
  running: `j.state = ${leased}`,
  task: "j.task_id = ?4",
};

function jobLists(names: PostgresNames): Readonly<Record<string, string>> {
  const { jobs, labels } = names;
  const state =
    `CASE WHEN t.state = ${leased} THEN 'running' ` + `WHEN t.state >= ${blocked} THEN 'blocked' ELSE 'queued' END`;
  const texts = ["id", "task_id", "schedule_id", "idempotency_key", "concurrency_key"];
  const attempts = "t.failed_attempts + t.recoveries + CASE WHEN t.acquired_by IS NULL THEN 0 ELSE 1 END";
  const list: ScannedTable = {
    table: jobs,
    key: "seq",
    record: jobAsJson(names, "t"),
    texts: ["details", "attempt_history"],
    isTaken:
      `(?4::text IS NULL OR t.task_id = ?4) AND (?5::text IS NULL OR t.schedule_id = ?5) ` +
      `AND (?6::text IS NULL OR ?6 = ${state}) ` +
      `AND (?7::bigint IS NULL OR t.run_at >= ?7) AND (?8::bigint IS NULL OR t.run_at < ?8) ` +
      "AND (?11::text IS NULL OR ?11 IN (t.idempotency_key, t.concurrency_key)) " +
      `AND (?12::bigint IS NULL OR ?12 <= ${attempts}) ` +
      `AND ${foundIn(
        "?9",
        texts.map((column) => `t.${column}`),
      )} AND ${hasAllLabels(names, "?13", { kind: "job", id: "t.id" })}`,
  };
  const range = (id: string, order: ListOrder): string =>
    `(?3::text IS NULL OR ${id} ${order === "oldest" ? ">" : "<"} ?3) ORDER BY ` +
    `${id}${order === "newest" ? " DESC" : ""}`;
  const byId = (rows: string, order: ListOrder): string =>
    scanStatement(list, { rows: rows + range("id", order), place: ["id"], isBackwards: order === "newest" });
  const ofLabel = (order: ListOrder): Scan => ({
    rows:
      `SELECT j.seq AS seq, l.id AS id FROM ${labels} l JOIN ${jobs} j ON j.id = l.id ` +
      `WHERE ${isFirstLabel("?13", "job")} AND l.at = 0 AND ${range("l.id", order)}`,
    place: ["id"],
    isBackwards: order === "newest",
  });
  const statements = (["oldest", "newest"] as const).flatMap((order) => [
    ...Object.entries(SCANS).map(([name, condition]) => [
      `${name} ${order}`,
      byId(`SELECT j.seq, j.id FROM ${jobs} j WHERE ${condition} AND `, order),
    ]),
    [`label ${order}`, scanStatement(list, ofLabel(order))],
    ...listsByTime(names, { ...list, record: jobAsJson(names, "t", "t.seq") }, order),
  ]);
  return Object.fromEntries(statements);
}

/** In the order of `runAt`, then of addition; ?3 and ?10 are the `seq` and the `run_at` to start after. An index has
 *  the
 *  jobs that are not due yet in this order. The others are sorted; where there are too many of them, the statement
 * fails
 *  as a guard does. */
function listsByTime(names: PostgresNames, list: ScannedTable, order: ListOrder): [name: string, sql: string][] {
  const { jobs, labels } = names;
  const [sign, direction] = order === "oldest" ? [">", "ASC"] : ["<", "DESC"];
  const isAfter = (time: string, seq: string): string =>
    `${time} ${sign}= ?10 AND (${time} ${sign} ?10 OR ${seq} ${sign} ?3)`;
  const inOrder = (time: string, seq: string): string => `ORDER BY ${time} ${direction}, ${seq} ${direction}`;
  const scan = (rows: string, given = ""): string =>
    scanStatement(list, { given, rows, place: ["at", "seq"], isBackwards: order === "newest" });
  const columns = `SELECT j.seq, j.run_at AS at FROM ${jobs} j WHERE`;
  const sorted = (condition: string): string =>
    scan(`${columns} ${condition} AND ${isAfter("j.run_at", "j.seq")} ${inOrder("j.run_at", "j.seq")}`);
  const isFew = (of: string): string =>
    `(SELECT ${guardSql(names, `(SELECT count(*) FROM ${of}) <= ${SORTED_JOBS_MAX}`)}) = 1`;
  const some = (condition: string): string => {
    const bounded = (state: string): string =>
      `(${columns} j.state ${state} AND ${condition} LIMIT ${SORTED_JOBS_MAX + 1})`;
    const others = [`= ${ready}`, `>= ${blocked}`, `= ${leased}`].map(bounded);
    return scan(
      `SELECT a.seq, a.at FROM ((${columns} j.state = ${delayed} AND ${condition} ` +
        `AND ${isAfter("j.run_at", "j.seq")} ${inOrder("j.run_at", "j.seq")} LIMIT ?2) UNION ALL ` +
        `SELECT o.seq, o.at FROM others o WHERE ${isFew("others")} AND ${isAfter("o.at", "o.seq")}) a ` +
        inOrder("a.at", "a.seq"),
      `others AS MATERIALIZED (${others.join(" UNION ALL ")})`,
    );
  };
  const ofLabel = scan(
    `SELECT j.seq, j.run_at AS at FROM labelled JOIN ${jobs} j ON j.id = labelled.id WHERE ${isFew("labelled")} ` +
      `AND ${isAfter("j.run_at", "j.seq")} ${inOrder("j.run_at", "j.seq")}`,
    `labelled AS MATERIALIZED (SELECT l.id AS id FROM ${labels} l WHERE ${isFirstLabel("?13", "job")} ` +
      `AND l.at = 0 LIMIT ${SORTED_JOBS_MAX + 1})`,
  );
  return [
    [`label by time ${order}`, ofLabel],
    [`all by time ${order}`, some("true")],
    [`task by time ${order}`, some("j.task_id = ?4")],
    [`schedule by time ${order}`, sorted("j.schedule_id = ?5")],
    [`backfill by time ${order}`, sorted(IS_OF_BACKFILL)],
    [`running by time ${order}`, sorted(`j.state = ${leased}`)],
  ];
}
