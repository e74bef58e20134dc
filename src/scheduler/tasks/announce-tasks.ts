import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/logger.ts";
import type { EventHub } from "../events/event-hub.ts";
import { taskOutdated, taskSaved } from "../events/event-records.ts";
import type { SavedTask } from "./task-registry.ts";

/** Tells listeners what became of the tasks that a scheduler declared. */
export function announceTasks(
  env: { readonly clock: Clock; readonly identity: string; readonly events: EventHub; readonly logger: Logger },
  saved: readonly SavedTask[],
): void {
  env.events.publish(
    saved.map(({ record, change }) =>
      change === "outdated" ? taskOutdated(env, record) : taskSaved(env, record.id, change),
    ),
  );
  for (const { record, change } of saved) {
    if (change !== "outdated") continue;
    const mine = record.version === undefined ? "none" : record.version;
    env.logger.warn(
      `escapement: task "${record.id}" keeps the settings of a program of a higher version than this one (${mine}); ` +
        "if this program is the newer one, give it a higher version: new Scheduler({ version })",
    );
  }
}
