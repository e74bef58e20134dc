import { describe, expect, test } from "vitest";
import { failureKeyOf, patternOf } from "../../src/records/failure.ts";

describe("the pattern of a message", () => {
  test.each([
    ["no paper", "no paper"],
    ["no paper in tray 7", "no paper in tray #"],
    ["took 1,200.5 ms of 3", "took # ms of #"],
    ["user 3f2504e0-4f89-11d3-9a0c-0305e82c3301 not found", "user # not found"],
    ["order ord_9aFk20Zq was refused", "order # was refused"],
    ["GET https://example.org/items/42?page=3: 503", "GET https://example.org/items/#?page=#: #"],
    ["connect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED #"],
    ["at 2030-01-31T09:00:00Z: late", "at #:#Z: late"],
    ["first line 1\nsecond line 2", "first line #"],
    ["", ""],
  ])("of %j is %j", (message, pattern) => {
    expect(patternOf(message)).toBe(pattern);
  });

  test("takes no longer for hostile text", () => {
    expect(patternOf("-".repeat(100_000)).length).toBe(500);
    expect(patternOf("a1".repeat(100_000))).toBe("#");
  });

  test("makes one key of messages that differ in numbers, and others of other names and outcomes", () => {
    const key = (message: string | null, name: string | null = "Error", outcome: "error" | "abandoned" = "error") =>
      failureKeyOf({ outcome, name, message });
    expect(key("tray 7")).toBe(key("tray 12"));
    expect(
      new Set([key("tray 7"), key("shelf 7"), key("tray 7", "TypeError"), key(null), key(null, null, "abandoned")])
        .size,
    ).toBe(5);
  });
});
