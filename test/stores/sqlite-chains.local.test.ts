import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { StoreRefusedError } from "../../src/core/errors.ts";
import type { JobRecord } from "../../src/records/job.ts";
import { LibsqlDriver } from "../../src/stores/libsql/driver.ts";
import { openClient } from "../../src/stores/libsql/open-client.ts";
import type { Row, SqlDriver, SqlStatement } from "../../src/stores/sql/driver/driver-and-failures.ts";
import { CHAINED_COMMITS_MAX, DESCENDANTS_PER_COMMIT_MAX } from "../../src/stores/sql/limits.ts";
import { SqlDataStore } from "../../src/stores/sql/sqlite/store.ts";
import { childOf, settledBy } from "../../src/testing/data-store-contract/chain-makers.ts";
import {
  cancel,
  commit,
  extend,
  finish,
  idsOf,
  leasedJob,
  look,
  makeJob,
  makeJobs,
  release,
  T0,
  take,
} from "../../src/testing/data-store-contract/makers.ts";
import { openWithTables } from "./local-stores.ts";

/** A database in memory that counts its writes, and whose answers can get lost. */
class TestDriver implements SqlDriver {
  readonly isLocal: boolean;
  readonly failureKind: SqlDriver["failureKind"];
  readonly sent: SqlStatement[] = [];
  batches = 0;
  readonly #inner = new LibsqlDriver({ url: ":memory:" }, { durability: "normal", timeoutMs: 1000, openClient });
  #isAnswerLost = false;

  constructor(isLocal: boolean) {
    this.isLocal = isLocal;
    this.failureKind = (error) => this.#inner.failureKind(error);
  }

  /** The next batch counts, but its answer gets lost. */
  loseAnswer(): void {
    this.#isAnswerLost = true;
  }

  open(): Promise<void> {
    return this.#inner.open();
  }

  execute(statement: SqlStatement): Promise<Row[]> {
    return this.#inner.execute(statement);
  }

  async batch(statements: readonly SqlStatement[]): Promise<Row[][]> {
    this.sent.push(...statements);
    this.batches++;
    const answers = await this.#inner.batch(statements);
    if (!this.#isAnswerLost) return answers;
    this.#isAnswerLost = false;
    throw new TypeError("fetch failed");
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  forget(): void {
    this.sent.length = 0;
    this.batches = 0;
  }

  async count(table: string): Promise<number> {
    const [row] = await this.execute({ sql: `SELECT count(*) AS n FROM escapement_${table}`, args: [] });
    return Number(row?.n);
  }
}

let driver: TestDriver;
let store: SqlDataStore;

async function openStore(isLocal: boolean): Promise<void> {
  driver = new TestDriver(isLocal);
  store = new SqlDataStore(driver);
  await openWithTables(store);
  driver.forget();
}

/** A second store on the same database, as another process has one. */
async function openOther(): Promise<SqlDataStore> {
  const { isLocal, failureKind } = driver;
  const execute = (statement: SqlStatement): Promise<Row[]> => driver.execute(statement);
  const other = new SqlDataStore({ isLocal, failureKind, execute, batch: (statements) => driver.batch(statements) });
  await openWithTables(other);
  return other;
}

/** How many writes a commit that ends a new parent takes. */
async function writesToEnd(id: string): Promise<number> {
  const parent = await leasedJob(store, { id });
  await store.addJobs([childOf([id], { id: `child of ${id}`, runAt: T0 + 1_000_000 })]);
  driver.forget();
  expect(settledBy(await release(store, [finish(parent)])).admitted).toEqual([`child of ${id}`]);
  return driver.batches;
}

beforeEach(() => openStore(true));
afterEach(() => store.close());

describe("a store with chains", () => {
  test("sends nothing about them in commits of other jobs, before the first parent ends", async () => {
    await store.addJobs([makeJob({ id: "parent", runAt: T0 + 1_000_000 }), childOf(["parent"])]);
    const job = await leasedJob(store, { id: "other" });
    driver.forget();
    await commit(store, { releases: [finish(job)], additions: [makeJob({ id: "more" })], recover: true });
    await cancel(store, "more", T0);
    await extend(store, []);
    const others = driver.sent.filter(({ sql }) => !sql.includes("has_ended_dependencies"));
    expect(others.filter(({ sql }) => sql.includes("escapement_dependencies"))).toEqual([]);
    expect(driver.batches).toBe(3);
  });

  test("ends the first parent in a second write, and the next ones in one", async () => {
    expect(await writesToEnd("first")).toBe(2);
    expect(await writesToEnd("second")).toBe(1);
    for (let commits = 0; commits < CHAINED_COMMITS_MAX; commits++) await commit(store);
    expect(await writesToEnd("third")).toBe(2);
    expect(await driver.count("dependencies")).toBe(0);
  });

  test("settles very many descendants in pieces, which any store goes on with", async () => {
    const parent = await leasedJob(store, { id: "parent" });
    const count = 2 * DESCENDANTS_PER_COMMIT_MAX + 10;
    await store.addJobs(makeJobs(count, { after: ["parent"], onParentFailure: "cancel" }));
    const pieces = [(await release(store, [finish(parent, { outcome: "error" })])).ended.length];
    const other = await openOther();
    expect((await look(other)).hasReady).toBe(true);
    for (let report = await take(other); pieces.length < 9; report = await take(other)) {
      if (report.ended.length > 0) pieces.push(report.ended.length);
      if (!report.hasReady) break;
    }
    expect(pieces).toEqual([DESCENDANTS_PER_COMMIT_MAX, DESCENDANTS_PER_COMMIT_MAX, 10]);
    expect([await driver.count("dependencies"), await driver.count("jobs")]).toEqual([0, 0]);
    expect((await look(other)).hasReady).toBe(false);
  });

  test("leaves the rest of a cancelled queue's descendants to the next commits", async () => {
    await store.addJobs([makeJob({ id: "parent" })]);
    await store.addJobs(makeJobs(DESCENDANTS_PER_COMMIT_MAX + 5, { after: ["parent"], onParentFailure: "cancel" }));
    const report = await cancel(store, "parent", T0);
    expect(report.status === "cancelled" && report.ended?.length).toBe(DESCENDANTS_PER_COMMIT_MAX);
    expect((await look(store)).hasReady).toBe(true);
    expect((await commit(store)).ended.length).toBe(5);
  });
});

describe("an answer that is lost", () => {
  beforeEach(async () => {
    await store.close();
    await openStore(false);
  });

  test("of an addition changes nothing in its repetition", async () => {
    await store.addJobs([makeJob({ id: "parent" })]);
    driver.loseAnswer();
    const [addition] = await store.addJobs([childOf(["parent"], { resultExpirationMs: 0 })]);
    expect([addition?.isNew, addition?.job.blockedBy]).toEqual([true, "parents"]);
    expect([await driver.count("dependencies"), await driver.count("jobs")]).toEqual([1, 2]);
  });

  test("of a cancellation is told of by the repetition, which may leave out the descendants", async () => {
    await store.addJobs([makeJob({ id: "parent" }), childOf(["parent"]), childOf(["child"], { id: "grandchild" })]);
    driver.loseAnswer();
    expect((await cancel(store, "parent", T0)).status).toBe("cancelled");
    expect(await driver.count("jobs")).toBe(0);
    expect((await store.getJobResult("grandchild", T0))?.outcome).toBe("cancelled");
  });

  test("of a commit frees a child once, whatever became of it", async () => {
    const parent = await leasedJob(store, { id: "parent" });
    await store.addJobs([childOf(["parent"])]);
    driver.loseAnswer();
    const { releases, acquired } = await commit(store, { releases: [finish(parent)] });
    expect([releases, idsOf(acquired)]).toEqual([["released"], ["child"]]);
    expect(await driver.count("dependencies")).toBe(0);
  });
});

describe("a prepared job with parents", () => {
  async function addPrepared(job: JobRecord): Promise<void> {
    await driver.batch(await store.prepareAddition(job));
  }

  test("is blocked as any other, and its statements may run twice", async () => {
    const parent = await leasedJob(store, { id: "parent" });
    await addPrepared(childOf(["parent"]));
    await addPrepared(childOf(["parent"]));
    expect((await store.getJob("child"))?.blockedBy).toBe("parents");
    expect(idsOf((await commit(store, { releases: [finish(parent)] })).acquired)).toEqual(["child"]);
    await addPrepared(childOf(["parent"]));
    expect(await driver.count("dependencies")).toBe(0);
  });

  test("runs if its parents have ended, and is cancelled by the next commit if they failed", async () => {
    await store.addJobs(makeJobs(2));
    const [fine = makeJob(), failed = makeJob()] = (await take(store)).acquired;
    await release(store, [finish(fine), finish(failed, { outcome: "error" })]);
    await addPrepared(childOf([fine.id], { id: "a" }));
    await addPrepared(childOf([failed.id], { id: "b" }));
    expect((await look(store)).hasReady).toBe(true);
    const report = await commit(store);
    expect([idsOf(report.acquired), settledBy(report).cancelled]).toEqual([["a"], ["b"]]);
  });

  test("fails the transaction if a parent is unknown", async () => {
    await expect(addPrepared(childOf(["nobody"]))).rejects.toThrow("a job in `after` is unknown");
    expect(await driver.count("jobs")).toBe(0);
  });
});

test("a call that is refused fails no other call that travels with it", async () => {
  await store.addJobs([makeJob({ id: "parent" })]);
  const calls = [
    store.addJobs([childOf(["parent"], { id: "good" })]),
    store.addJobs([childOf(["nobody"], { id: "bad" })]),
    store.addJobs([childOf(["there"], { id: "here" })]),
    store.addJobs([childOf(["here"], { id: "there" })]),
  ];
  const [good, bad, here, there] = await Promise.allSettled(calls);
  expect(good?.status).toBe("fulfilled");
  for (const refused of [bad, here, there]) {
    expect(refused).toMatchObject({ status: "rejected", reason: expect.any(StoreRefusedError) });
  }
});
