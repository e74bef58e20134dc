import { OVERLAP_JOBS_PER_PLAN_MAX } from "../../../shared/limits.ts";
import type { PlanStatements } from "../../schedules/plan-commits.ts";
import { JOB_STATE, type TableNames } from "../../schema/tables.ts";
import { lazily, validJson } from "../../sql-and-json.ts";
import { guardSql } from "../driver/driver-and-failures.ts";
import { markDirty } from "../flow-control/key-limiters.ts";
import { effectiveFrom, stateAsJson } from "../history/audit-of-changes.ts";
import { insertSkips, isOf } from "../history/history-writes.ts";
import { isDueUnstarted, isMadeByPlan } from "../jobs/job-rows.ts";
import { beginDetailsAs } from "../lists/label-index.ts";
import { hasMissedStart } from "../schema/tables.ts";
import { blackoutsVersion } from "./blackouts.ts";

export function planStatements(names: TableNames): PlanStatements {
  const { schedules, jobs, tasks, dependencies, histories, runs, skips, changes } = names;
  // True while the schedule of the row [scheduleId, fence, expected, ...], and the blackouts, are as the planner saw
  // them; ?2 now. The fence of the row is the sum of the schedule's fence and of the version of the blackouts. Both
  // only grow, so that the sum is the same only if both are. The plus signs keep SQLite from using the index of due
  // schedules, in which many schedules may share one fire time.
  const asPlanned =
    `s.fence + coalesce((${blackoutsVersion(names)}), 0) = r.value->>1 AND +s.next_fire_time = r.value->>2 ` +
    "AND +s.next_fire_time <= ?2 AND +s.paused = 0";
  const details = validJson("s.details");
  const { delayed, ready, leased } = JOB_STATE;
  // The fields that the planner knows: merging them into `{}` leaves out those that are null. No other field may go
  // through json_patch, because json_patch would remove null from metadata too.
  const known =
    "json_patch('{}', json_object('createdAt', f.value->>1, 'scheduledFireTime', f.value->>3, " +
    "'startDeadline', f.value->>5, 'missedCount', f.value->>6, 'firstMissedTime', f.value->>7, " +
    "'lastMissedTime', f.value->>8))";
  // A job with a key is delayed, so that a commit with flow control blocks it, and marks its limiter. Without flow
  // control (see `FlowState`) the key of the task is not looked up.
  const key = `coalesce(${details}->>'concurrencyKey', t.own_key)`;
  const insertFires =
    `INSERT INTO ${jobs} (id, task_id, executor, schedule_id, fire_time, idempotency_key, priority, run_at, state, ` +
    "fence, failed_attempts, recoveries, cancel_requested, details, concurrency_key, overdue_at, start_deadline) " +
    `SELECT f.value->>0, s.task_id, coalesce(${details}->>'executor', ''), s.id, f.value->>2, NULL, ` +
    `coalesce(${details}->>'priority', 0) - f.value->>9, f.value->>4, ` +
    `CASE WHEN f.value->>4 > f.value->>1 OR ${key} IS NOT NULL THEN ${delayed} ELSE ${ready} END, 0, 0, 0, 0, ` +
    `${beginDetailsAs(details)} || substr(rtrim(${known}, '}'), 2) || ',"resultExpirationMs":' || ` +
    `coalesce(${details}->'resultExpirationMs', '0') || ` +
    `coalesce(',"failureExpirationMs":' || (${details}->'failureExpirationMs'), '') || ` +
    `',"maxRecoveries":' || coalesce(${details}->'maxRecoveries', '0') || ` +
    `',"metadata":' || ${validJson("s.metadata")} || ` +
    `coalesce(',"pauseAfterFailures":' || (${details}->'pauseAfterFailures'), '') || ` +
    `coalesce(',"payload":' || (${details}->'payload'), '') || '}', ${key}, ` +
    `f.value->>2 + coalesce(s.expect_start, s.expect_finish), f.value->>5 ` +
    `FROM json_each(?1) r CROSS JOIN ${schedules} s ON s.id = r.value->>0 ` +
    `CROSS JOIN json_each(r.value, '$[3]') f LEFT JOIN ${tasks} t ON t.id = CASE WHEN ?3 THEN s.task_id END ` +
    `WHERE ${asPlanned} ` +
    // Only a schedule that was taken back from where a wrong clock had moved it fires behind its last fire time.
    "AND NOT (coalesce(s.last_fire_time >= f.value->>2, 0) AND EXISTS (SELECT 1 FROM " +
    `${histories} h CROSS JOIN ${runs} d ON ${isOf("h.number", "d")} AND d.fire_time = f.value->>2 ` +
    "WHERE h.schedule_id = s.id))";
  const unlessSkipped = "AND coalesce(s.overlap_note->>'isSkipped', 0) = 0";
  // One that has missed its start counts as ended.
  const ofSchedule =
    `FROM ${jobs} j WHERE j.schedule_id = s.id AND j.fire_time IS NOT NULL ` +
    `AND ${isMadeByPlan("j")} AND (${hasMissedStart("?2", "j")}) IS NOT TRUE`;
  /** SQL of a JSON array: of the schedule's first jobs that fire times made and that are in `states`. */
  const first = (item: string, states: string): string =>
    `json((SELECT json_group_array(${item}) FROM (SELECT j.id, j.fire_time ${ofSchedule} AND ${states} ` +
    `ORDER BY j.fire_time LIMIT ${OVERLAP_JOBS_PER_PLAN_MAX})))`;
  const isBusy = `EXISTS (SELECT 1 ${ofSchedule})`;
  const waiting = first("json_array(id, fire_time)", `j.state <> ${leased}`);
  // The fire of the row `r`, and the jobs up to it that miss their turn, by fire time: one of them stands for all. A
  // fire takes the place of its own job, which was there before the schedule was removed and added again.
  const isOldest = "r.value->>4 = 'earliest'";
  const isStoodFor = `CASE WHEN ${isOldest} THEN place > 1 OR at = r.value->>5 ELSE back > 1 END`;
  const ofMissed = ["missedCount", "firstMissedTime", "lastMissedTime"].map(
    (name) => `${validJson("j.details")}->>'${name}' AS ${name}`,
  );
  const missed =
    "SELECT *, row_number() OVER (ORDER BY at DESC, id IS NULL DESC) AS back, " +
    "row_number() OVER (ORDER BY at) AS place, " +
    `CASE WHEN ${isOldest} THEN min(at) OVER () ELSE max(at) OVER () END AS into_time, ` +
    // Whether it stands for what those before it stand for.
    "max(max(at, coalesce(lastMissedTime, at))) OVER (ORDER BY at, id IS NULL " +
    "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) >= min(at, coalesce(firstMissedTime, at)) AS is_again " +
    "FROM (SELECT * FROM (SELECT j.id, j.fire_time AS at, " +
    // What is told of already, or is about the end of another job, is later.
    "CASE WHEN j.overdue_at <= j.fire_time + coalesce(s.expect_start, s.expect_finish) THEN j.overdue_at END AS due, " +
    `${ofMissed.join(", ")} FROM ${jobs} j WHERE j.schedule_id = s.id AND j.fire_time <= r.value->>5 ` +
    `AND ${isDueUnstarted("j", "?2")} AND NOT EXISTS (SELECT 1 ${ofSchedule} AND j.state = ${leased}) ` +
    `ORDER BY j.fire_time LIMIT ${OVERLAP_JOBS_PER_PLAN_MAX}) ` +
    // One that is still to come takes the place of none that is due.
    "UNION ALL SELECT NULL, r.value->>5, NULL, r.value->>6, r.value->>7, r.value->>8 " +
    `WHERE ${isOldest} OR r.value->>9 <= ?2) ORDER BY at`;
  const end = (which: "min" | "max", name: string): string =>
    `${which}(CASE WHEN at <> into_time THEN ${which}(at, coalesce(${name}, at)) ELSE ${name} END)`;
  const from = end("min", "firstMissedTime");
  const coalesced =
    `json_object('isSkipped', ${isOldest} AND min(at) < r.value->>5, 'into', min(into_time), ` +
    "'at', json_group_array(at), 'due', min(due), " +
    `'replaced', json_group_array(json_array(id, at)) FILTER (WHERE id IS NOT NULL AND ${isStoodFor}), ` +
    "'missed', json_array(CASE WHEN count(missedCount) = count(*) AND max(coalesce(is_again, 0)) = 0 " +
    "THEN sum(missedCount) + count(*) - 1 END, " +
    `${from}, ${end("max", "lastMissedTime")}))`;
  const running = first("id", `j.state = ${leased} AND j.cancel_requested = 0`);
  /** The ids that a list in the notes of the plans' schedules names. */
  const noted = (list: string, id: string): string =>
    `SELECT ${id} FROM json_each(?1) r CROSS JOIN ${schedules} s ON s.id = r.value->>0 ` +
    `CROSS JOIN json_each(s.overlap_note, '$.${list}') n WHERE ${asPlanned}`;

  return lazily<PlanStatements>({
    // ?1 rows [scheduleId, fence, expected, fires], each fire [jobId, createdAt, fireTime, scheduledFireTime, runAt,
    // startDeadline, missedCount, firstMissedTime, lastMissedTime, what is taken from its priority], ?2 now, ?3 whether
    // there is flow control. Runs
    // before commitPlans, because both statements test the fence, and commitPlans raises it.
    insertFires: () => `${insertFires} ON CONFLICT DO NOTHING`,
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
    // ?1 rows [scheduleId, fence, expected, 0, policy, the fire time of the fire, and its missedCount, firstMissedTime,
    // lastMissedTime and runAt], ?2 now. Does the same for plans of schedules whose jobs miss their turn.
    noteMissed: () =>
      `UPDATE ${schedules} AS s SET overlap_note = (SELECT ` +
      `CASE WHEN count(id) > 0 AND count(*) > 1 AND ${from} IS NOT NULL THEN ${coalesced} ` +
      `ELSE json_object('replaced', json_array()) END FROM (${missed})) ` +
      `FROM json_each(?1) r WHERE s.id = r.value->>0 AND ${asPlanned}`,
    // The arguments of noteMissed. Runs after insertUnskipped, and the next two after enterSkips.
    standForMissed: () =>
      `UPDATE ${jobs} SET details = json_set(${validJson(`${jobs}.details`)}, ` +
      `'$.missedCount', s.overlap_note->'$.missed[0]', '$.firstMissedTime', s.overlap_note->'$.missed[1]', ` +
      "'$.lastMissedTime', s.overlap_note->'$.missed[2]'), " +
      "overdue_at = coalesce(min(overdue_at, s.overlap_note->>'due'), overdue_at) FROM json_each(?1) r " +
      `CROSS JOIN ${schedules} s ON s.id = r.value->>0 WHERE ${asPlanned} ` +
      `AND ${jobs}.schedule_id = s.id AND ${jobs}.fire_time = s.overlap_note->>'into'`,
    // the arguments of noteMissed
    forgetCoalesced: () =>
      `DELETE FROM ${skips} WHERE (history, from_time) IN (SELECT k.history, k.from_time FROM json_each(?1) r ` +
      `CROSS JOIN ${schedules} s ON s.id = r.value->>0 CROSS JOIN ${histories} h ON h.schedule_id = s.id ` +
      `CROSS JOIN ${skips} k ON k.history = h.number ` +
      "AND k.from_time >= s.overlap_note->>'$.missed[1]' AND k.until_time <= s.overlap_note->>'$.missed[2]' " +
      `WHERE ${asPlanned} AND k.verdict = 'coalesced' ` +
      "AND k.into_time IN (SELECT a.value FROM json_each(s.overlap_note, '$.at') a))",
    // the arguments of noteMissed
    enterCoalesced: () =>
      insertSkips(
        names,
        "SELECT h.number AS history, s.id AS schedule_id, s.overlap_note->>'$.missed[1]' AS from_time, " +
          "s.overlap_note->>'$.missed[2]' AS until_time, 'coalesced' AS verdict, " +
          "s.overlap_note->>'$.missed[0]' AS count, s.overlap_note->>'into' AS into_time FROM json_each(?1) r " +
          `CROSS JOIN ${schedules} s ON s.id = r.value->>0 CROSS JOIN ${histories} h ON h.schedule_id = s.id ` +
          `WHERE ${asPlanned} AND s.overlap_note->>'into' IS NOT NULL`,
      ),
    // the arguments of noteOverlaps
    markReplaced: () =>
      markDirty(
        names,
        `SELECT task_id, concurrency_key, CAST(?2 AS INTEGER) FROM ${jobs} ` +
          `WHERE id IN (${noted("replaced", "n.value->>0")}) AND concurrency_key IS NOT NULL AND state = ${ready}`,
      ),
    // the arguments of noteOverlaps
    endReplaced: () =>
      `UPDATE ${dependencies} SET outcome = 'cancelled' WHERE outcome IS NULL ` +
      `AND parent_id IN (${noted("replaced", "n.value->>0")})`,
    // the arguments of noteOverlaps, and ?3 whether endReplaced has run. If not, and a job has children, the batch is
    // undone.
    removeReplaced: () =>
      `DELETE FROM ${jobs} WHERE id IN (${noted("replaced", "n.value->>0")}) ` +
      `RETURNING ${guardSql("?3 OR has_children = 0")} AS guard`,
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
    insertUnskipped: () => `${insertFires} ${unlessSkipped} ON CONFLICT DO NOTHING`,
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
    // ?1 rows [scheduleId, fence, expected, nextFireTime, pauseReason] of plans that pause their schedules, ?2 now,
    // ?3 schedulerId. Runs before commitPlans, and so does the next one.
    recordFailures: () =>
      `INSERT INTO ${changes} (schedule_id, at, made_by, kind, former, latter, effective_from) ` +
      `SELECT s.id, ?2, ?3, 'failed', ${stateAsJson("s")}, ` +
      `json_set(${stateAsJson("s")}, '$.paused', 1, '$.nextFireTime', r.value->>3, '$.pauseReason', r.value->>4), ` +
      `${effectiveFrom("r.value->>3", "s.last_fire_time", "?2")} ` +
      `FROM json_each(?1) r CROSS JOIN ${schedules} s ON s.id = r.value->>0 WHERE ${asPlanned}`,
    notePauses: () =>
      `UPDATE ${schedules} AS s SET pause_reason = r.value->>4, paused_by = ?3 FROM json_each(?1) r ` +
      `WHERE s.id = r.value->>0 AND ${asPlanned}`,
    // ?1 rows [scheduleId, fence, expected, zoneRules], ?2 now. Runs before commitPlans, and only for plans that change
    // them, because commitPlans would otherwise write the index of zone rules anew.
    setZoneRulesOfPlans: () =>
      `UPDATE ${schedules} AS s SET zone_rules = r.value->>3 FROM json_each(?1) r ` +
      `WHERE s.id = r.value->>0 AND ${asPlanned}`,
    // ?1 rows [scheduleId, fence, expected, nextFireTime, lastFireTime, paused, isPreferred, paceUntil],
    // ?2 now, ?3 commitId, ?4 schedulerId
    commitPlans: () =>
      `UPDATE ${schedules} AS s SET next_fire_time = r.value->>3, last_fire_time = r.value->>4, ` +
      "paused = r.value->>5, pace_until = r.value->>7, fence = s.fence + 1, " +
      "preferred_scheduler = CASE WHEN r.value->>6 THEN ?4 END, " +
      `changed_by = ?3 FROM json_each(?1) r WHERE s.id = r.value->>0 AND ${asPlanned}`,
    // Follows commitPlans. ?1 rows [scheduleId, fence], ?2 ids of jobs, ?3 commitId. Columns: `changes`, how many plans
    // this very try committed; `committed`, the places (in ?1) of the plans that any try of the commit committed;
    // `existing`, the places (in ?2) of the jobs that exist.
    confirmPlans: () =>
      "SELECT changes() AS changes, " +
      `(SELECT json_group_array(r.key) FROM json_each(?1) r CROSS JOIN ${schedules} s ON s.id = r.value->>0 ` +
      "WHERE s.fence = (r.value->>1) + 1 AND s.changed_by = ?3) AS committed, " +
      `(SELECT json_group_array(r.key) FROM json_each(?2) r CROSS JOIN ${jobs} j ON j.id = r.value) AS existing`,
    // Follows commitPlans. ?1 rows [scheduleId, fence], ?2 commitId. Yields rows [place in ?1, note] of the plans that
    // any try of the commit committed.
    readOverlaps: () =>
      "SELECT json_group_array(json_array(r.key, json(s.overlap_note))) AS overlaps " +
      `FROM json_each(?1) r CROSS JOIN ${schedules} s ON s.id = r.value->>0 ` +
      "WHERE s.fence = (r.value->>1) + 1 AND s.changed_by = ?2",
  });
}
