import { dirname } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { StoreUnavailableError } from "../../src/core/errors.ts";
import { Scheduler } from "../../src/mod.ts";
import { PostgresDataStore, type PostgresStoreClient } from "../../src/postgres.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { makeJob, makeTask, T0 } from "../../src/testing/data-store-contract/makers.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { SmallDisk } from "../support/small-disk.ts";

/** However long a busy machine takes to start the server. */
const PATIENT = { maxAttempts: 10_000, maxDuration: "5m", backoff: { max: { milliseconds: 50 } } } as const;

let server: PostgresServer;
let pool: pg.Pool;
const opened: DataStore[] = [];
beforeAll(async () => {
  server = await PostgresServer.start();
  pool = new pg.Pool({ connectionString: server.url });
  pool.on("error", () => {});
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});
afterAll(async () => {
  await pool?.end();
  await server?.stop();
});

async function openStore(client: PostgresStoreClient, schema: string): Promise<PostgresDataStore> {
  const store = new PostgresDataStore({ client }, { schema, retry: { backoff: { max: { milliseconds: 50 } } } });
  opened.push(store);
  await store.open(T0);
  await store.putTasks([makeTask()]);
  return store;
}

test("a write that statement_timeout cuts off while others hold the lock is tried again", async () => {
  let failures = 0;
  let onCut = (): void => {};
  const cut = new Promise<void>((resolve) => {
    onCut = resolve;
  });
  const impatient = new pg.Pool({ connectionString: server.url, statement_timeout: 100 });
  const watched: PostgresStoreClient = {
    query: (config) =>
      impatient.query(config).catch((error) => {
        if (++failures === 2) onCut();
        throw error;
      }),
  };
  const store = await openStore(watched, "timeouts");
  const other = await pool.connect();
  try {
    await other.query("BEGIN");
    await other.query("SELECT pg_advisory_xact_lock(hashtextextended('escapement timeouts', 0))");
    const added = store.addJobs([makeJob()]);
    await cut;
    await other.query("COMMIT");
    expect((await added).length).toBe(1);
    expect((await store.getJobs({ limit: 10, cursor: null })).items.length).toBe(1);
  } finally {
    other.release();
    await impatient.end();
  }
});

test("a write that waits for the lock is cut off by the server before the store gives it up, and is tried again", async () => {
  let cuts = 0;
  let onCut = (): void => {};
  const cut = new Promise<void>((resolve) => {
    onCut = resolve;
  });
  const watched: PostgresStoreClient = {
    query: (config) =>
      pool.query(config).catch((error) => {
        if (error.code === "55P03" && ++cuts === 2) onCut();
        throw error;
      }),
  };
  const store = new PostgresDataStore({ client: watched }, { schema: "locked", timeout: "1s" });
  opened.push(store);
  await store.open(T0);
  await store.putTasks([makeTask()]);
  const other = await pool.connect();
  try {
    await other.query("BEGIN");
    await other.query("SELECT pg_advisory_xact_lock(hashtextextended('escapement locked', 0))");
    const added = store.addJobs([makeJob()]);
    await cut;
    await other.query("COMMIT");
    expect((await added).length).toBe(1);
    expect((await store.inspect(T0)).warnings).toBeUndefined();
  } finally {
    other.release();
  }
});

test("a pool that nobody listens to ends no process when its connections are lost, and a warning tells of it", async () => {
  const unheard = new pg.Pool({ connectionString: server.url });
  const store = await openStore(unheard, "unheard");
  const codes = async () => ((await store.inspect(T0)).warnings ?? []).map(({ code }) => code);
  expect(await codes()).toContain("unheardErrors");
  const lost = new Promise((resolve) => unheard.once("remove", resolve));
  await pool.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()");
  await lost;
  expect((await store.getTasks()).length).toBe(1);
  unheard.on("error", () => {});
  expect(await codes()).not.toContain("unheardErrors");
  await unheard.end();
});

test("a server that takes no writes is a store that is unavailable, until it takes them again", async () => {
  const readOnly = new pg.Pool({
    connectionString: server.url,
    options: "-c default_transaction_read_only=on",
  });
  let asked = pool;
  const store = await openStore({ query: (config) => asked.query(config) }, "read_only");
  asked = readOnly;
  const refused = await store.addJobs([makeJob()]).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(StoreUnavailableError);
  expect(String(refused)).toMatch(/read-only transaction; the server takes no writes; give the address of the primary/);
  expect(await store.getTasks()).toHaveLength(1);
  await expect(store.inspect(T0, { checksWrites: true })).rejects.toThrow(StoreUnavailableError);
  asked = pool;
  await store.addJobs([makeJob()]);
  expect((await store.inspect(T0, { checksWrites: true })).tasks).toMatchObject([{ waiting: 1 }]);
  await readOnly.end();
});

test("a disk that is full refuses a job, loses none that was added, and is used again once it has room", async ({
  skip,
}) => {
  const disk = await SmallDisk.mount(24_000);
  if (typeof disk === "string") return skip(disk);
  try {
    for (const path of [dirname(disk.path), disk.path]) await server.giveFolder(path);
    await pool.query(`CREATE TABLESPACE small LOCATION '${disk.path}'`);
    await pool.query("CREATE DATABASE small TABLESPACE small");
    const small = new pg.Pool({ connectionString: server.url.replace(/postgres$/, "small") });
    const store = await openStore(small, "escapement");
    const payload = JSON.stringify(Array.from({ length: 20_000 }, (_, index) => `${(index * 7919) % 99_991}`));
    const added: string[] = [];
    let failure: unknown = null;
    while (failure === null) {
      const id = `job ${String(added.length).padStart(5, "0")}`;
      failure = await store.addJobs([makeJob({ id, payload })]).then(
        () => null,
        (error: unknown) => error,
      );
      if (failure === null) added.push(id);
    }
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(String(failure)).toMatch(/the disk of the server is full; free space and try again/);
    const check = () => store.inspect(T0, { checksWrites: true });
    for (let tries = 0; tries < 3; tries++) await expect(check()).rejects.toThrow(/the disk of the server is full/);
    await disk.resize(200_000);
    expect((await check()).tasks).toMatchObject([{ waiting: added.length }]);
    await store.addJobs([makeJob({ id: "last" })]);
    const { rows } = await small.query("SELECT id FROM escapement.jobs ORDER BY id");
    expect(rows.map(({ id }) => id)).toEqual([...added, "last"]);
    await store.close();
    await small.end();
    await pool.query("DROP DATABASE small");
    await pool.query("DROP TABLESPACE small");
  } finally {
    await disk.remove();
  }
});

test("a scheduler goes on after its connections were ended, and after the server was", async () => {
  const dataStore = new PostgresDataStore({ client: pool }, { schema: "restarts", retry: PATIENT });
  await using scheduler = new Scheduler({ dataStore, maxIdle: { milliseconds: 100 }, logLevel: "silent" });
  const task = scheduler.task("add", ([a, b]: readonly [number, number]) => a + b);
  await scheduler.start();
  expect(await scheduler.runJob(task, { payload: [1, 1] })).toBe(2);
  await pool
    .query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend'")
    .catch(() => {});
  expect(await scheduler.runJob(task, { payload: [1, 2] })).toBe(3);
  // The server of the tests commits before it writes, so that a kill may take back what is half a second old.
  await pool.query("CHECKPOINT");
  await server.kill();
  const during = scheduler.runJob(task, { payload: [1, 3] });
  await server.resume();
  expect(await during).toBe(4);
  expect((await scheduler.health()).isStoreReached).toBe(true);
});
