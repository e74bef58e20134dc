import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Temporal } from "../../src/core/temporal.ts";
import { type CalendarIntervalOptions, CalendarIntervalTrigger } from "../../src/triggers/calendar-interval.ts";

const BERLIN = { timeZone: "Europe/Berlin" };

function times(options: CalendarIntervalOptions, from: string, limit: number): string[] {
  const trigger = new CalendarIntervalTrigger(options);
  return [...trigger.fireTimes({ from, limit })].map((at) => at.toString().replace(/\[.*/, ""));
}

describe("CalendarIntervalTrigger", () => {
  test("keeps the time on the wall through clock changes", () => {
    expect(times({ days: 1, hour: 9, startDate: "2026-03-28", ...BERLIN }, "2026-01-01T00:00:00Z", 3)).toEqual([
      "2026-03-28T09:00:00+01:00",
      "2026-03-29T09:00:00+02:00",
      "2026-03-30T09:00:00+02:00",
    ]);
  });

  test("leaves out dates that do not exist", () => {
    expect(times({ months: 1, startDate: "2026-01-31" }, "2026-01-01T00:00:00Z", 4)).toEqual([
      "2026-01-31T00:00:00+00:00",
      "2026-03-31T00:00:00+00:00",
      "2026-05-31T00:00:00+00:00",
      "2026-07-31T00:00:00+00:00",
    ]);
    expect(times({ years: 1, startDate: "2096-02-29" }, "2096-03-01T00:00:00Z", 2)).toEqual([
      "2104-02-29T00:00:00+00:00",
      "2108-02-29T00:00:00+00:00",
    ]);
  });

  test("adds months first, then weeks and days, n times to the start", () => {
    expect(times({ months: 1, days: 1, startDate: "2026-01-15" }, "2026-01-01T00:00:00Z", 4)).toEqual([
      "2026-01-15T00:00:00+00:00",
      "2026-02-16T00:00:00+00:00",
      "2026-03-17T00:00:00+00:00",
      "2026-04-18T00:00:00+00:00",
    ]);
    expect(times({ years: 1, months: 2, weeks: 1, startDate: "2026-01-01" }, "2026-01-02T00:00:00Z", 1)).toEqual([
      "2027-03-08T00:00:00+00:00",
    ]);
  });

  const gap = { days: 1, hour: 2, minute: 30, startDate: "2026-03-28", endDate: "2026-03-30", ...BERLIN };
  test.each<[CalendarIntervalOptions["dst"], string[]]>([
    [undefined, []],
    ["auto", []],
    [{ gap: "skip", overlap: "first" }, []],
    [{ gap: "advance", overlap: "first" }, ["2026-03-29T03:00:00+02:00"]],
    [{ gap: "shift", overlap: "first" }, ["2026-03-29T03:30:00+02:00"]],
  ])("a time within a gap fires, with dst %o, at %o", (dst, expected) => {
    expect(times({ ...gap, dst }, "2026-01-01T00:00:00Z", 9)).toEqual([
      "2026-03-28T02:30:00+01:00",
      ...expected,
      "2026-03-30T02:30:00+02:00",
    ]);
  });

  const overlap = { days: 1, hour: 2, minute: 30, startDate: "2026-10-25", endDate: "2026-10-25", ...BERLIN };
  const [first, second] = ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"];
  test.each<[CalendarIntervalOptions["dst"], string[]]>([
    [undefined, [first]],
    [{ gap: "skip", overlap: "first" }, [first]],
    [{ gap: "skip", overlap: "second" }, [second]],
    [{ gap: "skip", overlap: "both" }, [first, second]],
  ])("a time that exists twice fires, with dst %o, at %o", (dst, expected) => {
    expect(times({ ...overlap, dst }, "2026-01-01T00:00:00Z", 9)).toEqual(expected);
    const trigger = new CalendarIntervalTrigger({ ...overlap, dst });
    expect(trigger.previous("2027-01-01T00:00:00Z")?.toString()).toContain(expected.at(-1));
  });

  test("a day that was left out of the calendar is no trouble", () => {
    const apia = { days: 1, hour: 9, startDate: "2011-12-29", endDate: "2011-12-31", timeZone: "Pacific/Apia" };
    expect(times(apia, "2011-01-01T00:00:00Z", 9)).toEqual(["2011-12-29T09:00:00-10:00", "2011-12-31T09:00:00+14:00"]);
    const shifted = { ...apia, dst: { gap: "shift", overlap: "first" } } as const;
    expect(times(shifted, "2011-01-01T00:00:00Z", 9)).toEqual([
      "2011-12-29T09:00:00-10:00",
      "2011-12-31T09:00:00+14:00",
    ]);
  });

  test("counts from the date asked about when it has no start", () => {
    const trigger = new CalendarIntervalTrigger({ days: 2, hour: 9 });
    expect(trigger.next("2026-01-10T08:00:00Z")?.toString()).toBe("2026-01-10T09:00:00+00:00[UTC]");
    expect(trigger.next("2026-01-10T09:00:00Z")?.toString()).toBe("2026-01-12T09:00:00+00:00[UTC]");
    expect(trigger.previous("2026-01-10T09:00:00Z")?.toString()).toBe("2026-01-08T09:00:00+00:00[UTC]");
  });

  test("an anchor is a date of its zone, and no part of the rule", () => {
    const rule = new CalendarIntervalTrigger({ months: 1, hour: 9, ...BERLIN });
    const anchored = rule.startingAt("2026-01-30T23:30:00Z");
    expect(anchored.next("2026-01-30T23:30:00Z")?.toString()).toBe("2026-01-31T09:00:00+01:00[Europe/Berlin]");
    expect(anchored.toJSON()).toMatchObject({ anchor: "2026-01-31" });
    expect(anchored.isSameRule(rule)).toBe(true);
    expect(anchored.startMs).toBeNull();
    const started = new CalendarIntervalTrigger({ months: 1, hour: 9, startDate: "2026-01-31", ...BERLIN });
    expect(started.isSameRule(rule)).toBe(false);
    expect(started.firstMs(Date.parse("2027-01-01T00:00:00Z"))).toBe(Date.parse("2026-01-31T08:00:00Z"));
  });

  test("takes dates as text or as Temporal objects", () => {
    const options = { days: 1, startDate: Temporal.PlainDate.from("2026-01-31"), endDate: "2026-02-01" };
    expect(times(options, "2026-01-01T00:00:00Z", 9)).toHaveLength(2);
  });

  test.each<[CalendarIntervalOptions, string]>([
    [{ days: 1, hour: 9, timeZone: "Europe/Berlin" }, "Every day at 09:00, in Europe/Berlin"],
    [{ years: 1, months: 6, weeks: 1 }, "Every 1 year, 6 months and 7 days at 00:00, in UTC"],
    [
      { months: 2, second: 5, startDate: "2026-01-31", endDate: "2027-01-31" },
      "Every 2 months at 00:00:05, in UTC, from 2026-01-31 until 2027-01-31",
    ],
  ])("%o is described as %j", (options, english) => {
    expect(new CalendarIntervalTrigger(options).describe()).toBe(english);
  });

  test.each<[unknown, string]>([
    [{}, "CalendarIntervalTrigger needs an interval longer than zero, such as { months: 1 }"],
    [{ days: 1.5 }, "CalendarIntervalTrigger: days must be a whole number from 0 to 4000000; got 1.5"],
    [{ days: 1, hour: 24 }, "CalendarIntervalTrigger: hour must be a whole number from 0 to 23; got 24"],
    [
      { days: 1, startDate: "31.01.2026" },
      'CalendarIntervalTrigger: startDate must be a date such as "2026-12-25" or a Temporal.PlainDate; got "31.01.2026"',
    ],
    [
      { days: 1, startDate: "2026-02-01", endDate: "2026-01-31" },
      "CalendarIntervalTrigger: endDate is before startDate, so nothing would ever fire",
    ],
  ])("%o is refused", (options, message) => {
    expect(() => new CalendarIntervalTrigger(options as never)).toThrow(
      expect.objectContaining({ code: "options", message }),
    );
  });

  test("finds dates that lie more periods away than a search has steps", () => {
    const daily = new CalendarIntervalTrigger({ days: 1, hour: 9, startDate: "1970-01-01", ...BERLIN });
    expect(daily.next("9998-06-01T00:00:00Z")?.toString()).toBe("9998-06-01T09:00:00+02:00[Europe/Berlin]");
    expect(daily.next("9999-12-31T20:00:00Z")).toBeNull();
  });

  test("never answers beyond the year 9999, backwards either", () => {
    const daily = new CalendarIntervalTrigger({ days: 1, hour: 9, startDate: "1970-01-01" });
    const last = Date.parse("9999-12-31T09:00:00Z");
    expect(daily.previousMs(Number.POSITIVE_INFINITY)).toBe(last);
    expect(daily.previousMs(8e15)).toBe(last);
    expect(daily.nextMs(last - 1)).toBe(last);
    expect(daily.nextMs(last)).toBeNull();
  });

  test("agrees with adding period by period", () => {
    const start = Temporal.PlainDate.from("2024-01-31");
    fc.assert(
      fc.property(
        fc.record({ months: fc.integer({ min: 0, max: 30 }), days: fc.integer({ min: 0, max: 40 }) }),
        fc.integer({ min: 0, max: 20_000 }),
        ({ months, days }, askedDay) => {
          if (months + days === 0) return;
          const trigger = new CalendarIntervalTrigger({ months, days, hour: 9, startDate: start });
          const askedMs = Date.UTC(2024, 0, 1) + askedDay * 86_400_000;
          const expected = [];
          for (let n = 0; expected.at(-1)?.next === undefined; n++) {
            const month = start.with({ day: 1 }).add({ months: months * n });
            if (month.daysInMonth < 31) continue;
            const at = Date.parse(`${month.with({ day: 31 }).add({ days: days * n })}T09:00:00Z`);
            expected.push(at > askedMs ? { next: at } : { at });
          }
          expect(trigger.nextMs(askedMs)).toBe(expected.at(-1)?.next);
          expect(trigger.previousMs(askedMs + 1)).toBe(expected.at(-2)?.at ?? null);
        },
      ),
      { numRuns: 200 },
    );
  });
});
