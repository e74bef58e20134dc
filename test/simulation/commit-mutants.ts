import type { JobRecord } from "../../src/records/job.ts";
import { Committer } from "../../src/scheduler/driving/committer.ts";
import { Loop } from "../../src/scheduler/driving/loop.ts";
import type { JobOptions } from "../../src/scheduler/options/options.ts";
import { JobRunner } from "../../src/scheduler/running/job-runner.ts";
import { SchedulerClient } from "../../src/scheduler/scheduler-client.ts";
import type * as contract from "../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { Jobs } from "../../src/stores/memory/unfinished-jobs.ts";
import {
  answering,
  type Commit,
  type CommitResult,
  changing,
  type Mutant,
  patched,
  scheduler,
  store,
} from "./mutant.ts";

/** Whether a job is ready by the clock of whoever looks, who does not see what others found ready by theirs. */
async function isReadyAt(inner: MemoryDataStore, now: number, hasReady: boolean): Promise<boolean> {
  if (!hasReady) return false;
  const { items } = await inner.getJobs({ limit: 1000, cursor: null });
  return items.some(({ runAt }) => runAt <= now);
}

/** Faults about commits, their repetitions, outcomes, recovery and acquisition. */
export const STEPS: readonly Mutant[] = [
  patched(
    "takes keys that no database keeps",
    SchedulerClient.prototype,
    "addJob",
    (original) =>
      function (this: SchedulerClient, task: string, { idempotencyKey: _, ...options }: JobOptions = {}) {
        return original.call(this, task, options as never);
      } as typeof original,
  ),
  patched(
    "sends a result again and again that the store refuses",
    JobRunner.prototype,
    "releaseRefused",
    () => () => {},
  ),
  store(
    "hides what is ready from a clock that is behind",
    class extends MemoryDataStore {
      override async look(request: contract.LookRequest): Promise<contract.LookReport> {
        const report = await super.look(request);
        return { ...report, hasReady: await isReadyAt(this, request.now, report.hasReady) };
      }
      override async commit(request: Commit): Promise<CommitResult> {
        const report = await super.commit(request);
        return { ...report, hasReady: await isReadyAt(this, request.now, report.hasReady) };
      }
    },
  ),
  patched(
    "goes on taking jobs while it stops in the middle of a tick",
    Committer.prototype,
    "commit",
    (original) =>
      function (this: Committer, now, bounds) {
        return original.call(this, now, { ...bounds, jobsMax: bounds.jobsMax === 0 ? 1 : bounds.jobsMax });
      },
  ),
  store(
    "leases more jobs of an executor than its bound",
    changing({
      commit: ({ jobs, ...request }) => ({ ...request, jobs: jobs && { queues: jobs.queues, limit: jobs.limit } }),
    }),
  ),
  patched("does not hear that an executor can begin more", Loop.prototype, "capacityGrew", () => () => {}),
  store(
    "does not know a commit again",
    class extends MemoryDataStore {
      #calls = 0;
      override commit(request: Commit): Promise<CommitResult> {
        return super.commit({ ...request, commitId: `${request.commitId} ${this.#calls++}` });
      }
    },
  ),
  store("takes a repetition for a first try", changing({ commit: (request) => ({ ...request, isRepetition: false }) })),
  scheduler("repeats a commit of unknown fate under another id", (inner) => {
    let calls = 0;
    return {
      commit: (request) =>
        inner.commit({ ...request, commitId: `${request.commitId} ${calls++}`, isRepetition: false }),
    };
  }),
  scheduler("does not ask again what a commit did", (inner) => ({
    async commit(request) {
      if (!request.isRepetition) return inner.commit(request);
      const seen = await inner.look({ ...request, tasks: null });
      const nothing = { additions: [], recovered: [], ended: [], acquired: [] };
      const releases = request.releases.map(() => "released" as const);
      const plans = request.plans.map(() => ({ committed: false, addedJobIds: [] }));
      return { ...seen, ...nothing, releases, plans };
    },
  })),
  scheduler("drops outcomes when the commit that carries them fails", (inner) => ({
    async commit(request) {
      if (!request.isRepetition) return inner.commit(request);
      const report = await inner.commit({ ...request, releases: [] });
      return { ...report, releases: request.releases.map(() => "released" as const) };
    },
  })),
  scheduler("makes other plans of a commit that it repeats", (inner) => ({
    async commit(request) {
      if (!request.isRepetition) return inner.commit(request);
      const report = await inner.commit({ ...request, plans: [] });
      return { ...report, plans: request.plans.map(() => ({ committed: false, addedJobIds: [] })) };
    },
  })),
  scheduler("sends additions again whose caller was told that they failed", (inner) => {
    let failed: readonly JobRecord[] = [];
    return {
      async commit(request) {
        try {
          const additions = request.isRepetition ? failed : request.additions;
          const report = await inner.commit({ ...request, additions });
          return request.isRepetition ? { ...report, additions: [] } : report;
        } catch (error) {
          failed = request.additions;
          throw error;
        }
      },
    };
  }),
  scheduler("keeps quiet about jobs that an earlier try of a commit added", (inner) => ({
    async commit(request) {
      const report = await inner.commit(request);
      if (!request.isRepetition) return report;
      return { ...report, plans: report.plans.map((plan) => ({ ...plan, addedJobIds: [] })) };
    },
  })),
  scheduler("takes all jobs that it adds for leased", (inner) => ({
    async commit(request) {
      const report = await inner.commit(request);
      const ids = report.plans.flatMap(({ addedJobIds }) => addedJobIds);
      const jobs = await Promise.all(ids.map((id) => inner.getJob(id)));
      return {
        ...report,
        acquired: [...report.acquired, ...jobs.filter((job) => job !== null && job.fence === 0)] as JobRecord[],
      };
    },
  })),
  scheduler("never looks for leases that have ended", (inner) => ({
    commit: (request) => inner.commit({ ...request, recover: false }),
  })),
  store(
    "lets a release count whatever its fence, and whoever holds the job",
    class extends MemoryDataStore {
      override async commit(request: Commit): Promise<CommitResult> {
        for (const release of request.releases) {
          const job = await this.getJob(release.jobId);
          if (job?.acquiredBy == null || job.fence === release.fence) continue;
          const releases = [{ ...release, fence: job.fence }];
          await super.commit({
            ...request,
            schedulerId: job.acquiredBy,
            releases,
            plans: [],
            additions: [],
            jobs: null,
          });
        }
        return super.commit(request);
      }
    },
  ),
  store(
    "never takes back a lost lease",
    changing({ commit: (request) => ({ ...request, until: Number.MAX_SAFE_INTEGER }) }),
  ),
  store(
    "takes back leases that are live",
    changing({ commit: (request) => (request.recover ? { ...request, now: request.now + 1000 } : request) }),
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
      commit: (request) => ({
        ...request,
        releases: request.releases.map((release) =>
          release.kind === "finish" ? { ...release, result: { ...release.result, expiresAt: 0 } } : release,
        ),
      }),
    }),
  ),
  store(
    "does not tell when it is to be asked again",
    answering((report) => ({ ...report, nextFireAt: null, nextRunAt: null, nextMissAt: null, leaseEndsAt: null })),
  ),
  store(
    "never says that jobs are ready",
    answering((report) => ({ ...report, hasReady: false })),
  ),
  scheduler("runs jobs after their deadline", (inner) => ({
    async commit(request) {
      const report = await inner.commit(request);
      return { ...report, acquired: report.acquired.map((job) => ({ ...job, startDeadline: null })) };
    },
  })),
  scheduler("leaves jobs waiting that have missed their start", (inner) => ({
    commit: ({ endsMissed: _, ...request }) => inner.commit(request),
  })),
  {
    ...patched(
      "",
      Jobs.prototype,
      "existingJob",
      (original) =>
        function (this: Jobs, job) {
          return original.call(this, { ...job, createdAt: Number.NEGATIVE_INFINITY });
        },
    ),
    name: "the store gives the key of a job that has missed its start to no other",
  },
  scheduler("takes more jobs than it may run", (inner) => ({
    commit: (request) =>
      inner.commit({ ...request, jobs: request.jobs && { ...request.jobs, limit: request.jobs.limit + 1 } }),
  })),
  scheduler("retries without end", (inner) => ({
    commit: (request) => {
      const releases = request.releases.map(
        (release): contract.JobRelease =>
          release.kind === "finish" && release.result.outcome === "error"
            ? { jobId: release.jobId, fence: release.fence, kind: "retry", runAt: request.now + 100, failedAttempts: 1 }
            : release,
      );
      return inner.commit({ ...request, releases });
    },
  })),
  patched("sleeps through what others add", Loop.prototype, "lookBy", () => () => {}),
];
