import { copyFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { LOG_BYTES_MAX } from "../../src/stores/sql/limits.ts";
import { makeJob, makeSchedule, makeTask, T0 } from "../../src/testing/data-store-contract/makers.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { LOCAL_STORES, openWithTables } from "./local-stores.ts";

describe.each(LOCAL_STORES)("a file of a $name", ({ whyMissing, make, keepReading }) => {
  test("has all that was written when its last store is closed, without the log", async (context) => {
    if (whyMissing !== null) context.skip(whyMissing);
    const path = await newPath();
    const store = make(path);
    await openWithTables(store);
    await store.addSchedules([{ schedule: makeSchedule(), conflictPolicy: "error" }]);
    await store.close();
    expect(await sizeOf(`${path}-wal`)).toBe(0);
    await copyFile(path, `${path}.copy`);
    expect(await scheduleIdsIn(`${path}.copy`)).toEqual(["schedule"]);
  });

  test("is written to by another store that is still open when one is closed", async (context) => {
    if (whyMissing !== null) context.skip(whyMissing);
    const path = await newPath();
    const [first, second] = [make(path), make(path)];
    await openWithTables(first);
    await openWithTables(second);
    await first.addSchedules([{ schedule: makeSchedule({ id: "a" }), conflictPolicy: "error" }]);
    await first.close();
    await first.close();
    await second.addSchedules([{ schedule: makeSchedule({ id: "b" }), conflictPolicy: "error" }]);
    await second.close();
    await copyFile(path, `${path}.copy`);
    expect(await scheduleIdsIn(`${path}.copy`)).toEqual(["a", "b"]);
  });

  test("whose log is long because somebody reads an old state tells of it, and empties it after that", async (context) => {
    if (whyMissing !== null) context.skip(whyMissing);
    const path = await newPath();
    const store = make(path);
    await openWithTables(store);
    await store.putTasks([makeTask()]);
    const reader = await keepReading(path);
    const payload = JSON.stringify("x".repeat(2_000_000));
    const warned = async () => ((await store.inspect(T0)).warnings ?? []).filter(({ code }) => code === "longLog");
    let count = 0;
    while ((await sizeOf(`${path}-wal`)) <= LOG_BYTES_MAX) {
      expect(await warned()).toEqual([]);
      await store.addJobs([makeJob({ id: `job ${count++}`, payload })]);
    }
    expect((await warned()).map(({ message }) => message)).toEqual([expect.stringMatching(/has \d\d MB/)]);
    await store.cleanup({ now: T0, limit: 10 });
    expect(await sizeOf(`${path}-wal`)).toBeGreaterThan(LOG_BYTES_MAX);
    await reader.end();
    await store.cleanup({ now: T0, limit: 10 });
    expect(await sizeOf(`${path}-wal`)).toBe(0);
    expect(await warned()).toEqual([]);
    await store.close();
  });

  async function scheduleIdsIn(path: string): Promise<string[]> {
    const store = make(path);
    await store.open(T0);
    const { items } = await store.getSchedules({ limit: 10, cursor: null });
    await store.close();
    return items.map(({ id }) => id);
  }
});

/** The size of a file; 0 for one that is not there. */
async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

async function newPath(): Promise<string> {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  return join(folder.path, "jobs.db");
}
