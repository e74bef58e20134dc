import { expect, test } from "vitest";
import { MemoryDataStore, Scheduler } from "../../src/mod.ts";
import { schemaSql } from "../../src/stores/d1/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";

const CHOICES = { serializer: undefined, ledger: undefined };
const TABLES = { ...CHOICES, tablePrefix: undefined, reset: undefined, retry: undefined };
const PARTS = { authToken: undefined, syncUrl: undefined, syncInterval: undefined, encryptionKey: undefined };

test.each([
  ["MemoryDataStore", () => new MemoryDataStore(CHOICES)],
  ["LibsqlDataStore", () => new LibsqlDataStore({ url: ":memory:", ...PARTS }, TABLES)],
])("%s, and calls, take options that are undefined for options that are not given", async (_, make) => {
  await using scheduler = new Scheduler({ dataStore: make(), logLevel: "silent" });
  scheduler.task("task", () => 1);
  await scheduler.addSchedule("task", "0 9 * * *", { id: "daily" });
  await scheduler.pauseTask("task", { by: undefined, until: undefined, reason: undefined });
  await scheduler.unpauseTask("task", { by: undefined });
  await scheduler.unpauseSchedule("daily", { resumeFrom: undefined });
  expect(await scheduler.previewSchedule("daily", { limit: 1, from: undefined })).toHaveLength(1);
  const { id } = await scheduler.addJob("task");
  expect(await scheduler.getJobResult(id, { wait: undefined })).toBeNull();
  await scheduler.tick();
  expect((await scheduler.retryJob(id, { restart: undefined })).state).toBe("queued");
});

test("schemaSql() of D1 takes an undefined prefix for none", () => {
  expect(schemaSql({ tablePrefix: undefined })).toBe(schemaSql());
});
