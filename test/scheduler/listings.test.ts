import { describe, expect, test } from "vitest";
import type { RecordPage } from "../../src/contracts.ts";
import { DateTrigger, MemoryDataStore, OptionsError } from "../../src/mod.ts";
import { at, everySecond, rejectionOf, setUp } from "./support.ts";

/** A store that counts the pages of jobs that are read, and that fails from a given page on. */
class CountingStore extends MemoryDataStore {
  pages = 0;
  failsAt = Number.POSITIVE_INFINITY;

  override async getJobs(filter: Parameters<MemoryDataStore["getJobs"]>[0]): ReturnType<MemoryDataStore["getJobs"]> {
    if (++this.pages >= this.failsAt) throw new Error(`page ${this.pages} cannot be read`);
    return super.getJobs(filter) as Promise<RecordPage<never>>;
  }
}

/** A store whose first page of jobs is empty, as where a filter takes few of very many. */
class ShortPages extends MemoryDataStore {
  override async getJobs(filter: Parameters<MemoryDataStore["getJobs"]>[0]): ReturnType<MemoryDataStore["getJobs"]> {
    return filter.cursor === null ? { items: [], cursor: " " } : super.getJobs(filter);
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

  test("counts all its items, and those in each state, where it is asked to", async () => {
    const { scheduler, store } = await withJobs(1003);
    const one = { count: 1, isCapped: false };
    const none = { count: 0, isCapped: false };
    await scheduler.addJob("t", { idempotencyKey: "other" });
    store.pages = 0;
    const page = await scheduler.getJobs({ limit: 1, include: { total: true, facets: true } });
    expect(page).toMatchObject({ total: { count: 1000, isCapped: true } });
    expect(page.facets).toEqual({ queued: { count: 1000, isCapped: true }, blocked: none, running: none });
    expect(store.pages).toBe(5);
    const other = await scheduler.getJobs({
      search: "other",
      state: "running",
      include: { total: true, facets: true },
    });
    expect(other).toEqual({
      items: [],
      cursor: null,
      total: none,
      facets: { queued: one, blocked: none, running: none },
    });
    const next = await scheduler.getJobs({ limit: 1, cursor: page.cursor, include: { total: true } });
    expect(next.items.map(({ id }) => id)).not.toEqual(page.items.map(({ id }) => id));
    expect([next.total?.isCapped, next.facets]).toEqual([true, undefined]);
    expect(await scheduler.getJobs({ limit: 1 })).not.toHaveProperty("total");
    for (const id of ["a", "b"]) await scheduler.addSchedule("t", "@daily", { id, paused: id === "b" });
    const schedules = await scheduler.getSchedules({ paused: false, include: { total: true, facets: true } });
    expect([schedules.total, schedules.facets]).toEqual([
      one,
      { active: one, paused: one, ended: none, failing: none },
    ]);
    await scheduler.cancelJobs({ all: true });
    const runs = await scheduler.getRuns({ state: "queued", search: "other", include: { total: true, facets: true } });
    expect([runs.total, runs.facets]).toMatchObject([none, { queued: none, cancelled: one, success: none }]);
    const wrong: unknown = { totals: true };
    expect(String(await rejectionOf(scheduler.getRuns({ include: wrong as object })))).toContain("total");
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

describe("the filters of lists", () => {
  test("reach the store, with instants as milliseconds", async () => {
    const { scheduler } = setUp();
    scheduler.task("mail", () => {});
    scheduler.task("report", () => {
      throw new Error("The server is down");
    });
    await scheduler.addSchedule("mail", everySecond(), { id: "b", name: "Letters" });
    await scheduler.addSchedule("mail", new DateTrigger(at(5)), { id: "a", paused: true });
    await scheduler.addSchedule("mail", new DateTrigger(at(-5)), { id: "c" });
    const ids = (page: { items: { id: string }[] }): string[] => page.items.map(({ id }) => id);
    expect(ids(await scheduler.getSchedules({ sort: "nextFireTime" }))).toEqual(["c", "b", "a"]);
    expect(ids(await scheduler.getSchedules({ state: "paused" }))).toEqual(["a"]);
    expect(ids(await scheduler.getSchedules({ search: "letter", state: "active" }))).toEqual(["b"]);
    const early = await scheduler.addJob("mail", { runAt: at(60), idempotencyKey: "Customer 7" });
    const late = await scheduler.addJob("mail", { runAt: at(120) });
    expect(ids(await scheduler.getJobs({ order: "newest" }))).toEqual([late.id, early.id]);
    expect(ids(await scheduler.getJobs({ until: at(120), state: "queued" }))).toEqual([early.id]);
    expect(ids(await scheduler.getJobs({ from: at(61) }))).toEqual([late.id]);
    expect(ids(await scheduler.getJobs({ search: "customer" }))).toEqual([early.id]);
    const { id } = await scheduler.addJob("report");
    await scheduler.tick();
    const { items } = await scheduler.getJobResults({ search: "SERVER is down" });
    expect(items.map(({ jobId }) => jobId)).toEqual([id]);
  });

  test("are checked, and other words for them are understood", async () => {
    const { scheduler } = setUp();
    const untyped = scheduler as unknown as Record<string, (filter: unknown) => Promise<unknown>>;
    const mistakes: [list: string, filter: unknown, message: string][] = [
      ["getSchedules", { state: "running" }, 'state must be "active", "paused", "ended" or "failing"; got "running"'],
      ["getSchedules", { sort: "nextfiretime" }, 'did you mean "nextFireTime"?'],
      ["getSchedules", { order: "id" }, 'order is no option; did you mean "sort"?'],
      ["getSchedules", { q: "a" }, 'q is no option; did you mean "search"?'],
      ["getSchedules", { search: "" }, "search must be text of 1 to 256 characters"],
      ["getSchedules", { sort: "nextFireTime", cursor: "x" }, "cursor must be the cursor of a page of this list"],
      ["getJobs", { sort: "newest" }, 'sort must be "id" or "runAt"; got "newest"'],
      ["getJobs", { from: "soon" }, "from"],
      ["getJobResults", { state: "error" }, 'state is no option; did you mean "outcome"?'],
      ["getJobResults", { search: "a".repeat(257) }, "search must be text of 1 to 256 characters"],
    ];
    for (const [list, filter, message] of mistakes) {
      const error = await rejectionOf(Promise.resolve(untyped[list]?.(filter)));
      expect(error).toBeInstanceOf(OptionsError);
      expect(String(error)).toContain(message);
    }
  });

  test("take the cursors of their own pages alone, whose size may change", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addJobs(Array.from({ length: 3 }, () => ({ task: "t" })));
    for (const id of ["a", "b", "c"]) await scheduler.addSchedule("t", "0 9 * * *", { id });
    const { cursor } = await scheduler.getJobs({ limit: 1 });
    const schedules = await scheduler.getSchedules({ limit: 1, sort: "nextFireTime" });
    expect((await scheduler.getJobs({ cursor, limit: 2 })).items).toHaveLength(2);
    expect((await scheduler.getSchedules({ sort: "nextFireTime", cursor: schedules.cursor })).items).toHaveLength(2);
    const others: [list: string, reads: () => PromiseLike<unknown>][] = [
      ["of another list", () => scheduler.getJobResults({ cursor })],
      ["of another filter", () => scheduler.getJobs({ cursor, taskId: "t" })],
      ["of another order", () => scheduler.getJobs({ cursor, order: "newest" })],
      ["of another sort", () => scheduler.getSchedules({ cursor: schedules.cursor })],
    ];
    for (const [what, read] of others) {
      const error = await rejectionOf(Promise.resolve(read()));
      expect([what, String(error)]).toEqual([
        what,
        expect.stringContaining("cursor must be the cursor of a page of this list, with the same filter and order"),
      ]);
    }
  });

  test("leave cancelJobs no job of a page that a filter took none of", async () => {
    const store = new ShortPages();
    const { scheduler } = setUp({ dataStore: store });
    scheduler.task("t", () => {});
    await scheduler.addJobs(Array.from({ length: 3 }, () => ({ task: "t" })));
    expect(await scheduler.cancelJobs({ taskId: "t" })).toMatchObject({ cancelled: 3 });
  });
});
