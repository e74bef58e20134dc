import type { SchedulerRole } from "../../records/scheduler.ts";

const NAMES_MAX = 10;

/** What a scheduler says of itself when it has started. */
export function startedLine({
  identity,
  role,
  taskIds,
  paused,
}: {
  readonly identity: string;
  readonly role: SchedulerRole;
  readonly taskIds: readonly string[];
  readonly paused: boolean;
}): string {
  const names = taskIds.slice(0, NAMES_MAX).map((id) => `"${id}"`);
  const more = taskIds.length > NAMES_MAX ? ` and ${taskIds.length - NAMES_MAX} more` : "";
  const tasks = taskIds.length === 0 ? "no tasks" : `the tasks ${names.join(", ")}${more}`;
  const does = {
    both: `fires schedules and runs ${tasks}`,
    scheduler: "fires schedules, and runs no jobs",
    worker: `runs ${tasks}, and fires no schedules`,
  }[role];
  return `escapement: started as "${identity}"${paused ? ", paused" : ""}: ${does}`;
}
