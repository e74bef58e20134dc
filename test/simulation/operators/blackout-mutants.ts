import { KnownBlackouts } from "../../../src/scheduler/firing/known-blackouts.ts";
import type * as contract from "../../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../../src/stores/memory/store.ts";
import { ScheduleBlackouts } from "../../../src/triggers/blackout-windows.ts";
import { changing, type Mutant, patched, scheduler, store } from "../mutant.ts";

/** Faults about blackouts. */
export const BLACKOUT_MUTANTS: readonly Mutant[] = [
  store(
    "lets plans count that do not heed the last blackouts",
    changing({
      commit: async (request, inner) => {
        const { version } = await inner.getBlackouts();
        return version === 0 ? request : { ...request, blackouts: version };
      },
    }),
  ),
  store(
    "keeps the blackouts that operators remove",
    class extends MemoryDataStore {
      override async removeBlackout(id: string): ReturnType<MemoryDataStore["removeBlackout"]> {
        return (await this.getBlackouts()).items.find((one) => one.id === id) ?? null;
      }
    },
  ),
  scheduler("knows no blackouts that recur", (inner) => ({
    getBlackouts: async (): Promise<contract.BlackoutList> => {
      const { version, items } = await inner.getBlackouts();
      return { version, items: items.filter(({ trigger }) => trigger === null) };
    },
  })),
  scheduler("takes the last fire time before the end of a blackout for one after it", (inner) => ({
    getBlackouts: async (): Promise<contract.BlackoutList> => {
      const { version, items } = await inner.getBlackouts();
      return { version, items: items.map((one) => (one.until === null ? one : { ...one, until: one.until - 900 })) };
    },
  })),
  patched(
    "blacks out schedules that blackouts are not about",
    KnownBlackouts.prototype,
    "of",
    (original) =>
      function (this: KnownBlackouts, schedule) {
        return original.call(this, { ...schedule, labels: { team: "a" } });
      },
  ),
  patched("makes up for nothing that blackouts left out", ScheduleBlackouts.prototype, "owes", () => () => false),
];
