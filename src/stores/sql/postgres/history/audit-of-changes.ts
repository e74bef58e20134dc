import { CHANGES_KEPT_MAX, CLOCK_TOLERANCE_MS } from "../../../shared/limits.ts";
import { SCHEDULE_SETTINGS } from "../../../shared/schedule-changes.ts";
import type { ByOrder, ChangeStatements } from "../../history/audit-of-changes.ts";
import { REMOVED } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { scanStatement } from "../lists/lists.ts";
import { exhaustedSchedules, hasExpectedFence, isFailing } from "../schedules/schedule-conditions.ts";
import type { PostgresNames } from "../schema/names.ts";
import { endingKeyPauses, endingPauses } from "../schema/pause-ends.ts";
import { arrayOf, rowsOf, shownJson } from "../sql-and-json.ts";
import { insertSkips, lastSkipFrom } from "./history-writes.ts";

/** The arguments are those of the statements on SQLite's SQL. */
export function changeStatements(names: PostgresNames): ChangeStatements {
  const { schedules, tasks, keyLimiters, changes, changeDrafts, histories, skips } = names;
  const intoDrafts =
    `INSERT INTO ${changeDrafts} ` +
    "(schedule_id, at, made_by, removes, state, payload, paused, next_fire_time, last_fire_time)";
  const stored = (state: string): string =>
    `${state}, ${payload("s")}, coalesce(s.paused, 0), s.next_fire_time, s.last_fire_time`;
  const fenced = rowsOf("?1", "r", "id text, fence bigint");
  const draftsOfNamed = (removes: number): string =>
    `${intoDrafts} SELECT s.id, ?2::bigint, ?3, ${removes}, ${stored(stateAsJson("s"))} FROM ${fenced} ` +
    `JOIN ${schedules} s ON s.id = r.id WHERE ${hasExpectedFence("s")}`;
  const stateOrNone = `CASE WHEN s.id IS NOT NULL THEN ${stateAsJson("s")} END`;
  // A draft of a removal has no schedule `s`, whether the schedule is removed already or not.
  const withSchedule = `LEFT JOIN ${schedules} s ON s.id = d.schedule_id AND d.removes = 0`;
  const withHistory = `JOIN ${histories} h ON h.schedule_id = d.schedule_id ${withSchedule}`;
  const from = effectiveFrom("s.next_fire_time", "d.last_fire_time", "d.at");
  const hasNewRule = "d.state IS NOT NULL AND s.id IS NOT NULL AND d.state::json->>'trigger' <> s.trigger_json";
  const moves = `(s.next_fire_time IS DISTINCT FROM d.next_fire_time OR (${hasNewRule}))`;
  const starts = `SELECT h.number AS history, ${from} AS start FROM ${changeDrafts} d ${withHistory} WHERE ${moves}`;
  // `toChange` tells from the states which changes are pauses.
  const kind = "CASE WHEN d.removes = 1 THEN 'removed' WHEN d.state IS NULL THEN 'added' ELSE 'changed' END";
  const byOrder = (listed: (range: string) => string): ByOrder => ({
    oldest: listed("seq > ?3 ORDER BY seq"),
    newest: listed("seq < ?3 ORDER BY seq DESC"),
  });
  const list = {
    table: changes,
    key: "seq",
    record: changeAsJson(names, "t"),
    texts: ["former", "latter"],
    isTaken: "true",
  };
  const isTask = `t.id = ?1 AND t.declaration IS DISTINCT FROM ${REMOVED}`;
  const pauseKind = "CASE ?2 WHEN 1 THEN 'taskPaused' ELSE 'taskUnpaused' END";
  const said =
    "CASE WHEN ?2 = 1 AND (?5::bigint IS NOT NULL OR ?6::text IS NOT NULL) " +
    "THEN json_build_object('until', ?5::bigint, 'reason', ?6::text) END";
  const isOtherPause = (row: string): string =>
    `?2 = 1 AND ${row}.paused = 1 AND (${row}.paused_until IS DISTINCT FROM ?5::bigint ` +
    `OR ${row}.pause_reason IS DISTINCT FROM ?6::text)`;
  /** The changes that the clean-up looks at: `count` of them after the `seq` of a parameter. */
  const window = (after: string, count: string): string =>
    `(SELECT * FROM ${changes} WHERE seq > ${after} ORDER BY seq LIMIT ${count})`;
  const newer = (isOf: string): string => `SELECT 1 FROM ${changes} n WHERE n.${isOf} = c.${isOf} AND n.seq > c.seq`;
  const excess = (isOf: string): string =>
    `SELECT n.seq FROM (SELECT DISTINCT x.${isOf} FROM ${window("?1", "?2")} x WHERE x.${isOf} IS NOT NULL) w ` +
    `JOIN ${changes} n ON n.${isOf} = w.${isOf} AND n.seq <= (SELECT k.seq FROM ${changes} k ` +
    `WHERE k.${isOf} = w.${isOf} ORDER BY k.seq DESC LIMIT 1 OFFSET ${CHANGES_KEPT_MAX})`;

  return lazily<ChangeStatements>({
    draftAdditions: () =>
      `${intoDrafts} SELECT r.id, ?2::bigint, ?3, 0, ${stored(stateOrNone)} ` +
      `FROM ${rowsOf("?1", "r", "id text, policy text, declaration text")} LEFT JOIN ${schedules} s ON s.id = r.id ` +
      "WHERE s.id IS NULL OR r.policy = 'replace' " +
      "OR (r.policy = 'update' AND s.declaration IS DISTINCT FROM r.declaration) ORDER BY r.key",
    draftUpdates: () => `${draftsOfNamed(0)} AND s.changed_by IS DISTINCT FROM ?4 ORDER BY r.key`,
    draftRemovals: () => `${draftsOfNamed(1)} ORDER BY r.key`,
    dropUnchanged: () =>
      `DELETE FROM ${changeDrafts} d USING ${schedules} s WHERE s.id = d.schedule_id AND d.removes = 0 ` +
      `AND d.state = ${stateAsJson("s")} AND d.payload IS NOT DISTINCT FROM ${payload("s")}`,
    cutSkips: () =>
      `UPDATE ${skips} AS k SET count = NULL, until_time = f.start - 1 FROM (${starts}) f ` +
      `WHERE k.history = f.history AND k.from_time = (${lastSkipFrom(names, "f.history", "f.start - 1")}) ` +
      "AND k.until_time >= f.start",
    removeCutSkips: () =>
      `DELETE FROM ${skips} k USING (${starts}) f WHERE k.history = f.history AND k.from_time >= f.start`,
    skipUnprocessed: () =>
      insertSkips(
        names,
        "SELECT x.history, x.schedule_id, x.start, x.next - 1, x.verdict, NULL, NULL " +
          "FROM (SELECT h.number AS history, h.schedule_id AS schedule_id, " +
          "greatest(d.next_fire_time, coalesce(d.last_fire_time + 1, d.next_fire_time)) AS start, " +
          "CASE WHEN d.paused = 1 THEN 'paused' WHEN d.removes = 1 THEN 'removed' ELSE 'replaced' END AS verdict, " +
          `${from} AS next, d.next_fire_time <= d.at AS was_due ` +
          `FROM ${changeDrafts} d ${withHistory}) x WHERE x.was_due AND x.start < x.next`,
      ),
    recordChanges: () =>
      `INSERT INTO ${changes} (schedule_id, at, made_by, kind, former, latter, effective_from, changes_payload) ` +
      `SELECT d.schedule_id, d.at, d.made_by, ${kind}, d.state::json, (${stateOrNone})::json, ${from}, ` +
      `CASE WHEN d.state IS NOT NULL AND s.id IS NOT NULL AND d.payload IS DISTINCT FROM ${payload("s")} ` +
      `THEN 1 ELSE 0 END FROM ${changeDrafts} d ${withSchedule} ORDER BY d.seq`,
    removeDrafts: () => `DELETE FROM ${changeDrafts}`,

    recordExhausted: () =>
      `INSERT INTO ${changes} (schedule_id, at, kind, former, effective_from) SELECT s.id, ?1::bigint, 'removed', ` +
      `${stateAsJson("s")}::json, ${effectiveFrom("NULL::bigint", "s.last_fire_time", "?1::bigint")} ` +
      `FROM (${exhaustedSchedules(names, "?2")}) e JOIN ${schedules} s ON s.seq = e.seq ORDER BY s.id`,

    recordTaskPause: () =>
      `INSERT INTO ${changes} (task_id, at, made_by, kind, latter) SELECT t.id, ?3::bigint, ?4, ${pauseKind}, ` +
      `${said} ` +
      `FROM ${tasks} t WHERE ${isTask} AND (t.paused <> ?2 OR ${isOtherPause("t")})`,
    recordKeyPause: () => {
      const paused = `SELECT 1 FROM ${keyLimiters} l WHERE l.task_id = ?1 AND l.key = ?7 AND l.paused = 1`;
      return (
        `INSERT INTO ${changes} (task_id, key, at, made_by, kind, latter) ` +
        `SELECT t.id, ?7, ?3::bigint, ?4, ${pauseKind}, ${said} FROM ${tasks} t ` +
        `WHERE ${isTask} AND (EXISTS (${paused}) <> (?2 = 1) OR EXISTS (${paused} AND ${isOtherPause("l")}))`
      );
    },
    draftPauseEnds: () =>
      `${intoDrafts} SELECT s.id, ?1::bigint, NULL, 0, ${stored(stateAsJson("s"))} FROM ${schedules} s ` +
      `WHERE s.seq IN (${endingPauses(schedules, "seq", "?1")}) ORDER BY s.paused_until, s.seq`,
    draftFailing: () =>
      `${intoDrafts} SELECT s.id, ?1::bigint, ?2, 0, ${stored(stateAsJson("s"))} FROM ${schedules} s ` +
      `WHERE ${isFailing("s")} ORDER BY s.seq`,
    recordTaskPauseEnds: () =>
      `INSERT INTO ${changes} (task_id, at, kind) SELECT id, ?1::bigint, 'taskUnpaused' ` +
      `FROM (${endingPauses(tasks, "id", "?1")}) e`,
    recordKeyPauseEnds: () =>
      `INSERT INTO ${changes} (task_id, key, at, kind) SELECT task_id, key, ?1::bigint, 'taskUnpaused' ` +
      `FROM (${endingKeyPauses(keyLimiters, "?1")}) e`,

    getScheduleChanges: () =>
      byOrder((range) =>
        scanStatement(list, {
          rows: `SELECT seq FROM ${changes} WHERE schedule_id = ?4 AND ${range}`,
          place: ["seq"],
          isBackwards: range.endsWith("DESC"),
        }),
      ),
    getTaskPauseHistory: () =>
      byOrder((range) => `SELECT ${pauseAsJson()} AS record FROM ${changes} WHERE task_id = ?4 AND ${range} LIMIT ?1`),

    nextChanges: () =>
      `SELECT (SELECT CASE WHEN at < ?1 THEN seq END FROM ${changes} WHERE seq > ?2 ORDER BY seq LIMIT 1 OFFSET ?4) ` +
      `AS aged, (SELECT seq FROM ${changes} WHERE seq > ?3 ORDER BY seq LIMIT 1 OFFSET ?4) AS excess`,
    removeAgedChanges: () =>
      `DELETE FROM ${changes} WHERE seq IN (SELECT c.seq FROM ${window("?2", "?3")} c WHERE c.at < ?1 ` +
      `AND CASE WHEN c.schedule_id IS NULL THEN c.kind = 'taskUnpaused' OR EXISTS (${newer("task_id")} ` +
      "AND n.key IS NOT DISTINCT FROM c.key) " +
      `ELSE NOT EXISTS (SELECT 1 FROM ${schedules} s WHERE s.id = c.schedule_id) ` +
      `OR EXISTS (${newer("schedule_id")}) END)`,
    removeExcessChanges: () =>
      `DELETE FROM ${changes} WHERE seq IN (SELECT x.seq FROM (${excess("schedule_id")} ` +
      `UNION ALL ${excess("task_id")}) x LIMIT ?3)`,
  });
}

/** SQL of the state of a schedule, as the text of a JSON object. */
export function stateAsJson(s: string): string {
  const settings = SCHEDULE_SETTINGS.map((name) => `'${name}', ${s}.details->'${name}'`);
  return (
    `json_build_object('trigger', ${s}.trigger_json, 'nextFireTime', ${s}.next_fire_time, 'paused', ${s}.paused, ` +
    `'pausedUntil', ${s}.paused_until, 'pauseReason', ${s}.pause_reason, 'taskId', ${s}.task_id, ` +
    `'settings', json_build_object(${settings.join(", ")}), 'metadata', ${s}.metadata)::text`
  );
}

/** SQL of `ScheduleChangeRecord.effectiveFrom`. The parameters are SQL: the next fire time after the change, the last
 *  one, and when the change was made. */
export function effectiveFrom(next: string, last: string, at: string): string {
  const start = `CASE WHEN ${next} <= ${at} THEN ${next} ELSE ${at} + 1 END`;
  const later = `greatest(${start}, coalesce(${last} + 1, ${start}))`;
  return `CASE WHEN ${next} <= ${last} AND ${last} > ${at} + ${CLOCK_TOLERANCE_MS} THEN ${start} ELSE ${later} END`;
}

/** SQL of a schedule's payload, as the text of JSON. */
function payload(s: string): string {
  return `(${s}.details->'payload')::text`;
}

function changeAsJson(names: PostgresNames, t: string): string {
  const columns = ["seq", "schedule_id", "at", "made_by", "kind", "effective_from", "changes_payload"];
  return arrayOf(
    `json_build_array(${columns.map((column) => `${t}.${column}`).join(", ")})`,
    shownJson(names, `${t}.former`),
    shownJson(names, `${t}.latter`),
  );
}

function pauseAsJson(): string {
  return arrayOf("json_build_array(seq, at, task_id, key, made_by, kind)", "latter");
}
