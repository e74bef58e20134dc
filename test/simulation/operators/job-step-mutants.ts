import type { NewJobRecord } from "../../../src/records/job.ts";
import type { JobStepRecord } from "../../../src/records/job-step.ts";
import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { changing, type Mutant, scheduler, store } from "../mutant.ts";

type Save = contract.JobStepSave;
type Retry = Extract<contract.JobRelease, { kind: "retry" }>;

/** A store that changes the steps that it gives. */
function giving(change: (steps: readonly JobStepRecord[]) => JobStepRecord[]) {
  return class extends MemoryDataStore {
    override async getJobSteps(jobId: string, now: number): Promise<JobStepRecord[]> {
      return change(await super.getJobSteps(jobId, now));
    }
  };
}

/** Changes how jobs go to sleep. */
function sleeping(
  change: (retry: Retry, now: number) => Partial<Retry>,
): (request: contract.CommitRequest) => typeof request {
  return (request) => ({
    ...request,
    releases: request.releases.map((release) =>
      release.kind === "retry" && release.sleep !== undefined
        ? { ...release, ...change(release, request.now) }
        : release,
    ),
  });
}

class LeavesWakeTimes extends giving((steps) => steps.map((step) => ({ ...step, wakeAt: step.wakeAt && 1 }))) {
  override commit(request: contract.CommitRequest): Promise<contract.CommitReport> {
    return super.commit(sleeping((_, now) => ({ runAt: now }))(request));
  }
}

/** Faults in what makes jobs resume, and the first seed that finds each. */
export const JOB_STEP_MUTANTS: readonly { readonly mutant: Mutant; readonly caughtBy: number }[] = [
  {
    mutant: store(
      "lets whoever names a job write its steps",
      class extends MemoryDataStore {
        override async saveJobStep(save: Save): Promise<contract.JobStepReport> {
          const { fence = save.fence, acquiredBy } = (await this.getJob(save.jobId)) ?? {};
          return super.saveJobStep({ ...save, fence, schedulerId: acquiredBy ?? save.schedulerId });
        }
      },
    ),
    caughtBy: 1,
  },
  {
    mutant: store(
      "forgets the steps that have ended",
      giving((steps) => steps.filter(({ endedAt }) => endedAt === null)),
    ),
    caughtBy: 0,
  },
  {
    mutant: store(
      "forgets cursors",
      giving((steps) => steps.map((step) => ({ ...step, cursor: null }))),
    ),
    caughtBy: 1,
  },
  {
    mutant: store(
      "lets saves that arrive late count",
      class extends MemoryDataStore {
        #number = 0;
        override saveJobStep(save: Save): Promise<contract.JobStepReport> {
          return super.saveJobStep({ ...save, number: ++this.#number });
        }
      },
    ),
    caughtBy: 599,
  },
  {
    mutant: store(
      "lets repeated jobs begin anew",
      changing({ job: ({ copiesSteps, ...job }): NewJobRecord => (copiesSteps === true ? job : { ...job }) }),
    ),
    caughtBy: 8,
  },
  { mutant: store("wakes jobs at once", changing({ commit: sleeping((_, now) => ({ runAt: now })) })), caughtBy: 0 },
  { mutant: store("forgets until when a job sleeps", LeavesWakeTimes), caughtBy: 0 },
  {
    mutant: store(
      "lets jobs sleep longer each time",
      giving((steps) => steps.map((step) => ({ ...step, wakeAt: step.wakeAt && step.wakeAt + 5000 }))),
    ),
    caughtBy: 0,
  },
  {
    mutant: store(
      "forgets how often a job was put off",
      changing({
        commit: sleeping(({ sleep }) => (sleep === undefined ? {} : { sleep: { ...sleep, snoozes: 0 } })),
      }),
    ),
    caughtBy: 0,
  },
  {
    mutant: scheduler("spends an attempt on a sleep", (inner) => ({
      commit: (request: contract.CommitRequest) =>
        inner.commit(sleeping(({ failedAttempts }) => ({ failedAttempts: failedAttempts + 1 }))(request)),
    })),
    caughtBy: 0,
  },
  {
    mutant: scheduler("says of a step that it was saved although the call failed", (inner) => ({
      saveJobStep: (save: Save) => inner.saveJobStep(save).catch(() => ({ isSaved: true, cancelRequested: false })),
    })),
    caughtBy: 1,
  },
  { mutant: scheduler("reads no steps of jobs", () => ({ getJobSteps: async () => [] })), caughtBy: 0 },
];
