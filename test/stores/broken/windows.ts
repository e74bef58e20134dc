import type { NewJobRecord } from "../../../src/records/job.ts";
import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { type BrokenStore, caughtBy } from "./broken-store.ts";

type Jobs = Parameters<MemoryDataStore["addJobs"]>[0];

/** Adds every job of a burst. */
class ForgetsBursts extends MemoryDataStore {
  override addJobs(jobs: Jobs): Promise<contract.JobAddition[]> {
    return super.addJobs(jobs.map(({ debounce: _forgotten, ...job }) => job));
  }
}

/** Heeds bursts only where jobs are added by themselves. */
class ForgetsBurstsInCommits extends MemoryDataStore {
  override commit(request: contract.CommitRequest): Promise<contract.CommitReport> {
    return super.commit({ ...request, additions: request.additions.map(({ debounce: _forgotten, ...job }) => job) });
  }
}

/** Runs the first payload of a burst. */
class KeepsTheFirstPayload extends MemoryDataStore {
  readonly #payloads = new Map<string, string | null>();

  override addJobs(jobs: Jobs): Promise<contract.JobAddition[]> {
    return super.addJobs(jobs.map((job) => ({ ...job, payload: this.#firstOf(job) })));
  }

  #firstOf({ debounce, payload }: NewJobRecord): string | null {
    if (debounce === undefined) return payload;
    const first = this.#payloads.get(debounce.key) ?? payload;
    this.#payloads.set(debounce.key, first);
    return first;
  }
}

/** Puts a burst off for ever. */
class ForgetsTheLongestWait extends MemoryDataStore {
  override addJobs(jobs: Jobs): Promise<contract.JobAddition[]> {
    return super.addJobs(
      jobs.map((job) =>
        job.debounce === undefined ? job : { ...job, debounce: { ...job.debounce, maxWaitMs: null } },
      ),
    );
  }
}

/** Runs a burst when its first addition was to run. */
class ForgetsToWaitAgain extends MemoryDataStore {
  readonly #runAts = new Map<string, number>();

  override addJobs(jobs: Jobs): Promise<contract.JobAddition[]> {
    return super.addJobs(jobs.map((job) => ({ ...job, runAt: this.#firstOf(job) })));
  }

  #firstOf({ debounce, runAt }: NewJobRecord): number {
    if (debounce === undefined) return runAt;
    const first = this.#runAts.get(debounce.key) ?? runAt;
    this.#runAts.set(debounce.key, first);
    return first;
  }
}

/** Says that every addition made a job. */
class CallsAllNew extends MemoryDataStore {
  override async addJobs(jobs: Jobs): Promise<contract.JobAddition[]> {
    return (await super.addJobs(jobs)).map((addition) => ({ ...addition, isNew: true }));
  }
}

/** Adds every job of a window. */
class ForgetsWindows extends MemoryDataStore {
  override addJobs(jobs: Jobs): Promise<contract.JobAddition[]> {
    return super.addJobs(jobs.map(({ once: _forgotten, ...job }) => job));
  }
}

/** Takes a throttle and a unique key for the same window. */
class MixesKinds extends MemoryDataStore {
  override addJobs(jobs: Jobs): Promise<contract.JobAddition[]> {
    return super.addJobs(
      jobs.map((job) => (job.once === undefined ? job : { ...job, once: { ...job.once, kind: "throttle" } })),
    );
  }
}

/** Opens windows that never end. */
class NeverEndsWindows extends MemoryDataStore {
  override addJobs(jobs: Jobs): Promise<contract.JobAddition[]> {
    const until = Number.MAX_SAFE_INTEGER;
    return super.addJobs(jobs.map((job) => (job.once === undefined ? job : { ...job, once: { ...job.once, until } })));
  }
}

/** Answers a job that has ended as if it waited. */
class HidesEnds extends MemoryDataStore {
  override async addJobs(jobs: Jobs): Promise<contract.JobAddition[]> {
    return (await super.addJobs(jobs)).map(({ job, isNew }) => ({ job, isNew }));
  }
}

/** Removes as many windows as there are. */
class RemovesAllWindows extends MemoryDataStore {
  override async cleanup(request: { now: number; limit: number }): Promise<contract.CleanupReport> {
    return super.cleanup({ ...request, limit: 1_000_000 });
  }
}

export const brokenWindows: readonly BrokenStore[] = [
  ...caughtBy(
    "debounce",
    ForgetsBursts,
    ForgetsBurstsInCommits,
    KeepsTheFirstPayload,
    ForgetsTheLongestWait,
    ForgetsToWaitAgain,
    CallsAllNew,
  ),
  ...caughtBy("once", ForgetsWindows, MixesKinds, NeverEndsWindows, HidesEnds, RemovesAllWindows),
];
