import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Client, createClient } from "@libsql/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OptionsError, StoreUnavailableError } from "../../src/core/errors.ts";
import { Connection } from "../../src/stores/libsql/connection.ts";
import { migrate } from "../../src/stores/libsql/migrations.ts";
import { type LibsqlClient, LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { filePragmas } from "../../src/stores/libsql/open-client.ts";
import { MIGRATIONS, tableNames } from "../../src/stores/libsql/schema.ts";
import { finish, leasedJob, makeJob, makeJobs, T0, take } from "../../src/testing/data-store-contract/makers.ts";
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

/** What a store says when it is opened on a database that does not fit. */
async function openingFailure(...args: ConstructorParameters<typeof LibsqlDataStore>): Promise<StoreUnavailableError> {
  const store = new LibsqlDataStore(...args);
  const failure = await store.open(T0).catch((error: unknown) => error);
  await store.close();
  if (!(failure instanceof StoreUnavailableError)) throw new Error(`not the expected failure: ${String(failure)}`);
  return failure;
}

async function withClient<T>(file: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = createClient({ url: `file:${file}`, concurrency: 1 });
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

describe("LibsqlDataStore says what is wrong with", () => {
  test("a file that is not a database, and leaves it alone", async () => {
    const file = newFile();
    const text = "this is a diary, not a database\n".repeat(200);
    await writeFile(file, text);
    const failure = await openingFailure({ url: `file:${file}` });
    expect(failure.message).toContain(file);
    expect(failure.message).toMatch(/not an SQLite database/);
    expect(failure.cause).toBeInstanceOf(Error);
    const client = createClient({ url: `file:${file}`, concurrency: 1 });
    expect((await openingFailure({ client })).message).toMatch(/not an SQLite database/);
    client.close();
    expect(await readFile(file, "utf8")).toBe(text);
  });

  test("a damaged file", async () => {
    const file = newFile();
    await withClient(file, async (client) => {
      const store = new LibsqlDataStore({ client });
      await store.open(T0);
      await store.addJobs(makeJobs(500));
    });
    const bytes = await readFile(file);
    // Everything but the first page, which names the tables.
    bytes.fill(0xab, 4096);
    await writeFile(file, bytes);
    expect((await openingFailure({ url: `file:${file}` })).message).toMatch(/damaged; restore it from a backup/);
  });

  test("a folder that does not exist", async () => {
    const failure = await openingFailure({ url: `file:${join(folder.path, "missing", "jobs.db")}` });
    expect(failure.message).toMatch(/create the folder/);
  });

  test("a folder where the file should be", async () => {
    const path = newFile();
    await mkdir(path);
    expect((await openingFailure({ url: `file:${path}` })).message).toContain(path);
  });

  test("a database that it may not write", async () => {
    const file = newFile();
    await withClient(file, (client) => client.execute("CREATE TABLE x (y)"));
    await chmod(file, 0o444);
    // The superuser may write every file, so for it the database itself is told to refuse.
    const client = createClient({ url: `file:${file}`, concurrency: 1 });
    await client.execute("PRAGMA query_only = 1");
    const failure = await openingFailure({ client });
    client.close();
    expect(failure.message).toMatch(/give this process write permission/);
  });

  test("a full disk, and goes on when there is room again", async () => {
    const client = createClient({ url: `file:${newFile()}`, concurrency: 1 });
    const store = new LibsqlDataStore({ client });
    await store.open(T0);
    await client.execute("PRAGMA max_page_count = 60");
    const failure = await store.addJobs(makeJobs(2000)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(String(failure)).toMatch(/full; free space/);
    expect((await store.getJobs({ limit: 10, cursor: null })).items).toEqual([]);
    await client.execute("PRAGMA max_page_count = 100000");
    await store.addJobs(makeJobs(2000));
    expect((await take(store, { limit: 2000 })).acquired.length).toBe(2000);
    client.close();
  });

  test("a schema that is newer than it, and changes nothing", async () => {
    const file = newFile();
    const store = new LibsqlDataStore({ url: `file:${file}` });
    await store.open(T0);
    await store.close();
    const dump = (): Promise<unknown[]> =>
      withClient(file, async (client) => [
        (await client.execute("SELECT * FROM sqlite_master")).rows.map((row) => row.sql),
        (await client.execute("SELECT version, applied_at FROM escapement_schema")).rows.map((row) => [row[0], row[1]]),
      ]);
    await withClient(file, (client) =>
      client.executeMultiple("INSERT INTO escapement_schema VALUES (999, 0); DROP TABLE escapement_results"),
    );
    const before = await dump();
    const failure = await openingFailure({ url: `file:${file}` });
    expect(failure.message).toMatch(/version 999.*update the library/);
    expect(await dump()).toEqual(before);
  });

  test("a table of someone else's with a name of ours, which stays as it is", async () => {
    for (const name of ["escapement_jobs", "escapement_schema", "Escapement_Tasks"]) {
      const file = newFile();
      await withClient(file, (client) =>
        client.executeMultiple(`CREATE TABLE ${name} (mine); INSERT INTO ${name} VALUES (42)`),
      );
      const failure = await openingFailure({ url: `file:${file}` });
      expect(failure.message).toContain(name.toLowerCase());
      expect(failure.message).toMatch(/tablePrefix/);
      const names = await withClient(file, (client) => client.execute("SELECT name FROM sqlite_master"));
      expect(names.rows.map((row) => row.name)).toEqual([name]);
      const store = new LibsqlDataStore({ url: `file:${file}` }, { tablePrefix: "other_" });
      await store.open(T0);
      await store.close();
    }
  });

  test("being used before it is open, and after it is closed", async () => {
    const store = new LibsqlDataStore({ url: ":memory:" });
    await expect(store.getTasks()).rejects.toThrow(/open\(\)/);
    await store.open(T0);
    await store.close();
    await store.close();
    await expect(store.getTasks()).rejects.toBeInstanceOf(StoreUnavailableError);
  });
});

describe("LibsqlDataStore on a file that others keep locked", () => {
  const forms: [string, (file: string) => [LibsqlDataStore, Client | null]][] = [
    ["opened by its url", (file) => [new LibsqlDataStore({ url: `file:${file}` }), null]],
    [
      "of a client that was passed",
      (file) => {
        const client = createClient({ url: `file:${file}`, concurrency: 1, timeout: 10 });
        return [new LibsqlDataStore({ client }), client];
      },
    ],
  ];
  for (const [form, make] of forms) {
    test(`waits without stopping the event loop, reads what is true meanwhile, and then writes (${form})`, async () => {
      const file = newFile();
      const [store, client] = make(file);
      await client?.execute("PRAGMA journal_mode = WAL");
      await client?.execute("PRAGMA cache_size = 321");
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
      // Opening the file anew kept the settings of the connection.
      if (client !== null) expect((await client.execute("PRAGMA cache_size")).rows[0]?.[0]).toBe(321);
      other.close();
      await store.close();
      client?.close();
    });
  }
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

  test("tables of two prefixes live side by side", async () => {
    const file = newFile();
    const stores = ["a_", "b_"].map((tablePrefix) => new LibsqlDataStore({ url: `file:${file}` }, { tablePrefix }));
    for (const store of stores) await store.open(T0);
    const [a, b] = stores;
    await a?.addJobs([makeJob()]);
    expect(await b?.getJob("job")).toBeNull();
    for (const store of stores) await store.close();
  });

  test("full and normal durability are what SQLite is told, in WAL mode", async () => {
    for (const [durability, level] of [
      ["full", 2],
      ["normal", 1],
    ] as const) {
      await withClient(newFile(), async (client) => {
        for (const sql of filePragmas(durability)) await client.execute(sql);
        expect((await client.execute("PRAGMA synchronous")).rows[0]?.[0]).toBe(level);
        expect((await client.execute("PRAGMA journal_mode")).rows[0]?.[0]).toBe("wal");
      });
    }
  });
});

describe("migrations", () => {
  const names = tableNames("m_");
  const second = {
    version: 2,
    statements: (): readonly string[] => [
      `ALTER TABLE ${names.jobs} ADD COLUMN extra TEXT`,
      "CREATE TABLE m_extra (x)",
    ],
  };

  function connect(client: Client): Connection {
    return new Connection(client, { where: "the test", random: Math.random, timeoutMs: null, reopen: null });
  }

  test("stores that open a new file at once all succeed, and make one schema", async () => {
    const file = newFile();
    const stores = Array.from({ length: 6 }, () => new LibsqlDataStore({ url: `file:${file}` }));
    await Promise.all(stores.map((store) => store.open(T0)));
    await Promise.all(stores.map((store, index) => store.addJobs([makeJob({ id: `job-${index}` })])));
    const [first] = stores;
    expect((await first?.getJobs({ limit: 10, cursor: null }))?.items.length).toBe(6);
    for (const store of stores) await store.close();
    const versions = await withClient(file, (client) => client.execute("SELECT version FROM escapement_schema"));
    expect(versions.rows.map((row) => row[0])).toEqual([1]);
  });

  test("each earlier version is brought up to date, and keeps its data", async () => {
    await withClient(newFile(), async (client) => {
      await migrate(connect(client), names, MIGRATIONS, T0);
      const store = new LibsqlDataStore({ client }, { tablePrefix: "m_" });
      await store.open(T0);
      const job = await leasedJob(store);
      await migrate(connect(client), names, [...MIGRATIONS, second], T0 + 1);
      const versions = await client.execute("SELECT version, applied_at FROM m_schema ORDER BY version");
      expect(versions.rows.map((row) => [row[0], row[1]])).toEqual([
        [1, T0],
        [2, T0 + 1],
      ]);
      expect(await store.getJob("job")).toEqual(job);
      expect((await take(store, { releases: [finish(job)] })).releases).toEqual(["released"]);
    });
  });

  test("one that fails is undone as a whole", async () => {
    await withClient(newFile(), async (client) => {
      await migrate(connect(client), names, MIGRATIONS, T0);
      const broken = { version: 2, statements: () => [...second.statements(), "CREATE TABLE nonsense"] };
      await expect(migrate(connect(client), names, [...MIGRATIONS, broken], T0)).rejects.toBeInstanceOf(
        StoreUnavailableError,
      );
      const left = await client.execute("SELECT count(*) FROM sqlite_master WHERE name = 'm_extra'");
      expect(left.rows[0]?.[0]).toBe(0);
      await migrate(connect(client), names, [...MIGRATIONS, second], T0);
    });
  });
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
