import type { TaskRecord } from "../../records/task.ts";
import type { TaskChange } from "../data-store.ts";
import { putTask } from "../task-declarations.ts";
import { statement } from "./batch.ts";
import type { Connection } from "./connection.ts";
import { rowParameters } from "./parameters.ts";
import { jsonRecords, numberOrNull, type TaskRow, taskRow, toTask } from "./rows.ts";
import type { Statements } from "./statements.ts";

/** The tasks of a `SqlDataStore`. */
export class SqliteTasks {
  readonly #connection: Connection;
  readonly #statements: Statements;

  constructor(connection: Connection, statements: Statements) {
    this.#connection = connection;
    this.#statements = statements;
  }

  async put(tasks: readonly TaskRecord[]): Promise<TaskChange[]> {
    if (tasks.length === 0) return [];
    const [existing] = await this.#connection.write(() => [
      statement(this.#statements.getTasksById, JSON.stringify(tasks.map((task) => task.id))),
      ...rowParameters(tasks.map(taskRow)).map(({ text }) => statement(this.#statements.putTasks, text)),
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
    ]);
    if (numberOrNull(inUse, "in_use") === 1) return "inUse";
    return removed?.length === 1 ? "removed" : "missing";
  }
}
