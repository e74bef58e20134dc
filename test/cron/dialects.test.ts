import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CronSyntaxError, OptionsError } from "../../src/core/errors.ts";
import { CompiledCron } from "../../src/cron/compiled-cron.ts";
import type { CronDialect } from "../../src/cron/spec.ts";
import { triggerFromJSON } from "../../src/triggers/codec.ts";
import { type CronOptions, CronTrigger } from "../../src/triggers/cron.ts";
import { CronBatch } from "../../src/triggers/cron-batch.ts";
import { dialectCases } from "./dialect-arbitraries.ts";
import { oracleNext, oraclePrevious } from "./oracle.ts";

const read = (text: string, dialect?: CronDialect, options: CronOptions = {}): CronTrigger =>
  CronTrigger.fromCrontab(text, { dialect, ...options });
/** The first fire times from 2027 on, as `MM-DD hh:mm`, with the second and the year where they are not 0 and 2027. */
function fires(trigger: CronTrigger, count: number, from = "2027-01-01T00:00:00Z"): string {
  const times = [...trigger.fireTimes({ from, limit: count })].map((at) => at.toPlainDateTime().toString());
  return times
    .map((at) =>
      at
        .replace(/^2027-/, "")
        .replace("T", " ")
        .replace(/:00$/, ""),
    )
    .join(", ");
}

// Rows of the Open Cron Pattern Specification: section, text, and the first fire times from 2027-01-01, a Friday.
const OCPS: [section: string, text: string, times: string][] = [
  // 1.0
  ["1.0 4.1 five fields", "30 12 15 6 *", "06-15 12:30"],
  ["1.0 4.1 blanks before, after and between are one", " \t30   12\t15 6 * ", "06-15 12:30"],
  ["1.0 4.2 the smallest values", "0 0 1 1 0", "01-01 00:00, 01-03 00:00"],
  ["1.0 4.2 the largest values", "59 23 31 12 7", "12-05 23:59, 12-12 23:59"],
  ["1.0 4.2 months by name, in any case", "0 0 1 feb,MAR,aPr *", "02-01 00:00, 03-01 00:00, 04-01 00:00"],
  ["1.0 4.2 weekdays by name, in any case", "0 0 * * mon,TUE", "01-04 00:00, 01-05 00:00"],
  ["1.0 4.2 Sunday is 0", "0 0 * * 0", "01-03 00:00, 01-10 00:00"],
  ["1.0 4.2 Sunday is 7", "0 0 * * 7", "01-03 00:00, 01-10 00:00"],
  ["1.0 4.2 a range to 7", "0 0 * * 5-7", "01-01 00:00, 01-02 00:00, 01-03 00:00, 01-08 00:00"],
  ["1.0 4.2 a range from 0", "0 0 * * 0-1", "01-03 00:00, 01-04 00:00, 01-10 00:00"],
  ["1.0 4.2 a range to SUN, which is 7, too", "0 0 * * FRI-SUN", "01-01 00:00, 01-02 00:00, 01-03 00:00"],
  ["1.0 4.2 a range from SUN, which is 0, too", "0 0 * * SUN-MON", "01-03 00:00, 01-04 00:00, 01-10 00:00"],
  ["1.0 5 a wildcard", "* * * * *", "01-01 00:00, 01-01 00:01"],
  ["1.0 5 a list", "0,15,30,45 * * * *", "01-01 00:00, 01-01 00:15, 01-01 00:30, 01-01 00:45, 01-01 01:00"],
  ["1.0 5 a range", "0 9-11 * * *", "01-01 09:00, 01-01 10:00, 01-01 11:00, 01-02 09:00"],
  ["1.0 5 a step of a range", "5-59/15 * * * *", "01-01 00:05, 01-01 00:20, 01-01 00:35, 01-01 00:50, 01-01 01:05"],
  [
    "1.0 5.1 a list of all kinds",
    "1,10-12,50-59/8 3 * * *",
    "01-01 03:01, 01-01 03:10, 01-01 03:11, 01-01 03:12, 01-01 03:50",
  ],
  ["1.0 5.1 a step of a wildcard", "*/20 * * * *", "01-01 00:00, 01-01 00:20, 01-01 00:40, 01-01 01:00"],
  ["1.0 5.1 a step begins with the lowest value", "0 0 */10 1 *", "01-01 00:00, 01-11 00:00, 01-21 00:00, 01-31 00:00"],
  ["1.0 5.1 a step beyond its range leaves the lowest value", "10-20/30 4 * * *", "01-01 04:10, 01-02 04:10"],
  ["1.0 5.1 a step beyond the field does, too", "*/90 4 * * *", "01-01 04:00, 01-02 04:00"],
  ["1.0 6.1 day or weekday", "0 12 1 * MON", "01-01 12:00, 01-04 12:00, 01-11 12:00"],
  [
    "1.0 6.1 a step is a restriction",
    "0 0 */20 * MON",
    "01-01 00:00, 01-04 00:00, 01-11 00:00, 01-18 00:00, 01-21 00:00",
  ],
  ["1.0 6.1 a day alone", "0 12 1 * *", "01-01 12:00, 02-01 12:00"],
  ["1.0 6.1 a weekday alone", "0 12 * * MON", "01-04 12:00, 01-11 12:00"],
  ["1.0 6.2 a leap day", "0 0 29 2 *", "2028-02-29 00:00, 2032-02-29 00:00"],
  // 1.1
  ["1.1 4.1 yearly", "@yearly", "01-01 00:00, 2028-01-01 00:00"],
  ["1.1 4.1 annually", "@annually", "01-01 00:00, 2028-01-01 00:00"],
  ["1.1 4.1 monthly", "@monthly", "01-01 00:00, 02-01 00:00"],
  ["1.1 4.1 weekly", "@weekly", "01-03 00:00, 01-10 00:00"],
  ["1.1 4.1 daily", "@daily", "01-01 00:00, 01-02 00:00"],
  ["1.1 4.1 midnight", "@midnight", "01-01 00:00, 01-02 00:00"],
  ["1.1 4.1 hourly", "@hourly", "01-01 00:00, 01-01 01:00"],
  ["1.1 6.1 a day that begins with a star", "0 12 *,1 * MON", "01-04 12:00, 01-11 12:00"],
  ["1.1 6.1 a day that begins with two", "0 12 *,*/2 * MON", "01-04 12:00, 01-11 12:00"],
  ["1.1 6.1 a weekday that begins with a star", "0 12 15 * *,MON", "01-15 12:00, 02-15 12:00"],
  ["1.1 6.1 a star that is not the first", "0 12 1,* * MON", "01-01 12:00, 01-02 12:00"],
  ["1.1 6.1 a star with a step", "0 12 */1 * MON", "01-01 12:00, 01-02 12:00"],
  ["1.1 6.1 all days by a range", "0 12 1-31,* * MON", "01-01 12:00, 01-02 12:00"],
  ["1.1 6.1 both begin with a star", "0 12 *,1 * *,MON", "01-01 12:00, 01-02 12:00"],
  ["1.1 6.1 and a star that is not the first", "0 12 13 * MON,*", "01-01 12:00, 01-02 12:00"],
  // 1.2
  ["1.2 4.1 the second first", "*/20 * * * * *", "01-01 00:00, 01-01 00:00:20, 01-01 00:00:40, 01-01 00:01"],
  ["1.2 4.1 lists and ranges of seconds", "5,10-11 30 9 * * *", "01-01 09:30:05, 01-01 09:30:10, 01-01 09:30:11"],
  ["1.2 4.1 six fields begin with the second", "30 0 12 1 1 *", "01-01 12:00:30, 2028-01-01 12:00:30"],
  ["1.2 4.2 a year", "0 15 10 1 1 * 2029", "2029-01-01 10:15"],
  ["1.2 4.2 a range of years", "0 0 12 1 1 * 2029-2030", "2029-01-01 12:00, 2030-01-01 12:00"],
  ["1.2 4.2 a list of years", "0 0 12 1 1 * 2029,2031", "2029-01-01 12:00, 2031-01-01 12:00"],
  ["1.2 4.2 even years", "0 0 0 1 1 * */2", "2028-01-01 00:00, 2030-01-01 00:00"],
  ["1.2 4.2 odd years", "0 0 0 1 1 * 1971-2199/2", "01-01 00:00, 2029-01-01 00:00"],
  ["1.2 4.2 the last year that all have", "0 0 0 1 1 * 2199", "2199-01-01 00:00"],
  // 1.3
  ["1.3 4.1 the last day", "0 0 L * *", "01-31 00:00, 02-28 00:00, 03-31 00:00"],
  ["1.3 4.1 the last day in a list", "0 0 15,L * *", "01-15 00:00, 01-31 00:00, 02-15 00:00"],
  ["1.3 4.1 the last Friday as 5L", "0 0 * * 5L", "01-29 00:00, 02-26 00:00"],
  ["1.3 4.1 the last Friday as 5#L", "0 0 * * 5#L", "01-29 00:00, 02-26 00:00"],
  ["1.3 4.1 the last Friday as FRI#L", "0 0 * * FRI#L", "01-29 00:00, 02-26 00:00"],
  ["1.3 4.2 the third Tuesday", "0 0 * * 2#3", "01-19 00:00, 02-16 00:00"],
  ["1.3 4.2 the first Monday", "0 0 * * MON#1", "01-04 00:00, 02-01 00:00"],
  ["1.3 4.2 the second Sunday as 7", "0 0 * * 7#2", "01-10 00:00, 02-14 00:00"],
  ["1.3 4.2 a fifth Friday, which some months have", "0 0 * * FRI#5", "01-29 00:00, 04-30 00:00"],
  ["1.3 4.2 each day of a range", "0 0 * * SUN-MON#3", "01-17 00:00, 01-18 00:00, 02-15 00:00"],
  ["1.3 4.3 a Saturday goes to Friday", "0 12 16W 1 *", "01-15 12:00"],
  ["1.3 4.3 a Sunday goes to Monday", "0 12 17W 1 *", "01-18 12:00"],
  ["1.3 4.3 a weekday stays", "0 12 15W 1 *", "01-15 12:00"],
  ["1.3 4.3 not before the month", "0 12 1W 5 *", "05-03 12:00"],
  ["1.3 4.3 not after the month", "0 12 31W 1 *", "01-29 12:00"],
  // 1.4
  ["1.4 4.1.1 either", "0 12 1 * MON", "01-01 12:00, 01-04 12:00"],
  ["1.4 4.1.2 both", "0 12 1 * +MON", "02-01 12:00, 03-01 12:00, 11-01 12:00"],
  ["1.4 4.1.2 both, of a list", "0 12 1 * +MON,FRI", "01-01 12:00, 02-01 12:00, 03-01 12:00"],
  ["1.4 4.1.2 the last day if it is a Friday", "0 0 L * +FRI", "04-30 00:00, 12-31 00:00"],
  ["1.4 4.2 ? is a star", "0 0 ? * MON", "01-04 00:00, 01-11 00:00"],
  ["1.4 4.2 ? is a star in the weekday, too", "0 0 1 * ?", "01-01 00:00, 02-01 00:00"],
];

/** Where our own dialect answers otherwise, or refuses what OCPS takes. docs/triggers.md has all of them. */
const OWN_DIFFERS = new Map([
  ["10-20/30 4 * * *", "a step larger than its range"],
  ["*/90 4 * * *", "a step larger than its range"],
  ["0 12 */1 * MON", "01-04 12:00, 01-11 12:00, 01-18 12:00"],
  ["0 0 */20 * MON", "02-01 00:00, 03-01 00:00, 06-21 00:00"],
]);

describe("the Open Cron Pattern Specification", () => {
  test.each(OCPS)("%s: %j", (_, text, times) => {
    const count = times.split(", ").length;
    expect(fires(read(text, "ocps"), count)).toBe(times);
    const other = OWN_DIFFERS.get(text);
    if (other === undefined) expect(fires(read(text), count)).toBe(times);
    else if (/^\d/.test(other)) expect(fires(read(text), 3)).toBe(other);
    else expect(() => read(text)).toThrow(other);
  });

  test.each<[section: string, text: string, message: string, own: boolean]>([
    ["1.0 4.1 a character of no field", "0 9 * * $", 'has an unexpected "$"', false],
    ["1.0 4.1 a line break is no blank", "0 9\n* * *", 'cannot be read as "ocps"', true],
    ["1.0 4.1 four fields", "0 9 * *", "it takes 5, 6 or 7 fields", false],
    ["1.0 6.2 minute 60", "60 * * * *", "is outside 0-59", false],
    ["1.0 6.2 hour 24", "0 24 * * *", "is outside 0-23", false],
    ["1.0 6.2 day 0", "0 0 0 * *", "is outside 1-31", false],
    ["1.0 6.2 day 32", "0 0 32 * *", "is outside 1-31", false],
    ["1.0 6.2 month 13", "0 0 1 13 *", "is outside 1-12", false],
    ["1.0 6.2 weekday 8", "0 0 * * 8", "is outside 0-7", false],
    ["1.0 6.2 hours that run backwards", "0 22-2 * * *", "runs backwards", true],
    ["1.0 6.2 weekdays that run backwards", "0 0 * * FRI-MON", "runs backwards", true],
    ["1.0 6.2 weekdays from 7", "0 0 * * 7-2", "runs backwards", true],
    ["1.0 6.2 days that run backwards", "0 0 20-10 * *", "runs backwards", false],
    ["1.0 6.2 a step of 0", "*/0 * * * *", "has a step of 0", false],
    ["1.0 6.2 a step of nothing", "/30 * * * *", 'has an unexpected "/"', false],
    ["1.0 6.2 a step of a value", "0/15 * * * *", "steps */n and a-b/n", true],
    ["1.0 6.2 a step of a value", "10/10 * * * *", "steps */n and a-b/n", true],
    ["1.1 4.1 nicknames in lower case", "@Daily", 'did you mean "@daily"?', true],
    ["1.1 4.1 nicknames stand alone", "@daily 0 0 * * *", "is not a nickname", false],
    ["1.1 4.1 an unknown nickname", "@fortnightly", "is not a nickname", false],
    ["1.2 4.1 second 60", "60 0 0 * * *", "is outside 0-59", false],
    ["1.2 4.2 eight fields", "0 0 0 1 1 * 2030 1", "it takes 5, 6 or 7 fields", false],
    ["1.4 4.3.2 a year beyond the range", "0 0 0 1 1 * 10000", "is outside 1970-9999", false],
    ["1.4 4.3.2 the year 0", "0 0 0 1 1 * 0", "is outside 1970-9999", false],
    ["1.3 4 L in lower case", "0 0 l * *", 'cannot be read as "ocps"', true],
    ["1.3 4 W in lower case", "0 0 15w * *", 'cannot be read as "ocps"', true],
    ["1.3 4.1 L of the weekday in lower case", "0 0 * * FRIl", 'cannot be read as "ocps"', true],
    ["1.3 4.1 L alone as a weekday", "0 0 * * L", "has L alone", false],
    ["1.3 4.2 the sixth", "0 0 * * FRI#6", "must have a number from 1 to 5", false],
    ["1.3 4.2 # in the day", "0 0 FRI#2 * *", 'cannot be read as "ocps"', true],
    ["1.3 4.3 W of a range", "0 0 1-15W * *", 'has an unexpected "W"', false],
    ["1.3 4.3 W in a list", "0 0 1,15W * *", 'cannot be read as "ocps"', true],
    ["1.3 4.3 W of a weekday", "0 0 * * MONW", "has an unknown name", false],
    ["1.4 4.1.2 + in another field", "0 12 +1 * MON", 'has an unexpected "+"', false],
    ["1.4 4.1.2 + within the field", "0 12 1 * MON,+FRI", 'has an unexpected "+"', false],
    ["1.4 4.1.2 + twice", "0 12 1 * ++MON", 'has an unexpected "+"', false],
    ["1.4 4.2 ? of another field", "? 0 * * *", 'cannot be read as "ocps"', true],
    ["1.4 4.2 ? with a step", "0 0 ?/2 * *", 'has an unexpected "/"', false],
    ["further than OCPS: L-3", "0 0 L-3 * *", 'cannot be read as "ocps"', true],
    ["further than OCPS: LW", "0 0 LW * *", 'cannot be read as "ocps"', true],
    ["further than OCPS: ISO weeks", "0 9 * * mon week=10", 'has an unknown name "mon"', true],
  ])("refuses, by %s, %j", (_, text, message, own) => {
    const error = errorOf(() => read(text, "ocps"));
    expect(error).toBeInstanceOf(CronSyntaxError);
    expect(error.message).toContain(message);
    if (own) expect(() => read(text)).not.toThrow();
    else expect(() => read(text)).toThrow(CronSyntaxError);
  });

  test("1.1 4.2: @reboot is refused, and not as an error of syntax", () => {
    const error = errorOf(() => read("@reboot", "ocps"));
    expect(error).toBeInstanceOf(OptionsError);
    expect(error.message).toContain("@reboot names no time; call the task when your program starts");
  });

  test("1.4 4.3.1: what falls into a gap is left out, and what comes twice runs once", () => {
    const timeZone = "Europe/Berlin";
    const times = (text: string, from: string, dialect?: CronDialect) =>
      [...read(text, dialect, { timeZone }).fireTimes({ from, limit: 4 })].map((at) => at.toString().slice(5, 22));
    const [spring, autumn] = ["2027-03-28T00:00:00Z", "2027-10-30T23:00:00Z"];
    expect(times("30 2 * * *", spring, "ocps")[0]).toBe("03-29T02:30:00+02");
    expect(times("30 2 * * *", spring)[0]).toBe("03-28T03:00:00+02");
    const hours = ["10-31T01:00:00+02", "10-31T02:00:00+02", "10-31T03:00:00+01", "10-31T04:00:00+01"];
    expect(times("0 * * * *", autumn, "ocps")).toEqual(hours);
    expect(times("0 * * * *", autumn)[2]).toBe("10-31T02:00:00+01");
    // An option says it otherwise, or half of it.
    const trigger = read("30 2 * * *", "ocps", { timeZone, dst: { gap: "shift" } });
    expect(trigger.options.dst).toEqual({ gap: "shift", overlap: "first" });
  });

  test.each([
    ["0 0 31 2 *", "At 00:00, on 31 February, in UTC"],
    ["0 0 30 feb *", "At 00:00, on 30 February, in UTC"],
    ["0 0 0 1 1 * 1950", "At 00:00, on 1 January, in the years 1950, in UTC"],
    ["0 0 0 29 2 +MON#1 2028", "At 00:00, on 29 February if it is on the first Monday of the month, in 2028, in UTC"],
  ])("1.0 6.2: %s is taken, answers with null, and comes back from JSON", (text, described) => {
    const trigger = read(text, "ocps");
    expect(() => read(text)).toThrow(CronSyntaxError);
    expect(trigger.describe().replace(/ \(skipped.*/, "")).toBe(described);
    const stored = triggerFromJSON(JSON.parse(JSON.stringify(trigger))) as CronTrigger;
    for (const copy of [trigger, stored, CronTrigger.fromCrontab(String(trigger), trigger.options)]) {
      expect(copy.toJSON()).toEqual({
        ...{ type: "cron", version: 1, expression: text, written: text, timeZone: "UTC", dialect: "ocps" },
        dst: { gap: "skip", overlap: "first" },
      });
      expect([copy.nextMs(0), copy.previousMs(4e12), copy.matchesMs(0), copy.expand().length]).toEqual([
        null,
        null,
        false,
        0,
      ]);
      expect(new CronBatch([copy]).nextMs(0)[0]).toBeNaN();
    }
  });

  test("1.2: years from 1 on may be named, and nothing fires before 1970", () => {
    const trigger = read("0 0 0 1 1 * 1-1980/3", "ocps");
    expect(fires(trigger, 9, "1900-01-01T00:00:00Z")).toBe("1972-01-01 00:00, 1975-01-01 00:00, 1978-01-01 00:00");
    expect(String(trigger)).toBe("0 0 0 1 1 * 1972-1978/3");
  });

  test("years that have no short text are kept as they were written, with their dialect", () => {
    const text = "0 0 0 1 1 * 1-9999/17,1901-9998/13,1950,1960-1975/14,*/1500";
    const trigger = read(text, "ocps");
    expect(trigger.toJSON()).toMatchObject({ expression: text, dialect: "ocps" });
    const copy = triggerFromJSON(JSON.parse(JSON.stringify(trigger)));
    expect(copy.toJSON()).toEqual(trigger.toJSON());
    expect(fires(copy as CronTrigger, 4, "1970-01-01T00:00:00Z")).toBe(
      "1970-01-01 00:00, 1973-01-01 00:00, 1974-01-01 00:00, 1979-01-01 00:00",
    );
  });
});

const TAKES = "; it takes 6 or 7 fields, a ? as either day or dayOfWeek, and Sunday as the first day";

describe("Quartz", () => {
  test.each([
    // The examples of its documentation.
    ["0 0 12 * * ?", "0 12 * * *"],
    ["0 15 10 ? * *", "15 10 * * *"],
    ["0 15 10 * * ? 2029", "0 15 10 * * * 2029"],
    ["0 * 14 * * ?", "* 14 * * *"],
    ["0 0/5 14,18 * * ?", "*/5 14,18 * * *"],
    ["0 0-5 14 * * ?", "0-5 14 * * *"],
    ["0 10,44 14 ? 3 WED", "10,44 14 * 3 wed"],
    ["0 15 10 ? * MON-FRI", "15 10 * * mon-fri"],
    ["0 15 10 15 * ?", "15 10 15 * *"],
    ["0 15 10 L * ?", "15 10 L * *"],
    ["0 15 10 L-2 * ?", "15 10 L-2 * *"],
    ["0 15 10 ? * 6L", "15 10 * * friL"],
    ["0 15 10 ? * 6L 2029-2031", "0 15 10 * * friL 2029-2031"],
    ["0 15 10 ? * 6#3", "15 10 * * fri#3"],
    ["0 0 12 1/5 * ?", "0 12 */5 * *"],
    ["0 11 11 11 11 ?", "11 11 11 11 *"],
    // Weekdays: 1 is Sunday, 7 is Saturday, and L alone is Saturday.
    ["0 0 12 ? * 1", "0 12 * * sun"],
    ["0 0 12 ? * 7", "0 12 * * sat"],
    ["0 0 12 ? * 2-6", "0 12 * * mon-fri"],
    ["0 0 12 ? * 6-2", "0 12 * * fri-mon"],
    ["0 0 12 ? * 1/2", "0 12 * * tue,thu,sat-sun"],
    ["0 0 12 ? * L", "0 12 * * sat"],
    ["0 0 12 ? * 1,sat", "0 12 * * sat-sun"],
    ["0 0 12 ? * fri-mon", "0 12 * * fri-mon"],
    ["0 0 12 ? * sun#2", "0 12 * * sun#2"],
    ["0 0 12 LW * ?", "0 12 LW * *"],
    ["0 0 12 15w jan ?", "0 12 15W 1 *"],
    // Ranges over the end, also of days; steps to the end.
    ["0 0 22-2 * * ?", "0 22-2 * * *"],
    ["0 0 12 ? nov-feb *", "0 12 * 11-2 *"],
    ["0 0 12 30-2 * ?", "0 12 1-2,30-31 * *"],
    ["0 50/5 12 * * ?", "50,55 12 * * *"],
  ])("%j is our %j", (text, own) => {
    expect(String(read(text, "quartz"))).toBe(own);
  });

  test.each([
    ["0 12 * * *", `"0 12 * * *" cannot be read as "quartz"${TAKES}`],
    ["@daily", `"@daily" cannot be read as "quartz"${TAKES}`],
    ["0 0 12 * * *", `"0 0 12 * * *" cannot be read as "quartz"${TAKES}`],
    ["0 0 12 ? * ?", `"0 0 12 ? * ?" cannot be read as "quartz"${TAKES}`],
    ["0 0 12 ? * 0", `dayOfWeek "0" cannot be read as "quartz" (position 11 in "0 0 12 ? * 0")${TAKES}`],
    ["0 0 12 ? * 2,8", `dayOfWeek "8" cannot be read as "quartz" (position 13 in "0 0 12 ? * 2,8")${TAKES}`],
    ["0 0 12 ? * 2#6", 'dayOfWeek "2#6" must have a number from 1 to 5, or L, after the #'],
    ["0 0 12 ? * 2#L", 'dayOfWeek "2#L" cannot be read as "quartz" (position 11 in "0 0 12 ? * 2#L")'],
    ["0 0 12 ? * 2,6#3", 'dayOfWeek "2,6#3" cannot be read as "quartz" (position 11 in "0 0 12 ? * 2,6#3")'],
    [
      "0 0 12 L-3W * ?",
      'day "L-3W" combines L-n and W, which is not supported (position 7 in "0 0 12 L-3W * ?"); did you mean "LW"?',
    ],
    ["0 0 12 1,L * ?", 'day "1,L" cannot be read as "quartz" (position 7 in "0 0 12 1,L * ?")'],
    ["0 ? 12 * * ?", '"0 ? 12 * * ?" cannot be read as "quartz"'],
    ["0 0/60 12 * * ?", 'minute "0/60" has a step larger than its range of 59'],
    ["0 99 12 ? * 2", 'minute "99" is outside 0-59 (position 2 in "0 99 12 ? * 2")'],
    [
      "0 0 12 1 1 ? 2031-2030",
      'year "2031-2030" runs backwards (position 13 in "0 0 12 1 1 ? 2031-2030"); did you mean "2030-2031"?',
    ],
    [
      "0 0 12 ? * mon-fri/2",
      'dayOfWeek "mon-fri/2" cannot be read as "quartz" (position 11 in "0 0 12 ? * mon-fri/2")',
    ],
    ["0 0 0 31 2 ?", 'day "31" never comes (position 6 in "0 0 0 31 2 ?")'],
  ])("%j is refused", (text, message) => {
    const error = errorOf(() => read(text, "quartz"));
    expect(error).toBeInstanceOf(CronSyntaxError);
    expect(error.message).toContain(message);
  });
});

describe("Vixie cron", () => {
  test.each([
    ["23 0-23/2 * * *", "23 */2 * * *"],
    ["5 4 * * sun", "5 4 * * sun"],
    ["0 22 * * 1-5", "0 22 * * mon-fri"],
    ["30 4 1,15 * 5", "30 4 1,15 * fri"],
    ["0 0 */2 * mon", "0 0 */2 * mon"],
    ["*/90 * * * *", "0 * * * *"],
    ["0 0 * JAN-mar Sun-Tue", "0 0 * 1-3 sun-tue"],
    ["0 0 * * 5-7", "0 0 * * fri-sun"],
    ["@hourly", "0 * * * *"],
  ])("%j is our %j", (text, own) => {
    expect(String(read(text, "vixie"))).toBe(own);
  });

  test.each([
    ["0 0 9 * * mon", '"0 0 9 * * mon" cannot be read as "vixie"; it takes 5 fields, steps */n and a-b/n'],
    ["0 9 * * ?", 'dayOfWeek "?" cannot be read as "vixie"'],
    ["0 9 L * *", 'day "L" cannot be read as "vixie"'],
    ["0 9 * * mon#1", 'dayOfWeek "mon#1" cannot be read as "vixie"'],
    ["0 9 1 * +mon", 'dayOfWeek "+mon" cannot be read as "vixie"'],
    ["5/15 * * * *", 'minute "5/15" cannot be read as "vixie" (position 0 in "5/15 * * * *"); it takes 5 fields'],
    ["0 22-2 * * *", 'hour "22-2" runs backwards'],
    [
      "0 9 * * sat-sun",
      'dayOfWeek "sat-sun" runs backwards (position 8 in "0 9 * * sat-sun"); write a list of two ranges',
    ],
    ["@Daily", '"@Daily" is not a nickname'],
    ["@reboot", '"@reboot" names no time'],
    ["0 0 31 2 *", 'day "31" never comes'],
  ])("%j is refused", (text, message) => {
    const error = errorOf(() => read(text, "vixie"));
    expect(error).toBeInstanceOf(CronSyntaxError);
    expect(error.message).toContain(message);
  });

  test.each([
    ["30 2 * * *", { gap: "advance", overlap: "first" }],
    ["*/30 2 * * *", { gap: "skip", overlap: "both" }],
    ["30 */2 * * *", { gap: "skip", overlap: "both" }],
    ["30 0-23 * * *", { gap: "advance", overlap: "first" }],
    ["@hourly", "auto"],
    ["30 2 * * *", "auto"],
  ])("%s is a job by the clock as it is, or by fixed times: %j", (text, dst) => {
    const trigger = read(text, "vixie");
    const isAuto = trigger.options.dst === "auto";
    if (!isAuto) expect(trigger.options.dst).toEqual(dst);
    else expect(CronTrigger.fromCrontab(String(trigger)).toJSON()).toEqual(trigger.toJSON());
  });
});

describe("the option dialect", () => {
  test.each<[options: object, message: string]>([
    [{ dialect: "quarz" }, 'dialect must be "ocps", "quartz" or "vixie"; got "quarz": did you mean "quartz"?'],
    [{ dialect: "ocps", seed: "a" }, "seed is for crontab text of our own dialect, which may have an H"],
    [{ dialect: "ocps", dayMatch: "and" }, "dialect is for crontab text, which says what dayMatch would say"],
    [{ dialect: "quartz", spread: true }, "seed is for crontab text of our own dialect, which may have an H"],
  ])("%o is refused", (options, message) => {
    const error = errorOf(() => CronTrigger.fromCrontab("0 9 * * *", options as CronOptions));
    expect(error).toBeInstanceOf(OptionsError);
    expect(error.message).toContain(message);
  });

  test("is for crontab text", () => {
    expect(() => new CronTrigger({ hour: 9 }, { dialect: "vixie" })).toThrow("dialect is for crontab text");
    expect(() => new CronTrigger({ hour: 9, dialect: "vixie" } as object)).toThrow("it is an option and comes second");
  });

  test("leaves nothing behind: the trigger is one of our own dialect", () => {
    const trigger = read("0 0 12 ? * 2#1", "quartz");
    expect(trigger.toJSON()).toEqual({ type: "cron", version: 1, expression: "0 12 * * mon#1", timeZone: "UTC" });
    expect(trigger.options).not.toHaveProperty("dialect");
    expect(read("0 12 * * *").toJSON()).toEqual(read("0 0 12 * * ?", "quartz").toJSON());
    // JSON of others may name it.
    const json = { type: "cron", version: 1, expression: "0 0 12 ? * 2", dialect: "quartz" };
    expect(String(triggerFromJSON(json))).toBe("0 12 * * mon");
  });
});

describe.each(["ocps", "quartz", "vixie"] as const)("random text as %s", (dialect) => {
  test.each(["UTC", "Europe/Berlin"])("means what its twin says, in %s, before and after JSON", (timeZone) => {
    const instants = fc.integer({ min: Date.UTC(1970, 0, 1) / 1000, max: Date.UTC(2100, 0, 1) / 1000 });
    fc.assert(
      fc.property(dialectCases(dialect, timeZone), instants, ({ text, spec }, second) => {
        const isPossible = new CompiledCron(spec).canEverMatch;
        if (!isPossible && dialect !== "ocps") {
          expect(() => read(text, dialect, { timeZone })).toThrow("never comes");
          return;
        }
        const trigger = read(text, dialect, { timeZone });
        const copy = triggerFromJSON(JSON.parse(JSON.stringify(trigger)));
        expect(copy.toJSON()).toEqual(trigger.toJSON());
        for (const asked of [trigger, copy]) {
          const atMs = second * 1000;
          expectSame(atMs, asked.nextMs(atMs), oracleNext(spec, atMs));
          expectSame(atMs, asked.previousMs(atMs), oraclePrevious(spec, atMs));
        }
      }),
      { numRuns: 60 },
    );
  });
});

/** The twin looks nine years far. */
function expectSame(atMs: number, answer: number | null, twin: number | null): void {
  const isBeyond = twin === null && (answer === null || Math.abs(answer - atMs) > 8 * 366 * 86_400_000);
  if (!isBeyond) expect(answer).toBe(twin);
}

function errorOf(action: () => unknown): Error {
  try {
    action();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("nothing was thrown");
}
