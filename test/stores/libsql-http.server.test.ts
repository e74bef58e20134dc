import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { StoreRefusedError, StoreUnavailableError } from "../../src/core/errors.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { HranaHttpDriver, type HttpFetch } from "../../src/stores/libsql-http/driver.ts";
import { LibsqlDataStore } from "../../src/stores/libsql-http/mod.ts";
import { LibsqlDataStore as WorkerdDataStore } from "../../src/stores/libsql-workerd/mod.ts";
import { tableNames } from "../../src/stores/sql/schema/tables.ts";
import { makeJob, T0 } from "../../src/testing/data-store-contract/makers.ts";
import { dataStoreContract } from "../../src/testing/data-store-contract/mod.ts";
import { sharedSqld } from "../support/shared-sqld.ts";
import { expectTicksToFire } from "../support/ticks.ts";
import { sampleOf, titleOf } from "./contract-title.ts";

// Runs on every runtime. Each has a `fetch` of its own, and the rest of the store is the same everywhere.
const [RUNTIME] = (globalThis.navigator?.userAgent ?? "Node.js").split("/");

let server: Awaited<ReturnType<typeof sharedSqld>>;
let driver: HranaHttpDriver;
const opened: DataStore[] = [];

function driverOf(fetch: HttpFetch | null = null): HranaHttpDriver {
  return new HranaHttpDriver(`${server.url}/v3/pipeline`, { authToken: null, fetch, timeoutMs: 10_000 });
}

beforeAll(async () => {
  server = await sharedSqld();
  driver = driverOf();
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});
afterAll(() => server?.stop());

async function openStore(tablePrefix: string, options: { fetch?: HttpFetch } = {}): Promise<LibsqlDataStore> {
  const store = new LibsqlDataStore({ url: server.url, ...options }, { tablePrefix });
  opened.push(store);
  await store.open(T0);
  return store;
}

/** Empties the tables of the contract, if there are any: quicker than new ones for every case. */
async function clear(tablePrefix: string): Promise<void> {
  try {
    const { schema: _, ...tables } = tableNames(tablePrefix);
    await driver.batch(Object.values(tables).map((table) => ({ sql: `DELETE FROM ${table}`, args: [] })));
  } catch (error) {
    if (!String(error).includes("no such table")) throw error;
  }
}

describe("LibsqlDataStore over fetch alone keeps the contract", () => {
  for (const { name, rules, run } of sampleOf(dataStoreContract, RUNTIME === "Node.js" ? 6 : 20, 4)) {
    test(titleOf(rules, name), async () => {
      await clear("http_");
      await run({ open: () => openStore("http_"), reopen: () => openStore("http_") });
    });
  }
});

describe("a value that comes back from a server is", () => {
  const read = async (sql: string, ...args: (string | number | null)[]): Promise<unknown> => {
    const [row] = await driver.execute({ sql: `SELECT ${sql} AS value, typeof(${sql}) AS type`, args });
    return [row?.value, row?.type];
  };

  test("what was sent", async () => {
    expect(await read("?1", null)).toEqual([null, "null"]);
    expect(await read("?1", 'ü\n"\u{1f570}')).toEqual(['ü\n"\u{1f570}', "text"]);
    expect(await read("?1", -0.5)).toEqual([-0.5, "real"]);
    expect(await read("?1", 1e300)).toEqual([1e300, "real"]);
    expect(await read("?1", Number.MAX_SAFE_INTEGER)).toEqual([Number.MAX_SAFE_INTEGER, "integer"]);
    expect(await read("?1", Number.MIN_SAFE_INTEGER)).toEqual([Number.MIN_SAFE_INTEGER, "integer"]);
  });

  test("text where no number holds the integer", async () => {
    expect(await read("9007199254740993")).toEqual(["9007199254740993", "integer"]);
  });

  test("bytes where it is a blob", async () => {
    expect(await read("x'00ff10'")).toEqual([Uint8Array.of(0, 255, 16), "blob"]);
    expect(await read("x''")).toEqual([new Uint8Array(), "blob"]);
  });

  test("never a number that is none", async () => {
    const failure = await read("?1", Number.NaN).catch((error: unknown) => error);
    expect(String(failure)).toMatch(/only finite numbers/);
    expect(driver.failureKind(failure)).toBe("refused");
  });
});

describe("a batch counts as a whole:", () => {
  const table = "batch_of_all";
  const insert = (value: string): { sql: string; args: string[] } => ({
    sql: `INSERT INTO ${table} VALUES (?1) RETURNING value`,
    args: [value],
  });
  const values = async (): Promise<unknown[]> =>
    (await driver.execute({ sql: `SELECT value FROM ${table} ORDER BY value`, args: [] })).map(({ value }) => value);

  beforeAll(() =>
    driver.batch([
      { sql: `DROP TABLE IF EXISTS ${table}`, args: [] },
      { sql: `CREATE TABLE ${table} (value TEXT NOT NULL UNIQUE)`, args: [] },
    ]),
  );

  test("all statements answer, or the first failure is told and nothing is written", async () => {
    expect(await driver.batch([insert("a"), insert("b")])).toEqual([[{ value: "a" }], [{ value: "b" }]]);
    const failure = await driver.batch([insert("c"), insert("a"), insert("d")]).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: expect.stringMatching(/^SQLITE_CONSTRAINT/) });
    expect(driver.failureKind(failure)).toBe("refused");
    expect(await values()).toEqual(["a", "b"]);
  });

  test("a statement that ends the transaction fails it, and what follows is not written", async () => {
    const failure = await driver
      .batch([insert("e"), { sql: "ROLLBACK", args: [] }, insert("f")])
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "TRANSACTION_CLOSED" });
    expect(await values()).toEqual(["a", "b"]);
  });
});

test("every operation is one request", async () => {
  let requests = 0;
  const counting: HttpFetch = (url, request) => {
    requests++;
    return fetch(url, request);
  };
  const store = await openStore("trips_", { fetch: counting });
  await store.addJobs([makeJob({ id: "first" })]);
  requests = 0;
  await store.addJobs([makeJob({ id: "a" }), makeJob({ id: "b" })]);
  expect(requests).toBe(1);
  await store.getJob("a");
  expect(requests).toBe(2);
});

describe("what goes wrong on a server is told:", () => {
  test("a value above what the server takes", async () => {
    const store = await openStore("large_");
    const payload = `"${"x".repeat(9_900_000)}"`;
    await expect(store.addJobs([makeJob({ payload })])).rejects.toThrow(StoreRefusedError);
  });

  test("an address with nothing behind it, with advice", async () => {
    const store = new LibsqlDataStore({ url: `${server.url}/nothing/here` }, { retry: { maxAttempts: 1 } });
    opened.push(store);
    await store.open(T0);
    const failure = await store.getTasks().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(String(failure)).toMatch(/HTTP status 404.*; check the url/);
  });

  test("nobody who listens, whatever the runtime's fetch says", async () => {
    // Nobody listens on a port of the system's that has had no use for decades.
    const options = { retry: { maxAttempts: 2, backoff: { initial: { milliseconds: 1 } } } };
    const store = new LibsqlDataStore({ url: "http://127.0.0.1:2" }, options);
    opened.push(store);
    await store.open(T0);
    const failure = await store.getTasks().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(String(failure)).toMatch(/http:\/\/127\.0\.0\.1:2 failed: .*; check that the server runs/);
  });
});

describe("a tick on a server", () => {
  for (const [name, Store] of [
    ["escapement/libsql/http", LibsqlDataStore],
    ["escapement/libsql as workerd gets it", WorkerdDataStore],
  ] as const) {
    test(`fires the schedule that is due (${name})`, () =>
      expectTicksToFire(new Store({ url: server.url }, { tablePrefix: `tick_${Store === LibsqlDataStore}_` })));
  }
});
