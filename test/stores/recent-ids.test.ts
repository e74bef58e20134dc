import { describe, expect, test } from "vitest";
import { RecentIds } from "../../src/stores/memory/recent-ids.ts";
import { TOMBSTONE_MS, TOMBSTONES_MAX } from "../../src/stores/shared/limits.ts";

const T0 = 1_800_000_000_000;

/** What is remembered after ids were added at these times. */
function remembered(...additions: readonly (readonly [id: string, at: number])[]): string[] {
  const [recent, ids] = [new RecentIds(), new Set<string>()];
  for (const [id, at] of additions) {
    ids.add(id);
    for (const forgotten of recent.add(id, at)) ids.delete(forgotten);
  }
  return [...ids];
}

describe("what a memory store remembers for a while", () => {
  test("is kept for its time at least, and not for ever", () => {
    const [a, b, c] = [["a", T0] as const, ["b", T0 + TOMBSTONE_MS - 1] as const, ["c", T0 + TOMBSTONE_MS] as const];
    expect(remembered(a, b)).toEqual(["a", "b"]);
    expect(remembered(a, b, c)).toEqual(["a", "b", "c"]);
    expect(remembered(a, b, c, ["d", T0 + 2 * TOMBSTONE_MS])).toEqual(["c", "d"]);
  });

  test("is as much as there is room for, the newest, whatever comes", () => {
    const ids = Array.from({ length: 10 * TOMBSTONES_MAX }, (_, index) => `job ${index}`);
    const left = remembered(...ids.map((id) => [id, T0] as const));
    expect(left.slice(-TOMBSTONES_MAX)).toEqual(ids.slice(-TOMBSTONES_MAX));
    expect(left.length).toBeLessThanOrEqual(2 * TOMBSTONES_MAX);
  });

  test("outlives a clock that is set back", () => {
    expect(remembered(["a", T0], ["b", T0 - 10 * TOMBSTONE_MS])).toEqual(["a", "b"]);
  });
});
