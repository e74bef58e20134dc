import { existsSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { DataStore } from "../../src/stores/data-store.ts";
import { SqlDataStore } from "../../src/stores/sqlite/mod.ts";
import { dataStoreContract } from "../../src/testing/data-store-contract/mod.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { titleOf } from "./contract-title.ts";
import { LOCAL_STORES, type LocalStore, openWithTables } from "./local-stores.ts";
import { expectPortable, recording, StatementRecord } from "./statement-rules.ts";

const T0 = 1_800_000_000_000;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let files = 0;
const opened: DataStore[] = [];

beforeAll(async () => {
  folder = await temporaryFolder();
  for (const local of LOCAL_STORES) if (local.whyMissing === null) await makeTemplate(local);
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});
afterAll(() => folder.remove());

/** A file with all tables, because to make them takes longer than most cases. */
function templateOf({ name }: LocalStore): string {
  return join(folder.path, `${name}.db`);
}

async function makeTemplate(local: LocalStore): Promise<void> {
  const driver = local.driver(":memory:");
  const store = new SqlDataStore(driver);
  await openWithTables(store);
  await driver.execute({ sql: "VACUUM INTO ?1", args: [templateOf(local)] });
  await store.close();
}

async function openNew(local: LocalStore, path: string): Promise<DataStore> {
  if (!existsSync(path)) await copyFile(templateOf(local), path);
  return openStore(local, path);
}

async function openStore(local: LocalStore, path: string): Promise<DataStore> {
  // The tests write as fast as they can, and none of them pulls the plug.
  const store = local.make(path, { durability: "normal" });
  opened.push(store);
  await store.open(T0);
  return store;
}

async function openRecorded(local: LocalStore, record: StatementRecord): Promise<DataStore> {
  const store = new SqlDataStore(recording(local.driver(":memory:"), record));
  opened.push(store);
  await store.open(T0);
  return store;
}

// A database in this process loses no answer on the way.
const cases = dataStoreContract.filter(({ isAboutLostAnswers }) => isAboutLostAnswers !== true);

for (const local of LOCAL_STORES) {
  const { name: storeName, whyMissing } = local;
  if (whyMissing !== null) {
    test(`${storeName} keeps the contract`, ({ skip }) => skip(whyMissing));
    continue;
  }

  describe(`${storeName} on a file keeps the contract`, () => {
    for (const { name, rules, run } of cases) {
      test(titleOf(rules, name), ({ skip }) => {
        const path = join(folder.path, `${++files}.db`);
        return run({ open: () => openNew(local, path), reopen: () => openStore(local, path), skip });
      });
    }
  });

  describe(`${storeName} in memory keeps the contract`, () => {
    const record = new StatementRecord();
    for (const { name, rules, run } of cases) {
      test(titleOf(rules, name), ({ skip }) => run({ open: () => openRecorded(local, record), skip }));
    }

    test("and every statement that ran is one that D1 and Durable Objects take", () => expectPortable(record));
  });

  test(`${storeName} shares a file with other processes, and memory with none`, () => {
    expect(local.make("x.db").capabilities).toEqual({ sharedByProcesses: true });
    expect(local.make(":memory:").capabilities).toEqual({ sharedByProcesses: false });
  });
}
