import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Scheduler, StoreUnavailableError } from "../../src/mod.ts";
import { MIGRATIONS } from "../../src/stores/sql/sqlite/schema/tables.ts";
import { makeJob, makeSchedule, makeTask, T0 } from "../../src/testing/data-store-contract/makers.ts";
import { recordingLogger } from "../scheduler/support.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { LOCAL_STORES, type LocalStore, rowsOf, withDriver } from "./local-stores.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let files = 0;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

function newFile(): string {
  return join(folder.path, `${++files}.db`);
}

/** Makes the tables of a prefix, with a task, a schedule and a job in them. */
async function fill(local: LocalStore, file: string, tablePrefix = "escapement_"): Promise<void> {
  const store = local.make(file, { tablePrefix });
  await store.open(T0);
  await store.putTasks([makeTask()]);
  await store.addSchedules([{ schedule: makeSchedule(), conflictPolicy: "error" }]);
  await store.addJobs([makeJob()]);
  await store.close();
}

type Store = ReturnType<LocalStore["make"]>;

async function countsOf(store: Store): Promise<number[]> {
  const filter = { limit: 10, cursor: null };
  const [tasks, schedules, jobs] = [
    await store.getTasks(),
    await store.getSchedules(filter),
    await store.getJobs(filter),
  ];
  return [tasks.length, schedules.items.length, jobs.items.length];
}

async function using<T>(store: Store, use: (store: Store) => Promise<T>): Promise<T> {
  await store.open(T0);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

for (const local of LOCAL_STORES) {
  describe(`reset of ${local.name}`, () => {
    if (local.whyMissing !== null) {
      const { whyMissing } = local;
      test("starts from scratch", ({ skip }) => skip(whyMissing));
      return;
    }

    test("starts from scratch, once, with the newest schema, and leaves other tables alone", async () => {
      const file = newFile();
      await fill(local, file);
      await fill(local, file, "other_");
      const store = local.make(file, { reset: true });
      expect(await using(store, countsOf)).toEqual([0, 0, 0]);
      await fill(local, file);
      expect(await using(store, countsOf)).toEqual([1, 1, 1]);
      expect(await using(local.make(file, { tablePrefix: "other_" }), countsOf)).toEqual([1, 1, 1]);
      const versions = await withDriver(local, file, (driver) =>
        rowsOf(driver, "SELECT version FROM escapement_schema"),
      );
      expect(versions.map(({ version }) => version)).toEqual(MIGRATIONS.map(({ version }) => version));
    });

    test("makes the tables where there are none", async () => {
      expect(await using(local.make(newFile(), { reset: true }), countsOf)).toEqual([0, 0, 0]);
      expect(await using(local.make(":memory:", { reset: true }), countsOf)).toEqual([0, 0, 0]);
    });

    test("leaves tables that are not ours, or newer than we are, and says so", async () => {
      const foreign = newFile();
      await withDriver(local, foreign, async (driver) => {
        await rowsOf(driver, "CREATE TABLE escapement_jobs (mine)");
        await rowsOf(driver, "INSERT INTO escapement_jobs VALUES (1)");
      });
      const newer = newFile();
      await fill(local, newer);
      await withDriver(local, newer, (driver) => rowsOf(driver, "INSERT INTO escapement_schema VALUES (999, 0)"));
      for (const [file, message] of [
        [foreign, /a table that this library did not make.*escapement_jobs/],
        [newer, /version 999.*update the library/],
      ] as const) {
        const failure = await local
          .make(file, { reset: true })
          .open(T0)
          .catch((error: unknown) => error);
        expect(failure).toBeInstanceOf(StoreUnavailableError);
        expect(String(failure)).toMatch(message);
      }
      const rows = (file: string): Promise<unknown[]> =>
        withDriver(local, file, (driver) => rowsOf(driver, "SELECT * FROM escapement_jobs"));
      const counts = [foreign, newer].map(async (file) => (await rows(file)).length);
      expect(await Promise.all(counts)).toEqual([1, 1]);
    });

    test("takes the ground from under a scheduler that runs, which goes on", async () => {
      const file = newFile();
      const { logger, entries } = recordingLogger();
      const old = new Scheduler({ dataStore: local.make(file), logger });
      let isStarted = (): void => {};
      const started = new Promise<void>((resolve) => {
        isStarted = resolve;
      });
      let end = (): void => {};
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      old.task("long", async () => {
        isStarted();
        await ended;
      });
      old.task("short", () => "done");
      await old.start();
      await old.addJob("long");
      await started;
      expect(await using(local.make(file, { reset: true }), countsOf)).toEqual([0, 0, 0]);
      end();
      expect(await old.runJob("short")).toBe("done");
      expect((await old.getJobs()).items).toEqual([]);
      await old.stop();
      expect(entries.filter(({ level }) => level === "error")).toEqual([]);
    });
  });
}
