import type { TaskRecord } from "../../../src/records/task.ts";
import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { type BrokenStore, caughtBy } from "./broken-store.ts";

type Tasks = readonly TaskRecord[];

/** Takes every declaration for an edit. */
class OverwritesEdits extends MemoryDataStore {
  override async putTasks(tasks: Tasks): Promise<contract.TaskChange[]> {
    const changes = await super.putTasks(tasks);
    await super.putTasks(tasks.map(({ declaration: _, version: __, ...settings }) => settings));
    return changes;
  }
}

/** Knows no versions. */
class IgnoresVersions extends MemoryDataStore {
  override putTasks(tasks: Tasks): Promise<contract.TaskChange[]> {
    return super.putTasks(tasks.map(({ version: _, ...task }) => task));
  }
}

/** Lets the last declaration count, whatever it was made from. */
class IgnoresReplaced extends MemoryDataStore {
  override putTasks(tasks: readonly contract.TaskPut[]): Promise<contract.TaskChange[]> {
    return super.putTasks(tasks.map(({ replaces: _, ...task }) => task));
  }
}

/** Takes the version of a declaration that it refuses. */
class RaisesByConflicts extends MemoryDataStore {
  override async putTasks(tasks: readonly contract.TaskPut[]): Promise<contract.TaskChange[]> {
    const changes = await super.putTasks(tasks);
    for (const [index, { id, version = 0 }] of tasks.entries()) {
      const stored = changes[index] === "conflict" ? await this.getTask(id) : null;
      if (stored !== null) await super.putTasks([{ ...stored, version: Math.max(version, stored.version ?? 0) }]);
    }
    return changes;
  }
}

/** Forgets the limit of a task with the task. */
class ForgetsRemovedLimits extends MemoryDataStore {
  override async removeTask(id: string): ReturnType<MemoryDataStore["removeTask"]> {
    const task = await this.getTask(id);
    const answer = await super.removeTask(id);
    if (answer !== "removed" || task === null) return answer;
    await super.putTasks([{ ...task, maxRunningJobs: null }]);
    return super.removeTask(id);
  }
}

/** Tells nobody that a task was removed. */
class HidesRemovals extends MemoryDataStore {
  override async look(request: contract.LookRequest): Promise<contract.LookReport> {
    const known = new Set((await this.getTasks()).map(({ id }) => id));
    const { staleTaskIds, ...seen } = await super.look(request);
    return { ...seen, staleTaskIds: staleTaskIds.filter((id) => known.has(id)) };
  }
}

export const brokenTasks: readonly BrokenStore[] = caughtBy(
  "tasks",
  OverwritesEdits,
  IgnoresVersions,
  IgnoresReplaced,
  RaisesByConflicts,
  ForgetsRemovedLimits,
  HidesRemovals,
);
