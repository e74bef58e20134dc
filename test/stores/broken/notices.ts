import type { TaskRecord } from "../../../src/records/task.ts";
import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { type BrokenStore, caughtBy } from "./broken-store.ts";

const PREFIX = "escapement.notices.";

/** Knows the channels in another way. */
function knowing(change: (metadata: TaskRecord["metadata"]) => TaskRecord["metadata"]): typeof MemoryDataStore {
  return class extends MemoryDataStore {
    override putTasks(tasks: readonly TaskRecord[]): ReturnType<contract.DataStore["putTasks"]> {
      return super.putTasks(
        tasks.map((task) => (task.id.startsWith(PREFIX) ? { ...task, metadata: change(task.metadata) } : task)),
      );
    }
  };
}

class SendsNothing extends knowing(() => ({})) {}

class IgnoresSchedules extends knowing(({ schedules: _, ...rest }) => rest) {}

class IgnoresTypes extends knowing((metadata) => ({
  ...metadata,
  on: ["failed", "recovered", "succeeded", "overdue", "paused"],
})) {}

class ForgetsPauses extends knowing((metadata) => ({ ...metadata, on: ["failed", "recovered", "overdue"] })) {}

class ForgetsOverdue extends knowing((metadata) => ({ ...metadata, on: ["failed", "recovered", "paused"] })) {}

/** Adds the notices of a commit only after the commit, as a scheduler would that hears of events. */
class AddsAfterwards extends MemoryDataStore {
  override async commit(request: contract.CommitRequest): Promise<contract.CommitReport> {
    const { jobs } = request;
    const queues = jobs?.queues.filter(({ taskId }) => !taskId.startsWith(PREFIX)) ?? [];
    return super.commit(jobs === null ? request : { ...request, jobs: { ...jobs, queues } });
  }
}

/** Adds a notice for each failure, although the schedule has failed before. */
class TellsEachFailure extends MemoryDataStore {
  override async commit(request: contract.CommitRequest): Promise<contract.CommitReport> {
    const report = await super.commit(request);
    for (const release of request.releases) {
      if (release.kind !== "finish" || release.result.outcome !== "abandoned") continue;
      const { items } = await this.getJobs({ taskId: `${PREFIX}channel`, limit: 100, cursor: null });
      const [first] = items;
      if (first !== undefined) await this.addJobs([{ ...first, id: `${first.id} again` }]);
    }
    return report;
  }
}

/** Tells a repetition's changes once more. */
class TellsAgain extends MemoryDataStore {
  override async commit(request: contract.CommitRequest): Promise<contract.CommitReport> {
    const report = await super.commit(request);
    if (!request.isRepetition) return report;
    const { items } = await this.getJobs({ taskId: `${PREFIX}channel`, limit: 1, cursor: null });
    await this.addJobs(items.map((job) => ({ ...job, id: `${job.id} again` })));
    return report;
  }
}

/** Writes what another store had over what is there. */
class RestoresOverResults extends MemoryDataStore {
  override async restore(records: contract.RestoredRecords): Promise<void> {
    await this.removeJobResults({}, 1000);
    await super.restore(records);
  }
}

class RestoresNoHistories extends MemoryDataStore {
  override restore({ results }: contract.RestoredRecords): Promise<void> {
    return super.restore({ results, histories: [] });
  }
}

class ForgetsRestoredStarts extends MemoryDataStore {
  override restore({ results, histories }: contract.RestoredRecords): Promise<void> {
    return super.restore({ results, histories: histories.map((history) => ({ ...history, since: null })) });
  }
}

export const brokenNotices: readonly BrokenStore[] = [
  ...caughtBy("notices", SendsNothing, IgnoresSchedules, IgnoresTypes, ForgetsPauses, ForgetsOverdue),
  ...caughtBy("notices", AddsAfterwards, TellsEachFailure, TellsAgain),
  ...caughtBy("restored records", RestoresOverResults, RestoresNoHistories, ForgetsRestoredStarts),
];
