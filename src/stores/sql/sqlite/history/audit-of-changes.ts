import { CHANGES_KEPT_MAX, CLOCK_TOLERANCE_MS } from "../../../shared/limits.ts";
import { SCHEDULE_SETTINGS } from "../../../shared/schedule-changes.ts";
import type { ByOrder, ChangeStatements } from "../../history/audit-of-changes.ts";
import type { ScannedTable } from "../../lists/list-scans.ts";
import { REMOVED, type TableNames } from "../../schema/tables.ts";
import { lazily, validJson } from "../../sql-and-json.ts";
import { scanStatement } from "../lists/list-scans.ts";
import { exhaustedSchedules, hasExpectedFence, isFailing } from "../schedules/schedule-statements.ts";
import { endingKeyPauses, endingPauses } from "../schema/pause-columns.ts";
import { instant, rowAsJson } from "../sql-and-json.ts";
import { insertSkips, lastSkipFrom } from "./history-writes.ts";

/** A comment before each statement lists its arguments. */
export function changeStatements(names: TableNames): ChangeStatements {
  const { schedules, tasks, keyLimiters, changes, changeDrafts, histories, skips } = names;
  const intoDrafts =
    `INSERT INTO ${changeDrafts} ` +
    "(schedule_id, at, made_by, removes, state, payload, paused, next_fire_time, last_fire_time)";
  const stored = (state: string): string =>
    `${state}, ${payload("s")}, coalesce(s.paused = 1, 0), ${instant("s.next_fire_time")}, s.last_fire_time`;
  const draftsOfNamed = (removes: number): string =>
    `${intoDrafts} SELECT s.id, ?2, ?3, ${removes}, ${stored(stateAsJson("s"))} FROM json_each(?1) r ` +
    `CROSS JOIN ${schedules} s ON s.id = r.value->>0 WHERE ${hasExpectedFence("s")}`;
  const stateOrNone = `CASE WHEN s.id IS NOT NULL THEN ${stateAsJson("s")} END`;
  // A range, because a statement without one would read like a scan of the whole table.
  const isDraft = "d.seq > 0";
  // A draft of a removal has no schedule `s`, whether the schedule is removed already or not.
  const withSchedule = `LEFT JOIN ${schedules} s ON s.id = d.schedule_id AND d.removes = 0`;
  const withHistory = `CROSS JOIN ${histories} h ON h.schedule_id = d.schedule_id ${withSchedule}`;
  const from = effectiveFrom("s.next_fire_time", "d.last_fire_time", "d.at");
  const hasNewRule = "d.state IS NOT NULL AND s.id IS NOT NULL AND d.state->>'trigger' <> s.trigger_json";
  const moves = `(s.next_fire_time IS NOT d.next_fire_time OR (${hasNewRule}))`;
  const starts =
    `SELECT h.number AS history, ${from} AS start FROM ${changeDrafts} d ${withHistory} ` +
    `WHERE ${isDraft} AND ${moves}`;
  // `toChange` tells from the states which changes are pauses.
  const kind = "CASE WHEN d.removes = 1 THEN 'removed' WHEN d.state IS NULL THEN 'added' ELSE 'changed' END";
  const byOrder = (listed: (range: string) => string): ByOrder => ({
    oldest: listed("seq > ?3 ORDER BY seq"),
    newest: listed("seq < ?3 ORDER BY seq DESC"),
  });
  const list: ScannedTable = {
    table: changes,
    key: "seq",
    record: changeAsJson("t"),
    texts: ["former", "latter"],
    isTaken: "true",
  };
  const isTask = `id = ?1 AND declaration IS NOT ${REMOVED}`;
  const pauseKind = "CASE ?2 WHEN 1 THEN 'taskPaused' ELSE 'taskUnpaused' END";
  const said = "CASE WHEN ?2 = 1 AND coalesce(?5, ?6) IS NOT NULL THEN json_object('until', ?5, 'reason', ?6) END";
  const isOtherPause = "?2 = 1 AND paused = 1 AND (paused_until IS NOT ?5 OR pause_reason IS NOT ?6)";
  /** The changes that the clean-up looks at: `count` of them after the `seq` of a parameter. */
  const window = (after: string, count: string): string =>
    `(SELECT * FROM ${changes} WHERE seq > ${after} ORDER BY seq LIMIT +${count})`;
  const newer = (isOf: string): string => `SELECT 1 FROM ${changes} n WHERE n.${isOf} = c.${isOf} AND n.seq > c.seq`;
  const excess = (isOf: string): string =>
    `SELECT n.seq FROM (SELECT DISTINCT ${isOf} FROM ${window("?1", "?2")} WHERE ${isOf} IS NOT NULL) w ` +
    `CROSS JOIN ${changes} n ON n.${isOf} = w.${isOf} AND n.seq <= (SELECT k.seq FROM ${changes} k ` +
    `WHERE k.${isOf} = w.${isOf} ORDER BY k.seq DESC LIMIT 1 OFFSET ${CHANGES_KEPT_MAX})`;

  return lazily<ChangeStatements>({
    // ?1 rows [id, policy, declaration], ?2 at, ?3 by. Runs before the schedules are written.
    draftAdditions: () =>
      `${intoDrafts} SELECT r.value->>0, ?2, ?3, 0, ${stored(stateOrNone)} ` +
      `FROM json_each(?1) r LEFT JOIN ${schedules} s ON s.id = r.value->>0 WHERE s.id IS NULL ` +
      "OR r.value->>1 = 'replace' OR (r.value->>1 = 'update' AND s.declaration IS NOT r.value->>2)",
    // ?1 rows [id, expected fence or null], ?2 at, ?3 by, ?4 stamp. Runs before updateSchedules, under its condition.
    draftUpdates: () => `${draftsOfNamed(0)} AND s.changed_by IS NOT ?4`,
    // The same without ?4. Runs before removeSchedules.
    draftRemovals: () => draftsOfNamed(1),
    // The next six follow the writes of schedules, in this order, and have no arguments.
    dropUnchanged: () =>
      `DELETE FROM ${changeDrafts} WHERE seq IN (SELECT d.seq FROM ${changeDrafts} d CROSS JOIN ${schedules} s ` +
      `ON s.id = d.schedule_id WHERE ${isDraft} AND d.removes = 0 AND d.state = ${stateAsJson("s")} ` +
      `AND d.payload IS ${payload("s")})`,
    // Ends the skip that begins before a change and reaches beyond it, and removes those that begin later.
    cutSkips: () =>
      `UPDATE ${skips} SET count = NULL, ` +
      `until_time = (SELECT f.start - 1 FROM (${starts}) f WHERE f.history = ${skips}.history) ` +
      `WHERE (history, from_time) IN (SELECT s.history, s.from_time FROM (${starts}) f CROSS JOIN ${skips} s ` +
      `ON s.history = f.history AND s.from_time = (${lastSkipFrom(names, "f.history", "f.start - 1")}) ` +
      "WHERE s.until_time >= f.start)",
    removeCutSkips: () =>
      `DELETE FROM ${skips} WHERE (history, from_time) IN (SELECT s.history, s.from_time FROM (${starts}) f ` +
      `CROSS JOIN ${skips} s ON s.history = f.history AND s.from_time >= f.start)`,
    skipUnprocessed: () =>
      insertSkips(
        names,
        "SELECT history, schedule_id, start AS from_time, next - 1 AS until_time, verdict, NULL AS count, " +
          "NULL AS into_time FROM (SELECT h.number AS history, h.schedule_id AS schedule_id, " +
          "max(d.next_fire_time, coalesce(d.last_fire_time + 1, d.next_fire_time)) AS start, " +
          "CASE WHEN d.paused = 1 THEN 'paused' WHEN d.removes = 1 THEN 'removed' ELSE 'replaced' END AS verdict, " +
          `${from} AS next, d.next_fire_time <= d.at AS was_due ` +
          `FROM ${changeDrafts} d ${withHistory} WHERE ${isDraft}) ` +
          "WHERE was_due AND start < next",
      ),
    recordChanges: () =>
      `INSERT INTO ${changes} (schedule_id, at, made_by, kind, former, latter, effective_from, changes_payload) ` +
      `SELECT d.schedule_id, d.at, d.made_by, ${kind}, d.state, ` +
      `${stateOrNone}, ${from}, ` +
      `d.state IS NOT NULL AND s.id IS NOT NULL AND d.payload IS NOT ${payload("s")} ` +
      `FROM ${changeDrafts} d ${withSchedule} WHERE ${isDraft} ORDER BY d.seq`,
    removeDrafts: () => `DELETE FROM ${changeDrafts}`,

    // ?1 now, ?2 the limit of removeExhausted, which it precedes
    recordExhausted: () =>
      `INSERT INTO ${changes} (schedule_id, at, kind, former, effective_from) SELECT s.id, ?1, 'removed', ` +
      `${stateAsJson("s")}, ${effectiveFrom("NULL", "s.last_fire_time", "?1")} ` +
      `FROM (${exhaustedSchedules(names, "?2")}) e CROSS JOIN ${schedules} s ON s.seq = e.seq`,

    // ?1 task id, ?2 whether to pause, ?3 at, ?4 by, ?5 until and ?6 reason, or null. Runs before pauseTask.
    recordTaskPause: () =>
      `INSERT INTO ${changes} (task_id, at, made_by, kind, latter) SELECT id, ?3, ?4, ${pauseKind}, ${said} ` +
      `FROM ${tasks} WHERE ${isTask} AND ((paused = 1) <> ?2 OR ${isOtherPause})`,
    // the same, and ?7 key. Runs before pauseKey.
    recordKeyPause: () => {
      const paused = `EXISTS (SELECT 1 FROM ${keyLimiters} WHERE task_id = ?1 AND key = ?7 AND paused = 1`;
      return (
        `INSERT INTO ${changes} (task_id, key, at, made_by, kind, latter) ` +
        `SELECT id, ?7, ?3, ?4, ${pauseKind}, ${said} FROM ${tasks} ` +
        `WHERE ${isTask} AND (${paused}) <> ?2 OR ${paused} AND ${isOtherPause}))`
      );
    },
    // ?1 now. The next three run before the statements that end pauses.
    draftPauseEnds: () =>
      `${intoDrafts} SELECT s.id, ?1, NULL, 0, ${stored(stateAsJson("s"))} FROM (${endingPauses(schedules, "?1")}) e ` +
      `CROSS JOIN ${schedules} s ON s.rowid = e.rowid`,
    // ?1 at, ?2 by. Runs before pauseFailing.
    draftFailing: () =>
      `${intoDrafts} SELECT s.id, ?1, ?2, 0, ${stored(stateAsJson("s"))} FROM ${schedules} s WHERE ${isFailing("s")}`,
    recordTaskPauseEnds: () =>
      `INSERT INTO ${changes} (task_id, at, kind) SELECT id, ?1, 'taskUnpaused' FROM ${tasks} ` +
      `WHERE rowid IN (${endingPauses(tasks, "?1")})`,
    recordKeyPauseEnds: () =>
      `INSERT INTO ${changes} (task_id, key, at, kind) SELECT task_id, key, ?1, 'taskUnpaused' ` +
      `FROM (${endingKeyPauses(keyLimiters, "?1")})`,

    // ?1 and ?2 as in `scanStatement`, ?3 the `seq` of the change before, ?4 schedule id
    getScheduleChanges: () =>
      byOrder((range) =>
        scanStatement(list, {
          rows: `SELECT seq FROM ${changes} WHERE schedule_id = ?4 AND ${range}`,
          place: ["seq"],
          isBackwards: range.endsWith("DESC"),
        }),
      ),
    // ?1 limit, ?3 the `seq` of the pause before, ?4 task id
    getTaskPauseHistory: () =>
      byOrder((range) => `SELECT ${pauseAsJson()} AS record FROM ${changes} WHERE task_id = ?4 AND ${range} LIMIT +?1`),

    // The clean-up looks at a number of changes each time, and goes on after them the next time: from the oldest one to
    // the first that is young enough, and, for excess changes, from the oldest to the newest. ?1 the time before
    // which changes are old, ?2 and ?3 after which `seq` it looks for old changes and for excess ones, ?4 how many
    // changes it looks at, less one. Runs before the next two. Columns: where to go on; null for the start.
    nextChanges: () =>
      `SELECT (SELECT CASE WHEN at < ?1 THEN seq END FROM ${changes} WHERE seq > ?2 ORDER BY seq LIMIT 1 OFFSET +?4) ` +
      `AS aged, (SELECT seq FROM ${changes} WHERE seq > ?3 ORDER BY seq LIMIT 1 OFFSET +?4) AS excess`,
    // ?1 the time before which changes are old, ?2 after which `seq`, ?3 how many changes it looks at. The newest
    // change of a schedule stays as long as the schedule, because the change says since when its rule holds.
    removeAgedChanges: () =>
      `DELETE FROM ${changes} WHERE seq IN (SELECT c.seq FROM ${window("?2", "?3")} c WHERE c.at < ?1 ` +
      `AND CASE WHEN c.schedule_id IS NULL THEN c.kind = 'taskUnpaused' OR EXISTS (${newer("task_id")} ` +
      `AND n.key IS c.key) ELSE NOT EXISTS (SELECT 1 FROM ${schedules} WHERE id = c.schedule_id) ` +
      `OR EXISTS (${newer("schedule_id")}) END)`,
    // ?1 after which `seq`, ?2 how many changes it looks at, ?3 limit
    removeExcessChanges: () =>
      `DELETE FROM ${changes} WHERE seq IN (${excess("schedule_id")} UNION ALL ${excess("task_id")} LIMIT +?3)`,
  });
}

/** SQL of the state of a schedule, as a JSON object. No damaged row makes it fail. */
export function stateAsJson(table: string): string {
  const settings = SCHEDULE_SETTINGS.map((name) => `'"${name}":' || coalesce(v->'${name}', 'null')`);
  return (
    `json_object('trigger', CAST(${table}.trigger_json AS TEXT), ` +
    `'nextFireTime', ${instant(`${table}.next_fire_time`)}, 'paused', ${table}.paused = 1, ` +
    `'pausedUntil', ${instant(`${table}.paused_until`)}, 'pauseReason', CAST(${table}.pause_reason AS TEXT), ` +
    `'taskId', CAST(${table}.task_id AS TEXT), ` +
    `'settings', json((SELECT '{' || ${joined(settings)} || '}' ` +
    `FROM (SELECT ${validJson(`${table}.details`)} AS v))), ` +
    `'metadata', json(${validJson(`${table}.metadata`)}))`
  );
}

/** SQL that joins texts by commas. It is a tree without long branches, because clouds allow a depth of 100. */
function joined(texts: readonly string[]): string {
  if (texts.length < 2) return `(${texts[0] ?? "''"})`;
  const half = texts.length >> 1;
  return `(${joined(texts.slice(0, half))} || ',' || ${joined(texts.slice(half))})`;
}

/** SQL of `ScheduleChangeRecord.effectiveFrom`. The parameters are SQL: the next fire time after the change, the last
 *  one, and when the change was made. */
export function effectiveFrom(next: string, last: string, at: string): string {
  const start = `CASE WHEN ${next} <= ${at} THEN ${next} ELSE ${at} + 1 END`;
  const later = `max(${start}, coalesce(${last} + 1, ${start}))`;
  // See `effectiveFromOf`.
  return `CASE WHEN ${next} <= ${last} AND ${last} > ${at} + ${CLOCK_TOLERANCE_MS} THEN ${start} ELSE ${later} END`;
}

/** SQL of a schedule's payload as text. */
function payload(table: string): string {
  return `(SELECT v->>'payload' FROM (SELECT ${validJson(`${table}.details`)} AS v))`;
}

function changeAsJson(table: string): string {
  const columns = [
    `${table}.seq`,
    `CAST(${table}.schedule_id AS TEXT)`,
    `${table}.at + 0`,
    `CAST(${table}.made_by AS TEXT)`,
    `CAST(${table}.kind AS TEXT)`,
    `${table}.effective_from + 0`,
    `${table}.changes_payload = 1`,
  ];
  return rowAsJson(null, columns, [validJson(`${table}.former`, "null"), validJson(`${table}.latter`, "null")]);
}

function pauseAsJson(): string {
  const columns = ["CAST(task_id AS TEXT)", "CAST(key AS TEXT)", "CAST(made_by AS TEXT)", "CAST(kind AS TEXT)"];
  return rowAsJson(null, ["seq", "at + 0", ...columns], [validJson("latter", "null")]);
}
