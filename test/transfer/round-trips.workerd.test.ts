import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, test } from "vitest";
import { D1DataStore } from "../../src/stores/d1/mod.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { DurableObjectDataStore } from "../../src/stores/durable-object/mod.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { T0 } from "../../src/testing/data-store-contract/makers.ts";
import type { ObjectState } from "../support/workerd-env.ts";
import { expectRoundTrip } from "./samples.ts";

type Open = (storage: ObjectState["storage"], prefix: string) => DataStore;

const stores: readonly (readonly [name: string, open: Open])[] = [
  ["MemoryDataStore", () => new MemoryDataStore()],
  ["D1DataStore", (_, tablePrefix) => new D1DataStore(env.DB, { tablePrefix })],
  ["DurableObjectDataStore", (storage, tablePrefix) => new DurableObjectDataStore(storage, { tablePrefix })],
];

describe.each(stores)("what %s has", (fromName, openFrom) => {
  test.each(stores)("comes back from %s as it was", async (toName, openTo) => {
    const stub = env.SQL_OBJECT.get(env.SQL_OBJECT.idFromName(`transfer ${fromName} ${toName}`));
    await runInDurableObject(stub, async (_, { storage }) => {
      await using from = openFrom(storage, `from_${fromName}_${toName}_`);
      await using to = openTo(storage, `to_${fromName}_${toName}_`);
      await from.open(T0);
      await to.open(T0);
      await expectRoundTrip(from, to);
    });
  });
});
