import { describe, expect, test } from "vitest";
import { type InstantLike, instantOrNull, Temporal, toEpochMs, zonedOf } from "../../src/core/temporal.ts";

describe("an instant", () => {
  test.each<[string, InstantLike]>([
    ["a Temporal.Instant", Temporal.Instant.from("2030-01-01T00:00:00Z")],
    ["a Temporal.ZonedDateTime", Temporal.ZonedDateTime.from("2030-01-01T01:00:00+01:00[Europe/Berlin]")],
    ["a Date", new Date("2030-01-01T00:00:00Z")],
    ["text with Z", "2030-01-01T00:00:00Z"],
    ["text with an offset", "2030-01-01T05:30:00+05:30"],
    ["text with an offset and a zone", "2030-01-01T01:00:00+01:00[Europe/Berlin]"],
    ["an object of another Temporal", { epochMilliseconds: 1_893_456_000_000 } as Temporal.Instant],
  ])("may be %s", (_, value) => {
    expect(toEpochMs(value)).toBe(1_893_456_000_000);
  });

  test.each<[string, unknown]>([
    ["a bare number", 1_893_456_000_000],
    ["text without an offset", "2030-01-01T00:00:00"],
    ["other text", "tomorrow"],
    ["an invalid Date", new Date(Number.NaN)],
    ["null", null],
    ["an instant beyond what Temporal knows", { epochMilliseconds: 9e15 }],
  ])("is not %s", (_, value) => {
    expect(() => toEpochMs(value as InstantLike, "runAt")).toThrow(
      expect.objectContaining({ code: "options", issues: [expect.objectContaining({ path: "runAt" })] }),
    );
  });

  test("loses its digits below a millisecond, as an object that only looks like one of Temporal may have", () => {
    const fake = (epochMilliseconds: number): InstantLike => ({ epochMilliseconds }) as Temporal.Instant;
    expect([toEpochMs(fake(1.5)), toEpochMs(fake(-1.5))]).toEqual([1, -2]);
  });

  test.each([
    ["+275760-09-13T00:00:00Z", [9e15, Number.POSITIVE_INFINITY]],
    ["-271821-04-20T00:00:00Z", [-9e15, Number.NEGATIVE_INFINITY]],
    ["1970-01-01T00:00:00Z", [Number.NaN, 0.5]],
  ])("is %s at the nearest, when a store holds what is none", (text, numbers) => {
    expect(numbers.map((ms) => String(instantOrNull(ms)))).toEqual(numbers.map(() => text));
  });

  test("goes back into Temporal objects", () => {
    expect(instantOrNull(0)?.toString()).toBe("1970-01-01T00:00:00Z");
    expect(instantOrNull(null)).toBeNull();
    expect(zonedOf(0, "Asia/Kolkata").toString()).toBe("1970-01-01T05:30:00+05:30[Asia/Kolkata]");
  });
});
