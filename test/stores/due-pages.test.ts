import { expect, test } from "vitest";
import type { LookedSchedule, ScheduleWindow } from "../../src/stores/data-store.ts";
import { DuePages } from "../../src/stores/sql/look/look-for-work.ts";
import { makeSchedule, T0 } from "../../src/testing/data-store-contract/makers.ts";

const WINDOW: ScheduleWindow = { dueBy: T0, limit: 4, bytesMax: 1000, after: null };

/** Schedules as they are read, one row for each size. */
function rowsOf(...sizes: number[]): LookedSchedule[] {
  return sizes.map((bytes, index) => {
    const { payload: _payload, metadata: _metadata, name: _name, ...schedule } = makeSchedule({ id: `s${index}` });
    return { ...schedule, nextFireTime: T0 + index, preferredScheduler: null, bytes };
  });
}

/** How many rows a page reads, one more than it shows at most. */
function limitOf(pages: DuePages): unknown {
  return pages.parameters(WINDOW)[1];
}

test("a page shows up to the limit, and what comes next", () => {
  const pages = new DuePages();
  const rows = rowsOf(1, 1, 1, 1, 1);
  expect(limitOf(pages)).toBe(5);
  expect(pages.page(rows, WINDOW, null)).toEqual({ due: rows.slice(0, 4), nextFireAt: T0 + 4 });
  expect(pages.page(rows.slice(0, 4), WINDOW, T0 + 99)).toEqual({ due: rows.slice(0, 4), nextFireAt: T0 + 99 });
  expect(pages.page([], WINDOW, null)).toEqual({ due: [], nextFireAt: null });
});

test("a page ends before the bytes are exceeded, and shows the first schedule whatever its size", () => {
  const pages = new DuePages();
  const rows = rowsOf(500, 500, 1, 1);
  expect(pages.page(rows, WINDOW, null)).toEqual({ due: rows.slice(0, 2), nextFireAt: T0 + 2 });
  const large = rowsOf(5000, 1);
  expect(pages.page(large, WINDOW, null)).toEqual({ due: large.slice(0, 1), nextFireAt: T0 + 1 });
});

test("pages after one that was cut read about as many as fitted, and then more again", () => {
  const pages = new DuePages();
  pages.page(rowsOf(900, 900, 900, 900, 900), WINDOW, null);
  expect(limitOf(pages)).toBe(3);
  pages.page(rowsOf(1, 1, 1), WINDOW, null);
  expect(limitOf(pages)).toBe(5);
});

test("pages after an answer that was too large read a quarter, down to one", () => {
  const pages = new DuePages();
  expect([pages.shrink(WINDOW), limitOf(pages)]).toEqual([true, 2]);
  expect([pages.shrink(WINDOW), limitOf(pages)]).toEqual([false, 2]);
  pages.page(rowsOf(1, 1), WINDOW, null);
  expect(limitOf(pages)).toBe(3);
});
