import type { TaskRecord } from "../../records/task.ts";
import type { Connection } from "./connection.ts";
import { jsonRecords, numberOrNull, type TaskRow, taskDetails, toTask } from "./rows.ts";
import type { Statements } from "./statements.ts";

/** The tasks of a `SqlDataStore`. */
export class SqliteTasks {
  readonly #connection: Connection;
  readonly #statements: Statements;

  constructor(connection: Connection, statements: Statements) {
    this.#connection = connection;
    this.#statements = statements;
  }

  async put(tasks: readonly TaskRecord[]): Promise<("added" | "updated" | "unchanged")[]> {
    if (tasks.length === 0) return [];
    const rows = tasks.map((task) => [task.id, task.maxRunningJobs, taskDetails(task)]);
    const [existing] = await this.#connection.write(() => [
      { sql: this.#statements.getTasksById, args: [JSON.stringify(tasks.map((task) => task.id))] },
      { sql: this.#statements.putTasks, args: [JSON.stringify(rows)] },
    ]);
    const known = new Map(jsonRecords<TaskRow>(existing).map((row) => [row[0][0], settingsText(toTask(row))]));
    return tasks.map((task) => {
      const before = known.get(task.id);
      const after = settingsText(task);
      known.set(task.id, after);
      if (before === undefined) return "added";
      return before === after ? "unchanged" : "updated";
    });
  }

  async getAll(): Promise<TaskRecord[]> {
    return jsonRecords<TaskRow>(await this.#connection.read({ sql: this.#statements.getTasks, args: [""] })).map(
      toTask,
    );
  }

  async get(id: string): Promise<TaskRecord | null> {
    const [row] = jsonRecords<TaskRow>(await this.#connection.read({ sql: this.#statements.getTask, args: [id] }));
    return row === undefined ? null : toTask(row);
  }

  async remove(id: string): Promise<"removed" | "inUse" | "missing"> {
    const [inUse, removed] = await this.#connection.write(() => [
      { sql: this.#statements.isTaskInUse, args: [id] },
      { sql: this.#statements.removeTask, args: [id] },
    ]);
    if (numberOrNull(inUse, "in_use") === 1) return "inUse";
    return removed?.length === 1 ? "removed" : "missing";
  }
}

/** Equal for tasks with equal settings; metadata counts in the order that it is written in. */
function settingsText(task: TaskRecord): string {
  return JSON.stringify([
    task.maxRunningJobs,
    task.executor,
    task.misfireGraceMs,
    task.maxRecoveries,
    task.timeoutMs,
  ]).concat(JSON.stringify([task.resultExpirationMs, retryText(task), task.metadata]));
}

function retryText({ retry }: TaskRecord): string {
  return JSON.stringify([retry.attemptsMax, retry.initialMs, retry.factor, retry.maxMs, retry.jitter]);
}
