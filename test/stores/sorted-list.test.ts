import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SortedList } from "../../src/stores/memory/sorted-list.ts";

interface Item {
  readonly value: number;
}

const byValue = (a: Item, b: Item): number => a.value - b.value;

/** The values from one on, at most `limit` of them. */
function valuesFrom(list: SortedList<Item>, from: number, limit: number): number[] {
  return [...list.from((item) => item.value >= from)].slice(0, limit).map(({ value }) => value);
}

/** The values from one on backwards, at most `limit` of them. */
function valuesBackFrom(list: SortedList<Item>, from: number, limit: number): number[] {
  return [...list.backFrom((item) => item.value <= from)].slice(0, limit).map(({ value }) => value);
}

describe("a sorted list", () => {
  test("shows its items in order from any place on, whatever was added and taken out", () => {
    const value = fc.integer({ min: 0, max: 2000 });
    const entries = fc.uniqueArray(fc.record({ value, isRemoved: fc.boolean() }), {
      selector: (entry) => entry.value,
      maxLength: 1500,
      size: "max",
    });
    fc.assert(
      fc.property(entries, value, fc.integer({ min: 1, max: 2000 }), (all, from, limit) => {
        const list = new SortedList(byValue);
        for (const item of all) list.add(item);
        for (const item of all) if (item.isRemoved) list.delete(item);
        const kept = all.filter((item) => !item.isRemoved).map((item) => item.value);
        const expected = kept.filter((one) => one >= from).sort((a, b) => a - b);
        expect(valuesFrom(list, from, limit)).toEqual(expected.slice(0, limit));
        const back = kept.filter((one) => one <= from).sort((a, b) => b - a);
        expect(valuesBackFrom(list, from, limit)).toEqual(back.slice(0, limit));
        const ends = [list.first?.value, list.last?.value];
        expect([list.size, ...ends]).toEqual([
          kept.length,
          ...[Math.min, Math.max].map((end) => (kept.length === 0 ? undefined : end(...kept))),
        ]);
      }),
      { numRuns: 50 },
    );
  });

  test("shows in order what came in order, and goes on to do so", () => {
    const list = new SortedList(byValue);
    for (let value = 0; value < 2000; value++) list.add({ value });
    for (const value of [2000.5, 2000, 0.5]) list.add({ value });
    const last = [2000.5, 2000, 1999, 1998];
    expect([valuesBackFrom(list, 9999, 4), valuesFrom(list, 0, 3)]).toEqual([last, [0, 0.5, 1]]);
    expect(valuesBackFrom(list, -1, 4)).toEqual([]);
  });

  test("is not disturbed by removing what is not in it", () => {
    const list = new SortedList(byValue);
    const inside = { value: 1 };
    list.add(inside);
    for (const outside of [{ value: 0 }, { value: 1 }, { value: 2 }]) list.delete(outside);
    expect(valuesFrom(list, 0, 10)).toEqual([1]);
    list.delete(inside);
    list.delete(inside);
    expect([list.size, valuesFrom(list, 0, 10)]).toEqual([0, []]);
  });

  test("compares an item with no more than a logarithm of the others", () => {
    let comparisons = 0;
    const list = new SortedList<Item>((a, b) => {
      comparisons++;
      return byValue(a, b);
    });
    const items = Array.from({ length: 20_000 }, (_, index) => ({ value: (index * 7919) % 20_000 }));
    for (const item of items) list.add(item);
    let most = 0;
    for (const item of items) {
      comparisons = 0;
      list.delete(item);
      list.add(item);
      most = Math.max(most, comparisons);
    }
    expect(most).toBeLessThan(4 * Math.ceil(Math.log2(items.length)));
    expect(valuesFrom(list, 0, 20_000)).toEqual(items.map(({ value }) => value).sort((a, b) => a - b));
  });
});
