import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Temporal } from "../../src/core/temporal.ts";
import type { DstPolicy } from "../../src/cron/spec.ts";
import { type CalendarIntervalOptions, CalendarIntervalTrigger } from "../../src/triggers/calendar-interval.ts";
import { triggerFromJSON } from "../../src/triggers/codec.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";
import { stepsTaken } from "../../src/triggers/step-budget.ts";

const BERLIN = { timeZone: "Europe/Berlin" };

function times(options: CalendarIntervalOptions, from: string, limit: number): string[] {
  const trigger = new CalendarIntervalTrigger(options);
  return [...trigger.fireTimes({ from, limit })].map((at) => at.toString().replace(/\[.*/, ""));
}

describe("CalendarIntervalTrigger", () => {
  test("has one object of options, and refuses a second one", () => {
    expect(() => new CalendarIntervalTrigger({ days: 1 }, BERLIN as never)).toThrow(
      'CalendarIntervalTrigger takes one object of options, and nothing behind it; got { timeZone: "Europe/Berlin" }',
    );
  });

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

  test("steps each date from the one before, months first, where months come with weeks or days", () => {
    const dates = (options: CalendarIntervalOptions, limit: number) =>
      times(options, "1970-01-01T00:00:00Z", limit).map((text) => text.slice(0, 10));
    expect(dates({ months: 1, weeks: 1, startDate: "2021-01-30" }, 3)).toEqual([
      "2021-01-30",
      "2021-04-06",
      "2021-05-13",
    ]);
    expect(dates({ months: 1, days: 1, startDate: "2026-01-15" }, 4)).toEqual([
      "2026-01-15",
      "2026-02-16",
      "2026-03-17",
      "2026-04-18",
    ]);
    expect(dates({ years: 1, months: 2, weeks: 1, startDate: "2026-01-01" }, 2)).toEqual(["2026-01-01", "2027-03-08"]);
  });

  test("without a start, steps back to the date from which a step leads to the one asked about", () => {
    const trigger = new CalendarIntervalTrigger({ months: 1, weeks: 1 });
    expect(trigger.previous("2021-05-13T00:00:00Z")?.toString()).toBe("2021-04-06T00:00:00+00:00[UTC]");
    expect(trigger.next("2021-04-06T00:00:00Z")?.toString()).toBe("2021-05-13T00:00:00+00:00[UTC]");
  });

  const gap = { days: 1, hour: 2, minute: 30, startDate: "2026-03-28", endDate: "2026-03-30", ...BERLIN };
  test.each<[CalendarIntervalOptions["dst"], string[]]>([
    [undefined, ["2026-03-29T03:00:00+02:00"]],
    ["auto", ["2026-03-29T03:00:00+02:00"]],
    [{ overlap: "both" }, ["2026-03-29T03:00:00+02:00"]],
    [{ gap: "skip" }, []],
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

  test.each<[name: string, options: CalendarIntervalOptions, cron: string, from: string, at: string]>([
    [
      "every two weeks, which are not four",
      { weeks: 2, hour: 2, minute: 30, startDate: "2026-03-15", ...BERLIN },
      "30 2 15,29 3 *",
      "2026-03-15T12:00:00Z",
      "2026-03-29T03:00:00+02:00",
    ],
    [
      "midnight of Cairo",
      { days: 1, startDate: "2026-04-23", timeZone: "Africa/Cairo" },
      "0 0 * * *",
      "2026-04-23T12:00:00Z",
      "2026-04-24T01:00:00+03:00",
    ],
    [
      "a month of São Paulo",
      { months: 1, startDate: "2018-10-04", timeZone: "America/Sao_Paulo" },
      "0 0 4 * *",
      "2018-10-05T00:00:00Z",
      "2018-11-04T01:00:00-02:00",
    ],
    [
      "the one day of a year",
      { years: 1, hour: 2, minute: 30, startDate: "2025-03-08", timeZone: "America/New_York" },
      "30 2 8 3 *",
      "2025-04-01T00:00:00Z",
      "2026-03-08T03:00:00-04:00",
    ],
    [
      "half an hour of Lord Howe",
      { days: 1, hour: 2, minute: 15, startDate: "2026-10-03", timeZone: "Australia/Lord_Howe" },
      "15 2 * * *",
      "2026-10-03T00:00:00Z",
      "2026-10-04T02:30:00+11:00",
    ],
    [
      "a date that Apia left out",
      { months: 1, hour: 9, startDate: "2011-11-30", timeZone: "Pacific/Apia" },
      "0 9 30 * *",
      "2011-12-01T00:00:00Z",
      "2011-12-31T00:00:00+14:00",
    ],
    [
      "a second of New York, on a start within the gap",
      { days: 3, hour: 2, second: 1, startDate: "2026-03-08", timeZone: "America/New_York" },
      "1 0 2 8-31/3 3 *",
      "2026-03-01T00:00:00Z",
      "2026-03-08T03:00:00-04:00",
    ],
  ])("a time that clocks go over fires where cron fires: %s", (_name, options, cron, from, at) => {
    expect(times(options, from, 1)).toEqual([at]);
    const { timeZone } = options;
    const trigger = new CalendarIntervalTrigger(options);
    const crontab = CronTrigger.fromCrontab(cron, { timeZone });
    expect(crontab.next(from)?.epochMilliseconds).toBe(Date.parse(at));
    expect(trigger.previousMs(Date.parse(at) + 1)).toBe(Date.parse(at));
    expect(triggerFromJSON(trigger.toJSON()).nextMs(Date.parse(from))).toBe(Date.parse(at));
    const skipping = new CalendarIntervalTrigger({ ...options, dst: { gap: "skip" } });
    expect(skipping.nextMs(Date.parse(from))).toBe(trigger.nextMs(Date.parse(at)));
    expect(triggerFromJSON(skipping.toJSON()).toJSON()).toEqual(skipping.toJSON());
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
    const [before, midnight, after] = [
      "2011-12-29T09:00:00-10:00",
      "2011-12-31T00:00:00+14:00",
      "2011-12-31T09:00:00+14:00",
    ];
    expect(times(apia, "2011-01-01T00:00:00Z", 9)).toEqual([before, midnight, after]);
    for (const gap of ["shift", "skip"] as const) {
      expect(times({ ...apia, dst: { gap } }, "2011-01-01T00:00:00Z", 9)).toEqual([before, after]);
    }
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
    [
      { years: 1, months: 6, weeks: 1 },
      "Every 1 year, 6 months and 1 week (over months that lack the day) at 00:00, in UTC",
    ],
    [{ weeks: 2 }, "Every 2 weeks at 00:00, in UTC"],
    [{ weeks: 2, dst: { gap: "advance" } }, "Every 2 weeks at 00:00, in UTC"],
    [
      { weeks: 2, dst: { gap: "skip" } },
      "Every 2 weeks at 00:00, in UTC (skipped times do not fire, repeated times fire the first time)",
    ],
    [{ days: 10 }, "Every 10 days at 00:00, in UTC"],
    [
      { months: 1, timeZone: "Europe/Berlin", dst: { gap: "advance", overlap: "both" } },
      "Every month at 00:00, in Europe/Berlin (skipped times fire when the gap ends, repeated times fire twice)",
    ],
    [
      { months: 2, second: 5, startDate: "2026-01-31", endDate: "2027-01-31" },
      "Every 2 months on the 31st (shorter months are left out) at 00:00:05, in UTC, from 2026-01-31 until 2027-01-31",
    ],
    [{ weeks: 2, startDate: "2026-01-05" }, "Every 2 weeks on Monday at 00:00, in UTC, from 2026-01-05"],
    [{ days: 7, startDate: "1969-12-31" }, "Every week on Wednesday at 00:00, in UTC, from 1969-12-31"],
    [{ days: 10, startDate: "2026-01-05" }, "Every 10 days at 00:00, in UTC, from 2026-01-05"],
    [{ months: 1, startDate: "2026-01-01" }, "Every month on the 1st at 00:00, in UTC, from 2026-01-01"],
    [{ months: 3, startDate: "2026-01-12" }, "Every 3 months on the 12th at 00:00, in UTC, from 2026-01-12"],
    [
      { months: 18, startDate: "2026-01-22" },
      "Every 1 year and 6 months on the 22nd at 00:00, in UTC, from 2026-01-22",
    ],
    [{ years: 1, startDate: "2026-03-31" }, "Every year on 31 March at 00:00, in UTC, from 2026-03-31"],
    [
      { months: 12, startDate: "2028-02-29" },
      "Every year on 29 February (other years are left out) at 00:00, in UTC, from 2028-02-29",
    ],
  ])("%o is described as %j", (options, english) => {
    expect(new CalendarIntervalTrigger(options).describe()).toBe(english);
  });

  test("is described with the day that follows from its anchor", () => {
    const described = (options: CalendarIntervalOptions): string =>
      new CalendarIntervalTrigger(options).startingAt("2026-01-30T23:30:00Z").describe();
    expect(described({ months: 1, hour: 9, ...BERLIN })).toBe(
      "Every month on the 31st (shorter months are left out) at 09:00, in Europe/Berlin",
    );
    expect(described({ weeks: 1, ...BERLIN })).toBe("Every week on Saturday at 00:00, in Europe/Berlin");
  });

  test.each<[unknown, string]>([
    [{}, "CalendarIntervalTrigger needs an interval longer than zero, such as { months: 1 }"],
    [{ years: 10_000, months: 1 }, "CalendarIntervalTrigger needs an interval of at most 10,000 years"],
    [{ weeks: 500_000, days: 4_000_000 }, "CalendarIntervalTrigger needs an interval of at most 10,000 years"],
    [{ months: 1, day: 5 }, "CalendarIntervalTrigger: day is no option here; it is the day of startDate"],
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

  test("finds far dates in few steps", () => {
    const daily = new CalendarIntervalTrigger({ days: 1, hour: 9, startDate: "1970-01-01", ...BERLIN });
    expect(daily.next("9998-06-01T00:00:00Z")?.toString()).toBe("9998-06-01T09:00:00+02:00[Europe/Berlin]");
    expect(stepsTaken()).toBeLessThan(10);
    expect(daily.next("9999-12-31T20:00:00Z")).toBeNull();
    expect(stepsTaken()).toBeLessThan(10);
  });

  test("never answers beyond the year 9999, backwards either", () => {
    const daily = new CalendarIntervalTrigger({ days: 1, hour: 9, startDate: "1970-01-01" });
    const last = Date.parse("9999-12-31T09:00:00Z");
    expect(daily.previousMs(1e300)).toBe(last);
    expect(daily.previousMs(8e15)).toBe(last);
    expect(daily.nextMs(last - 1)).toBe(last);
    expect(daily.nextMs(last)).toBeNull();
    const mixed = new CalendarIntervalTrigger({ months: 50, days: 1, startDate: "1970-01-01" });
    const lastMixed = mixed.previousMs(1e300) ?? 0;
    expect(new Date(lastMixed).getUTCFullYear()).toBeGreaterThan(9994);
    expect(mixed.nextMs(lastMixed - 1)).toBe(lastMixed);
    expect(mixed.nextMs(lastMixed)).toBeNull();
  });

  const FIRST = Temporal.PlainDate.from("2020-01-01");
  // Temporal is slow where a zone is involved, so fewer dates are looked at there.
  const walls = fc.oneof(
    fc.record({ wall: fc.constant({ timeZone: "UTC", hour: 9, minute: 0 }), daysMax: fc.constant(9000) }),
    fc.record({
      wall: fc.constantFrom(
        { timeZone: "Europe/Berlin", hour: 2, minute: 30 },
        { timeZone: "America/Havana", hour: 0, minute: 15 },
        { timeZone: "Australia/Lord_Howe", hour: 2, minute: 10 },
      ),
      daysMax: fc.constant(700),
    }),
  );
  const period = fc.record({
    years: fc.constantFrom(0, 0, 0, 1, 3),
    months: fc.constantFrom(0, 1, 1, 2, 5, 12, 13),
    weeks: fc.constantFrom(0, 0, 1, 5),
    days: fc.constantFrom(0, 0, 3, 6, 29, 30, 31, 365),
  });

  test("agrees with APScheduler's documented rules in 2,000 random cases, but for times in gaps by default", () => {
    fc.assert(
      fc.property(
        period.filter(({ years, months, weeks, days }) => years + months + weeks + days > 0),
        fc.integer({ min: 0, max: 1500 }),
        fc.double({ min: -0.1, max: 1, noNaN: true }),
        walls,
        fc.constantFrom<DstPolicy | undefined>(undefined, "auto", { gap: "skip" }),
        (units, startDay, part, { wall, daysMax }, dst) => {
          const startDate = FIRST.add({ days: startDay });
          const trigger = new CalendarIntervalTrigger({ ...units, ...wall, startDate, dst });
          const asked = startDate.add({ days: Math.floor(part * daysMax) });
          const askedMs = asked.toZonedDateTime("UTC").epochMilliseconds + 5_400_000;
          const fireTimes = documentedTimes(startDate, units, wall, asked, typeof dst === "object");
          expect(trigger.nextMs(askedMs)).toBe(fireTimes.find((ms) => ms > askedMs));
          expect(trigger.previousMs(askedMs)).toBe(fireTimes.findLast((ms) => ms < askedMs) ?? null);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

type Units = Readonly<Record<"years" | "months" | "weeks" | "days", number>>;

/**
 * Fire times as APScheduler documents them, up to a date and some beyond: the first date is the start; each later one is the
 * date before it plus the years and months, again until such a date exists, plus the weeks and days. A time that does not
 * exist on a date is left out, one that exists twice is the first. Where gaps are not skipped, as here by default, such a time
 * is when clocks have changed.
 */
function documentedTimes(
  start: Temporal.PlainDate,
  { years, months, weeks, days }: Units,
  { timeZone, hour, minute }: { timeZone: string; hour: number; minute: number },
  last: Temporal.PlainDate,
  skipsGaps: boolean,
): number[] {
  const fireTimes: number[] = [];
  let date = start;
  for (let beyond = 0; beyond < 3; ) {
    const wall = date.toPlainDateTime({ hour, minute });
    const zoned = wall.toZonedDateTime(timeZone, { disambiguation: "earlier" });
    const isShown = zoned.toPlainDateTime().equals(wall);
    const fired = isShown ? zoned : skipsGaps ? null : zoned.getTimeZoneTransition("next");
    if (fired !== null) {
      fireTimes.push(fired.epochMilliseconds);
      if (Temporal.PlainDate.compare(date, last) > 0) beyond++;
    }
    let month = date.toPlainYearMonth();
    do month = month.add({ years, months });
    while (years + months > 0 && month.daysInMonth < date.day);
    date = month.toPlainDate({ day: date.day }).add({ weeks, days });
  }
  return fireTimes;
}
