import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { type BrokenStore, caughtBy } from "./broken-store.ts";

/** Keeps no log of leases that go on. */
class ForgetsLogsOfExtensions extends MemoryDataStore {
  override extendLeases(extension: contract.LeaseExtension): Promise<contract.LeaseExtensionReport> {
    const jobs = extension.jobs.map(({ log: _, ...held }) => held);
    return super.extendLeases({ ...extension, jobs });
  }
}

/** Shows the logs of results that have expired. */
class ShowsLogsForEver extends MemoryDataStore {
  override getJobLogs(jobId: string): ReturnType<MemoryDataStore["getJobLogs"]> {
    return super.getJobLogs(jobId, 0);
  }
}

/** Begins with the last attempt. */
class TurnsLogsRound extends MemoryDataStore {
  override async getJobLogs(jobId: string, now: number): ReturnType<MemoryDataStore["getJobLogs"]> {
    return (await super.getJobLogs(jobId, now)).reverse();
  }
}

export const brokenJobLogs: readonly BrokenStore[] = caughtBy(
  "logs",
  ForgetsLogsOfExtensions,
  ShowsLogsForEver,
  TurnsLogsRound,
);
