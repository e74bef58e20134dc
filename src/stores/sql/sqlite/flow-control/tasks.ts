import { NO_VERSION } from "../../../shared/declarations.ts";
import type { TaskStatements } from "../../flow-control/tasks.ts";
import { noticeTriggers } from "../../history/notice-triggers.ts";
import { PAUSES_MAX } from "../../limits.ts";
import { PAUSE_COLUMNS, setPauseColumns } from "../../schema/pause-columns.ts";
import { JOB_STATE, REMOVED, type TableNames } from "../../schema/tables.ts";
import { lazily, validJson } from "../../sql-and-json.ts";
import { isJobOfTask } from "../jobs/job-rows.ts";
import { endingKeyPauses, endingPauses } from "../schema/pause-columns.ts";
import { readableColumn, rowAsJson } from "../sql-and-json.ts";
import { becomesDirty, markDirty } from "./key-limiters.ts";

const { ready, blocked } = JOB_STATE;

export function taskStatements(names: TableNames): TaskStatements {
  const { tasks, schedules, jobs, keyLimiters } = names;
  const record = `${taskAsJson(tasks)} AS record`;
  const said = PAUSE_COLUMNS.join(", ");
  const isInUse =
    `EXISTS (SELECT 1 FROM ${schedules} WHERE task_id = ?1) ` +
    `OR EXISTS (SELECT 1 FROM ${jobs} WHERE ${isJobOfTask("?1")})`;
  const changed = `json_each(?1) e CROSS JOIN ${tasks} t ON t.id = e.value`;
  const ownKey = `(SELECT own_key FROM ${tasks} WHERE id = ${jobs}.task_id)`;
  const isTask = `id = ?1 AND declaration IS NOT ${REMOVED}`;
  const dirtyUnlessPaused = "CASE WHEN ?2 = 0 THEN 0 END";
  const toBlocked = `state = ${blocked}, virtual_time = NULL`;
  const isLimited = "(max_running_per_key IS NOT NULL OR rate_limit IS NOT NULL OR fair = 1)";
  const setPaused = (paused: string, said: readonly string[] = []): string =>
    `paused = ${paused}, limited = (${paused} = 1 OR ${isLimited}), ${setPauseColumns(said)}`;

  return lazily<TaskStatements>({
    // ?1 ids
    getTasksById: () =>
      `SELECT ${taskAsJson("t")} AS record FROM json_each(?1) a CROSS JOIN ${tasks} t ON t.id = a.value ` +
      `WHERE t.declaration IS NOT ${REMOVED}`,
    // ?1 rows of taskRow
    putTasks: () => putTasks(tasks),
    // The next five follow putTasks, in this order, and concern the tasks whose limits it changed. ?1 ids.
    makeLimitersOfTasks: () =>
      markDirty(names, `SELECT t.id, '', 0 FROM ${changed} WHERE t.former IS NOT NULL AND t.limited = 1`),
    // The buckets of another rate are full.
    changeLimiters: () =>
      `UPDATE ${keyLimiters} SET ${becomesDirty("0")}, tat = CASE ` +
      "WHEN t.rate_limit = t.former->>1 AND t.rate_per = t.former->>2 AND t.rate_burst = t.former->>3 THEN tat END " +
      `FROM ${changed} WHERE t.former IS NOT NULL AND ${keyLimiters}.task_id = t.id`,
    rekeyJobs: () =>
      `UPDATE ${jobs} SET concurrency_key = ${ownKey}, virtual_time = NULL, ` +
      `state = CASE WHEN state = ${blocked} AND ${ownKey} IS NULL THEN ${ready} ELSE state END ` +
      `WHERE seq IN (SELECT j.seq FROM ${changed} CROSS JOIN ${jobs} j ON ${isJobOfTask("t.id")} ` +
      "WHERE t.former IS NOT NULL AND t.own_key IS NOT t.former->>0 AND coalesce(j.concurrency_key, '') = '')",
    blockJobs: () =>
      `UPDATE ${jobs} SET ${toBlocked} FROM ${changed} WHERE t.former IS NOT NULL AND ${jobs}.task_id = t.id ` +
      `AND ${jobs}.concurrency_key IS NOT NULL AND ${jobs}.state = ${ready}`,
    forgetFormer: () =>
      `UPDATE ${tasks} SET former = NULL WHERE id IN (SELECT value FROM json_each(?1)) AND former NOTNULL`,
    // ?1 id to start after
    getTasks: () => `SELECT ${record} FROM ${tasks} WHERE id > ?1 AND declaration IS NOT ${REMOVED} ORDER BY id`,
    // ?1 id
    getTask: () => `SELECT ${record} FROM ${tasks} WHERE ${isTask}`,
    isTaskInUse: () => `SELECT ${isInUse} AS in_use`,
    removeTask: () =>
      `UPDATE ${tasks} SET declaration = ${REMOVED}, version = NULL, ${setPaused("0")} ` +
      `WHERE ${isTask} AND NOT (${isInUse}) RETURNING id`,
    // ?1 id. Follows removeTask.
    unpauseRemoved: () =>
      `UPDATE ${keyLimiters} SET paused = 0, ${setPauseColumns()}, ${becomesDirty("0")} ` +
      "WHERE task_id = ?1 AND paused = 1 " +
      `AND EXISTS (SELECT 1 FROM ${tasks} WHERE id = ?1 AND declaration IS ${REMOVED})`,

    // ?1 id, ?2 whether to pause, ?3 until, ?4 reason, ?5 by. Yields a row if there is such a task; and so does
    // pauseKey.
    pauseTask: () => `UPDATE ${tasks} SET ${setPaused("?2", ["?3", "?4", "?5"])} WHERE ${isTask} RETURNING id`,
    // ?1 id. Tells looks that there is flow control.
    makeLimiterOfTask: () => markDirty(names, `SELECT id, '', 0 FROM ${tasks} WHERE ${isTask}`),
    // ?1 id, ?2 whether to pause. The limiters of a task that goes on are dirty.
    pauseLimiters: () =>
      `UPDATE ${keyLimiters} SET dirty_since = ${dirtyUnlessPaused}, admit_at = NULL WHERE task_id = ?1 ` +
      `AND EXISTS (SELECT 1 FROM ${tasks} WHERE ${isTask})`,
    // ?1 id, ?2 whether to pause, ?3 key, ?4 until, ?5 reason, ?6 by
    pauseKey: () =>
      `INSERT INTO ${keyLimiters} (task_id, key, paused, dirty_since, paused_until, pause_reason, paused_by) ` +
      `SELECT id, ?3, ?2, ${dirtyUnlessPaused}, ?4, ?5, ?6 ` +
      `FROM ${tasks} WHERE ${isTask} ON CONFLICT (task_id, key) DO UPDATE SET paused = excluded.paused, ` +
      "paused_until = excluded.paused_until, pause_reason = excluded.pause_reason, paused_by = excluded.paused_by, " +
      "dirty_since = excluded.dirty_since, admit_at = NULL RETURNING key",
    // ?1 id, ?2 key. Follows pauseKey; nothing admits jobs of a paused key.
    blockPaused: () =>
      `UPDATE ${jobs} SET ${toBlocked} WHERE task_id = ?1 AND concurrency_key = ?2 AND state = ${ready} ` +
      `AND EXISTS (SELECT 1 FROM ${keyLimiters} WHERE task_id = ?1 AND key = ?2 AND paused = 1)`,
    // ?1 now. The next two follow each other, and the statements that record the ends.
    reopenLimiters: () =>
      `UPDATE ${keyLimiters} SET dirty_since = 0, admit_at = NULL WHERE task_id IN (SELECT id FROM ${tasks} ` +
      `WHERE rowid IN (${endingPauses(tasks, "?1")}))`,
    endTaskPauses: () =>
      `UPDATE ${tasks} SET ${setPaused("0")} WHERE rowid IN (${endingPauses(tasks, "?1")}) ` +
      "RETURNING id AS task_id, NULL AS key",
    // ?1 now
    endKeyPauses: () =>
      `UPDATE ${keyLimiters} SET paused = 0, dirty_since = 0, admit_at = NULL, ${setPauseColumns()} ` +
      `WHERE (task_id, key) IN (${endingKeyPauses(keyLimiters, "?1")}) RETURNING task_id, key`,
    getTaskPauses: () =>
      `SELECT id AS task_id, NULL AS key, ${said} FROM ${tasks} WHERE paused = 1 AND id > '' UNION ALL ` +
      `SELECT task_id, key, ${said} FROM ${keyLimiters} WHERE paused = 1 AND task_id > '' ` +
      `ORDER BY task_id, key LIMIT ${PAUSES_MAX}`,
    makeNoticeTriggers: () => noticeTriggers(names),
  });
}

/** The columns that limit a task. A change of any of them counts for jobs that wait, too. */
const LIMITS = ["max_running_per_key", "rate_limit", "rate_per", "rate_burst", "fair", "own_key"];

/** Puts tasks as `putTask` tells. A task that was removed is put like a new one. */
function putTasks(tasks: string): string {
  const storedVersion = `coalesce(${tasks}.version, ${NO_VERSION})`;
  const givenVersion = `coalesce(excluded.version, ${NO_VERSION})`;
  const isEdit = "excluded.declaration IS NULL";
  const isReplaced =
    `(${isEdit} OR ${tasks}.declaration IS ${REMOVED} OR ` +
    `(${tasks}.declaration IS NOT excluded.declaration AND ${storedVersion} <= ${givenVersion}))`;
  const replaced = (column: string, given = `excluded.${column}`): string =>
    `${column} = CASE WHEN ${isReplaced} THEN ${given} ELSE ${tasks}.${column} END`;
  const isRelimited = LIMITS.map((column) => `${tasks}.${column} IS NOT excluded.${column}`).join(" OR ");
  const former = ["own_key", "rate_limit", "rate_per", "rate_burst"].map((column) => `${tasks}.${column}`).join(", ");
  const columns = [
    ...["details", "max_running_jobs", ...LIMITS].map((column) => replaced(column)),
    replaced("limited", `max(excluded.limited, ${tasks}.paused)`),
    `former = CASE WHEN ${isReplaced} AND (${isRelimited}) THEN coalesce(${tasks}.former, json_array(${former})) ` +
      `ELSE ${tasks}.former END`,
  ];
  const isOther =
    `value->>3 IS NOT t.declaration AND t.declaration IS NOT ${REMOVED} AND t.id NOTNULL ` +
    "AND coalesce(t.declaration, '') <> value->>5";
  return (
    `INSERT INTO ${tasks} (id, max_running_jobs, details, declaration, version, limited, ` +
    `${LIMITS.join(", ")}, former) SELECT value->>0, value->>1, ` +
    "value->>2, value->>3, value->>4, coalesce(value->>6, 0), value->>7, value->>8, value->>9, value->>10, " +
    "coalesce(value->>11, 0), value->>12, CASE WHEN value->>6 = 1 THEN '[]' END FROM json_each(?1) " +
    `LEFT JOIN ${tasks} t ON t.id = value->>0 WHERE value->>5 IS NULL OR NOT (${isOther}) ` +
    `ON CONFLICT (id) DO UPDATE SET ${columns.join(", ")}, ` +
    `declaration = CASE WHEN ${isEdit} THEN nullif(${tasks}.declaration, ${REMOVED}) ` +
    `WHEN ${isReplaced} THEN excluded.declaration ELSE ${tasks}.declaration END, ` +
    `version = CASE WHEN ${isEdit} THEN ${tasks}.version ` +
    `ELSE nullif(max(${storedVersion}, ${givenVersion}), ${NO_VERSION}) END`
  );
}

function taskAsJson(table: string): string {
  const [id, declaration] = ["id", "declaration"].map((column) => readableColumn(table, column));
  const columns = [
    id ?? "",
    `${table}.max_running_jobs + 0`,
    declaration ?? "",
    `${table}.version + 0`,
    `${table}.paused + 0`,
    `${table}.paused_until + 0`,
    `CAST(${table}.pause_reason AS TEXT)`,
    `CAST(${table}.paused_by AS TEXT)`,
  ];
  return rowAsJson(null, columns, [validJson(`${table}.details`)]);
}
