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
import { isMadeByPlan } from "../jobs/job-rows.ts";
import { hasMissedStart } from "../schema/tables.ts";
import { MAY_BE_OVERDUE, OVERDUE_AT } from "../schema/tables-of-ledger.ts";
import { isOf, lastSkipFrom } from "./history-writes.ts";

/** What the answers of the statements show. */
const COLUMNS =
  "CAST(schedule_id AS TEXT) AS schedule_id, CAST(task_id AS TEXT) AS task_id, fire_time + 0 AS fire_time, " +
  "CAST(kind AS TEXT) AS kind, due_at + 0 AS due_at, raised_at + 0 AS raised_at, CAST(job_id AS TEXT) AS job_id";

/** With a range, because a statement without one would read like a scan of the whole table. */
const IS_OPEN = "resolved_at IS NULL AND schedule_id > ''";

const KEY = "schedule_id, fire_time, kind";

export function overdueStatements(names: TableNames): OverdueStatements {
  const { schedules, jobs, histories, runs, skips, overdue } = names;
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
      `INSERT OR IGNORE INTO ${overdue} (${columns}) ` +
      "SELECT id, task_id, fire_time, fire_time, kind, job, due, ?1, ?2 FROM (" +
      `${kind("start", "expect_start", mayStart)} UNION ALL ${kind("finish", "expect_finish", "")}) ` +
      `WHERE due <= ?1 RETURNING ${COLUMNS}`
    );
  };
  const withoutJob =
    `SELECT * FROM ${schedules} WHERE ${MAY_BE_OVERDUE} AND +next_fire_time <= ${FAR_FUTURE_MS} ` +
    `AND ${OVERDUE_AT} <= ?1 ORDER BY ${OVERDUE_AT} LIMIT ${OVERDUE_RAISED_PER_COMMIT_MAX}`;
  const late =
    `SELECT * FROM ${jobs} WHERE overdue_at <= ?1 ORDER BY overdue_at ` + `LIMIT ${OVERDUE_RAISED_PER_COMMIT_MAX}`;
  const counts = ["failed_attempts", "recoveries", "started_fence"].map((column) => `OR j.${column} > 0`);
  const hasStarted = `(j.state = ${JOB_STATE.leased} ${counts.join(" ")})`;
  // A job that stands for others is overdue as early as the first of them: by what is expected first.
  const sinceFirst = (within: string): string => {
    const first = `min(j.fire_time, j.overdue_at - s.${within})`;
    return within === "expect_start" ? first : `CASE WHEN s.expect_start IS NULL THEN ${first} ELSE j.fire_time END`;
  };
  const later = (within: string): string => `WHEN fire_time + s.${within} > ?1 THEN fire_time + s.${within}`;
  const open =
    `(SELECT ${KEY}, follows FROM ${overdue} WHERE ${IS_OPEN} ` +
    `ORDER BY ${KEY} LIMIT ${OVERDUE_CHECKED_PER_COMMIT_MAX} OFFSET +?1)`;
  const isSame = KEY.split(", ")
    .map((column) => `${overdue}.${column} = v.${column}`)
    .join(" AND ");
  const isSkip =
    `k.history = h.number AND k.from_time = (${lastSkipFrom(names, "h.number", "o.follows")}) ` +
    "AND k.until_time >= o.follows";
  // Without a schedule, or where it is past the fire time, the occurrence has been processed.
  const reason =
    "CASE WHEN s.next_fire_time <= o.fire_time THEN CASE WHEN s.paused = 1 THEN 'paused' END " +
    `WHEN j.id IS NOT NULL THEN CASE WHEN o.kind = 'start' AND ${hasStarted} THEN 'started' END ` +
    // In the text of a run, a hyphen stands for a start that is missing.
    "WHEN r.run IS NOT NULL THEN CASE WHEN o.kind = 'start' " +
    "AND substr(r.run, 1, instr(r.run, '/')) NOT LIKE '% - %' THEN 'started' ELSE 'finished' END " +
    "WHEN k.verdict IS NULL THEN CASE WHEN s.id IS NULL THEN 'removed' ELSE 'finished' END " +
    "WHEN k.verdict IN ('paused', 'removed') THEN k.verdict " +
    "WHEN k.into_time > o.follows THEN NULL ELSE 'skipped' END";

  return lazily<OverdueStatements>({
    // These four raise occurrences, and run one after the other. ?1 now, ?2 commitId. Fire times without a job.
    raiseWithoutJob: () =>
      raise(`FROM (${withoutJob}) s`, "s.next_fire_time", "NULL", " WHERE s.raised_start_for IS NOT s.next_fire_time"),
    // ?1 now
    markWithoutJob: () =>
      `UPDATE ${schedules} SET raised_start_for = next_fire_time, raised_finish_for = ` +
      "CASE WHEN coalesce(next_fire_time + expect_finish <= ?1, 1) THEN next_fire_time ELSE raised_finish_for END " +
      `WHERE seq IN (SELECT seq FROM (${withoutJob}))`,
    // The arguments of raiseWithoutJob. Jobs.
    raiseLate: () =>
      raise(
        `FROM (${late}) j CROSS JOIN ${schedules} s ON s.id = j.schedule_id ` +
          `AND (${hasMissedStart("?1", "j")}) IS NOT TRUE`,
        "j.fire_time",
        "j.id",
        ` AND NOT ${hasStarted}`,
        sinceFirst,
      ),
    // ?1 now
    markLate: () =>
      `UPDATE ${jobs} SET overdue_at = (SELECT CASE ${later("expect_start")} ${later("expect_finish")} END ` +
      `FROM ${schedules} s WHERE s.id = schedule_id) WHERE seq IN (SELECT seq FROM (${late}))`,

    // The next two resolve occurrences, and run one after the other. ?1 how many open ones to leave out. Where another
    // job stands for an occurrence, the occurrence follows that job.
    followSkips: () =>
      `UPDATE ${overdue} SET follows = v.into_time FROM (SELECT o.schedule_id, o.fire_time, o.kind, k.into_time ` +
      `FROM ${open} o CROSS JOIN ${histories} h ON h.schedule_id = o.schedule_id CROSS JOIN ${skips} k ON ${isSkip} ` +
      `WHERE k.into_time > o.follows AND NOT EXISTS (SELECT 1 FROM ${runs} r WHERE ${isOf("h.number", "r")} ` +
      `AND r.fire_time = o.follows)) v WHERE ${isSame}`,
    // ?1 as above, ?2 now, ?3 commitId
    resolveOverdue: () =>
      `UPDATE ${overdue} SET resolved_at = ?2, resolved_by = ?3, reason = v.reason, job_id = coalesce(v.job, job_id) ` +
      "FROM (SELECT o.schedule_id, o.fire_time, o.kind, " +
      `coalesce(j.id, substr(r.run, instr(r.run, '/') + 1)) AS job, ${reason} AS reason FROM ${open} o ` +
      `LEFT JOIN ${schedules} s ON s.id = o.schedule_id ` +
      `LEFT JOIN ${jobs} j ON j.schedule_id = o.schedule_id AND j.fire_time = o.follows ` +
      `AND ${isMadeByPlan("j")} ` +
      `LEFT JOIN ${histories} h ON h.schedule_id = o.schedule_id ` +
      `LEFT JOIN ${runs} r ON ${isOf("h.number", "r")} AND r.fire_time = o.follows ` +
      `LEFT JOIN ${skips} k ON ${isSkip}) v WHERE ${isSame} AND v.reason IS NOT NULL ` +
      `RETURNING ${COLUMNS}, reason`,
    // ?1 the time up to which resolved ones are removed
    removeResolved: () =>
      `DELETE FROM ${overdue} WHERE (${KEY}) IN (SELECT ${KEY} FROM ${overdue} ` +
      `WHERE resolved_at IS NOT NULL AND resolved_at <= ?1 LIMIT ${RESOLVED_OVERDUE_REMOVED_PER_COMMIT_MAX})`,
    // ?1 commitId. For repetitions. Columns besides those of the statements above: whether the commit raised the
    // occurrence, and whether it resolved it.
    getOverdueOfCommit: () =>
      `SELECT ${COLUMNS}, reason, raised_by = ?1 AS is_raised, coalesce(resolved_by = ?1, 0) AS is_resolved ` +
      `FROM ${overdue} WHERE schedule_id > '' AND (raised_by = ?1 OR resolved_by = ?1)`,
  });
}

/** The columns of a look about overdue occurrences: `overdue_at`, the earliest time at which one may become overdue,
 *  and that of {@link openOverdueColumn}. */
export function overdueColumns(names: TableNames): string[] {
  const { schedules, jobs } = names;
  return [
    // The plus sign keeps SQLite from using the index of due schedules.
    `(SELECT min(at) FROM (SELECT * FROM (SELECT ${OVERDUE_AT} AS at FROM ${schedules} WHERE ${MAY_BE_OVERDUE} ` +
      `AND ${OVERDUE_AT} <= ${FAR_FUTURE_MS} AND +next_fire_time <= ${FAR_FUTURE_MS} ORDER BY ${OVERDUE_AT} LIMIT 1) ` +
      `UNION ALL SELECT min(overdue_at) FROM ${jobs} WHERE overdue_at <= ${FAR_FUTURE_MS})) AS overdue_at`,
    openOverdueColumn(names),
  ];
}

/** The column `open_overdue`: how many overdue occurrences are open. */
export function openOverdueColumn({ overdue }: TableNames): string {
  const open = `SELECT 1 FROM ${overdue} WHERE ${IS_OPEN} LIMIT ${OVERDUE_COUNTED_MAX}`;
  return `(SELECT count(*) FROM (${open})) AS open_overdue`;
}

/** SQL of the open overdue occurrences, as a JSON array, for people. Their jobs are those of now. */
export function openOverdueAsJson({ jobs, overdue }: TableNames): string {
  const job =
    `(SELECT j.id FROM ${jobs} j WHERE j.schedule_id = o.schedule_id AND j.fire_time = o.follows ` +
    `AND ${isMadeByPlan("j")})`;
  const texts = ["schedule_id", "task_id", "kind"].map((column) => `CAST(o.${column} AS TEXT)`).join(", ");
  return (
    `SELECT json_group_array(json_array(${texts}, fire_time + 0, due_at + 0, raised_at + 0, CAST(job AS TEXT))) ` +
    `FROM (SELECT o.*, coalesce(${job}, o.job_id) AS job FROM (SELECT * FROM ${overdue} WHERE ${IS_OPEN} ` +
    `LIMIT ${OVERDUE_COUNTED_MAX}) o ORDER BY o.due_at, o.schedule_id, o.kind DESC LIMIT ${OVERDUE_SHOWN_MAX}) o`
  );
}
