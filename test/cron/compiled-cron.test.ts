import { describe, expect, test, vi } from "vitest";
import { CompiledBatch, CompiledCron } from "../../src/cron/compiled-cron.ts";
import { kernel } from "../../src/cron/kernel.ts";
import { oldestTicket } from "../../src/cron/residency.ts";
import type { CronSpec } from "../../src/cron/spec.ts";
import { ZoneTable } from "../../src/cron/zone.ts";
import { nextOfEach } from "./next-of-each.ts";
import { oracleNext, oraclePrevious } from "./oracle.ts";
import { at, bits, bits32, EVERY_60, EVERY_HOUR, nth, range, specOf, years } from "./spec-maker.ts";

const NOON_2026 = Date.UTC(2026, 5, 15, 12);
const DAY_MS = 86_400_000;
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

function cronOf(changes: Partial<CronSpec> = {}): CompiledCron {
  return new CompiledCron(specOf(changes));
}

/** Dates of the fire times of a daily spec. */
function dates(changes: Partial<CronSpec>, from: string, count: number): string[] {
  const times = cronOf(changes).expand(Date.parse(from), Number.POSITIVE_INFINITY, count);
  return [...times].map((ms) => new Date(ms).toISOString().slice(0, 10));
}

describe("days", () => {
  test("a day of the month skips the months that lack it", () => {
    expect(dates({ daysOfMonth: bits32(31) }, "2026-01-01", 4)).toEqual([
      "2026-01-31",
      "2026-03-31",
      "2026-05-31",
      "2026-07-31",
    ]);
  });

  test("the last day follows the month's length, leap years included", () => {
    const last = { daysOfMonth: 0, lastDayOffsets: bits32(0), months: bits32(2) };
    expect(dates(last, "2026-01-01", 3)).toEqual(["2026-02-28", "2027-02-28", "2028-02-29"]);
  });

  test("L-3 is three days before the last", () => {
    expect(dates({ daysOfMonth: 0, lastDayOffsets: bits32(3) }, "2026-01-01", 2)).toEqual(["2026-01-28", "2026-02-25"]);
  });

  test("L-30 exists in months of 31 days alone", () => {
    expect(dates({ daysOfMonth: 0, lastDayOffsets: bits32(30) }, "2026-01-02", 2)).toEqual([
      "2026-03-01",
      "2026-05-01",
    ]);
  });

  test("nW moves to the nearest weekday and never leaves the month", () => {
    // 1 August 2026 is a Saturday, 15 August too; 31 May 2026 is a Sunday.
    expect(dates({ daysOfMonth: 0, nearestWeekdays: bits32(1), months: bits32(8) }, "2026-01-01", 1)).toEqual([
      "2026-08-03",
    ]);
    expect(dates({ daysOfMonth: 0, nearestWeekdays: bits32(15), months: bits32(8) }, "2026-01-01", 1)).toEqual([
      "2026-08-14",
    ]);
    expect(dates({ daysOfMonth: 0, nearestWeekdays: bits32(31), months: bits32(5) }, "2026-01-01", 1)).toEqual([
      "2026-05-29",
    ]);
    expect(dates({ daysOfMonth: 0, nearestWeekdays: bits32(30), months: bits32(2) }, "2026-01-01", 1)).toEqual([]);
  });

  test("LW is the month's last weekday", () => {
    expect(dates({ daysOfMonth: 0, hasLastWeekday: true }, "2026-01-01", 3)).toEqual([
      "2026-01-30",
      "2026-02-27",
      "2026-03-31",
    ]);
  });

  test("nth and last weekdays are counted from the month's ends", () => {
    const days = { daysOfMonth: 0, nthOfDay: bits(nth(2, 5), nth("last", 0)) };
    expect(dates(days, "2026-01-01", 4)).toEqual(["2026-01-09", "2026-01-25", "2026-02-13", "2026-02-22"]);
    expect(dates({ daysOfWeek: 0, nthOfWeekday: bits(nth(5, 1)) }, "2026-01-01", 2)).toEqual([
      "2026-03-30",
      "2026-06-29",
    ]);
  });

  test("both day parts must match with and, either may with or", () => {
    const thirteenthFriday = { daysOfMonth: bits32(13), daysOfWeek: bits32(5) };
    expect(dates({ ...thirteenthFriday, dayMatch: "and" }, "2026-01-01", 3)).toEqual([
      "2026-02-13",
      "2026-03-13",
      "2026-11-13",
    ]);
    expect(dates({ ...thirteenthFriday, dayMatch: "or" }, "2026-01-01", 3)).toEqual([
      "2026-01-02",
      "2026-01-09",
      "2026-01-13",
    ]);
  });

  test("ISO weeks belong to the year of their Thursday", () => {
    expect(dates({ isoWeeks: bits(1), daysOfWeek: bits32(1) }, "2024-01-01", 3)).toEqual([
      "2024-01-01",
      "2024-12-30",
      "2025-12-29",
    ]);
    expect(dates({ isoWeeks: bits(53), daysOfWeek: bits32(1) }, "2021-01-01", 2)).toEqual(["2026-12-28", "2032-12-27"]);
  });

  test("years may be few, a range, or thousands", () => {
    const newYear = { daysOfMonth: bits32(1), months: bits32(1) };
    expect(dates({ ...newYear, years: years(2030, 2050, 9999) }, "2026-01-01", 9)).toEqual([
      "2030-01-01",
      "2050-01-01",
      "9999-01-01",
    ]);
    expect(dates({ ...newYear, years: years(2030, 2031) }, "1970-01-01", 9)).toEqual(["2030-01-01", "2031-01-01"]);
    expect(dates({ ...newYear, years: years(...range(1970, 9999, 3)) }, "2026-01-01", 2)).toEqual([
      "2027-01-01",
      "2030-01-01",
    ]);
    expect(dates({ ...newYear, years: years() }, "1970-01-01", 1)).toEqual([]);
  });
});

test("looking back from the first days of a month, the month before is not taken for it", () => {
  const cron = cronOf({ daysOfMonth: bits32(1, 3) });
  expect(cron.previousMs(Date.UTC(2026, 1, 28))).toBe(Date.UTC(2026, 1, 3));
  expect(cron.previousMs(Date.UTC(2026, 2, 2))).toBe(Date.UTC(2026, 2, 1));
  expect(cron.previousMs(Date.UTC(2026, 2, 4))).toBe(Date.UTC(2026, 2, 3));
});

describe("the ends of time", () => {
  test("nothing fires before 1970 or after 9999 of the wall clock", () => {
    // Offsets of the first and the last of them, in hours.
    const zones: [string, number, number][] = [
      ["UTC", 0, 0],
      ["+14:00", 14, 14],
      ["-12:00", -12, -12],
      ["Europe/Berlin", 1, 1],
    ];
    for (const [timeZone, firstOffset, lastOffset] of zones) {
      const cron = cronOf({ hours: EVERY_HOUR, timeZone });
      const first = cron.nextMs(Number.NEGATIVE_INFINITY) ?? Number.NaN;
      expect(new Date(first + firstOffset * 3_600_000).toISOString()).toBe("1970-01-01T00:00:00.000Z");
      expect(cron.previousMs(first)).toBe(null);
      const last = cron.previousMs(Number.POSITIVE_INFINITY) ?? Number.NaN;
      expect(last).toBeLessThanOrEqual(Date.UTC(9999, 11, 31, 23));
      expect(new Date(last + lastOffset * 3_600_000).getUTCFullYear()).toBe(9999);
      expect(cron.nextMs(last)).toBe(null);
      expect(cron.nextMs(Number.POSITIVE_INFINITY)).toBe(null);
      expect(cron.previousMs(Number.NEGATIVE_INFINITY)).toBe(null);
    }
  });

  test("an instant between seconds counts as later than the second that began", () => {
    const cron = cronOf({ seconds: EVERY_60, minutes: EVERY_60, hours: EVERY_HOUR });
    expect(cron.nextMs(NOON_2026)).toBe(NOON_2026 + 1000);
    expect(cron.nextMs(NOON_2026 - 0.001)).toBe(NOON_2026);
    expect(cron.nextMs(NOON_2026 + 999.999)).toBe(NOON_2026 + 1000);
    expect(cron.previousMs(NOON_2026)).toBe(NOON_2026 - 1000);
    expect(cron.previousMs(NOON_2026 + 0.001)).toBe(NOON_2026);
    expect(cron.matches(NOON_2026 + 1)).toBe(false);
  });

  test("NaN is refused, and answered with NaN in a batch", () => {
    const cron = cronOf();
    expect(() => cron.nextMs(Number.NaN)).toThrow("instant must be a number of epoch milliseconds; got NaN");
    expect(() => cron.previousMs(Number.NaN)).toThrow("got NaN");
    expect(() => cron.matches(Number.NaN)).toThrow("got NaN");
    expect(() => cron.count(0, Number.NaN)).toThrow("until must be");
    expect(() => cron.expand(0, 1, -1)).toThrow("limit must be a whole number of 0 or more; got -1");
    expect([...nextOfEach(cron, new Float64Array([Number.NaN, 0]))]).toEqual([Number.NaN, DAY_MS]);
  });
});

describe("searches are bounded", () => {
  function stepsOf(action: () => void): number {
    const before = kernel.stepCount();
    action();
    return kernel.stepCount() - before;
  }

  test("an impossible date is found out within one cycle of the calendar, once", () => {
    const cron = cronOf({ daysOfMonth: bits32(30), months: bits32(2) });
    expect(stepsOf(() => expect(cron.canEverMatch).toBe(false))).toBeLessThanOrEqual(401);
    expect(stepsOf(() => expect(cron.canEverMatch).toBe(false))).toBe(0);
    expect(stepsOf(() => expect(cron.nextMs(0)).toBe(null))).toBeLessThan(10);
    expect(stepsOf(() => expect(cron.previousMs(NOON_2026)).toBe(null))).toBeLessThan(10);
  });

  test("an impossible date that was not looked for at construction stops after a cycle too", () => {
    const spec = { daysOfMonth: bits32(1), daysOfWeek: bits32(1), isoWeeks: bits(3) };
    const forwards = cronOf(spec);
    expect(stepsOf(() => expect(forwards.nextMs(0)).toBe(null))).toBeLessThan(401 * 12 + 100);
    const backwards = cronOf(spec);
    expect(stepsOf(() => expect(backwards.previousMs(NOON_2026)).toBe(null))).toBeLessThan(401 * 12 + 100);
  });

  test("the rarest date is found: 29 February, a Monday, in week 9", () => {
    const rare = { daysOfMonth: bits32(29), months: bits32(2), daysOfWeek: bits32(1), isoWeeks: bits(9) };
    const cron = cronOf(rare);
    const steps = stepsOf(() =>
      expect(new Date(cron.nextMs(NOON_2026) ?? 0).toISOString()).toBe("2044-02-29T00:00:00.000Z"),
    );
    expect(steps).toBeLessThan(50);
    expect(cron.canEverMatch).toBe(true);
  });

  // The last Sunday of March at 02:30 in Berlin: never a real time under the present rule.
  const inGaps = (): CompiledCron =>
    cronOf({
      ...at("2:30"),
      daysOfMonth: 0,
      nthOfDay: bits(nth("last", 0)),
      months: bits32(3),
      timeZone: "Europe/Berlin",
      gap: "skip",
    });

  test("a time that only ever falls into gaps ends the search at the year 9999", () => {
    const cron = inGaps();
    cron.nextMs(Date.UTC(9990, 0, 1));
    expect(stepsOf(() => expect(cron.nextMs(NOON_2026)).toBe(null))).toBeLessThan(8000 * 6);
    expect(stepsOf(() => expect(cron.count(NOON_2026, LAST_MS)).toBe(0))).toBeLessThan(8000 * 6);
    expect(stepsOf(() => expect(cron.expand(NOON_2026, LAST_MS, 10)).toHaveLength(0))).toBeLessThan(8000 * 6);
  });

  test("a time that only ever falls into gaps ends the search backwards at its last real one", () => {
    const cron = inGaps();
    cron.nextMs(Date.UTC(9990, 0, 1));
    // Clocks went forward in April in 1980, and not at all before.
    const last = Date.UTC(1980, 2, 30, 1, 30);
    expect(stepsOf(() => expect(cron.previousMs(Date.UTC(9990, 0, 1))).toBe(last))).toBeLessThan(8000 * 6);
    const never = cronOf({ ...cron.spec, years: years(...range(1981, 9999)) });
    expect(stepsOf(() => expect(never.previousMs(Date.UTC(9990, 0, 1))).toBe(null))).toBeLessThan(8000 * 6);
    expect(stepsOf(() => expect(never.matches(NOON_2026)).toBe(false))).toBeLessThan(2);
  });

  test.each([
    ["Asia/Shanghai", Date.UTC(2026, 5, 15)],
    ["Asia/Shanghai", Date.UTC(9000, 5, 15)],
    ["America/Caracas", Date.UTC(1995, 5, 15)],
    ["America/New_York", NOON_2026],
  ])("no stretch of %s is searched where no clock change is near, however long the table", (timeZone, around) => {
    const cron = cronOf({ daysOfWeek: bits32(1), timeZone });
    cron.previousMs(Date.UTC(1975, 0, 1));
    cron.nextMs(around);
    const afters = Float64Array.from({ length: 1000 }, (_, index) => around + index * 3_600_000);
    expect(stepsOf(() => nextOfEach(cron, afters))).toBe(0);
  });

  test("a spec without an hour, a minute or a second never fires, and is not searched", () => {
    for (const sets of [{ hours: 0 }, { minutes: bits() }, { seconds: bits() }]) {
      const cron = cronOf({ ...sets, daysOfWeek: bits32(1, 2, 3) });
      expect(cron.canEverMatch).toBe(false);
      expect(stepsOf(() => expect(cron.nextMs(NOON_2026)).toBe(null))).toBeLessThan(5);
      expect(stepsOf(() => expect(cron.previousMs(NOON_2026)).toBe(null))).toBeLessThan(5);
      expect([...nextOfEach(cron, new Float64Array([0, NOON_2026]))]).toEqual([Number.NaN, Number.NaN]);
    }
  });

  test("a year by the second costs a step for each clock change, to expand and to count", () => {
    const cron = cronOf({ seconds: EVERY_60, minutes: EVERY_60, hours: EVERY_HOUR, timeZone: "Europe/Berlin" });
    cron.nextMs(Date.UTC(2040, 0, 1));
    cron.previousMs(0);
    expect(stepsOf(() => cron.count(0, Date.UTC(2040, 0, 1)))).toBeLessThan(500);
    const out = new Float64Array(100_000);
    expect(stepsOf(() => cron.expandInto(out, Date.UTC(2027, 0, 1), LAST_MS))).toBeLessThan(100);
  });

  test.each(["Africa/Casablanca", "America/New_York", "Asia/Tokyo"])(
    "the table of %s is extended a few times at most, whatever is asked",
    (timeZone) => {
      const extend = vi.spyOn(ZoneTable.prototype, "extend");
      const daily = cronOf({ ...at("2:30"), timeZone });
      const never = cronOf({ daysOfMonth: bits32(30), months: bits32(2), timeZone });
      for (const ms of [LAST_MS, 0, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]) {
        for (const cron of [daily, never]) {
          cron.nextMs(ms);
          cron.previousMs(ms);
          cron.matches(ms);
        }
      }
      daily.count(0, LAST_MS);
      nextOfEach(daily, new Float64Array([LAST_MS, 0, -1e15, 1e15]));
      // Each doubles what is known: twelve steps from one year to four thousand.
      expect(extend.mock.calls.length).toBeLessThanOrEqual(2 * 12);
      extend.mockClear();
      daily.count(0, LAST_MS);
      expect(extend).not.toHaveBeenCalled();
      extend.mockRestore();
    },
  );

  test("a spec of thousands of scattered years stops at its last", () => {
    const cron = cronOf({ daysOfMonth: bits32(30), months: bits32(2), years: years(...range(1970, 9999, 3)) });
    expect(stepsOf(() => expect(cron.canEverMatch).toBe(false))).toBeLessThan(8030);
  });
});

describe("many at once", () => {
  const crons = [
    cronOf({ minutes: EVERY_60, hours: EVERY_HOUR, timeZone: "America/New_York" }),
    cronOf({
      ...at("9:00"),
      daysOfWeek: bits32(1, 2, 3, 4, 5),
      timeZone: "Europe/Berlin",
      gap: "advance",
      overlap: "first",
    }),
    cronOf({ daysOfMonth: bits32(29), months: bits32(2) }),
    cronOf({ daysOfMonth: bits32(30), months: bits32(2) }),
    cronOf({
      seconds: bits(5, 17),
      minutes: bits(...range(3, 59, 7)),
      hours: EVERY_HOUR,
      timeZone: "Australia/Lord_Howe",
    }),
  ];

  test("a batch of specs answers as each does singly", () => {
    const many = range(0, 9999).map((index) => crons[index % crons.length] ?? cronOf());
    const afters = Float64Array.from(many, (_, index) => index * 400_000_003);
    const singly = many.map((cron, index) => cron.nextMs(afters[index] ?? 0) ?? Number.NaN);
    expect([...new CompiledBatch(many).nextMs(afters)]).toEqual(singly);
    expect([...new CompiledBatch(many).nextMs(NOON_2026)]).toEqual(
      many.map((cron) => cron.nextMs(NOON_2026) ?? Number.NaN),
    );
  });

  test("a batch of instants answers as each does singly", () => {
    const afters = Float64Array.from(range(0, 9999), (index) => index * 400_000_003);
    for (const cron of crons) {
      expect([...nextOfEach(cron, afters)]).toEqual([...afters].map((after) => cron.nextMs(after) ?? Number.NaN));
    }
  });

  test("expanding answers as asking again and again, and counting as its length", () => {
    for (const cron of crons) {
      const from = NOON_2026 - 200 * DAY_MS;
      const times: number[] = [];
      for (let ms = cron.nextMs(from - 1); ms !== null && times.length < 10_000; ms = cron.nextMs(ms)) times.push(ms);
      const expanded = cron.expand(from, Number.POSITIVE_INFINITY, 10_000);
      expect([...expanded]).toEqual(times);
      const until = times[5000] ?? times.at(-1) ?? from;
      expect(cron.count(from, until)).toBe(times.filter((ms) => ms <= until).length);
      expect(cron.count(from, until)).toBe(cron.expand(from, until, 20_000).length);
    }
  });

  test("both ends of a range belong to it", () => {
    const cron = cronOf();
    expect([...cron.expand(0, 2 * DAY_MS, 10)]).toEqual([0, DAY_MS, 2 * DAY_MS]);
    expect(cron.count(0, 2 * DAY_MS)).toBe(3);
    expect(cron.count(1, 2 * DAY_MS - 1)).toBe(1);
    expect(cron.count(2, 1)).toBe(0);
    expect(cron.expand(0, 2 * DAY_MS, 0)).toHaveLength(0);
  });

  test("wrong lengths are refused", () => {
    expect(() => new CompiledBatch(crons).nextMs(new Float64Array(1))).toThrow("afters must have 5 items; got 1");
    expect(() => new CompiledBatch(crons).nextMs(0, new Float64Array(1))).toThrow("out must have 5 items; got 1");
  });

  test("memory grows under tens of thousands of specs, and views follow", () => {
    const many = range(0, 39_999).map((index) =>
      cronOf({ hours: bits32(index % 24), minutes: bits(index % 60), daysOfMonth: bits32((index % 28) + 1) }),
    );
    const found = new CompiledBatch(many).nextMs(NOON_2026);
    for (const index of [0, 1, 777, 39_999]) expect(found[index]).toBe(many[index]?.nextMs(NOON_2026));
  });

  test("a freed spec's memory is used again", () => {
    const address = kernel.acquire(128);
    kernel.release(address, 128);
    expect(kernel.acquire(128)).toBe(address);
  });
});

test("the day bitmap answers as the month search does", () => {
  // The bitmaps are bounded in number. Specs of other files in this process give theirs back when they make room.
  for (const latest = new CompiledCron(specOf()).ticket; oldestTicket <= latest; ) new CompiledCron(specOf());
  const spec = specOf({ daysOfMonth: bits32(13, 29), months: bits32(2, 8, 11), daysOfWeek: bits32(0, 1, 2, 4, 6) });
  const cron = new CompiledCron(spec);
  const instants = range(0, 199).map((index) => index * 20_000_000_007);
  const fromMonths = instants.slice(0, 10).map((instant) => cron.nextMs(instant));
  expect(kernel.buildDays(new CompiledCron(specOf()).address)).toBe(0);
  expect(kernel.buildDays(cron.address)).toBe(1);
  expect(instants.slice(0, 10).map((instant) => cron.nextMs(instant))).toEqual(fromMonths);
  for (const instant of instants) {
    expect(cron.nextMs(instant)).toBe(oracleNext(spec, instant));
    expect(cron.previousMs(instant)).toBe(oraclePrevious(spec, instant));
  }
});
