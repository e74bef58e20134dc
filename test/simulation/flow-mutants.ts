import type { NewJobRecord } from "../../src/records/job.ts";
import type * as contract from "../../src/stores/data-store.ts";
import { Chains } from "../../src/stores/memory/dependencies.ts";
import { KeyLimiter } from "../../src/stores/memory/entries-of-jobs-and-tasks.ts";
import { Flow } from "../../src/stores/memory/flow-control.ts";
import { FairQueues, TokenBucket } from "../../src/stores/memory/rates-and-fairness.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { Bursts, Windows } from "../../src/stores/memory/throttle-and-debounce.ts";
import { answering, type Commit, type CommitResult, changing, type Mutant, patched, store } from "./mutant.ts";

/** A memory store with a fault inside. */
function broken<T extends object, K extends keyof T>(
  name: string,
  prototype: T,
  key: K,
  make: (original: T[K]) => T[K],
): Mutant {
  return { ...patched(name, prototype, key, make), name: `the store ${name}` };
}

const NO_CHILDREN = { ready: [], cancelled: [] };

/** Faults about keys, rates, turns, pauses, windows and jobs that wait for others. */
export const FLOWS: readonly Mutant[] = [
  broken(
    "counts what runs against the limit of a key, and not what was admitted",
    KeyLimiter.prototype,
    "nextAdmission",
    (original) =>
      function (this: KeyLimiter) {
        return original.call(Object.create(this, { admittedCount: { value: 0 } }));
      },
  ),
  broken("does not give back the place that a job had in its key", Flow.prototype, "leaseEnded", () => () => {}),
  broken("forgets to wake a key when a job of it goes back", Flow.prototype, "leaseEnded", () => ({ limiter }) => {
    if (limiter !== null) limiter.leasedCount--;
  }),
  store(
    "does not tell that an end lets another job in",
    answering((report, { releases }) => (releases.length > 0 ? { ...report, hasReady: false } : report)),
  ),
  broken(
    "admits the latest job of a key first",
    Flow.prototype,
    "block",
    (original) =>
      function (this: Flow, entry) {
        original.call(this, entry);
        const blocked = entry.limiter?.blocked;
        blocked?.delete(entry);
        entry.virtualTime = -entry.record.runAt;
        blocked?.add(entry);
      },
  ),
  broken(
    "lets an admitted job wait in the place of a more urgent one",
    KeyLimiter.prototype,
    "isInverted",
    () => () => false,
  ),
  broken(
    "keeps to the limits that a task had first",
    Flow.prototype,
    "configure",
    (original) =>
      function (this: Flow, task, record) {
        return task.record === null && original.call(this, task, record);
      },
  ),
  broken("takes no token", TokenBucket.prototype, "take", () => () => {}),
  broken(
    "lets tokens come too early",
    TokenBucket.prototype,
    "timeOf",
    (original) =>
      function (this: TokenBucket, tokens, rate) {
        return original.call(this, tokens, rate) - 1;
      },
  ),
  broken(
    "lets a burst begin that is larger by one",
    TokenBucket.prototype,
    "timeOf",
    (original) =>
      function (this: TokenBucket, tokens, rate) {
        return original.call(this, tokens, { ...rate, burst: rate.burst + 1 });
      },
  ),
  broken("gives no turns", FairQueues.prototype, "give", () => () => 0),
  store(
    "forgets a pause when it recovers a job",
    class extends MemoryDataStore {
      override async commit(request: Commit): Promise<CommitResult> {
        const { now } = request;
        const report = await super.commit(request);
        for (const { taskId } of report.recovered) await super.pauseTask({ taskId, key: null, paused: false, now });
        return report;
      }
    },
  ),
  store(
    "pauses whole tasks alone",
    class extends MemoryDataStore {
      override async pauseTask(request: contract.TaskPauseRequest): Promise<boolean> {
        return request.key === null ? super.pauseTask(request) : true;
      }
      override async getTaskPauses(): Promise<contract.TaskPause[]> {
        return [];
      }
    },
  ),
  broken(
    "lets a window last through its last instant",
    Windows.prototype,
    "openerOf",
    (original) =>
      function (this: Windows, job) {
        return original.call(this, { ...job, createdAt: job.createdAt - 1 });
      },
  ),
  store("forgets windows", changing({ job: ({ once: _, ...job }: NewJobRecord) => job })),
  broken(
    "takes the first payload of a burst",
    Bursts.prototype,
    "join",
    (original) =>
      function (this: Bursts, job) {
        const burst = original.call(this, job);
        return burst === null ? null : { ...burst, isLast: false };
      },
  ),
  store("lets a burst put off its job without end", changing({ job: (job) => withoutMaxWait(job) })),
  broken("lets a burst go on whose job runs", Bursts.prototype, "over", () => () => {}),
  broken(
    "cancels the children of a job, and not theirs",
    Chains.prototype,
    "ended",
    (original) =>
      function (this: Chains, jobId, outcome) {
        const { ready, cancelled } = original.call(this, jobId, outcome);
        return outcome === "cancelled" ? NO_CHILDREN : { ready, cancelled };
      },
  ),
  broken(
    "forgets jobs whose parents have ended",
    Chains.prototype,
    "ended",
    (original) =>
      function (this: Chains, jobId, outcome) {
        return { ...original.call(this, jobId, outcome), ready: [] };
      },
  ),
  store("lets a job start when its first parent has ended", changing({ job: (job) => withFirstParent(job) })),
  store(
    "cancels jobs that are to run whatever became of their parents",
    changing({ job: (job) => ({ ...job, onParentFailure: "cancel" }) }),
  ),
  store("runs jobs whose parents failed", changing({ job: (job) => ({ ...job, onParentFailure: "run" }) })),
];

function withoutMaxWait(job: NewJobRecord): NewJobRecord {
  return job.debounce === undefined ? job : { ...job, debounce: { ...job.debounce, maxWaitMs: null } };
}

function withFirstParent(job: NewJobRecord): NewJobRecord {
  return job.after === undefined ? job : { ...job, after: job.after.slice(0, 1) };
}
