import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { updateSchedule } from "../../../src/testing/data-store-contract/makers.ts";
import { type BrokenStore, caughtBy } from "./broken-store.ts";

type Commit = contract.CommitRequest;
type Report = contract.CommitReport;

/** Acquires before it fires. */
class FiresLast extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const { acquired } = await super.commit({ ...request, plans: [] });
    const report = await super.commit({ ...request, releases: [], additions: [], jobs: null });
    return { ...report, acquired };
  }
}

/** Acquires before it adds. */
class AddsLast extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const report = await super.commit({ ...request, additions: [] });
    return { ...report, additions: await this.addJobs(request.additions) };
  }
}

/** Adds before it releases. */
class AddsFirst extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const additions = await this.addJobs(request.additions);
    return { ...(await super.commit({ ...request, additions: [] })), additions };
  }
}

/** Runs a fresh fire before whatever is in the queue. */
class HurriesFires extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const plans: contract.SchedulePlan[] = [];
    for (const plan of request.plans) {
      const updated = await updateSchedule(this, plan.scheduleId, { priority: 1000 }, plan.fence);
      plans.push({ ...plan, fence: updated?.fence ?? plan.fence });
    }
    return super.commit({ ...request, plans });
  }
}

/** Commits the releases of a commit before it reads the rest. */
class StepsByHalves extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const { releases } = await super.commit({ ...request, additions: [], plans: [], jobs: null });
    return { ...(await super.commit({ ...request, releases: [] })), releases };
  }
}

/** Takes a repetition for a commit of its own. */
class ForgetsSteps extends MemoryDataStore {
  #steps = 0;

  override commit(request: Commit): Promise<Report> {
    return super.commit({ ...request, commitId: `${++this.#steps}` });
  }
}

/** Answers a repetition as if it were the first try. */
class IgnoresRepetitions extends MemoryDataStore {
  override commit(request: Commit): Promise<Report> {
    return super.commit({ ...request, isRepetition: false });
  }
}

/** Changes what a repetition answers. */
abstract class ChangesRepetitions extends MemoryDataStore {
  protected abstract changed(report: Report, request: Commit): Partial<Report>;

  override async commit(request: Commit): Promise<Report> {
    const report = await super.commit(request);
    return request.isRepetition ? { ...report, ...this.changed(report, request) } : report;
  }
}

/** Does not know what it has put back. */
class ForgetsPutBacks extends ChangesRepetitions {
  override changed({ releases }: Report, request: Commit): Partial<Report> {
    const isFinish = (index: number): boolean => request.releases[index]?.kind === "finish";
    return { releases: releases.map((status, index) => (isFinish(index) ? status : "fenced")) };
  }
}

/** Does not know what it has finished. */
class ForgetsFinishes extends ChangesRepetitions {
  override changed({ releases }: Report, request: Commit): Partial<Report> {
    const isFinish = (index: number): boolean => request.releases[index]?.kind === "finish";
    return { releases: releases.map((status, index) => (isFinish(index) ? "missing" : status)) };
  }
}

/** Takes everything in a repetition for released. */
class ClaimsReleases extends ChangesRepetitions {
  override changed({ releases }: Report): Partial<Report> {
    return { releases: releases.map(() => "released") };
  }
}

/** Does not know which plans it has committed. */
class ForgetsCommits extends ChangesRepetitions {
  override changed({ plans }: Report): Partial<Report> {
    return { plans: plans.map((plan) => ({ ...plan, committed: false })) };
  }
}

/** Takes the commits of others for its own. */
class ClaimsCommits extends ChangesRepetitions {
  override changed({ plans }: Report): Partial<Report> {
    return { plans: plans.map((plan) => ({ ...plan, committed: true })) };
  }
}

/** Names the jobs of plans only when it has just added them. */
class ForgetsFires extends ChangesRepetitions {
  override changed({ plans }: Report): Partial<Report> {
    return { plans: plans.map((plan) => ({ ...plan, addedJobIds: [] })) };
  }
}

/** Names the jobs of plans that ran already, too. */
class NamesGoneFires extends ChangesRepetitions {
  override changed({ plans }: Report, request: Commit): Partial<Report> {
    const ids = (index: number): string[] => request.plans[index]?.fires.map((fire) => fire.jobId) ?? [];
    return { plans: plans.map((plan, index) => ({ ...plan, addedJobIds: ids(index) })) };
  }
}

/** Tells a repetition that acquires nothing of no leases. */
class ForgetsLeasesAtStop extends ChangesRepetitions {
  override changed({ acquired }: Report, { jobs }: Commit): Partial<Report> {
    return { acquired: jobs?.limit === 0 ? [] : acquired };
  }
}

/** Says of additions in a repetition that they are old. */
class DisownsAdditions extends ChangesRepetitions {
  override changed({ additions }: Report): Partial<Report> {
    return { additions: additions.map((addition) => ({ ...addition, isNew: false })) };
  }
}

/** Leases as many again when a commit is repeated. */
class LeasesBeyondTheLimit extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const { jobs, isRepetition } = request;
    if (!isRepetition || jobs === null) return super.commit(request);
    return super.commit({ ...request, jobs: { ...jobs, limit: 2 * jobs.limit } });
  }
}

/** Recovers again in a repetition what has just been recovered. */
class RecoversAgain extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    if (!request.isRepetition || !request.recover) return super.commit(request);
    const again = await this.giveUpLeases({ ...request, instanceId: "nobody's", aliveUntil: null });
    return { ...(await super.commit(request)), ...again };
  }
}

export const brokenCommits: readonly BrokenStore[] = [
  ...caughtBy("commits", FiresLast, AddsLast, AddsFirst, HurriesFires, StepsByHalves),
  ...caughtBy("repetitions", ForgetsSteps, IgnoresRepetitions, ForgetsPutBacks, ForgetsFinishes, ClaimsReleases),
  ...caughtBy("repetitions", ForgetsCommits, ClaimsCommits, ForgetsFires, NamesGoneFires),
  ...caughtBy("repetitions", ForgetsLeasesAtStop, DisownsAdditions, LeasesBeyondTheLimit, RecoversAgain),
];
