import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StoreUnavailableError } from "../../src/core/errors.ts";
import { Connection } from "../../src/stores/sql/driver/connection.ts";
import type { SqlDriver } from "../../src/stores/sql/driver/driver-and-failures.ts";
import { tableNames } from "../../src/stores/sql/schema/tables.ts";
import { migrate } from "../../src/stores/sql/sqlite/schema/migrations.ts";
import { MIGRATIONS } from "../../src/stores/sql/sqlite/schema/tables.ts";
import { SqlDataStore } from "../../src/stores/sql/sqlite/store.ts";
import {
  commit,
  finish,
  leasedJob,
  look,
  makeJob,
  makeJobs,
  T0,
  take,
} from "../../src/testing/data-store-contract/makers.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { LOCAL_STORES, type LocalStore, openWithTables, rowsOf, withDriver } from "./local-stores.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let files = 0;

beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

function newFile(): string {
  return join(folder.path, `${++files}.db`);
}

type Call = (store: SqlDataStore) => Promise<unknown>;

const getTasks: Call = (store) => store.getTasks();
const lookAtAll: Call = (store) => look(store, { schedules: {} });
const stepOverAll: Call = (store) => commit(store, { schedules: {} });

/** What a store says on a database that does not fit: when it is opened, or at the first call. */
async function openingFailure(store: SqlDataStore, firstCall: Call = getTasks): Promise<StoreUnavailableError> {
  const failure = await store
    .open(T0)
    .then(() => firstCall(store))
    .catch((error: unknown) => error);
  await store.close();
  if (!(failure instanceof StoreUnavailableError)) throw new Error(`not the expected failure: ${String(failure)}`);
  return failure;
}

for (const local of LOCAL_STORES) {
  const { name, whyMissing } = local;
  if (whyMissing !== null) {
    test(`${name} fails as it should`, ({ skip }) => skip(whyMissing));
    continue;
  }
  describe(`${name} says what is wrong with`, () => testOpening(local));
  describe(`${name} on a file that others keep locked`, () => testLocks(local));
  describe(`${name} on one file`, () => testSharing(local));
  describe(`migrations of ${name}`, () => testMigrations(local));
}

function testOpening(local: LocalStore): void {
  test("a file that is not a database, and leaves it alone", async () => {
    const file = newFile();
    const text = "this is a diary, not a database\n".repeat(200);
    await writeFile(file, text);
    const failure = await openingFailure(local.make(file));
    expect(failure.message).toContain(file);
    expect(failure.message).toMatch(/not an SQLite database/);
    expect(failure.cause).toBeInstanceOf(Error);
    expect(await readFile(file, "utf8")).toBe(text);
  });

  test("a damaged file", async () => {
    const file = newFile();
    await withDriver(local, file, async (driver) => {
      const store = new SqlDataStore(driver);
      await store.open(T0);
      await store.addJobs(makeJobs(500));
      await rowsOf(driver, "PRAGMA wal_checkpoint(TRUNCATE)");
    });
    const bytes = await readFile(file);
    // Everything but the first page, which names the tables.
    bytes.fill(0xab, 4096);
    await writeFile(file, bytes);
    expect((await openingFailure(local.make(file))).message).toMatch(/damaged; restore it from a backup/);
  });

  test("a folder that does not exist", async () => {
    const failure = await openingFailure(local.make(join(folder.path, "missing", "jobs.db")));
    expect(failure.message).toMatch(/create the folder/);
  });

  test("a folder where the file should be", async () => {
    const path = newFile();
    await mkdir(path);
    const failure = await openingFailure(local.make(path));
    expect(failure.message).toContain(path);
  });

  test("a database that it may not write", async () => {
    await withDriver(local, newFile(), async (driver) => {
      // The superuser may write every file, so the database itself is told to refuse.
      await rowsOf(driver, "PRAGMA query_only = 1");
      expect((await openingFailure(new SqlDataStore(keptOpen(driver)))).message).toMatch(
        /give this process write permission/,
      );
    });
  });

  test("a full disk, and goes on when there is room again", async () => {
    await withDriver(local, newFile(), async (driver) => {
      const store = new SqlDataStore(driver);
      await store.open(T0);
      await rowsOf(driver, "PRAGMA max_page_count = 100");
      const failure = await store.addJobs(makeJobs(2000)).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(StoreUnavailableError);
      expect(String(failure)).toMatch(/full; free space/);
      expect((await store.getJobs({ limit: 10, cursor: null })).items).toEqual([]);
      await rowsOf(driver, "PRAGMA max_page_count = 100000");
      await store.addJobs(makeJobs(2000));
      expect((await take(store, { limit: 2000 })).acquired.length).toBe(2000);
    });
  });

  test("a schema that is newer than it, and changes nothing", async () => {
    const file = newFile();
    const store = local.make(file);
    await openWithTables(store);
    await store.close();
    const dump = (): Promise<unknown[]> =>
      withDriver(local, file, async (driver) => [
        await rowsOf(driver, "SELECT sql FROM sqlite_master"),
        await rowsOf(driver, "SELECT version, applied_at FROM escapement_schema"),
      ]);
    await withDriver(local, file, async (driver) => {
      await rowsOf(driver, "INSERT INTO escapement_schema VALUES (999, 0)");
      await rowsOf(driver, "DROP TABLE escapement_results");
    });
    const before = await dump();
    for (const firstCall of [getTasks, lookAtAll, stepOverAll]) {
      const failure = await openingFailure(local.make(file), firstCall);
      expect(failure.message).toMatch(/version 999.*update the library/);
    }
    expect(await dump()).toEqual(before);
  });

  test("a table of someone else's with a name of ours, which stays as it is", async () => {
    for (const table of ["escapement_jobs", "escapement_schema", "Escapement_Tasks"]) {
      const file = newFile();
      await withDriver(local, file, async (driver) => {
        await rowsOf(driver, `CREATE TABLE ${table} (mine)`);
        await rowsOf(driver, `INSERT INTO ${table} VALUES (42)`);
      });
      for (const firstCall of [getTasks, lookAtAll]) {
        const failure = await openingFailure(local.make(file), firstCall);
        expect(failure.message).toContain(table.toLowerCase());
        expect(failure.message).toMatch(/tablePrefix/);
      }
      const tables = await withDriver(local, file, (driver) => rowsOf(driver, "SELECT name FROM sqlite_master"));
      expect(tables.map((row) => row.name)).toEqual([table]);
      const store = local.make(file, { tablePrefix: "other_" });
      await store.open(T0);
      await store.close();
    }
  });

  test("being used before it is open, and after it is closed", async () => {
    const store = local.make(":memory:");
    await expect(store.getTasks()).rejects.toThrow(/open\(\)/);
    await store.open(T0);
    await store.close();
    await store.close();
    await expect(store.getTasks()).rejects.toBeInstanceOf(StoreUnavailableError);
    await store.open(T0);
    expect(await store.getTasks()).toEqual([]);
    await store.close();
  });
}

function testLocks(local: LocalStore): void {
  test("waits without stopping the event loop, reads what is true meanwhile, and then writes", async () => {
    const file = newFile();
    const store = local.make(file);
    await store.open(T0);
    await store.addJobs([makeJob({ id: "a" })]);
    const priority = async (): Promise<unknown> => (await store.getJob("a"))?.priority;

    const { commit } = await local.hold(file, "UPDATE escapement_jobs SET priority = 5");
    const adding = store.addJobs([makeJob({ id: "b" })]);
    // The driver tries within microtasks, so the write has found the lock taken when this goes on.
    await new Promise((resolve) => setTimeout(resolve));
    expect(await priority()).toBe(0);
    await commit();
    expect(await priority()).toBe(5);
    expect((await adding)[0]?.isNew).toBe(true);

    await withDriver(local, file, (other) => rowsOf(other, "UPDATE escapement_jobs SET priority = 7"));
    expect(await priority()).toBe(7);
    expect((await take(store)).acquired.map(({ id }) => id)).toEqual(["a", "b"]);
    await store.close();
  });
}

function testSharing(local: LocalStore): void {
  test("keeps tables of two prefixes side by side", async () => {
    const file = newFile();
    const stores = ["a_", "b_"].map((tablePrefix) => local.make(file, { tablePrefix }));
    for (const store of stores) await store.open(T0);
    const [a, b] = stores;
    await a?.addJobs([makeJob()]);
    expect(await b?.getJob("job")).toBeNull();
    for (const store of stores) await store.close();
  });

  test("tells SQLite of full and normal durability, in WAL mode", async () => {
    for (const [durability, level] of [
      ["full", 2],
      ["normal", 1],
    ] as const) {
      const driver = local.driver(newFile(), durability);
      await driver.open();
      expect(await rowsOf(driver, "PRAGMA synchronous")).toMatchObject([{ synchronous: level }]);
      expect(await rowsOf(driver, "PRAGMA journal_mode")).toMatchObject([{ journal_mode: "wal" }]);
      await driver.close();
    }
  });

  test("that is new can be opened by many at once, and they make one schema", async () => {
    const file = newFile();
    const stores = Array.from({ length: 6 }, () => local.make(file));
    await Promise.all(stores.map((store) => store.open(T0)));
    await Promise.all(stores.map((store, index) => store.addJobs([makeJob({ id: `job-${index}` })])));
    const [first] = stores;
    expect((await first?.getJobs({ limit: 10, cursor: null }))?.items.length).toBe(6);
    for (const store of stores) await store.close();
    const versions = await withDriver(local, file, (driver) => rowsOf(driver, "SELECT version FROM escapement_schema"));
    expect(versions.map((row) => row.version)).toEqual(MIGRATIONS.map(({ version }) => version));
  });
}

function testMigrations(local: LocalStore): void {
  const names = tableNames("m_");
  const next = {
    version: MIGRATIONS.length + 1,
    statements: (): readonly string[] => [
      `ALTER TABLE ${names.jobs} ADD COLUMN extra TEXT`,
      "CREATE TABLE m_extra (x)",
    ],
  };

  test("bring each earlier version up to date, and keep its data", async () => {
    await withDriver(local, newFile(), async (driver) => {
      await migrate(connect(driver), names, MIGRATIONS, T0);
      const store = new SqlDataStore(driver, { tablePrefix: "m_" });
      await store.open(T0);
      const job = await leasedJob(store);
      await migrate(connect(driver), names, [...MIGRATIONS, next], T0 + 1);
      const versions = await rowsOf(driver, "SELECT version, applied_at FROM m_schema ORDER BY version");
      expect(versions.map((row) => [row.version, row.applied_at])).toEqual([
        ...MIGRATIONS.map(({ version }) => [version, T0]),
        [next.version, T0 + 1],
      ]);
      expect(await store.getJob("job")).toEqual(job);
      expect((await take(store, { releases: [finish(job)] })).releases).toEqual(["released"]);
    });
  });

  test("that fail are undone as a whole", async () => {
    await withDriver(local, newFile(), async (driver) => {
      await migrate(connect(driver), names, MIGRATIONS, T0);
      const broken = { version: next.version, statements: () => [...next.statements(), "CREATE TABLE nonsense"] };
      await expect(migrate(connect(driver), names, [...MIGRATIONS, broken], T0)).rejects.toBeInstanceOf(
        StoreUnavailableError,
      );
      const left = await rowsOf(driver, "SELECT count(*) AS count FROM sqlite_master WHERE name = 'm_extra'");
      expect(left[0]?.count).toBe(0);
      await migrate(connect(driver), names, [...MIGRATIONS, next], T0);
    });
  });
}

function connect(driver: SqlDriver): Connection {
  return new Connection(driver, { where: "the test", random: Math.random, timeoutMs: 1000 });
}

/** A driver that a store does not close, because its settings are the test's. */
function keptOpen(driver: SqlDriver): SqlDriver {
  return {
    isLocal: driver.isLocal,
    execute: (statement) => driver.execute(statement),
    batch: (statements) => driver.batch(statements),
    failureKind: (error) => driver.failureKind(error),
  };
}
