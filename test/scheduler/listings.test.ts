import { describe, expect, test } from "vitest";
import type { RecordPage } from "../../src/contracts.ts";
import { MemoryDataStore, OptionsError } from "../../src/mod.ts";
import { everySecond, rejectionOf, setUp } from "./support.ts";

/** A store that counts the pages of jobs that are read, and that fails from a given page on. */
class CountingStore extends MemoryDataStore {
  pages = 0;
  failsAt = Number.POSITIVE_INFINITY;

  override async getJobs(filter: Parameters<MemoryDataStore["getJobs"]>[0]): ReturnType<MemoryDataStore["getJobs"]> {
    if (++this.pages >= this.failsAt) throw new Error(`page ${this.pages} cannot be read`);
    return super.getJobs(filter) as Promise<RecordPage<never>>;
  }
}

async function withJobs(count: number): Promise<ReturnType<typeof setUp> & { store: CountingStore; ids: string[] }> {
  const store = new CountingStore();
  const setup = setUp({ dataStore: store });
  setup.scheduler.task("t", () => {});
  const jobs = await setup.scheduler.addJobs(Array.from({ length: count }, () => ({ task: "t" })));
  return { ...setup, store, ids: jobs.map(({ id }) => id).sort() };
}

describe("a list", () => {
  test("that is awaited is one page", async () => {
    const { scheduler, store, ids } = await withJobs(5);
    const page = await scheduler.getJobs({ limit: 2 });
    expect(page.items.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(page.cursor).not.toBe(null);
    expect(store.pages).toBe(1);
  });

  test("that is iterated over goes through all pages, each read when it is needed", async () => {
    const { scheduler, store, ids } = await withJobs(5);
    const seen: [string, number][] = [];
    for await (const { id } of scheduler.getJobs({ limit: 2 })) seen.push([id, store.pages]);
    expect(seen).toEqual(ids.map((id, index) => [id, Math.floor(index / 2) + 1]));
  });

  test("that is left early reads no further page, and may be iterated over again", async () => {
    const { scheduler, store, ids } = await withJobs(5);
    const list = scheduler.getJobs({ limit: 2 });
    for (const round of [1, 2]) {
      for await (const { id } of list) {
        expect([id, store.pages]).toEqual([ids[0], round]);
        break;
      }
    }
  });

  test("begins after its cursor", async () => {
    const { scheduler, ids } = await withJobs(5);
    const { cursor } = await scheduler.getJobs({ limit: 3 });
    const rest: string[] = [];
    for await (const { id } of scheduler.getJobs({ limit: 1, cursor })) rest.push(id);
    expect(rest).toEqual(ids.slice(3));
  });

  test("is a promise, which reads once however often it is asked", async () => {
    const { scheduler, store } = await withJobs(1);
    const list = scheduler.getJobs();
    expect(list).toBeInstanceOf(Promise);
    expect(store.pages).toBe(0);
    const ended: string[] = [];
    const pages = await Promise.all([list, list.then((page) => page), list.finally(() => ended.push("ended"))]);
    expect(pages.map(({ items }) => items.length)).toEqual([1, 1, 1]);
    expect([store.pages, ended]).toEqual([1, ["ended"]]);
  });

  test("tells who awaits and who iterates what went wrong, and nobody else", async () => {
    const { scheduler, store } = await withJobs(5);
    store.failsAt = 2;
    const seen: string[] = [];
    const iterate = async (): Promise<void> => {
      for await (const { id } of scheduler.getJobs({ limit: 3 })) seen.push(id);
    };
    expect(await rejectionOf(iterate())).toMatchObject({ message: "page 2 cannot be read" });
    expect(seen.length).toBe(3);
    expect(await rejectionOf(scheduler.getJobs())).toMatchObject({ message: "page 3 cannot be read" });
    // Whoever rejects what nobody handles ends the test run.
    scheduler.getJobs({ limit: 0 });
    expect(await scheduler.getJobs({ limit: 0 }).catch((error: unknown) => error)).toBeInstanceOf(OptionsError);
    const bad = async (): Promise<void> => {
      for await (const _ of scheduler.getJobs({ limit: 0 })) expect.unreachable();
    };
    expect(await rejectionOf(bad())).toBeInstanceOf(OptionsError);
  });

  test("is there for schedules and results too", async () => {
    const { scheduler } = await withJobs(3);
    for (const id of ["a", "b", "c"]) await scheduler.addSchedule("t", everySecond(), { id, paused: true });
    await scheduler.tick();
    const ids: string[] = [];
    for await (const { id } of scheduler.getSchedules({ limit: 2 })) ids.push(id);
    const outcomes: string[] = [];
    for await (const { outcome } of scheduler.getJobResults({ limit: 2 })) outcomes.push(outcome);
    expect([ids, outcomes]).toEqual([
      ["a", "b", "c"],
      ["success", "success", "success"],
    ]);
  });
});
