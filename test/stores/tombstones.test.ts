import { describe, expect, test } from "vitest";
import { TOMBSTONE_MS, TOMBSTONES_MAX } from "../../src/core/limits.ts";
import { Tombstones } from "../../src/stores/memory/tombstones.ts";

const T0 = 1_800_000_000_000;

describe("tombstones", () => {
  test("are kept for their time at least, and not for ever", () => {
    const tombstones = new Tombstones();
    tombstones.add("a", T0);
    tombstones.add("b", T0 + TOMBSTONE_MS - 1);
    expect([tombstones.has("a"), tombstones.has("b"), tombstones.has("c")]).toEqual([true, true, false]);
    tombstones.add("c", T0 + TOMBSTONE_MS);
    expect(tombstones.has("b")).toBe(true);
    tombstones.add("d", T0 + 2 * TOMBSTONE_MS);
    expect([tombstones.has("a"), tombstones.has("b"), tombstones.has("c")]).toEqual([false, false, true]);
  });

  test("are as many as there is room for, the newest, whatever comes", () => {
    const tombstones = new Tombstones();
    const ids = Array.from({ length: 10 * TOMBSTONES_MAX }, (_, index) => `job ${index}`);
    for (const id of ids) tombstones.add(id, T0);
    const kept = ids.filter((id) => tombstones.has(id));
    expect(kept.slice(-TOMBSTONES_MAX)).toEqual(ids.slice(-TOMBSTONES_MAX));
    expect(kept.length).toBeLessThanOrEqual(2 * TOMBSTONES_MAX);
  });

  test("outlive a clock that is set back", () => {
    const tombstones = new Tombstones();
    tombstones.add("a", T0);
    tombstones.add("b", T0 - 10 * TOMBSTONE_MS);
    expect([tombstones.has("a"), tombstones.has("b")]).toEqual([true, true]);
  });
});
