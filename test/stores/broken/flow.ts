import type { JobRecord } from "../../../src/records/job.ts";
import type { TaskRecord } from "../../../src/records/task.ts";
import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { type BrokenStore, caughtBy } from "./broken-store.ts";

type Tasks = readonly TaskRecord[];
type Commit = contract.CommitRequest;
type Report = contract.CommitReport;

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

/** Forgets the keys of jobs that come with a commit. */
class ForgetsKeysInCommits extends MemoryDataStore {
  override commit(request: Commit): Promise<Report> {
    const additions = request.additions.map(({ concurrencyKey: _, ...job }) => job);
    return super.commit({ ...request, additions });
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

/** Does not tell which jobs are blocked. */
class HidesHolds extends MemoryDataStore {
  override async getJob(id: string): Promise<JobRecord | null> {
    const job = await super.getJob(id);
    if (job === null) return null;
    const { blockedBy: _, ...rest } = job;
    return rest;
  }
}

/** Tells at an addition that the job is blocked, whatever the commit does then. */
class TellsBlockedTooEarly extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const additions = await super.addJobs(request.additions);
    return { ...(await super.commit(request)), additions };
  }
}

/** Does not tell which jobs it admits. */
class HidesAdmissions extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const { admitted: _, ...report } = await super.commit(request);
    return report;
  }
}

/** Does not tell when a token comes. */
class ForgetsTokens extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const report = await super.commit(request);
    const { items } = await super.getJobs({ limit: 1000, cursor: null });
    const runAts = items.filter(({ acquiredBy, runAt }) => acquiredBy === null && runAt > request.now);
    return { ...report, nextRunAt: runAts.length === 0 ? null : Math.min(...runAts.map(({ runAt }) => runAt)) };
  }
}

/** Takes each token twice when a commit is repeated. */
class PaysTwice extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const report = await super.commit(request);
    if (!request.isRepetition || request.jobs === null) return report;
    const { length } = report.acquired;
    await super.commit({
      ...request,
      commitId: "extra",
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

/** Does not count blocked jobs. */
class CountsNoHolds extends MemoryDataStore {
  override async inspect(now: number): Promise<contract.StoreInspection> {
    const { tasks, ...rest } = await super.inspect(now);
    return { ...rest, tasks: tasks.map(({ blocked: _, ...task }) => task) };
  }
}

export const brokenFlow: readonly BrokenStore[] = [
  ...caughtBy("keys", AllowsOneTooMany, ForgetsKeysInCommits, TellsBlockedTooEarly),
  ...caughtBy("limits of keys", KeepsFirstLimits, ForgetsKeysOfSchedules, HidesHolds, HidesAdmissions),
  ...caughtBy("rates", AllowsLargerBursts, IsTooSlow, ForgetsTokens, PaysTwice),
  ...caughtBy("turns", ServesTheOldest),
  ...caughtBy("pauses", NeverPauses, PausesTooMuch, PausesWhatItKnows, ForgetsPauses, TellsPausesInDisorder),
  ...caughtBy("inspection", CountsNoHolds),
];
