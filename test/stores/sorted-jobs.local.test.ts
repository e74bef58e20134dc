import { afterEach, describe, expect, test } from "vitest";
import { OptionsError } from "../../src/core/errors.ts";
import { MemoryDataStore } from "../../src/mod.ts";
import type { DataStore, JobFilter } from "../../src/stores/data-store.ts";
import { LibsqlDriver } from "../../src/stores/libsql/driver.ts";
import { openClient } from "../../src/stores/libsql/open-client.ts";
import { SORTED_JOBS_MAX } from "../../src/stores/shared/limits.ts";
import { SqlDataStore } from "../../src/stores/sql/sqlite/store.ts";
import { idsOf, makeJob, numbered, T0, take } from "../../src/testing/data-store-contract/makers.ts";

const STORES: Readonly<Record<string, () => DataStore>> = {
  memory: () => new MemoryDataStore(),
  libSQL: () =>
    new SqlDataStore(new LibsqlDriver({ url: ":memory:" }, { durability: "normal", timeoutMs: 1000, openClient })),
};

const stores: DataStore[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

describe.each(Object.entries(STORES))("jobs by runAt in a store of %s", (_, make) => {
  test("are refused while too many are due, and listed where few are left to sort", async () => {
    const store = make();
    stores.push(store);
    await store.open(T0);
    const ids = Array.from({ length: SORTED_JOBS_MAX }, (_, index) => numbered("due", index));
    await store.addJobs(ids.map((id, index) => makeJob({ id, runAt: T0 - index })));
    await store.addJobs([
      makeJob({ id: "later", runAt: T0 + 5 }),
      makeJob({ id: "of a schedule", runAt: T0 + 6, scheduleId: "s" }),
    ]);
    const list = async (filter: Partial<JobFilter> = {}): Promise<readonly string[]> => {
      const order = "newest" as const;
      return idsOf((await store.getJobs({ sort: "runAt", order, limit: 3, cursor: null, ...filter })).items);
    };
    expect(await list()).toEqual(["of a schedule", "later", ids[0]]);
    await store.addJobs([makeJob({ id: "one more", taskId: "other", runAt: T0 - 50_000 })]);
    await expect(list()).rejects.toThrow(OptionsError);
    await expect(list()).rejects.toThrow(/getJobs\(\): sort cannot be "runAt" while more than 10000 of the jobs/);
    expect(await list({ taskId: "other" })).toEqual(["one more"]);
    expect(await list({ scheduleId: "s" })).toEqual(["of a schedule"]);
    await take(store, { limit: 2 });
    expect((await list({ state: "running" })).length).toBe(2);
    expect(await list({ sort: "id" })).toEqual(["one more", "of a schedule", "later"]);
  });
});
