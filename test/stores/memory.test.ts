import { describe, test } from "vitest";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { dataStoreContract } from "../../src/testing/data-store-contract/mod.ts";

describe("MemoryDataStore keeps the contract", () => {
  for (const { name, run } of dataStoreContract) {
    test(name, () => run({ open: async () => new MemoryDataStore() }));
  }
});
