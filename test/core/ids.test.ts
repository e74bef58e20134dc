import { describe, expect, test } from "vitest";
import { guardedRandom, IdGenerator } from "../../src/core/ids.ts";

describe("ids", () => {
  test("are UUIDs of version 7 that carry the time", () => {
    const id = new IdGenerator(() => 0.5).next(0x0193_0000_abcd);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(id.replaceAll("-", "").slice(0, 12)).toBe("01930000abcd");
  });

  test("increase strictly while the clock stands still, longer than a millisecond has counts", () => {
    const generator = new IdGenerator();
    const ids = Array.from({ length: 20_000 }, () => generator.next(1_900_000_000_000));
    expect(new Set(ids).size).toBe(20_000);
    expect([...ids].sort()).toEqual(ids);
  });

  test("increase when the clock goes back", () => {
    const generator = new IdGenerator();
    const ids = [2000, 1000, 1500, 2000, 2001].map((now) => generator.next(now));
    expect([...ids].sort()).toEqual(ids);
  });

  test("of two generators differ", () => {
    expect(new IdGenerator().next(1)).not.toBe(new IdGenerator().next(1));
  });

  test.each([0, 0.999_999_999_999])("are well-formed at the ends of the random source (%f)", (draw) => {
    expect(new IdGenerator(() => draw).next(1)).toHaveLength(36);
  });
});

describe("a guarded random source", () => {
  test("passes good numbers on", () => {
    const faults: unknown[] = [];
    expect(
      guardedRandom(
        () => 0.25,
        (fault) => faults.push(fault),
      )(),
    ).toBe(0.25);
    expect(faults).toEqual([]);
  });

  test.each([1, -0.1, Number.NaN, "0.5" as unknown as number])("replaces %o, and reports it once", (bad) => {
    const faults: unknown[] = [];
    const random = guardedRandom(
      () => bad,
      (fault) => faults.push(fault),
    );
    const draws = [random(), random()];
    for (const draw of draws) expect(draw >= 0 && draw < 1).toBe(true);
    expect(faults).toEqual([bad]);
  });

  test("replaces a source that throws", () => {
    const faults: unknown[] = [];
    const random = guardedRandom(
      () => {
        throw new Error("no entropy");
      },
      (fault) => faults.push(fault),
    );
    expect(random()).toBeLessThan(1);
    expect(faults).toHaveLength(1);
  });
});
