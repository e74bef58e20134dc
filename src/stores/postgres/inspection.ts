import type { InspectionStatements } from "../sqlite/inspection.ts";
import { IS_BLOCKED_OR_DEPENDENT, JOB_STATE } from "../sqlite/schema/tables.ts";
import { lazily } from "../sqlite/sql-and-json.ts";
import { openOverdueAsJson, openOverdueColumn } from "./ledger/overdue-occurrences.ts";
import type { PostgresNames } from "./schema/names.ts";

const { delayed, ready, leased, blocked } = JOB_STATE;

/** The statement of an inspection: one, so that everything in it is of one instant. ?1 now, ?2 how far to count. */
export function inspectionStatements(names: PostgresNames): InspectionStatements {
  const inspect =
    `SELECT ${openOverdueColumn(names)}, (${openOverdueAsJson(names)}) AS overdue, ` +
    `(${countsByTask(names)}) AS counts, (${oldestDueJob(names)}) AS oldest_job, ` +
    `(${oldestDueSchedule(names)}) AS oldest_schedule, ` +
    "round(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS store_now";
  return lazily<InspectionStatements>({
    inspect: () => inspect,
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
