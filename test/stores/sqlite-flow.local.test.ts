import { join } from "node:path";
import { createClient } from "@libsql/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { JobRecord } from "../../src/records/job.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import type { Row, SqlStatement } from "../../src/stores/sql/driver/driver-and-failures.ts";
import type { SqlDataStore } from "../../src/stores/sql/sqlite/store.ts";
import {
  add,
  cancel,
  commit,
  commitPlans,
  extend,
  finish,
  fireOf,
  LEASE_MS,
  look,
  makeJob,
  makeJobs,
  makeSchedule,
  makeTask,
  numbered,
  planOf,
  QUEUE,
  release,
  T0,
  take,
  updateSchedule,
} from "../../src/testing/data-store-contract/makers.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { LIBSQL, openWithTables } from "./local-stores.ts";

/** A database in memory, on which any number of stores can be opened, and the statements that they send. */
class Database {
  readonly #client = createClient({ url: ":memory:" });
  readonly sent: SqlStatement[] = [];
  readonly #stores: SqlDataStore[] = [];

  /** A store that has seen nothing of the database yet. */
  async open(): Promise<SqlDataStore> {
    const client = {
      protocol: "file",
      execute: (statement: SqlStatement) => this.#run([statement], () => this.#client.execute(statement)),
      batch: (statements: SqlStatement[], mode: "write") =>
        this.#run(statements, () => this.#client.batch(statements, mode)),
      close: () => undefined,
    };
    const store = new LibsqlDataStore({ client });
    this.#stores.push(store);
    await openWithTables(store);
    return store;
  }

  #run<T>(statements: readonly SqlStatement[], run: () => T): T {
    this.sent.push(...statements);
    return run();
  }

  /** The statements that a call sends. */
  async sentBy(call: () => Promise<unknown>): Promise<string[]> {
    this.sent.length = 0;
    await call();
    return this.sent.map(({ sql }) => sql);
  }

  async rows(sql: string, ...args: (string | number)[]): Promise<Row[]> {
    return (await this.#client.execute({ sql, args })).rows.map((row) => ({ ...row }));
  }

  /** The most steps of SQLite's virtual machine that a statement of a call took. */
  async stepsOf(call: () => Promise<unknown>): Promise<number> {
    const before = await this.#listed();
    await call();
    const fresh = [...(await this.#listed())].filter(([statement, count]) => count > (before.get(statement) ?? 0));
    return Math.max(0, ...fresh.map(([statement]) => Number(statement.split(" ", 1)[0])));
  }

  /** SQLite lists every statement until it is collected: how often each with each number of steps. */
  async #listed(): Promise<Map<string, number>> {
    const own = "SELECT nstep || ' ' || sql AS statement, count(*) AS n FROM sqlite_stmt WHERE run > 0 GROUP BY 1";
    const rows = (await this.rows(own)).map(({ statement, n }) => [String(statement), Number(n)] as const);
    return new Map(rows.filter(([statement]) => !statement.includes("FROM sqlite_stmt")));
  }

  async close(): Promise<void> {
    for (const store of this.#stores) await store.close();
    this.#client.close();
  }
}

let database: Database;
let store: SqlDataStore;

beforeEach(async () => {
  database = new Database();
  store = await database.open();
});
afterEach(() => database.close());

function keyed(id: string, concurrencyKey: string, fields: Partial<JobRecord> = {}): JobRecord {
  return makeJob({ id, concurrencyKey, ...fields });
}

async function taken(by: SqlDataStore, fields: Parameters<typeof take>[1] = {}): Promise<string[]> {
  return (await take(by, fields)).acquired.map(({ id }) => id);
}

async function limiters(): Promise<unknown[]> {
  return (await database.rows("SELECT key FROM escapement_key_limiters ORDER BY task_id, key")).map(({ key }) => key);
}

describe("a database without flow control", () => {
  const isAboutLimiters = (sql: string): boolean =>
    /escapement_key_limiters|\bvirtual_time = /.test(sql.replace("AS has_flow", ""));

  test("is stepped by as many statements as before, of which only the look asks for key limiters", async () => {
    await store.putTasks([makeTask()]);
    await store.addJobs(makeJobs(3));
    const added = await database.sentBy(() => store.addJobs([makeJob({ id: "one" })]));
    expect(added.length).toBe(1);
    let held: readonly JobRecord[] = [];
    const acquiring = await database.sentBy(async () => {
      held = (await commit(store)).acquired;
    });
    expect([acquiring.length, held.length]).toEqual([3, 4]);
    const releasing = await database.sentBy(() => commit(store, { releases: held.map((job) => finish(job)) }));
    // The results, the counts of the ends, the removal with its guard, the acquisition, and the look.
    expect(releasing.length).toBe(7);
    const recovering = await database.sentBy(() => take(store));
    // Recovery marks the limiters of the jobs that were lost, if these have keys. It keeps the last failures, counts the
    // ends, and the failures in a row, and pauses the schedules with too many, which takes four statements with the
    // ledger.
    expect([recovering.length, recovering.filter(isAboutLimiters).length]).toEqual([15, 3]);
    for (const sent of [acquiring, releasing]) {
      expect([
        sent.slice(0, -1).filter(isAboutLimiters),
        sent.filter((sql) => sql.includes("has_flow")).length,
      ]).toEqual([[], 1]);
    }
    expect((await database.sentBy(() => look(store))).length).toBe(1);
    expect((await database.sentBy(() => extend(store, []))).length).toBe(1);
  });

  test("is stepped so again when the last limit and the last key are gone", async () => {
    await store.addJobs([keyed("a", "k")]);
    const { acquired } = await take(store);
    expect((await database.sentBy(() => commit(store))).length).toBeGreaterThan(3);
    await commit(store, { releases: acquired.map((job) => finish(job)) });
    await store.cleanup({ now: T0, limit: 10 });
    await look(store);
    expect(await limiters()).toEqual([]);
    expect((await database.sentBy(() => commit(store))).length).toBe(3);
  });
});

describe("a task with limits", () => {
  test("takes as many statements whatever the number of its keys and jobs", async () => {
    await store.putTasks([makeTask({ maxRunningPerKey: 1, rateLimit: { limit: 10, perMs: 1, burst: 100 } })]);
    const counts: number[] = [];
    for (const count of [1, 10, 300]) {
      await store.addJobs(
        Array.from({ length: 3 * count }, (_, index) => keyed(`${count} ${index}`, `${index % count}`)),
      );
      let held: readonly JobRecord[] = [];
      const first = await database.sentBy(async () => {
        held = (await commit(store, { limit: 50 })).acquired;
      });
      const second = await database.sentBy(() => commit(store, { releases: held.map((job) => finish(job)) }));
      counts.push(first.length, second.length);
    }
    expect(new Set(counts.filter((_, place) => place % 2 === 0)).size).toBe(1);
    expect(new Set(counts.filter((_, place) => place % 2 === 1)).size).toBe(1);
  });

  test("leaves no trace of turns in what people see, nor a forgotten limiter", async () => {
    await store.putTasks([makeTask({ fair: true })]);
    await store.addJobs([keyed("a", "k", { runAt: T0 - 5 }), keyed("b", "l", { runAt: T0 - 3 })]);
    await take(store, { queues: [{ executor: "none", taskId: "task" }] });
    expect((await store.inspect(T0)).oldestDueJob).toMatchObject({ runAt: T0 - 5 });
    await database.rows("UPDATE escapement_key_limiters SET dirty_since = NULL");
    await store.addJobs(makeJobs(40, { concurrencyKey: "k" }));
    await take(store, { limit: 10 });
    await database.rows("UPDATE escapement_key_limiters SET dirty_since = NULL");
    await store.cleanup({ now: T0, limit: 10 });
    expect((await look(store)).hasReady).toBe(true);
    expect((await take(store)).acquired.length).toBeGreaterThan(6);
  });

  test("keeps its limiters as long as they have jobs, a pause or a debt of tokens, and a minute longer", async () => {
    await store.putTasks([makeTask({ rateLimit: { limit: 1, perMs: 1000, burst: 1 } })]);
    await store.pauseTask({ taskId: "task", key: "paused", paused: true, now: T0 });
    await store.addJobs([keyed("a", "k"), keyed("late", "later", { runAt: T0 + 90_000 })]);
    const { acquired } = await take(store);
    await commit(store, { releases: acquired.map((job) => finish(job)) });
    await store.cleanup({ now: T0 + 60_999, limit: 10 });
    expect(await limiters()).toEqual(["", "k", "later", "paused"]);
    await store.cleanup({ now: T0 + 61_000, limit: 10 });
    expect(await limiters()).toEqual(["", "later", "paused"]);
  });
});

describe("a store that has not seen flow control yet", () => {
  let stale: SqlDataStore;
  beforeEach(async () => {
    stale = await database.open();
    await take(stale);
  });

  test("acquires within the limits in its first commit", async () => {
    await store.putTasks([makeTask({ maxRunningPerKey: 1 })]);
    await store.addJobs([keyed("a", "k"), keyed("b", "k"), makeJob({ id: "c" })]);
    const report = await take(stale);
    expect([report.acquired.map(({ id }) => id), report.hasReady]).toEqual([["a", "c"], false]);
  });

  test("wakes the key of a job that it finishes, or puts back", async () => {
    await store.addJobs([makeJob({ id: "a" }), makeJob({ id: "b" })]);
    const { acquired } = await take(stale);
    await store.putTasks([makeTask({ fair: true, rateLimit: { limit: 1, perMs: 1000, burst: 2 } })]);
    await store.addJobs([makeJob({ id: "c" })]);
    const [a, b] = acquired;
    if (a === undefined || b === undefined) throw new Error("nothing was acquired");
    const report = await release(stale, [finish(a), { kind: "giveUp", jobId: "b", fence: b.fence }]);
    expect(report.releases).toEqual(["released", "released"]);
    expect(await taken(stale, { now: T0 + 1 })).toEqual(["b", "c"]);
  });

  test("recovers lost jobs of keys, and the keys go on", async () => {
    await store.putTasks([makeTask({ maxRunningPerKey: 1 })]);
    await store.addJobs([
      keyed("a", "k", { maxRecoveries: 0 }),
      keyed("b", "k"),
      makeJob({ id: "c", maxRecoveries: 0 }),
    ]);
    await take(store);
    const report = await take(stale, { now: T0 + LEASE_MS });
    expect(report.ended.map(({ jobId }) => jobId).toSorted()).toEqual(["a", "c"]);
    expect(report.acquired.map(({ id }) => id)).toEqual(["b"]);
  });

  test("cancels a job of a key, and gives up leases at its start, and the keys go on", async () => {
    await store.putTasks([makeTask({ maxRunningPerKey: 1 })]);
    await store.addJobs([keyed("a", "k", { executor: "none" }), keyed("b", "k"), keyed("c", "k")]);
    await take(store);
    expect((await cancel(stale, "a", T0)).status).toBe("cancelled");
    expect(await taken(store)).toEqual(["b"]);
    const fresh = await database.open();
    const surrender = { now: T0, schedulerId: "scheduler-a", instanceId: "new", aliveUntil: null };
    expect((await fresh.giveUpLeases(surrender)).recovered.map(({ jobId }) => jobId)).toEqual(["b"]);
    expect(await taken(fresh)).toEqual(["b"]);
  });

  test("fires a schedule whose jobs have a key, and the key counts", async () => {
    await store.putTasks([makeTask({ maxRunningPerKey: 1 })]);
    await store.addSchedules(add(makeSchedule({ concurrencyKey: "k" }), makeSchedule({ id: "other" })));
    await updateSchedule(store, "other", { concurrencyKey: "k" });
    const { due } = await look(store, { schedules: {} });
    const { acquired } = await commit(stale, { plans: due.map((schedule) => planOf(schedule)) });
    expect(acquired.map(({ id, concurrencyKey }) => [id, concurrencyKey])).toEqual([["job of other", "k"]]);
  });

  test("fires a schedule with a key of a task without limits", async () => {
    await store.addSchedules(add(makeSchedule({ concurrencyKey: "k" })));
    const { due } = await look(store, { schedules: {} });
    await commitPlans(
      stale,
      due.map((schedule) => planOf(schedule)),
    );
    expect(await taken(stale)).toEqual(["job of schedule"]);
  });

  test.each([
    { what: "with a key", schedule: { concurrencyKey: "k" }, task: { maxRunningPerKey: 1 } },
    { what: "of a task with a rate", schedule: {}, task: { rateLimit: { limit: 1, perMs: 1000, burst: 1 } } },
    { what: "of a fair task", schedule: {}, task: { fair: true } },
  ])("fires a schedule $what for others, and nobody sleeps until the job is acquired", async ({ schedule, task }) => {
    await store.putTasks([makeTask(task)]);
    await store.addSchedules(add(makeSchedule(schedule)));
    const { due } = await look(stale, { jobs: null, schedules: {} });
    const plans = due.map((seen) => planOf(seen));
    expect((await commitPlans(stale, plans)).plans.map(({ committed }) => committed)).toEqual([true]);
    expect((await look(stale)).hasReady).toBe(true);
    expect((await look(store)).hasReady).toBe(true);
    expect(await taken(stale)).toEqual(["job of schedule"]);
    expect((await look(stale)).hasReady).toBe(false);
  });

  test("fires a schedule whose job runs later, and tells when", async () => {
    await store.putTasks([makeTask({ maxRunningPerKey: 1 })]);
    await store.addSchedules(add(makeSchedule({ concurrencyKey: "k" })));
    const { due } = await look(stale, { jobs: null, schedules: {} });
    const fires = [fireOf("schedule", T0, { runAt: T0 + 50 })];
    await commitPlans(
      stale,
      due.map((seen) => planOf(seen, { fires })),
    );
    expect(await look(stale)).toMatchObject({ hasReady: false, nextRunAt: T0 + 50 });
    expect((await look(stale, { now: T0 + 50 })).hasReady).toBe(true);
    expect(await taken(stale, { now: T0 + 50 })).toEqual(["job of schedule"]);
  });

  test("adds jobs of a task with a rate, and they count", async () => {
    await store.putTasks([makeTask({ rateLimit: { limit: 1, perMs: 1000, burst: 1 } })]);
    await stale.addJobs(makeJobs(2));
    await stale.addJobs([makeJob({ id: "once", idempotencyKey: "once" })]);
    expect((await take(store)).acquired.length).toBe(1);
    const report = await take(stale);
    expect([report.acquired, report.hasReady, report.nextRunAt]).toEqual([[], false, T0 + 1000]);
  });

  test("finds jobs that an application added within a transaction of its own", async () => {
    await store.putTasks([makeTask({ maxRunningPerKey: 1 })]);
    for (const id of ["a", "b"]) {
      for (const { sql, args } of await stale.prepareAddition(keyed(id, "k"))) {
        await database.rows(sql, ...args.map((arg) => arg ?? ""));
      }
    }
    const fresh = await database.open();
    expect(await taken(fresh)).toEqual(["a"]);
  });

  test("leaves delayed jobs of keys to commits that admit them", async () => {
    await store.putTasks([makeTask({ maxRunningPerKey: 1 })]);
    await store.addJobs(["a", "b"].map((id) => keyed(id, "k", { runAt: T0 + 5 })));
    expect(await taken(stale, { now: T0 + 5 })).toEqual(["a"]);
  });
});

describe("a store that has seen limits of keys", () => {
  let stale: SqlDataStore;
  beforeEach(async () => {
    stale = await database.open();
    await store.putTasks([makeTask({ maxRunningPerKey: 1 })]);
    await store.addJobs([keyed("first", "k")]);
    const { acquired } = await take(stale);
    await release(
      stale,
      acquired.map((job) => finish(job)),
    );
  });

  test("keeps no account of tokens and virtual time", async () => {
    const isAboutAccounts = (sql: string): boolean => /SET tat = CASE WHEN a\.|value->>1 CROSS JOIN/.test(sql);
    await store.addJobs([keyed("a", "k"), keyed("b", "k")]);
    let acquired: readonly JobRecord[] = [];
    const sent = await database.sentBy(async () => {
      ({ acquired } = await commit(stale));
    });
    expect([acquired.map(({ id }) => id), sent.filter(isAboutAccounts)]).toEqual([["a"], []]);
    await store.putTasks([makeTask({ rateLimit: { limit: 1, perMs: 1000, burst: 1 } })]);
    expect((await database.sentBy(() => commit(stale))).filter(isAboutAccounts).length).toBe(3);
  });

  test("keeps to a rate in its first commit, and tells when the next token comes", async () => {
    await store.putTasks([makeTask({ rateLimit: { limit: 1, perMs: 1000, burst: 1 } })]);
    await store.addJobs([keyed("a", "k"), keyed("b", "k"), makeJob({ id: "c" })]);
    const report = await take(stale);
    expect([report.acquired.map(({ id }) => id), report.hasReady, report.nextRunAt]).toEqual([
      ["a", "c"],
      false,
      T0 + 1000,
    ]);
  });

  test("has the keys of a fair task take turns in its first commit", async () => {
    await store.putTasks([makeTask({ fair: true })]);
    await store.addJobs([keyed("a1", "a"), keyed("a2", "a"), keyed("a3", "a"), keyed("b1", "b", { runAt: T0 })]);
    expect(await taken(stale, { limit: 2 })).toEqual(["a1", "b1"]);
  });

  test.each([
    { what: "a task", key: null },
    { what: "a key", key: "k" },
  ])("acquires nothing of $what that is paused, in its first commit", async ({ key }) => {
    await store.addJobs([keyed("a", "k"), keyed("b", "k")]);
    await store.pauseTask({ taskId: "task", key, paused: true, now: T0 });
    const report = await take(stale);
    expect([report.acquired, report.hasReady, await taken(stale)]).toEqual([[], false, []]);
    await store.pauseTask({ taskId: "task", key, paused: false, now: T0 });
    expect(await taken(stale)).toEqual(["a"]);
  });

  test("tells only of jobs that were blocked before a commit as admitted", async () => {
    await store.putTasks([makeTask({ maxRunningPerKey: 2 })]);
    await store.addJobs([keyed("low 1", "k"), keyed("low 2", "k")]);
    const nobody = { queues: [{ executor: "none", taskId: "task" }] };
    const before = await take(stale, nobody);
    expect(before.admitted?.map(({ jobId }) => jobId)).toEqual(["low 1", "low 2"]);
    await store.addJobs([keyed("high", "k", { priority: 5 })]);
    const { admitted } = await take(stale, nobody);
    expect(admitted?.map(({ jobId }) => jobId)).toEqual(["high"]);
    const states = await Promise.all(["high", "low 1", "low 2"].map((id) => store.getJob(id)));
    expect(states.map((job) => job?.blockedBy)).toEqual([undefined, undefined, "limit"]);
  });
});

describe("ready jobs that a process added which had not seen the limits of their task", () => {
  /** What a process does that has seen a database without flow control. */
  async function addAsStale(...ids: string[]): Promise<void> {
    const sent = await database.sentBy(() => stale.addJobs(ids.map((id) => makeJob({ id }))));
    expect(sent.filter((sql) => sql.includes("own_key"))).toEqual([]);
  }

  /** Acquires until nothing is ready, and nothing is to come: what was acquired at each instant. */
  async function drained(now = T0): Promise<string[][]> {
    const acquired: string[][] = [];
    for (let at: number | null = now; at !== null; ) {
      const seen = await take(store, { now: at, limit: 3 });
      const releases = seen.acquired.map((job) => finish(job));
      acquired.push(seen.acquired.map(({ id }) => id));
      const after = await take(store, { now: at, limit: 0, releases });
      const { hasReady, nextRunAt } = await look(store, { now: at });
      expect([after.acquired, hasReady && seen.acquired.length === 0]).toEqual([[], false]);
      if (!hasReady) at = nextRunAt;
    }
    return acquired.filter((ids) => ids.length > 0);
  }

  /** Acquires one job at a time, until nothing is ready. */
  async function oneByOne(): Promise<string[]> {
    const order: string[] = [];
    while ((await look(store)).hasReady) {
      const ids = await taken(store, { limit: 1 });
      expect(ids.length).toBe(1);
      order.push(...ids);
    }
    return order;
  }

  let stale: SqlDataStore;
  beforeEach(async () => {
    stale = await database.open();
    await look(stale);
  });

  test("obey a rate, and none is forgotten", async () => {
    await store.putTasks([makeTask({ maxRunningJobs: 9, rateLimit: { limit: 1, perMs: 1000, burst: 1 } })]);
    await addAsStale("a", "b", "c", "d", "e");
    await store.addJobs([makeJob({ id: "f" })]);
    expect((await look(store)).hasReady).toBe(true);
    expect(await drained()).toEqual([["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]);
    expect(await database.rows("SELECT tat / 1000 AS n FROM escapement_key_limiters")).toEqual([{ n: T0 / 1000 + 6 }]);
  });

  test("obey a rate in a commit that is repeated", async () => {
    await store.putTasks([makeTask({ maxRunningJobs: 9, rateLimit: { limit: 1, perMs: 1000, burst: 2 } })]);
    await addAsStale("a", "b", "c");
    const first = await take(store, { commitId: "one" });
    const again = await take(store, { commitId: "one", isRepetition: true });
    expect([first, again].map(({ acquired }) => acquired.map(({ id }) => id))).toEqual([
      ["a", "b"],
      ["a", "b"],
    ]);
    expect(await taken(store, { now: T0 + 999 })).toEqual([]);
    expect(await taken(store, { now: T0 + 1000 })).toEqual(["c"]);
  });

  test("obey a rate where a worker asks many queues", async () => {
    await store.putTasks([makeTask({ maxRunningJobs: 9, rateLimit: { limit: 1, perMs: 1000, burst: 1 } })]);
    await addAsStale("a", "b");
    const queues = [QUEUE, ...Array.from({ length: 9 }, (_, index) => ({ ...QUEUE, taskId: `other ${index}` }))];
    expect(await taken(store, { queues })).toEqual(["a"]);
    expect(await taken(store, { queues, now: T0 + 1000 })).toEqual(["b"]);
  });

  test("take turns with the keys of a fair task", async () => {
    await store.putTasks([makeTask({ fair: true })]);
    await store.addJobs(["k 1", "k 2", "k 3"].map((id) => keyed(id, "k")));
    await addAsStale("own 1", "own 2", "own 3");
    expect(await oneByOne()).toEqual(["k 1", "own 1", "k 2", "own 2", "k 3", "own 3"]);
  });

  test("get their turns at once, however many jobs of a fair task have theirs", async () => {
    await store.putTasks([makeTask({ fair: true })]);
    const keys = ["k", "l", "m", "n"];
    for (const key of keys) await store.addJobs(makeJobs(16).map(({ id }) => keyed(`${key} ${id.slice(-2)}`, key)));
    await take(store, { queues: [{ ...QUEUE, executor: "none" }] });
    await addAsStale("own 1", "own 2");
    expect(await taken(store, { limit: 1 })).toEqual(["k 00"]);
    const order = await oneByOne();
    expect(order.slice(0, 8)).toEqual(["l 00", "m 00", "n 00", "own 1", "k 01", "l 01", "m 01", "n 01"]);
    expect(order.length).toBe(4 * 16 + 1);
  });
});

describe("a rate", () => {
  test("is known to whoever looks after another store has added a job with a key", async () => {
    await store.putTasks([makeTask({ rateLimit: { limit: 1, perMs: 1000, burst: 1 } })]);
    await store.addJobs([keyed("a", "k")]);
    const { acquired } = await take(store);
    await commit(store, { releases: acquired.map((job) => finish(job)) });
    await (await database.open()).addJobs([keyed("b", "k")]);
    // Only a commit can tell when the next token comes.
    expect(await look(store)).toMatchObject({ hasReady: true, nextRunAt: null });
    expect(await take(store)).toMatchObject({ acquired: [], hasReady: false, nextRunAt: T0 + 1000 });
    expect(await look(store)).toMatchObject({ hasReady: false, nextRunAt: T0 + 1000 });
  });

  test("of a million in a second is exact", async () => {
    await store.putTasks([makeTask({ rateLimit: { limit: 1_000_000, perMs: 1000, burst: 5 } })]);
    await store.addJobs(makeJobs(50));
    const counts: number[] = [];
    for (const now of [T0, T0, T0 + 1]) counts.push((await take(store, { now })).acquired.length);
    expect(counts).toEqual([5, 0, 5]);
  });
});

describe("ten thousand keys", () => {
  const many = new Database();
  let crowd: SqlDataStore;
  let held: readonly JobRecord[] = [];
  const limits = { maxRunningPerKey: 1, rateLimit: { limit: 1000, perMs: 1, burst: 10 } };

  beforeAll(async () => {
    crowd = await many.open();
    await crowd.putTasks([makeTask({ ...limits, fair: true })]);
    for (let round = 0; round < 100; round++) {
      await crowd.addJobs(
        Array.from({ length: 1000 }, (_, index) =>
          keyed(numbered(`j-${round}`, index), numbered("key", (round * 1000 + index) % 10_000)),
        ),
      );
    }
    // Every key has one job that is admitted, and nine that are blocked.
    while ((await take(crowd, { queues: [{ executor: "none", taskId: "task" }] })).hasReady);
  });
  afterAll(() => many.close());

  test("cost an acquisition no more than few keys, nor a look", async () => {
    held = (await take(crowd, { limit: 5 })).acquired;
    for (let round = 0; round < 5; round++) {
      const releases = held.map((job) => finish(job));
      const now = T0 + round;
      const most = await many.stepsOf(async () => {
        held = (await take(crowd, { now, limit: 5, releases })).acquired;
      });
      expect(held.length).toBe(5);
      expect(new Set(held.map(({ concurrencyKey }) => concurrencyKey)).size).toBe(5);
      expect(most).toBeGreaterThan(0);
      expect(most).toBeLessThan(3000);
      expect(await many.stepsOf(() => look(crowd, { now }))).toBeLessThan(500);
    }
  });

  test("cost a commit nothing beside another task", async () => {
    await crowd.addJobs(makeJobs(3, { taskId: "other" }));
    const most = await many.stepsOf(() =>
      take(crowd, { limit: 5, queues: [QUEUE, { executor: "inline", taskId: "other" }] }),
    );
    expect(most).toBeLessThan(4000);
  });

  test("would be seen if they were read", async () => {
    const count = "SELECT count(*) AS n FROM escapement_jobs WHERE state = 3";
    expect(await many.stepsOf(() => many.rows(count))).toBeGreaterThan(80_000);
  });
});

describe("several stores on one file", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    folder = await temporaryFolder();
  });
  afterAll(() => folder.remove());

  test("never run more jobs of a key at once than its limit", async () => {
    const stores = await Promise.all(
      [0, 1, 2].map(async () => {
        const one = LIBSQL.make(join(folder.path, "one.db"), { durability: "normal" });
        await openWithTables(one);
        return one;
      }),
    );
    const [first] = stores;
    if (first === undefined) throw new Error("no store");
    await first.putTasks([makeTask({ maxRunningPerKey: 2 })]);
    await first.addJobs(Array.from({ length: 240 }, (_, index) => keyed(numbered("j", index), `key ${index % 3}`)));
    const running = new Map<string, number>();
    const count = (job: JobRecord, by: number): void => {
      const key = job.concurrencyKey ?? "";
      const now = (running.get(key) ?? 0) + by;
      running.set(key, now);
      most = Math.max(most, now);
    };
    let most = 0;
    let done = 0;
    await Promise.all(
      stores.map(async (one, place) => {
        // A job runs until the next commit but one.
        const held: (readonly JobRecord[])[] = [[]];
        for (let commits = 0; commits < 500 && done < 240; commits++) {
          const ended = held.shift() ?? [];
          for (const job of ended) count(job, -1);
          done += ended.length;
          const { acquired } = await commit(one, {
            by: `scheduler-${place}`,
            limit: 1 + (commits % 4),
            releases: ended.map((job) => finish(job, { expiresAt: T0 })),
          });
          held.push(acquired);
          if (commits === 0) held.unshift([]);
          for (const job of acquired) count(job, 1);
        }
      }),
    );
    expect([done, most]).toEqual([240, 2]);
    for (const one of stores) await one.close();
  });
});
