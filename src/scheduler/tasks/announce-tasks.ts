import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/logger.ts";
import type { TaskRecord } from "../../records/task.ts";
import type { DataStore } from "../../stores/data-store.ts";
import type { StoredDeclaration } from "../../stores/shared/declarations.ts";
import type { EventHub } from "../events/event-hub.ts";
import { taskOutdated, taskSaved } from "../events/event-records.ts";
import { TaskView } from "../views/task-view.ts";
import type { SavedTask, TaskRegistry } from "./task-registry.ts";

interface TaskEnvironment {
  readonly store: DataStore;
  readonly clock: Clock;
  readonly identity: string;
  readonly events: EventHub;
  readonly logger: Logger;
}

/** Writes the tasks that are not in the store yet, and tells listeners what became of them. */
export async function saveTasks(env: TaskEnvironment, tasks: TaskRegistry): Promise<void> {
  const saved = await tasks.save();
  env.events.publish(
    saved.flatMap(({ declared, change }) =>
      change === "outdated"
        ? [taskOutdated(env, declared)]
        : change === "unchanged"
          ? []
          : [taskSaved(env, declared.id, change)],
    ),
  );
  for (const task of saved) {
    const { declared, change } = task;
    if (change === "outdated") {
      env.logger.warn(outdatedText(`task "${declared.id}"`, declared));
    }
    await tellContested(env, tasks, task);
  }
}

/** Tells which settings this program and one that is up declare differently. The one of which the store has the value
 *  finds out when it declares its own, and the other one at its next look at the tasks. */
async function tellContested(env: TaskEnvironment, tasks: TaskRegistry, task: SavedTask): Promise<void> {
  const { declared, stored, change, contested } = task;
  if (stored === undefined || contested.length === 0) return;
  const isMine = change !== "unchanged";
  const other = isMine ? await otherOf(env, stored) : (stored.declaredBy ?? null);
  if (other === null) return;
  const [mine, theirs] = [new TaskView(declared).toJSON(), new TaskView(stored).toJSON()];
  for (const setting of contested) {
    if (!tasks.isFirstTold(declared.id, setting, isMine)) continue;
    const [here, there] = [mine, theirs].map((settings) => JSON.stringify(settings[setting.name]));
    env.logger.warn(
      `escapement: task "${declared.id}" has ${setting.name} ${here} in this program (scheduler "${env.identity}"), ` +
        `and ${there} in that of scheduler "${other}", both of version ${versionText(declared)}; ` +
        `${isMine ? here : there} counts, because it was declared last. Declare it in one of them ` +
        "only, or tell which program is newer: new Scheduler({ version })",
    );
  }
}

/** A scheduler that is up and may have declared what the store had; null for none. */
async function otherOf({ store, clock, identity }: TaskEnvironment, stored: TaskRecord): Promise<string | null> {
  // What was declared is saved, whatever comes of this.
  const alive = await store.getSchedulers(clock.now()).catch(() => []);
  const others = alive.filter((other) => other.identity !== identity && other.tasks.includes(stored.id));
  return (others.find((other) => other.identity === stored.declaredBy) ?? others[0])?.identity ?? null;
}

/** The warning of what a program of a higher version has declared. @param declared by this program */
export function outdatedText(what: string, declared: StoredDeclaration): string {
  return (
    `escapement: ${what} stays as a program of a higher version than this one (${versionText(declared)}) declared ` +
    "it; if this program is the newer one, give it a higher version: new Scheduler({ version })"
  );
}

function versionText({ version }: StoredDeclaration): string {
  return version === undefined ? "none" : String(version);
}
