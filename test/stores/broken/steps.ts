import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { updateSchedule } from "../../../src/testing/data-store-contract/makers.ts";
import { type BrokenStore, caughtBy } from "./broken-store.ts";

type Step = contract.StepRequest;
type Report = contract.StepReport;

/** Acquires before it fires. */
class FiresLast extends MemoryDataStore {
  override async step(request: Step): Promise<Report> {
    const { acquired } = await super.step({ ...request, plans: [] });
    const report = await super.step({ ...request, releases: [], additions: [], jobs: null });
    return { ...report, acquired };
  }
}

/** Acquires before it adds. */
class AddsLast extends MemoryDataStore {
  override async step(request: Step): Promise<Report> {
    const report = await super.step({ ...request, additions: [] });
    return { ...report, additions: await this.addJobs(request.additions) };
  }
}

/** Adds before it releases. */
class AddsFirst extends MemoryDataStore {
  override async step(request: Step): Promise<Report> {
    const additions = await this.addJobs(request.additions);
    return { ...(await super.step({ ...request, additions: [] })), additions };
  }
}

/** Runs a fresh fire before whatever is in the queue. */
class HurriesFires extends MemoryDataStore {
  override async step(request: Step): Promise<Report> {
    const plans: contract.SchedulePlan[] = [];
    for (const plan of request.plans) {
      const updated = await updateSchedule(this, plan.scheduleId, { priority: 1000 }, plan.fence);
      plans.push({ ...plan, fence: updated?.fence ?? plan.fence });
    }
    return super.step({ ...request, plans });
  }
}

/** Commits the releases of a step before it reads the rest. */
class StepsByHalves extends MemoryDataStore {
  override async step(request: Step): Promise<Report> {
    const { releases } = await super.step({ ...request, additions: [], plans: [], jobs: null });
    return { ...(await super.step({ ...request, releases: [] })), releases };
  }
}

/** Takes a repetition for a step of its own. */
class ForgetsSteps extends MemoryDataStore {
  #steps = 0;

  override step(request: Step): Promise<Report> {
    return super.step({ ...request, stepId: `${++this.#steps}` });
  }
}

/** Answers a repetition as if it were the first try. */
class IgnoresRepetitions extends MemoryDataStore {
  override step(request: Step): Promise<Report> {
    return super.step({ ...request, isRepetition: false });
  }
}

/** Changes what a repetition answers. */
abstract class ChangesRepetitions extends MemoryDataStore {
  protected abstract changed(report: Report, request: Step): Partial<Report>;

  override async step(request: Step): Promise<Report> {
    const report = await super.step(request);
    return request.isRepetition ? { ...report, ...this.changed(report, request) } : report;
  }
}

/** Does not know what it has put back. */
class ForgetsPutBacks extends ChangesRepetitions {
  override changed({ releases }: Report, request: Step): Partial<Report> {
    const isFinish = (index: number): boolean => request.releases[index]?.kind === "finish";
    return { releases: releases.map((status, index) => (isFinish(index) ? status : "fenced")) };
  }
}

/** Does not know what it has finished. */
class ForgetsFinishes extends ChangesRepetitions {
  override changed({ releases }: Report, request: Step): Partial<Report> {
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
  override changed({ plans }: Report, request: Step): Partial<Report> {
    const ids = (index: number): string[] => request.plans[index]?.fires.map((fire) => fire.jobId) ?? [];
    return { plans: plans.map((plan, index) => ({ ...plan, addedJobIds: ids(index) })) };
  }
}

/** Tells a repetition that acquires nothing of no leases. */
class ForgetsLeasesAtStop extends ChangesRepetitions {
  override changed({ acquired }: Report, { jobs }: Step): Partial<Report> {
    return { acquired: jobs?.limit === 0 ? [] : acquired };
  }
}

/** Says of additions in a repetition that they are old. */
class DisownsAdditions extends ChangesRepetitions {
  override changed({ additions }: Report): Partial<Report> {
    return { additions: additions.map((addition) => ({ ...addition, isNew: false })) };
  }
}

/** Leases as many again when a step is repeated. */
class LeasesBeyondTheLimit extends MemoryDataStore {
  override async step(request: Step): Promise<Report> {
    const { jobs, isRepetition } = request;
    if (!isRepetition || jobs === null) return super.step(request);
    return super.step({ ...request, jobs: { ...jobs, limit: 2 * jobs.limit } });
  }
}

/** Recovers again in a repetition what has just been recovered. */
class RecoversAgain extends MemoryDataStore {
  override async step(request: Step): Promise<Report> {
    if (!request.isRepetition || !request.recover) return super.step(request);
    const again = await this.giveUpLeases({ ...request, instanceId: "nobody's", aliveUntil: null });
    return { ...(await super.step(request)), ...again };
  }
}

export const brokenSteps: readonly BrokenStore[] = [
  ...caughtBy("steps", FiresLast, AddsLast, AddsFirst, HurriesFires, StepsByHalves),
  ...caughtBy("repetitions", ForgetsSteps, IgnoresRepetitions, ForgetsPutBacks, ForgetsFinishes, ClaimsReleases),
  ...caughtBy("repetitions", ForgetsCommits, ClaimsCommits, ForgetsFires, NamesGoneFires),
  ...caughtBy("repetitions", ForgetsLeasesAtStop, DisownsAdditions, LeasesBeyondTheLimit, RecoversAgain),
];
