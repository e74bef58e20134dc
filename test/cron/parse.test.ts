import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cronText } from "../../src/cron/canonical-text.ts";
import type { CronFields } from "../../src/cron/fields.ts";
import { parseCrontab, parseFields } from "../../src/cron/parse.ts";
import type { BitSet64 } from "../../src/cron/spec.ts";

const SETTINGS = { timeZone: "UTC", dst: "auto", dayMatch: "or" } as const;

function bits({ lo, hi }: BitSet64): number[] {
  return Array.from({ length: 64 }, (_, bit) => bit).filter(
    (bit) => ((bit < 32 ? lo >> bit : hi >> (bit - 32)) & 1) === 1,
  );
}

const crontab = (text: string) => parseCrontab(text, SETTINGS);
const only = (set: number) => bits({ lo: set, hi: 0 });

describe("elements", () => {
  test.each<[string, number[]]>([
    ["*", Array.from({ length: 60 }, (_, minute) => minute)],
    ["0", [0]],
    ["59", [59]],
    ["05", [5]],
    ["1-5", [1, 2, 3, 4, 5]],
    ["30-33", [30, 31, 32, 33]],
    ["31", [31]],
    ["32", [32]],
    ["5-5", [5]],
    ["10-20/5", [10, 15, 20]],
    ["10-21/5", [10, 15, 20]],
    ["40/5", [40, 45, 50, 55]],
    ["*/20", [0, 20, 40]],
    ["*/59", [0, 59]],
    ["5/1", [...Array.from({ length: 55 }, (_, index) => index + 5)]],
    ["59/1", [59]],
    ["58-1", [0, 1, 58, 59]],
    ["50-10/10", [0, 10, 50]],
    ["1,3,5-7,*/30", [0, 1, 3, 5, 6, 7, 30]],
    ["3,3,1", [1, 3]],
  ])("minute %s", (element, values) => {
    expect(bits(crontab(`${element} * * * *`).minutes)).toEqual(values);
    expect(bits(crontab(`${element} * * * * *`).seconds)).toEqual(values);
  });

  test.each<[string, number[]]>([
    ["22-2", [0, 1, 2, 22, 23]],
    ["22-3/2", [0, 2, 22]],
    ["*/8", [0, 8, 16]],
    ["9-17", [9, 10, 11, 12, 13, 14, 15, 16, 17]],
  ])("hour %s", (element, values) => {
    expect(only(crontab(`* ${element} * * *`).hours)).toEqual(values);
  });

  test.each<[string, number[]]>([
    ["jan", [1]],
    ["DEC", [12]],
    ["Nov-Feb", [1, 2, 11, 12]],
    ["nov-feb/2", [1, 11]],
    ["mar-may,9", [3, 4, 5, 9]],
    ["1-12", Array.from({ length: 12 }, (_, month) => month + 1)],
    ["10/1", [10, 11, 12]],
  ])("month %s", (element, values) => {
    expect(only(crontab(`* * * ${element} *`).months)).toEqual(values);
  });

  test.each<[string, number[]]>([
    ["sun", [0]],
    ["0", [0]],
    ["7", [0]],
    ["0,7", [0]],
    ["mon-FRI", [1, 2, 3, 4, 5]],
    ["fri-mon", [0, 1, 5, 6]],
    ["5-7", [0, 5, 6]],
    ["6-7", [0, 6]],
    ["0-7", [0, 1, 2, 3, 4, 5, 6]],
    ["7-2", [0, 1, 2]],
    ["sat-sun", [0, 6]],
    ["1-7/2", [0, 1, 3, 5]],
    ["4-7/3", [0, 4]],
    ["*/2", [0, 2, 4, 6]],
    ["1/2", [1, 3, 5]],
    ["5-1/2", [0, 5]],
    ["?", [0, 1, 2, 3, 4, 5, 6]],
  ])("weekday %s", (element, values) => {
    expect(only(crontab(`* * * * ${element}`).daysOfWeek)).toEqual(values);
  });

  test.each<[string, object]>([
    ["L", { lastDayOffsets: 1, daysOfMonth: 0 }],
    ["l", { lastDayOffsets: 1 }],
    ["last", { lastDayOffsets: 1 }],
    ["L-3", { lastDayOffsets: 8 }],
    ["L-0,L-30", { lastDayOffsets: (1 << 30) | 1 }],
    ["15W", { nearestWeekdays: 1 << 15, daysOfMonth: 0 }],
    ["1w,31W", { nearestWeekdays: (1 << 31) | 2 }],
    ["LW", { hasLastWeekday: true, lastDayOffsets: 0 }],
    ["1,15,L,lw", { daysOfMonth: (1 << 15) | 2, lastDayOffsets: 1, hasLastWeekday: true }],
    ["fri#2", { nthOfDay: { lo: 1 << 12, hi: 0 }, daysOfMonth: 0 }],
    ["sunL", { nthOfDay: { lo: 0, hi: 1 << 3 } }],
    ["?", { daysOfMonth: -2 }],
  ])("day %s", (element, expected) => {
    expect(crontab(`* * ${element} * *`)).toMatchObject(expected);
  });

  test.each<[string, string]>([
    ["2nd fri", "fri#2"],
    ["1st MON, 3rd mon", "mon#1,mon#3"],
    ["last sun", "sunL"],
    ["Last  Sun,4th tue , 5th wed", "tue#4,wed#5,sunL"],
    ["2nd fri,15,last", "15,L,fri#2"],
  ])("the day %s of the fields form is written %s in text", (day, text) => {
    expect(cronText(parseFields({ day, hour: 0 }, SETTINGS))).toBe(`0 0 ${text} * *`);
  });

  test.each<[string, string]>([
    ["fri#2", "fri#2"],
    ["5#2", "fri#2"],
    ["7#1", "sun#1"],
    ["0L", "sunL"],
    ["friL", "friL"],
    ["5l", "friL"],
    ["mon,fri#5", "mon,fri#5"],
    ["fri#L", "friL"],
    ["5#l", "friL"],
    ["sun-mon#3", "sun#3,mon#3"],
    ["sat-mon#1", "sun#1,mon#1,sat#1"],
    ["5-7#2", "sun#2,fri#2,sat#2"],
    ["0-7#2", "sun#2,mon#2,tue#2,wed#2,thu#2,fri#2,sat#2"],
    ["mon-tue#L,fri", "fri,monL,tueL"],
    ["sat-sun", "sat-sun"],
    ["+mon", "mon"],
    ["+*", "*"],
  ])("the weekday %s is %s", (weekday, text) => {
    expect(cronText(crontab(`0 0 * * ${weekday}`))).toBe(`0 0 * * ${text}`);
  });
});

describe("crontab text", () => {
  test.each<[string, string]>([
    ["* * * * *", "* * * * *"],
    ["0 * * * * *", "* * * * *"],
    ["30 * * * * *", "30 * * * * *"],
    ["* * * * * *", "* * * * * *"],
    ["0 0 9 * * mon-fri *", "0 9 * * mon-fri"],
    ["0 0 9 * * mon-fri 1970-9999", "0 9 * * mon-fri"],
    ["0 0 9 * * mon-fri 2030", "0 0 9 * * mon-fri 2030"],
    ["0 0 0 1 1 ? 2024/4", "0 0 0 1 1 * 2024/4"],
    ["  0\t9   * *\n1-5 ", "0 9 * * mon-fri"],
    ["0 9 * * 5-7", "0 9 * * fri-sun"],
    ["0 9 * * fri-mon", "0 9 * * fri-mon"],
    ["0 22-2 * nov-feb *", "0 22-2 * 11-2 *"],
    ["0,15,30,45 * * * *", "*/15 * * * *"],
    ["0-59/15 * * * *", "*/15 * * * *"],
    ["1,2,3 4,6,8 * * *", "1-3 4-8/2 * * *"],
    ["5,20,35,50 * * * *", "5/15 * * * *"],
    ["0 0 */2 * mon", "0 0 */2 * mon"],
    ["0 0 1/2 * mon", "0 0 1/2 * mon"],
    ["0 0 1-31 * mon", "0 0 * * *"],
    ["0 0 1 * 0-7", "0 0 * * *"],
    ["0 0 ? * mon", "0 0 * * mon"],
    ["? ? ? ? ? ? ?", "* * * * * *"],
    ["0 12 1 * +mon", "0 12 1 * +mon"],
    ["0 12 1 * +1,3", "0 12 1 * +mon,wed"],
    ["0 12 1-31 * +mon", "0 12 * * mon"],
    ["0 12 1 * +0-6", "0 12 1 * *"],
    ["0 12 */2 * +mon", "0 12 */2 * mon"],
    ["0 12 L * +fri#L", "0 12 L * +friL"],
    ["0 9 * * mon week=10-20", "0 9 * * mon week=10-20"],
    ["0 9 * * mon week=1-53", "0 9 * * mon"],
    ["0 0 9 * * mon 2030 week=*/2", "0 0 9 * * mon 2030 week=*/2"],
    ["@yearly", "0 0 1 1 *"],
    ["@annually", "0 0 1 1 *"],
    ["@monthly", "0 0 1 * *"],
    ["@weekly", "0 0 * * sun"],
    ["@daily", "0 0 * * *"],
    ["@midnight", "0 0 * * *"],
    [" @HOURLY ", "0 * * * *"],
  ])("%j has the canonical text %j", (text, canonical) => {
    expect(cronText(crontab(text))).toBe(canonical);
    expect(crontab(canonical)).toEqual({ ...crontab(text), yearText: crontab(canonical).yearText });
  });

  test.each<[string, "and" | "or"]>([
    ["0 0 13 * fri", "or"],
    ["0 0 1-7 * mon", "or"],
    ["0 0 L * fri", "or"],
    ["0 0 * * fri", "and"],
    ["0 0 13 * *", "and"],
    ["0 0 13 * ?", "and"],
    ["0 0 ? * fri", "and"],
    ["0 0 */2 * fri", "and"],
    ["0 0 1/2 * fri", "or"],
    ["0 0 13 * */2", "and"],
    ["0 0 *,13 * fri", "and"],
    ["0 0 13 * +fri", "and"],
  ])("the day and the weekday of %j combine with %s", (text, dayMatch) => {
    expect(crontab(text).dayMatch).toBe(dayMatch);
    expect(parseCrontab(text, { ...SETTINGS, dayMatch: "and" }).dayMatch).toBe("and");
  });

  test.each<[string, string, string]>([
    ["* * * * *", "skip", "both"],
    ["30 */1 * * *", "skip", "both"],
    ["30 0-23 1 * *", "skip", "both"],
    ["30 2 * * *", "advance", "first"],
    ["0 */2 * * *", "advance", "first"],
  ])("auto reads %j as gap %s, overlap %s", (text, gap, overlap) => {
    expect(crontab(text)).toMatchObject({ gap, overlap });
  });
});

describe("fields", () => {
  test.each<[CronFields, string]>([
    [{ second: "*/10" }, "*/10 * * * * *"],
    [{ minute: 5 }, "5 * * * *"],
    [{ hour: 9 }, "0 9 * * *"],
    [{ hour: 9, dayOfWeek: "mon-fri" }, "0 9 * * mon-fri"],
    [{ dayOfWeek: "mon" }, "0 0 * * mon"],
    [{ week: 10 }, "0 0 * * * week=10"],
    [{ day: 1 }, "0 0 1 * *"],
    [{ month: "jan" }, "0 0 1 1 *"],
    [{ year: 2030 }, "0 0 0 1 1 * 2030"],
    [{ year: 2030, minute: 0 }, "0 * * * * * 2030".replace("0 *", "0 0")],
    [{ month: 6, hour: 3 }, "0 3 * 6 *"],
    [{ day: 13, dayOfWeek: "fri" }, "0 0 13 * +fri"],
    [{ day: "*/2", dayOfWeek: "fri" }, "0 0 */2 * fri"],
    [{ day: 13, dayOfWeek: "+fri" }, "0 0 13 * +fri"],
    [{ year: "?", month: "?", day: "?", week: "?", hour: 9 }, "0 9 * * *"],
    [{ hour: "*", minute: 0 }, "0 * * * *"],
    [{ hour: 9, minute: undefined }, "0 9 * * *"],
    [{ dayOfWeek: "mon , wed" }, "0 0 * * mon,wed"],
  ])("%o means %j", (fields, text) => {
    expect(cronText(parseFields(fields, { ...SETTINGS, dayMatch: "and" }))).toBe(text);
  });

  test("both day and weekday must match unless either is asked for", () => {
    const fields = { day: 13, dayOfWeek: "fri" };
    expect(parseFields(fields, { ...SETTINGS, dayMatch: "and" }).dayMatch).toBe("and");
    expect(parseFields(fields, { ...SETTINGS, dayMatch: "or" }).dayMatch).toBe("or");
    expect(parseFields({ dayOfWeek: "fri" }, { ...SETTINGS, dayMatch: "or" }).dayMatch).toBe("and");
  });

  test("a set of years with no short text is kept as it was written", () => {
    const year = "1970/7,1971/11,1972/13,1973/17";
    const spec = parseFields({ year, hour: 0 }, SETTINGS);
    expect(cronText(spec)).toBe(`0 0 0 * * * ${year}`);
    expect(crontab(cronText(spec)).years).toEqual(spec.years);
  });
});

describe("canonical text", () => {
  // A few hundred cases a test: the more a test does, the nearer its time comes to that of one that hangs.
  test.each([1, 2, 3, 4])("means the same rule again, whatever the expression (%i of 4)", () => {
    fc.assert(
      fc.property(anyFields, fc.constantFrom("and" as const, "or" as const), (fields, dayMatch) => {
        const spec = parseFields(fields, { ...SETTINGS, dayMatch });
        const again = parseCrontab(cronText(spec), SETTINGS, 4096);
        expect({ ...again, yearText: "" }).toEqual({ ...spec, yearText: "" });
        expect(cronText(again)).toBe(cronText(spec));
      }),
      { numRuns: 500 },
    );
  });
});

function elements(min: number, max: number, wraps: boolean): fc.Arbitrary<string> {
  const value = fc.integer({ min, max });
  const range = fc
    .tuple(value, value, fc.integer({ min: 1, max: 4 }))
    .map(([first, last, step]) => (wraps || first <= last ? [first, last, step] : [last, first, step]))
    .map(([first = min, last = min, step = 1]) => {
      const span = first <= last ? last - first : last + max - min + 1 - first;
      return step > 1 && step <= span ? `${first}-${last}/${step}` : `${first}-${last}`;
    });
  const steps = fc.integer({ min: 2, max: Math.min(max - min, 40) }).map((step) => `*/${step}`);
  return fc.oneof({ weight: 4, arbitrary: value.map(String) }, range, steps);
}

const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const anyNth = fc
  .tuple(fc.constantFrom(...WEEKDAYS), fc.integer({ min: 1, max: 6 }))
  .map(([weekday, nth]) => (nth === 6 ? `${weekday}L` : `${weekday}#${nth}`));
const anyNthOfRange = fc
  .tuple(fc.integer({ min: 0, max: 7 }), fc.integer({ min: 0, max: 7 }), fc.constantFrom("1", "2", "3", "4", "5", "L"))
  .map(([first, last, nth]) => `${first}-${last}#${nth}`);
const anyDaySpecial = fc.oneof(
  fc.integer({ min: 0, max: 30 }).map((offset) => `L-${offset}`),
  fc.integer({ min: 1, max: 31 }).map((day) => `${day}W`),
  fc.constantFrom("L", "LW", "last", "2nd fri", "last mon"),
  anyNth,
);

function listOf(element: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.array(element, { minLength: 1, maxLength: 5 }).map((items) => items.join(","));
}

const anyFields = fc.record(
  {
    second: listOf(elements(0, 59, true)),
    minute: listOf(elements(0, 59, true)),
    hour: listOf(elements(0, 23, true)),
    day: listOf(fc.oneof(elements(1, 31, false), anyDaySpecial)),
    month: listOf(elements(1, 12, true)),
    dayOfWeek: fc
      .tuple(
        fc.constantFrom("", "", "+"),
        listOf(fc.oneof(elements(0, 6, true), fc.constantFrom(...WEEKDAYS, "5-7", "0-7"), anyNth, anyNthOfRange)),
      )
      .map((parts) => parts.join("")),
    week: listOf(elements(1, 53, false)),
    year: listOf(elements(1970, 9999, false)),
  },
  { requiredKeys: ["minute"] },
);
