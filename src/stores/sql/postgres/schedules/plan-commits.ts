import { OVERLAP_JOBS_PER_PLAN_MAX } from "../../../shared/limits.ts";
import type { PlanStatements } from "../../schedules/plan-commits.ts";
import { JOB_STATE } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { markDirty } from "../flow-control/key-limiters.ts";
import { effectiveFrom, stateAsJson } from "../history/audit-of-changes.ts";
import { insertSkips, isOf } from "../history/history-writes.ts";
import { hasMissedStart, isDueUnstarted, isMadeByPlan } from "../jobs/job-rows.ts";
import { guardSql, type PostgresNames } from "../schema/names.ts";
import { type Stored, storedWrite } from "../schema/stored.ts";
import { CHANGES, rowsOf, textsOf } from "../sql-and-json.ts";
import { blackoutsVersion } from "./blackouts-and-zones.ts";

const { delayed, ready, leased } = JOB_STATE;

/** The rows of plans `r`, each of which begins with what the planner saw. */
function plans(more = ""): string {
  return rowsOf("?1", "r", `id text, fence bigint, expected bigint${more}`);
}

const OVERLAPS = ", passed bigint, policy text, fire_time bigint";
const MISSED = `${OVERLAPS}, missed bigint, first bigint, last bigint, run_at bigint`;

interface PlanSql {
  /** SQL of whether a schedule `s` is as the planner of the row `r` saw it. */
  readonly ofPlan: string;
  /** A statement that inserts the jobs of fires. */
  readonly insertFires: (condition: string) => string;
}

function planSql(names: PostgresNames): PlanSql {
  const { schedules, jobs, tasks, histories, runs, inSchema } = names;
  // True while the schedule `s` of the row `r`, and the blackouts, are as the planner saw them; ?2 now. The fence of
  // the
  // row is the sum of the schedule's fence and of the version of the blackouts.
  const asPlanned =
    `s.fence + coalesce((${blackoutsVersion(names)}), 0) = r.fence AND s.next_fire_time = r.expected ` +
    "AND s.next_fire_time <= ?2 AND s.paused = 0";
  const ofPlan = `s.id = r.id AND ${asPlanned}`;
  // A job with a key is delayed, so that a commit with flow control blocks it, and marks its limiter. Without flow
  // control (see `FlowState`) the key of the task is not looked up.
  const key = "coalesce(s.details->>'concurrencyKey', t.own_key)";
  const ofFire = [
    "createdAt",
    null,
    "scheduledFireTime",
    null,
    "startDeadline",
    "missedCount",
    "firstMissedTime",
  ].flatMap((name, index) => (name === null ? [] : [`'${name}', f.v->${index + 1}`]));
  const field = (name: string): string => `'${name}', s.details->'${name}'`;
  const number = (name: string): string => `'${name}', coalesce(s.details->'${name}', '0')`;
  const details = `${inSchema}merged('{}', json_build_object(${[
    field("labels"),
    ...ofFire,
    "'lastMissedTime', f.v->8",
    number("resultExpirationMs"),
    field("failureExpirationMs"),
    number("maxRecoveries"),
    "'metadata', s.metadata",
    field("pauseAfterFailures"),
    field("payload"),
  ].join(", ")}))`;
  const time = (place: number): string => `(f.v->>${place})::bigint`;
  const insertFires = (condition: string): string =>
    `INSERT INTO ${jobs} (id, task_id, executor, schedule_id, fire_time, idempotency_key, priority, run_at, state, ` +
    "fence, failed_attempts, recoveries, cancel_requested, details, concurrency_key, overdue_at, start_deadline) " +
    `SELECT f.v->>0, s.task_id, coalesce(s.details->>'executor', ''), s.id, ${time(2)}, NULL, ` +
    `coalesce((s.details->>'priority')::double precision, 0) - (f.v->>9)::double precision, ${time(4)}, ` +
    `CASE WHEN ${time(4)} > ${time(1)} OR ${key} IS NOT NULL THEN ${delayed} ELSE ${ready} END, 0, 0, 0, 0, ` +
    `${details}, ${key}, ${time(2)} + coalesce(s.expect_start, s.expect_finish), ${time(5)} ` +
    `FROM ${plans(", fires json")} JOIN ${schedules} s ON ${ofPlan}${condition} ` +
    "CROSS JOIN LATERAL json_array_elements(r.fires) WITH ORDINALITY f(v, place) " +
    `LEFT JOIN ${tasks} t ON t.id = CASE WHEN ?3 = 1 THEN s.task_id END ` +
    // Only a schedule that was taken back from where a wrong clock had moved it fires behind its last fire time.
    `WHERE NOT (coalesce(s.last_fire_time >= ${time(2)}, false) AND EXISTS (SELECT 1 FROM ${histories} h ` +
    `JOIN ${runs} d ON ${isOf("h.number", "d")} AND d.fire_time = ${time(2)} WHERE h.schedule_id = s.id)) ` +
    `ORDER BY r.key, f.place ON CONFLICT DO NOTHING`;
  return { ofPlan, insertFires };
}

const TYPES = ["json", "bigint"];

/** What the commit of every plan writes. */
export function storedPlans(names: PostgresNames): Readonly<Record<"insertFires" | "commitPlans", Stored>> {
  const { ofPlan, insertFires } = planSql(names);
  const commit =
    `UPDATE ${names.schedules} AS s SET next_fire_time = r.next, last_fire_time = r.last, ` +
    "paused = CASE WHEN r.paused THEN 1 ELSE 0 END, pace_until = r.pace_until, fence = s.fence + 1, " +
    "preferred_scheduler = CASE WHEN r.is_preferred THEN ?4 END, changed_by = ?3 " +
    `FROM ${plans(", next bigint, last bigint, paused boolean, is_preferred boolean, pace_until bigint")} ` +
    `WHERE ${ofPlan}`;
  return {
    insertFires: storedWrite(names, { name: "insert_fires", types: [...TYPES, "bigint"], sql: insertFires("") }),
    commitPlans: storedWrite(names, { name: "commit_plans", types: [...TYPES, "text", "text"], sql: commit }, true),
  };
}

/** The arguments are those of the statements on SQLite's SQL. */
export function planStatements(names: PostgresNames): PlanStatements {
  const { schedules, jobs, dependencies, histories, skips, changes, inSchema } = names;
  const { ofPlan, insertFires } = planSql(names);
  // One that has missed its start counts as ended.
  const ofSchedule =
    `FROM ${jobs} j WHERE j.schedule_id = s.id AND j.fire_time IS NOT NULL ` +
    `AND ${isMadeByPlan("j")} AND (${hasMissedStart("?2", "j")}) IS NOT TRUE`;
  /** SQL of a JSON array: of the schedule's first jobs that fire times made and that are in `states`. */
  const first = (item: string, states: string): string =>
    `coalesce((SELECT json_agg(${item} ORDER BY i.fire_time) FROM (SELECT j.id, j.fire_time ${ofSchedule} AND ` +
    `${states} ` +
    `ORDER BY j.fire_time LIMIT ${OVERLAP_JOBS_PER_PLAN_MAX}) i), '[]')`;
  const isBusy = `CASE WHEN EXISTS (SELECT 1 ${ofSchedule}) THEN 1 ELSE 0 END`;
  const waiting = first("json_build_array(i.id, i.fire_time)", `j.state <> ${leased}`);
  // The fire of the row `r`, and the jobs up to it that miss their turn, by fire time: one of them stands for all. A
  // fire takes the place of its own job, which was there before the schedule was removed and added again.
  const isOldest = "r.policy = 'earliest'";
  const isStoodFor = `CASE WHEN ${isOldest} THEN m.place > 1 OR m.at = r.fire_time ELSE m.back > 1 END`;
  const fact = (name: string): string => `(j.details->>'${name}')::bigint`;
  const missed =
    "SELECT u.*, row_number() OVER (ORDER BY u.at DESC, u.id IS NULL DESC) AS back, " +
    "row_number() OVER (ORDER BY u.at) AS place, " +
    `CASE WHEN ${isOldest} THEN min(u.at) OVER () ELSE max(u.at) OVER () END AS into_time, ` +
    // Whether it stands for what those before it stand for.
    "max(greatest(u.at, u.last)) OVER (ORDER BY u.at, u.id IS NULL " +
    "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) >= least(u.at, u.first) AS is_again " +
    "FROM ((SELECT j.id, j.fire_time AS at, " +
    // What is told of already, or is about the end of another job, is later.
    "CASE WHEN j.overdue_at <= j.fire_time + coalesce(s.expect_start, s.expect_finish) THEN j.overdue_at END AS due, " +
    `${fact("missedCount")} AS missed, ${fact("firstMissedTime")} AS first, ${fact("lastMissedTime")} AS last ` +
    `FROM ${jobs} j WHERE j.schedule_id = s.id AND j.fire_time <= r.fire_time AND ${isDueUnstarted("j", "?2")} ` +
    `AND NOT EXISTS (SELECT 1 ${ofSchedule} AND j.state = ${leased}) ` +
    `ORDER BY j.fire_time LIMIT ${OVERLAP_JOBS_PER_PLAN_MAX}) ` +
    // One that is still to come takes the place of none that is due.
    `UNION ALL SELECT NULL, r.fire_time, NULL, r.missed, r.first, r.last WHERE ${isOldest} OR r.run_at <= ?2) u`;
  const end = (which: "min" | "max", name: string): string => {
    const both = `${which === "min" ? "least" : "greatest"}(m.at, m.${name})`;
    return `${which}(CASE WHEN m.at <> m.into_time THEN ${both} ELSE m.${name} END)`;
  };
  const from = end("min", "first");
  const coalesced =
    `json_build_object('isSkipped', CASE WHEN ${isOldest} AND min(m.at) < r.fire_time THEN 1 ELSE 0 END, ` +
    `'into', min(m.into_time), 'at', json_agg(m.at), 'due', min(m.due), 'replaced', ` +
    "coalesce(json_agg(json_build_array(m.id, m.at) ORDER BY m.at) " +
    `FILTER (WHERE m.id IS NOT NULL AND ${isStoodFor}), ` +
    "'[]'), 'missed', json_build_array(CASE WHEN count(m.missed) = count(*) AND bool_or(m.is_again) IS NOT TRUE " +
    `THEN sum(m.missed) + count(*) - 1 END, ${from}, ${end("max", "last")}))`;
  const ofMissed = (place: number): string => `(s.overlap_note->'missed'->>${place})::bigint`;
  const running = first("i.id", `j.state = ${leased} AND j.cancel_requested = 0`);
  /** The ids that a list in the notes of the plans' schedules names. */
  const noted = (list: string, id: string): string =>
    `SELECT ${id} FROM ${plans()} JOIN ${schedules} s ON ${ofPlan} ` +
    `CROSS JOIN LATERAL json_array_elements(s.overlap_note->'${list}') n`;
  const replaced = noted("replaced", "n->>0");
  const committed = (rows: string, commitId: string): string =>
    `FROM ${rowsOf(rows, "r", "id text, fence bigint")} JOIN ${schedules} s ON s.id = r.id ` +
    `WHERE s.fence = r.fence + 1 AND s.changed_by = ${commitId}`;

  return lazily<PlanStatements>({
    insertFires: () => storedPlans(names).insertFires.statement,
    noteOverlaps: () =>
      `UPDATE ${schedules} AS s SET skipped_count = s.skipped_count + r.passed + ` +
      `CASE r.policy WHEN 'skip' THEN ${isBusy} ELSE json_array_length(${waiting}) END, ` +
      `overlap_note = CASE r.policy WHEN 'skip' THEN json_build_object('isSkipped', ${isBusy}) ` +
      `WHEN 'replaceQueued' THEN json_build_object('replaced', ${waiting}) ` +
      `ELSE json_build_object('replaced', ${waiting}, 'cancelRequested', ${running}) END ` +
      `FROM ${plans(OVERLAPS)} WHERE ${ofPlan}`,
    noteMissed: () =>
      `UPDATE ${schedules} AS s SET overlap_note = (SELECT ` +
      `CASE WHEN count(m.id) > 0 AND count(*) > 1 AND ${from} IS NOT NULL THEN ${coalesced} ` +
      `ELSE json_build_object('replaced', json_build_array()) END FROM (${missed}) m) ` +
      `FROM ${plans(MISSED)} WHERE ${ofPlan}`,
    standForMissed: () =>
      `UPDATE ${jobs} AS j SET details = ${inSchema}merged(j.details, json_build_object('missedCount', ` +
      `${ofMissed(0)}, 'firstMissedTime', ${ofMissed(1)}, 'lastMissedTime', ${ofMissed(2)})), ` +
      "overdue_at = CASE WHEN j.overdue_at IS NOT NULL " +
      "THEN least(j.overdue_at, (s.overlap_note->>'due')::bigint) END " +
      `FROM ${plans(MISSED)} JOIN ${schedules} s ON ${ofPlan} ` +
      "WHERE j.schedule_id = s.id AND j.fire_time = (s.overlap_note->>'into')::bigint",
    forgetCoalesced: () =>
      `DELETE FROM ${skips} k USING ${plans(MISSED)} JOIN ${schedules} s ON ${ofPlan} ` +
      `JOIN ${histories} h ON h.schedule_id = s.id WHERE k.history = h.number ` +
      `AND k.from_time >= ${ofMissed(1)} AND k.until_time <= ${ofMissed(2)} AND k.verdict = 'coalesced' ` +
      "AND k.into_time IN (SELECT a::bigint FROM json_array_elements_text(s.overlap_note->'at') a)",
    enterCoalesced: () =>
      insertSkips(
        names,
        `SELECT h.number, s.id, ${ofMissed(1)}, ${ofMissed(2)}, 'coalesced', ${ofMissed(0)}, ` +
          `(s.overlap_note->>'into')::bigint FROM ${plans(MISSED)} JOIN ${schedules} s ON ${ofPlan} ` +
          `JOIN ${histories} h ON h.schedule_id = s.id WHERE s.overlap_note->>'into' IS NOT NULL`,
      ),
    markReplaced: () =>
      markDirty(
        names,
        `SELECT j.task_id, j.concurrency_key, ?2::bigint FROM ${jobs} j ` +
          `WHERE j.id IN (${replaced}) AND j.concurrency_key IS NOT NULL AND j.state = ${ready}`,
      ),
    endReplaced: () =>
      `UPDATE ${dependencies} SET outcome = 'cancelled' WHERE outcome IS NULL AND parent_id IN (${replaced})`,
    removeReplaced: () =>
      `DELETE FROM ${jobs} j WHERE j.id IN (${replaced}) ` +
      `RETURNING ${guardSql(names, "?3 = 1 OR j.has_children = 0")} AS guard`,
    skipOverlapped: () => {
      const of =
        `FROM ${plans(OVERLAPS)} JOIN ${schedules} s ON ${ofPlan} ` + `JOIN ${histories} h ON h.schedule_id = s.id `;
      return insertSkips(
        names,
        "SELECT h.number, s.id, (n->>1)::bigint, (n->>1)::bigint, 'replaced', 1, r.fire_time " +
          `${of} CROSS JOIN LATERAL json_array_elements(s.overlap_note->'replaced') n ` +
          "WHERE (n->>1)::bigint IS DISTINCT FROM r.fire_time " +
          `UNION ALL SELECT h.number, s.id, r.fire_time, r.fire_time, 'overlapSkipped', 1, NULL ${of}` +
          "WHERE s.overlap_note->>'isSkipped' = '1' AND r.fire_time IS NOT NULL",
      );
    },
    cancelOverlapped: () =>
      `UPDATE ${jobs} SET cancel_requested = 1 WHERE id IN (${noted("cancelRequested", "n #>> '{}'")})`,
    insertUnskipped: () => insertFires(" AND coalesce(s.overlap_note->>'isSkipped', '0') = '0'"),
    enterSkips: () =>
      insertSkips(
        names,
        "SELECT h.number, h.schedule_id, (f->>0)::bigint, (f->>1)::bigint, f->>2, (f->>3)::bigint, (f->>4)::bigint " +
          `FROM ${plans(", skips json")} JOIN ${schedules} s ON ${ofPlan} JOIN ${histories} h ON h.schedule_id ` +
          `= s.id ` +
          "CROSS JOIN LATERAL json_array_elements(r.skips) f",
      ),
    recordFailures: () =>
      `INSERT INTO ${changes} (schedule_id, at, made_by, kind, former, latter, effective_from) ` +
      `SELECT s.id, ?2::bigint, ?3, 'failed', ${stateAsJson("s")}::json, ` +
      `${inSchema}merged(${stateAsJson("s")}::json, ` +
      "json_build_object('paused', 1, 'nextFireTime', r.next, 'pauseReason', r.reason)), " +
      `${effectiveFrom("r.next", "s.last_fire_time", "?2::bigint")} ` +
      `FROM ${plans(", next bigint, reason text")} JOIN ${schedules} s ON ${ofPlan} ORDER BY r.key`,
    notePauses: () =>
      `UPDATE ${schedules} AS s SET pause_reason = r.reason, paused_by = ?3 ` +
      `FROM ${plans(", next bigint, reason text")} WHERE ${ofPlan}`,
    setZoneRulesOfPlans: () =>
      `UPDATE ${schedules} AS s SET zone_rules = r.zone_rules FROM ${plans(", zone_rules text")} WHERE ${ofPlan}`,
    commitPlans: () => storedPlans(names).commitPlans.statement,
    confirmPlans: () =>
      `SELECT ${CHANGES} AS changes, (SELECT json_agg(r.key)::text ${committed("?1", "?3")}) AS committed, ` +
      `(SELECT json_agg(a.key)::text FROM ${textsOf("?2", "a")} JOIN ${jobs} j ON j.id = a.value) AS existing`,
    readOverlaps: () =>
      `SELECT json_agg(json_build_array(r.key, s.overlap_note))::text AS overlaps ${committed("?1", "?2")}`,
  });
}
