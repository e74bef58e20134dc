import { afterEach, beforeEach, expect, test } from "vitest";
import { LibsqlDriver } from "../../src/stores/libsql/driver.ts";
import { openClient } from "../../src/stores/libsql/open-client.ts";
import { SqlDataStore } from "../../src/stores/sql/sqlite/store.ts";
import { finish, leasedJob, look, release, T0 } from "../../src/testing/data-store-contract/makers.ts";
import { openWithTables } from "./local-stores.ts";

const HOUR = 3_600_000;

let driver: LibsqlDriver;
let store: SqlDataStore;

beforeEach(async () => {
  driver = new LibsqlDriver({ url: ":memory:" }, { durability: "normal", timeoutMs: 1000, openClient });
  store = new SqlDataStore(driver);
  await openWithTables(store);
});
afterEach(() => store.close());

async function rows(): Promise<unknown> {
  const sql = "SELECT job_id, name, check_at FROM escapement_job_steps ORDER BY job_id, name";
  return (await driver.execute({ sql, args: [] })).map(Object.values);
}

async function jobWithSteps(id: string, keptMs: number | null): Promise<void> {
  const job = await leasedJob(store, { id });
  for (const [number, name] of ["a", "b"].entries()) {
    const nothing = { endedAt: null, wakeAt: null, version: null, value: null, cursor: null };
    const step = { name, startedAt: T0, attempts: 1, ...nothing };
    const lease = { now: T0, schedulerId: "scheduler-a", jobId: id, fence: job.fence, until: T0 + HOUR * 9 };
    await store.saveJobStep({ ...lease, number, isFirst: number === 0, step });
  }
  if (keptMs !== null) await release(store, [finish(job, { expiresAt: T0 + keptMs })]);
}

async function hasExpired(now: number): Promise<boolean> {
  return (await look(store, { now, asksForExpired: true, jobs: null })).hasExpired;
}

test("a clean-up removes the steps of jobs that are gone with their results, and asks again about the others", async () => {
  await jobWithSteps("gone", 0);
  await jobWithSteps("kept", 2 * HOUR);
  await jobWithSteps("running", null);
  expect(await hasExpired(T0 + HOUR - 1)).toBe(false);
  await store.cleanup({ now: T0 + HOUR - 1, limit: 10 });
  expect(await rows()).toHaveLength(6);
  expect(await hasExpired(T0 + HOUR)).toBe(true);
  await store.cleanup({ now: T0 + HOUR, limit: 10 });
  expect(await rows()).toEqual([
    ["kept", "a", T0 + 2 * HOUR],
    ["kept", "b", null],
    ["running", "a", T0 + 2 * HOUR],
    ["running", "b", null],
  ]);
  await store.cleanup({ now: T0 + 2 * HOUR, limit: 10 });
  expect(await rows()).toEqual([
    ["running", "a", T0 + 3 * HOUR],
    ["running", "b", null],
  ]);
  expect(await hasExpired(T0 + 2 * HOUR)).toBe(false);
});

test("a clean-up that leaves steps says that there is more to do", async () => {
  for (let index = 0; index < 21; index++) await jobWithSteps(`gone-${index}`, 0);
  expect((await store.cleanup({ now: T0 + HOUR, limit: 10 })).hasMore).toBe(true);
  expect(await rows()).toHaveLength(2);
  expect((await store.cleanup({ now: T0 + HOUR, limit: 10 })).hasMore).toBeUndefined();
  expect(await rows()).toEqual([]);
});
