import { env } from "cloudflare:workers";
import { afterEach, describe, test } from "vitest";
import { D1DataStore } from "../../src/stores/d1/mod.ts";
import { T0 } from "../../src/testing/data-store-contract/makers.ts";
import { dataStoreContract } from "../../src/testing/data-store-contract/mod.ts";

const opened: D1DataStore[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

async function openStore(tablePrefix: string, reset = false): Promise<D1DataStore> {
  const store = new D1DataStore(env.DB, { tablePrefix, reset });
  opened.push(store);
  await store.open(T0);
  return store;
}

describe("D1DataStore keeps the contract", () => {
  // A row of D1 holds two megabytes.
  for (const { name, run } of dataStoreContract.filter(({ isAboutLargeRows }) => isAboutLargeRows !== true)) {
    test(name, () => run({ open: () => openStore("contract_", true), reopen: () => openStore("contract_") }));
  }
});
