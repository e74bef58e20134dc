import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Heap, type HeapItem } from "../../src/core/heap.ts";

interface Item extends HeapItem {
  readonly value: number;
}

const item = (value: number): Item => ({ value, heapIndex: -1 });
const newHeap = (): Heap<Item> => new Heap<Item>((a, b) => a.value < b.value);

describe("a heap", () => {
  test("gives its items back in order", () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), (values) => {
        const heap = newHeap();
        for (const value of values) heap.push(item(value));
        const popped: number[] = [];
        for (let next = heap.pop(); next !== undefined; next = heap.pop()) popped.push(next.value);
        expect(popped).toEqual([...values].sort((a, b) => a - b));
      }),
    );
  });

  test("gives up any item, and keeps the others in order", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer(), fc.boolean())), (entries) => {
        const heap = newHeap();
        const items = entries.map(([value]) => item(value));
        for (const one of items) heap.push(one);
        items.forEach((one, index) => {
          if (entries[index]?.[1] === true) heap.remove(one);
        });
        const kept = entries.filter(([, isRemoved]) => !isRemoved).map(([value]) => value);
        expect(heap.size).toBe(kept.length);
        const popped: number[] = [];
        for (let next = heap.pop(); next !== undefined; next = heap.pop()) popped.push(next.value);
        expect(popped).toEqual(kept.sort((a, b) => a - b));
      }),
    );
  });

  test("is not disturbed by removing what is not in it", () => {
    const heap = newHeap();
    const [inside, outside] = [item(1), item(0)];
    heap.push(inside);
    heap.remove(outside);
    heap.remove(inside);
    heap.remove(inside);
    expect([heap.size, heap.peek()]).toEqual([0, undefined]);
  });

  test("compares an item with no more than a logarithm of the others, and with one where items come in order", () => {
    let comparisons = 0;
    const comparisonsOf = (values: readonly number[]): number => {
      const heap = new Heap<Item>((a, b) => {
        comparisons++;
        return a.value < b.value;
      });
      comparisons = 0;
      const items = values.map(item);
      for (const one of items) heap.push(one);
      heap.remove(items[values.length >> 1] as Item);
      while (heap.pop() !== undefined);
      return comparisons;
    };
    const length = 4096;
    const ascending = Array.from({ length }, (_, index) => index);
    const shuffled = ascending.map((index) => (index * 2_654_435_761) % length);
    expect(comparisonsOf(ascending)).toBeLessThanOrEqual(2 * length);
    // 12 levels: at most one comparison a level on the way up, and two on the way down.
    expect(comparisonsOf(shuffled)).toBeLessThan(length * (12 + 2 * 12 + 2));
    expect(comparisonsOf(shuffled)).toBeGreaterThan(length);
  });
});
