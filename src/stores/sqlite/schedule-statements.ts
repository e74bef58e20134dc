import { scheduleAsJson } from "./rows.ts";
import type { TableNames } from "./schema.ts";

/** The statements about schedules. */
export interface ScheduleStatements {
  readonly findConflict: string;
  readonly guardConflicts: string;
  readonly findExisting: string;
  readonly insertSchedules: string;
  readonly replaceSchedules: string;
  readonly getSchedulesById: string;
  readonly getSchedule: string;
  readonly getSchedules: string;
  readonly getSchedulesOfTask: string;
  readonly getPausedSchedules: string;
  readonly updateSchedule: string;
  readonly removeSchedule: string;
  readonly acquireSchedules: string;
  readonly lookAtSchedules: string;
  readonly insertPlannedJobs: string;
  readonly commitPlans: string;
  readonly giveUpSchedules: string;
  readonly removeExhausted: string;
}

/** The arguments of each statement are listed before it; `value` is a row of a JSON parameter. */
export function scheduleStatements({ schedules, jobs, results }: TableNames): ScheduleStatements {
  const row = scheduleAsJson(schedules);
  const record = `${row} AS record`;
  const noLease = "acquired_by = NULL, acquired_until = NULL, acquisition_id = NULL";
  // Of the rows [id, trigger, createdAt] in ?1, in order, the first that is in use. After a try of unknown fate (?2) a
  // schedule that is the very same is that try's.
  const conflict =
    `SELECT a.value->>0 AS id FROM json_each(?1) a CROSS JOIN ${schedules} s ON s.id = a.value->>0 ` +
    "WHERE NOT (?2 AND s.trigger_json = a.value->>1 AND s.created_at = a.value->>2) ORDER BY a.key LIMIT 1";
  // ?1 rows of newScheduleRow
  const insert =
    `INSERT INTO ${schedules} (id, task_id, trigger_json, trigger_rule, paused, created_at, next_fire_time, ` +
    "last_fire_time, fence, metadata, details) SELECT value->>0, value->>1, value->>2, value->>3, value->>4, " +
    "value->>5, " +
    "value->>6, value->>7, value->>8, value->>9, value->>10 FROM json_each(?1) WHERE true";
  const page = "ORDER BY id LIMIT ?2";
  const due = "paused = 0 AND next_fire_time <= ?1";
  /** Field `name` of the changes in ?2 when it is there, null included. */
  const changed = (column: string, name: string): string =>
    `${column} = CASE WHEN json_type(?2, '$.${name}') IS NULL THEN ${column} ELSE ?2->>'${name}' END`;

  return {
    findConflict: conflict,
    // Fails, and so undoes the whole batch, when there is a conflict.
    guardConflicts: `SELECT CASE WHEN EXISTS (${conflict}) THEN json('conflict') END`,
    // ?1 ids
    findExisting:
      `SELECT json_group_array(s.id) AS ids FROM json_each(?1) a CROSS JOIN ${schedules} s ON s.id = ` + `a.value`,
    insertSchedules: `${insert} ON CONFLICT (id) DO NOTHING`,
    replaceSchedules:
      `${insert} ON CONFLICT (id) DO UPDATE SET ` +
      "trigger_json = CASE WHEN trigger_rule = excluded.trigger_rule THEN trigger_json ELSE excluded.trigger_json " +
      "END, " +
      "next_fire_time = CASE WHEN trigger_rule = excluded.trigger_rule THEN next_fire_time ELSE " +
      "excluded.next_fire_time END, " +
      "task_id = excluded.task_id, trigger_rule = excluded.trigger_rule, paused = excluded.paused, " +
      `metadata = excluded.metadata, details = excluded.details, fence = fence + 1, ${noLease}`,
    // ?1 ids
    getSchedulesById:
      `SELECT '[' || group_concat(r) || ']' AS records FROM (SELECT ${scheduleAsJson("s")} AS r FROM json_each(?1) a ` +
      `CROSS JOIN ${schedules} s ON s.id = a.value)`,

    // ?1 id
    getSchedule: `SELECT ${record} FROM ${schedules} WHERE id = ?1`,
    // ?1 id to start after, ?2 limit, ?3 paused or null
    getSchedules: `SELECT ${record} FROM ${schedules} WHERE id > ?1 AND (?3 IS NULL OR paused = ?3) ${page}`,
    // and ?4 taskId
    getSchedulesOfTask:
      `SELECT ${record} FROM ${schedules} WHERE task_id = ?4 AND id > ?1 AND (?3 IS NULL OR ` + `paused = ?3) ${page}`,
    // ?1 id to start after, ?2 limit
    getPausedSchedules: `SELECT ${record} FROM ${schedules} WHERE paused = 1 AND id > ?1 ${page}`,

    // ?1 id, ?2 changes as JSON, ?3 expected fence or null
    updateSchedule:
      `UPDATE ${schedules} SET ${changed("task_id", "taskId")}, ${changed("trigger_json", "trigger")}, ` +
      `${changed("trigger_rule", "triggerRule")}, ${changed("paused", "paused")}, ` +
      `${changed("next_fire_time", "nextFireTime")}, ${changed("last_fire_time", "lastFireTime")}, ` +
      `${changed("metadata", "metadata")}, details = json_patch(details, ?2->'details'), fence = fence + 1, ` +
      `${noLease} ` +
      `WHERE id = ?1 AND (?3 IS NULL OR fence = ?3) RETURNING ${record}`,
    // ?1 id
    removeSchedule: `DELETE FROM ${schedules} WHERE id = ?1 RETURNING id`,

    // ?1 now, ?2 limit, ?3 schedulerId, ?4 end of the leases, ?5 acquisitionId
    acquireSchedules:
      `UPDATE ${schedules} SET acquired_by = ?3, acquired_until = ?4, acquisition_id = ?5, fence = fence + 1 ` +
      "WHERE seq IN (SELECT seq FROM (" +
      `SELECT * FROM (SELECT seq, next_fire_time, id FROM ${schedules} WHERE ${due} AND acquired_until IS NULL ` +
      "ORDER BY next_fire_time, id LIMIT ?2) UNION ALL " +
      `SELECT seq, next_fire_time, id FROM ${schedules} WHERE ${due} AND acquired_until <= ?1) ` +
      `ORDER BY next_fire_time, id LIMIT max(0, ?2 - (SELECT count(*) FROM ${schedules} ` +
      "WHERE acquired_until > ?1 AND acquisition_id = ?5 AND acquired_by = ?3)))",
    // as acquireSchedules. Columns: `records`, the schedules of this acquisition, `next_fire_time` of the unleased
    // ones, and `next_free_at`, the earliest instant at which one under another lease is due and free.
    lookAtSchedules:
      `SELECT (SELECT '[' || group_concat(r) || ']' FROM (SELECT ${row} AS r FROM ${schedules} ` +
      "WHERE acquired_until > ?1 AND acquisition_id = ?5 AND acquired_by = ?3 ORDER BY next_fire_time, id)) AS " +
      "records, " +
      `(SELECT min(next_fire_time) FROM ${schedules} ` +
      "WHERE paused = 0 AND acquired_until IS NULL AND next_fire_time IS NOT NULL) AS next_fire_time, " +
      `(SELECT min(max(acquired_until, next_fire_time)) FROM ${schedules} ` +
      "WHERE acquired_until > 0 AND paused = 0 AND NOT (acquired_until > ?1 AND acquisition_id = ?5 AND " +
      "acquired_by = ?3)) " +
      "AS next_free_at",

    // ?1 rows of newJobRow with the plan's fence behind, ?2 schedulerId. Columns of the answer: id
    insertPlannedJobs:
      `INSERT INTO ${jobs} (id, task_id, executor, schedule_id, fire_time, idempotency_key, priority, run_at, state, ` +
      "fence, failed_attempts, recoveries, cancel_requested, details) " +
      "SELECT a.value->>0, a.value->>1, a.value->>2, a.value->>3, a.value->>4, a.value->>5, a.value->>6, " +
      "a.value->>7, " +
      "a.value->>8, a.value->>9, a.value->>10, a.value->>11, 0, a.value->>12 FROM json_each(?1) a " +
      `CROSS JOIN ${schedules} s ON s.id = a.value->>14 WHERE s.fence = a.value->>13 AND s.acquired_by = ?2 ` +
      `AND NOT EXISTS (SELECT 1 FROM ${results} WHERE job_id = a.value->>0) ON CONFLICT DO NOTHING RETURNING id`,
    // ?1 rows [scheduleId, fence, nextFireTime, lastFireTime, paused], ?2 schedulerId. Columns of the answer: id
    commitPlans:
      `UPDATE ${schedules} SET next_fire_time = r.value->>2, last_fire_time = r.value->>3, paused = r.value->>4, ` +
      `${noLease} ` +
      `FROM json_each(?1) r WHERE ${schedules}.id = r.value->>0 AND ${schedules}.fence = r.value->>1 ` +
      `AND ${schedules}.acquired_by = ?2 RETURNING id`,
    // ?1 schedulerId
    giveUpSchedules: `UPDATE ${schedules} SET ${noLease} WHERE acquired_until > 0 AND acquired_by = ?1`,
    // ?1 now, ?2 limit. Columns of the answer: id
    removeExhausted:
      `DELETE FROM ${schedules} WHERE seq IN (SELECT seq FROM ${schedules} s WHERE next_fire_time IS NULL ` +
      "AND id > '' AND (acquired_until IS NULL OR acquired_until <= ?1) " +
      `AND NOT EXISTS (SELECT 1 FROM ${jobs} WHERE schedule_id = s.id) ORDER BY id LIMIT ?2) RETURNING id`,
  };
}
