import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { durationOf, durationText, toDurationMs } from "../../src/core/duration.ts";
import { hasDigitsBelowMs, instantOf, instantText, Temporal, toEpochMs, zonedOf } from "../../src/core/temporal.ts";
import { toEpochDay } from "../../src/triggers/civil-date.ts";
import { isoIn } from "../../src/triggers/words.ts";

// Common texts are read and written without Temporal objects. Here Temporal says what is right.

const INSTANT_MS = fc.oneof(
  fc.integer({ min: 0, max: 253_402_300_799_999 }),
  fc.integer({ min: 0, max: 253_402_300_799 }).map((seconds) => seconds * 1000),
  fc.maxSafeInteger().map((ms) => ms % 8_640_000_000_000_001),
);
const two = (max: number): fc.Arbitrary<string> => fc.nat(max).map((number) => String(number).padStart(2, "0"));

/** What a function gives, or that it throws. */
function outcomeOf<T>(call: () => T): T | "refused" {
  try {
    return call();
  } catch {
    return "refused";
  }
}

describe("without Temporal objects,", () => {
  test("an instant is written as Temporal writes it", () => {
    fc.assert(fc.property(INSTANT_MS, (ms) => void expect(instantText(ms)).toBe(instantOf(ms).toString())));
    for (const ms of [0, 120, 500, 8.64e15, -8.64e15, -62_198_755_200_000]) {
      expect(instantText(ms)).toBe(instantOf(ms).toString());
    }
    expect([Number.NaN, 1.5, 1e20].map(instantText)).toEqual([Number.NaN, 1.5, 1e20].map((ms) => `${instantOf(ms)}`));
  });

  test("an instant on a clock is written as Temporal writes it", () => {
    const zones = fc.constantFrom("Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Africa/Monrovia", "-03:30");
    fc.assert(
      fc.property(INSTANT_MS, zones, (ms, zone) => {
        fc.pre(Math.abs(ms) <= 8.6e15);
        expect(isoIn(ms, zone)).toBe(zonedOf(ms, zone).toString({ timeZoneName: "never" }));
      }),
    );
    const inMonrovia = zonedOf(864_000_000, "Africa/Monrovia").toString({ timeZoneName: "never" });
    expect(isoIn(864_000_000, "Africa/Monrovia")).toBe(inMonrovia);
  });

  test("the text of an instant is read as Temporal reads it, or refused", () => {
    const offset = fc.oneof(
      fc.constant("Z"),
      fc
        .tuple(fc.constantFrom("+", "-"), two(24), two(60))
        .map(([sign, hours, minutes]) => `${sign}${hours}:${minutes}`),
    );
    const seconds = fc.oneof(
      fc.constant(""),
      two(60).map((text) => `:${text}`),
      two(60).map((text) => `:${text}.120`),
      two(60).map((text) => `:${text}.1200010`),
    );
    const text = fc
      .tuple(fc.integer({ min: 0, max: 9999 }), two(13), two(32), two(24), two(60), seconds, offset)
      .map(([y, mo, d, h, mi, s, o]) => `${String(y).padStart(4, "0")}-${mo}-${d}T${h}:${mi}${s}${o}`);
    fc.assert(
      fc.property(text, (value) => {
        expect(outcomeOf(() => toEpochMs(value))).toBe(outcomeOf(() => Temporal.Instant.from(value).epochMilliseconds));
        expect(outcomeOf(() => hasDigitsBelowMs(value))).toBe(
          outcomeOf(() => Temporal.Instant.from(value).epochNanoseconds % 1_000_000n !== 0n),
        );
      }),
      { numRuns: 2000 },
    );
    expect(() => toEpochMs("2030-02-30T09:00:00Z")).toThrow(/ISO 8601/);
  });

  test("a date is read as Temporal reads it, or refused", () => {
    const text = fc
      .tuple(fc.integer({ min: 0, max: 9999 }), two(13), two(32))
      .map((parts) => parts.map((part) => String(part).padStart(parts.indexOf(part) === 0 ? 4 : 2, "0")).join("-"));
    fc.assert(
      fc.property(text, (value) => {
        const date = (): number => Date.parse(`${Temporal.PlainDate.from(value)}T00:00:00Z`) / 86_400_000;
        expect(outcomeOf(() => toEpochDay(value, "date"))).toBe(outcomeOf(date));
      }),
      { numRuns: 500 },
    );
  });

  test("a duration is written and read as Temporal does", () => {
    fc.assert(
      fc.property(fc.nat(10_000_000_000), (ms) => {
        expect(durationText(ms)).toBe(durationOf(ms).toString());
        expect(toDurationMs({ milliseconds: ms }, "x")).toBe(ms);
        expect(toDurationMs(durationText(ms), "x")).toBe(ms);
      }),
    );
    expect([0, 1, 5000, 3_600_000, 86_400_000].map(durationText)).toEqual([
      "PT0S",
      "PT0.001S",
      "PT5S",
      "PT1H",
      "PT24H",
    ]);
    expect(toDurationMs({ weeks: 1, days: 1, hours: 1, minutes: 1, seconds: 1, milliseconds: 1 }, "x")).toBe(
      694_861_001,
    );
    expect(["PT1H30M", "PT0S", "PT90M", "PT1H5S"].map((text) => toDurationMs(text, "x"))).toEqual([
      5_400_000, 0, 5_400_000, 3_605_000,
    ]);
    for (const wrong of [
      "PT",
      "P1M",
      "PTH",
      {},
      { minutes: 1.5 },
      { minutes: -1 },
      { months: 1 },
      { minute: 1 },
      { seconds: 2 ** 53 },
    ]) {
      expect(() => toDurationMs(wrong, "x")).toThrow(/x must be a duration/);
    }
  });
});
