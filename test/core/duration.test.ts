import { describe, expect, test } from "vitest";
import { type Duration, toDurationMs } from "../../src/core/duration.ts";
import { OptionsError } from "../../src/core/errors.ts";
import { Temporal } from "../../src/core/temporal.ts";

describe("a duration", () => {
  test.each<[Duration, number]>([
    ["PT5M", 300_000],
    ["P1DT2H", 93_600_000],
    ["P2W", 1_209_600_000],
    ["PT0.25S", 250],
    ["PT0S", 0],
    [{ minutes: 1, seconds: 30 }, 90_000],
    [{ days: 1 }, 86_400_000],
    [{ microseconds: 1500 }, 2],
    [Temporal.Duration.from({ hours: 1 }), 3_600_000],
  ])("%o is %i ms", (value, ms) => {
    expect(toDurationMs(value, "timeout")).toBe(ms);
  });

  test.each<[unknown, string]>([
    [5000, "a bare number has no unit"],
    ["5 minutes", "not a duration"],
    ["", "not a duration"],
    [{}, "not a duration"],
    [{ minuets: 5 }, "not a duration"],
    [null, "not a duration"],
    [undefined, "not a duration"],
    [{ months: 1 }, "no fixed length"],
    ["P1Y", "no fixed length"],
    ["-PT1S", "must not be negative"],
    [{ seconds: 1.5 }, "not a duration"],
  ])("%o is refused: %s", (value, problem) => {
    expect(() => toDurationMs(value as Duration, "timeout")).toThrow(OptionsError);
    expect(() => toDurationMs(value as Duration, "timeout")).toThrow(
      new RegExp(`timeout must be a duration.*${problem}`),
    );
  });
});
