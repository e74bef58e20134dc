import { afterAll, describe, expect, test } from "vitest";
import type { DataStore } from "../../src/stores/data-store.ts";
import type { SqlDataStore } from "../../src/stores/sql/sqlite/store.ts";
import type { SqliteStoreOptions } from "../../src/stores/sqlite-file/options.ts";
import { T0 } from "../../src/testing/data-store-contract/makers.ts";
import { LIBSQL, SQLITE } from "../stores/local-stores.ts";
import { KeptLibsqlStore } from "../support/kept-libsql.ts";
import { PGliteStores } from "../support/pglite-stores.ts";
import { drawLedger } from "./ledger-workload.ts";
import { OPERATORS, STEPS } from "./operators/operations.ts";
import { simulateOperators } from "./operators/operators.ts";
import { simulate } from "./simulate.ts";

/** `npm test` takes the first fifth; `npm run test:matrix` takes all. */
const SEEDS = process.env.ESCAPEMENT_ALL_TESTS === undefined ? 12 : 60;
const SEEDS_PER_TEST = 3;

const makeKept = (path: string, options?: SqliteStoreOptions): SqlDataStore => new KeptLibsqlStore(path, options);

// The models know what the memory store does where the contract leaves a choice (whose clock says that a job is due). So
// the clocks of the runs over SQL are right.
// The drivers differ in little that a simulation meets, so that the slow one gets the first quarter.
const stores = [
  { name: LIBSQL.name, make: LIBSQL.make, seedCount: SEEDS / 4 },
  SQLITE.whyMissing === null
    ? { name: SQLITE.name, make: SQLITE.make, seedCount: SEEDS }
    : { name: KeptLibsqlStore.name, make: makeKept, seedCount: SEEDS },
];
describe.each(stores)("$name keeps every promise", ({ make, seedCount }) => {
  for (let first = 0; first < seedCount; first += SEEDS_PER_TEST) {
    const seeds = Array.from({ length: SEEDS_PER_TEST }, (_, index) => first + index);
    test(`seeds ${first} to ${first + SEEDS_PER_TEST - 1}`, async () => {
      for (const seed of seeds) {
        const opened: DataStore[] = [];
        const makeStore = (): DataStore => {
          const store = make(":memory:", { ledger: drawLedger(seed)?.limits ?? true });
          opened.push(store);
          return store;
        };
        const { violations } = await simulate({ seed, areClocksRight: true, makeStore });
        for (const store of opened) await store.close();
        expect(violations, `seed ${seed}`).toEqual([]);
      }
    });
  }

  test("while operators act", async () => {
    for (let seed = 0; seed < seedCount / 8; seed++) {
      const store = make(":memory:");
      await store.open(T0);
      const { violations } = await simulateOperators({ seed, makeStore: () => store });
      await store.close();
      expect(violations, `seed ${seed}`).toEqual([]);
    }
  });
});

test("jobs with steps keep every promise on SQLite, too", async () => {
  for (const seed of [0, 1, 2, 3, 4]) {
    const store = new KeptLibsqlStore(":memory:");
    const { violations } = await simulateOperators({ seed, makeStore: () => store }, STEPS);
    await store.close();
    expect(violations, `seed ${seed}`).toEqual([]);
  }
});

describe("PostgreSQL keeps every promise", () => {
  const pglite = new PGliteStores();
  afterAll(() => pglite.stop());
  // A seed takes fifty times as long as on SQLite; `node scripts/simulate.mjs --only postgres` takes many. The last of
  // these is a short one.
  const seeds = process.env.ESCAPEMENT_ALL_TESTS === undefined ? [3] : [0, 1, 2, 3];

  test.each(seeds)("seed %d", async (seed) => {
    const store = await pglite.make({ ledger: drawLedger(seed)?.limits ?? true });
    const { violations } = await simulate({ seed, areClocksRight: true, makeStore: () => store });
    await store.close();
    expect(violations).toEqual([]);
  });

  test.each([
    ["operators act", OPERATORS],
    ["jobs have steps", STEPS],
  ])("while %s", async (_, world) => {
    for (const seed of seeds) {
      const store = await pglite.make();
      await store.open(T0);
      const { violations } = await simulateOperators({ seed, makeStore: () => store }, world);
      await store.close();
      expect(violations, `seed ${seed}`).toEqual([]);
    }
  });
});
