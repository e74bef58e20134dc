import type { AuditRecord, OccurrenceRecord, TaskPauseRecord } from "../../../src/records/ledger.ts";
import type { ScheduleRecord } from "../../../src/records/schedule.ts";
import type { Ledger, OccurrenceRecordFilter } from "../../../src/stores/contract/ledger-types.ts";
import type * as contract from "../../../src/stores/data-store.ts";
import type { ScheduleRemovalRequest, ScheduleUpdateRequest } from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { type BrokenStore, caughtBy } from "./broken-store.ts";

/** A store whose ledger reads in another way. */
function reading(change: (ledger: Ledger) => Partial<Ledger>): typeof MemoryDataStore {
  return class extends MemoryDataStore {
    constructor() {
      super();
      if (this.ledger !== null) Object.assign(this.ledger, change(this.ledger));
    }
  };
}

/** Changes each entry that a ledger tells. */
function telling(change: (entry: OccurrenceRecord) => OccurrenceRecord | null): typeof MemoryDataStore {
  return reading((ledger) => {
    const read = ledger.getOccurrences.bind(ledger);
    return {
      getOccurrences: async (filter) => {
        const { items, cursor } = await read(filter);
        return { items: items.map(change).filter((entry) => entry !== null), cursor };
      },
    };
  });
}

/** Changes each filter of entries. */
function filtering(change: (filter: OccurrenceRecordFilter) => OccurrenceRecordFilter): typeof MemoryDataStore {
  return reading((ledger) => {
    const read = ledger.getOccurrences.bind(ledger);
    return { getOccurrences: (filter) => read(change(filter)) };
  });
}

class ForgetsRuns extends telling((entry) => (entry.kind === "run" ? null : entry)) {}

class ForgetsSkips extends telling((entry) => (entry.kind === "skip" ? null : entry)) {}

class CallsAllKeyed extends telling((entry) => (entry.kind === "run" ? { ...entry, isKeyed: true } : entry)) {}

/** Tells runs that the store ended by itself as if they had started. */
class InventsStarts extends telling((entry) =>
  entry.kind === "run" ? { ...entry, startedAt: entry.startedAt ?? entry.finishedAt } : entry,
) {}

class ForgetsJitter extends telling((entry) =>
  entry.kind === "run" ? { ...entry, scheduledFireTime: entry.fireTime } : entry,
) {}

class IgnoresVerdicts extends filtering(({ verdicts: _ignored, ...filter }) => filter) {}

class IgnoresCursors extends filtering((filter) => ({ ...filter, cursor: null })) {}

class IgnoresTheOrder extends filtering((filter) => ({ ...filter, order: "oldest" })) {}

/** Overlooks a skip that began before the window. */
class OverlooksReachingSkips extends reading((ledger) => {
  const read = ledger.getOccurrences.bind(ledger);
  return {
    getOccurrences: async (filter) => {
      const { items, cursor } = await read(filter);
      return { items: items.filter((entry) => entry.kind === "run" || entry.from >= filter.from), cursor };
    },
  };
}) {}

class FindsNoJob extends reading(() => ({ getJobOfFireTime: async () => null })) {}

/** Finds an entry only where it begins, and no job. */
class FindsNoFireTime extends reading((ledger) => {
  const find = ledger.getFireTimes.bind(ledger);
  return {
    getFireTimes: async (asked) =>
      (await find(asked)).map((records) => records.map((record) => (record?.kind === "run" ? record : null))),
  };
}) {}

class NeverBegins extends reading(() => ({ getLedgerStart: async () => null })) {}

class ForgetsPauses extends reading(() => ({ getTaskPauseHistory: async (): Promise<TaskPauseRecord[]> => [] })) {}

class ForgetsUptimes extends reading(() => ({ getUptimes: async () => [] })) {}

/** Tells the ledger of no removal. */
class ForgetsRemovals extends MemoryDataStore {
  override removeSchedules(removals: readonly ScheduleRemovalRequest[]): Promise<boolean[]> {
    return super.removeSchedules(removals);
  }
}

/** Tells the ledger of no change. */
class ForgetsChanges extends MemoryDataStore {
  override updateSchedules(updates: readonly ScheduleUpdateRequest[]): Promise<(ScheduleRecord | null)[]> {
    return super.updateSchedules(updates);
  }
}

/** Takes the time of a change for another one. */
class MistakesTheTime extends MemoryDataStore {
  override addSchedules(
    additions: readonly contract.ScheduleAddition[],
    note?: AuditRecord,
  ): Promise<contract.ScheduleAdditionReport> {
    return super.addSchedules(additions, note === undefined ? note : { ...note, at: note.at + 1 });
  }
}

class CountsNothing extends reading(() => ({ getStats: async () => ({ counts: [], isCut: false }) })) {}

class ForgetsHowLong extends reading((ledger) => {
  const read = ledger.getStats.bind(ledger);
  return {
    getStats: async (filter) => {
      const { counts, isCut } = await read(filter);
      return { counts: counts.map((one) => ({ ...one, cell: one.cell - (one.cell % 65_536) })), isCut };
    },
  };
}) {}

export const brokenLedgers: readonly BrokenStore[] = [
  ...caughtBy(
    "ledger",
    ForgetsRuns,
    ForgetsSkips,
    CallsAllKeyed,
    InventsStarts,
    ForgetsJitter,
    IgnoresVerdicts,
    IgnoresCursors,
    IgnoresTheOrder,
    OverlooksReachingSkips,
    FindsNoJob,
    FindsNoFireTime,
    NeverBegins,
  ),
  ...caughtBy("changes", ForgetsPauses, ForgetsRemovals, ForgetsChanges, MistakesTheTime),
  ...caughtBy("uptimes", ForgetsUptimes),
  ...caughtBy("stats", CountsNothing, ForgetsHowLong),
];
