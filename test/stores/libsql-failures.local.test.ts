import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@libsql/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OptionsError, StoreUnavailableError } from "../../src/core/errors.ts";
import { type LibsqlClient, LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { finish, makeJob, makeJobs, T0, take } from "../../src/testing/data-store-contract/makers.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let files = 0;

beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

function newFile(): string {
  return join(folder.path, `${++files}.db`);
}

test("a locked file of a client that was passed is waited for, and keeps its connection's settings", async () => {
  const file = newFile();
  const client = createClient({ url: `file:${file}`, concurrency: 1, timeout: 10 });
  const store = new LibsqlDataStore({ client });
  await client.execute("PRAGMA journal_mode = WAL");
  await client.execute("PRAGMA cache_size = 321");
  await store.open(T0);
  await store.addJobs([makeJob({ id: "a" })]);
  const priority = async (): Promise<unknown> => (await store.getJob("a"))?.priority;

  const other = createClient({ url: `file:${file}`, concurrency: 1 });
  const transaction = await other.transaction("write");
  await transaction.execute("UPDATE escapement_jobs SET priority = 5");
  const adding = store.addJobs([makeJob({ id: "b" })]);
  // The client tries within microtasks, so the write has found the lock taken when this goes on.
  await new Promise((resolve) => setTimeout(resolve));
  expect(await priority()).toBe(0);
  await transaction.commit();
  expect(await priority()).toBe(5);
  expect((await adding)[0]?.isNew).toBe(true);

  await other.execute("UPDATE escapement_jobs SET priority = 7");
  expect(await priority()).toBe(7);
  expect((await take(store)).acquired.map(({ id }) => id)).toEqual(["a", "b"]);
  // The file was opened anew.
  expect((await client.execute("PRAGMA cache_size")).rows[0]?.[0]).toBe(321);
  other.close();
  await store.close();
  client.close();
});

test("a file that is not a database is told of a client that was passed, too", async () => {
  const file = newFile();
  await writeFile(file, "this is a diary, not a database\n".repeat(200));
  const client = createClient({ url: `file:${file}`, concurrency: 1 });
  const failure = await new LibsqlDataStore({ client }).open(T0).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StoreUnavailableError);
  expect(String(failure)).toMatch(/not an SQLite database/);
  client.close();
});

describe("options of LibsqlDataStore", () => {
  const refused: [string, unknown, unknown, RegExp][] = [
    ["no url", {}, {}, /url/],
    ["an unknown option", { url: ":memory:" }, { tableprefix: "x" }, /tableprefix/],
    ["a prefix that is no name", { url: ":memory:" }, { tablePrefix: "a b" }, /tablePrefix must be letters/],
    ["a prefix with a quote", { url: ":memory:" }, { tablePrefix: 'x"; DROP TABLE y; --' }, /tablePrefix/],
    ["a prefix of SQLite's own", { url: ":memory:" }, { tablePrefix: "sqlite_x" }, /tablePrefix/],
    ["an unknown durability", { url: ":memory:" }, { durability: "none" }, /durability/],
    ["a serializer without methods", { url: ":memory:" }, { serializer: {} }, /serializer/],
    ["a bare number as timeout", { url: ":memory:" }, { timeout: 5 }, /timeout/],
    ["no timeout at all", { url: ":memory:" }, { timeout: "PT0S" }, /timeout/],
    ["a client that is none", { client: {} }, {}, /client/],
    ["a url and a client", { client: {}, url: ":memory:" }, {}, /url|client/],
  ];
  for (const [name, connection, options, message] of refused) {
    test(`${name} is refused`, () => {
      // What callers without types can pass.
      const make = (): unknown => Reflect.construct(LibsqlDataStore, [connection, options]);
      expect(make).toThrow(OptionsError);
      expect(make).toThrow(message);
    });
  }
});

describe("a write whose answer is lost", () => {
  /** A client that does what it is asked, and then loses every first answer. */
  function forgetful(inner: LibsqlClient): LibsqlClient & { isForgetful: boolean } {
    let calls = 0;
    const client = {
      isForgetful: false,
      protocol: "file",
      execute: (statement: Parameters<LibsqlClient["execute"]>[0]) => inner.execute(statement),
      async batch(statements: Parameters<LibsqlClient["batch"]>[0], mode: "write") {
        const results = await inner.batch(statements, mode);
        if (client.isForgetful && calls++ % 2 === 0) throw new TypeError("fetch failed");
        return results;
      },
      close: () => inner.close(),
    };
    return client;
  }

  test("is repeated without doubling anything", async () => {
    const client = forgetful(createClient({ url: ":memory:" }));
    const store = new LibsqlDataStore({ client });
    await store.open(T0);
    client.isForgetful = true;
    expect((await store.addJobs(makeJobs(3))).map(({ isNew }) => isNew)).toEqual([true, true, true]);
    const { acquired } = await take(store, { limit: 2 });
    expect(acquired.map(({ id, fence }) => [id, fence])).toEqual([
      ["job-00000", 1],
      ["job-00001", 1],
    ]);
    const { releases } = await take(store, { limit: 0, releases: acquired.map((job) => finish(job)) });
    expect(releases).toEqual(["released", "released"]);
    expect((await store.getJobs({ limit: 10, cursor: null })).items.map(({ id }) => id)).toEqual(["job-00002"]);
    client.close();
  });
});
