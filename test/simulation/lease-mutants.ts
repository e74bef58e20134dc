import { JobTimeoutError } from "../../src/core/errors.ts";
import type { TaskRecord } from "../../src/records/task.ts";
import { JobAttempt } from "../../src/scheduler/running/job-attempt.ts";
import { JobRunner } from "../../src/scheduler/running/job-runner.ts";
import { LeaseKeeper } from "../../src/scheduler/running/lease-keeper.ts";
import type * as contract from "../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { extending, type Mutant, patched, scheduler, store } from "./mutant.ts";

/** Faults about leases while they last. */
export const LEASES: readonly Mutant[] = [
  store(
    "ignores maxRunningJobs",
    class extends MemoryDataStore {
      override putTasks(tasks: readonly TaskRecord[]): Promise<contract.TaskChange[]> {
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
    extending((extension) => ({ ...extension, settledCommitId: null })),
  ),
  store(
    "gives up the leases of a commit whose answer is still on its way",
    extending((extension) => ({ ...extension, settledCommitId: `${extension.instanceId}~` })),
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
        return super.giveUpLeases({ ...surrender, instanceId: "" });
      }
    },
  ),
  store(
    "gives up the leases of runs that count as alive",
    class extends MemoryDataStore {
      override giveUpLeases(surrender: contract.LeaseSurrender): Promise<contract.RecoveryReport> {
        return super.giveUpLeases({ ...surrender, now: surrender.now + 3_600_000 });
      }
    },
  ),
  store(
    "counts no loss of what it was told to have started",
    class extends MemoryDataStore {
      override commit(request: contract.CommitRequest): Promise<contract.CommitReport> {
        const releases = request.releases.map((release) =>
          release.kind === "giveUp" ? { ...release, hasStarted: false } : release,
        );
        return super.commit({ ...request, releases });
      }
    },
  ),
  scheduler("starts jobs that were lost before with all others", (inner) => ({
    async commit(request) {
      const report = await inner.commit(request);
      return { ...report, acquired: report.acquired.map((job) => ({ ...job, recoveries: 0 })) };
    },
  })),
  store(
    "forgets to cancel what runs",
    class extends MemoryDataStore {
      override async cancelJobs(ids: readonly string[], now: number): Promise<contract.CancelReport> {
        const job = await this.getJob(ids[0] ?? "");
        if (job?.acquiredBy == null) return super.cancelJobs(ids, now);
        return { jobs: [{ status: "requested", taskId: job.taskId, acquiredBy: job.acquiredBy }], ended: [] };
      }
    },
  ),
  scheduler("does not say which of its commits are settled", (inner) => ({
    extendLeases: (extension) => inner.extendLeases({ ...extension, settledCommitId: null }),
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
  scheduler("judges the leases of others by the instants that they carry", (inner) => ({
    commit: ({ leaseEnds: _, ...request }) => inner.commit(request),
  })),
  patched("never extends its leases", LeaseKeeper.prototype, "runOnce", () => async () => {}),
  patched("leaves cancelled jobs running here", JobRunner.prototype, "cancel", () => () => {}),
  patched(
    "gives a handler up that has run too long",
    JobAttempt.prototype,
    "abort",
    (abort) =>
      function (this: JobAttempt, reason, graceMs) {
        abort.call(this, reason, reason instanceof JobTimeoutError ? 0 : graceMs);
      },
  ),
];
