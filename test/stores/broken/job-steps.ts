import type { NewJobRecord } from "../../../src/records/job.ts";
import type { JobStepRecord } from "../../../src/records/job-step.ts";
import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { caughtBy } from "./broken-store.ts";

type Save = contract.JobStepSave;
type Report = contract.JobStepReport;

/** Writes for whoever names the job. */
class SavesForZombies extends MemoryDataStore {
  override async saveJobStep(save: Save): Promise<Report> {
    const job = await this.getJob(save.jobId);
    const { fence = save.fence, acquiredBy } = job ?? {};
    return super.saveJobStep({ ...save, fence, schedulerId: acquiredBy ?? save.schedulerId });
  }
}

/** Takes a lease that has ended for a live one. */
class SavesAfterLeases extends MemoryDataStore {
  override saveJobStep(save: Save): Promise<Report> {
    return super.saveJobStep({ ...save, now: 0 });
  }
}

/** Says of every save that it counts. */
class PretendsToSave extends MemoryDataStore {
  override async saveJobStep(save: Save): Promise<Report> {
    return { ...(await super.saveJobStep(save)), isSaved: true };
  }
}

/** Lets a save that arrives late count. */
class SavesLate extends MemoryDataStore {
  #number = 0;

  override saveJobStep(save: Save): Promise<Report> {
    return super.saveJobStep({ ...save, number: ++this.#number });
  }
}

/** Keeps no step as one that has ended. */
class ReopensSteps extends MemoryDataStore {
  readonly #ends = new Map<string, number | null>();

  override saveJobStep(save: Save): Promise<Report> {
    this.#ends.set(save.step.name, save.step.endedAt);
    return super.saveJobStep({ ...save, step: { ...save.step, endedAt: null } });
  }
  override async getJobSteps(jobId: string, now: number): Promise<JobStepRecord[]> {
    const steps = await super.getJobSteps(jobId, now);
    return steps.map((step) => ({ ...step, endedAt: this.#ends.get(step.name) ?? null }));
  }
}

/** Leaves the lease as it is. */
class LeavesLeases extends MemoryDataStore {
  override saveJobStep(save: Save): Promise<Report> {
    return super.saveJobStep({ ...save, until: 0 });
  }
}

/** Tells no holder that its job is to be cancelled. */
class HidesCancellations extends MemoryDataStore {
  override async saveJobStep(save: Save): Promise<Report> {
    return { ...(await super.saveJobStep(save)), cancelRequested: false };
  }
}

/** Gives steps in the order in which they were saved. */
class ForgetsTheBeginning extends MemoryDataStore {
  override async getJobSteps(jobId: string, now: number): Promise<JobStepRecord[]> {
    return (await super.getJobSteps(jobId, now)).reverse();
  }
}

/** Gives the steps of jobs whose result has expired. */
class OutlivesResults extends MemoryDataStore {
  override getJobSteps(jobId: string): Promise<JobStepRecord[]> {
    return super.getJobSteps(jobId, 0);
  }
}

/** Gives no steps of jobs that have ended. */
class ForgetsWithTheJob extends MemoryDataStore {
  override async getJobSteps(jobId: string, now: number): Promise<JobStepRecord[]> {
    return (await this.getJob(jobId)) === null ? [] : super.getJobSteps(jobId, now);
  }
}

/** Lets repeated jobs begin anew. */
class CopiesNothing extends MemoryDataStore {
  override addJobs(jobs: readonly NewJobRecord[]): Promise<contract.JobAddition[]> {
    return super.addJobs(jobs.map(({ copiesSteps: _, ...job }) => job));
  }
}

/** Lets each repeated job go on where the other ended. */
class AlwaysCopies extends MemoryDataStore {
  override addJobs(jobs: readonly NewJobRecord[]): Promise<contract.JobAddition[]> {
    return super.addJobs(jobs.map((job) => ({ ...job, copiesSteps: true })));
  }
}

/** Takes a job that sleeps for one that fails. */
class ForgetsSleeps extends MemoryDataStore {
  override commit(request: contract.CommitRequest): Promise<contract.CommitReport> {
    const releases = request.releases.map((release) =>
      release.kind === "retry" ? { ...release, sleep: undefined as never } : release,
    );
    return super.commit({ ...request, releases });
  }
}

export const brokenJobSteps = caughtBy(
  "steps",
  SavesForZombies,
  SavesAfterLeases,
  PretendsToSave,
  SavesLate,
  ReopensSteps,
  LeavesLeases,
  HidesCancellations,
  ForgetsTheBeginning,
  OutlivesResults,
  ForgetsWithTheJob,
  CopiesNothing,
  AlwaysCopies,
  ForgetsSleeps,
);
