import type { TaskRecord } from "../../records/task.ts";
import type { TaskCommands } from "../../scheduler/commands/commands.ts";
import type { CheckedTaskPause, TaskFilter } from "../../scheduler/options/checked-options.ts";
import { TaskView } from "../../scheduler/views/task-view.ts";
import { wireFilter } from "../wire/options.ts";
import { pageSchema } from "../wire/pages.ts";
import { taskSchema } from "../wire/task.ts";
import { type CallContext, placeOf, wirePause } from "./context.ts";

/** Most tasks whose settings are remembered. */
const REMEMBERED_MAX = 1000;

/** What a client does with tasks. */
export class TaskCalls implements TaskCommands {
  readonly #context: CallContext;
  /** How long results of a task are kept, in milliseconds, by the id of the task. */
  readonly #kept = new Map<string, Pick<TaskRecord, "resultExpirationMs" | "failureExpirationMs">>();

  constructor(context: CallContext) {
    this.#context = context;
  }

  async all(filter: TaskFilter): Promise<TaskView[]> {
    const call = { method: "GET", path: "/tasks", query: wireFilter(filter) } as const;
    const { items } = await this.#context.requester.read(call, pageSchema(taskSchema()));
    for (const record of items.slice(0, REMEMBERED_MAX)) this.#kept.set(record.id, record);
    return items.map((record) => new TaskView(record));
  }

  async get(id: string): Promise<TaskView> {
    return new TaskView(await this.#context.requester.read({ method: "GET", ...placeOf("tasks", id) }, taskSchema()));
  }

  /** How long results of a task are kept, in milliseconds, as of the first time that somebody asked; null when nobody
   *  knows the task. */
  async resultExpirationMs(id: string): Promise<number | null> {
    if (!this.#kept.has(id)) await this.all({});
    return this.#kept.get(id)?.resultExpirationMs ?? null;
  }

  /** How long failures of a task are kept, in the same way; null also for a task that sets nothing. */
  async failureExpirationMs(id: string): Promise<number | null> {
    if (!this.#kept.has(id)) await this.all({});
    return this.#kept.get(id)?.failureExpirationMs ?? null;
  }

  async remove(id: string): Promise<void> {
    await this.#context.requester.call({ method: "DELETE", ...placeOf("tasks", id) });
  }

  async setPaused(id: string, { key, ...pause }: CheckedTaskPause, isPaused: boolean): Promise<TaskView> {
    const body = { key, ...wirePause(pause) };
    const place = placeOf("tasks", id, isPaused ? "pause" : "unpause");
    return new TaskView(await this.#context.requester.read({ method: "POST", ...place, body }, taskSchema()));
  }
}
