import { describe, expect, test } from "vitest";
import { CronTrigger, DateTrigger } from "../../src/mod.ts";
import { healedFireTime, mayHeal } from "../../src/scheduler/firing/healed-fire-time.ts";
import { CLOCK_STEADY_MS, EARLIEST_NOW_MS } from "../../src/scheduler/firing/limits.ts";

const NOW = Date.parse("2026-12-01T12:00:30Z");
const NEXT = Date.parse("2026-12-01T12:01:00Z");
const YEAR = 365 * 86_400_000;
const toleranceMs = 60_000;
const minutely = new CronTrigger("* * * * *", { timeZone: "UTC" });

describe("the next fire time of a schedule", () => {
  test.each([
    ["that has never fired stays", { lastFireTime: null, nextFireTime: NEXT + YEAR }, null],
    [
      "that fired a moment ago stays, however far ahead it is",
      { lastFireTime: NOW - 1, nextFireTime: NEXT + YEAR },
      null,
    ],
    ["that fired within the tolerance stays", { lastFireTime: NOW + toleranceMs, nextFireTime: NEXT + YEAR }, null],
    [
      "that fired beyond the tolerance is taken back",
      { lastFireTime: NOW + toleranceMs + 1, nextFireTime: NEXT + YEAR },
      NEXT,
    ],
    ["that a wrong clock has exhausted is taken back", { lastFireTime: NOW + YEAR, nextFireTime: null }, NEXT],
    ["that was taken back stays", { lastFireTime: NOW + YEAR, nextFireTime: NEXT }, null],
    ["that was taken back and is due stays", { lastFireTime: NOW + YEAR, nextFireTime: NOW - 5000 }, null],
    ["that was added within the tolerance stays", { nextFireTime: NEXT + YEAR, createdAt: NOW + toleranceMs }, null],
    ["that was added beyond it is taken back", { nextFireTime: NEXT + YEAR, createdAt: NOW + toleranceMs + 1 }, NEXT],
  ])("%s", (_name, schedule, expected) => {
    const moved = { createdAt: NOW - YEAR, lastFireTime: null, ...schedule };
    expect(healedFireTime(moved, minutely, { now: NOW, toleranceMs })).toBe(expected);
  });

  test.each([
    ["stays where that clock has run the last one of the rule", new DateTrigger("2027-06-01T00:00:00Z"), null],
    [
      "is one that it has run, too, where the rule goes on",
      new CronTrigger("0 0 1 6 *", { timeZone: "UTC" }),
      "2027-06-01T00:00:00Z",
    ],
  ])("%s", (_name, trigger, expected) => {
    const lastFireTime = Date.parse("2027-06-01T00:00:00Z");
    const moved = { createdAt: NOW - YEAR, lastFireTime, nextFireTime: null };
    expect(healedFireTime(moved, trigger, { now: NOW, toleranceMs })).toBe(expected && Date.parse(expected));
  });

  test("stays where the rule has none any more", () => {
    const once = new DateTrigger("2026-12-01T12:00:00Z");
    const moved = { createdAt: NOW - YEAR, lastFireTime: NOW + YEAR, nextFireTime: null };
    expect(healedFireTime(moved, once, { now: NOW, toleranceMs })).toBeNull();
  });
});

test.each([
  ["even for some minutes, and undisputed", {}, true],
  ["of a moment", { steadyMs: CLOCK_STEADY_MS - 1 }, false],
  ["that a living scheduler disputes", { isDisputed: true }, false],
  ["of 1970", { now: 10_000 }, false],
  ["of the day before this program", { now: EARLIEST_NOW_MS - 1 }, false],
])("a clock %s", (_name, host, expected) => {
  expect(mayHeal({ now: NOW, toleranceMs, steadyMs: CLOCK_STEADY_MS, isDisputed: false, ...host })).toBe(expected);
});
