import type { InspectionStatements } from "../../lists/inspection.ts";
import { IS_BLOCKED_OR_DEPENDENT, JOB_STATE, type TableNames } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { openOverdueAsJson, openOverdueColumn } from "../history/overdue-occurrences.ts";
import { INSPECTED_QUEUES_MAX } from "../limits.ts";
import { STORE_NOW } from "../sql-and-json.ts";

const { delayed, ready, leased, blocked } = JOB_STATE;

/** The statement of an inspection: one, so that everything in it is of one instant. ?1 now, ?2 how far to
 *  count. */
export function inspectionStatements(names: TableNames): InspectionStatements {
  const inspect =
    `SELECT ${openOverdueColumn(names)}, (${openOverdueAsJson(names)}) AS overdue, ` +
    `(${countsByTask(names)}) AS counts, (${oldestDueJob(names)}) AS oldest_job, ` +
    `(${oldestDueSchedule(names)}) AS oldest_schedule, ` +
    `${STORE_NOW} AS store_now`;
  return lazily<InspectionStatements>({
    inspect: () => inspect,
    inspectAll: () => `${inspect}, ${scheduleCounts(names)} AS schedules`,
  });
}

/**
 * The jobs of each task are counted in the index of each state, up to a bound. Counts that triggers keep were measured:
 * they cost each addition of a job 6 to 8% of its CPU time. The leases are counted one by one, because they are as few
 * as the jobs that run.
 */
function countsByTask({ jobs }: TableNames): string {
  const sources = [...[...WAITING, IS_KEYED].map((condition) => `${jobs} WHERE ${condition} AND`), "running WHERE"];
  // A BLOB is greater than any text, and the least of values with a null would be null.
  const next = (after: string): string =>
    `nullif(min(${sources.map((rows) => `ifnull((SELECT min(task_id) FROM ${rows} task_id > ${after}), x'')`)}), x'')`;
  const count = (state: string): string =>
    `(SELECT count(*) FROM (SELECT 1 FROM ${jobs} WHERE ${state} AND task_id = t.id LIMIT +?2))`;
  return (
    `WITH RECURSIVE running AS MATERIALIZED (SELECT task_id, count(*) AS n FROM ${jobs} ` +
    `WHERE state = ${leased} AND acquired_until > 0 GROUP BY +task_id), ids (id) AS (SELECT ${next("''")} ` +
    `UNION ALL SELECT ${next("ids.id")} FROM ids WHERE ids.id IS NOT NULL) ` +
    `SELECT json_group_array(json_array(id, ${WAITING.map(count).join(", ")}, ${count(IS_BLOCKED_OR_DEPENDENT)}, ` +
    "running)) FROM (SELECT t.id, coalesce(r.n, 0) AS running " +
    "FROM ids t LEFT JOIN running r ON r.task_id = t.id WHERE t.id IS NOT NULL ORDER BY t.id) t"
  );
}

const WAITING = [`state = ${ready}`, `state = ${delayed}`];
/** The condition of the index that has the jobs that are blocked or blocked, among others. */
const IS_KEYED = `(concurrency_key IS NOT NULL OR ${IS_BLOCKED_OR_DEPENDENT})`;

/**
 * The index of ready jobs has their virtual time and `run_at` behind task, executor and priority. So the oldest job of
 * each combination of these is the first of the combination, and from each combination one search leads to the next.
 * That of blocked jobs has it behind task, concurrency key and priority; every task that has blocked jobs has limiters.
 */
function oldestDueJob({ jobs, keyLimiters }: TableNames): string {
  const first = (condition: string): string =>
    `(SELECT seq FROM ${jobs} WHERE state = ${ready} AND ${condition} ` +
    "ORDER BY task_id, executor, priority DESC, virtual_time, run_at, seq LIMIT 1)";
  const next = [
    "task_id = j.task_id AND executor = j.executor AND priority < j.priority",
    "task_id = j.task_id AND executor > j.executor",
    "task_id > j.task_id",
  ];
  const firstBlocked = (condition: string): string =>
    `(SELECT seq FROM ${jobs} WHERE state = ${blocked} AND concurrency_key IS NOT NULL AND ${condition} ` +
    "ORDER BY concurrency_key, priority DESC, run_at, seq LIMIT 1)";
  const nextBlocked = [
    "task_id = j.task_id AND concurrency_key = j.concurrency_key AND priority < j.priority",
    "task_id = j.task_id AND concurrency_key > j.concurrency_key",
  ];
  const nextTask = (after: string): string =>
    `(SELECT task_id FROM ${keyLimiters} WHERE task_id > ${after} ORDER BY task_id LIMIT 1)`;
  const oldest = `SELECT j.id, j.task_id, j.run_at FROM ${jobs} j`;
  return (
    // The last task is null, and stands for the jobs that are ready.
    `WITH RECURSIVE limited (id) AS (SELECT ${nextTask("''")} ` +
    `UNION ALL SELECT ${nextTask("limited.id")} FROM limited WHERE limited.id IS NOT NULL), ` +
    `heads (seq) AS (SELECT CASE WHEN id IS NULL THEN ${first("task_id > ''")} ` +
    `ELSE ${firstBlocked("task_id = limited.id")} END FROM limited UNION ALL SELECT CASE j.state WHEN ${blocked} ` +
    `THEN coalesce(${nextBlocked.map(firstBlocked).join(", ")}) ELSE coalesce(${next.map(first).join(", ")}) END ` +
    `FROM heads h CROSS JOIN ${jobs} j ON j.seq = h.seq LIMIT ${INSPECTED_QUEUES_MAX}) ` +
    "SELECT json_group_array(json_array(id, task_id, run_at)) FROM (SELECT id, task_id, run_at FROM (" +
    `SELECT * FROM (${oldest} WHERE j.state = ${delayed} AND j.run_at <= ?1 ` +
    "ORDER BY j.run_at LIMIT 1) UNION ALL " +
    `SELECT j.id, j.task_id, j.run_at FROM heads h ` +
    `CROSS JOIN ${jobs} j ON j.seq = h.seq WHERE j.run_at <= ?1) ORDER BY run_at LIMIT 1)`
  );
}

function oldestDueSchedule({ schedules }: TableNames): string {
  return (
    "SELECT json_group_array(json_array(id, task_id, next_fire_time)) FROM (" +
    `SELECT id, task_id, next_fire_time FROM ${schedules} WHERE paused = 0 ` +
    "AND next_fire_time IS NOT NULL AND next_fire_time <= ?1 ORDER BY next_fire_time, id LIMIT 1)"
  );
}

/** Each state is counted in its index, up to a bound. */
function scheduleCounts({ schedules }: TableNames): string {
  const count = (condition: string): string =>
    `(SELECT count(*) FROM (SELECT 1 FROM ${schedules} WHERE ${condition} LIMIT +?2))`;
  const isActive = "paused = 0 AND next_fire_time IS NOT NULL";
  // Each has a range, because a statement without one would read like a scan of the whole table.
  const counts = [
    count(`${isActive} AND next_fire_time > -1e18`),
    count("paused = 1 AND id > '' AND +next_fire_time IS NOT NULL"),
    count("next_fire_time IS NULL AND id > ''"),
    count(`${isActive} AND next_fire_time <= ?1`),
  ];
  return `json_array(json_array(${counts.join(", ")}))`;
}
