import { copyFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Scheduler, StoreUnavailableError } from "../../src/mod.ts";
import { makeJob } from "../../src/testing/data-store-contract/makers.ts";
import { recordingLogger } from "../scheduler/support.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { LOCAL_STORES, openWithTables } from "./local-stores.ts";

/** What a program says of a file that is gone, and how it is taken away. */
const LOSSES: readonly {
  readonly what: string;
  readonly says: RegExp;
  readonly lose: (path: string) => Promise<void>;
}[] = [
  {
    what: "deleted",
    says: /jobs\.db was deleted or moved away while it was open.*put its files back/,
    async lose(path) {
      for (const suffix of ["", "-wal", "-shm"]) await rm(`${path}${suffix}`, { force: true });
    },
  },
  {
    what: "moved away",
    says: /jobs\.db was deleted or moved away/,
    lose: (path) => rename(path, `${path}.old`),
  },
  {
    what: "replaced by a backup",
    says: /jobs\.db was replaced by another file/,
    async lose(path) {
      await copyFile(path, `${path}.backup`);
      await rename(`${path}.backup`, path);
    },
  },
  {
    what: "left without its log",
    says: /jobs\.db-wal was deleted or moved away/,
    lose: (path) => rm(`${path}-wal`),
  },
];

/** The rejection of the first call that is rejected: the store looks at its file 10 times a second, by the host's
 *  clock. */
async function firstRejection(call: () => Promise<unknown>): Promise<unknown> {
  for (;;) {
    try {
      await call();
    } catch (error) {
      return error;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe.each(LOCAL_STORES)("a file of a $name", ({ whyMissing, make }) => {
  for (const { what, says, lose } of LOSSES) {
    test(`that is ${what} under a store takes nothing any more, and is no other file`, async (context) => {
      if (whyMissing !== null) context.skip(whyMissing);
      const path = await newPath();
      const store = make(path, { durability: "normal" });
      onTestFinished(() => store.close());
      await openWithTables(store);
      await store.addJobs([makeJob()]);
      await lose(path);
      const error = await firstRejection(() => store.getTasks());
      expect(error).toBeInstanceOf(StoreUnavailableError);
      expect(error).toMatchObject({ message: expect.stringMatching(says) });
      await expect(store.addJobs([makeJob({ id: "late" })])).rejects.toBe(error);
      await expect(store.getDataVersion()).rejects.toBe(error);
    });
  }

  test("that comes back is used again", async (context) => {
    if (whyMissing !== null) context.skip(whyMissing);
    const path = await newPath();
    const store = make(path, { durability: "normal" });
    onTestFinished(() => store.close());
    await openWithTables(store);
    await rename(path, `${path}.old`);
    await firstRejection(() => store.getTasks());
    await rename(`${path}.old`, path);
    for (let isBack = false; !isBack; ) {
      isBack = await store.getTasks().then(
        () => true,
        () => false,
      );
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await store.addJobs([makeJob()])).toHaveLength(1);
  });

  test("that is replaced is opened by a store that is closed and opened again", async (context) => {
    if (whyMissing !== null) context.skip(whyMissing);
    const path = await newPath();
    const store = make(path, { durability: "normal" });
    onTestFinished(() => store.close());
    await openWithTables(store);
    for (const suffix of ["", "-wal", "-shm"]) await rm(`${path}${suffix}`, { force: true });
    await firstRejection(() => store.getTasks());
    await store.close();
    await openWithTables(store);
    expect(await store.addJobs([makeJob()])).toHaveLength(1);
  });

  test("that is gone shows in the health, and once in the log", async (context) => {
    if (whyMissing !== null) context.skip(whyMissing);
    const path = await newPath();
    const { logger, entries } = recordingLogger();
    const dataStore = make(path, { durability: "normal" });
    const scheduler = new Scheduler({ dataStore, logger, logLevel: "warn", maxIdle: "1h" });
    onTestFinished(() => scheduler.stop());
    scheduler.task("t", () => {});
    await scheduler.start();
    for (const suffix of ["", "-wal", "-shm"]) await rm(`${path}${suffix}`, { force: true });
    // Nothing is asked of the scheduler, whose next look would be in an hour.
    while (entries.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const { isStoreReached, storeError } = await scheduler.health();
    expect([isStoreReached, storeError?.code]).toEqual([false, "storeUnavailable"]);
    await expect(scheduler.addJob("t")).rejects.toMatchObject({ code: "storeUnavailable" });
    const told = entries.filter(({ details }) => String(details[0]).includes("was deleted or moved away"));
    expect(told).toHaveLength(1);
  });
});

describe.each(LOCAL_STORES)("a $name that cannot write", ({ whyMissing, make, hold }) => {
  test("is not reached, as its health says, until a write succeeds", async (context) => {
    if (whyMissing !== null) context.skip(whyMissing);
    const path = await newPath();
    const dataStore = make(path, { durability: "normal", retry: { maxBusyDuration: "0s" } });
    const scheduler = new Scheduler({ dataStore, logLevel: "silent" });
    onTestFinished(() => scheduler.stop());
    scheduler.task("t", () => {});
    await scheduler.addJob("t");
    expect((await scheduler.health()).isStoreReached).toBe(true);
    const other = await hold(path, "UPDATE escapement_schema SET applied_at = applied_at");
    await expect(scheduler.addJob("t")).rejects.toMatchObject({ code: "storeUnavailable" });
    expect((await scheduler.health()).isStoreReached).toBe(false);
    // Others may still read what is there.
    expect((await scheduler.getJobs()).items).toHaveLength(1);
    await other.commit();
    expect((await scheduler.health()).isStoreReached).toBe(true);
  });
});

async function newPath(): Promise<string> {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  return join(folder.path, "jobs.db");
}
