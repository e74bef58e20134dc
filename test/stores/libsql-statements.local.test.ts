import { createClient } from "@libsql/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StoreUnavailableError } from "../../src/core/errors.ts";
import { type LibsqlClient, LibsqlDataStore, type SqlStatement } from "../../src/stores/libsql/mod.ts";
import { tableNames } from "../../src/stores/sqlite/schema.ts";
import { makeStatements } from "../../src/stores/sqlite/statements.ts";
import {
  add,
  finish,
  makeJob,
  makeJobs,
  makeSchedule,
  makeTask,
  numbered,
  T0,
  take,
  takeSchedules,
} from "../../src/testing/data-store-contract/makers.ts";

/** A client that counts its round trips. */
function counting(inner: LibsqlClient): LibsqlClient & { trips: number; statements: SqlStatement[] } {
  const counter = {
    trips: 0,
    statements: [] as SqlStatement[],
    protocol: "file",
    execute(statement: SqlStatement) {
      counter.trips++;
      counter.statements.push(statement);
      return inner.execute(statement);
    },
    batch(statements: SqlStatement[], mode: "write") {
      counter.trips++;
      counter.statements.push(...statements);
      return inner.batch(statements, mode);
    },
    close: () => inner.close(),
  };
  return counter;
}

describe("statements of LibsqlDataStore", () => {
  const statements = Object.entries(makeStatements(tableNames("escapement_"))).flatMap(([name, sql]) =>
    typeof sql === "string"
      ? [{ name, sql }]
      : Object.entries(sql).map(([key, text]) => ({ name: `${name}[${key}]`, sql: String(text) })),
  );
  const client = createClient({ url: ":memory:" });
  let tables: string[] = [];

  beforeAll(async () => {
    const store = new LibsqlDataStore({ client });
    await store.open(T0);
    const found = await client.execute("SELECT name FROM sqlite_master WHERE type = 'table'");
    tables = found.rows.map((row) => String(row[0]));
  });
  afterAll(() => client.close());

  /** Steps of the plan that read a table, or an index, from end to end. */
  async function fullScans(sql: string): Promise<string[]> {
    const plan = await client.execute(`EXPLAIN QUERY PLAN ${sql}`);
    // The plan names a table by its alias.
    const aliases = [...sql.matchAll(/\bescapement_\w+ (?:AS )?([a-z])\b/g)].map((match) => match[1]);
    const names = [...tables, ...aliases];
    return plan.rows
      .map((row) => String(row.detail))
      .filter((step) => names.includes(/^SCAN (\w+)/.exec(step)?.[1] ?? ""));
  }

  test("the test sees a full scan, also of an aliased table and of an index", async () => {
    expect(await fullScans("SELECT * FROM escapement_jobs WHERE fence = 1")).not.toEqual([]);
    expect(await fullScans("SELECT * FROM json_each('[]') e JOIN escapement_jobs j ON j.fence = e.value")).not.toEqual(
      [],
    );
    expect(await fullScans("SELECT id FROM escapement_jobs")).not.toEqual([]);
  });

  for (const { name, sql } of statements) {
    test(`${name} reads no table from end to end`, async () => {
      expect(await fullScans(sql)).toEqual([]);
    });
  }
});

describe("round trips of LibsqlDataStore", () => {
  async function openCounting(): Promise<{ store: LibsqlDataStore; client: ReturnType<typeof counting> }> {
    const client = counting(createClient({ url: ":memory:" }));
    const store = new LibsqlDataStore({ client });
    await store.open(T0);
    return { store, client };
  }

  /** Round trips of one call. */
  async function tripsOf(client: { trips: number }, call: () => Promise<unknown>): Promise<number> {
    const before = client.trips;
    await call();
    return client.trips - before;
  }

  for (const count of [1, 500]) {
    test(`processing ${count} due schedules and ${count} jobs takes a constant number`, async () => {
      const { store, client } = await openCounting();
      await store.putTasks([makeTask()]);
      const schedules = Array.from({ length: count }, (_, index) => makeSchedule({ id: numbered("s", index) }));
      expect(await tripsOf(client, () => store.addSchedules(add(...schedules)))).toBe(1);
      const trips = await tripsOf(client, async () => {
        const due = await takeSchedules(store, { limit: count });
        await store.commitPlans({
          schedulerId: "scheduler-a",
          plans: due.schedules.map(({ id, fence }) => ({
            scheduleId: id,
            fence,
            jobs: [makeJob({ id: `job ${id}`, scheduleId: id, fireTime: T0 })],
            nextFireTime: null,
            lastFireTime: T0,
            paused: false,
          })),
        });
        const { acquired } = await take(store, { limit: count });
        expect(acquired.length).toBe(count);
        const last = await take(store, { releases: acquired.map((job) => finish(job)) });
        expect(last.releases.every((status) => status === "released")).toBe(true);
      });
      // Acquire the schedules, commit their plans, acquire the jobs, release them.
      expect(trips).toBe(4);
    });
  }

  test("every other call takes one, a turn that recovers or is fenced two", async () => {
    const { store, client } = await openCounting();
    expect(await tripsOf(client, () => store.putTasks([makeTask()]))).toBe(1);
    expect(await tripsOf(client, () => store.addJobs(makeJobs(1000)))).toBe(1);
    expect(await tripsOf(client, () => store.getJob("job-00000"))).toBe(1);
    expect(await tripsOf(client, () => store.getJobs({ limit: 10, cursor: null }))).toBe(1);
    expect(await tripsOf(client, () => store.cancelJob("job-00000", T0))).toBe(1);
    const { acquired } = await take(store);
    const jobs = acquired.map(({ id, fence }) => ({ jobId: id, fence }));
    const extension = { schedulerId: "scheduler-a", until: T0 + 1, jobs };
    expect(await tripsOf(client, () => store.extendLeases(extension))).toBe(1);
    expect(await tripsOf(client, () => take(store, { now: T0 + 1 }))).toBe(2);
    expect(await tripsOf(client, () => take(store, { releases: acquired.map((job) => finish(job)) }))).toBe(2);
    expect(await tripsOf(client, () => store.giveUpLeases({ now: T0, schedulerId: "x" }))).toBe(1);
    expect(await tripsOf(client, () => store.cleanup({ now: T0, limit: 10 }))).toBe(1);
  });

  test("additions that are asked for at once, and while one is in flight, travel together", async () => {
    const { store, client } = await openCounting();
    const trips = await tripsOf(client, () =>
      Promise.all(Array.from({ length: 200 }, (_, index) => store.addJobs([makeJob({ id: numbered("a", index) })]))),
    );
    expect(trips).toBe(1);
  });

  test("a job that the database refuses does not fail the additions that travel with it", async () => {
    const { store } = await openCounting();
    // NaN is no JSON, so the row has no priority, which the table refuses.
    const bad = store.addJobs([makeJob({ id: "bad", priority: Number.NaN })]);
    const good = store.addJobs([makeJob({ id: "good" })]);
    await expect(bad).rejects.toBeInstanceOf(StoreUnavailableError);
    expect((await good)[0]?.isNew).toBe(true);
  });
});

describe("a hundred thousand delayed jobs of high priority", () => {
  const client = counting(createClient({ url: ":memory:" }));
  const store = new LibsqlDataStore({ client });
  beforeAll(async () => {
    await store.open(T0);
    const late = { priority: 100, runAt: T0 + 1_000_000 };
    for (let round = 0; round < 20; round++) {
      await store.addJobs(
        Array.from({ length: 5000 }, (_, index) => makeJob({ id: numbered(`late-${round}`, index), ...late })),
      );
    }
  });
  afterAll(() => client.close?.());

  /** The most steps of SQLite's virtual machine that one of the statements took. They are listed until collected. */
  async function stepsMax(statements: readonly SqlStatement[]): Promise<number> {
    const texts = JSON.stringify(statements.map(({ sql }) => sql));
    const sql = "SELECT max(nstep) FROM sqlite_stmt WHERE sql IN (SELECT value FROM json_each(?))";
    return Number((await client.execute({ sql, args: [texts] })).rows[0]?.[0]);
  }

  test("cost an acquisition nothing", async () => {
    for (let round = 0; round < 5; round++) {
      await store.addJobs([makeJob({ id: `ready-${round}` })]);
      client.statements.length = 0;
      const { acquired } = await take(store);
      expect(acquired.map(({ id }) => id)).toEqual([`ready-${round}`]);
      expect(await stepsMax(client.statements)).toBeGreaterThan(0);
      expect(await stepsMax(client.statements)).toBeLessThan(2000);
    }
  });

  test("would be seen if they were read", async () => {
    const statement = { sql: "SELECT count(*) FROM escapement_jobs WHERE fence = 1", args: [] };
    await client.execute(statement);
    expect(await stepsMax([statement])).toBeGreaterThan(100_000);
  });
});
