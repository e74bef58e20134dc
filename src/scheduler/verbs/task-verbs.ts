import { ConflictingIdError, TaskLookupError } from "../../core/errors.ts";
import { withoutUndefined } from "../../core/without-undefined.ts";
import { hasLabels } from "../../records/policies.ts";
import { pauseFacts } from "../../stores/shared/pauses.ts";
import type { TaskCommands } from "../commands/commands.ts";
import { taskRemoved } from "../events/event-records.ts";
import { taskPauseChanged } from "../events/flow-events.ts";
import type { CheckedTaskPause, TaskFilter } from "../options/checked-options.ts";
import { saveTasks } from "../tasks/announce-tasks.ts";
import { TaskView } from "../views/task-view.ts";
import { assertLater } from "./assert-later.ts";
import type { VerbContext } from "./verb-context.ts";

/** What a scheduler does with tasks. */
export class TaskVerbs implements TaskCommands {
  readonly #context: VerbContext;

  constructor(context: VerbContext) {
    this.#context = context;
  }

  async all({ labels }: TaskFilter): Promise<TaskView[]> {
    await this.#context.ready();
    const tasks = await this.#context.env.store.getTasks();
    return tasks.filter((task) => hasLabels(task.labels, labels)).map((record) => new TaskView(record));
  }

  async get(id: string): Promise<TaskView> {
    await this.#context.ready();
    const task = await this.#context.env.store.getTask(id);
    if (task === null) throw new TaskLookupError(`there is no task "${id}"`, id);
    return new TaskView(task);
  }

  async remove(id: string): Promise<void> {
    const { env, tasks, ready } = this.#context;
    await ready();
    const report = await env.store.removeTask(id);
    if (report === "inUse") {
      throw new ConflictingIdError(
        `task "${id}" cannot be removed because schedules or unfinished jobs refer to it; remove those first`,
        id,
      );
    }
    if (report === "missing") throw new TaskLookupError(`there is no task "${id}"`, id);
    tasks.forget(id);
    env.events.publish([taskRemoved(env, id)]);
  }

  async setPaused(id: string, asked: CheckedTaskPause, isPaused: boolean): Promise<TaskView> {
    const { env, ready } = this.#context;
    const { key = null, by = env.identity, until, reason } = asked;
    const now = env.clock.now();
    assertLater(until, now, "pauseTask()");
    await ready();
    const said = withoutUndefined({ until, reason });
    const isThere = await env.store.pauseTask({ taskId: id, key, paused: isPaused, now, by, ...said });
    const task = isThere ? await env.store.getTask(id) : null;
    if (task === null) throw new TaskLookupError(`there is no task "${id}"`, id);
    const pause = { taskId: id, key, ...pauseFacts({ pausedUntil: until, pauseReason: reason }) };
    env.events.publish([taskPauseChanged(env, pause, isPaused, by)]);
    const what = key === null ? `task "${id}"` : `key "${key}" of task "${id}"`;
    env.logger.info(`escapement: ${what} ${isPaused ? "is paused" : "goes on"}`);
    return new TaskView(task);
  }

  /** Writes the tasks that are not in the store yet. */
  async save(): Promise<void> {
    const { env, tasks } = this.#context;
    await saveTasks(env, tasks);
  }
}
