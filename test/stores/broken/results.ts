import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { type BrokenStore, caughtBy } from "./broken-store.ts";

/** Lists the oldest results first. */
class TurnsResultsRound extends MemoryDataStore {
  override getJobResults(filter: contract.JobResultFilter, now: number): ReturnType<MemoryDataStore["getJobResults"]> {
    return super.getJobResults({ ...filter, order: filter.order === "newest" ? "newest" : "oldest" }, now);
  }
}

/** Takes the end of a time for a part of it. */
class IncludesTheEnd extends MemoryDataStore {
  override getJobResults(filter: contract.JobResultFilter, now: number): ReturnType<MemoryDataStore["getJobResults"]> {
    const { until, ...rest } = filter;
    return super.getJobResults(until === undefined ? rest : { ...rest, until: until + 1 }, now);
  }
}

/** Removes whatever fits, however much. */
class RemovesTooMuch extends MemoryDataStore {
  override removeJobResults(selection: contract.ResultRemoval): Promise<number> {
    return super.removeJobResults(selection, Number.POSITIVE_INFINITY);
  }
}

/** Takes the ids of jobs for no filter. */
class RemovesOfAllJobs extends MemoryDataStore {
  override removeJobResults({ jobIds: _, ...selection }: contract.ResultRemoval, limit: number): Promise<number> {
    return super.removeJobResults(selection, limit);
  }
}

/** Forgets what failed before. */
class ForgetsAttempts extends MemoryDataStore {
  override commit(request: contract.CommitRequest): Promise<contract.CommitReport> {
    const releases = request.releases.map((release) =>
      release.kind === "retry" ? { ...release, attemptHistory: [] } : release,
    );
    return super.commit({ ...request, releases });
  }
}

/** Leaves progress to events. */
class ForgetsProgress extends MemoryDataStore {
  override extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
    const jobs = extension.jobs.map(({ progress: _, ...job }) => job);
    return super.extendLeases({ ...extension, jobs });
  }
}

/** Keeps results without their jobs. */
class LosesPayloads extends MemoryDataStore {
  override async getJobResult(jobId: string, now: number): ReturnType<MemoryDataStore["getJobResult"]> {
    const result = await super.getJobResult(jobId, now);
    const { job: _, ...rest } = result ?? {};
    return result === null ? null : (rest as typeof result);
  }
}

export const brokenResults: readonly BrokenStore[] = [
  ...caughtBy("results", TurnsResultsRound, IncludesTheEnd, RemovesTooMuch, RemovesOfAllJobs),
  ...caughtBy("history", ForgetsAttempts, ForgetsProgress, LosesPayloads),
];
