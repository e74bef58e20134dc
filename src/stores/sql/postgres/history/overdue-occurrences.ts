import {
  OVERDUE_CHECKED_PER_COMMIT_MAX,
  OVERDUE_COUNTED_MAX,
  OVERDUE_RAISED_PER_COMMIT_MAX,
  OVERDUE_SHOWN_MAX,
} from "../../../shared/limits.ts";
import type { OverdueStatements } from "../../history/overdue-occurrences.ts";
import { FAR_FUTURE_MS, RESOLVED_OVERDUE_REMOVED_PER_COMMIT_MAX } from "../../limits.ts";
import { JOB_STATE, type TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { hasMissedStart, isMadeByPlan } from "../jobs/job-rows.ts";
import { MAY_BE_OVERDUE, OVERDUE_AT } from "../schedules/schedule-conditions.ts";
import { isOf, lastSkipFrom } from "./history-writes.ts";

const NAMES = ["schedule_id", "task_id", "fire_time", "kind", "due_at", "raised_at", "job_id"];
const IS_OPEN = "resolved_at IS NULL";
const KEY = ["schedule_id", "fire_time", "kind"];

/** The arguments are those of the statements on SQLite's SQL. */
export function overdueStatements(names: TableNames): OverdueStatements {
  const { schedules, jobs, histories, runs, skips, overdue } = names;
  const shown = (row: string): string => NAMES.map((column) => `${row}.${column}`).join(", ");
  const columns = "schedule_id, task_id, fire_time, follows, kind, job_id, due_at, raised_at, raised_by";
  /** Raises those of both kinds that `rows` can have. `since` tells from when on the time of a kind counts. */
  const raise = (
    rows: string,
    fireTime: string,
    job: string,
    mayStart: string,
    since: (within: string) => string = () => fireTime,
  ): string => {
    const kind = (name: string, within: string, condition: string): string =>
      `SELECT s.id AS id, s.task_id AS task_id, ${fireTime} AS fire_time, '${name}' AS kind, ${job} AS job, ` +
      `${since(within)} + s.${within} AS due ${rows}${condition}`;
    return (
      `INSERT INTO ${overdue} AS o (${columns}) ` +
      "SELECT r.id, r.task_id, r.fire_time, r.fire_time, r.kind, r.job, r.due, ?1::bigint, ?2 FROM (" +
      `${kind("start", "expect_start", mayStart)} UNION ALL ${kind("finish", "expect_finish", "")}) r ` +
      `WHERE r.due <= ?1 ON CONFLICT DO NOTHING RETURNING ${shown("o")}`
    );
  };
  const withoutJob =
    `SELECT * FROM ${schedules} WHERE ${MAY_BE_OVERDUE} ` +
    `AND ${OVERDUE_AT} <= ?1 ORDER BY ${OVERDUE_AT}, seq LIMIT ${OVERDUE_RAISED_PER_COMMIT_MAX}`;
  const late =
    `SELECT * FROM ${jobs} WHERE overdue_at <= ?1 ORDER BY overdue_at, seq LIMIT ` + `${OVERDUE_RAISED_PER_COMMIT_MAX}`;
  const counts = ["failed_attempts", "recoveries", "started_fence"].map((column) => `OR j.${column} > 0`);
  const hasStarted = `(j.state = ${JOB_STATE.leased} ${counts.join(" ")})`;
  // A job that stands for others is overdue as early as the first of them: by what is expected first.
  const sinceFirst = (within: string): string => {
    const first = `least(j.fire_time, j.overdue_at - s.${within})`;
    return within === "expect_start" ? first : `CASE WHEN s.expect_start IS NULL THEN ${first} ELSE j.fire_time END`;
  };
  const later = (within: string): string => `WHEN j.fire_time + s.${within} > ?1 THEN j.fire_time + s.${within}`;
  const open =
    `(SELECT ${KEY.join(", ")}, follows FROM ${overdue} WHERE ${IS_OPEN} ` +
    `ORDER BY ${KEY.join(", ")} LIMIT ${OVERDUE_CHECKED_PER_COMMIT_MAX} OFFSET ?1)`;
  const isSame = KEY.map((column) => `u.${column} = v.${column}`).join(" AND ");
  const isSkip =
    `k.history = h.number AND k.from_time = (${lastSkipFrom(names, "h.number", "o.follows")}) ` +
    "AND k.until_time >= o.follows";
  // Without a schedule, or where it is past the fire time, the occurrence has been processed.
  const reason =
    "CASE WHEN s.next_fire_time <= o.fire_time THEN CASE WHEN s.paused = 1 THEN 'paused' END " +
    `WHEN j.id IS NOT NULL THEN CASE WHEN o.kind = 'start' AND ${hasStarted} THEN 'started' END ` +
    // In the text of a run, a hyphen stands for a start that is missing.
    "WHEN r.run IS NOT NULL THEN CASE WHEN o.kind = 'start' " +
    "AND split_part(r.run, '/', 1) NOT LIKE '% - %' THEN 'started' ELSE 'finished' END " +
    "WHEN k.verdict IS NULL THEN CASE WHEN s.id IS NULL THEN 'removed' ELSE 'finished' END " +
    "WHEN k.verdict IN ('paused', 'removed') THEN k.verdict " +
    "WHEN k.into_time > o.follows THEN NULL ELSE 'skipped' END";

  return lazily<OverdueStatements>({
    raiseWithoutJob: () =>
      raise(
        `FROM (${withoutJob}) s`,
        "s.next_fire_time",
        "NULL",
        " WHERE s.raised_start_for IS DISTINCT FROM s.next_fire_time",
      ),
    markWithoutJob: () =>
      `UPDATE ${schedules} SET raised_start_for = next_fire_time, raised_finish_for = ` +
      "CASE WHEN coalesce(next_fire_time + expect_finish <= ?1, true) THEN next_fire_time " +
      `ELSE raised_finish_for END WHERE seq IN (SELECT w.seq FROM (${withoutJob}) w)`,
    raiseLate: () =>
      raise(
        `FROM (${late}) j JOIN ${schedules} s ON s.id = j.schedule_id AND (${hasMissedStart("?1", "j")}) IS NOT TRUE`,
        "j.fire_time",
        "j.id",
        ` AND NOT ${hasStarted}`,
        sinceFirst,
      ),
    markLate: () =>
      `UPDATE ${jobs} AS j SET overdue_at = (SELECT CASE ${later("expect_start")} ${later("expect_finish")} END ` +
      `FROM ${schedules} s WHERE s.id = j.schedule_id) WHERE j.seq IN (SELECT l.seq FROM (${late}) l)`,
    followSkips: () =>
      `UPDATE ${overdue} AS u SET follows = v.into_time FROM (SELECT o.schedule_id, o.fire_time, o.kind, k.into_time ` +
      `FROM ${open} o JOIN ${histories} h ON h.schedule_id = o.schedule_id JOIN ${skips} k ON ${isSkip} ` +
      `WHERE k.into_time > o.follows AND NOT EXISTS (SELECT 1 FROM ${runs} r WHERE ${isOf("h.number", "r")} ` +
      `AND r.fire_time = o.follows)) v WHERE ${isSame}`,
    resolveOverdue: () =>
      `UPDATE ${overdue} AS u SET resolved_at = ?2, resolved_by = ?3, reason = v.reason, ` +
      "job_id = coalesce(v.job, u.job_id) FROM (SELECT o.schedule_id, o.fire_time, o.kind, " +
      `coalesce(j.id, substr(r.run, strpos(r.run, '/') + 1)) AS job, ${reason} AS reason FROM ${open} o ` +
      `LEFT JOIN ${schedules} s ON s.id = o.schedule_id ` +
      `LEFT JOIN ${jobs} j ON j.schedule_id = o.schedule_id AND j.fire_time = o.follows ` +
      `AND ${isMadeByPlan("j")} ` +
      `LEFT JOIN ${histories} h ON h.schedule_id = o.schedule_id ` +
      `LEFT JOIN ${runs} r ON ${isOf("h.number", "r")} AND r.fire_time = o.follows ` +
      `LEFT JOIN ${skips} k ON ${isSkip}) v WHERE ${isSame} AND v.reason IS NOT NULL ` +
      `RETURNING ${shown("u")}, u.reason`,
    removeResolved: () =>
      `DELETE FROM ${overdue} WHERE (${KEY.join(", ")}) IN (SELECT ${KEY.join(", ")} FROM ${overdue} ` +
      `WHERE resolved_at IS NOT NULL AND resolved_at <= ?1 LIMIT ${RESOLVED_OVERDUE_REMOVED_PER_COMMIT_MAX})`,
    getOverdueOfCommit: () =>
      `SELECT ${shown("o")}, o.reason, o.raised_by = ?1 AS is_raised, ` +
      `coalesce(o.resolved_by = ?1, false) AS is_resolved FROM ${overdue} o WHERE o.raised_by = ?1 OR ` +
      `o.resolved_by = ?1`,
  });
}

/** The columns of a look about overdue occurrences. */
export function overdueColumns(names: TableNames): string[] {
  const { schedules, jobs } = names;
  return [
    `(SELECT min(w.at) FROM ((SELECT ${OVERDUE_AT} AS at FROM ${schedules} WHERE ${MAY_BE_OVERDUE} ` +
      `AND ${OVERDUE_AT} <= ${FAR_FUTURE_MS} ORDER BY ${OVERDUE_AT} LIMIT 1) ` +
      `UNION ALL SELECT min(overdue_at) FROM ${jobs} WHERE overdue_at <= ${FAR_FUTURE_MS}) w) AS overdue_at`,
    openOverdueColumn(names),
  ];
}

/** The column `open_overdue`: how many overdue occurrences are open. */
export function openOverdueColumn({ overdue }: TableNames): string {
  const open = `SELECT 1 FROM ${overdue} WHERE ${IS_OPEN} LIMIT ${OVERDUE_COUNTED_MAX}`;
  return `(SELECT count(*) FROM (${open}) w) AS open_overdue`;
}

/** SQL of the open overdue occurrences, as a JSON array, for people. Their jobs are those of now. */
export function openOverdueAsJson({ jobs, overdue }: TableNames): string {
  const job =
    `(SELECT j.id FROM ${jobs} j WHERE j.schedule_id = o.schedule_id AND j.fire_time = o.follows ` +
    `AND ${isMadeByPlan("j")})`;
  const item = "w.schedule_id, w.task_id, w.kind, w.fire_time, w.due_at, w.raised_at, w.job";
  return (
    `SELECT json_agg(json_build_array(${item}) ORDER BY w.due_at, w.schedule_id, w.kind DESC)::text ` +
    `FROM (SELECT o.*, coalesce(${job}, o.job_id) AS job FROM (SELECT * FROM ${overdue} WHERE ${IS_OPEN} ` +
    `LIMIT ${OVERDUE_COUNTED_MAX}) o ORDER BY o.due_at, o.schedule_id, o.kind DESC LIMIT ${OVERDUE_SHOWN_MAX}) w`
  );
}
