import type { JobStepRecord } from "../../../src/records/job-step.ts";
import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { changing, type Mutant, scheduler, store } from "../mutant.ts";

/** Faults in what makes jobs resume. */
export const JOB_STEP_MUTANTS: readonly Mutant[] = [
  store(
    "lets whoever names a job write its steps",
    class extends MemoryDataStore {
      override async saveJobStep(save: contract.JobStepSave): Promise<contract.JobStepReport> {
        const { fence = save.fence, acquiredBy } = (await this.getJob(save.jobId)) ?? {};
        return super.saveJobStep({ ...save, fence, schedulerId: acquiredBy ?? save.schedulerId });
      }
    },
  ),
  store(
    "forgets the steps that have ended",
    class extends MemoryDataStore {
      override async getJobSteps(jobId: string, now: number): Promise<JobStepRecord[]> {
        return (await super.getJobSteps(jobId, now)).filter(({ endedAt }) => endedAt === null);
      }
    },
  ),
  store(
    "forgets cursors",
    class extends MemoryDataStore {
      override async getJobSteps(jobId: string, now: number): Promise<JobStepRecord[]> {
        return (await super.getJobSteps(jobId, now)).map((step) => ({ ...step, cursor: null }));
      }
    },
  ),
  store(
    "wakes jobs at once",
    changing({
      step: (request) => ({
        ...request,
        releases: request.releases.map((release) =>
          release.kind === "retry" && release.sleep?.step != null ? { ...release, runAt: request.now } : release,
        ),
      }),
    }),
  ),
  scheduler("says of a step that it was saved although the call failed", (inner) => ({
    saveJobStep: (save: contract.JobStepSave) =>
      inner.saveJobStep(save).catch(() => ({ isSaved: true, cancelRequested: false })),
  })),
  scheduler("reads no steps of jobs", () => ({ getJobSteps: async () => [] })),
];
