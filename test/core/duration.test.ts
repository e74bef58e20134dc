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
    ["5m", 300_000],
    ["1h 30m", 5_400_000],
    ["1h30m", 5_400_000],
    ["90s", 90_000],
    ["250ms", 250],
    ["2d", 172_800_000],
    ["1w", 604_800_000],
    ["1.5h", 5_400_000],
    ["1.005s", 1005],
    ["1w 2d 3h 4m 5s 6ms", 788_645_006],
    ["0s", 0],
    [{ microseconds: 1500 }, 2],
    [Temporal.Duration.from({ hours: 1 }), 3_600_000],
  ])("%o is %i ms", (value, ms) => {
    expect(toDurationMs(value, "timeout")).toBe(ms);
  });

  test.each<[unknown, string]>([
    [5000, "a bare number has no unit"],
    ["5 minutes", 'write "5m"'],
    ["5 m", 'write "5m"'],
    ["5min", 'write "5m"'],
    ["1 hour and 30 minutes", 'write "1h 30m"'],
    ["30m 1h", 'write "1h 30m"'],
    ["10 sec, 5 msec", 'write "10s 5ms"'],
    ["5m 5m", "not a duration"],
    ["30", 'it has no unit; write "30s" or "30ms"'],
    ["2 months", "no fixed length"],
    ["1y", "no fixed length"],
    ["-5m", "must not be negative"],
    ["5 apples", "not a duration"],
    ["m", "not a duration"],
    [" ", "not a duration"],
    ["1h ".repeat(1000), "not a duration"],
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
