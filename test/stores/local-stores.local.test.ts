import { existsSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { DataStore } from "../../src/stores/data-store.ts";
import { MIGRATIONS } from "../../src/stores/sql/sqlite/schema/tables.ts";
import { SqlDataStore } from "../../src/stores/sql/sqlite/store.ts";
import { dataStoreContract } from "../../src/testing/data-store-contract/mod.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { sampleOf, titleOf } from "./contract-title.ts";
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

async function openFile(local: LocalStore, path: string, record: StatementRecord): Promise<DataStore> {
  if (!existsSync(path)) await copyFile(templateOf(local), path);
  // The tests write as fast as they can, and none of them pulls the plug.
  return opens(new SqlDataStore(recording(local.driver(path, "normal"), record)));
}

async function openInMemory(local: LocalStore, record: StatementRecord): Promise<DataStore> {
  return opens(new SqlDataStore(recording(local.driver(":memory:"), record)));
}

async function opens(store: DataStore): Promise<DataStore> {
  opened.push(store);
  await store.open(T0);
  return store;
}

/** Why a case that begins in memory begins anew on a file. */
const NEEDS_FILE = new Error("a second store on the same data needs a file");

const isNode = !("Deno" in globalThis) && !("Bun" in globalThis);

for (const local of LOCAL_STORES) {
  const { name: storeName, whyMissing } = local;
  if (whyMissing !== null) {
    test(`${storeName} keeps the contract`, ({ skip }) => skip(whyMissing));
    continue;
  }

  describe(`${storeName} keeps the contract`, () => {
    const record = new StatementRecord();
    // The statements are the same everywhere, and the native part of LibsqlDataStore is so too. On Node it is the half
    // that a Durable Object does not run. A database in this process loses no answer on the way.
    const every = isNode ? 2 : storeName === "LibsqlDataStore" ? 20 : 8;
    const cases = sampleOf(dataStoreContract, every, 1);
    for (const { name, rules, run } of cases.filter((one) => one.isAboutLostAnswers !== true)) {
      test(titleOf(rules, name), async ({ skip }) => {
        const open = () => openInMemory(local, record);
        try {
          await run({ open, reopen: () => Promise.reject(NEEDS_FILE), skip });
        } catch (error) {
          if (error !== NEEDS_FILE) throw error;
          const path = join(folder.path, `${++files}.db`);
          const openAgain = () => openFile(local, path, record);
          await run({ open: openAgain, reopen: openAgain, skip });
        }
      });
    }

    test("and every statement that ran is one that D1 and Durable Objects take", () => expectPortable(record));
  });

  test(`${storeName} shares a file with other processes, and memory with none`, () => {
    expect(local.make("x.db").capabilities).toEqual({ sharedByProcesses: true });
    expect(local.make("x.db").schemaVersion).toBe(MIGRATIONS.at(-1)?.version);
    expect(local.make(":memory:").capabilities).toEqual({ sharedByProcesses: false });
  });
}
