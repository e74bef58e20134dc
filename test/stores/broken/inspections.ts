import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { type BrokenStore, caughtBy } from "./broken-store.ts";

/** Counts every job as waiting. */
class CountsRunningJobsAsWaiting extends MemoryDataStore {
  override async inspect(now: number): Promise<contract.StoreInspection> {
    const seen = await super.inspect(now);
    return {
      ...seen,
      tasks: seen.tasks.map(({ taskId, waiting, running }) => ({ taskId, waiting: waiting + running, running: 0 })),
    };
  }
}

/** Counts each job that somebody tried to add. */
class CountsAdditionsTwice extends MemoryDataStore {
  readonly #extra = new Map<string, number>();

  override async addJobs(jobs: Parameters<MemoryDataStore["addJobs"]>[0]): Promise<contract.JobAddition[]> {
    for (const { id, taskId } of jobs) {
      if ((await this.getJob(id)) !== null) this.#extra.set(taskId, (this.#extra.get(taskId) ?? 0) + 1);
    }
    return super.addJobs(jobs);
  }

  override async inspect(now: number): Promise<contract.StoreInspection> {
    const seen = await super.inspect(now);
    const tasks = seen.tasks.map((task) => ({ ...task, waiting: task.waiting + (this.#extra.get(task.taskId) ?? 0) }));
    return { ...seen, tasks };
  }
}

/** Takes what is to run later for due. */
class ShowsEarlyJobs extends MemoryDataStore {
  override inspect(now: number): Promise<contract.StoreInspection> {
    return super.inspect(now + 3_600_000);
  }
}

/** Counts schedules without a look at whether they are paused. */
class CountsPausedSchedulesAsActive extends MemoryDataStore {
  override async inspect(now: number, options: contract.InspectionOptions = {}): Promise<contract.StoreInspection> {
    const { schedules, ...seen } = await super.inspect(now, options);
    if (schedules === undefined) return seen;
    return { ...seen, schedules: { ...schedules, active: schedules.active + schedules.paused, paused: 0 } };
  }
}

/** Counts schedules whether it is asked to or not. */
class AlwaysCountsSchedules extends MemoryDataStore {
  override inspect(now: number): Promise<contract.StoreInspection> {
    return super.inspect(now, { countsSchedules: true });
  }
}

export const brokenInspections: readonly BrokenStore[] = [
  ...caughtBy("inspection", CountsRunningJobsAsWaiting, CountsAdditionsTwice, ShowsEarlyJobs),
  ...caughtBy("inspection", CountsPausedSchedulesAsActive, AlwaysCountsSchedules),
];
