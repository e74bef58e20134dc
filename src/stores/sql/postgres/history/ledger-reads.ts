import { CLOCK_TOLERANCE_MS, UPTIMES_PER_ANSWER_MAX } from "../../../shared/limits.ts";
import { type ReadStatements, removingUptimes, takingBack } from "../../history/ledger-reads.ts";
import type { TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { attemptsOf, isMadeByPlan, jobAsJson } from "../jobs/job-rows.ts";
import type { PostgresNames } from "../schema/names.ts";
import { arrayOf, detailNumber, joinedJson, textList } from "../sql-and-json.ts";
import { isOf, lastSkipFrom } from "./history-writes.ts";

/** As on SQLite. */
function putOffAt({ jobs, jobSteps }: TableNames): string {
  const sleeping =
    `SELECT max(s.started_at) FROM ${jobSteps} s WHERE s.job_id = ${jobs}.id ` +
    "AND s.wake_at IS NOT NULL AND s.ended_at IS NULL";
  const failedAt = `(${jobs}.attempt_history->-1->>'finishedAt')::bigint`;
  return `greatest(${detailNumber("createdAt", jobs)}, ${failedAt}, (${sleeping}))`;
}

/** The arguments are those of the statements on SQLite's SQL. */
export function readStatements(names: PostgresNames): ReadStatements {
  const { jobs, histories, uptimes, schedulers } = names;
  const uptime = "json_build_array(u.identity, u.role, u.resident, u.since, u.until)";
  return lazily<ReadStatements>({
    getLedgerStart: () => `SELECT since FROM ${histories} WHERE schedule_id = ?1`,
    getJobOfFireTime: () =>
      `SELECT ${jobAsJson(names, "j")} AS record FROM ${jobs} j WHERE j.schedule_id = ?1 AND j.fire_time = ?2 ` +
      `AND ${isMadeByPlan("j")}`,
    getFireTimes: () => fireTimes(names),
    getOccurrences: () => ({ oldest: stretch(names, "ASC"), newest: stretch(names, "DESC") }),
    extendUptime: () =>
      `INSERT INTO ${uptimes} (identity, since, until, role, resident, tasks) SELECT ?1, coalesce(w.since, ?2), ` +
      "greatest(coalesce(w.since, ?2), ?2, " +
      `coalesce((SELECT max(c.alive_until) FROM ${schedulers} c WHERE c.identity = ?1), ?3)), ` +
      "?4, ?5, ?6::json FROM (SELECT (SELECT " +
      "CASE WHEN u.until >= ?2 - CASE WHEN u.resident = 0 AND ?3 > ?2 THEN ?7 ELSE 0 END THEN u.since END " +
      `FROM ${uptimes} u WHERE u.identity = ?1 AND u.since <= ?2 + ${CLOCK_TOLERANCE_MS} ` +
      "ORDER BY u.since DESC LIMIT 1) AS since) w " +
      "WHERE w.since IS NOT NULL OR ?3 > ?2 " +
      "ON CONFLICT (identity, since) DO UPDATE SET until = excluded.until, role = excluded.role, " +
      "resident = excluded.resident, tasks = excluded.tasks",
    getUptimes: () =>
      `SELECT ${arrayOf(uptime, "u.tasks")} AS record FROM (SELECT * FROM ${uptimes} ` +
      `WHERE until >= ?1 AND since <= ?2 ORDER BY since DESC, identity DESC LIMIT ${UPTIMES_PER_ANSWER_MAX}) u ` +
      "ORDER BY u.since, u.identity",
    takeBackAfter: () => takingBack(names, putOffAt(names)),
    removeUptimesAfter: () => removingUptimes(names),
    removeUptimes: () =>
      `DELETE FROM ${uptimes} WHERE (identity, since) IN (SELECT identity, since FROM ${uptimes} WHERE until < ?1 ` +
      "ORDER BY until LIMIT ?2)",
  });
}

const SKIP_AS_JSON = "json_build_array(s.from_time, s.until_time, s.verdict, s.count, s.into_time)";

/** Each fire time is a search by key in each table. */
function fireTimes(names: TableNames): string {
  const { histories, runs, skips, jobs } = names;
  const run =
    `SELECT json_build_array(r.fire_time, r.outcome, r.run) FROM ${runs} r ` +
    `WHERE ${isOf("h.number", "r")} AND r.fire_time = t.value`;
  const skip =
    `SELECT ${SKIP_AS_JSON} FROM ${skips} s WHERE s.history = h.number ` +
    `AND s.from_time = (${lastSkipFrom(names, "h.number", "t.value")}) AND s.until_time >= t.value`;
  const times = ["scheduledFireTime", "createdAt"].map((name) => detailNumber(name, "j")).join(", ");
  const job =
    `SELECT json_build_array(j.id, ${times}, ${attemptsOf("j")}) FROM ${jobs} j ` +
    `WHERE j.schedule_id = a.v->>0 AND j.fire_time = t.value AND ${isMadeByPlan("j")}`;
  return (
    `SELECT json_agg(json_build_array(a.o - 1, t.value, (${run}), (${skip}), (${job})))::text AS found ` +
    `FROM json_array_elements(?1::json) WITH ORDINALITY a(v, o) ` +
    `LEFT JOIN ${histories} h ON h.schedule_id = a.v->>0 ` +
    "CROSS JOIN LATERAL (SELECT e::bigint AS value FROM json_array_elements_text(a.v->1) e) t"
  );
}

/** The rows of a stretch of a history, see the function of this name on SQLite's SQL. */
function stretch(names: TableNames, order: "ASC" | "DESC"): string {
  const { histories, runs, skips } = names;
  const history = `(SELECT number FROM ${histories} WHERE schedule_id = ?1)`;
  const runsIn = (from: string, until: string): string =>
    `FROM ${runs} r WHERE ${isOf(history, "r")} AND r.fire_time >= ${from} AND r.fire_time <= ${until}`;
  const begin = `coalesce((${lastSkipFrom(names, history, "?2")}), ?2)`;
  const reaching = (time: string, end: string): string =>
    `(SELECT s.${end} FROM ${skips} s WHERE s.history = ${history} ` +
    `AND s.from_time = (${lastSkipFrom(names, history, time)}) AND s.until_time >= ${time})`;
  const isAsked = `(?4::text IS NULL OR r.outcome IN (${textList("?4")}))`;
  const run = `json_build_array(r.fire_time, r.outcome, CASE WHEN ${isAsked} THEN r.run END)::text`;
  const asArray = joinedJson("i.item", `i.at ${order}`);
  return (
    `SELECT (SELECT ${asArray} FROM (SELECT ${run} AS item, r.fire_time AS at ${runsIn("?2", "?3")} ` +
    `ORDER BY r.fire_time ${order} LIMIT ?5) i) AS runs, ` +
    `(SELECT ${asArray} FROM (SELECT ${SKIP_AS_JSON}::text AS item, s.from_time AS at FROM ${skips} s ` +
    `WHERE s.history = ${history} AND s.from_time >= ${begin} AND s.from_time <= ?3 AND s.until_time >= ?2 ` +
    `ORDER BY s.from_time ${order} LIMIT ?5) i) AS skips, ` +
    `(SELECT r.fire_time ${runsIn(reaching("?2", "from_time"), "?2 - 1")} ORDER BY r.fire_time DESC LIMIT 1) AS ` +
    `before, ` +
    `(SELECT r.fire_time ${runsIn("?3 + 1", reaching("?3", "until_time"))} ORDER BY r.fire_time LIMIT 1) AS after`
  );
}
