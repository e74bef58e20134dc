import { describe, expect, test } from "vitest";
import { TOMBSTONE_MS, TOMBSTONES_MAX } from "../../src/core/limits.ts";
import { RecentMap } from "../../src/stores/memory/windows.ts";

const T0 = 1_800_000_000_000;

/** Which of these ids are kept. */
function kept(map: RecentMap<true>, ids: readonly string[]): string {
  return ids.filter((id) => map.get(id) === true).join("");
}

describe("what a memory store remembers for a while", () => {
  test("is kept for its time at least, and not for ever", () => {
    const map = new RecentMap<true>();
    map.set("a", true, T0);
    map.set("b", true, T0 + TOMBSTONE_MS - 1);
    expect(kept(map, ["a", "b", "c"])).toBe("ab");
    map.set("c", true, T0 + TOMBSTONE_MS);
    expect(kept(map, ["b"])).toBe("b");
    map.set("d", true, T0 + 2 * TOMBSTONE_MS);
    expect(kept(map, ["a", "b", "c"])).toBe("c");
  });

  test("is as much as there is room for, the newest, whatever comes", () => {
    const map = new RecentMap<true>();
    const ids = Array.from({ length: 10 * TOMBSTONES_MAX }, (_, index) => `job ${index}`);
    for (const id of ids) map.set(id, true, T0);
    const left = ids.filter((id) => map.get(id) === true);
    expect(left.slice(-TOMBSTONES_MAX)).toEqual(ids.slice(-TOMBSTONES_MAX));
    expect(left.length).toBeLessThanOrEqual(2 * TOMBSTONES_MAX);
  });

  test("outlives a clock that is set back", () => {
    const map = new RecentMap<true>();
    map.set("a", true, T0);
    map.set("b", true, T0 - 10 * TOMBSTONE_MS);
    expect(kept(map, ["a", "b"])).toBe("ab");
  });
});
