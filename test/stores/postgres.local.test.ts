import { fileURLToPath } from "node:url";
import pg from "pg";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { StoreUnavailableError } from "../../src/core/errors.ts";
import { PostgresDataStore, type PostgresStoreClient } from "../../src/postgres.ts";
import { storeWarnings, type WarningBounds } from "../../src/stores/sql/postgres/lists/inspection.ts";
import { postgresNames } from "../../src/stores/sql/postgres/schema/names.ts";
import {
  commit,
  extend,
  finish,
  makeJob,
  makeSchedule,
  makeTask,
  T0,
} from "../../src/testing/data-store-contract/makers.ts";
import { processCommand } from "../support/bundle-process.ts";
import { Child } from "../support/child.ts";
import { freePort } from "../support/free-port.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ServerStores } from "./postgres-server-stores.ts";

const stores = new ServerStores();
const openStore = stores.open.bind(stores);

test("an idle look is one round trip, and so is a commit, however much it carries", async () => {
  let trips = 0;
  const counting: PostgresStoreClient = {
    query: (config) => {
      trips++;
      return stores.pool.query(config);
    },
  };
  const store = await openStore(counting, "trips");
  await store.putTasks([makeTask()]);
  await store.addJobs(Array.from({ length: 100 }, (_, index) => makeJob({ id: `job ${index}` })));
  const schedules = [makeSchedule({ id: "a" }), makeSchedule({ id: "b" })];
  await store.addSchedules(schedules.map((schedule) => ({ schedule, conflictPolicy: "error" })));
  trips = 0;
  const jobs = { limit: 50, queues: [{ taskId: "task", executor: "inline" }] };
  const window = { dueBy: T0, limit: 10, bytesMax: 1_000_000, after: null };
  const asked = { now: T0, schedulerId: "scheduler", jobs, schedules: window, tasks: null };
  const look = await store.look(asked);
  expect(look.due.length).toBe(2);
  expect(trips).toBe(1);
  const { acquired } = await commit(store, { commitId: "one", recover: true });
  expect(acquired.length).toBe(100);
  expect(trips).toBe(2);
});

test("many processes that start make the tables once", async () => {
  const eight = await Promise.all(Array.from({ length: 8 }, () => openStore(stores.pool, "made_once")));
  await Promise.all(eight.map((store) => store.putTasks([makeTask()])));
  expect((await stores.pool.query('SELECT version FROM "made_once".schema')).rows).toEqual([{ version: 2 }]);
});

test("tables of the version before are refused with what to do, and stay as they are", async () => {
  await (await openStore(stores.pool, "former")).putTasks([makeTask()]);
  await stores.pool.query("UPDATE former.schema SET version = 1");
  const store = new PostgresDataStore({ client: stores.pool }, { schema: "former" });
  stores.closeAfterwards(store);
  const does = "export them with the library that made them, drop the schema, and import";
  await expect(store.open(T0).then(() => store.getTasks())).rejects.toMatchObject({
    name: "StoreUnavailableError",
    message: expect.stringContaining(`of the schema former have version 1, and this library knows 2: ${does}`),
  });
  expect((await stores.pool.query("SELECT version FROM former.schema")).rows).toEqual([{ version: 1 }]);
});

test("schemaSql gives what the store would make", async () => {
  await stores.pool.query(PostgresDataStore.schemaSql({ schema: "by_hand" }));
  const store = await openStore(stores.pool, "by_hand");
  await store.putTasks([makeTask()]);
  await openStore(stores.pool, "by_itself").then((other) => other.getTasks());
  const columns = async (schema: string): Promise<unknown[]> =>
    (
      await stores.pool.query(
        "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = $1 ORDER BY 1, 2",
        [schema],
      )
    ).rows;
  expect(await columns("by_hand")).toEqual(await columns("by_itself"));
});

test("the functions of a schema obey no search path of their caller, and have no rights of their own", async () => {
  await openStore(stores.pool, "paths").then((store) => store.getTasks());
  const { rows } = await stores.pool.query(
    "SELECT proname, prosecdef, prosqlbody IS NOT NULL AS is_fixed, proconfig FROM pg_proc " +
      "WHERE pronamespace = 'paths'::regnamespace",
  );
  expect(rows.length).toBeGreaterThan(40);
  const isBound = ({ is_fixed, proconfig }: (typeof rows)[number]) =>
    is_fixed || proconfig?.includes("search_path=pg_catalog, pg_temp");
  expect(rows.filter((row) => row.prosecdef || !isBound(row))).toEqual([]);
});

test("a job of an application's transaction exists if and only if the transaction commits", async () => {
  const store = await openStore(stores.pool, "prepared");
  const client = await stores.pool.connect();
  try {
    for (const [id, ends] of [
      ["kept", "COMMIT"],
      ["gone", "ROLLBACK"],
    ] as const) {
      await client.query("BEGIN");
      const labels = { tenant: "a" };
      for (const { sql, args } of await store.prepareAddition(makeJob({ id, labels, payload: '"\\u0000"' }))) {
        await client.query(sql, args);
      }
      expect(await store.getJob(id)).toBeNull();
      await client.query(ends);
    }
  } finally {
    client.release();
  }
  expect((await store.getJob("kept"))?.payload).toBe('"\\u0000"');
  expect(await store.getJob("gone")).toBeNull();
});

test("eight processes that hammer tasks add and run each job once, and no more at a time than its limit", async () => {
  const limits = { one: 1, three: 3 };
  const count = 20;
  await stores.pool.query(
    "CREATE SCHEMA hammered; CREATE TABLE hammered.running (task text PRIMARY KEY, n integer, most integer); " +
      "CREATE TABLE hammered.runs (task text, place integer, times integer DEFAULT 1, PRIMARY KEY (task, place)); " +
      "INSERT INTO hammered.running VALUES ('one', 0, 0), ('three', 0, 0)",
  );
  const folder = await temporaryFolder();
  const program = fileURLToPath(new URL("./postgres-worker.ts", import.meta.url));
  const command = await processCommand(program, folder.path);
  const given = [stores.server.url, "hammered_jobs", JSON.stringify(limits), String(count)];
  const children = Array.from({ length: 8 }, () => new Child([...command, ...given]));
  const saysAll = async (verb: string, answer: RegExp): Promise<void> => {
    for (const { process } of children) process.stdin?.write(`${verb}\n`);
    await Promise.all(children.map((child) => child.prints(answer)));
  };
  try {
    await Promise.all(children.map((child) => child.prints(/ready/)));
    await saysAll("add", /added/);
    const ended = (): number => children.map(({ output }) => output.split("ran").length - 1).reduce((a, b) => a + b);
    const allEnded = new Promise<void>((resolve) => {
      for (const { process } of children) process.stdout?.on("data", () => ended() >= 2 * count && resolve());
    });
    await saysAll("start", /./);
    await allEnded;
    for (const { process } of children) process.stdin?.end();
    expect(await Promise.all(children.map((child) => child.ended))).toEqual(children.map(() => 0));
  } finally {
    for (const { process } of children) process.kill("SIGKILL");
    await folder.remove();
  }
  const runs = await stores.pool.query(
    "SELECT task, count(*)::int AS jobs, max(times) AS times FROM hammered.runs GROUP BY 1",
  );
  expect(runs.rows).toEqual(
    expect.arrayContaining([1, 1].map((times, place) => ({ task: ["one", "three"][place], jobs: count, times }))),
  );
  const { rows } = await stores.pool.query<{ task: "one" | "three"; most: number }>(
    "SELECT task, most FROM hammered.running",
  );
  for (const { task, most } of rows) expect(most, task).toBeLessThanOrEqual(limits[task]);
});

test("the update of a lease touches no index", async () => {
  const client = new pg.Client({ connectionString: stores.server.url });
  await client.connect();
  try {
    const store = await openStore(client, "hot");
    await store.putTasks([makeTask()]);
    await store.addJobs(Array.from({ length: 5 }, (_, index) => makeJob({ id: `job ${index}` })));
    const { acquired } = await commit(store);
    const updates = async (): Promise<unknown> => {
      await client.query("SELECT pg_stat_force_next_flush()");
      const counts = "n_tup_upd::int AS all, n_tup_hot_upd::int AS hot";
      const where = "schemaname = 'hot' AND relname = 'jobs'";
      return (await client.query(`SELECT ${counts} FROM pg_stat_user_tables WHERE ${where}`)).rows[0];
    };
    // To be acquired moves a job from one index to another.
    expect(await updates()).toEqual({ all: 5, hot: 0 });
    const running = acquired.map(({ id, fence }) => ({ jobId: id, fence, hasStarted: true }));
    expect((await extend(store, running, { until: T0 + 120_000 })).lost).toEqual([]);
    expect(await updates()).toEqual({ all: 10, hot: 5 });
  } finally {
    await client.end();
  }
});

test("a commit passes the dead entries of an index once, beside a transaction that stays open", async () => {
  const client = new pg.Client({ connectionString: stores.server.url });
  const open = await stores.pool.connect();
  await client.connect();
  try {
    const store = await openStore(client, "aged");
    await store.putTasks([makeTask()]);
    await open.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1");
    const jobs = (count: number, name: string) =>
      Array.from({ length: count }, (_, id) => makeJob({ id: `${name}${id}` }));
    const dead = 1000;
    await store.addJobs(jobs(dead, "gone"));
    for (let place = 0; place < dead / 100; place++) {
      const { acquired } = await commit(store, { commitId: `gone${place}` });
      await commit(store, { commitId: `ends${place}`, jobs: null, releases: acquired.map((job) => finish(job)) });
    }
    const entries = async (): Promise<Record<string, number>> => {
      await client.query("SELECT pg_stat_force_next_flush()");
      const names = "indexrelname IN ('jobs_ready', 'jobs_leased')";
      const sql = `SELECT indexrelname, idx_tup_read::int FROM pg_stat_user_indexes WHERE schemaname = 'aged' AND ${names}`;
      return Object.fromEntries((await client.query(sql)).rows.map(Object.values));
    };
    await store.addJobs(jobs(101, "next"));
    const before = await entries();
    const { acquired, hasReady, leaseEndsAt } = await commit(store, { commitId: "next" });
    expect([acquired.length, hasReady, leaseEndsAt]).toEqual([100, true, T0 + 60_000]);
    const after = await entries();
    for (const [name, count] of Object.entries(after)) {
      expect(count - (before[name] ?? 0), name).toBeGreaterThanOrEqual(dead);
      expect(count - (before[name] ?? 0), name).toBeLessThan(2 * dead);
    }
  } finally {
    await open.query("ROLLBACK");
    open.release();
    await client.end();
  }
});

test("a url of Prisma and Neon with several hosts is taken, and what means nothing here is told", async () => {
  const hosts = `127.0.0.1:${await freePort()},${new URL(stores.server.url).host}`;
  const others = "schema=prisma_jobs&pgbouncer=true&connection_limit=5&channel_binding=require";
  const url = stores.server.url.replace(/127\.0\.0\.1:\d+/, hosts);
  const store = new PostgresDataStore({ url: `${url}?${others}` });
  await store.open(T0);
  stores.closeAfterwards(store);
  await store.putTasks([makeTask()]);
  expect((await stores.pool.query("SELECT count(*)::int AS n FROM prisma_jobs.tasks")).rows).toEqual([{ n: 1 }]);
  const { warnings = [] } = await store.inspect(T0);
  const told = warnings.filter(({ code }) => code === "urlParameters").map(({ message }) => message);
  expect(told).toEqual([expect.stringMatching(/pgbouncer, connection_limit, channel_binding/)]);
});

test("a server that refuses the user is a store that is unavailable", async () => {
  const url = `postgres://nobody@127.0.0.1:${stores.server.port}/postgres`;
  const store = new PostgresDataStore({ url }, { retry: { maxAttempts: 1 } });
  stores.closeAfterwards(store);
  await store.open(T0);
  await expect(store.getTasks()).rejects.toThrow(StoreUnavailableError);
});

test.each(["on", "off"])("a text keeps characters that PostgreSQL has not, standard strings %s", async (setting) => {
  const options = `-c standard_conforming_strings=${setting}`;
  const client = new pg.Pool({ connectionString: stores.server.url, max: 1, options });
  onTestFinished(() => client.end());
  const store = await openStore(client, `characters_${setting}`);
  const id = "[a\0\ud83d\ude00";
  await store.putTasks([makeTask({ id, metadata: { "\0": ["\0", "\\u0000"] } })]);
  expect(await store.getTask(id)).toMatchObject({ id, metadata: { "\0": ["\0", "\\u0000"] } });
  await store.addJobs([makeJob({ id, taskId: id, payload: '"\\ud83d \\u0000 \0"' })]);
  expect(await store.getJob(id)).toMatchObject({ id, taskId: id, payload: '"\\ud83d \\u0000 \0"' });
});

test("warns of a transaction that stays open, also of another user's, and of a table of dead rows", async () => {
  const store = await openStore(stores.pool, "warned");
  await store.putTasks([makeTask()]);
  const names = postgresNames("warned");
  const warned = async (client: pg.ClientBase | pg.Pool, bounds: Partial<WarningBounds>): Promise<string[]> => {
    const never = { openSeconds: 1_000_000, transactions: 1_000_000_000, deadRows: 1_000_000_000 };
    const { rows } = await client.query(storeWarnings(names, { ...never, ...bounds }));
    return ((rows[0] as { json_agg: string | null }).json_agg ?? "").match(/"code":"\w+"/g) ?? [];
  };
  expect((await store.inspect(T0)).warnings).toBeUndefined();
  const [open, watcher] = [await stores.pool.connect(), await stores.pool.connect()];
  try {
    await watcher.query("CREATE ROLE watcher; GRANT USAGE ON SCHEMA warned TO watcher");
    await open.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1");
    expect(await warned(stores.pool, { openSeconds: 0 })).toEqual(['"code":"oldTransaction"']);
    await stores.pool.query("SELECT pg_current_xact_id(); SELECT pg_current_xact_id()");
    // It is not shown when the transaction of another user began.
    await watcher.query("SET ROLE watcher");
    expect(await warned(watcher, { openSeconds: 0 })).toEqual([]);
    expect(await warned(watcher, { transactions: 0 })).toEqual(['"code":"oldTransaction"']);
    await watcher.query("RESET ROLE; DELETE FROM warned.tasks; SELECT pg_stat_force_next_flush()");
    expect(await warned(watcher, { deadRows: 0 })).toEqual(['"code":"deadRows"']);
  } finally {
    await open.query("ROLLBACK");
    open.release();
    watcher.release();
  }
});

describe("roles with the least rights", () => {
  const schema = "roles";
  const urlOf = (role: string): string => stores.server.urlWith("secret").replace("//postgres:", `//${role}:`);
  const openAs = async (role: string): Promise<PostgresDataStore> => {
    const store = new PostgresDataStore({ url: urlOf(role) }, { schema, retry: { maxAttempts: 1 } });
    stores.closeAfterwards(store);
    await store.open(T0);
    return store;
  };
  beforeAll(async () => {
    for (const role of ["job_owner", "job_worker", "job_reader"]) {
      await stores.pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
    }
    await stores.pool.query(`CREATE SCHEMA ${schema} AUTHORIZATION job_owner`);
    const owner = new pg.Client({ connectionString: urlOf("job_owner") });
    await owner.connect();
    // As docs/stores.md has it.
    await owner.query(PostgresDataStore.schemaSql({ schema }));
    await owner.query(`
      GRANT USAGE ON SCHEMA ${schema} TO job_worker, job_reader;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO job_worker;
      GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO job_reader;`);
    await owner.end();
  });

  test("a worker does all that schedulers do, and changes no table", async () => {
    const store = await openAs("job_worker");
    const worker = new pg.Client({ connectionString: urlOf("job_worker") });
    await worker.connect();
    try {
      await store.putTasks([makeTask({ maxRunningJobs: 5 })]);
      await store.addSchedules([{ schedule: makeSchedule(), conflictPolicy: "error" }], { at: T0, by: "somebody" });
      const labels = { tenant: "a" };
      await store.addJobs([makeJob({ labels, concurrencyKey: "k", idempotencyKey: "i" }), makeJob({ id: "other" })]);
      const { acquired } = await commit(store, { recover: true, schedules: {}, overdue: true, endsPauses: true });
      await commit(store, { jobs: null, releases: acquired.map((job) => finish(job)) });
      await store.cleanup({ now: T0, limit: 10 });
      expect((await store.getJobResults({ limit: 10, cursor: null }, T0)).items.length).toBe(2);
      for (const sql of [`DROP TABLE ${schema}.jobs`, `CREATE TABLE ${schema}.mine ()`, `TRUNCATE ${schema}.jobs`]) {
        await expect(worker.query(sql)).rejects.toMatchObject({ code: "42501" });
      }
    } finally {
      await worker.end();
    }
  });

  test("a reader sees everything, and writes nothing", async () => {
    await (await openAs("job_worker")).putTasks([makeTask()]);
    const store = await openAs("job_reader");
    expect((await store.getTasks()).map(({ id }) => id)).toEqual(["task"]);
    expect((await store.inspect(T0, { checksWrites: true })).oldestDueJob).toBeNull();
    await store.getJobs({ limit: 10, cursor: null, labels: { tenant: "a" } });
    const refused = expect(store.addJobs([makeJob()])).rejects;
    await refused.toThrow(StoreUnavailableError);
    await expect(store.addJobs([makeJob()])).rejects.toThrow(/give this user the rights that the schema needs/);
  });

  test("who may not make the schema is told so", async () => {
    const options = { schema: "not_there", retry: { maxAttempts: 1 } };
    const store = new PostgresDataStore({ url: urlOf("job_worker") }, options);
    stores.closeAfterwards(store);
    await store.open(T0);
    await expect(store.getTasks()).rejects.toThrow(/permission denied for database.*give this user the rights/);
  });
});
