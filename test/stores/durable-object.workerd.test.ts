import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, test } from "vitest";
import { DurableObjectDataStore } from "../../src/stores/durable-object/mod.ts";
import { T0 } from "../../src/testing/data-store-contract/makers.ts";
import { dataStoreContract } from "../../src/testing/data-store-contract/mod.ts";

const stub = env.SQL_OBJECT.get(env.SQL_OBJECT.idFromName("contract"));

// No answer gets lost within an object, and a row of its database holds two megabytes.
const cases = dataStoreContract.filter(
  ({ isAboutLostAnswers, isAboutLargeRows }) => isAboutLostAnswers !== true && isAboutLargeRows !== true,
);

describe("DurableObjectDataStore keeps the contract", () => {
  for (const { name, run } of cases) {
    test(name, () =>
      runInDurableObject(stub, async (_, { storage }) => {
        const openStore = async (reset: boolean): Promise<DurableObjectDataStore> => {
          const store = new DurableObjectDataStore(storage, { reset });
          await store.open(T0);
          return store;
        };
        await run({ open: () => openStore(true), reopen: () => openStore(false) });
      }),
    );
  }
});
