import { JOB_STATE, SCHEDULE_COLUMNS, type TableNames } from "../../schema/tables.ts";
import { validJson } from "../../sql-and-json.ts";
import { isDueUnstarted, isMadeByPlan } from "../jobs/job-rows.ts";
import { readableColumn, rowAsJson, sizeInBytes } from "../sql-and-json.ts";

/** The columns that no planner needs. */
const OTHER_COLUMNS = [
  "skipped_count",
  "revision",
  "declaration",
  "version",
  "paused_until",
  "pause_reason",
  "paused_by",
  "failures",
  "last_failure",
];

/** SQL that yields a schedule's row as JSON text. `table` is the name or alias of the table in the statement. */
export function scheduleAsJson(table: string): string {
  return rowAsJson(
    table,
    [...SCHEDULE_COLUMNS, ...OTHER_COLUMNS],
    [validJson(`${table}.metadata`), validJson(`${table}.details`)],
  );
}

/** The same SQL as {@link scheduleAsJson}, but without payload, metadata and name. `now` is the SQL of the present. */
export function lookedScheduleAsJson(names: TableNames, table: string, now: string): string {
  const { schedulers } = names;
  const preferredScheduler =
    `(SELECT CAST(c.identity AS TEXT) FROM ${schedulers} c WHERE c.identity = ${table}.preferred_scheduler ` +
    `AND c.resident = 1 AND c.alive_until > ${now} LIMIT 1)`;
  const texts = ["id", "task_id", "trigger_json", "trigger_rule", "metadata", "details"];
  const bytes = `${ROW_OVERHEAD_BYTES} + ${texts.map((column) => sizeInBytes(`${table}.${column}`)).join(" + ")}`;
  const columns = [
    ...SCHEDULE_COLUMNS.map((column) => readableColumn(table, column)),
    preferredScheduler,
    bytes,
    missedSince(names, table, now),
  ];
  return rowAsJson(null, columns, [`json_remove(${validJson(`${table}.details`)}, '$.payload', '$.name')`]);
}

/** SQL of since when a job of a schedule misses its turn, see `LookedSchedule.missedSince`. Nearly no schedule has a
 *  job that waits, so that the rest is asked for nearly none. */
function missedSince({ jobs }: TableNames, table: string, now: string): string {
  const of = `FROM ${jobs} j WHERE j.schedule_id = ${table}.id AND j.fire_time IS NOT NULL AND`;
  const waiting = `${of} ${isDueUnstarted("j", now)}`;
  const details = validJson(`${table}.details`);
  return (
    `CASE WHEN EXISTS (SELECT 1 ${waiting}) AND coalesce(${details}->>'coalesce', 'latest') <> 'all' ` +
    `AND coalesce(${details}->>'overlap', 'queue') = 'queue' ` +
    `AND NOT EXISTS (SELECT 1 ${of} j.state = ${JOB_STATE.leased} AND ${isMadeByPlan("j")}) ` +
    `THEN (SELECT j.run_at ${waiting} ORDER BY j.fire_time LIMIT 1) END`
  );
}

/** About how many bytes the numbers of a row add to its texts. */
const ROW_OVERHEAD_BYTES = 200;
