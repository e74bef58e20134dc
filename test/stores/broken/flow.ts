import type { JobRecord } from "../../../src/records/job.ts";
import type { TaskRecord } from "../../../src/records/task.ts";
import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { type BrokenStore, caughtBy } from "./broken-store.ts";

type Tasks = readonly TaskRecord[];
type Step = contract.StepRequest;
type Report = contract.StepReport;

/** Changes the settings of each task. */
abstract class ChangesTasks extends MemoryDataStore {
  override putTasks(tasks: Tasks): Promise<contract.TaskChange[]> {
    return super.putTasks(tasks.map((task) => this.change(task)));
  }

  abstract change(task: TaskRecord): TaskRecord;
}

/** Lets one job of a key run too many. */
class AllowsOneTooMany extends ChangesTasks {
  change(task: TaskRecord): TaskRecord {
    const { maxRunningPerKey } = task;
    return maxRunningPerKey === undefined ? task : { ...task, maxRunningPerKey: maxRunningPerKey + 1 };
  }
}

/** Lets one job too many start at once. */
class AllowsLargerBursts extends ChangesTasks {
  change(task: TaskRecord): TaskRecord {
    const { rateLimit } = task;
    return rateLimit === undefined ? task : { ...task, rateLimit: { ...rateLimit, burst: rateLimit.burst + 1 } };
  }
}

/** Keeps a rate a little too well. */
class IsTooSlow extends ChangesTasks {
  change(task: TaskRecord): TaskRecord {
    const { rateLimit } = task;
    return rateLimit === undefined ? task : { ...task, rateLimit: { ...rateLimit, perMs: rateLimit.perMs * 1.02 } };
  }
}

/** Knows no turns. */
class ServesTheOldest extends ChangesTasks {
  change({ fair: _, ...task }: TaskRecord): TaskRecord {
    return task;
  }
}

/** Heeds the limits of keys that a task had first. */
class KeepsFirstLimits extends MemoryDataStore {
  override async putTasks(tasks: Tasks): Promise<contract.TaskChange[]> {
    const changes = await super.putTasks(tasks);
    const known = this.first;
    for (const task of tasks) {
      const { maxRunningPerKey } = known.get(task.id) ?? task;
      known.set(task.id, known.get(task.id) ?? task);
      const { maxRunningPerKey: _, ...settings } = task;
      await super.putTasks([maxRunningPerKey === undefined ? settings : { ...settings, maxRunningPerKey }]);
    }
    return changes;
  }

  readonly first: Map<string, TaskRecord> = new Map();
}

/** Forgets the keys of jobs that come with a step. */
class ForgetsKeysInSteps extends MemoryDataStore {
  override step(request: Step): Promise<Report> {
    const additions = request.additions.map(({ concurrencyKey: _, ...job }) => job);
    return super.step({ ...request, additions });
  }
}

/** Makes the jobs of schedules without keys. */
class ForgetsKeysOfSchedules extends MemoryDataStore {
  override addSchedules(additions: readonly contract.ScheduleAddition[]): Promise<contract.ScheduleAdditionReport> {
    return super.addSchedules(
      additions.map(({ schedule: { concurrencyKey: _, ...schedule }, ...addition }) => ({ ...addition, schedule })),
    );
  }
}

/** Does not tell which jobs are held. */
class HidesHolds extends MemoryDataStore {
  override async getJob(id: string): Promise<JobRecord | null> {
    const job = await super.getJob(id);
    if (job === null) return null;
    const { heldBy: _, ...rest } = job;
    return rest;
  }
}

/** Tells at an addition that the job is held, whatever the step does then. */
class TellsHoldsTooEarly extends MemoryDataStore {
  override async step(request: Step): Promise<Report> {
    const additions = await super.addJobs(request.additions);
    return { ...(await super.step(request)), additions };
  }
}

/** Does not tell which jobs it promotes. */
class HidesPromotions extends MemoryDataStore {
  override async step(request: Step): Promise<Report> {
    const { promoted: _, ...report } = await super.step(request);
    return report;
  }
}

/** Does not tell when a token comes. */
class ForgetsTokens extends MemoryDataStore {
  override async step(request: Step): Promise<Report> {
    const report = await super.step(request);
    const { items } = await super.getJobs({ limit: 1000, cursor: null });
    const runAts = items.filter(({ acquiredBy, runAt }) => acquiredBy === null && runAt > request.now);
    return { ...report, nextRunAt: runAts.length === 0 ? null : Math.min(...runAts.map(({ runAt }) => runAt)) };
  }
}

/** Takes each token twice when a step is repeated. */
class PaysTwice extends MemoryDataStore {
  override async step(request: Step): Promise<Report> {
    const report = await super.step(request);
    if (!request.isRepetition || request.jobs === null) return report;
    const { length } = report.acquired;
    await super.step({
      ...request,
      stepId: "extra",
      releases: [],
      additions: [],
      jobs: { ...request.jobs, limit: length },
    });
    return report;
  }
}

/** Pauses nothing. */
class NeverPauses extends MemoryDataStore {
  override async pauseTask({ taskId }: contract.TaskPauseRequest): Promise<boolean> {
    return (await this.getTask(taskId)) !== null;
  }
}

/** Pauses the whole task for each key. */
class PausesTooMuch extends MemoryDataStore {
  override pauseTask(request: contract.TaskPauseRequest): Promise<boolean> {
    return super.pauseTask({ ...request, key: null });
  }
}

/** Pauses only what has been added before. */
class PausesWhatItKnows extends MemoryDataStore {
  override async pauseTask(request: contract.TaskPauseRequest): Promise<boolean> {
    const { items } = await super.getJobs({ limit: 1000, cursor: null });
    const isKnown = items.some(({ concurrencyKey }) => concurrencyKey === request.key);
    return request.key === null || isKnown ? super.pauseTask(request) : (await super.getTask(request.taskId)) !== null;
  }
}

/** Goes on when the task is put. */
class ForgetsPauses extends MemoryDataStore {
  override async putTasks(tasks: Tasks): Promise<contract.TaskChange[]> {
    for (const { id: taskId } of tasks) await super.pauseTask({ taskId, key: null, paused: false, now: 0 });
    return super.putTasks(tasks);
  }
}

/** Tells pauses in the order in which they were made. */
class TellsPausesInDisorder extends MemoryDataStore {
  override async getTaskPauses(): Promise<contract.TaskPause[]> {
    return (await super.getTaskPauses()).reverse();
  }
}

/** Does not count held jobs. */
class CountsNoHolds extends MemoryDataStore {
  override async inspect(now: number): Promise<contract.StoreInspection> {
    const { tasks, ...rest } = await super.inspect(now);
    return { ...rest, tasks: tasks.map(({ held: _, ...task }) => task) };
  }
}

export const brokenFlow: readonly BrokenStore[] = [
  ...caughtBy("keys", AllowsOneTooMany, ForgetsKeysInSteps, TellsHoldsTooEarly),
  ...caughtBy("limits of keys", KeepsFirstLimits, ForgetsKeysOfSchedules, HidesHolds, HidesPromotions),
  ...caughtBy("rates", AllowsLargerBursts, IsTooSlow, ForgetsTokens, PaysTwice),
  ...caughtBy("turns", ServesTheOldest),
  ...caughtBy("pauses", NeverPauses, PausesTooMuch, PausesWhatItKnows, ForgetsPauses, TellsPausesInDisorder),
  ...caughtBy("inspection", CountsNoHolds),
];
