import { NO_VERSION } from "../../../shared/declarations.ts";
import { FAR_FUTURE_MS } from "../../limits.ts";
import type { Scan, ScannedTable } from "../../lists/list-scans.ts";
import type { ReplacementStatements, ScheduleStatements } from "../../schedules/schedule-statements.ts";
import { PAUSE_COLUMNS, setPauseColumns } from "../../schema/pause-columns.ts";
import { lazily } from "../../sql-and-json.ts";
import { markDirty } from "../flow-control/key-limiters.ts";
import { foundIn, hasAllLabels, isFirstLabel, scanStatement } from "../lists/lists.ts";
import { guardSql, type PostgresNames } from "../schema/names.ts";
import { endingPauses } from "../schema/pause-ends.ts";
import { joinedJson, keptJson, rowsOf, textList, textsOf } from "../sql-and-json.ts";
import { exhaustedSchedules, hasExpectedFence, isFailing, scheduleAsJson } from "./schedule-conditions.ts";

/** The columns of `newScheduleRow`, with their types. */
const NEW_SCHEDULE = {
  id: "text",
  task_id: "text",
  trigger_json: "text",
  trigger_rule: "text",
  paused: "integer",
  created_at: "bigint",
  next_fire_time: "bigint",
  last_fire_time: "bigint",
  fence: "bigint",
  metadata: "text",
  details: "text",
  skipped_count: "bigint",
  declaration: "text",
  version: "bigint",
  pace_until: "bigint",
  zone_rules: "text",
  expect_start: "bigint",
  expect_finish: "bigint",
  revision: "bigint",
  paused_until: "bigint",
  pause_reason: "text",
  paused_by: "text",
  failures: "bigint",
  last_failure: "text",
};
const JSON_COLUMNS = ["metadata", "details", "last_failure"];

/** The arguments are those of the statements on SQLite's SQL. */
export function scheduleStatements(names: PostgresNames): ScheduleStatements {
  const { schedules, jobs, inSchema } = names;
  const conflicts =
    `SELECT a.key AS place FROM ${rowsOf("?1", "a", "id text, trigger text, created_at bigint")} ` +
    `JOIN ${schedules} s ON s.id = a.id ` +
    "WHERE NOT (?2 = 1 AND s.trigger_json = a.trigger AND s.created_at = a.created_at)";
  // A repetition finds what its first try has left.
  const moved =
    `SELECT a.id AS id FROM ${rowsOf("?1", "a", "id text, revision bigint, declaration text")} ` +
    `LEFT JOIN ${schedules} s ON s.id = a.id WHERE s.revision IS DISTINCT FROM a.revision ` +
    "AND NOT (?2 = 1 AND s.declaration IS NOT DISTINCT FROM a.declaration " +
    "AND (s.id IS NULL) = (a.declaration IS NULL))";
  const byIds = `FROM ${textsOf("?1", "a")} JOIN ${schedules} s ON s.id = a.value`;
  const columns = Object.keys(NEW_SCHEDULE);
  const values = columns.map((column) =>
    JSON_COLUMNS.includes(column) ? keptJson(names, `a.${column}`) : `a.${column}`,
  );
  const row = Object.entries(NEW_SCHEDULE).map((column) => column.join(" "));
  const insert =
    `INSERT INTO ${schedules} AS s (${columns.join(", ")}) ` +
    `SELECT ${values.join(", ")} FROM ${rowsOf("?1", "a", row.join(", "))} ORDER BY a.key`;
  /** What a column is after the changes of the row `r`, by their field `name`. A field that is absent changes nothing;
   *  null is a value. */
  const given = (name: string): string =>
    `r.changes${name
      .split(".")
      .map((part) => `->'${part}'`)
      .join("")}`;
  const givenValue = (name: string, type: string): string => `(${given(name)} #>> '{}')::${type}`;
  const valueAfter = (column: string, name: string, type: string): string =>
    `CASE WHEN ${given(name)} IS NULL THEN s.${column} ELSE ${givenValue(name, type)} END`;
  const changed = (column: string, name: string, type = "bigint"): string =>
    `${column} = ${valueAfter(column, name, type)}`;
  /** The end of a pause begins the count of failures anew. `paused` is the SQL of the pause after the change. */
  const countedAfter = (paused: string): string =>
    `failures = CASE WHEN s.paused = 1 AND ${paused} = 0 THEN 0 ELSE s.failures END`;
  /** Sets what was said of a pause, which goes with the pause. */
  const ofPause = (column: string, name: string, type: string): string =>
    `${column} = CASE WHEN ${given("paused")} IS NULL THEN s.${column} ELSE ${givenValue(name, type)} END`;
  /** A fire time that passed during a pause is not overdue when the pause ends. */
  const raisedAfter = (paused: string, next: string, at: string): string =>
    ["raised_start_for", "raised_finish_for"]
      .map(
        (name) =>
          `${name} = CASE WHEN s.paused = 1 AND ${paused} = 0 AND ${next} <= ${at} THEN ${next} ELSE s.${name} END`,
      )
      .join(", ");
  const pausedAfter = `CASE ${given("paused")} #>> '{}' WHEN 'true' THEN 1 WHEN 'false' THEN 0 END`;
  // New labels replace all of the former ones.
  /** A column, or if the rule of the trigger is another, its new value. */
  const valueOfRule = (column: string): string =>
    `CASE WHEN s.trigger_rule = excluded.trigger_rule THEN s.${column} ELSE excluded.${column} END`;
  const keptOfRule = (column: string): string => `${column} = ${valueOfRule(column)}`;
  const storedVersion = `coalesce(s.version, ${NO_VERSION})`;
  const replaced = [
    "task_id",
    "trigger_rule",
    "metadata",
    "details",
    "declaration",
    "expect_start",
    "expect_finish",
    "version",
  ];
  const replace = (setPause: string, condition: string): string =>
    `${insert} ON CONFLICT (id) DO UPDATE SET ` +
    `${["trigger_json", "next_fire_time", "pace_until", "zone_rules"].map(keptOfRule).join(", ")}, ` +
    `${replaced.map((column) => `${column} = excluded.${column}`).join(", ")}, ${setPause}` +
    `fence = s.fence + 1, revision = s.revision + 1, changed_by = NULL, preferred_scheduler = NULL${condition}`;
  const replacements = (condition = ""): ReplacementStatements => ({
    keepingPause: replace("", condition),
    settingPause: replace(
      `paused = excluded.paused, ${setPauseColumns(PAUSE_COLUMNS.map((name) => `excluded.${name}`))}, ` +
        `${countedAfter("excluded.paused")}, ` +
        `${raisedAfter("excluded.paused", `(${valueOfRule("next_fire_time")})`, "?2::bigint")}, `,
      condition,
    ),
  });

  return lazily<ScheduleStatements>({
    findConflicts: () => conflicts,
    guardConflicts: () => `SELECT ${guardSql(names, `NOT EXISTS (${conflicts})`)} AS guard`,
    findExisting: () => `SELECT json_agg(json_build_array(s.id, s.declaration, s.version))::text AS existing ${byIds}`,
    findMoved: () => moved,
    guardRevisions: () => `SELECT ${guardSql(names, `NOT EXISTS (${moved})`)} AS guard`,
    renameSchedules: () => renames(names),
    insertSchedules: () => `${insert} ON CONFLICT (id) DO NOTHING`,
    replaceSchedules: () => replacements(),
    updateDeclared: () =>
      replacements(
        " WHERE (s.declaration IS NULL OR s.declaration IS DISTINCT FROM excluded.declaration) " +
          `AND ${storedVersion} <= coalesce(excluded.version, ${NO_VERSION})`,
      ),
    raiseVersions: () =>
      `UPDATE ${schedules} AS s SET version = r.version ` +
      `FROM ${rowsOf("?1", "r", "id text, declaration text, version bigint")} WHERE s.id = r.id ` +
      `AND s.declaration = r.declaration AND ${storedVersion} < r.version`,
    getSchedulesById: () => `SELECT ${joinedJson(scheduleAsJson(names, "s"), "a.key")} AS records ${byIds}`,
    getSchedule: () => `SELECT ${scheduleAsJson(names, "s")} AS record FROM ${schedules} s WHERE s.id = ?1`,
    getStampedSchedules: () => `SELECT ${scheduleAsJson(names, "s")} AS record ${byIds} WHERE s.changed_by = ?2`,
    getSchedules: () => scheduleLists(names),
    updateSchedules: () =>
      `UPDATE ${schedules} AS s SET ${changed("task_id", "taskId", "text")}, ` +
      `${changed("trigger_json", "trigger", "text")}, ${changed("trigger_rule", "triggerRule", "text")}, ` +
      `paused = coalesce(${pausedAfter}, s.paused), ${ofPause("paused_until", "pausedUntil", "bigint")}, ` +
      `${ofPause("pause_reason", "pauseReason", "text")}, ${ofPause("paused_by", "pausedBy", "text")}, ` +
      `${countedAfter(pausedAfter)}, ` +
      `${changed("next_fire_time", "nextFireTime")}, ${changed("last_fire_time", "lastFireTime")}, ` +
      `${changed("pace_until", "paceUntil")}, ${changed("zone_rules", "zoneRules", "text")}, ` +
      `${changed("expect_start", "details.expectStartMs")}, ${changed("expect_finish", "details.expectFinishMs")}, ` +
      `${raisedAfter(pausedAfter, `(${valueAfter("next_fire_time", "nextFireTime", "bigint")})`, "?3::bigint")}, ` +
      `metadata = coalesce(${given("metadata")}, s.metadata), ` +
      `details = ${inSchema}merged(s.details, coalesce(${given("details")}, '{}')), fence = s.fence + 1, ` +
      `revision = s.revision + CASE WHEN ${given("keepsRevision")} #>> '{}' = 'true' THEN 0 ELSE 1 END, ` +
      `changed_by = ?2, preferred_scheduler = NULL FROM ${rowsOf("?1", "r", "id text, fence bigint, changes json")} ` +
      `WHERE s.id = r.id AND ${hasExpectedFence("s")} AND s.changed_by IS DISTINCT FROM ?2`,
    endSchedulePauses: () =>
      `UPDATE ${schedules} AS s SET paused = 0, failures = 0, ${setPauseColumns()}, ` +
      `${raisedAfter("0", "s.next_fire_time", "?1")}, fence = s.fence + 1, revision = s.revision + 1, ` +
      `changed_by = ?2, preferred_scheduler = NULL WHERE s.seq IN (${endingPauses(schedules, "seq", "?1")}) ` +
      "RETURNING s.id, s.task_id, s.next_fire_time",
    countEnds: () =>
      `UPDATE ${schedules} AS s SET failures = CASE WHEN x.last IS NULL THEN s.failures + x.failed ELSE x.since END ` +
      "FROM (SELECT e.schedule_id, e.last, sum(e.failed) AS failed, " +
      "sum(CASE WHEN e.failed = 1 AND e.key > coalesce(e.last, -1) THEN 1 ELSE 0 END) AS since " +
      "FROM (SELECT r.key, r.schedule_id, r.failed, " +
      "max(CASE WHEN r.failed = 0 THEN r.key END) OVER (PARTITION BY r.schedule_id) AS last " +
      `FROM ${rowsOf("?1", "r", "id text, fence bigint, schedule_id text, failed integer")} ` +
      `JOIN ${jobs} j ON j.id = r.id WHERE j.fence = r.fence AND j.acquired_by = ?2) e ` +
      "GROUP BY e.schedule_id, e.last) x WHERE s.id = x.schedule_id",
    pauseFailing: () =>
      `UPDATE ${schedules} AS s SET paused = 1, paused_until = NULL, pause_reason = ${REASON_OF_FAILURES}, ` +
      "paused_by = ?2, fence = s.fence + 1, revision = s.revision + 1, changed_by = ?3, preferred_scheduler = NULL " +
      `WHERE ${isFailing("s")} RETURNING s.id, s.task_id, s.next_fire_time, s.pause_reason`,
    removeSchedules: () =>
      `DELETE FROM ${schedules} s USING ${rowsOf("?1", "r", "id text, fence bigint")} WHERE s.id = r.id ` +
      `AND ${hasExpectedFence("s")} RETURNING s.id`,
    makeLimiters: () => markDirty(names, `SELECT s.task_id, '', 0 ${byIds}`),
    removeExhausted: () => `DELETE FROM ${schedules} WHERE seq IN (${exhaustedSchedules(names, "?1")}) RETURNING id`,
  });
}

/** By table. What the new id has of its own stays. The details are set for the triggers of labels. */
function renames(names: PostgresNames): Readonly<Record<string, string>> {
  const { schedules, jobs, results, histories, changes, overdue, backfills, stats, inSchema } = names;
  const rows = rowsOf("?1", "r", "former text, latter text");
  /** @param isInTheWay SQL condition of another row `o` of the new id, which is in the way; empty for none */
  const ofTable = (table: string, isInTheWay = "", set = ""): string =>
    `UPDATE ${table} AS t SET schedule_id = r.latter${set} FROM ${rows} WHERE t.schedule_id = r.former` +
    (isInTheWay === ""
      ? ""
      : ` AND NOT EXISTS (SELECT 1 FROM ${table} o WHERE o.schedule_id = r.latter AND ${isInTheWay})`);
  return {
    schedules:
      `UPDATE ${schedules} AS s SET id = r.latter, details = s.details, fence = s.fence + 1, changed_by = NULL, ` +
      `preferred_scheduler = NULL FROM ${rows} WHERE s.id = r.former`,
    jobs: ofTable(jobs, "o.fire_time = t.fire_time"),
    results: ofTable(results),
    histories: ofTable(histories, "true"),
    changes: ofTable(changes),
    overdue: ofTable(overdue, "o.fire_time = t.fire_time AND o.kind = t.kind"),
    stats: ofTable(stats, "o.hour = t.hour AND o.task_id = t.task_id AND o.cell = t.cell"),
    backfills: ofTable(
      backfills,
      "o.key = t.key AND o.cancelled = 0 AND t.cancelled = 0",
      `, details = ${inSchema}merged(t.details, json_build_object('scheduleId', r.latter))`,
    ),
  };
}

/** As `reasonOfFailures`. */
const REASON_OF_FAILURES = "s.failures || CASE s.failures WHEN 1 THEN ' failure' ELSE ' failures' END || ' in a row'";

/** The conditions of the scans in the order of ids. */
const BY_ID: Readonly<Record<string, string>> = {
  all: "true",
  named: `s.id IN (${textList("?9")})`,
  task: "s.task_id = ?4",
  paused: "s.paused = 1",
  ended: "s.next_fire_time IS NULL",
  failing: "s.failures > 0",
};

/** The kinds of schedules, each with an index. */
const KINDS = {
  waiting: "s.paused = 0 AND s.next_fire_time IS NOT NULL",
  paused: "s.paused = 1 AND s.next_fire_time IS NOT NULL",
  ended: "s.next_fire_time IS NULL",
} as const;

/** The scans in the order of fire times. */
const BY_TIME: Readonly<Record<string, readonly (keyof typeof KINDS)[]>> = {
  all: ["waiting", "paused", "ended"],
  active: ["waiting"],
  paused: ["paused"],
  ended: ["ended"],
};

function scheduleLists(names: PostgresNames): Readonly<Record<string, string>> {
  const { schedules, labels } = names;
  const state = "CASE WHEN t.next_fire_time IS NULL THEN 'ended' WHEN t.paused = 1 THEN 'paused' ELSE 'active' END";
  const list: ScannedTable = {
    table: schedules,
    key: "seq",
    record: scheduleAsJson(names, "t"),
    texts: ["trigger_json", "metadata", "details"],
    isTaken:
      "(?4::text IS NULL OR t.task_id = ?4) AND (?5::integer IS NULL OR t.paused = ?5) " +
      `AND (?6::text IS NULL OR ?6 = ${state} OR ?6 = 'failing' AND t.failures > 0) ` +
      `AND ${foundIn("?7", ["t.id", "(t.details->>'name')"])} ` +
      `AND ${hasAllLabels(names, "?8", { kind: "schedule", id: "t.id" })}`,
  };
  const byId = (condition: string): Scan => ({
    rows: `SELECT s.seq, s.id FROM ${schedules} s WHERE ${condition} AND s.id > coalesce(?3::text, '') ORDER BY s.id`,
    place: ["id"],
  });
  const ofLabel: Scan = {
    rows:
      `SELECT s.seq AS seq, l.id AS id FROM ${labels} l JOIN ${schedules} s ON s.id = l.id ` +
      `WHERE ${isFirstLabel("?8", "schedule")} AND l.at = 0 AND l.id > coalesce(?3::text, '') ORDER BY l.id`,
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
    const time = kind === "ended" ? `${FAR_FUTURE_MS}::bigint` : "s.next_fire_time";
    return (
      `(SELECT s.seq, ${time} AS at, s.id FROM ${schedules} s WHERE ${KINDS[kind]} ` +
      `AND (${time}, s.id) > (?9::bigint, coalesce(?3::text, '')) ORDER BY ` +
      `${kind === "ended" ? "" : "s.next_fire_time, "}s.id ` +
      "LIMIT ?2)"
    );
  });
  return `SELECT u.seq, u.at, u.id FROM (${parts.join(" UNION ALL ")}) u ORDER BY u.at, u.id`;
}
