import type { TaskRecord } from "../../records/task.ts";
import type { TaskChange, TaskPause, TaskPauseRequest } from "../data-store.ts";
import { putTask } from "../task-declarations.ts";
import type { Awareness } from "./awareness.ts";
import { statement } from "./batch.ts";
import { notePause } from "./change-notes.ts";
import type { Connection } from "./connection.ts";
import { rowParameters } from "./parameters.ts";
import { hasFlowControl, jsonRecords, numberOrNull, type TaskRow, taskRow, toTask } from "./rows.ts";
import type { Statements } from "./statements.ts";

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
