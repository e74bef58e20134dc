import { describe, expect, test } from "vitest";
import type { DataStore } from "../../src/stores/data-store.ts";
import { LOCAL_STORES } from "../stores/local-stores.ts";
import { drawFlow } from "./flow.ts";
import { drawLedger } from "./ledger-workload.ts";
import { simulate } from "./simulate.ts";

const SEEDS = 120;
const SEEDS_PER_TEST = 20;

// The models know what the memory store does where the contract leaves a choice (whose clock says that a job is due, and
// how much of flow control one step sees). So the runs over SQL are those without flow control whose clocks are right.
describe.each(LOCAL_STORES.filter(({ whyMissing }) => whyMissing === null))("$name keeps every promise", (local) => {
  for (let first = 0; first < SEEDS; first += SEEDS_PER_TEST) {
    const seeds = Array.from({ length: SEEDS_PER_TEST }, (_, index) => first + index);
    const plain = seeds.filter((seed) => drawFlow(seed) === null);
    test(`seeds ${plain.join(", ")}`, async () => {
      for (const seed of plain) {
        const stores: DataStore[] = [];
        const makeStore = (): DataStore => {
          const store = local.make(":memory:", { ledger: drawLedger(seed)?.limits ?? true });
          stores.push(store);
          return store;
        };
        const { violations } = await simulate({ seed, areClocksRight: true, makeStore });
        for (const store of stores) await store.close();
        expect(violations, `seed ${seed}`).toEqual([]);
      }
    });
  }
});
