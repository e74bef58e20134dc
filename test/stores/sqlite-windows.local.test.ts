import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { NewJobRecord } from "../../src/records/job.ts";
import { LibsqlDriver } from "../../src/stores/libsql/driver.ts";
import { openClient } from "../../src/stores/libsql/open-client.ts";
import { TOMBSTONE_MS } from "../../src/stores/shared/limits.ts";
import type { Row, SqlDriver, SqlStatement } from "../../src/stores/sql/driver/driver-and-failures.ts";
import { SqlDataStore } from "../../src/stores/sql/sqlite/store.ts";
import {
  finish,
  makeJob,
  makeJobs,
  numbered,
  release,
  T0,
  take,
} from "../../src/testing/data-store-contract/makers.ts";
import { dataStoreContract } from "../../src/testing/data-store-contract/mod.ts";
import { titleOf } from "./contract-title.ts";
import { openWithTables } from "./local-stores.ts";

/** A database in memory, as if it was far away. It can lose the answer to a batch. */
class FarDriver implements SqlDriver {
  readonly isLocal = false;
  readonly batches: (readonly SqlStatement[])[] = [];
  readonly #inner = new LibsqlDriver({ url: ":memory:" }, { durability: "normal", timeoutMs: 1000, openClient });
  #meanwhile: (() => Promise<unknown>) | null = null;

  /** The answer to the next batch gets lost, after something else has happened. */
  loseAnswer(meanwhile: () => Promise<unknown>): void {
    this.#meanwhile = meanwhile;
  }

  open(): Promise<void> {
    return this.#inner.open();
  }

  execute(statement: SqlStatement): Promise<Row[]> {
    return this.#inner.execute(statement);
  }

  async batch(statements: readonly SqlStatement[]): Promise<Row[][]> {
    this.batches.push(statements);
    const answer = await this.#inner.batch(statements);
    const meanwhile = this.#meanwhile;
    this.#meanwhile = null;
    if (meanwhile === null) return answer;
    await meanwhile();
    throw new TypeError("fetch failed");
  }

  failureKind(error: unknown): ReturnType<SqlDriver["failureKind"]> {
    return this.#inner.failureKind(error);
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }
}

let driver: FarDriver;
let store: SqlDataStore;

async function openStore(): Promise<SqlDataStore> {
  driver = new FarDriver();
  store = new SqlDataStore(driver);
  await openWithTables(store);
  driver.batches.length = 0;
  return store;
}

beforeEach(() => openStore().then(() => undefined));
afterEach(() => store.close());

function debounced(id: string, payload: string, createdAt = T0, key = "key"): NewJobRecord {
  const debounce = { key, waitMs: 1000, maxWaitMs: null };
  return { ...makeJob({ id, payload, createdAt, runAt: createdAt + 1000, resultExpirationMs: 0 }), debounce };
}

function once(id: string, createdAt = T0, key = "key"): NewJobRecord {
  const window = { kind: "throttle", key, until: createdAt + 1000 } as const;
  return { ...makeJob({ id, createdAt, runAt: createdAt }), once: window };
}

/** The statements of the last batch. */
function sent(): readonly SqlStatement[] {
  return driver.batches.at(-1) ?? [];
}

describe("a store that answers over a network keeps the contract", () => {
  for (const { name, rules, run } of dataStoreContract.filter(({ name }) => /^(debounce|once):/.test(name))) {
    test(titleOf(rules, name), () => run({ open: openStore }));
  }
});

describe("an addition whose answer gets lost", () => {
  test("overrides no newer payload of its burst", async () => {
    driver.loseAnswer(async () => (await otherStore()).addJobs([debounced("b", "2")]));
    expect((await store.addJobs([debounced("a", "1")]))[0]).toMatchObject({
      job: { id: "a", payload: "2" },
      isNew: true,
    });
    expect((await store.getJob("a"))?.payload).toBe("2");
  });

  test("of a burst that has run meanwhile starts nothing", async () => {
    await store.addJobs([debounced("a", "1")]);
    driver.loseAnswer(async () => {
      const other = await otherStore();
      const { acquired } = await take(other, { now: T0 + 2000 });
      await release(
        other,
        acquired.map((job) => finish(job, { expiresAt: T0 })),
        { now: T0 + 2000 },
      );
    });
    const [answer] = await store.addJobs([debounced("b", "2", T0 + 1)]);
    expect([answer?.job.id, answer?.isNew, answer?.hasEnded]).toEqual(["a", false, true]);
    expect((await store.getJobs({ limit: 9, cursor: null })).items).toEqual([]);
  });

  /** Another store on the same database. */
  async function otherStore(): Promise<SqlDataStore> {
    const batch = (statements: readonly SqlStatement[]): Promise<Row[][]> => driver.batch(statements);
    const other = new SqlDataStore({
      isLocal: false,
      execute: (statement) => driver.execute(statement),
      batch,
      failureKind: (error) => driver.failureKind(error),
    });
    await other.open(T0);
    return other;
  }
});

test("a damaged row in a burst gets the values of the next addition, and fails none", async () => {
  await store.addJobs([debounced("a", "1")]);
  await driver.execute({ sql: "UPDATE escapement_jobs SET details = '{bad'", args: [] });
  const answers = await store.addJobs([makeJob({ id: "plain" }), debounced("b", "2", T0 + 1)]);
  expect(answers.map(({ job, isNew }) => [job.id, job.payload, job.createdAt, isNew])).toEqual([
    ["plain", null, T0, true],
    ["a", "2", T0 + 1, false],
  ]);
});

describe("what is sent", () => {
  test("for jobs without debounce and windows knows of neither", async () => {
    await store.addJobs(makeJobs(3));
    expect(sent().length).toBe(1);
    await store.addJobs([
      makeJob({ id: "key", idempotencyKey: "key" }),
      makeJob({ id: "none", resultExpirationMs: 0 }),
    ]);
    expect(sent().length).toBe(3);
    for (const { sql } of driver.batches.flat()) expect(sql).not.toMatch(/windows|debounce/);
  });

  test("for a thousand debounced jobs of one call is four statements, for as many windows three", async () => {
    const keys = Array.from({ length: 1000 }, (_, index) => `key-${index % 10}`);
    await store.addJobs(keys.map((key, index) => debounced(numbered("a", index), `${index}`, T0, key)));
    expect(sent().length).toBe(4);
    await store.addJobs(keys.map((key, index) => once(numbered("b", index), T0, key)));
    expect(sent().length).toBe(3);
    expect(await count("jobs")).toBe(20);
    expect(await count("windows")).toBe(10);
  });

  test("leaves one row for a burst, a row for each window, and stamps that a clean-up removes", async () => {
    for (let index = 0; index < 50; index++) await store.addJobs([debounced(`a-${index}`, "x", T0 + index)]);
    for (let index = 0; index < 50; index++) await store.addJobs([once(numbered("b", index), T0 + 1000 * index)]);
    expect([await count("jobs"), await count("windows"), await count("commits")]).toEqual([51, 1, 50]);
    await store.cleanup({ now: T0 + 50_000 + TOMBSTONE_MS, limit: 10 });
    expect([await count("jobs"), await count("windows"), await count("commits")]).toEqual([51, 0, 0]);
  });

  async function count(table: string): Promise<number> {
    const [row] = await driver.execute({ sql: `SELECT count(*) AS n FROM escapement_${table}`, args: [] });
    return Number(row?.n);
  }
});
