import { describe, expect, test } from "vitest";
import type { CronFields } from "../../src/cron/fields.ts";
import { type CronOptions, CronTrigger } from "../../src/triggers/cron.ts";

// Vectors written by hand from the calendar: one or more for every row of every table of the specification.

type Vector = [rule: CronFields | string, from: string, times: string];

/** Fire times from an instant on, as many as are expected, without seconds of 00. */
function fireTimes(rule: CronFields | string, from: string, count: number, options: CronOptions = {}): string {
  const trigger = new CronTrigger(rule, options);
  const times = [...trigger.fireTimes({ from, limit: count })].map((at) => at.toPlainDateTime().toString());
  return times.map((time) => time.replace("T", " ").replace(/^2026-/, "")).join(", ");
}

function expectVector([rule, from, times]: Vector, options?: CronOptions): void {
  expect(
    fireTimes(rule, `${from.length === 5 ? `2026-${from}` : from}T00:00:00Z`, times.split(", ").length, options),
  ).toBe(times);
}

describe("the element", () => {
  test.each<Vector>([
    // * and ?
    ["* * * * *", "01-01", "01-01 00:00:00, 01-01 00:01:00, 01-01 00:02:00"],
    ["0 0 ? * mon", "01-01", "01-05 00:00:00, 01-12 00:00:00"],
    ["0 0 13 * ?", "01-01", "01-13 00:00:00, 02-13 00:00:00"],
    // a, a-b, a-b/n, a/n, */n, lists
    ["5 * * * *", "01-01", "01-01 00:05:00, 01-01 01:05:00"],
    ["5-7 0 * * *", "01-01", "01-01 00:05:00, 01-01 00:06:00, 01-01 00:07:00, 01-02 00:05:00"],
    ["10-30/10 0 * * *", "01-01", "01-01 00:10:00, 01-01 00:20:00, 01-01 00:30:00, 01-02 00:10:00"],
    ["40/10 0 * * *", "01-01", "01-01 00:40:00, 01-01 00:50:00, 01-02 00:40:00"],
    ["*/25 0 * * *", "01-01", "01-01 00:00:00, 01-01 00:25:00, 01-01 00:50:00, 01-02 00:00:00"],
    ["1,3-4,50/5 0 * * *", "01-01", "01-01 00:01:00, 01-01 00:03:00, 01-01 00:04:00, 01-01 00:50:00, 01-01 00:55:00"],
    // names
    ["0 0 1 FEB,dec *", "01-01", "02-01 00:00:00, 12-01 00:00:00"],
    ["0 0 * * Tue-thu", "01-01", "01-01 00:00:00, 01-06 00:00:00, 01-07 00:00:00, 01-08 00:00:00"],
    // wrapping ranges
    ["0 0 * * fri-mon", "01-01", "01-02 00:00:00, 01-03 00:00:00, 01-04 00:00:00, 01-05 00:00:00, 01-09 00:00:00"],
    ["0 22-1 * * *", "01-01", "01-01 00:00:00, 01-01 01:00:00, 01-01 22:00:00, 01-01 23:00:00, 01-02 00:00:00"],
    ["0 0 1 nov-feb *", "01-02", "02-01 00:00:00, 11-01 00:00:00, 12-01 00:00:00, 2027-01-01 00:00:00"],
    ["58-1 0 * * *", "01-01", "01-01 00:00:00, 01-01 00:01:00, 01-01 00:58:00, 01-01 00:59:00, 01-02 00:00:00"],
    ["59-0 0 0 * * *", "01-01", "01-01 00:00:00, 01-01 00:00:59, 01-02 00:00:00"],
    // 0-7
    ["0 0 * * 0", "01-01", "01-04 00:00:00, 01-11 00:00:00"],
    ["0 0 * * 7", "01-01", "01-04 00:00:00, 01-11 00:00:00"],
    ["0 0 * * 6-7", "01-01", "01-03 00:00:00, 01-04 00:00:00, 01-10 00:00:00"],
    // L, last
    ["0 0 L * *", "01-01", "01-31 00:00:00, 02-28 00:00:00, 03-31 00:00:00, 04-30 00:00:00"],
    [{ day: "last" }, "2028-02-01", "2028-02-29 00:00:00, 2028-03-31 00:00:00"],
    // L-n
    ["0 0 L-2 * *", "01-01", "01-29 00:00:00, 02-26 00:00:00, 03-29 00:00:00"],
    ["0 0 L-30 * *", "01-02", "03-01 00:00:00, 05-01 00:00:00"],
    // nW, LW: 15 February 2026 is a Sunday, 15 August a Saturday, 1 August a Saturday, 31 May a Sunday
    ["0 0 15W 2,8 *", "01-01", "02-16 00:00:00, 08-14 00:00:00"],
    ["0 0 1W 8 *", "01-01", "08-03 00:00:00"],
    ["0 0 31W 5 *", "01-01", "05-29 00:00:00"],
    ["0 0 15W 1 *", "01-01", "01-15 00:00:00"],
    ["0 0 LW 2,5 *", "01-01", "02-27 00:00:00, 05-29 00:00:00"],
    // 2nd fri, last sun
    [{ day: "2nd fri" }, "01-01", "01-09 00:00:00, 02-13 00:00:00, 03-13 00:00:00"],
    [{ day: "last sun" }, "01-01", "01-25 00:00:00, 02-22 00:00:00, 03-29 00:00:00"],
    [{ day: "5th thu" }, "01-01", "01-29 00:00:00, 04-30 00:00:00"],
    [{ day: "1st thu, 3rd mon" }, "01-01", "01-01 00:00:00, 01-19 00:00:00, 02-05 00:00:00"],
    // fri#2, 5#2, friL, 5L
    ["0 0 * * fri#2", "01-01", "01-09 00:00:00, 02-13 00:00:00"],
    ["0 0 * * 5#2", "01-01", "01-09 00:00:00, 02-13 00:00:00"],
    ["0 0 * * friL", "01-01", "01-30 00:00:00, 02-27 00:00:00"],
    ["0 0 * * 5L", "01-01", "01-30 00:00:00, 02-27 00:00:00"],
    // ISO weeks: 1 January 2026 is a Thursday of week 1, 1 January 2027 a Friday of week 53 of 2026
    [{ week: 1, dayOfWeek: "mon" }, "2025-12-01", "2025-12-29 00:00:00, 2027-01-04 00:00:00"],
    [{ week: 53, dayOfWeek: "fri" }, "01-01", "2027-01-01 00:00:00, 2032-12-31 00:00:00"],
    // years
    ["0 0 0 1 1 ? 2030-2032/2", "01-01", "2030-01-01 00:00:00, 2032-01-01 00:00:00"],
    ["59 59 23 31 12 ? 9999", "01-01", "9999-12-31 23:59:59"],
  ])("%j, from %s on, fires at %s", (...vector) => expectVector(vector));
});

describe("the fields form", () => {
  test.each<Vector>([
    [{ second: 30 }, "01-01", "01-01 00:00:30, 01-01 00:01:30"],
    [{ minute: 30 }, "01-01", "01-01 00:30:00, 01-01 01:30:00"],
    [{ hour: 9 }, "01-01", "01-01 09:00:00, 01-02 09:00:00"],
    [{ dayOfWeek: "sun" }, "01-01", "01-04 00:00:00, 01-11 00:00:00"],
    [{ week: 2 }, "01-01", "01-05 00:00:00, 01-06 00:00:00"],
    [{ day: 15 }, "01-01", "01-15 00:00:00, 02-15 00:00:00"],
    [{ month: 6 }, "01-01", "06-01 00:00:00, 2027-06-01 00:00:00"],
    [{ year: 2030 }, "01-01", "2030-01-01 00:00:00"],
    [{ day: 13, dayOfWeek: "fri" }, "01-01", "02-13 00:00:00, 03-13 00:00:00, 11-13 00:00:00"],
  ])("%j, from %s on, fires at %s", (...vector) => expectVector(vector));
});

describe("crontab text", () => {
  test.each<Vector>([
    ["30 9 * * *", "01-01", "01-01 09:30:00, 01-02 09:30:00"],
    ["15 30 9 * * *", "01-01", "01-01 09:30:15, 01-02 09:30:15"],
    ["15 30 9 1 1 * 2027", "01-01", "2027-01-01 09:30:15"],
    ["@yearly", "01-02", "2027-01-01 00:00:00, 2028-01-01 00:00:00"],
    ["@annually", "01-02", "2027-01-01 00:00:00, 2028-01-01 00:00:00"],
    ["@monthly", "01-02", "02-01 00:00:00, 03-01 00:00:00"],
    ["@weekly", "01-01", "01-04 00:00:00, 01-11 00:00:00"],
    ["@daily", "01-01", "01-01 00:00:00, 01-02 00:00:00"],
    ["@midnight", "01-01", "01-01 00:00:00, 01-02 00:00:00"],
    ["@hourly", "01-01", "01-01 00:00:00, 01-01 01:00:00"],
    ["0 0 13 * fri", "02-01", "02-06 00:00:00, 02-13 00:00:00, 02-20 00:00:00, 02-27 00:00:00, 03-06 00:00:00"],
    ["0 0 */15 * mon", "01-01", "02-16 00:00:00, 03-16 00:00:00, 06-01 00:00:00, 08-31 00:00:00"],
  ])("%j, from %s on, fires at %s", (...vector) => expectVector(vector));

  test("asks for both day and weekday where it is told to", () => {
    expectVector(["0 0 13 * fri", "01-01", "02-13 00:00:00, 03-13 00:00:00, 11-13 00:00:00"], { dayMatch: "and" });
  });
});

type DstVector = [text: string, dst: CronOptions["dst"], from: string, instants: string[]];

function instants(text: string, options: CronOptions, from: string, count: number): string[] {
  const trigger = CronTrigger.fromCrontab(text, options);
  return [...trigger.fireTimes({ from, limit: count })].map((at) => at.toString().replace(/\[.*/, ""));
}

describe("when clocks go forward in Berlin (29 March 2026, 02:00 to 03:00)", () => {
  const from = "2026-03-29T00:00:00Z";
  const next = "2026-03-30T02:30:00+02:00";
  test.each<DstVector>([
    ["30 2 * * *", "auto", from, ["2026-03-29T03:00:00+02:00", next]],
    ["30 2 * * *", { gap: "advance", overlap: "first" }, from, ["2026-03-29T03:00:00+02:00", next]],
    ["30 2 * * *", { gap: "shift", overlap: "first" }, from, ["2026-03-29T03:30:00+02:00", next]],
    ["30 2 * * *", { gap: "skip", overlap: "first" }, from, [next, "2026-03-31T02:30:00+02:00"]],
    // Two times of the clock that land on one instant fire once.
    ["0,30 2 * * *", "auto", from, ["2026-03-29T03:00:00+02:00", "2026-03-30T02:00:00+02:00"]],
    ["30 2-3 * * *", { gap: "shift", overlap: "first" }, from, ["2026-03-29T03:30:00+02:00", next]],
    ["0 3 * * *", "auto", from, ["2026-03-29T03:00:00+02:00", "2026-03-30T03:00:00+02:00"]],
    // Every hour: elapsed time.
    ["30 * * * *", "auto", from, ["2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00"]],
    ["*/30 * * * *", "auto", "2026-03-29T00:30:00Z", ["2026-03-29T01:30:00+01:00", "2026-03-29T03:00:00+02:00"]],
  ])("%s with %o, from %s on, fires at %o", (text, dst, start, expected) => {
    expect(instants(text, { timeZone: "Europe/Berlin", dst }, start, 2)).toEqual(expected);
  });
});

describe("when clocks go back in Berlin (25 October 2026, 03:00 to 02:00)", () => {
  const from = "2026-10-24T22:30:00Z";
  const [first, second, next] = ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "2026-10-26T02:30:00+01:00"];
  test.each<DstVector>([
    ["30 2 * * *", "auto", from, [first, next]],
    ["30 2 * * *", { gap: "skip", overlap: "first" }, from, [first, next]],
    ["30 2 * * *", { gap: "skip", overlap: "second" }, from, [second, next]],
    ["30 2 * * *", { gap: "skip", overlap: "both" }, from, [first, second]],
    ["30 * * * *", "auto", "2026-10-25T00:00:00Z", [first, second]],
    ["*/30 * * * *", "auto", "2026-10-25T00:30:00Z", [first, "2026-10-25T02:00:00+01:00"]],
  ])("%s with %o, from %s on, fires at %o", (text, dst, start, expected) => {
    expect(instants(text, { timeZone: "Europe/Berlin", dst }, start, 2)).toEqual(expected);
  });
});

describe("in zones of their own kind", () => {
  test("Lord Howe's clocks go forward by half an hour", () => {
    const options = { timeZone: "Australia/Lord_Howe" };
    expect(instants("15 2 * * *", options, "2026-10-03T00:00:00Z", 2)).toEqual([
      "2026-10-04T02:30:00+11:00",
      "2026-10-05T02:15:00+11:00",
    ]);
  });

  test("Apia had no 30 December 2011", () => {
    const options = { timeZone: "Pacific/Apia", dst: { gap: "skip", overlap: "first" } } as const;
    expect(instants("0 9 * * *", options, "2011-12-29T12:00:00Z", 2)).toEqual([
      "2011-12-29T09:00:00-10:00",
      "2011-12-31T09:00:00+14:00",
    ]);
  });

  test("Istanbul has kept one offset since 2016", () => {
    expect(instants("30 3 * * *", { timeZone: "Europe/Istanbul" }, "2026-03-29T00:00:00Z", 1)).toEqual([
      "2026-03-29T03:30:00+03:00",
    ]);
  });
});

describe("APScheduler's behaviour, with gap skip and overlap both", () => {
  const dst = { gap: "skip", overlap: "both" } as const;
  const apscheduler = (fields: CronFields, timeZone: string, from: string, count: number): string[] => {
    const trigger = new CronTrigger(fields, { timeZone, dst });
    return [...trigger.fireTimes({ from, limit: count })].map((at) => at.toString().replace(/\[.*/, ""));
  };

  test("unset fields below the least significant one take their minimum, the others every value", () => {
    expect(apscheduler({ month: "6-8,11-12", day: "3rd fri", hour: "0-3" }, "UTC", "2026-06-01T00:00:00Z", 5)).toEqual([
      "2026-06-19T00:00:00+00:00",
      "2026-06-19T01:00:00+00:00",
      "2026-06-19T02:00:00+00:00",
      "2026-06-19T03:00:00+00:00",
      "2026-07-17T00:00:00+00:00",
    ]);
  });

  test("a time within a gap does not fire that day", () => {
    expect(apscheduler({ hour: 2, minute: 30 }, "America/New_York", "2026-03-07T12:00:00Z", 2)).toEqual([
      "2026-03-09T02:30:00-04:00",
      "2026-03-10T02:30:00-04:00",
    ]);
  });

  test("a time that exists twice fires twice", () => {
    expect(apscheduler({ hour: 1, minute: 30 }, "America/New_York", "2026-11-01T00:00:00Z", 3)).toEqual([
      "2026-11-01T01:30:00-04:00",
      "2026-11-01T01:30:00-05:00",
      "2026-11-02T01:30:00-05:00",
    ]);
    expect(apscheduler({ hour: "*/1" }, "America/New_York", "2026-11-01T05:00:00Z", 3)).toEqual([
      "2026-11-01T01:00:00-04:00",
      "2026-11-01T01:00:00-05:00",
      "2026-11-01T02:00:00-05:00",
    ]);
  });

  test("an interval in minutes of the clock goes on through both changes", () => {
    expect(apscheduler({ minute: "*/30" }, "America/New_York", "2026-03-08T06:30:00Z", 2)).toEqual([
      "2026-03-08T01:30:00-05:00",
      "2026-03-08T03:00:00-04:00",
    ]);
    expect(apscheduler({ minute: "*/30" }, "America/New_York", "2026-11-01T05:30:00Z", 2)).toEqual([
      "2026-11-01T01:30:00-04:00",
      "2026-11-01T01:00:00-05:00",
    ]);
  });

  test("the last day, the nth weekday and the ISO week", () => {
    expect(apscheduler({ day: "last", hour: 12 }, "UTC", "2028-02-01T00:00:00Z", 1)).toEqual([
      "2028-02-29T12:00:00+00:00",
    ]);
    expect(apscheduler({ day: "last mon", hour: 12 }, "UTC", "2026-05-01T00:00:00Z", 1)).toEqual([
      "2026-05-25T12:00:00+00:00",
    ]);
    expect(apscheduler({ week: 53, dayOfWeek: "sun" }, "UTC", "2026-06-01T00:00:00Z", 2)).toEqual([
      "2027-01-03T00:00:00+00:00",
      "2033-01-02T00:00:00+00:00",
    ]);
  });
});
