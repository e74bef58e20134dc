import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Scheduler, StoreUnavailableError } from "../../src/mod.ts";
import { MIGRATIONS } from "../../src/stores/sql/sqlite/schema/tables.ts";
import { SqlDataStore } from "../../src/stores/sql/sqlite/store.ts";
import { add, commit, look, makeSchedule, makeTask, T0 } from "../../src/testing/data-store-contract/makers.ts";
import { CountingDriver } from "../support/counting-driver.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { LIBSQL, openWithTables, rowsOf, withDriver } from "./local-stores.ts";

const VERSIONS = MIGRATIONS.map(({ version }) => version);

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let files = 0;
let file: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});
beforeEach(() => {
  file = join(folder.path, `${++files}.db`);
});
afterAll(() => folder.remove());

async function withStore(use: (store: SqlDataStore, driver: CountingDriver) => Promise<void>): Promise<void> {
  const driver = new CountingDriver(LIBSQL.driver(file));
  const store = new SqlDataStore(driver);
  await store.open(T0);
  try {
    await use(store, driver);
  } finally {
    await store.close();
  }
}

async function makeTables(): Promise<void> {
  const store = LIBSQL.make(file);
  await openWithTables(store);
  await store.close();
}

async function versions(): Promise<unknown[]> {
  const rows = await withDriver(LIBSQL, file, (driver) => rowsOf(driver, "SELECT version FROM escapement_schema"));
  return rows.map(({ version }) => version);
}

test("a look finds out on its way that the schema is up to date, and what comes after it asks no more", async () => {
  await makeTables();
  await withStore(async (store, driver) => {
    await look(store, { schedules: {}, tasks: [makeTask()] });
    await look(store, { schedules: {} });
    await store.getTasks();
    expect(driver.trips).toEqual({ reads: 3, writes: 0 });
  });
});

test("calls that come together make the tables once, in one write", async () => {
  await withStore(async (store, driver) => {
    await Promise.all([store.getTasks(), store.getJob("job"), store.getSchedule("schedule")]);
    // Before the write it is read that there is no table.
    expect(driver.trips).toEqual({ reads: 1 + 3, writes: 1 });
  });
});

const FIRST_CALLS: [string, (store: SqlDataStore) => Promise<unknown>][] = [
  ["a look", (store) => look(store, { schedules: {} })],
  ["a commit", (store) => commit(store, { schedules: {} })],
  ["an addition", (store) => store.addSchedules(add(makeSchedule()))],
];

test.each(FIRST_CALLS)("%s makes the tables where it comes first", async (_, call) => {
  await withStore(async (store) => {
    await call(store);
  });
  expect(await versions()).toEqual(VERSIONS);
});

test("a scheduler refuses a newer schema at its start, and at a tick", async () => {
  await makeTables();
  await withDriver(LIBSQL, file, (driver) => rowsOf(driver, "INSERT INTO escapement_schema VALUES (999, 0)"));
  for (const begin of [(one: Scheduler) => one.start(), (one: Scheduler) => one.tick()]) {
    const scheduler = new Scheduler({ dataStore: LIBSQL.make(file) });
    scheduler.task("t", () => {});
    const failure = await begin(scheduler).catch((error: unknown) => error);
    await scheduler.stop();
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(String(failure)).toMatch(/version 999.*update the library/);
  }
});

test("a database that has a table of another program is refused, and left as it is", async () => {
  await withDriver(LIBSQL, file, async (driver) => {
    await rowsOf(driver, "CREATE TABLE escapement_schema (version INTEGER)");
    await rowsOf(driver, "INSERT INTO escapement_schema VALUES (6)");
    await rowsOf(driver, "CREATE TABLE escapement_tasks (id TEXT)");
  });
  await withStore(async (store, driver) => {
    for (const [, call] of FIRST_CALLS) {
      const failure = await call(store).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(StoreUnavailableError);
      expect(String(failure)).toMatch(/a table that this library did not make.*set another tablePrefix/);
    }
    expect(driver.trips.writes).toBe(0);
  });
});

test("a store that is closed and opened again checks again", async () => {
  await makeTables();
  await withStore(async (store, driver) => {
    await look(store, { schedules: {} });
    await store.close();
    await withDriver(LIBSQL, file, (other) => rowsOf(other, "INSERT INTO escapement_schema VALUES (999, 0)"));
    await store.open(T0);
    await expect(look(store, { schedules: {} })).rejects.toThrow(/version 999.*update the library/);
    expect(driver.trips.writes).toBe(0);
  });
});

test("a check that failed is made again by the next call", async () => {
  await withDriver(LIBSQL, file, (driver) => rowsOf(driver, "CREATE TABLE escapement_jobs (mine)"));
  await withStore(async (store) => {
    await expect(look(store, { schedules: {} })).rejects.toThrow(/escapement_jobs.*tablePrefix/);
    await expect(store.getTasks()).rejects.toThrow(/escapement_jobs.*tablePrefix/);
    await withDriver(LIBSQL, file, (driver) => rowsOf(driver, "DROP TABLE escapement_jobs"));
    expect((await look(store, { schedules: {} })).due).toEqual([]);
  });
});

test("a table that is missing though the version is right is what the look says", async () => {
  await makeTables();
  await withDriver(LIBSQL, file, (driver) => rowsOf(driver, "DROP TABLE escapement_schedules"));
  await withStore(async (store) => {
    const failure = await look(store, { schedules: {} }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(String(failure)).toMatch(/no such table: .*escapement_schedules/);
  });
});
