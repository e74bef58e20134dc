import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import type { DataStore } from "../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { T0 } from "../../src/testing/data-store-contract/makers.ts";
import { LOCAL_STORES } from "../stores/local-stores.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { expectRoundTrip } from "./samples.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let files = 0;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

const stores: readonly (readonly [name: string, open: () => Promise<DataStore>])[] = [
  ["MemoryDataStore", async () => new MemoryDataStore()],
  ...LOCAL_STORES.filter(({ whyMissing }) => whyMissing === null).map(
    (local) =>
      [
        local.name,
        async () => {
          const store = local.make(join(folder.path, `${++files}.db`));
          await store.open(T0);
          return store;
        },
      ] as const,
  ),
];

describe.each(stores)("what %s has", (_, openFrom) => {
  test.each(stores)("comes back from %s as it was", async (__, openTo) => {
    await using from = await openFrom();
    await using to = await openTo();
    await expectRoundTrip(from, to);
  });
});
