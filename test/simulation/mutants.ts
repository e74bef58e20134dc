import type { JobRecord } from "../../src/records/job.ts";
import type { ScheduleRecord } from "../../src/records/schedule.ts";
import type { TaskRecord } from "../../src/records/task.ts";
import { Loops } from "../../src/scheduler/driving/loops.ts";
import { JobRunner } from "../../src/scheduler/running/job-runner.ts";
import { LeaseKeeper } from "../../src/scheduler/running/lease-keeper.ts";
import type * as contract from "../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import type { SimulationOptions } from "./simulate.ts";

/** A fault of our own, put into the store or between a scheduler and its store. */
export interface Mutant {
  /** What is wrong with it. */
  readonly name: string;
  readonly options?: Pick<SimulationOptions, "makeStore" | "wrapStore">;
  /** Puts the fault into a prototype, and returns what takes it out again. */
  readonly patch?: () => () => void;
}

type StoreClass = new () => MemoryDataStore;
type Turn = contract.TurnRequest;
type TurnResult = contract.TurnReport;

function store(name: string, Broken: StoreClass): Mutant {
  return { name: `the store ${name}`, options: { makeStore: () => new Broken() } };
}

/** A scheduler that uses its store in a wrong way. Every process gets an object of its own. */
function scheduler(name: string, changes: (store: contract.DataStore) => Partial<contract.DataStore>): Mutant {
  const wrapStore = (inner: contract.DataStore): contract.DataStore => {
    const broken = changes(inner);
    return new Proxy(inner, {
      get(target, key) {
        const changed: unknown = Reflect.get(broken, key);
        if (changed !== undefined) return changed;
        const value: unknown = Reflect.get(target, key);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  };
  return { name: `the scheduler ${name}`, options: { wrapStore } };
}

function patched<T extends object, K extends keyof T>(
  name: string,
  prototype: T,
  key: K,
  make: (original: T[K]) => T[K],
): Mutant {
  return {
    name: `the scheduler ${name}`,
    patch: () => {
      const original = prototype[key];
      prototype[key] = make(original);
      return () => {
        prototype[key] = original;
      };
    },
  };
}

export const MUTANTS: readonly Mutant[] = [
  store(
    "adds a plan's jobs and does not move the schedule on",
    class extends MemoryDataStore {
      override async commitPlans(commit: contract.PlanCommit): Promise<contract.PlanCommitReport> {
        const plans = await Promise.all(
          commit.plans.map(async (plan) => {
            const { nextFireTime = plan.nextFireTime } = (await this.getSchedule(plan.scheduleId)) ?? {};
            return { ...plan, nextFireTime };
          }),
        );
        return super.commitPlans({ ...commit, plans });
      }
    },
  ),
  store(
    "adds the jobs of a plan whose fence is stale",
    class extends MemoryDataStore {
      override async commitPlans(commit: contract.PlanCommit): Promise<contract.PlanCommitReport> {
        const report = await super.commitPlans(commit);
        for (const [index, plan] of commit.plans.entries()) {
          if (report.plans[index]?.committed === false) await this.addJobs(plan.jobs);
        }
        const plans = commit.plans.map(({ jobs }) => ({ committed: true, addedJobIds: jobs.map(({ id }) => id) }));
        return { plans };
      }
    },
  ),
  store(
    "loses the jobs of a plan",
    class extends MemoryDataStore {
      override commitPlans(commit: contract.PlanCommit): Promise<contract.PlanCommitReport> {
        return super.commitPlans({ ...commit, plans: commit.plans.map((plan) => ({ ...plan, jobs: [] })) });
      }
    },
  ),
  store(
    "lets a release count whatever its fence, and whoever holds the job",
    class extends MemoryDataStore {
      override async turn(request: Turn): Promise<TurnResult> {
        for (const release of request.releases) {
          const job = await this.getJob(release.jobId);
          if (job?.acquiredBy == null || job.fence === release.fence) continue;
          const releases = [{ ...release, fence: job.fence }];
          await super.turn({ ...request, schedulerId: job.acquiredBy, releases, acquisition: null });
        }
        return super.turn(request);
      }
    },
  ),
  store(
    "extends leases whatever their fence",
    class extends MemoryDataStore {
      override async extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
        const report = await super.extendLeases(extension);
        return { ...report, lost: [] };
      }
    },
  ),
  store(
    "does not count recoveries",
    class extends MemoryDataStore {
      override commitPlans(commit: contract.PlanCommit): Promise<contract.PlanCommitReport> {
        const plans = commit.plans.map((plan) => ({ ...plan, jobs: plan.jobs.map(withoutBound) }));
        return super.commitPlans({ ...commit, plans });
      }
      override addJobs(jobs: readonly JobRecord[]): Promise<contract.JobAddition[]> {
        return super.addJobs(jobs.map(withoutBound));
      }
    },
  ),
  store(
    "never takes back a lost lease",
    class extends MemoryDataStore {
      override turn(request: Turn): Promise<TurnResult> {
        const acquisition = request.acquisition && { ...request.acquisition, until: Number.MAX_SAFE_INTEGER };
        return super.turn({ ...request, acquisition });
      }
    },
  ),
  store(
    "ignores maxRunningJobs",
    class extends MemoryDataStore {
      override putTasks(tasks: readonly TaskRecord[]): Promise<("added" | "updated" | "unchanged")[]> {
        return super.putTasks(tasks.map((task) => ({ ...task, maxRunningJobs: null })));
      }
    },
  ),
  store(
    "leaks a running count with each job that is recovered",
    class extends MemoryDataStore {
      override async turn(request: Turn): Promise<TurnResult> {
        const report = await super.turn(request);
        for (const { taskId } of report.recovered) {
          const task = await this.getTask(taskId);
          if (task?.maxRunningJobs == null) continue;
          await this.putTasks([{ ...task, maxRunningJobs: Math.max(0, task.maxRunningJobs - 1) }]);
        }
        return report;
      }
    },
  ),
  store(
    "does not know a repeated acquisition",
    class extends MemoryDataStore {
      #calls = 0;
      override turn(request: Turn): Promise<TurnResult> {
        const acquisition = request.acquisition && { ...request.acquisition, acquisitionId: `${this.#calls++}` };
        return super.turn({ ...request, acquisition });
      }
    },
  ),
  store(
    "does not know a repeated acquisition of schedules",
    class extends MemoryDataStore {
      #calls = 0;
      override acquireSchedules(request: contract.ScheduleAcquisition): Promise<contract.ScheduleAcquisitionReport> {
        return super.acquireSchedules({ ...request, acquisitionId: `${this.#calls++}` });
      }
    },
  ),
  store(
    "forgets priorities",
    class extends MemoryDataStore {
      override addJobs(jobs: readonly JobRecord[]): Promise<contract.JobAddition[]> {
        return super.addJobs(jobs.map((job) => ({ ...job, priority: 0 })));
      }
    },
  ),
  store(
    "ignores idempotency keys",
    class extends MemoryDataStore {
      override addJobs(jobs: readonly JobRecord[]): Promise<contract.JobAddition[]> {
        return super.addJobs(jobs.map((job) => ({ ...job, idempotencyKey: null })));
      }
    },
  ),
  store(
    "starts jobs before their time",
    class extends MemoryDataStore {
      override addJobs(jobs: readonly JobRecord[]): Promise<contract.JobAddition[]> {
        return super.addJobs(jobs.map((job) => ({ ...job, runAt: job.runAt - 500 })));
      }
    },
  ),
  store(
    "does not keep results",
    class extends MemoryDataStore {
      override turn(request: Turn): Promise<TurnResult> {
        const releases = request.releases.map((release) =>
          release.kind === "finish" ? { ...release, result: { ...release.result, expiresAt: 0 } } : release,
        );
        return super.turn({ ...request, releases });
      }
    },
  ),
  store(
    "forgets to cancel what runs",
    class extends MemoryDataStore {
      override async cancelJob(id: string, now: number): Promise<contract.CancelReport> {
        const job = await this.getJob(id);
        if (job?.acquiredBy == null) return super.cancelJob(id, now);
        return { status: "requested", taskId: job.taskId, acquiredBy: job.acquiredBy };
      }
    },
  ),
  store(
    "keeps the leases that a restarted scheduler gives up",
    class extends MemoryDataStore {
      override async giveUpLeases(): Promise<contract.RecoveryReport> {
        return { recovered: [], ended: [] };
      }
    },
  ),
  store(
    "lets a plan count that was made before the schedule changed",
    class extends MemoryDataStore {
      override async commitPlans(commit: contract.PlanCommit): Promise<contract.PlanCommitReport> {
        const plans = await Promise.all(
          commit.plans.map(async (plan) => {
            const current = await this.getSchedule(plan.scheduleId);
            return current?.acquiredBy === commit.schedulerId ? { ...plan, fence: current.fence } : plan;
          }),
        );
        return super.commitPlans({ ...commit, plans });
      }
      override async updateSchedule(
        id: string,
        changes: contract.ScheduleChanges,
        expectedFence?: number,
      ): Promise<ScheduleRecord | null> {
        const updated = await super.updateSchedule(id, changes, expectedFence);
        return updated && { ...updated, fence: updated.fence - 1 };
      }
    },
  ),
  store(
    "does not tell when it is to be asked again",
    class extends MemoryDataStore {
      override async turn(request: Turn): Promise<TurnResult> {
        return { ...(await super.turn(request)), nextDueAt: null };
      }
    },
  ),
  scheduler("moves the schedule on before it adds the jobs", (inner) => ({
    async commitPlans(commit) {
      const report = await inner.commitPlans({ ...commit, plans: commit.plans.map((plan) => ({ ...plan, jobs: [] })) });
      const plans = commit.plans.map((plan, index) => ({
        ...plan,
        committed: report.plans[index]?.committed === true,
      }));
      const jobs = plans.flatMap((plan) => (plan.committed ? plan.jobs : []));
      if (jobs.length > 0) await inner.addJobs(jobs);
      return {
        plans: plans.map(({ committed, jobs: added }) => ({
          committed,
          addedJobIds: committed ? added.map(({ id }) => id) : [],
        })),
      };
    },
  })),
  scheduler("adds the jobs before it moves the schedule on", (inner) => ({
    async commitPlans(commit) {
      await inner.addJobs(commit.plans.flatMap(({ jobs }) => jobs));
      return inner.commitPlans({ ...commit, plans: commit.plans.map((plan) => ({ ...plan, jobs: [] })) });
    },
  })),
  scheduler("drops outcomes when the turn that carries them fails", (inner) => {
    const dropped = new Set<string>();
    return {
      async turn(request) {
        const releases = request.releases.filter(({ jobId, fence }) => !dropped.has(`${jobId} ${fence}`));
        try {
          const report = await inner.turn({ ...request, releases });
          const statuses = [...report.releases];
          return {
            ...report,
            releases: request.releases.map(({ jobId, fence }) =>
              dropped.has(`${jobId} ${fence}`) ? "released" : (statuses.shift() ?? "missing"),
            ),
          };
        } catch (error) {
          for (const { jobId, fence } of request.releases) dropped.add(`${jobId} ${fence}`);
          throw error;
        }
      },
    };
  }),
  scheduler("takes an acquisition of unknown fate for a failed one", (inner) => {
    let calls = 0;
    return {
      turn(request) {
        const acquisition = request.acquisition && {
          ...request.acquisition,
          acquisitionId: `${request.acquisition.acquisitionId} ${calls++}`,
        };
        return inner.turn({ ...request, acquisition });
      },
    };
  }),
  scheduler("does not heed that a lease is lost", (inner) => ({
    async extendLeases(extension) {
      return { ...(await inner.extendLeases(extension)), lost: [] };
    },
  })),
  scheduler("does not heed that a running job is to be cancelled", (inner) => ({
    async extendLeases(extension) {
      return { ...(await inner.extendLeases(extension)), cancelRequested: [] };
    },
  })),
  scheduler("runs jobs after their deadline", (inner) => ({
    async turn(request) {
      const report = await inner.turn(request);
      return { ...report, acquired: report.acquired.map((job) => ({ ...job, startDeadline: null })) };
    },
  })),
  scheduler("takes more jobs than it may run", (inner) => ({
    turn(request) {
      const acquisition = request.acquisition && { ...request.acquisition, limit: request.acquisition.limit + 1 };
      return inner.turn({ ...request, acquisition });
    },
  })),
  scheduler("retries without end", (inner) => ({
    turn(request) {
      const releases = request.releases.map(
        (release): contract.JobRelease =>
          release.kind === "finish" && release.result.outcome === "error"
            ? { jobId: release.jobId, fence: release.fence, kind: "retry", runAt: request.now + 100, failedAttempts: 1 }
            : release,
      );
      return inner.turn({ ...request, releases });
    },
  })),
  scheduler("jumps over a fire time", (inner) => ({
    commitPlans(commit) {
      const plans = commit.plans.map((plan) => {
        const { length } = plan.jobs;
        return length < 2 ? plan : { ...plan, jobs: plan.jobs.slice(1) };
      });
      return inner.commitPlans({ ...commit, plans });
    },
  })),
  patched("never extends its leases", LeaseKeeper.prototype, "runOnce", () => async () => {}),
  patched("sleeps through what others add", Loops.prototype, "wakeJobs", () => () => {}),
  patched("leaves cancelled jobs running here", JobRunner.prototype, "cancel", () => () => {}),
];

function withoutBound(job: JobRecord): JobRecord {
  return { ...job, maxRecoveries: 1_000_000 };
}
