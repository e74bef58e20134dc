import type { JobRecord, NewJobRecord } from "../../../src/records/job.ts";
import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { type BrokenStore, caughtBy } from "./broken-store.ts";

type Jobs = readonly NewJobRecord[];
type Additions = contract.JobAddition[];

/** Changes the jobs that are added. */
abstract class ChangesJobs extends MemoryDataStore {
  override addJobs(jobs: Jobs): Promise<Additions> {
    return super.addJobs(jobs.map((job) => this.change(job)));
  }

  abstract change(job: NewJobRecord): NewJobRecord;
}

/** Knows no parents. */
class StartsChildrenAtOnce extends ChangesJobs {
  change({ after: _, ...job }: NewJobRecord): NewJobRecord {
    return job;
  }
}

/** Waits for one parent only. */
class HeedsTheFirstParent extends ChangesJobs {
  change(job: NewJobRecord): NewJobRecord {
    return job.after === undefined ? job : { ...job, after: job.after.slice(0, 1) };
  }
}

/** Runs children whatever became of their parents. */
class RunsAfterFailures extends ChangesJobs {
  change(job: NewJobRecord): NewJobRecord {
    return job.after === undefined ? job : { ...job, onParentFailure: "run" };
  }
}

/** Cancels children that are to run all the same. */
class CancelsAllChildren extends ChangesJobs {
  change(job: NewJobRecord): NewJobRecord {
    return job.after === undefined ? job : { ...job, onParentFailure: "cancel" };
  }
}

/** Adds children of unknown parents, which then wait for ever or not at all. */
class TakesUnknownParents extends MemoryDataStore {
  override async addJobs(jobs: Jobs): Promise<Additions> {
    try {
      return await super.addJobs(jobs);
    } catch {
      return super.addJobs(jobs.map(({ after: _, ...job }) => job));
    }
  }
}

/** Forgets in its answers what ended with a parent. */
class HidesCascades extends MemoryDataStore {
  override async commit(request: contract.CommitRequest): Promise<contract.CommitReport> {
    const report = await super.commit(request);
    return { ...report, ended: report.ended.filter(({ attempts }) => attempts > 0) };
  }
}

/** Forgets in its answers who waits no longer. */
class HidesAdmissions extends MemoryDataStore {
  override async commit(request: contract.CommitRequest): Promise<contract.CommitReport> {
    const { admitted: _, ...report } = await super.commit(request);
    return report;
  }
}

/** Cancels a queued job and forgets its children. */
class KeepsChildrenOfCancelledJobs extends MemoryDataStore {
  override async cancelJobs(ids: readonly string[], now: number): Promise<contract.CancelReport> {
    return { ...(await super.cancelJobs(ids, now)), ended: [] };
  }
}

/** Does not say what holds a job. */
class HidesHolds extends MemoryDataStore {
  override async getJob(id: string): Promise<JobRecord | null> {
    const job = await super.getJob(id);
    if (job === null) return null;
    const { blockedBy: _, ...rest } = job;
    return rest;
  }
}

/** Shows results that have expired. */
class ShowsExpiredResults extends MemoryDataStore {
  override getResultsOfJobs(ids: readonly string[]): ReturnType<MemoryDataStore["getResultsOfJobs"]> {
    return super.getResultsOfJobs(ids, 0);
  }
}

export const brokenChains: readonly BrokenStore[] = caughtBy(
  "chains",
  StartsChildrenAtOnce,
  HeedsTheFirstParent,
  RunsAfterFailures,
  CancelsAllChildren,
  TakesUnknownParents,
  HidesCascades,
  HidesAdmissions,
  KeepsChildrenOfCancelledJobs,
  HidesHolds,
  ShowsExpiredResults,
);
