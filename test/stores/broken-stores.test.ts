import { describe, expect, test } from "vitest";
import type * as contract from "../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { ContractViolation, dataStoreContract } from "../../src/testing/data-store-contract/mod.ts";

// Each store here is wrong in one way. A contract that lets one pass proves nothing.

/** Loses the last job of every addition of several. */
class LosesAJob extends MemoryDataStore {
  override async addJobs(jobs: Parameters<MemoryDataStore["addJobs"]>[0]): Promise<contract.JobAddition[]> {
    const answers = await super.addJobs(jobs.length > 1 ? jobs.slice(0, -1) : jobs);
    return jobs.map((job, index) => answers[index] ?? { job, isNew: true });
  }
}

/** Gives the jobs that a scheduler holds to the next one too. */
class AcquiresTwice extends MemoryDataStore {
  readonly #held: contract.TurnReport["acquired"][number][] = [];

  override async turn(request: contract.TurnRequest): Promise<contract.TurnReport> {
    const report = await super.turn(request);
    const double = request.acquisition !== null && report.acquired.length === 0 ? this.#held.splice(0, 1) : [];
    this.#held.push(...report.acquired);
    return { ...report, acquired: [...report.acquired, ...double] };
  }
}

/** Takes every release for one of the present holder. */
class IgnoresFences extends MemoryDataStore {
  override async turn(request: contract.TurnRequest): Promise<contract.TurnReport> {
    const releases: contract.JobRelease[] = [];
    for (const release of request.releases) {
      const fence = (await this.getJob(release.jobId))?.fence ?? release.fence;
      releases.push({ ...release, fence });
    }
    return super.turn({ ...request, releases });
  }
}

/** Takes plans of any fence. */
class IgnoresPlanFences extends MemoryDataStore {
  override async commitPlans(commit: contract.PlanCommit): Promise<contract.PlanCommitReport> {
    const plans: contract.SchedulePlan[] = [];
    for (const plan of commit.plans) {
      plans.push({ ...plan, fence: (await this.getSchedule(plan.scheduleId))?.fence ?? plan.fence });
    }
    return super.commitPlans({ ...commit, plans });
  }
}

/** Answers with the acquired jobs in the order of their ids. */
class ForgetsTheOrder extends MemoryDataStore {
  override async turn(request: contract.TurnRequest): Promise<contract.TurnReport> {
    const report = await super.turn(request);
    return { ...report, acquired: report.acquired.toSorted((a, b) => (a.id < b.id ? -1 : 1)) };
  }
}

/** Forgets priorities when it adds. */
class ForgetsPriorities extends MemoryDataStore {
  override addJobs(jobs: Parameters<MemoryDataStore["addJobs"]>[0]): Promise<contract.JobAddition[]> {
    return super.addJobs(jobs.map((job) => ({ ...job, priority: 0 })));
  }
}

/** Knows no limits. */
class IgnoresLimits extends MemoryDataStore {
  override putTasks(tasks: Parameters<MemoryDataStore["putTasks"]>[0]): Promise<("added" | "updated" | "unchanged")[]> {
    return super.putTasks(tasks.map((task) => ({ ...task, maxRunningJobs: null })));
  }
}

/** Counts jobs as running that ended: after each one that was given up, one slot fewer is left. */
class LeaksSlots extends MemoryDataStore {
  #leaks = 0;

  override async turn(request: contract.TurnRequest): Promise<contract.TurnReport> {
    const leakedBefore = this.#leaks;
    this.#leaks += request.releases.filter((release) => release.kind === "giveUp").length;
    const { acquisition } = request;
    if (acquisition === null || leakedBefore === 0) return super.turn(request);
    const limit = Math.max(0, Math.min(acquisition.limit, 1 - leakedBefore));
    return super.turn({ ...request, acquisition: { ...acquisition, limit } });
  }
}

/** Says that it released, and keeps the lease. */
class KeepsLeases extends MemoryDataStore {
  override async turn(request: contract.TurnRequest): Promise<contract.TurnReport> {
    const releases = request.releases.filter((release) => release.kind === "finish");
    const report = await super.turn({ ...request, releases });
    return { ...report, releases: request.releases.map(() => "released") };
  }
}

/** Never takes back what a dead scheduler held. */
class NeverRecovers extends MemoryDataStore {
  override turn(request: contract.TurnRequest): Promise<contract.TurnReport> {
    const { acquisition } = request;
    const forever = acquisition === null ? null : { ...acquisition, until: Number.MAX_SAFE_INTEGER };
    return super.turn({ ...request, acquisition: forever });
  }
}

/** Leases anew when an acquisition is repeated. */
class ForgetsAcquisitions extends MemoryDataStore {
  #acquisitions = 0;

  override turn(request: contract.TurnRequest): Promise<contract.TurnReport> {
    const { acquisition } = request;
    const renamed = acquisition && { ...acquisition, acquisitionId: `${++this.#acquisitions}` };
    return super.turn({ ...request, acquisition: renamed });
  }
}

/** Keeps results that nobody wants, for ever. */
class KeepsEveryResult extends MemoryDataStore {
  override async cleanup(): Promise<contract.CleanupReport> {
    return { removedResults: 0, removedScheduleIds: [] };
  }
}

/** Keeps no results. */
class LosesResults extends MemoryDataStore {
  override async getJobResult(): Promise<null> {
    return null;
  }
}

/** Adds jobs whose idempotency key is taken. */
class IgnoresKeys extends MemoryDataStore {
  override addJobs(jobs: Parameters<MemoryDataStore["addJobs"]>[0]): Promise<contract.JobAddition[]> {
    return super.addJobs(jobs.map((job) => ({ ...job, idempotencyKey: null })));
  }
}

/** Writes what comes before a conflict. */
class WritesHalfACall extends MemoryDataStore {
  override async addSchedules(
    additions: readonly contract.ScheduleAddition[],
  ): Promise<contract.ScheduleAdditionReport> {
    const results: contract.ScheduleAdditionReport[] = [];
    for (const addition of additions) {
      const report = await super.addSchedules([addition]);
      if (report.conflictId !== null) return report;
      results.push(report);
    }
    return {
      conflictId: null,
      results: results.flatMap((report) => (report.conflictId === null ? report.results : [])),
    };
  }
}

/** Moves the next fire time of a schedule that is replaced by an equal one. */
class ForgetsNextFireTimes extends MemoryDataStore {
  override addSchedules(additions: readonly contract.ScheduleAddition[]): Promise<contract.ScheduleAdditionReport> {
    return super.addSchedules(
      additions.map((addition, index) => ({
        ...addition,
        schedule: { ...addition.schedule, triggerRule: `${addition.schedule.triggerRule} ${Math.random()} ${index}` },
      })),
    );
  }
}

/** Gives a due schedule to everybody who asks. */
class SharesSchedules extends MemoryDataStore {
  override async acquireSchedules(request: contract.ScheduleAcquisition): Promise<contract.ScheduleAcquisitionReport> {
    return super.acquireSchedules({ ...request, until: request.now });
  }
}

/** Adds a job for a fire time that has one. */
class DoublesFireTimes extends MemoryDataStore {
  override commitPlans(commit: contract.PlanCommit): Promise<contract.PlanCommitReport> {
    const plans = commit.plans.map((plan) => ({
      ...plan,
      jobs: plan.jobs.map((job) => ({ ...job, scheduleId: job.id })),
    }));
    return super.commitPlans({ ...commit, plans });
  }
}

/** Runs delayed jobs at once. */
class ForgetsDelays extends MemoryDataStore {
  override addJobs(jobs: Parameters<MemoryDataStore["addJobs"]>[0]): Promise<contract.JobAddition[]> {
    return super.addJobs(jobs.map((job) => ({ ...job, runAt: job.createdAt })));
  }
}

/** Lets nobody cancel a job that runs. */
class IgnoresCancellations extends MemoryDataStore {
  override async cancelJob(id: string, now: number): Promise<contract.CancelReport> {
    const job = await this.getJob(id);
    if (job === null || job.acquiredBy === null) return super.cancelJob(id, now);
    return { status: "requested", taskId: job.taskId, acquiredBy: job.acquiredBy };
  }
}

/** Extends leases that others hold by now. */
class ExtendsAnything extends MemoryDataStore {
  override async extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
    await super.extendLeases(extension);
    return { lost: [], cancelRequested: [] };
  }
}

/** Hands out the records that it keeps. */
class SharesRecords extends MemoryDataStore {
  readonly #shared = new Map<string, Awaited<ReturnType<MemoryDataStore["getJob"]>>>();

  override async getJob(id: string): ReturnType<MemoryDataStore["getJob"]> {
    const job = this.#shared.get(id) ?? (await super.getJob(id));
    this.#shared.set(id, job);
    return job;
  }
}

/** Skips one record between two pages. */
class SkipsBetweenPages extends MemoryDataStore {
  override async getSchedules(filter: contract.ScheduleFilter): ReturnType<MemoryDataStore["getSchedules"]> {
    const page = await super.getSchedules(filter);
    const next = page.cursor === null ? null : await super.getSchedules({ ...filter, cursor: page.cursor, limit: 1 });
    return { items: page.items, cursor: next?.items[0]?.id ?? null };
  }
}

const BROKEN_STORES = [
  LosesAJob,
  AcquiresTwice,
  IgnoresFences,
  IgnoresPlanFences,
  ForgetsTheOrder,
  ForgetsPriorities,
  IgnoresLimits,
  LeaksSlots,
  KeepsLeases,
  NeverRecovers,
  ForgetsAcquisitions,
  KeepsEveryResult,
  LosesResults,
  IgnoresKeys,
  WritesHalfACall,
  ForgetsNextFireTimes,
  SharesSchedules,
  DoublesFireTimes,
  ForgetsDelays,
  IgnoresCancellations,
  ExtendsAnything,
  SharesRecords,
  SkipsBetweenPages,
] as const;

/** Names of the cases that a store fails. */
async function failedCases(BrokenStore: new () => contract.DataStore): Promise<string[]> {
  const failed: string[] = [];
  for (const { name, run } of dataStoreContract) {
    try {
      await run({ open: async () => new BrokenStore() });
    } catch (error) {
      if (!(error instanceof ContractViolation)) throw error;
      failed.push(name);
    }
  }
  return failed;
}

describe("the contract catches a store that", () => {
  test("nothing is wrong with, not at all", async () => {
    expect(await failedCases(MemoryDataStore)).toEqual([]);
  });
  for (const BrokenStore of BROKEN_STORES) {
    const sentence = BrokenStore.name.replace(/(?<=[a-z])[A-Z]|(?<=A)[A-Z]/g, " $&").toLowerCase();
    test(sentence, async () => {
      expect(await failedCases(BrokenStore)).not.toEqual([]);
    });
  }
});
