import { CHANGES_KEPT_MAX } from "../../../core/limits.ts";
import { SCHEDULE_SETTINGS } from "../../schedule-settings.ts";
import { lazily } from "../lazily.ts";
import { rowAsJson, validJson } from "../rows.ts";
import { exhaustedSchedules } from "../schedules/schedule-statements.ts";
import { REMOVED, type TableNames } from "../schema/schema.ts";
import { enterParts, isOf, skipVerdict } from "./entries.ts";

/** The statements about changes of schedules, and about pauses of tasks. A comment before each statement lists its
 *  arguments. */
export interface ChangeStatements {
  readonly noteAdditions: string;
  readonly noteUpdate: string;
  readonly noteRemoval: string;
  readonly dropUnchanged: string;
  readonly cutSkips: string;
  readonly removeCutSkips: string;
  readonly skipUnprocessed: string;
  readonly completeChanges: string;
  readonly noteExhausted: string;
  readonly noteTaskPause: string;
  readonly noteKeyPause: string;
  readonly getScheduleChanges: ByOrder;
  readonly getTaskPauseHistory: ByOrder;
  readonly nextChanges: string;
  readonly removeAgedChanges: string;
  readonly emptyNewestChange: string;
  readonly removeExcessChanges: string;
}

/** A statement for each order. */
export type ByOrder = Readonly<Record<"oldest" | "newest", string>>;

/**
 * A change begins as a row with a negative `seq`, which only its own transaction ever sees. The row keeps what the
 * schedule was: the state in `former`, the payload in `latter`, the next fire time in `effective_from`, the last fire
 * time in `key`, and in `changes_payload` whether the schedule was paused. `kind` is empty, or `removed`. So the
 * statements that follow need no arguments: they compare the row with the schedule, and the last of them completes it.
 */
export function changeStatements(names: TableNames): ChangeStatements {
  const { schedules, tasks, keyLimiters, changes, books, occurrences } = names;
  const columns = "seq, schedule_id, at, made_by, kind, former, latter, effective_from, changes_payload, key";
  const former = (state: string): string =>
    `${state}, ${payload("s")}, ${instant("s.next_fire_time")}, coalesce(s.paused = 1, 0), s.last_fire_time`;
  const ofStored = former(stateAsJson("s"));
  const ofStoredOrNone = former(`CASE WHEN s.id IS NOT NULL THEN ${stateAsJson("s")} END`);
  // A row that removes its schedule has no `s`, whether the schedule is removed already or not.
  const begun = `FROM ${changes} p LEFT JOIN ${schedules} s ON s.id = p.schedule_id AND p.kind = '' WHERE p.seq < 0`;
  const from = effectiveFrom("s.next_fire_time", "p.key", "p.at");
  const book = `CROSS JOIN ${books} b ON b.schedule_id = p.schedule_id`;
  const begunInBook = begun.replace("LEFT JOIN", `${book} LEFT JOIN`);
  const hasNewRule = "p.former IS NOT NULL AND s.id IS NOT NULL AND p.former->>'trigger' <> s.trigger_json";
  const moves = `(s.next_fire_time IS NOT p.effective_from OR (${hasNewRule}))`;
  const starts = `SELECT b.seq AS book, ${from} AS start ${begunInBook} AND ${moves}`;
  const withoutPause = (state: string): string => `json_remove(${state}, '$.paused', '$.nextFireTime')`;
  const isOnlyPaused =
    `(p.changes_payload = 1) <> (s.paused = 1) AND p.latter IS ${payload("s")} ` +
    `AND ${withoutPause("p.former")} = ${withoutPause(stateAsJson("s"))}`;
  // ?1 `after`, the `seq` of the change before, ?2 limit, ?3 the id
  const list = (record: string, isOf: string): ByOrder => ({
    oldest: `SELECT ${record} FROM ${changes} WHERE ${isOf} = ?3 AND seq > ?1 ORDER BY seq LIMIT +?2`,
    newest: `SELECT ${record} FROM ${changes} WHERE ${isOf} = ?3 AND seq < ?1 ORDER BY seq DESC LIMIT +?2`,
  });
  const isTask = `id = ?1 AND declaration IS NOT ${REMOVED}`;
  const pauseKind = "CASE ?2 WHEN 1 THEN 'taskPaused' ELSE 'taskUnpaused' END";
  /** The changes that the clean-up looks at: `count` of them after the `seq` of a parameter. */
  const window = (after: string, count: string): string =>
    `(SELECT * FROM ${changes} WHERE seq > ${after} ORDER BY seq LIMIT +${count})`;
  const newer = (isOf: string): string => `SELECT 1 FROM ${changes} n WHERE n.${isOf} = c.${isOf} AND n.seq > c.seq`;
  const excess = (isOf: string): string =>
    `SELECT n.seq FROM (SELECT DISTINCT ${isOf} FROM ${window("?1", "?2")} WHERE ${isOf} IS NOT NULL) w ` +
    `CROSS JOIN ${changes} n ON n.${isOf} = w.${isOf} AND n.seq <= (SELECT k.seq FROM ${changes} k ` +
    `WHERE k.${isOf} = w.${isOf} ORDER BY k.seq DESC LIMIT 1 OFFSET ${CHANGES_KEPT_MAX})`;
  const ofBoth = `${excess("schedule_id")} UNION ALL ${excess("task_id")}`;

  return lazily<ChangeStatements>({
    // ?1 rows [id, policy, declaration], ?2 at, ?3 by, ?4 how many such rows came before. Runs before the schedules are
    // written.
    noteAdditions: () =>
      `INSERT INTO ${changes} (${columns}) ` +
      `SELECT -1 - ?4 - r.key, r.value->>0, ?2, ?3, '', ${ofStoredOrNone} ` +
      `FROM json_each(?1) r LEFT JOIN ${schedules} s ON s.id = r.value->>0 WHERE s.id IS NULL ` +
      "OR r.value->>1 = 'replace' OR (r.value->>1 = 'update' AND s.declaration IS NOT r.value->>2)",
    // ?1 id, ?2 at, ?3 by, ?4 expected fence or null, ?5 stamp. Runs before updateSchedule, under its condition.
    noteUpdate: () =>
      `INSERT INTO ${changes} (${columns}) SELECT -1, s.id, ?2, ?3, '', ${ofStored} FROM ${schedules} s ` +
      "WHERE s.id = ?1 AND (?4 IS NULL OR s.fence = ?4) AND s.changed_by IS NOT ?5",
    // ?1 id, ?2 at, ?3 by. Runs before removeSchedule.
    noteRemoval: () =>
      `INSERT INTO ${changes} (${columns}) SELECT -1, s.id, ?2, ?3, 'removed', ${ofStored} FROM ${schedules} s ` +
      "WHERE s.id = ?1",
    // The next five follow the writes of schedules, in this order, and have no arguments.
    dropUnchanged: () =>
      `DELETE FROM ${changes} WHERE seq IN (SELECT p.seq FROM ${changes} p CROSS JOIN ${schedules} s ` +
      `ON s.id = p.schedule_id WHERE p.seq < 0 AND p.kind = '' AND p.former = ${stateAsJson("s")} ` +
      `AND p.latter IS ${payload("s")})`,
    // Skips do not overlap, so that at most one of them begins before an instant and reaches beyond it.
    cutSkips: () =>
      `UPDATE ${occurrences} SET count = NULL, ` +
      `until = (SELECT f.start - 1 FROM (${starts}) f WHERE f.book = ${occurrences}.book) ` +
      `WHERE (shelf, at, book) IN (SELECT o.shelf, o.at, o.book FROM (${starts}) f ` +
      `CROSS JOIN ${occurrences} o ON ${isOf("f.book", "o")} ` +
      `AND o.at = (SELECT max(e.at) FROM ${occurrences} e WHERE e.book = f.book AND e.at < f.start ` +
      `AND e.run IS NULL) WHERE o.until >= f.start)`,
    removeCutSkips: () =>
      `DELETE FROM ${occurrences} WHERE (shelf, at, book) IN (SELECT o.shelf, o.at, o.book FROM (${starts}) f ` +
      `CROSS JOIN ${occurrences} o ON o.book = f.book AND o.at >= f.start WHERE o.run IS NULL)`,
    skipUnprocessed: () =>
      enterParts(
        names,
        "SELECT book, schedule_id, start AS at, next - 1 AS until, verdict, NULL AS count, NULL AS target FROM (" +
          "SELECT b.seq AS book, b.schedule_id AS schedule_id, " +
          "max(p.effective_from, coalesce(p.key + 1, p.effective_from)) AS start, " +
          `CASE WHEN p.changes_payload = 1 THEN ${skipVerdict("paused")} ` +
          `WHEN p.kind = 'removed' THEN ${skipVerdict("removed")} ELSE ${skipVerdict("replaced")} END AS verdict, ` +
          `${from} AS next, p.effective_from <= p.at AS was_due ${begunInBook}) WHERE was_due AND start < next`,
      ),
    completeChanges: () =>
      `UPDATE ${changes} AS c SET seq = max(0, (SELECT max(seq) FROM ${changes})) - c.seq, kind = f.kind, ` +
      "latter = f.latter, effective_from = f.start, changes_payload = f.pays, key = NULL " +
      "FROM (SELECT p.seq AS place, CASE WHEN p.kind <> '' THEN p.kind WHEN p.former IS NULL THEN 'added' " +
      `WHEN NOT (${isOnlyPaused}) THEN 'changed' WHEN s.paused = 1 THEN 'paused' ELSE 'unpaused' END AS kind, ` +
      `CASE WHEN s.id IS NOT NULL THEN ${stateAsJson("s")} END AS latter, ${from} AS start, ` +
      `p.former IS NOT NULL AND s.id IS NOT NULL AND p.latter IS NOT ${payload("s")} AS pays ${begun}) f ` +
      "WHERE c.seq < 0 AND c.seq = f.place",

    // ?1 now, ?2 the limit of removeExhausted, which it precedes
    noteExhausted: () =>
      `INSERT INTO ${changes} (schedule_id, at, kind, former, effective_from) SELECT s.id, ?1, 'removed', ` +
      `${stateAsJson("s")}, ${effectiveFrom("NULL", "s.last_fire_time", "?1")} ` +
      `FROM (${exhaustedSchedules(names, "?2")}) e CROSS JOIN ${schedules} s ON s.seq = e.seq`,

    // ?1 task id, ?2 whether to pause, ?3 at, ?4 by. Runs before pauseTask.
    noteTaskPause: () =>
      `INSERT INTO ${changes} (task_id, at, made_by, kind) SELECT id, ?3, ?4, ${pauseKind} FROM ${tasks} ` +
      `WHERE ${isTask} AND (paused = 1) <> ?2`,
    // the same, and ?5 key. Runs before pauseKey.
    noteKeyPause: () =>
      `INSERT INTO ${changes} (task_id, key, at, made_by, kind) SELECT id, ?5, ?3, ?4, ${pauseKind} FROM ${tasks} ` +
      `WHERE ${isTask} AND EXISTS (SELECT 1 FROM ${keyLimiters} WHERE task_id = ?1 AND key = ?5 AND paused = 1) <> ?2`,

    // the arguments of `list`; and so for the next
    getScheduleChanges: () => list(`${changeAsJson()} AS record`, "schedule_id"),
    getTaskPauseHistory: () => list(`${pauseAsJson()} AS record`, "task_id"),

    // The clean-up looks at a number of changes each time, and goes on after them the next time: from the oldest one to
    // the first that is young enough, and, for what is too many, from the oldest to the newest. ?1 the instant before
    // which changes are old, ?2 and ?3 after which `seq` it looks for old changes, and for what is too many, ?4 how
    // many changes it looks at, less one. Runs before the next two. Columns: where to go on; null for the start.
    nextChanges: () =>
      `SELECT (SELECT CASE WHEN at < ?1 THEN seq END FROM ${changes} WHERE seq > ?2 ORDER BY seq LIMIT 1 OFFSET +?4) ` +
      `AS aged, (SELECT seq FROM ${changes} WHERE seq > ?3 ORDER BY seq LIMIT 1 OFFSET +?4) AS excess`,
    // ?1 the instant before which changes are old, ?2 after which `seq`, ?3 how many changes it looks at. The newest
    // change of a schedule stays as long as the schedule, because the change says since when its rule holds.
    removeAgedChanges: () =>
      `DELETE FROM ${changes} WHERE seq IN (SELECT c.seq FROM ${window("?2", "?3")} c WHERE c.at < ?1 ` +
      `AND c.seq < (SELECT max(seq) FROM ${changes}) ` +
      `AND CASE WHEN c.schedule_id IS NULL THEN c.kind = 'taskUnpaused' OR EXISTS (${newer("task_id")} ` +
      `AND n.key IS c.key) ELSE NOT EXISTS (SELECT 1 FROM ${schedules} WHERE id = c.schedule_id) ` +
      `OR EXISTS (${newer("schedule_id")}) END)`,
    // ?1 as above. The newest of all changes stays, as an empty row, until there is a newer one, so that no number is
    // given again. It follows the changes that it ends.
    emptyNewestChange: () =>
      `UPDATE ${changes} AS c SET schedule_id = NULL, task_id = NULL, key = NULL, made_by = NULL, ` +
      "kind = 'taskUnpaused', effective_from = NULL, former = NULL, latter = NULL " +
      `WHERE seq = (SELECT max(seq) FROM ${changes}) AND at < ?1 AND CASE WHEN schedule_id IS NOT NULL ` +
      `THEN NOT EXISTS (SELECT 1 FROM ${schedules} WHERE id = c.schedule_id) ` +
      `ELSE kind = 'taskUnpaused' AND task_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${changes} n ` +
      "WHERE n.task_id = c.task_id AND n.seq < c.seq AND n.key IS c.key) END",
    // ?1 after which `seq`, ?2 how many changes it looks at, ?3 limit
    removeExcessChanges: () => `DELETE FROM ${changes} WHERE seq IN (${ofBoth} LIMIT +?3)`,
  });
}

/** SQL of the state of a schedule, as a JSON object. No damaged row makes it fail. */
export function stateAsJson(table: string): string {
  const settings = SCHEDULE_SETTINGS.map((name) => `'"${name}":' || coalesce(v->'${name}', 'null')`);
  return (
    `json_object('trigger', CAST(${table}.trigger_json AS TEXT), ` +
    `'nextFireTime', ${instant(`${table}.next_fire_time`)}, 'paused', ${table}.paused = 1, ` +
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

/** SQL of `ScheduleChangeRecord.effectiveFrom`. All three are SQL, too: the next fire time after the change, the last
 *  one, and when the change was made. */
export function effectiveFrom(next: string, last: string, at: string): string {
  const start = `CASE WHEN ${next} <= ${at} THEN ${next} ELSE ${at} + 1 END`;
  return `max(${start}, coalesce(${last} + 1, ${start}))`;
}

/** SQL of an instant that JSON can hold; NULL for what is damaged. */
function instant(column: string): string {
  return `CASE WHEN ${column} BETWEEN -9e15 AND 9e15 THEN ${column} + 0 END`;
}

/** SQL of a schedule's payload as text. */
function payload(table: string): string {
  return `(SELECT v->>'payload' FROM (SELECT ${validJson(`${table}.details`)} AS v))`;
}

function changeAsJson(): string {
  const columns = [
    "seq",
    "CAST(schedule_id AS TEXT)",
    "at + 0",
    "CAST(made_by AS TEXT)",
    "CAST(kind AS TEXT)",
    "effective_from + 0",
    "changes_payload = 1",
  ];
  return rowAsJson(null, columns, [validJson("former", "null"), validJson("latter", "null")]);
}

function pauseAsJson(): string {
  const columns = ["CAST(task_id AS TEXT)", "CAST(key AS TEXT)", "CAST(made_by AS TEXT)", "CAST(kind AS TEXT)"];
  return `json_array(seq, at + 0, ${columns.join(", ")})`;
}
