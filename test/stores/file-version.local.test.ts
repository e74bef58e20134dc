import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Scheduler } from "../../src/mod.ts";
import type { SqlDataStore } from "../../src/stores/sql/sqlite/store.ts";
import { makeTask } from "../../src/testing/data-store-contract/makers.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { LOCAL_STORES, openWithTables } from "./local-stores.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let files = 0;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

function newPath(): string {
  return join(folder.path, `${files++}.db`);
}

/** A virtual clock whose periods a test ends by hand. */
class PolledClock extends VirtualClock {
  readonly #runs = new Set<() => void>();

  every(_periodMs: number, run: () => void): () => void {
    this.#runs.add(run);
    return () => this.#runs.delete(run);
  }

  async poll(): Promise<void> {
    for (const run of [...this.#runs]) run();
    for (let turn = 0; turn < 5; turn++) await this.settle();
  }
}

describe.each(LOCAL_STORES)("$name", ({ whyMissing, make }) => {
  /** A store that is open until the test ends. */
  async function open(path: string): Promise<SqlDataStore> {
    const store = make(path, { durability: "normal" });
    await openWithTables(store);
    onTestFinished(() => store.close());
    return store;
  }

  test("tells of every change, however close to each other they are", async (context) => {
    if (whyMissing !== null) context.skip(whyMissing);
    const path = newPath();
    const [store, other] = [await open(path), await open(path)];
    const seen = new Set([await store.getDataVersion()]);
    for (let count = 0; count < 100; count++) {
      await other.putTasks([makeTask({ id: `t${count}` })]);
      seen.add(await store.getDataVersion());
    }
    expect(seen.size).toBe(101);
  });

  test("tells of a change when it was closed and opened meanwhile", async (context) => {
    if (whyMissing !== null) context.skip(whyMissing);
    const path = newPath();
    const store = await open(path);
    const before = await store.getDataVersion();
    await store.close();
    await store.open(0);
    expect(await store.getDataVersion()).not.toBe(before);
  });

  test("cannot tell in memory, where nobody else writes", async (context) => {
    if (whyMissing !== null) context.skip(whyMissing);
    const store = await open(":memory:");
    expect(await store.getDataVersion()).toBeNull();
  });

  test("does not set schedulers at each other that cannot take a job which is ready", async (context) => {
    if (whyMissing !== null) context.skip(whyMissing);
    const path = newPath();
    const clock = new PolledClock();
    let looks = 0;
    let commits = 0;
    const schedulers = ["a", "b"].map((identity) => {
      const dataStore = make(path, { durability: "normal" });
      const look = dataStore.look.bind(dataStore);
      const commit = dataStore.commit.bind(dataStore);
      dataStore.look = (request) => {
        looks++;
        return look(request);
      };
      dataStore.commit = (request) => {
        commits++;
        return commit(request);
      };
      const options = { dataStore, clock, identity, maxIdle: { hours: 1 }, logLevel: "error" } as const;
      const scheduler = new Scheduler(options);
      scheduler.task("t", { maxRunningJobs: 1 }, (_, { signal }) => aborted(signal));
      return scheduler;
    });
    for (const scheduler of schedulers) await scheduler.start();
    for (let count = 0; count < 3; count++) await schedulers[0]?.addJob("t");
    for (let polls = 0; polls < 20; polls++) await clock.poll();
    const before = { looks, commits };
    for (let polls = 0; polls < 20; polls++) await clock.poll();
    expect({ looks, commits }).toEqual(before);
    await Promise.all(schedulers.map((scheduler) => scheduler.stop({ drainTimeout: "PT0S" })));
  });
});

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
