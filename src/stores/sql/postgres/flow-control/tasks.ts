import type { TaskStatements } from "../../flow-control/tasks.ts";
import { PAUSES_MAX } from "../../limits.ts";
import { PAUSE_COLUMNS, setPauseColumns } from "../../schema/pause-columns.ts";
import { JOB_STATE, REMOVED } from "../../schema/tables.ts";
import { lazily } from "../../sql-and-json.ts";
import { isJobOfTask } from "../jobs/job-rows.ts";
import type { PostgresNames } from "../schema/names.ts";
import { endingKeyPauses, endingPauses } from "../schema/pause-ends.ts";
import { arrayOf, shownJson, textList, textsOf } from "../sql-and-json.ts";
import { becomesDirty, markDirty } from "./key-limiters.ts";

const { ready, blocked } = JOB_STATE;

/** The arguments are those of the statements on SQLite's SQL. */
export function taskStatements(names: PostgresNames): TaskStatements {
  const { tasks, schedules, jobs, keyLimiters, inSchema } = names;
  const record = `${taskAsJson(names, "t")} AS record`;
  const said = PAUSE_COLUMNS.join(", ");
  const isInUse =
    `EXISTS (SELECT 1 FROM ${schedules} WHERE task_id = ?1) ` +
    `OR EXISTS (SELECT 1 FROM ${jobs} j WHERE ${isJobOfTask("j", "?1")})`;
  const changed = `${textsOf("?1", "e")} JOIN ${tasks} t ON t.id = e.value`;
  const ownKey = `(SELECT own_key FROM ${tasks} WHERE id = j.task_id)`;
  const isTask = `t.id = ?1 AND t.declaration IS DISTINCT FROM ${REMOVED}`;
  const dirtyUnlessPaused = "CASE WHEN ?2 = 0 THEN 0 END";
  const isLimited = "(max_running_per_key IS NOT NULL OR rate_limit IS NOT NULL OR fair = 1)";
  const setPaused = (paused: string, values: readonly string[] = []): string =>
    `paused = ${paused}, limited = CASE WHEN ${paused} = 1 OR ${isLimited} THEN 1 ELSE 0 END, ` +
    setPauseColumns(values);
  const formerNumber = (place: number): string => `(t.former->>${place})::bigint`;
  const enable = (successes: boolean): string[] => [`SELECT ${inSchema}enable_notices(${successes})`];

  return lazily<TaskStatements>({
    getTasksById: () =>
      `SELECT ${record} FROM ${changed} WHERE t.declaration IS DISTINCT FROM ${REMOVED} ORDER BY e.key`,
    putTasks: () => `SELECT ${inSchema}put_tasks(?1::json)`,
    makeLimitersOfTasks: () =>
      markDirty(names, `SELECT t.id, '', 0 FROM ${changed} WHERE t.former IS NOT NULL AND t.limited = 1`),
    changeLimiters: () =>
      `UPDATE ${keyLimiters} AS l SET ${becomesDirty("0")}, tat = CASE WHEN t.rate_limit = ${formerNumber(1)} ` +
      `AND t.rate_per = ${formerNumber(2)} AND t.rate_burst = ${formerNumber(3)} THEN l.tat END ` +
      `FROM ${changed} WHERE t.former IS NOT NULL AND l.task_id = t.id`,
    rekeyJobs: () =>
      `UPDATE ${jobs} AS j SET concurrency_key = ${ownKey}, virtual_time = NULL, ` +
      `state = CASE WHEN j.state = ${blocked} AND ${ownKey} IS NULL THEN ${ready} ELSE j.state END ` +
      `WHERE j.seq IN (SELECT i.seq FROM ${changed} JOIN ${jobs} i ON ${isJobOfTask("i", "t.id")} ` +
      "WHERE t.former IS NOT NULL AND t.own_key IS DISTINCT FROM t.former->>0 AND coalesce(i.concurrency_key, " +
      "'') = '')",
    blockJobs: () =>
      `UPDATE ${jobs} AS j SET state = ${blocked}, virtual_time = NULL FROM ${changed} WHERE t.former IS NOT NULL ` +
      `AND j.task_id = t.id AND j.concurrency_key IS NOT NULL AND j.state = ${ready}`,
    forgetFormer: () => `UPDATE ${tasks} SET former = NULL WHERE id IN (${textList("?1")}) AND former IS NOT NULL`,
    getTasks: () =>
      `SELECT ${record} FROM ${tasks} t WHERE t.id > ?1 AND t.declaration IS DISTINCT FROM ${REMOVED} ORDER BY t.id`,
    getTask: () => `SELECT ${record} FROM ${tasks} t WHERE ${isTask}`,
    isTaskInUse: () => `SELECT ${isInUse} AS in_use`,
    removeTask: () =>
      `UPDATE ${tasks} AS t SET declaration = ${REMOVED}, version = NULL, ${setPaused("0")} ` +
      `WHERE ${isTask} AND NOT (${isInUse}) RETURNING t.id`,
    unpauseRemoved: () =>
      `UPDATE ${keyLimiters} AS l SET paused = 0, ${setPauseColumns()}, ${becomesDirty("0")} ` +
      "WHERE l.task_id = ?1 AND l.paused = 1 " +
      `AND EXISTS (SELECT 1 FROM ${tasks} WHERE id = ?1 AND declaration = ${REMOVED})`,
    pauseTask: () =>
      `UPDATE ${tasks} AS t SET ${setPaused("?2::integer", ["?3", "?4", "?5"])} WHERE ${isTask} RETURNING t.id`,
    makeLimiterOfTask: () => markDirty(names, `SELECT t.id, '', 0 FROM ${tasks} t WHERE ${isTask}`),
    pauseLimiters: () =>
      `UPDATE ${keyLimiters} SET dirty_since = ${dirtyUnlessPaused}, admit_at = NULL WHERE task_id = ?1 ` +
      `AND EXISTS (SELECT 1 FROM ${tasks} t WHERE ${isTask})`,
    pauseKey: () =>
      `INSERT INTO ${keyLimiters} (task_id, key, paused, dirty_since, paused_until, pause_reason, paused_by) ` +
      `SELECT t.id, ?3, ?2, ${dirtyUnlessPaused}, ?4::bigint, ?5, ?6 ` +
      `FROM ${tasks} t WHERE ${isTask} ON CONFLICT (task_id, key) DO UPDATE SET paused = excluded.paused, ` +
      "paused_until = excluded.paused_until, pause_reason = excluded.pause_reason, paused_by = excluded.paused_by, " +
      "dirty_since = excluded.dirty_since, admit_at = NULL RETURNING key",
    blockPaused: () =>
      `UPDATE ${jobs} SET state = ${blocked}, virtual_time = NULL WHERE task_id = ?1 AND concurrency_key = ?2 ` +
      `AND state = ${ready} ` +
      `AND EXISTS (SELECT 1 FROM ${keyLimiters} WHERE task_id = ?1 AND key = ?2 AND paused = 1)`,
    reopenLimiters: () =>
      `UPDATE ${keyLimiters} SET dirty_since = 0, admit_at = NULL ` +
      `WHERE task_id IN (${endingPauses(tasks, "id", "?1")})`,
    endTaskPauses: () =>
      `UPDATE ${tasks} SET ${setPaused("0")} WHERE id IN (${endingPauses(tasks, "id", "?1")}) ` +
      "RETURNING id AS task_id, NULL AS key",
    endKeyPauses: () =>
      `UPDATE ${keyLimiters} SET paused = 0, dirty_since = 0, admit_at = NULL, ${setPauseColumns()} ` +
      `WHERE (task_id, key) IN (${endingKeyPauses(keyLimiters, "?1")}) RETURNING task_id, key`,
    getTaskPauses: () =>
      `SELECT id AS task_id, NULL AS key, ${said} FROM ${tasks} WHERE paused = 1 UNION ALL ` +
      `SELECT task_id, key, ${said} FROM ${keyLimiters} WHERE paused = 1 ` +
      `ORDER BY task_id, key NULLS FIRST LIMIT ${PAUSES_MAX}`,
    makeNoticeTriggers: () => ({ changes: enable(false), successes: enable(true) }),
  });
}

function taskAsJson(names: PostgresNames, t: string): string {
  const pause = PAUSE_COLUMNS.map((column) => `${t}.${column}`);
  const columns = [`${t}.id`, `${t}.max_running_jobs`, `${t}.declaration`, `${t}.version`, `${t}.paused`, ...pause];
  return arrayOf(`json_build_array(${columns.join(", ")})`, shownJson(names, `${t}.details`));
}
