// Every search over triggers has a bound, held here by counts of what it asks, not by time.
import { afterEach, describe, expect, test, vi } from "vitest";
import { MaxIterationsReachedError } from "../../src/core/errors.ts";
import { CALENDAR_SEARCH_STEPS_MAX, EXCLUDED_FIRE_TIMES_MAX } from "../../src/core/limits.ts";
import { type CalendarIntervalOptions, CalendarIntervalTrigger } from "../../src/triggers/calendar-interval.ts";
import { AndTrigger, OrTrigger } from "../../src/triggers/combining.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";
import { ExcludingTrigger } from "../../src/triggers/excluding.ts";
import { Trigger, type TriggerJSON } from "../../src/triggers/trigger.ts";

const NOW = Date.UTC(2026, 5, 15, 12);

/** Fires every so many milliseconds from a first instant on, both ways, and counts how often it is asked. */
class Counting extends Trigger {
  asked = 0;
  readonly everyMs: number;
  readonly phaseMs: number;
  constructor(everyMs: number, phaseMs = 0) {
    super();
    this.everyMs = everyMs;
    this.phaseMs = phaseMs;
  }
  nextMs(afterMs: number): number {
    this.asked++;
    return Math.floor((afterMs - this.phaseMs) / this.everyMs) * this.everyMs + this.everyMs + this.phaseMs;
  }
  previousMs(beforeMs: number): number {
    this.asked++;
    return Math.ceil((beforeMs - this.phaseMs) / this.everyMs) * this.everyMs - this.everyMs + this.phaseMs;
  }
  describe(): string {
    return "counted";
  }
  toJSON(): TriggerJSON {
    return { type: "test/counting", version: 1 };
  }
}

afterEach(() => vi.restoreAllMocks());

describe("an AndTrigger", () => {
  test("asks each child once a round forwards and twice backwards, for maxIterations rounds at most", () => {
    const children = [new Counting(4000), new Counting(4000, 2000), new Counting(4000)];
    const never = new AndTrigger(children, { maxIterations: 500 });
    expect(() => never.nextMs(NOW)).toThrow(MaxIterationsReachedError);
    expect(children.map(({ asked }) => asked)).toEqual([500, 500, 500]);
    expect(() => never.previousMs(NOW)).toThrow(MaxIterationsReachedError);
    for (const { asked } of children) expect(asked).toBeLessThanOrEqual(1500);
  });

  test("that can meet within its rounds does", () => {
    const children = [new Counting(7000), new Counting(11_000)];
    const rare = new AndTrigger(children, { threshold: "PT0S" });
    expect(rare.nextMs(1)).toBe(77_000);
    expect(rare.previousMs(77_000)).toBe(0);
    for (const { asked } of children) expect(asked).toBeLessThan(60);
  });
});

test("an OrTrigger asks each child once", () => {
  const children = [new Counting(4000), new Counting(4000, 2000)];
  const either = new OrTrigger(children);
  expect(either.nextMs(0)).toBe(2000);
  expect(either.previousMs(2000)).toBe(0);
  expect(children.map(({ asked }) => asked)).toEqual([2, 2]);
});

describe("an ExcludingTrigger", () => {
  test("passes over a bounded number of fire times, then says so", () => {
    const inner = new Counting(1000);
    const nothing = new ExcludingTrigger(inner, CronTrigger.fromCrontab("* * * * * *"));
    expect(() => nothing.nextMs(NOW)).toThrow(MaxIterationsReachedError);
    expect(inner.asked).toBe(EXCLUDED_FIRE_TIMES_MAX + 1);
    expect(() => nothing.previousMs(NOW)).toThrow(MaxIterationsReachedError);
    expect(inner.asked).toBe(2 * (EXCLUDED_FIRE_TIMES_MAX + 1));
  });

  test("passes a span of dates in one step, however long", () => {
    const inner = new Counting(1000);
    const late = new ExcludingTrigger(inner, [{ from: "2026-01-01", until: "8999-12-31" }, "9000-06-01"]);
    expect(late.nextMs(NOW)).toBe(Date.UTC(9000, 0, 1));
    expect(late.previousMs(NOW)).toBe(Date.UTC(2026, 0, 1) - 1000);
    expect(inner.asked).toBe(4);
  });
});

describe("a CalendarIntervalTrigger", () => {
  /** Dates looked at: each costs one or two calls of the calendar. */
  function datesLookedAt(action: () => void): number {
    const spy = vi.spyOn(Date.prototype, "setUTCFullYear");
    action();
    return spy.mock.calls.length;
  }

  test.each<[string, CalendarIntervalOptions]>([
    ["29 February", { years: 1, startDate: "2024-02-29" }],
    ["29 February of every hundredth year", { years: 100, startDate: "2000-02-29" }],
    ["the 31st", { months: 1, startDate: "2026-01-31" }],
    ["a period longer than the calendar", { years: 10_000, startDate: "2000-01-01" }],
    ["every day", { days: 1, startDate: "1970-01-01" }],
    ["months and days", { months: 11, days: 29, startDate: "1970-12-31" }],
  ])("of %s looks at few dates", (_name, options) => {
    const trigger = new CalendarIntervalTrigger(options);
    for (const ms of [NOW, Date.UTC(9999, 11, 31), 0, -1e15]) {
      expect(datesLookedAt(() => trigger.nextMs(ms))).toBeLessThan(100);
      expect(datesLookedAt(() => trigger.previousMs(ms))).toBeLessThan(100);
    }
  });

  test("whose dates are over, or do not exist, stops", () => {
    // A century and a month on there is no 31st, and the end is long past.
    const once = new CalendarIntervalTrigger({ months: 12 * 100 + 1, startDate: "2096-01-31", endDate: "2096-01-31" });
    expect(once.nextMs(Date.UTC(2096, 0, 30))).toBe(Date.UTC(2096, 0, 31));
    expect(datesLookedAt(() => expect(once.nextMs(Date.UTC(2096, 0, 31))).toBeNull())).toBeLessThan(
      2 * CALENDAR_SEARCH_STEPS_MAX,
    );
    expect(datesLookedAt(() => expect(once.previousMs(Date.UTC(2096, 0, 31))).toBeNull())).toBeLessThan(100);
  });
});
