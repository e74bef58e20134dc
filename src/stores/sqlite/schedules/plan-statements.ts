import { OVERLAP_JOBS_PER_PLAN_MAX } from "../../../core/limits.ts";
import { guardSql } from "../driver/failures.ts";
import { wakeGates, wokenAt } from "../flow/gate-sql.ts";
import { lazily } from "../lazily.ts";
import { effectiveFrom, stateAsJson } from "../ledger/changes.ts";
import { insertSkips } from "../ledger/history.ts";
import { validJson } from "../rows.ts";
import { hasMissedStart, JOB_STATE, type TableNames } from "../schema/schema.ts";

/** The statements that commit plans. A comment before each statement lists its arguments. */
export interface PlanStatements {
  readonly insertFires: string;
  /** The same as `insertFires`, in a database that needs no flow control as far as the store knows (see
   *  `JobStatements`). */
  readonly insertFiresPlainly: string;
  readonly noteOverlaps: string;
  readonly wakeReplaced: string;
  readonly removeReplaced: string;
  readonly removeReplacedParents: string;
  readonly noteReplaced: string;
  readonly skipOverlapped: string;
  readonly cancelOverlapped: string;
  readonly enterSkips: string;
  readonly insertUnskipped: string;
  readonly insertUnskippedPlainly: string;
  readonly noteFailures: string;
  readonly noteZoneRulesOfPlans: string;
  readonly commitPlans: string;
  readonly confirmPlans: string;
  readonly readOverlaps: string;
}

export function planStatements(names: TableNames): PlanStatements {
  const { schedules, jobs, tasks, links, histories, changes } = names;
  // True while the schedule of the row [scheduleId, fence, expected, ...] is as the planner saw it; ?2 now. The plus
  // signs keep SQLite from using the index of due schedules, in which many schedules may share one fire time.
  const asPlanned =
    "s.fence = r.value->>1 AND +s.next_fire_time = r.value->>2 AND +s.next_fire_time <= ?2 AND +s.paused = 0";
  const details = validJson("s.details");
  const { delayed, ready, leased } = JOB_STATE;
  // The fields that the planner knows: merging them into `{}` leaves out those that are null. No other field may go
  // through json_patch, because json_patch would remove null from metadata too.
  const known =
    "json_patch('{}', json_object('createdAt', f.value->>1, 'scheduledFireTime', f.value->>3, " +
    "'startDeadline', f.value->>5, 'missedCount', f.value->>6, 'firstMissedTime', f.value->>7, " +
    "'lastMissedTime', f.value->>8))";
  // A job with a key is delayed, so that a step that heeds flow control makes it held, and wakes its gate.
  const givenKey = `${details}->>'concurrencyKey'`;
  const insertFires = (key: string, joined = ""): string =>
    `INSERT INTO ${jobs} (id, task_id, executor, schedule_id, fire_time, idempotency_key, priority, run_at, state, ` +
    "fence, failed_attempts, recoveries, cancel_requested, details, concurrency_key, overdue_at, start_deadline) " +
    `SELECT f.value->>0, s.task_id, coalesce(${details}->>'executor', ''), s.id, f.value->>2, NULL, ` +
    `coalesce(${details}->>'priority', 0) - f.value->>9, f.value->>4, ` +
    `CASE WHEN f.value->>4 > f.value->>1 OR ${key} IS NOT NULL THEN ${delayed} ELSE ${ready} END, 0, 0, 0, 0, ` +
    `rtrim(${known}, '}') || ',"resultExpirationMs":' || coalesce(${details}->'resultExpirationMs', '0') || ` +
    `',"maxRecoveries":' || coalesce(${details}->'maxRecoveries', '0') || ` +
    `',"metadata":' || ${validJson("s.metadata")} || ` +
    `coalesce(',"payload":' || (${details}->'payload'), '') || '}', ${key}, ` +
    `f.value->>2 + coalesce(s.expect_start, s.expect_finish), f.value->>5 ` +
    `FROM json_each(?1) r CROSS JOIN ${schedules} s ON s.id = r.value->>0 ` +
    `CROSS JOIN json_each(r.value, '$[3]') f ${joined}WHERE ${asPlanned}`;
  const insertAware = insertFires(`coalesce(${givenKey}, t.own_key)`, `LEFT JOIN ${tasks} t ON t.id = s.task_id `);
  const insertPlainly = insertFires(givenKey);
  const unlessSkipped = "AND coalesce(s.overlap_note->>'isSkipped', 0) = 0";
  // A job that repeats another has the fire time of that job, but was asked for. One that has missed its start counts
  // as ended.
  const ofSchedule =
    `FROM ${jobs} j WHERE j.schedule_id = s.id AND j.fire_time IS NOT NULL ` +
    `AND ${validJson("j.details")}->>'retryOf' IS NULL AND (${hasMissedStart("?2", "j")}) IS NOT TRUE`;
  /** SQL of a JSON array: of the schedule's first jobs that fire times made and that are in `states`. */
  const first = (item: string, states: string): string =>
    `json((SELECT json_group_array(${item}) FROM (SELECT j.id, j.fire_time ${ofSchedule} AND ${states} ` +
    `ORDER BY j.fire_time LIMIT ${OVERLAP_JOBS_PER_PLAN_MAX})))`;
  const isBusy = `EXISTS (SELECT 1 ${ofSchedule})`;
  const waiting = first("json_array(id, fire_time)", `j.state <> ${leased}`);
  const running = first("id", `j.state = ${leased} AND j.cancel_requested = 0`);
  /** The ids that a list in the notes of the plans' schedules names. */
  const noted = (list: string, id: string): string =>
    `SELECT ${id} FROM json_each(?1) r CROSS JOIN ${schedules} s ON s.id = r.value->>0 ` +
    `CROSS JOIN json_each(s.overlap_note, '$.${list}') n WHERE ${asPlanned}`;

  return lazily<PlanStatements>({
    // ?1 rows [scheduleId, fence, expected, fires], each fire [jobId, createdAt, fireTime, scheduledFireTime, runAt,
    // startDeadline, missedCount, firstMissedTime, lastMissedTime, what is taken from its priority], ?2 now. Runs
    // before commitPlans, because both statements test the fence, and commitPlans raises it.
    insertFires: () => `${insertAware} ON CONFLICT DO NOTHING`,
    insertFiresPlainly: () => `${insertPlainly} ON CONFLICT DO NOTHING`,
    // The next seven serve plans of schedules whose runs may not overlap, and run in this order, before commitPlans.
    // ?1 rows [scheduleId, fence, expected, passed, policy, the fire time of the fire or null], ?2 now. Notes what is
    // in the way of the plan's fire.
    noteOverlaps: () =>
      `UPDATE ${schedules} AS s SET skipped_count = s.skipped_count + r.value->>3 + ` +
      `CASE r.value->>4 WHEN 'skip' THEN ${isBusy} ELSE json_array_length(${waiting}) END, ` +
      `overlap_note = CASE r.value->>4 WHEN 'skip' THEN json_object('isSkipped', ${isBusy}) ` +
      `WHEN 'replaceQueued' THEN json_object('replaced', ${waiting}) ` +
      `ELSE json_object('replaced', ${waiting}, 'cancelRequested', ${running}) END ` +
      `FROM json_each(?1) r WHERE s.id = r.value->>0 AND ${asPlanned}`,
    // the arguments of noteOverlaps
    wakeReplaced: () =>
      wakeGates(
        names,
        `SELECT task_id, concurrency_key, ${wokenAt("?2")} FROM ${jobs} ` +
          `WHERE id IN (${noted("replaced", "n.value->>0")}) AND concurrency_key IS NOT NULL AND state = ${ready}`,
      ),
    // Undoes the batch when a job has children, of which `removeReplacedParents` knows.
    removeReplaced: () =>
      `DELETE FROM ${jobs} WHERE id IN (${noted("replaced", "n.value->>0")}) ` +
      `RETURNING ${guardSql("has_children = 0")} AS guard`,
    // the arguments of noteOverlaps
    removeReplacedParents: () => `DELETE FROM ${jobs} WHERE id IN (${noted("replaced", "n.value->>0")})`,
    // the arguments of noteOverlaps. Runs before the jobs are removed.
    noteReplaced: () =>
      `UPDATE ${links} SET outcome = 'cancelled' WHERE outcome IS NULL ` +
      `AND parent_id IN (${noted("replaced", "n.value->>0")})`,
    // the arguments of noteOverlaps. Runs after the jobs are removed, because a skip leaves out the fire times of
    // unfinished jobs. A fire time that takes the place of its own job (the schedule was removed, and added again) is
    // not replaced.
    skipOverlapped: () => {
      const of = `FROM json_each(?1) r CROSS JOIN ${schedules} s ON s.id = r.value->>0 `;
      const history = `CROSS JOIN ${histories} h ON h.schedule_id = s.id WHERE ${asPlanned} `;
      return insertSkips(
        names,
        "SELECT h.number AS history, s.id AS schedule_id, n.value->>1 AS from_time, n.value->>1 AS until_time, " +
          `'replaced' AS verdict, 1 AS count, r.value->>5 AS into_time ${of}` +
          `CROSS JOIN json_each(s.overlap_note, '$.replaced') n ${history}AND n.value->>1 IS NOT r.value->>5 ` +
          `UNION ALL SELECT h.number, s.id, r.value->>5, r.value->>5, 'overlapSkipped', 1, NULL ${of}${history}` +
          "AND s.overlap_note->>'isSkipped' = 1 AND r.value->>5 IS NOT NULL",
      );
    },
    // the arguments of noteOverlaps
    cancelOverlapped: () =>
      `UPDATE ${jobs} SET cancel_requested = 1 WHERE id IN (${noted("cancelRequested", "n.value")})`,
    // the arguments of insertFires
    insertUnskipped: () => `${insertAware} ${unlessSkipped} ON CONFLICT DO NOTHING`,
    insertUnskippedPlainly: () => `${insertPlainly} ${unlessSkipped} ON CONFLICT DO NOTHING`,
    // ?1 rows [scheduleId, fence, expected, skips], each skip [from, until, verdict, count, into], ?2 now. Runs before
    // commitPlans.
    enterSkips: () =>
      insertSkips(
        names,
        "SELECT h.number AS history, h.schedule_id AS schedule_id, f.value->>0 AS from_time, " +
          "f.value->>1 AS until_time, f.value->>2 AS verdict, f.value->>3 AS count, f.value->>4 AS into_time " +
          `FROM json_each(?1) r CROSS JOIN ${schedules} s ON s.id = r.value->>0 ` +
          `CROSS JOIN ${histories} h ON h.schedule_id = s.id CROSS JOIN json_each(r.value, '$[3]') f ` +
          `WHERE ${asPlanned}`,
      ),
    // ?1 rows of commitPlans that pause their schedules, ?2 now, ?3 schedulerId. Runs before commitPlans.
    noteFailures: () =>
      `INSERT INTO ${changes} (schedule_id, at, made_by, kind, former, latter, effective_from) ` +
      `SELECT s.id, ?2, ?3, 'failed', ${stateAsJson("s")}, ` +
      `json_set(${stateAsJson("s")}, '$.paused', 1, '$.nextFireTime', r.value->>3), ` +
      `${effectiveFrom("r.value->>3", "s.last_fire_time", "?2")} ` +
      `FROM json_each(?1) r CROSS JOIN ${schedules} s ON s.id = r.value->>0 WHERE ${asPlanned}`,
    // ?1 rows [scheduleId, fence, expected, zoneRules], ?2 now. Runs before commitPlans, and only for plans that change
    // them, because commitPlans would otherwise write the index of zone rules anew.
    noteZoneRulesOfPlans: () =>
      `UPDATE ${schedules} AS s SET zone_rules = r.value->>3 FROM json_each(?1) r ` +
      `WHERE s.id = r.value->>0 AND ${asPlanned}`,
    // ?1 rows [scheduleId, fence, expected, nextFireTime, lastFireTime, paused, isFavourite, paceUntil],
    // ?2 now, ?3 stepId, ?4 schedulerId
    commitPlans: () =>
      `UPDATE ${schedules} AS s SET next_fire_time = r.value->>3, last_fire_time = r.value->>4, ` +
      "paused = r.value->>5, pace_until = r.value->>7, fence = s.fence + 1, " +
      "preferred_scheduler = CASE WHEN r.value->>6 THEN ?4 END, " +
      `changed_by = ?3 FROM json_each(?1) r WHERE s.id = r.value->>0 AND ${asPlanned}`,
    // Follows commitPlans. ?1 rows [scheduleId, fence], ?2 ids of jobs, ?3 stepId. Columns: `changes`, how many plans
    // this very try committed; `committed`, the places (in ?1) of the plans that any try of the step committed;
    // `existing`, the places (in ?2) of the jobs that exist.
    confirmPlans: () =>
      "SELECT changes() AS changes, " +
      `(SELECT json_group_array(r.key) FROM json_each(?1) r CROSS JOIN ${schedules} s ON s.id = r.value->>0 ` +
      "WHERE s.fence = (r.value->>1) + 1 AND s.changed_by = ?3) AS committed, " +
      `(SELECT json_group_array(r.key) FROM json_each(?2) r CROSS JOIN ${jobs} j ON j.id = r.value) AS existing`,
    // Follows commitPlans. ?1 rows [scheduleId, fence], ?2 stepId. Yields rows [place in ?1, note] of the plans that
    // any try of the step committed.
    readOverlaps: () =>
      "SELECT json_group_array(json_array(r.key, json(s.overlap_note))) AS overlaps " +
      `FROM json_each(?1) r CROSS JOIN ${schedules} s ON s.id = r.value->>0 ` +
      "WHERE s.fence = (r.value->>1) + 1 AND s.changed_by = ?2",
  });
}
