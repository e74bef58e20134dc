import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { DataStore } from "../../src/stores/data-store.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { dataStoreContract } from "../../src/testing/data-store-contract/mod.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const T0 = 1_800_000_000_000;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let files = 0;
const opened: DataStore[] = [];

beforeAll(async () => {
  folder = await temporaryFolder();
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});
afterAll(() => folder.remove());

function newFile(): string {
  return join(folder.path, `${++files}.db`);
}

async function openStore(url: string): Promise<DataStore> {
  // The tests write as fast as they can, and none of them pulls the plug.
  const store = new LibsqlDataStore({ url }, { durability: "normal" });
  opened.push(store);
  await store.open(T0);
  return store;
}

describe("LibsqlDataStore on a file keeps the contract", () => {
  for (const { name, run } of dataStoreContract) {
    test(name, () => {
      const url = `file:${newFile()}`;
      return run({ open: () => openStore(url), reopen: () => openStore(url) });
    });
  }
});

describe("LibsqlDataStore in memory keeps the contract", () => {
  for (const { name, run } of dataStoreContract) {
    test(name, () => run({ open: () => openStore(":memory:") }));
  }
});

test("a file is shared by processes, memory is not", () => {
  expect(new LibsqlDataStore({ url: "file:x.db" }).capabilities).toEqual({ sharedByProcesses: true });
  expect(new LibsqlDataStore({ url: ":memory:" }).capabilities).toEqual({ sharedByProcesses: false });
});
