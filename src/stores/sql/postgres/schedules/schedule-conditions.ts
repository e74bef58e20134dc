import { JOB_STATE, SCHEDULE_COLUMNS, type TableNames } from "../../schema/tables.ts";
import { isDueUnstarted, isMadeByPlan } from "../jobs/job-rows.ts";
import type { PostgresNames } from "../schema/names.ts";
import { arrayOf, detailNumber, shownJson, sizeInBytes } from "../sql-and-json.ts";

/** SQL of when a schedule whose next fire time has no job yet is overdue, and of whether it can be. */
export const OVERDUE_AT: string =
  "next_fire_time + CASE WHEN raised_start_for IS NOT DISTINCT FROM next_fire_time THEN expect_finish " +
  "ELSE coalesce(expect_start, expect_finish) END";
export const MAY_BE_OVERDUE: string =
  "coalesce(expect_start, expect_finish) IS NOT NULL AND paused = 0 AND next_fire_time IS NOT NULL " +
  "AND raised_finish_for IS DISTINCT FROM next_fire_time";

/** SQL of whether a schedule `s` is to be paused because of its failures. */
export function isFailing(s: string): string {
  return `${s}.failures > 0 AND ${s}.paused = 0 AND ${s}.failures >= ${detailNumber("pauseAfterFailures", s)}`;
}

/** SQL of whether a schedule has the fence that the row `r` of a parameter expects. */
export function hasExpectedFence(s: string): string {
  return `(r.fence IS NULL OR ${s}.fence = r.fence)`;
}

/** SQL that selects the `seq` of the schedules that are at an end; `limit` is SQL too. */
export function exhaustedSchedules({ schedules, jobs }: TableNames, limit: string): string {
  return (
    `SELECT x.seq FROM ${schedules} x WHERE x.next_fire_time IS NULL ` +
    `AND NOT EXISTS (SELECT 1 FROM ${jobs} j WHERE j.schedule_id = x.id) ORDER BY x.id LIMIT ${limit}`
  );
}

/** The columns that no planner needs, except the last failure, which travels as a text. */
const OTHER_COLUMNS = [
  "skipped_count",
  "revision",
  "declaration",
  "version",
  "paused_until",
  "pause_reason",
  "paused_by",
  "failures",
];

/** SQL that yields a schedule's row as JSON text, see `ScheduleRow`. */
export function scheduleAsJson(names: PostgresNames, s: string): string {
  const columns = [...SCHEDULE_COLUMNS, ...OTHER_COLUMNS].map((column) => `${s}.${column}`);
  const shown = (column: string): string => shownJson(names, `${s}.${column}`);
  return arrayOf(
    `json_build_array(${columns.join(", ")}, ${shown("last_failure")}::text)`,
    shown("metadata"),
    shown("details"),
  );
}

/** The same without payload, metadata and name. `now` is the SQL of the present. */
export function lookedScheduleAsJson(names: PostgresNames, s: string, now: string): string {
  const { schedulers, inSchema } = names;
  const preferredScheduler =
    `(SELECT c.identity FROM ${schedulers} c WHERE c.identity = ${s}.preferred_scheduler ` +
    `AND c.resident = 1 AND c.alive_until > ${now} LIMIT 1)`;
  const texts = ["id", "task_id", "trigger_json", "trigger_rule", "metadata", "details"];
  const bytes = `200 + ${texts.map((column) => sizeInBytes(`${s}.${column}`)).join(" + ")}`;
  const columns = SCHEDULE_COLUMNS.map((column) => `${s}.${column}`).join(", ");
  return arrayOf(
    `json_build_array(${columns}, ${preferredScheduler}, ${bytes}, ${missedSince(names, s, now)})`,
    shownJson(names, `${inSchema}merged(${s}.details, '{"payload":null,"name":null}')`),
  );
}

/** SQL of since when a job of a schedule misses its turn, see `LookedSchedule.missedSince`. Nearly no schedule has a
 *  job that waits, so that the rest is asked for nearly none. */
function missedSince({ jobs }: PostgresNames, s: string, now: string): string {
  const of = `FROM ${jobs} j WHERE j.schedule_id = ${s}.id AND j.fire_time IS NOT NULL AND`;
  const waiting = `${of} ${isDueUnstarted("j", now)}`;
  return (
    `CASE WHEN NOT EXISTS (SELECT 1 ${waiting}) OR ${s}.details->>'coalesce' = 'all' ` +
    `OR ${s}.details->>'overlap' <> 'queue' THEN NULL ` +
    `WHEN EXISTS (SELECT 1 ${of} j.state = ${JOB_STATE.leased} AND ${isMadeByPlan("j")}) THEN NULL ` +
    `ELSE (SELECT j.run_at ${waiting} ORDER BY j.fire_time LIMIT 1) END`
  );
}
