import type { TaskRecord } from "../../../records/task.ts";
import type { TaskChange, TaskPause, TaskPauseRequest } from "../../data-store.ts";
import { NO_VERSION, putTask } from "../../task-declarations.ts";
import type { Connection } from "../driver/connection.ts";
import { rowParameters, statement } from "../driver/parameters.ts";
import { lazily } from "../lazily.ts";
import { type ChangeStatements, notePause } from "../ledger/changes.ts";
import type { LedgerSwitch } from "../ledger/history.ts";
import { PAUSES_MAX } from "../limits.ts";
import { hasFlowControl, jsonRecords, numberOrNull, type TaskRow, taskAsJson, taskRow, toTask } from "../rows.ts";
import { JOB_STATE, REMOVED, type TableNames } from "../schema/schema.ts";

import type { Awareness } from "./awareness.ts";
import { wakeGates } from "./gate-sql.ts";

type Statements = TaskStatements & ChangeStatements & LedgerSwitch;

/** The tasks of a `SqlDataStore`. */
export class SqliteTasks {
  readonly #connection: Connection;
  readonly #statements: Statements;
  readonly #awareness: Awareness;

  constructor(connection: Connection, statements: Statements, awareness: Awareness) {
    this.#connection = connection;
    this.#statements = statements;
    this.#awareness = awareness;
  }

  async put(tasks: readonly TaskRecord[]): Promise<TaskChange[]> {
    if (tasks.length === 0) return [];
    if (tasks.some(hasFlowControl)) this.#awareness.flow = "all";
    const { getTasksById, putTasks, openOwnGates, wakeRelimited, rekeyJobs, holdRelimited, settleTasks } =
      this.#statements;
    const ids = JSON.stringify(tasks.map((task) => task.id));
    const [existing] = await this.#connection.write(() => [
      statement(getTasksById, ids),
      ...rowParameters(tasks.map(taskRow)).map(({ text }) => statement(putTasks, text)),
      ...[openOwnGates, wakeRelimited, rekeyJobs, holdRelimited, settleTasks].map((sql) => statement(sql, ids)),
    ]);
    const known = new Map(jsonRecords<TaskRow>(existing).map((row) => [row[0][0], toTask(row)]));
    return tasks.map((given) => {
      const { task, change } = putTask(known.get(given.id), given);
      known.set(given.id, task);
      return change;
    });
  }

  async getAll(): Promise<TaskRecord[]> {
    return jsonRecords<TaskRow>(await this.#connection.read(statement(this.#statements.getTasks, ""))).map(toTask);
  }

  async get(id: string): Promise<TaskRecord | null> {
    const [row] = jsonRecords<TaskRow>(await this.#connection.read(statement(this.#statements.getTask, id)));
    return row === undefined ? null : toTask(row);
  }

  async remove(id: string): Promise<"removed" | "inUse" | "missing"> {
    const [inUse, removed] = await this.#connection.write(() => [
      statement(this.#statements.isTaskInUse, id),
      statement(this.#statements.removeTask, id),
      statement(this.#statements.unpauseRemoved, id),
    ]);
    if (numberOrNull(inUse, "in_use") === 1) return "inUse";
    return removed?.length === 1 ? "removed" : "missing";
  }

  async pause(request: TaskPauseRequest): Promise<boolean> {
    const { taskId, key, paused } = request;
    this.#awareness.flow = "all";
    const { pauseTask, openGateOfTask, pauseGatesOfTask, pauseKey, holdPaused } = this.#statements;
    const isPaused = paused ? 1 : 0;
    const noted = notePause(this.#statements, request);
    const answers = await this.#connection.write(() =>
      key === null
        ? [
            ...noted,
            statement(pauseTask, taskId, isPaused),
            statement(openGateOfTask, taskId),
            statement(pauseGatesOfTask, taskId, isPaused),
          ]
        : [...noted, statement(pauseKey, taskId, isPaused, key), statement(holdPaused, taskId, key)],
    );
    return answers[noted.length]?.length === 1;
  }

  async getPauses(): Promise<TaskPause[]> {
    const rows = await this.#connection.read(statement(this.#statements.getTaskPauses));
    return rows.map(({ task_id: taskId, key }) => ({
      taskId: String(taskId),
      key: typeof key === "string" ? key : null,
    }));
  }
}

const { ready, held } = JOB_STATE;

/** The statements about tasks, their limits and their pauses. A comment before each statement lists its arguments. */
export interface TaskStatements {
  readonly getTasksById: string;
  readonly putTasks: string;
  readonly openOwnGates: string;
  readonly wakeRelimited: string;
  readonly rekeyJobs: string;
  readonly holdRelimited: string;
  readonly settleTasks: string;
  readonly getTasks: string;
  readonly getTask: string;
  readonly isTaskInUse: string;
  readonly removeTask: string;
  readonly unpauseRemoved: string;
  readonly pauseTask: string;
  readonly openGateOfTask: string;
  readonly pauseGatesOfTask: string;
  readonly pauseKey: string;
  readonly holdPaused: string;
  readonly getTaskPauses: string;
}

export function taskStatements(names: TableNames): TaskStatements {
  const { tasks, schedules, jobs, gates } = names;
  const record = `${taskAsJson(tasks)} AS record`;
  const isInUse =
    `EXISTS (SELECT 1 FROM ${schedules} WHERE task_id = ?1) ` + `OR EXISTS (SELECT 1 FROM ${jobs} WHERE task_id = ?1)`;
  const relimited = `json_each(?1) e CROSS JOIN ${tasks} t ON t.id = e.value`;
  const isTask = `id = ?1 AND declaration IS NOT ${REMOVED}`;
  const wakeUnlessPaused = "CASE WHEN ?2 = 0 THEN 0 END";
  const toHeld = `state = ${held}, turn = NULL`;
  const isLimited = "(max_running_per_key IS NOT NULL OR rate_limit IS NOT NULL OR fair = 1)";
  const setPaused = (paused: string): string => `paused = ${paused}, limited = (${paused} = 1 OR ${isLimited})`;

  return lazily<TaskStatements>({
    // ?1 ids
    getTasksById: () =>
      `SELECT ${taskAsJson("t")} AS record FROM json_each(?1) a CROSS JOIN ${tasks} t ON t.id = a.value ` +
      `WHERE t.declaration IS NOT ${REMOVED}`,
    // ?1 rows of taskRow
    putTasks: () => putTasks(tasks),
    // The next five follow putTasks, in this order, and concern the tasks whose limits it changed. ?1 ids.
    openOwnGates: () =>
      wakeGates(names, `SELECT t.id, '', 0 FROM ${relimited} WHERE t.former IS NOT NULL AND t.limited = 1`),
    // With another rate, the next job starts the new rate's time after the last; after a burst, nobody knows the last.
    wakeRelimited: () =>
      `UPDATE ${gates} SET wake_at = 0, tat = CASE ` +
      "WHEN t.rate_limit = t.former->>1 AND t.rate_per = t.former->>2 AND t.rate_burst = t.former->>3 THEN tat " +
      "WHEN t.rate_burst = 1 AND t.former->>3 = 1 " +
      "THEN (tat - (t.former->>2)) / (t.former->>1) * t.rate_limit + t.rate_per END " +
      `FROM ${relimited} WHERE t.former IS NOT NULL AND ${gates}.task_id = t.id`,
    rekeyJobs: () =>
      `UPDATE ${jobs} SET concurrency_key = t.own_key, turn = NULL, ` +
      `state = CASE WHEN state = ${held} AND t.own_key IS NULL THEN ${ready} ELSE state END FROM ${relimited} ` +
      `WHERE t.former IS NOT NULL AND t.own_key IS NOT t.former->>0 AND ${jobs}.task_id = t.id ` +
      `AND coalesce(${jobs}.concurrency_key, '') = ''`,
    holdRelimited: () =>
      `UPDATE ${jobs} SET ${toHeld} FROM ${relimited} WHERE t.former IS NOT NULL AND ${jobs}.task_id = t.id ` +
      `AND ${jobs}.concurrency_key IS NOT NULL AND ${jobs}.state = ${ready}`,
    settleTasks: () =>
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
      `UPDATE ${gates} SET paused = 0, wake_at = 0 WHERE task_id = ?1 AND paused = 1 ` +
      `AND EXISTS (SELECT 1 FROM ${tasks} WHERE id = ?1 AND declaration IS ${REMOVED})`,

    // ?1 id, ?2 whether to pause. Yields a row if there is such a task; and so does pauseKey.
    pauseTask: () => `UPDATE ${tasks} SET ${setPaused("?2")} WHERE ${isTask} RETURNING id`,
    // ?1 id. Tells looks that there is flow control.
    openGateOfTask: () => wakeGates(names, `SELECT id, '', 0 FROM ${tasks} WHERE ${isTask}`),
    // ?1 id, ?2 whether to pause. A gate of a task that goes on is looked at again.
    pauseGatesOfTask: () =>
      `UPDATE ${gates} SET wake_at = ${wakeUnlessPaused} WHERE task_id = ?1 ` +
      `AND EXISTS (SELECT 1 FROM ${tasks} WHERE ${isTask})`,
    // ?1 id, ?2 whether to pause, ?3 key
    pauseKey: () =>
      `INSERT INTO ${gates} (task_id, key, paused, wake_at) SELECT id, ?3, ?2, ${wakeUnlessPaused} FROM ${tasks} ` +
      `WHERE ${isTask} ON CONFLICT (task_id, key) DO UPDATE SET paused = excluded.paused, ` +
      "wake_at = excluded.wake_at RETURNING key",
    // ?1 id, ?2 key. Follows pauseKey; nothing promotes jobs of a paused key.
    holdPaused: () =>
      `UPDATE ${jobs} SET ${toHeld} WHERE task_id = ?1 AND concurrency_key = ?2 AND state = ${ready} ` +
      `AND EXISTS (SELECT 1 FROM ${gates} WHERE task_id = ?1 AND key = ?2 AND paused = 1)`,
    getTaskPauses: () =>
      `SELECT id AS task_id, NULL AS key FROM ${tasks} WHERE paused = 1 AND id > '' UNION ALL ` +
      `SELECT task_id, key FROM ${gates} WHERE paused = 1 AND task_id > '' ` +
      `ORDER BY task_id, key LIMIT ${PAUSES_MAX}`,
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
  return (
    `INSERT INTO ${tasks} (id, max_running_jobs, details, declaration, version, limited, ` +
    `${LIMITS.join(", ")}, former) SELECT value->>0, value->>1, ` +
    "value->>2, value->>3, value->>4, coalesce(value->>5, 0), value->>6, value->>7, value->>8, value->>9, " +
    "coalesce(value->>10, 0), value->>11, CASE WHEN value->>5 = 1 THEN '[]' END FROM json_each(?1) WHERE true " +
    `ON CONFLICT (id) DO UPDATE SET ${columns.join(", ")}, ` +
    `declaration = CASE WHEN ${isEdit} THEN nullif(${tasks}.declaration, ${REMOVED}) ` +
    `WHEN ${isReplaced} THEN excluded.declaration ELSE ${tasks}.declaration END, ` +
    `version = CASE WHEN ${isEdit} THEN ${tasks}.version ` +
    `ELSE nullif(max(${storedVersion}, ${givenVersion}), ${NO_VERSION}) END`
  );
}
