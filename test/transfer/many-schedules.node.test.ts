import { expect, test } from "vitest";
import type { DataStore } from "../../src/stores/data-store.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { makeTask, numbered } from "../../src/testing/data-store-contract/makers.ts";
import { exportStore, importStore } from "../../src/transfer/mod.ts";
import { readableSchedule } from "./samples.ts";

const COUNT = 100_000;

/** A store with very many schedules, of which it makes those of a page when the page is read, and which it forgets when
 *  they are added. */
class EndlessStore extends MemoryDataStore {
  made = 0;
  added = 0;
  largestCommit = 0;
  readonly #one = readableSchedule();

  override async getSchedules({
    ids,
    limit,
    cursor,
  }: Parameters<DataStore["getSchedules"]>[0]): ReturnType<DataStore["getSchedules"]> {
    if (ids !== undefined) return { items: [], cursor: null };
    const start = cursor === null ? 0 : Number(cursor);
    const items = Array.from({ length: Math.min(limit, COUNT - start) }, (_, index) => ({
      ...this.#one,
      id: numbered("schedule", start + index),
    }));
    this.made += items.length;
    return { items, cursor: start + items.length < COUNT ? String(start + items.length) : null };
  }

  override async addSchedules(
    additions: Parameters<DataStore["addSchedules"]>[0],
  ): ReturnType<DataStore["addSchedules"]> {
    this.added += additions.length;
    this.largestCommit = Math.max(this.largestCommit, additions.length);
    return { conflicts: null, results: additions.map(({ schedule }) => ({ change: "added", schedule })) };
  }
}

test("100,000 schedules go from store to store, of which a page and a commit are in memory", async () => {
  const [from, to] = [new EndlessStore(), new EndlessStore()];
  await from.putTasks([makeTask()]);
  let passes = 0;
  let aheadMax = 0;
  const lines = async function* (): AsyncGenerator<string> {
    from.made = 0;
    passes++;
    for await (const line of exportStore(from)) {
      // The second pass writes.
      if (passes === 2) aheadMax = Math.max(aheadMax, from.made - to.added);
      yield line;
    }
  };
  const report = await importStore(to, lines);
  expect(report.schedules).toEqual({ added: COUNT, replaced: 0, kept: 0 });
  expect([passes, to.added, to.largestCommit]).toEqual([2, COUNT, 200]);
  expect(aheadMax).toBeLessThanOrEqual(1200);
});
