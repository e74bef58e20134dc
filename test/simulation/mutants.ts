import { LOOK_AHEAD_MS } from "../../src/core/limits.ts";
import type { JobRecord } from "../../src/records/job.ts";
import type { TaskRecord } from "../../src/records/task.ts";
import { Loop } from "../../src/scheduler/driving/loop.ts";
import { Stepper } from "../../src/scheduler/driving/stepper.ts";
import { FirePlanner } from "../../src/scheduler/firing/fire-planner.ts";
import { JobRunner } from "../../src/scheduler/running/job-runner.ts";
import { LeaseKeeper } from "../../src/scheduler/running/lease-keeper.ts";
import type * as contract from "../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { jobOf } from "./schedule-model.ts";
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
type Step = contract.StepRequest;
type StepResult = contract.StepReport;

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

/** A store that changes what comes to it: a step, and the jobs that are added, in a step or without. */
function changing(changes: {
  step?: (request: Step, store: MemoryDataStore) => Step | Promise<Step>;
  job?: (job: JobRecord) => JobRecord;
}): StoreClass {
  const { step = (request: Step) => request, job = (record: JobRecord) => record } = changes;
  return class extends MemoryDataStore {
    override async step(request: Step): Promise<StepResult> {
      const changed = await step(request, this);
      return super.step({ ...changed, additions: changed.additions.map(job) });
    }
    override addJobs(jobs: readonly JobRecord[]): Promise<contract.JobAddition[]> {
      return super.addJobs(jobs.map(job));
    }
  };
}

/** A store that changes its answer to steps. */
function answering(
  change: (report: StepResult, request: Step, store: MemoryDataStore) => StepResult | Promise<StepResult>,
) {
  return class extends MemoryDataStore {
    override async step(request: Step): Promise<StepResult> {
      return change(await super.step(request), request, this);
    }
  };
}

/** A store that changes what keeps leases. */
function extending(change: (extension: contract.LeaseExtension) => contract.LeaseExtension): StoreClass {
  return class extends MemoryDataStore {
    override extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
      return super.extendLeases(change(extension));
    }
  };
}

const PLANS: readonly Mutant[] = [
  store(
    "adds a plan's jobs and does not move the schedule on",
    changing({
      step: (request) => ({
        ...request,
        plans: request.plans.map((plan) => ({ ...plan, nextFireTime: plan.expected, lastFireTime: null })),
      }),
    }),
  ),
  store(
    "moves the schedule on without its jobs",
    changing({ step: (request) => ({ ...request, plans: request.plans.map((plan) => ({ ...plan, fires: [] })) }) }),
  ),
  store(
    "lets a plan count whose fence is stale",
    changing({
      step: async (request, inner) => {
        const fenced = request.plans.map(async (plan) => {
          const current = await inner.getSchedule(plan.scheduleId);
          return current?.nextFireTime === plan.expected ? { ...plan, fence: current.fence } : plan;
        });
        return { ...request, plans: await Promise.all(fenced) };
      },
    }),
  ),
  store(
    "compares neither the fence nor the fire time of a plan",
    changing({
      step: async (request, inner) => {
        const current = request.plans.map(async (plan) => {
          const { fence = plan.fence, nextFireTime = null } = (await inner.getSchedule(plan.scheduleId)) ?? {};
          return { ...plan, fence, expected: nextFireTime ?? plan.expected };
        });
        return { ...request, plans: await Promise.all(current) };
      },
    }),
  ),
  store(
    "adds the jobs of plans that do not count",
    answering(async (report, request, inner) => {
      for (const [index, { scheduleId, fires }] of request.plans.entries()) {
        const schedule = await inner.getSchedule(scheduleId);
        if (report.plans[index]?.committed !== false || schedule === null) continue;
        await inner.addJobs(fires.map((fire) => jobOf(schedule, fire)));
      }
      return report;
    }),
  ),
  store(
    "tells a repetition that its plans were refused",
    answering((report, { isRepetition }) =>
      isRepetition ? { ...report, plans: report.plans.map((plan) => ({ ...plan, committed: false })) } : report,
    ),
  ),
  store(
    "shows the favourites of schedules whose bearers are gone",
    class extends MemoryDataStore {
      override extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
        const aliveUntil = extension.aliveUntil === null ? null : Number.MAX_SAFE_INTEGER;
        return super.extendLeases({ ...extension, aliveUntil });
      }
    },
  ),
  scheduler("lets the fences of new schedules begin at 0", (inner) => ({
    addSchedules: (additions) =>
      inner.addSchedules(additions.map((one) => ({ ...one, schedule: { ...one.schedule, fence: 0 } }))),
  })),
  scheduler("jumps over a fire time", (inner) => ({
    step: (request) => {
      const plans = request.plans.map((plan) =>
        plan.fires.length < 2 ? plan : { ...plan, fires: plan.fires.slice(1) },
      );
      return inner.step({ ...request, plans });
    },
  })),
  scheduler("sends a second plan of a schedule in a step", (inner) => ({
    async step(request) {
      const report = await inner.step({ ...request, plans: [...request.plans, ...request.plans] });
      return { ...report, plans: report.plans.slice(0, request.plans.length) };
    },
  })),
  scheduler("takes a look for a commit", (inner) => ({
    async step(request) {
      const { plans, releases, additions } = request;
      if (plans.length === 0 || releases.length > 0 || additions.length > 0) return inner.step(request);
      const seen = await inner.look({ ...request, tasks: null });
      const committed = plans.map(({ fires }) => ({ committed: true, addedJobIds: fires.map(({ jobId }) => jobId) }));
      const nothing = { releases: [], additions: [], recovered: [], ended: [], acquired: [] };
      return { ...seen, ...nothing, due: [], plans: committed };
    },
  })),
  scheduler("leaves a schedule to its favourite for good", (inner) => {
    const favourites = new Map<string, string>();
    const isShown = ({ id, favourite }: contract.LookedSchedule, schedulerId: string): boolean => {
      if (favourite !== null) favourites.set(id, favourite);
      return (favourites.get(id) ?? schedulerId) === schedulerId;
    };
    const shown = <T extends contract.Seen>(seen: T, schedulerId: string): T => ({
      ...seen,
      due: seen.due.filter((schedule) => isShown(schedule, schedulerId)),
    });
    return {
      look: async (request) => shown(await inner.look(request), request.schedulerId),
      step: async (request) => shown(await inner.step(request), request.schedulerId),
    };
  }),
  patched(
    "plans as of the fire time, whatever has come due since",
    FirePlanner.prototype,
    "plan",
    (original) =>
      function (this: FirePlanner, due) {
        return due.flatMap((schedule) => original.call(this, [schedule], schedule.nextFireTime));
      },
  ),
  patched(
    "fires what is not due yet",
    FirePlanner.prototype,
    "plan",
    (original) =>
      function (this: FirePlanner, due, now) {
        return original.call(this, due, now + 2000);
      },
  ),
  patched(
    "looks ahead where it ticks",
    Stepper.prototype,
    "look",
    (original) =>
      function (this: Stepper, now, dueBy) {
        return original.call(this, now, Math.max(dueBy, now + LOOK_AHEAD_MS));
      },
  ),
];

const STEPS: readonly Mutant[] = [
  store(
    "does not know a step again",
    class extends MemoryDataStore {
      #calls = 0;
      override step(request: Step): Promise<StepResult> {
        return super.step({ ...request, stepId: `${request.stepId} ${this.#calls++}` });
      }
    },
  ),
  store("takes a repetition for a first try", changing({ step: (request) => ({ ...request, isRepetition: false }) })),
  scheduler("repeats a step of unknown fate under another id", (inner) => {
    let calls = 0;
    return {
      step: (request) => inner.step({ ...request, stepId: `${request.stepId} ${calls++}`, isRepetition: false }),
    };
  }),
  scheduler("does not ask again what a step did", (inner) => ({
    async step(request) {
      if (!request.isRepetition) return inner.step(request);
      const seen = await inner.look({ ...request, tasks: null });
      const nothing = { additions: [], recovered: [], ended: [], acquired: [] };
      const releases = request.releases.map(() => "released" as const);
      const plans = request.plans.map(() => ({ committed: false, addedJobIds: [] }));
      return { ...seen, ...nothing, releases, plans };
    },
  })),
  scheduler("drops outcomes when the step that carries them fails", (inner) => ({
    async step(request) {
      if (!request.isRepetition) return inner.step(request);
      const report = await inner.step({ ...request, releases: [] });
      return { ...report, releases: request.releases.map(() => "released" as const) };
    },
  })),
  scheduler("makes other plans of a step that it repeats", (inner) => ({
    async step(request) {
      if (!request.isRepetition) return inner.step(request);
      const report = await inner.step({ ...request, plans: [] });
      return { ...report, plans: request.plans.map(() => ({ committed: false, addedJobIds: [] })) };
    },
  })),
  scheduler("sends additions again whose caller was told that they failed", (inner) => {
    let failed: readonly JobRecord[] = [];
    return {
      async step(request) {
        try {
          const additions = request.isRepetition ? failed : request.additions;
          const report = await inner.step({ ...request, additions });
          return request.isRepetition ? { ...report, additions: [] } : report;
        } catch (error) {
          failed = request.additions;
          throw error;
        }
      },
    };
  }),
  scheduler("keeps quiet about jobs that an earlier try of a step added", (inner) => ({
    async step(request) {
      const report = await inner.step(request);
      if (!request.isRepetition) return report;
      return { ...report, plans: report.plans.map((plan) => ({ ...plan, addedJobIds: [] })) };
    },
  })),
  scheduler("takes all jobs that it adds for leased", (inner) => ({
    async step(request) {
      const report = await inner.step(request);
      const ids = report.plans.flatMap(({ addedJobIds }) => addedJobIds);
      const jobs = await Promise.all(ids.map((id) => inner.getJob(id)));
      return {
        ...report,
        acquired: [...report.acquired, ...jobs.filter((job) => job !== null && job.fence === 0)] as JobRecord[],
      };
    },
  })),
  scheduler("never looks for leases that have ended", (inner) => ({
    step: (request) => inner.step({ ...request, recover: false }),
  })),
  store(
    "lets a release count whatever its fence, and whoever holds the job",
    class extends MemoryDataStore {
      override async step(request: Step): Promise<StepResult> {
        for (const release of request.releases) {
          const job = await this.getJob(release.jobId);
          if (job?.acquiredBy == null || job.fence === release.fence) continue;
          const releases = [{ ...release, fence: job.fence }];
          await super.step({ ...request, schedulerId: job.acquiredBy, releases, plans: [], additions: [], jobs: null });
        }
        return super.step(request);
      }
    },
  ),
  store(
    "never takes back a lost lease",
    changing({ step: (request) => ({ ...request, until: Number.MAX_SAFE_INTEGER }) }),
  ),
  store(
    "takes back leases that are live",
    changing({ step: (request) => (request.recover ? { ...request, now: request.now + 1000 } : request) }),
  ),
  store(
    "leaks a running count with each job that is recovered",
    answering(async (report, _, inner) => {
      for (const { taskId } of report.recovered) {
        const task = await inner.getTask(taskId);
        if (task?.maxRunningJobs == null) continue;
        await inner.putTasks([{ ...task, maxRunningJobs: Math.max(0, task.maxRunningJobs - 1) }]);
      }
      return report;
    }),
  ),
  store("does not count recoveries", changing({ job: (job) => ({ ...job, maxRecoveries: 1_000_000 }) })),
  store("forgets priorities", changing({ job: (job) => ({ ...job, priority: 0 }) })),
  store("ignores idempotency keys", changing({ job: (job) => ({ ...job, idempotencyKey: null }) })),
  store("starts jobs before their time", changing({ job: (job) => ({ ...job, runAt: job.runAt - 500 }) })),
  store(
    "does not keep results",
    changing({
      step: (request) => ({
        ...request,
        releases: request.releases.map((release) =>
          release.kind === "finish" ? { ...release, result: { ...release.result, expiresAt: 0 } } : release,
        ),
      }),
    }),
  ),
  store(
    "does not tell when it is to be asked again",
    answering((report) => ({ ...report, nextFireAt: null, nextRunAt: null, leaseEndsAt: null })),
  ),
  store(
    "never says that jobs are ready",
    answering((report) => ({ ...report, hasReady: false })),
  ),
  scheduler("runs jobs after their deadline", (inner) => ({
    async step(request) {
      const report = await inner.step(request);
      return { ...report, acquired: report.acquired.map((job) => ({ ...job, startDeadline: null })) };
    },
  })),
  scheduler("takes more jobs than it may run", (inner) => ({
    step: (request) =>
      inner.step({ ...request, jobs: request.jobs && { ...request.jobs, limit: request.jobs.limit + 1 } }),
  })),
  scheduler("retries without end", (inner) => ({
    step: (request) => {
      const releases = request.releases.map(
        (release): contract.JobRelease =>
          release.kind === "finish" && release.result.outcome === "error"
            ? { jobId: release.jobId, fence: release.fence, kind: "retry", runAt: request.now + 100, failedAttempts: 1 }
            : release,
      );
      return inner.step({ ...request, releases });
    },
  })),
  patched("sleeps through what others add", Loop.prototype, "lookBy", () => () => {}),
];

const LEASES: readonly Mutant[] = [
  store(
    "ignores maxRunningJobs",
    class extends MemoryDataStore {
      override putTasks(tasks: readonly TaskRecord[]): Promise<("added" | "updated" | "unchanged")[]> {
        return super.putTasks(tasks.map((task) => ({ ...task, maxRunningJobs: null })));
      }
    },
  ),
  store(
    "extends leases whatever their fence",
    class extends MemoryDataStore {
      override async extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
        return { ...(await super.extendLeases(extension)), lost: [] };
      }
    },
  ),
  store(
    "keeps the leases of jobs that run nowhere",
    extending((extension) => ({ ...extension, settledStepId: null })),
  ),
  store(
    "gives up the leases of a step whose answer is still on its way",
    extending((extension) => ({ ...extension, settledStepId: `${extension.incarnation}~` })),
  ),
  store(
    "gives up the leases of jobs that run",
    class extends MemoryDataStore {
      override async extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
        const report = await super.extendLeases(extension);
        await super.extendLeases({ ...extension, jobs: [] });
        return report;
      }
    },
  ),
  store(
    "keeps the leases that a restarted scheduler gives up",
    class extends MemoryDataStore {
      override giveUpLeases(surrender: contract.LeaseSurrender): Promise<contract.RecoveryReport> {
        return super.giveUpLeases({ ...surrender, incarnation: "" });
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
  scheduler("does not say which of its steps are settled", (inner) => ({
    extendLeases: (extension) => inner.extendLeases({ ...extension, settledStepId: null }),
  })),
  scheduler("does not name all jobs that it runs", (inner) => ({
    extendLeases: (extension) => inner.extendLeases({ ...extension, jobs: extension.jobs.slice(1) }),
  })),
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
  patched("never extends its leases", LeaseKeeper.prototype, "runOnce", () => async () => {}),
  patched("leaves cancelled jobs running here", JobRunner.prototype, "cancel", () => () => {}),
];

export const MUTANTS: readonly Mutant[] = [...PLANS, ...STEPS, ...LEASES];
