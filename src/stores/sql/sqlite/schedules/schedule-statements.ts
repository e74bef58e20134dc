import { DAY_HOURS } from "../../../../records/stats.ts";
import { NO_VERSION } from "../../../shared/declarations.ts";
import { FAR_FUTURE_MS } from "../../limits.ts";
import type { Scan } from "../../lists/list-scans.ts";
import type { ReplacementStatements, ScheduleStatements } from "../../schedules/schedule-statements.ts";
import { PAUSE_COLUMNS, setPauseColumns } from "../../schema/pause-columns.ts";
import type { TableNames } from "../../schema/tables.ts";
import { lazily, validJson } from "../../sql-and-json.ts";
import { guardSql } from "../driver/driver-and-failures.ts";
import { markDirty } from "../flow-control/key-limiters.ts";
import { hasAllLabels, isFirstLabel } from "../lists/label-index.ts";
import { foundIn, scanStatement } from "../lists/list-scans.ts";
import { endingPauses } from "../schema/pause-columns.ts";
import { detail, instant } from "../sql-and-json.ts";
import { scheduleAsJson } from "./schedule-rows.ts";

/** A comment before each statement lists its arguments; `value` is a row of a JSON parameter. */
export function scheduleStatements(names: TableNames): ScheduleStatements {
  const { schedules } = names;
  const record = `${scheduleAsJson(schedules)} AS record`;
  // ?1 rows [id, trigger, createdAt], ?2 whether the fate of an earlier try is unknown. Finds the places of the rows
  // whose id is in use. With ?2, a stored schedule with the same trigger and createdAt does not count, because the
  // earlier try added it.
  const conflicts =
    `SELECT a.key AS place FROM json_each(?1) a CROSS JOIN ${schedules} s ON s.id = a.value->>0 ` +
    "WHERE NOT (?2 AND s.trigger_json = a.value->>1 AND s.created_at = a.value->>2)";
  // A repetition finds what its first try has left.
  const moved =
    `SELECT a.value->>0 AS id FROM json_each(?1) a LEFT JOIN ${schedules} s ON s.id = a.value->>0 ` +
    "WHERE s.revision IS NOT a.value->>1 " +
    "AND NOT (?2 AND s.declaration IS a.value->>2 AND (s.id IS NULL) = (a.value->>2 IS NULL))";
  const byIds = `FROM json_each(?1) a CROSS JOIN ${schedules} s ON s.id = a.value`;
  const recordsById = `SELECT ${scheduleAsJson("s")} AS r ${byIds}`;
  // ?1 rows of newScheduleRow
  const insert =
    `INSERT INTO ${schedules} (id, task_id, trigger_json, trigger_rule, paused, created_at, next_fire_time, ` +
    "last_fire_time, fence, metadata, details, skipped_count, declaration, version, pace_until, zone_rules, " +
    "expect_start, expect_finish, revision, paused_until, pause_reason, paused_by, failures, last_failure) " +
    "SELECT value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7, value->>8, " +
    "value->>9, value->>10, value->>11, value->>12, value->>13, value->>14, value->>15, value->>16, value->>17, " +
    "value->>18, value->>19, value->>20, value->>21, value->>22, value->>23 FROM json_each(?1) WHERE true";
  /** What a column is after the changes of the row `r`, by their field `name`. A field that is absent changes nothing;
   *  null is a value. */
  const valueAfter = (column: string, name: string): string =>
    `CASE WHEN json_type(r.value, '$[2].${name}') IS NULL THEN ${column} ELSE r.value->>'$[2].${name}' END`;
  /** Sets a column to it. */
  const changed = (column: string, name: string): string => `${column} = ${valueAfter(column, name)}`;
  /** The end of a pause begins the count of failures anew. `paused` is the SQL of the pause after the change. */
  const countedAfter = (paused: string): string =>
    `failures = CASE WHEN paused = 1 AND ${paused} = 0 THEN 0 ELSE failures END`;
  /** Sets what was said of a pause, which goes with the pause. */
  const ofPause = (column: string, name: string): string =>
    `${column} = CASE WHEN json_type(r.value, '$[2].paused') IS NULL THEN ${column} ELSE r.value->>'$[2].${name}' END`;
  /** A fire time that passed during a pause is not overdue when the pause ends. The parameters are SQL: `paused` and
   *  the next fire time after the change, and when the change is made, or null. */
  const raisedAfter = (paused: string, next: string, at: string): string =>
    ["raised_start_for", "raised_finish_for"]
      .map(
        (name) => `${name} = CASE WHEN paused = 1 AND ${paused} = 0 AND ${next} <= ${at} THEN ${next} ELSE ${name} END`,
      )
      .join(", ");
  // New labels replace all of the former ones, which json_patch would keep.
  const unlabelled =
    `CASE WHEN json_type(r.value, '$[2].details.labels') IS NULL THEN ${validJson("details")} ` +
    `ELSE json_remove(${validJson("details")}, '$.labels') END`;
  /** A column, or if the rule of the trigger is another, its new value. */
  const valueOfRule = (column: string): string =>
    `CASE WHEN trigger_rule = excluded.trigger_rule THEN ${column} ELSE excluded.${column} END`;
  const keptOfRule = (column: string): string => `${column} = ${valueOfRule(column)}`;
  const storedVersion = `coalesce(${schedules}.version, ${NO_VERSION})`;
  // ?1 rows of newScheduleRow
  const replace = (setPause: string, condition: string): string =>
    `${insert} ON CONFLICT (id) DO UPDATE SET ${keptOfRule("trigger_json")}, ${keptOfRule("next_fire_time")}, ` +
    `${keptOfRule("pace_until")}, ${keptOfRule("zone_rules")}, ` +
    `task_id = excluded.task_id, trigger_rule = excluded.trigger_rule, ${setPause}` +
    "metadata = excluded.metadata, details = excluded.details, declaration = excluded.declaration, " +
    "expect_start = excluded.expect_start, expect_finish = excluded.expect_finish, " +
    `version = excluded.version, fence = fence + 1, revision = revision + 1, ` +
    `changed_by = NULL, preferred_scheduler = NULL${condition}`;
  const replacements = (condition = ""): ReplacementStatements => ({
    keepingPause: replace("", condition),
    settingPause: replace(
      `paused = excluded.paused, ${setPauseColumns(PAUSE_COLUMNS.map((name) => `excluded.${name}`))}, ` +
        `${countedAfter("excluded.paused")}, ${raisedAfter("excluded.paused", valueOfRule("next_fire_time"), "?2")}, `,
      condition,
    ),
  });

  return lazily<ScheduleStatements>({
    findConflicts: () => conflicts,
    // The arguments of findConflicts. Fails when there is a conflict.
    guardConflicts: () => `SELECT ${guardSql(`NOT EXISTS (${conflicts})`)} AS guard`,
    // ?1 ids. Yields rows [id, declaration, version].
    findExisting: () =>
      "SELECT json_group_array(json_array(CAST(s.id AS TEXT), CAST(s.declaration AS TEXT), s.version + 0)) " +
      `AS existing ${byIds}`,
    // ?1 rows [id, revision or null, declaration or null], ?2 whether it is a repetition
    findMoved: () => moved,
    // The arguments of findMoved. Fails when it yields something.
    guardRevisions: () => `SELECT ${guardSql(`NOT EXISTS (${moved})`)} AS guard`,
    // ?1 rows [id, new id]. What the new id has of its own stays. The details are set for the triggers of labels.
    renameSchedules: () => renames(names),
    insertSchedules: () => `${insert} ON CONFLICT (id) DO NOTHING`,
    // the arguments of `replace`; with `settingPause`, ?2 when the change is made, or null
    replaceSchedules: () => replacements(),
    // the same arguments. Replaces those whose declaration is another, unless a higher version declared them.
    updateDeclared: () =>
      replacements(
        ` WHERE (${schedules}.declaration IS NULL OR ${schedules}.declaration IS NOT excluded.declaration) ` +
          `AND ${storedVersion} <= coalesce(excluded.version, ${NO_VERSION})`,
      ),
    // ?1 rows [id, declaration, version]
    raiseVersions: () =>
      `UPDATE ${schedules} SET version = r.value->>2 FROM json_each(?1) r WHERE ${schedules}.id = r.value->>0 ` +
      `AND ${schedules}.declaration = r.value->>1 AND ${storedVersion} < r.value->>2`,
    // ?1 ids
    getSchedulesById: () => `SELECT '[' || group_concat(r) || ']' AS records FROM (${recordsById})`,

    // ?1 id
    getSchedule: () => `SELECT ${record} FROM ${schedules} WHERE id = ?1`,
    // ?1 ids, ?2 stamp
    getStampedSchedules: () => `SELECT ${scheduleAsJson("s")} AS record ${byIds} WHERE s.changed_by = ?2`,
    getSchedules: () => scheduleLists(names),

    // ?1 rows [id, expected fence or null, changes], ?2 stamp, ?3 when the changes are made, or null. A schedule that
    // carries the stamp is left alone, because an earlier try has changed it already.
    updateSchedules: () =>
      `UPDATE ${schedules} SET ${changed("task_id", "taskId")}, ${changed("trigger_json", "trigger")}, ` +
      `${changed("trigger_rule", "triggerRule")}, ${changed("paused", "paused")}, ` +
      `${ofPause("paused_until", "pausedUntil")}, ${ofPause("pause_reason", "pauseReason")}, ` +
      `${ofPause("paused_by", "pausedBy")}, ${countedAfter("r.value->>'$[2].paused'")}, ` +
      `${changed("next_fire_time", "nextFireTime")}, ${changed("last_fire_time", "lastFireTime")}, ` +
      `${changed("pace_until", "paceUntil")}, ${changed("zone_rules", "zoneRules")}, ` +
      `${changed("expect_start", "details.expectStartMs")}, ${changed("expect_finish", "details.expectFinishMs")}, ` +
      `${raisedAfter("r.value->>'$[2].paused'", valueAfter("next_fire_time", "nextFireTime"), "?3")}, ` +
      `${changed("metadata", "metadata")}, details = json_patch(${unlabelled}, r.value->'$[2].details'), ` +
      "fence = fence + 1, revision = revision + (r.value->>'$[2].keepsRevision' IS NOT 1), changed_by = ?2, " +
      `preferred_scheduler = NULL FROM json_each(?1) r WHERE ${schedules}.id = r.value->>0 ` +
      `AND ${hasExpectedFence(schedules)} AND changed_by IS NOT ?2`,
    // ?1 now, ?2 commitId. Ends pauses as `updateSchedules` would, and yields [id, task_id, next_fire_time].
    endSchedulePauses: () =>
      `UPDATE ${schedules} SET paused = 0, failures = 0, ${setPauseColumns()}, ` +
      `${raisedAfter("0", "next_fire_time", "?1")}, fence = fence + 1, revision = revision + 1, changed_by = ?2, ` +
      `preferred_scheduler = NULL WHERE seq IN (${endingPauses(schedules, "?1")}) ` +
      "RETURNING CAST(id AS TEXT) AS id, CAST(task_id AS TEXT) AS task_id, " +
      `${instant("next_fire_time")} AS next_fire_time`,
    // ?1 rows [jobId, fence, schedule id, whether the run failed], in the order of their ends, ?2 schedulerId. Precedes
    // the statements that remove the jobs.
    countEnds: () =>
      `UPDATE ${schedules} AS s SET failures = CASE WHEN x.last IS NULL THEN s.failures + x.failed ELSE x.since END ` +
      "FROM (SELECT schedule_id, last, sum(failed) AS failed, sum(failed AND key > coalesce(last, -1)) AS since " +
      "FROM (SELECT r.key AS key, r.value->>2 AS schedule_id, r.value->>3 AS failed, " +
      "max(CASE WHEN r.value->>3 = 0 THEN r.key END) OVER (PARTITION BY r.value->>2) AS last " +
      `FROM json_each(?1) r CROSS JOIN ${names.jobs} j ON j.id = r.value->>0 ` +
      "WHERE j.fence = r.value->>1 AND j.acquired_by = ?2) GROUP BY schedule_id, last) x WHERE s.id = x.schedule_id",
    // ?1 now, ?2 schedulerId, ?3 commitId. Follows countEnds and the ends by the store. Yields the schedules that it
    // pauses.
    pauseFailing: () =>
      `UPDATE ${schedules} SET paused = 1, paused_until = NULL, pause_reason = ${REASON_OF_FAILURES}, ` +
      "paused_by = ?2, fence = fence + 1, revision = revision + 1, changed_by = ?3, preferred_scheduler = NULL " +
      `WHERE ${isFailing()} RETURNING CAST(id AS TEXT) AS id, CAST(task_id AS TEXT) AS task_id, ` +
      `${instant("next_fire_time")} AS next_fire_time, pause_reason`,
    // ?1 rows [id, expected fence or null]
    removeSchedules: () =>
      `DELETE FROM ${schedules} WHERE seq IN (SELECT s.seq FROM json_each(?1) r CROSS JOIN ${schedules} s ` +
      `ON s.id = r.value->>0 WHERE ${hasExpectedFence("s")}) RETURNING id`,
    // ?1 ids of schedules whose jobs have keys. Tells looks that there is flow control.
    makeLimiters: () => markDirty(names, `SELECT s.task_id, '', 0 ${byIds} WHERE true`),
    // ?1 limit. Columns of the answer: id
    removeExhausted: () => `DELETE FROM ${schedules} WHERE seq IN (${exhaustedSchedules(names, "?1")}) RETURNING id`,
  });
}

/** By table. */
function renames(names: TableNames): Readonly<Record<string, string>> {
  const { schedules, jobs, results, histories, changes, overdue, backfills, stats } = names;
  const ofTable = (table: string, set = ""): string =>
    `UPDATE OR IGNORE ${table} SET schedule_id = r.value->>1${set} FROM json_each(?1) r ` +
    `WHERE ${table}.schedule_id = r.value->>0`;
  return {
    schedules:
      `UPDATE ${schedules} SET id = r.value->>1, details = details, fence = fence + 1, changed_by = NULL, ` +
      `preferred_scheduler = NULL FROM json_each(?1) r WHERE ${schedules}.id = r.value->>0`,
    ...{ jobs: ofTable(jobs), results: ofTable(results), histories: ofTable(histories), changes: ofTable(changes) },
    overdue: ofTable(overdue),
    // They are found by the day first.
    stats:
      `WITH RECURSIVE h (hour) AS (SELECT min(hour) / ${DAY_HOURS} * ${DAY_HOURS} FROM ${stats} ` +
      `UNION ALL SELECT hour + ${DAY_HOURS} FROM h WHERE hour + ${DAY_HOURS} <= (SELECT max(hour) FROM ${stats})) ` +
      `UPDATE OR IGNORE ${stats} SET schedule_id = ` +
      `(SELECT r.value->>1 FROM json_each(?1) r WHERE r.value->>0 = schedule_id) ` +
      `WHERE hour IN (SELECT hour FROM h) AND schedule_id IN (SELECT r.value->>0 FROM json_each(?1) r)`,
    backfills: ofTable(backfills, `, details = json_set(${validJson("details")}, '$.scheduleId', r.value->>1)`),
  };
}

/** As `reasonOfFailures`. */
const REASON_OF_FAILURES = "failures || CASE failures WHEN 1 THEN ' failure' ELSE ' failures' END || ' in a row'";

/** SQL of whether a schedule is to be paused because of its failures. */
export function isFailing(table?: string): string {
  const column = (name: string): string => (table === undefined ? name : `${table}.${name}`);
  const allowed = detail("pauseAfterFailures", table);
  // `id > ''` is a range of the index.
  const [failures, id, paused] = [column("failures"), column("id"), column("paused")];
  return `${failures} > 0 AND ${id} > '' AND ${paused} = 0 AND ${failures} >= ${allowed}`;
}

/** SQL of whether a schedule has the fence that the row `r` of a parameter expects: [id, fence or null]. */
export function hasExpectedFence(table: string): string {
  return `(r.value->>1 IS NULL OR ${table}.fence = r.value->>1)`;
}

/** SQL that selects the `seq` of the schedules that are at an end; `limit` is SQL too. */
export function exhaustedSchedules({ schedules, jobs }: TableNames, limit: string): string {
  return (
    `SELECT seq FROM ${schedules} s WHERE next_fire_time IS NULL AND id > '' ` +
    `AND NOT EXISTS (SELECT 1 FROM ${jobs} WHERE schedule_id = s.id) ORDER BY id LIMIT +${limit}`
  );
}

/** The conditions of the scans in the order of ids. */
const BY_ID: Readonly<Record<string, string>> = {
  all: "",
  named: "id IN (SELECT value FROM json_each(?9)) AND ",
  task: "task_id = ?4 AND ",
  paused: "paused = 1 AND ",
  ended: "next_fire_time IS NULL AND ",
  failing: "failures > 0 AND ",
};

/** The kinds of schedules, each with an index. No index has the paused ones in the order of their fire times, because
 *  they are few. */
const KINDS = {
  waiting: "paused = 0 AND next_fire_time IS NOT NULL",
  paused: "paused = 1 AND id > '' AND next_fire_time IS NOT NULL",
  ended: "next_fire_time IS NULL",
} as const;

/** The scans in the order of fire times. */
const BY_TIME: Readonly<Record<string, readonly (keyof typeof KINDS)[]>> = {
  all: ["waiting", "paused", "ended"],
  active: ["waiting"],
  paused: ["paused"],
  ended: ["ended"],
};

/**
 * By scan. ?3 id to start after, or null, ?4 taskId or null, ?5 paused or null, ?6 state or null, ?7 search or null,
 * ?8 labels or null. Of named schedules also ?9, their ids; in the order of times ?9 is the fire time of ?3:
 * `FAR_FUTURE_MS` for none.
 */
function scheduleLists(names: TableNames): Readonly<Record<string, string>> {
  const { schedules, labels } = names;
  const state = "CASE WHEN t.next_fire_time IS NULL THEN 'ended' WHEN t.paused = 1 THEN 'paused' ELSE 'active' END";
  const list = {
    table: schedules,
    key: "seq",
    record: scheduleAsJson("t"),
    texts: ["trigger_json", "metadata", "details"],
    isTaken:
      `(?4 IS NULL OR t.task_id = ?4) AND (?5 IS NULL OR t.paused = ?5) AND (?6 IS NULL OR ?6 = ${state} ` +
      "OR ?6 = 'failing' AND t.failures > 0) " +
      `AND ${foundIn("?7", ["t.id", detail("name", "t")])} ` +
      `AND ${hasAllLabels(names, "?8", { kind: "schedule", id: "t.id" })}`,
  };
  const byId = (condition: string): Scan => ({
    rows: `SELECT seq, id FROM ${schedules} WHERE ${condition}id > coalesce(?3, '') ORDER BY id`,
    place: ["id"],
  });
  const ofLabel: Scan = {
    rows:
      `SELECT s.seq AS seq, l.id AS id FROM ${labels} l CROSS JOIN ${schedules} s ON s.id = l.id ` +
      `WHERE ${isFirstLabel("?8", "schedule")} AND l.at = 0 AND l.id > coalesce(?3, '') ORDER BY l.id`,
    place: ["id"],
  };
  return Object.fromEntries([
    ["label by id", scanStatement(list, ofLabel)],
    ...Object.entries(BY_ID).map(([name, condition]) => [`${name} by id`, scanStatement(list, byId(condition))]),
    ...Object.entries(BY_TIME).map(([name, kinds]) => [
      `${name} by time`,
      scanStatement(list, { rows: rowsByTime(schedules, kinds), place: ["at", "id"] }),
    ]),
  ]);
}

function rowsByTime(schedules: string, kinds: readonly (keyof typeof KINDS)[]): string {
  const parts = kinds.map((kind) => {
    const rows = (time: string): string => `SELECT seq, ${time} AS at, id FROM ${schedules} WHERE ${KINDS[kind]} AND `;
    const isAfter = "next_fire_time >= ?9 AND (next_fire_time > ?9 OR id > coalesce(?3, ''))";
    if (kind !== "ended") return rows("next_fire_time") + isAfter;
    // SQLite would sort all of them, because it does not see that they have one time.
    const start = `id > CASE WHEN ?9 < ${FAR_FUTURE_MS} THEN '' ELSE coalesce(?3, '') END`;
    return `SELECT * FROM (${rows(`${FAR_FUTURE_MS}`)}${start} ORDER BY id LIMIT +?2)`;
  });
  return `${parts.join(" UNION ALL ")} ORDER BY at, id`;
}
