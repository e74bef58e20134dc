import type { InspectionStatements } from "../../lists/inspection.ts";
import { IS_BLOCKED_OR_DEPENDENT, JOB_STATE } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { openOverdueAsJson, openOverdueColumn } from "../history/overdue-occurrences.ts";
import type { PostgresNames } from "../schema/names.ts";
import { STORE_NOW } from "../sql-and-json.ts";

const { delayed, ready, leased, blocked } = JOB_STATE;

/** The statement of an inspection: one, so that everything in it is of one instant. ?1 now, ?2 how far to count. */
export function inspectionStatements(names: PostgresNames): InspectionStatements {
  const inspect =
    `SELECT ${openOverdueColumn(names)}, (${openOverdueAsJson(names)}) AS overdue, ` +
    `(${countsByTask(names)}) AS counts, (${oldestDueJob(names)}) AS oldest_job, ` +
    `(${oldestDueSchedule(names)}) AS oldest_schedule, ` +
    `${STORE_NOW} AS store_now`;
  return lazily<InspectionStatements>({
    inspect: () => `${inspect}, (${storeWarnings(names, WARNS_ABOVE)}) AS warnings`,
    inspectAll: () => `${inspect}, ${scheduleCounts(names)} AS schedules`,
  });
}

/** The jobs of each task are counted in the index of each state, up to a bound. The ids of the tasks are found by leaps
 *  from one to the next. */
function countsByTask({ jobs }: PostgresNames): string {
  const states = [`state = ${ready}`, `state = ${delayed}`, IS_BLOCKED_OR_DEPENDENT, `state = ${leased}`];
  const next = (after: string): string =>
    `(SELECT min(n.id) FROM (${states
      .map((state) => `SELECT min(task_id) AS id FROM ${jobs} WHERE ${state} AND task_id > ${after}`)
      .join(" UNION ALL ")}) n)`;
  const count = (state: string): string =>
    `(SELECT count(*) FROM (SELECT 1 FROM ${jobs} j WHERE j.${state} AND j.task_id = t.id LIMIT ?2) c)`;
  const running = `(SELECT count(*) FROM ${jobs} j WHERE j.state = ${leased} AND j.task_id = t.id)`;
  const counts = [...states.slice(0, 3).map(count), running].join(", ");
  return (
    `WITH RECURSIVE ids (id) AS (SELECT ${next("''")} UNION ALL SELECT ${next("ids.id")} FROM ids ` +
    "WHERE ids.id IS NOT NULL) " +
    `SELECT json_agg(json_build_array(t.id, ${counts}) ORDER BY t.id)::text FROM ids t WHERE t.id IS NOT NULL`
  );
}

function oldestDueJob({ jobs }: PostgresNames): string {
  const first = (state: string, order: string): string =>
    `(SELECT id, task_id, run_at FROM ${jobs} WHERE ${state} AND run_at <= ?1 ORDER BY ${order} LIMIT 1)`;
  return (
    "SELECT json_agg(json_build_array(o.id, o.task_id, o.run_at))::text FROM (SELECT * FROM (" +
    `${first(`state = ${delayed}`, "run_at, seq")} UNION ALL ` +
    `${first(`state IN (${ready}, ${blocked})`, "run_at, seq")}) ` +
    "a ORDER BY a.run_at LIMIT 1) o"
  );
}

function oldestDueSchedule({ schedules }: PostgresNames): string {
  return (
    "SELECT json_agg(json_build_array(o.id, o.task_id, o.next_fire_time))::text FROM (" +
    `SELECT id, task_id, next_fire_time FROM ${schedules} WHERE paused = 0 ` +
    "AND next_fire_time IS NOT NULL AND next_fire_time <= ?1 ORDER BY next_fire_time, id LIMIT 1) o"
  );
}

/** Each state is counted in its index, up to a bound. */
function scheduleCounts({ schedules }: PostgresNames): string {
  const count = (condition: string): string =>
    `(SELECT count(*) FROM (SELECT 1 FROM ${schedules} WHERE ${condition} LIMIT ?2) c)`;
  const isActive = "paused = 0 AND next_fire_time IS NOT NULL";
  const counts = [
    count(isActive),
    count("paused = 1 AND next_fire_time IS NOT NULL"),
    count("next_fire_time IS NULL"),
    count(`${isActive} AND next_fire_time <= ?1`),
  ];
  return `json_build_array(json_build_array(${counts.join(", ")}))::text`;
}

/** From when on something is a warning. */
export interface WarningBounds {
  /** How long a transaction has been open. */
  readonly openSeconds: number;
  /** Of how many later transactions it keeps the dead rows. */
  readonly transactions: number;
  /** How many rows of a table are dead; they also outnumber the others. */
  readonly deadRows: number;
}

const WARNS_ABOVE: WarningBounds = { openSeconds: 300, transactions: 1_000_000, deadRows: 100_000 };

/**
 * SQL of the warnings, as JSON. It reads what the server has in memory.
 *
 * Nobody removes rows that a transaction may still see, and the tables of jobs get very many dead rows. When the
 * transactions of other users began is shown to those who have the rights of `pg_read_all_stats`; how many transactions
 * began since then, to everybody.
 */
export function storeWarnings(names: PostgresNames, above: WarningBounds): string {
  const { openSeconds, transactions, deadRows } = above;
  const advice = "end it, so that the database can remove dead rows";
  const open =
    "SELECT pid::text AS name, xact_start AS at, greatest(age(backend_xmin), age(backend_xid)) AS later " +
    "FROM pg_stat_activity WHERE datname = current_database() AND coalesce(backend_xmin, backend_xid) IS NOT NULL " +
    // Workers of autovacuum have no user, and keep no rows.
    "AND usesysid IS NOT NULL " +
    "UNION ALL SELECT gid, prepared, age(transaction) FROM pg_prepared_xacts WHERE database = current_database()";
  const oldest =
    "SELECT 'oldTransaction' AS code, CASE WHEN o.at IS NULL THEN " +
    `format('a transaction (%s) has been open for the last %s transactions; ${advice}', o.name, o.later) ELSE ` +
    "format('a transaction (%s) has been open for %s s; " +
    `${advice}', o.name, round(extract(epoch FROM clock_timestamp() - o.at))) END AS message FROM (${open}) o ` +
    `WHERE o.at < clock_timestamp() - interval '${openSeconds} seconds' OR o.later > ${transactions} ` +
    "ORDER BY o.later DESC LIMIT 1";
  const schema = names.inSchema.slice(1, -2);
  const dead =
    "SELECT 'deadRows', format('%s rows of the table %s are dead, and %s live; see that autovacuum is on, " +
    "and that no transaction stays open', n_dead_tup, relname, n_live_tup) FROM pg_stat_user_tables " +
    `WHERE schemaname = '${schema}' AND n_dead_tup > ${deadRows} AND n_dead_tup > n_live_tup ` +
    "ORDER BY n_dead_tup DESC LIMIT 1";
  return `SELECT json_agg(w)::text FROM ((${oldest}) UNION ALL (${dead})) w`;
}
