import type { DataStore, TaskBacklog, TaskPause } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import { scheduleBacklogged } from "../events/event-records.ts";
import type { BackloggedSchedule } from "../views/health.ts";
import { BACKLOG_CHECK_MS, BACKLOG_JOBS_MAX, BACKLOG_PAGE_SIZE, BACKLOG_TASKS_MAX } from "./limits.ts";
import { Watch } from "./watch.ts";

/** The schedules with many unfinished jobs, the largest backlog first. Jobs that wait for the end of a pause, or for
 *  their parents, do not count. Costs one small read for each task that has many unfinished jobs, and none where no
 *  task has. Looks at the oldest jobs of these tasks only.
 *  @throws {StoreUnavailableError} */
export async function backloggedSchedules(
  store: DataStore,
  tasks: readonly TaskBacklog[],
  pauses: readonly TaskPause[],
): Promise<readonly BackloggedSchedule[]> {
  const large = tasks
    .filter(({ waiting, running }) => waiting + running > BACKLOG_JOBS_MAX)
    .filter(({ taskId }) => !pauses.some((pause) => pause.taskId === taskId && pause.key === null))
    .sort((a, b) => b.waiting + b.running - a.waiting - a.running)
    .slice(0, BACKLOG_TASKS_MAX);
  const found: BackloggedSchedule[] = [];
  for (const { taskId } of large) {
    const { items } = await store.getJobs({ taskId, limit: BACKLOG_PAGE_SIZE, cursor: null });
    const counts = new Map<string, number>();
    const paused = new Set(pauses.filter((pause) => pause.taskId === taskId).map(({ key }) => key));
    for (const { scheduleId, blockedBy, concurrencyKey } of items) {
      const waits = blockedBy === "parents" || (concurrencyKey !== undefined && paused.has(concurrencyKey));
      if (scheduleId !== null && !waits) counts.set(scheduleId, (counts.get(scheduleId) ?? 0) + 1);
    }
    const isCapped = items.length === BACKLOG_PAGE_SIZE;
    for (const [scheduleId, count] of counts) {
      if (count > BACKLOG_JOBS_MAX) found.push({ scheduleId, taskId, unfinished: { count, isCapped } });
    }
  }
  return found.sort((a, b) => b.unfinished.count - a.unfinished.count);
}

/** Reports schedules whose jobs pile up: each once, until it has caught up. It looks into the store once a minute,
 *  and only while schedules fire. */
export class ScheduleBacklogs extends Watch {
  /** Ids of schedules that were reported and have not caught up. */
  #reported: ReadonlySet<string> = new Set();
  #hasFired = false;

  constructor(env: Environment) {
    super(env, "schedules whose jobs pile up", BACKLOG_CHECK_MS);
  }

  /** A schedule fired, here or elsewhere. */
  fired(): void {
    this.#hasFired = true;
    this.begin();
  }

  protected override goesOn(): boolean {
    const hasFired = this.#hasFired;
    this.#hasFired = false;
    return hasFired;
  }

  protected override async check(): Promise<void> {
    const { store, clock, events, logger } = this.env;
    const { tasks } = await store.inspect(clock.now());
    const found = await backloggedSchedules(store, tasks, await store.getTaskPauses());
    const blockedTasks = new Set(tasks.filter(({ blocked = 0 }) => blocked > 0).map(({ taskId }) => taskId));
    const unreported = found.filter(({ scheduleId }) => !this.#reported.has(scheduleId));
    this.#reported = new Set(found.map(({ scheduleId }) => scheduleId));
    events.publish(unreported.map((one) => scheduleBacklogged(this.env, { ...one, unfinished: one.unfinished.count })));
    for (const { scheduleId, taskId, unfinished } of unreported) {
      const count = unfinished.isCapped ? `${unfinished.count} or more` : unfinished.count;
      logger.warn(
        `escapement: ${count} jobs of schedule "${scheduleId}" are unfinished, because they are added faster than ` +
          `they end; if a run of task "${taskId}" hangs, give the task a timeout; else let the schedule ` +
          `fire less often or skip (overlap: "skip"), raise the task's ` +
          `${blockedTasks.has(taskId) ? "limits" : "maxRunningJobs"}, or start more workers`,
      );
    }
  }
}
