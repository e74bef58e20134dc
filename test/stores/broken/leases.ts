import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { type BrokenStore, caughtBy } from "./broken-store.ts";

type Commit = contract.CommitRequest;
type Report = contract.CommitReport;

/** Gives the jobs that a scheduler holds to the next one too. */
class AcquiresTwice extends MemoryDataStore {
  readonly #held: Report["acquired"][number][] = [];

  override async commit(request: Commit): Promise<Report> {
    const report = await super.commit(request);
    const double = request.jobs !== null && report.acquired.length === 0 ? this.#held.splice(0, 1) : [];
    this.#held.push(...report.acquired);
    return { ...report, acquired: [...report.acquired, ...double] };
  }
}

/** Answers with the acquired jobs in the order of their ids. */
class ForgetsTheOrder extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const report = await super.commit(request);
    return { ...report, acquired: report.acquired.toSorted((a, b) => (a.id < b.id ? -1 : 1)) };
  }
}

/** Takes back ready jobs when the clock of a scheduler is behind. */
class UnmakesReady extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const report = await super.commit(request);
    return { ...report, acquired: report.acquired.filter((job) => job.runAt <= request.now) };
  }
}

/** Takes every release for one of the present holder. */
class IgnoresFences extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const releases: contract.JobRelease[] = [];
    for (const release of request.releases) {
      const fence = (await this.getJob(release.jobId))?.fence ?? release.fence;
      releases.push({ ...release, fence });
    }
    return super.commit({ ...request, releases });
  }
}

/** Says that it released, and keeps the lease. */
class KeepsLeases extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const releases = request.releases.filter((release) => release.kind === "finish");
    const report = await super.commit({ ...request, releases });
    return { ...report, releases: request.releases.map(() => "released") };
  }
}

/** Counts jobs as running that ended: after each one that was given up, one slot fewer is left. */
class LeaksSlots extends MemoryDataStore {
  #leaks = 0;

  override async commit(request: Commit): Promise<Report> {
    const leakedBefore = this.#leaks;
    this.#leaks += request.releases.filter((release) => release.kind === "giveUp").length;
    const { jobs } = request;
    if (jobs === null || leakedBefore === 0) return super.commit(request);
    return super.commit({ ...request, jobs: { ...jobs, limit: Math.max(0, Math.min(jobs.limit, 1 - leakedBefore)) } });
  }
}

/** Never takes back what a dead scheduler held. */
class NeverRecovers extends MemoryDataStore {
  override commit(request: Commit): Promise<Report> {
    return super.commit({ ...request, until: Number.MAX_SAFE_INTEGER });
  }
}

/** Recovers in every commit. */
class RecoversUnasked extends MemoryDataStore {
  override commit(request: Commit): Promise<Report> {
    return super.commit({ ...request, recover: true });
  }
}

/** Leases jobs though others, which may be more urgent, wait for recovery. */
class OvertakesTheLost extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const { leaseEndsAt } = await this.look({ ...request, tasks: null });
    const isLate = !request.recover && leaseEndsAt !== null && leaseEndsAt <= request.now;
    return super.commit(isLate ? { ...request, now: leaseEndsAt - 1 } : request);
  }
}

/** Acquires first and releases then. */
class ReleasesLast extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const { acquired } = await super.commit({ ...request, releases: [] });
    const report = await super.commit({ ...request, additions: [], plans: [], recover: false, jobs: null });
    return { ...report, acquired };
  }
}

/** Puts back what is to be cancelled. */
class PutsBackTheCancelled extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const report = await super.commit(request);
    const [ended] = report.ended;
    return ended === undefined || request.releases.length === 0 ? report : { ...report, ended: [] };
  }
}

/** Extends leases that others hold by now. */
class ExtendsAnything extends MemoryDataStore {
  override async extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
    await super.extendLeases(extension);
    return { lost: [], cancelRequested: [] };
  }
}

/** Extends what it was told of, and leaves leases that run nowhere alone. */
class KeepsOrphans extends MemoryDataStore {
  override extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
    return super.extendLeases({ ...extension, instanceId: "nobody's" });
  }
}

/** Gives up what a commit leased whose answer is still under way. */
class ForgetsCommitsUnderWay extends MemoryDataStore {
  override extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
    return super.extendLeases({ ...extension, settledCommitId: `${extension.instanceId}~` });
  }
}

/** Gives up the leases of every instance of an identity when it extends those of one. */
class MixesInstances extends MemoryDataStore {
  override extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
    return super.extendLeases({ ...extension, instanceId: "" });
  }
}

/** Takes an orphan for a job that was lost with its process. */
class CountsOrphansAsLost extends MemoryDataStore {
  override async extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
    const report = await super.extendLeases({ ...extension, instanceId: "nobody's" });
    if (extension.jobs.length < 2) await super.giveUpLeases({ ...extension, instanceId: "nobody's" });
    return report;
  }
}

/** Gives up what a scheduler has just leased, when its surrender arrives late. */
class SurrendersEverything extends MemoryDataStore {
  override giveUpLeases(surrender: contract.LeaseSurrender): Promise<contract.RecoveryReport> {
    return super.giveUpLeases({ ...surrender, instanceId: "nobody's" });
  }
}

/** Gives up what living runs of its identity hold. */
class TakesFromTheLiving extends MemoryDataStore {
  override giveUpLeases(surrender: contract.LeaseSurrender): Promise<contract.RecoveryReport> {
    return super.giveUpLeases({ ...surrender, now: surrender.now + 3_600_000 });
  }
}

/** Does not hear that a job starts. */
class IgnoresStarts extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const releases = request.releases.filter(({ kind }) => kind !== "start");
    const report = await super.commit({ ...request, releases });
    const statuses = new Map(releases.map((release, index) => [release, report.releases[index]]));
    return { ...report, releases: request.releases.map((release) => statuses.get(release) ?? "released") };
  }
}

/** Does not count what is given up after it has started. */
class GivesUpForNothing extends MemoryDataStore {
  override commit(request: Commit): Promise<Report> {
    const releases = request.releases.map((release) =>
      release.kind === "giveUp" ? { ...release, hasStarted: false } : release,
    );
    return super.commit({ ...request, releases });
  }
}

/** Counts the loss of jobs that have not started. */
class CountsEveryLoss extends MemoryDataStore {
  override async commit(request: Commit): Promise<Report> {
    const { items } = await this.getJobs({ limit: 1000, cursor: null });
    const nothing = { additions: [], plans: [], jobs: null, schedules: null, recover: false };
    for (const { id: jobId, fence, acquiredBy } of request.recover ? items : []) {
      if (acquiredBy === null) continue;
      await super.commit({
        ...{ ...request, ...nothing, schedulerId: acquiredBy, commitId: "start" },
        releases: [{ jobId, fence, kind: "start" }],
      });
    }
    return super.commit(request);
  }
}

/** Gives up nothing. */
class NeverSurrenders extends MemoryDataStore {
  override async giveUpLeases(): Promise<contract.RecoveryReport> {
    return { recovered: [], ended: [] };
  }
}

export const brokenLeases: readonly BrokenStore[] = [
  ...caughtBy("acquisition", AcquiresTwice, ForgetsTheOrder, UnmakesReady),
  ...caughtBy("releases", IgnoresFences, KeepsLeases, PutsBackTheCancelled, IgnoresStarts, GivesUpForNothing),
  ...caughtBy("limits", LeaksSlots, ReleasesLast),
  ...caughtBy("recovery", NeverRecovers, RecoversUnasked, OvertakesTheLost, CountsEveryLoss),
  ...caughtBy("leases", ExtendsAnything, SurrendersEverything, NeverSurrenders, TakesFromTheLiving),
  ...caughtBy("orphans", KeepsOrphans, ForgetsCommitsUnderWay, MixesInstances, CountsOrphansAsLost),
];
