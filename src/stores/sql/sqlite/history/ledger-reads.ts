import { CLOCK_TOLERANCE_MS, UPTIMES_PER_ANSWER_MAX } from "../../../shared/limits.ts";
import { type ReadStatements, removingUptimes, takingBack } from "../../history/ledger-reads.ts";
import type { TableNames } from "../../schema/tables.ts";
import { lazily, validJson } from "../../sql-and-json.ts";
import { isMadeByPlan, jobAsJson } from "../jobs/job-rows.ts";
import { detail, instant, rowAsJson } from "../sql-and-json.ts";
import { isOf, lastSkipFrom } from "./history-writes.ts";

/** When a job was put off: it was added, or its last attempt ended, or its sleep began. */
function putOffAt({ jobSteps }: TableNames): string {
  const failedAt = `${validJson("attempt_history", "[]")} ->> '$[#-1].finishedAt'`;
  const isOpen = "wake_at IS NOT NULL AND ended_at IS NULL";
  const sleeping = `SELECT max(started_at) FROM ${jobSteps} WHERE job_id = id AND ${isOpen}`;
  return `max(${[detail("createdAt"), failedAt, `(${sleeping})`].map((at) => `coalesce(${at}, 0)`).join(", ")})`;
}

/** A comment before each statement lists its arguments. */
export function readStatements(names: TableNames): ReadStatements {
  const { jobs, histories, uptimes, schedulers } = names;
  const uptime = ["CAST(identity AS TEXT)", "CAST(role AS TEXT)", "resident = 1", "since + 0", "until + 0"];
  return lazily<ReadStatements>({
    // ?1 id of a schedule
    getLedgerStart: () => `SELECT ${instant("since")} AS since FROM ${histories} WHERE schedule_id = ?1`,
    // ?1 id of a schedule, ?2 fire time
    getJobOfFireTime: () =>
      `SELECT ${jobAsJson("j")} AS record FROM ${jobs} j WHERE schedule_id = ?1 AND fire_time = ?2 ` +
      `AND ${isMadeByPlan("j")}`,
    // ?1 rows [scheduleId, fire times]. One row, see {@link FireTimeRow}.
    getFireTimes: () => fireTimes(names),
    getOccurrences: () => ({ oldest: stretch(names, "ASC"), newest: stretch(names, "DESC") }),

    // Follows keepAlive. ?1 identity, ?2 now, ?3 aliveUntil, ?4 role, ?5 whether it is resident, ?6 task ids, ?7 how
    // long ago the last uptime may have ended that goes on, if it was one of ticks. It ends with the last instance of
    // the identity, and earlier than it seemed if that instance signs off.
    extendUptime: () =>
      `INSERT INTO ${uptimes} (identity, since, until, role, resident, tasks) SELECT ?1, coalesce(since, ?2), ` +
      "max(coalesce(since, ?2), ?2, " +
      `coalesce((SELECT max(alive_until) FROM ${schedulers} WHERE identity = ?1), ?3)), ` +
      "?4, ?5, ?6 FROM (SELECT (SELECT " +
      "CASE WHEN until >= ?2 - CASE WHEN resident = 0 AND ?3 > ?2 THEN ?7 ELSE 0 END THEN since END " +
      `FROM ${uptimes} WHERE identity = ?1 AND since <= ?2 + ${CLOCK_TOLERANCE_MS} ` +
      "ORDER BY since DESC LIMIT 1) AS since) " +
      "WHERE since IS NOT NULL OR ?3 > ?2 " +
      "ON CONFLICT (identity, since) DO UPDATE SET until = excluded.until, role = excluded.role, " +
      "resident = excluded.resident, tasks = excluded.tasks",
    // ?1 from, ?2 until
    getUptimes: () =>
      `SELECT ${rowAsJson(null, uptime, [validJson("tasks", "[]")])} AS record FROM (SELECT * FROM ${uptimes} ` +
      `WHERE until >= ?1 AND since <= ?2 ORDER BY since DESC, identity DESC LIMIT ${UPTIMES_PER_ANSWER_MAX}) ` +
      "ORDER BY since, identity",
    // ?1 the time after which a wrong clock wrote
    takeBackAfter: () => takingBack(names, putOffAt(names)),
    removeUptimesAfter: () => removingUptimes(names),
    // ?1 the time before which uptimes ended long ago, ?2 limit
    removeUptimes: () =>
      `DELETE FROM ${uptimes} WHERE (identity, since) IN (SELECT identity, since FROM ${uptimes} WHERE until < ?1 ` +
      "ORDER BY until LIMIT +?2)",
  });
}

/** What is no number in a damaged row reads as 0. */
const wholeOf = (column: string): string => `CAST(${column} + 0 AS INTEGER)`;
/** A BLOB, which no JSON can hold, reads as an empty text. */
const textOf = (column: string): string => `CASE WHEN ${column} < x'' THEN ${column} ELSE '' END`;
const runAsJson = (run: string): string => `json_array(${wholeOf("fire_time")}, ${textOf("outcome")}, ${run})`;
const SKIP_AS_JSON =
  `json_array(${wholeOf("from_time")}, ${wholeOf("until_time")}, ${textOf("verdict")}, ${wholeOf("count")}, ` +
  `${wholeOf("into_time")})`;

/** Each fire time is a search by key in each table. */
function fireTimes(names: TableNames): string {
  const { histories, runs, skips, jobs } = names;
  const isRun = `${isOf("h.number", "r")} AND fire_time = t.value`;
  const run = `SELECT ${runAsJson(textOf("run"))} FROM ${runs} r WHERE ${isRun}`;
  const skip =
    `SELECT ${SKIP_AS_JSON} FROM ${skips} WHERE history = h.number ` +
    `AND from_time = (${lastSkipFrom(names, "h.number", "t.value")}) AND until_time >= t.value`;
  const attempts = "failed_attempts + recoveries + (acquired_by IS NOT NULL)";
  const job =
    `SELECT json_array(id, ${detail("scheduledFireTime")}, ${detail("createdAt")}, ${attempts}) FROM ${jobs} j ` +
    `WHERE schedule_id = a.value->>0 AND fire_time = t.value AND ${isMadeByPlan("j")}`;
  const found = [run, skip, job].map((sql) => `coalesce((${sql}), 'null')`);
  const item = `'[' || ${["a.key", "t.value", ...found].join(" || ',' || ")} || ']'`;
  return (
    `SELECT '[' || group_concat(${item}) || ']' AS found FROM json_each(?1) a ` +
    `LEFT JOIN ${histories} h ON h.schedule_id = a.value->>0 CROSS JOIN json_each(a.value, '$[1]') t`
  );
}

/**
 * The rows of a stretch of a history. ?1 id of the schedule, ?2 and ?3 its first and last fire time, ?4 the outcomes
 * whose runs are asked for, or null, ?5 limit of runs and of skips. Columns: `runs` and `skips`, as JSON, in the order;
 * `before` and `after`, the runs next to the stretch that are within a skip which reaches into the stretch.
 */
function stretch(names: TableNames, order: "ASC" | "DESC"): string {
  const { histories, runs, skips } = names;
  const history = `(SELECT number FROM ${histories} WHERE schedule_id = ?1)`;
  const runsIn = (from: string, until: string): string =>
    `FROM ${runs} r WHERE ${isOf(history, "r")} AND fire_time >= ${from} AND fire_time <= ${until}`;
  const begin = `coalesce((${lastSkipFrom(names, history, "?2")}), ?2)`;
  const reaching = (time: string, end: string): string =>
    `(SELECT ${end} FROM ${skips} WHERE history = ${history} ` +
    `AND from_time = (${lastSkipFrom(names, history, time)}) AND until_time >= ${time})`;
  const isAsked = "(?4 IS NULL OR outcome IN (SELECT value FROM json_each(?4)))";
  const run = runAsJson(`CASE WHEN ${isAsked} THEN ${textOf("run")} END`);
  const skip = SKIP_AS_JSON;
  const asArray = "'[' || group_concat(item) || ']'";
  return (
    `SELECT (SELECT ${asArray} FROM (SELECT ${run} AS item ${runsIn("?2", "?3")} ` +
    `ORDER BY fire_time ${order} LIMIT +?5)) AS runs, ` +
    `(SELECT ${asArray} FROM (SELECT ${skip} AS item FROM ${skips} WHERE history = ${history} ` +
    `AND from_time >= ${begin} AND from_time <= ?3 AND until_time >= ?2 ` +
    `ORDER BY from_time ${order} LIMIT +?5)) AS skips, ` +
    `(SELECT fire_time ${runsIn(reaching("?2", "from_time"), "?2 - 1")} ORDER BY fire_time DESC LIMIT 1) AS before, ` +
    `(SELECT fire_time ${runsIn("?3 + 1", reaching("?3", "until_time"))} ORDER BY fire_time LIMIT 1) AS after`
  );
}
