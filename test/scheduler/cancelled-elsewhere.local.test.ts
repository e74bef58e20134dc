import { join } from "node:path";
import pg from "pg";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { Scheduler } from "../../src/mod.ts";
import { PostgresDataStore } from "../../src/postgres.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { LoopbackProxy } from "../support/loopback-proxy.ts";
import { PgBouncer } from "../support/pgbouncer.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { heldHandler } from "./support.ts";

let server: PostgresServer;
let bouncer: PgBouncer;
let pool: pg.Pool;
let client: postgres.Sql;
beforeAll(async () => {
  server = await PostgresServer.start();
  bouncer = await PgBouncer.start(server);
  pool = new pg.Pool({ connectionString: server.url });
  client = postgres(server.url, { onnotice: () => {} });
});
afterAll(async () => {
  await Promise.all([pool.end(), client.end()]);
  await bouncer.stop();
  await server.stop();
});

let schemas = 0;

/** Two stores on the same data, as two processes have them. */
async function file(): Promise<() => DataStore> {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  return () => new LibsqlDataStore({ url: `file:${join(folder.path, "jobs.db")}` });
}

function onServer(
  connection: () => ConstructorParameters<typeof PostgresDataStore>[0],
): () => Promise<() => DataStore> {
  return async () => {
    const schema = `cancelled_${++schemas}`;
    return () => new PostgresDataStore(connection(), { schema });
  };
}

function scheduler(dataStore: DataStore, options: { role?: "worker" | "scheduler"; lease?: string } = {}): Scheduler {
  const { lease = "PT1H", ...others } = options;
  const made = new Scheduler({ dataStore, leaseDuration: lease, maxIdle: "PT1S", logLevel: "silent", ...others });
  onTestFinished(async () => {
    await made.stop({ drainTimeout: "PT0S" });
    await dataStore.close();
  });
  return made;
}

/** The processes of the server that listen. */
async function ears(): Promise<number[]> {
  const { rows } = await pool.query("select pid from pg_stat_activity where query ilike 'listen %' order by pid");
  return rows.map(({ pid }) => pid);
}

describe.each([
  ["a file", file],
  ["PostgreSQL by its url", onServer(() => ({ url: server.url }))],
  ["a pool of pg", onServer(() => ({ client: pool }))],
  ["a client of postgres.js", onServer(() => ({ client }))],
])("without a broker, a worker on %s", (name, stores) => {
  // The next heartbeat would come after twenty minutes.
  test("hears that a job of its is cancelled, and which one", async () => {
    const store = await stores();
    const worker = scheduler(store());
    const other = scheduler(store());
    const { handler, held } = heldHandler();
    const task = worker.task("t", { maxRunningJobs: 2 }, handler);
    await worker.start();
    if (name !== "a file") await until(async () => (await ears()).length > 0);
    const [first, second] = await worker.addJobs([{ task }, { task }]);
    await until(() => held.length === 2);
    const signals = new Map(held.map(({ context }) => [context.job.id, context.signal]));
    expect(await other.cancelJob(first?.id ?? "")).toBe("asked");
    await aborted(signals.get(first?.id ?? ""));
    expect(signals.get(second?.id ?? "")?.aborted).toBe(false);
    expect(await worker.cancelJob(second?.id ?? "")).toBe("delivered");
    for (const { finish } of held) finish("ended");
    const ended = await Promise.allSettled([first, second].map((job) => job?.wait()));
    expect(ended.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await other.cancelJob(first?.id ?? "")).toBe("tooLate");
  });

  test('hears of a fire that cancels the run before, by overlap: "cancelRunning"', async () => {
    const store = await stores();
    const worker = scheduler(store(), { role: "worker" });
    const planner = scheduler(store(), { role: "scheduler" });
    const { handler, held } = heldHandler();
    worker.task("t", { maxRunningJobs: 1 }, handler);
    await worker.start();
    if (name !== "a file") await until(async () => (await ears()).length > 0);
    await planner.start();
    await planner.addSchedule("t", { every: "PT1S" }, { id: "s", overlap: "cancelRunning" });
    await until(() => held.length === 1);
    await aborted(held[0]?.context.signal);
    await planner.removeSchedule("s");
    expect(held[0]?.context.signal.reason).toMatchObject({ code: "jobCancelled" });
    held[0]?.finish("ended");
  });
});

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await systemClock.sleep(systemClock.now() + 20);
}

/** Resolves when a signal is aborted. */
function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    signal?.addEventListener("abort", () => resolve());
  });
}

describe("what listens on PostgreSQL", () => {
  test("is made anew at a heartbeat when it was lost, and ends with its scheduler", async () => {
    const worker = scheduler(new PostgresDataStore({ url: server.url }, { schema: "ears" }), { lease: "PT3S" });
    worker.task("t", () => {});
    await worker.start();
    await until(async () => (await ears()).length === 1);
    const [first] = await ears();
    await pool.query("select pg_terminate_backend($1)", [first]);
    await until(async () => (await ears()).some((pid) => pid !== first));
    await worker.stop();
    await until(async () => (await ears()).length === 0);
  });

  test.each([
    ["its url", (url: string) => ({ url })],
    ["a pool of pg", (connectionString: string) => ({ client: new pg.Pool({ connectionString }) })],
    ["a client of postgres.js", (url: string) => ({ client: postgres(url) })],
  ])("ends without an answer of a network that is silent, over %s", async (_, connectionTo) => {
    const proxy = await LoopbackProxy.start(server.port);
    const store = new PostgresDataStore(connectionTo(server.urlAt(proxy.port)));
    const count = (await ears()).length;
    for (const isReady of [() => true, async () => (await ears()).length > count]) {
      const hearing = new AbortController();
      const { connections } = proxy;
      store.hearCancellations(() => {}, hearing.signal);
      await until(async () => proxy.connections > connections && (await isReady()));
      proxy.silence();
      hearing.abort();
      await proxy.left();
    }
    await proxy.stop();
  });

  test.each([
    ["its url", () => ({ url: bouncer.urlOf("transaction") })],
    ["a pool of pg", () => ({ client: new pg.Pool({ connectionString: bouncer.urlOf("transaction") }) })],
    ["a client of postgres.js", () => ({ client: postgres(bouncer.urlOf("transaction"), { onnotice: () => {} }) })],
  ])("is not left in a pool that lends its connections for one transaction each, over %s", async (_, connection) => {
    const dataStore = new PostgresDataStore(connection(), { schema: "pooled" });
    const worker = scheduler(dataStore, { lease: "PT3S" });
    const { handler, held } = heldHandler();
    worker.task("t", handler);
    await worker.start();
    const { id } = await worker.addJob("t");
    await until(() => held.length === 1);
    expect(await scheduler(new PostgresDataStore({ url: server.url }, { schema: "pooled" })).cancelJob(id)).toBe(
      "asked",
    );
    await aborted(held[0]?.context.signal);
    expect(await ears()).toEqual([]);
    held[0]?.finish("ended");
  });
});
