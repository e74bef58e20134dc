import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OptionsError } from "../../src/core/errors.ts";
import { localTimeZone } from "../../src/core/temporal.ts";
import type { DstPolicy } from "../../src/cron/spec.ts";
import { CalendarIntervalTrigger } from "../../src/triggers/calendar-interval.ts";
import { triggerFromJSON } from "../../src/triggers/codec.ts";
import { type CronOptions, CronTrigger } from "../../src/triggers/cron.ts";

const ms = (text: string) => Date.parse(text);
const daily = (options?: CronOptions) => CronTrigger.fromCrontab("0 9 * * *", options);

describe("CronTrigger", () => {
  test("answers strictly after and strictly before", () => {
    const trigger = daily();
    expect(trigger.nextMs(ms("2030-01-01T08:59:59.999Z"))).toBe(ms("2030-01-01T09:00:00Z"));
    expect(trigger.nextMs(ms("2030-01-01T09:00:00Z"))).toBe(ms("2030-01-02T09:00:00Z"));
    expect(trigger.previousMs(ms("2030-01-01T09:00:00Z"))).toBe(ms("2029-12-31T09:00:00Z"));
    expect(trigger.previousMs(ms("2030-01-01T09:00:00.001Z"))).toBe(ms("2030-01-01T09:00:00Z"));
  });

  test("presents fire times in its zone", () => {
    expect(daily({ timeZone: "europe/berlin" }).next("2030-07-01T00:00:00Z")?.toString()).toBe(
      "2030-07-01T09:00:00+02:00[Europe/Berlin]",
    );
    expect(daily().timeZone).toBe("UTC");
    expect(daily({ timeZone: "local" }).timeZone).toBe(localTimeZone());
  });

  test("never fires before startTime nor after endTime, which are both included", () => {
    const trigger = daily({ startTime: "2030-01-01T09:00:00Z", endTime: "2030-01-03T09:00:00Z" });
    const all = ["2030-01-01T09:00:00Z", "2030-01-02T09:00:00Z", "2030-01-03T09:00:00Z"].map(ms);
    expect([...trigger.fireTimes({ from: "2020-01-01T00:00:00Z" })].map((at) => at.epochMilliseconds)).toEqual(all);
    expect(trigger.nextMs(-1e15)).toBe(all[0]);
    expect(trigger.nextMs(ms("2030-01-03T09:00:00Z"))).toBeNull();
    expect(trigger.previousMs(1e15)).toBe(all[2]);
    expect(trigger.previousMs(ms("2030-01-01T09:00:00Z"))).toBeNull();
    expect(trigger.firstMs(ms("2031-01-01T00:00:00Z"))).toBe(all[0]);
    expect(all.every((at) => trigger.matchesMs(at))).toBe(true);
    expect(trigger.matches("2030-01-04T09:00:00Z")).toBe(false);
    expect([...trigger.expand({ from: "2020-01-01T00:00:00Z" })]).toEqual(all);
    expect(trigger.count("2020-01-01T00:00:00Z", "2040-01-01T00:00:00Z")).toBe(3);
  });

  test("half a policy for clock changes is completed by what auto means for the rule", () => {
    const dstOf = (text: string, dst: DstPolicy) => CronTrigger.fromCrontab(text, { dst }).options.dst;
    expect(dstOf("30 2 * * *", { gap: "skip" })).toEqual({ gap: "skip", overlap: "first" });
    expect(dstOf("30 2 * * *", { overlap: "both" })).toEqual({ gap: "advance", overlap: "both" });
    expect(dstOf("*/15 * * * *", { gap: "advance" })).toEqual({ gap: "advance", overlap: "both" });
    expect(dstOf("*/15 * * * *", { overlap: "first", gap: undefined })).toEqual({ gap: "skip", overlap: "first" });
    expect(dstOf("30 2 * * *", {})).toBe("auto");
    const timeZone = "Europe/Berlin";
    const calendar = new CalendarIntervalTrigger({ days: 1, timeZone, dst: { overlap: "second" } });
    expect(calendar.toJSON()).toMatchObject({ dst: { gap: "advance", overlap: "second" } });
    expect(new CalendarIntervalTrigger({ days: 1, timeZone, dst: {} }).toJSON()).not.toHaveProperty("dst");
  });

  test("a start between two seconds counts from the next one", () => {
    const trigger = CronTrigger.fromCrontab("* * * * * *", { startTime: "2030-01-01T00:00:00.500Z" });
    expect(trigger.nextMs(0)).toBe(ms("2030-01-01T00:00:01Z"));
  });

  test("matches the whole second that an instant lies in", () => {
    expect(daily().matches("2030-01-01T09:00:00.999Z")).toBe(true);
    expect(daily().matches("2030-01-01T09:00:01Z")).toBe(false);
  });

  test("expands and counts as fireTimes does", () => {
    const trigger = CronTrigger.fromCrontab("*/7 8-18 * * mon-fri", { timeZone: "America/New_York" });
    const range = { from: "2026-03-01T00:00:00Z", until: "2026-03-31T00:00:00Z" };
    const one = [...trigger.fireTimes(range)].map((at) => at.epochMilliseconds);
    expect([...trigger.expand({ ...range, limit: 5000 })]).toEqual(one);
    expect([...trigger.expand({ ...range, limit: 3 })]).toEqual(one.slice(0, 3));
    expect(trigger.count(range.from, range.until)).toBe(one.length);
  });

  test("fire times are computed as they are asked for", () => {
    const [first] = CronTrigger.fromCrontab("* * * * * *").fireTimes({ from: "2030-01-01T00:00:00Z" });
    expect(first?.toString()).toBe("2030-01-01T00:00:00+00:00[UTC]");
    expect([...daily().fireTimes({ limit: 0 })]).toEqual([]);
    expect(() => [...daily().fireTimes({ limit: -1 })]).toThrow(OptionsError);
  });

  test("asks about the present when nothing is said", () => {
    const { now } = Date;
    Date.now = () => ms("2030-01-01T09:00:00Z");
    try {
      expect(String(daily().next())).toBe("2030-01-02T09:00:00+00:00[UTC]");
      expect(String(daily().previous())).toBe("2029-12-31T09:00:00+00:00[UTC]");
    } finally {
      Date.now = now;
    }
  });

  test("is not anchored by startingAt", () => {
    const trigger = daily();
    expect(trigger.startingAt("2030-01-01T00:00:00Z")).toBe(trigger);
    expect(() => trigger.startingAt("soon")).toThrow(OptionsError);
  });

  test.each<[unknown, string]>([
    [{ timezone: "UTC" }, 'timezone is no option; did you mean "timeZone"?'],
    [{ tz: "UTC" }, 'tz is no option; did you mean "timeZone"?'],
    [{ timeZone: 5 }, "timeZone must be text; got 5"],
    [{ dayMatch: "xor" }, 'dayMatch must be "and" or "or"; got "xor": did you mean "or"?'],
    [
      { dst: "skip" },
      'dst must be "auto" or { gap?: "advance" | "shift" | "skip", overlap?: "first" | "second" | "both" }; got "skip"',
    ],
    [
      { startTime: 5 },
      "startTime must be a Temporal.Instant, a Temporal.ZonedDateTime, a Date or ISO 8601 text with an offset; got 5",
    ],
  ])("the options %o are refused", (options, problem) => {
    expect(() => daily(options as never)).toThrow(`CronTrigger: ${problem}`);
  });

  test("refused options carry the path to each problem", () => {
    expect(() => daily({ timeZone: 5, dst: { gap: "no", overlap: "first" } } as never)).toThrow(
      expect.objectContaining({
        code: "options",
        issues: [expect.objectContaining({ path: "timeZone" }), expect.objectContaining({ path: "dst" })],
      }),
    );
  });

  test.each<[CronOptions, string]>([
    [{ timeZone: "Mars/Olympus" }, "timeZone"],
    [{ timeZone: "" }, "timeZone"],
    [{ startTime: "2030-01-01" }, "startTime"],
    [{ startTime: "2030-01-02T00:00:00Z", endTime: "2030-01-01T00:00:00Z" }, "endTime"],
  ])("the option values %o are refused", (options, path) => {
    expect(() => daily(options)).toThrow(
      expect.objectContaining({ code: "options", issues: [expect.objectContaining({ path })] }),
    );
  });

  test("options that are no object are refused", () => {
    expect(() => daily("UTC" as never)).toThrow(OptionsError);
    expect(() => daily(null as never)).toThrow(OptionsError);
  });
});

describe("the text of a cron trigger", () => {
  test("with its options makes an equal trigger, as does its JSON", () => {
    const field = (min: number, max: number) =>
      fc.oneof(
        fc.constant("*"),
        fc.integer({ min, max }).map(String),
        fc.integer({ min: 2, max: max - min }).map((step) => `*/${step}`),
        fc
          .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
          .map((pair) => pair.sort((a, b) => a - b).join("-")),
      );
    const options = fc.record(
      {
        timeZone: fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"),
        dayMatch: fc.constantFrom("and", "or"),
        dst: fc.oneof(
          fc.constant("auto" as const),
          fc.record({
            gap: fc.constantFrom("advance", "shift", "skip"),
            overlap: fc.constantFrom("first", "second", "both"),
          }),
        ),
        startTime: fc.constant("2020-01-01T00:00:00Z"),
        endTime: fc.constant("2040-01-01T00:00:00Z"),
      },
      { requiredKeys: [] },
    );
    const text = fc.tuple(field(0, 59), field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6));
    fc.assert(
      fc.property(text, options, fc.integer({ min: 15e11, max: 22e11 }), (fields, given, askedMs) => {
        const trigger = CronTrigger.fromCrontab(fields.join(" "), given as CronOptions);
        const copies = [
          CronTrigger.fromCrontab(String(trigger), trigger.options),
          triggerFromJSON(JSON.parse(JSON.stringify(trigger))),
        ];
        for (const copy of copies) {
          expect(copy.toJSON()).toEqual(trigger.toJSON());
          expect(copy.isSameRule(trigger)).toBe(true);
          expect(copy.nextMs(askedMs)).toBe(trigger.nextMs(askedMs));
        }
      }),
      { numRuns: 500 },
    );
  });

  test("is one for all spellings of a rule", () => {
    const one = new CronTrigger({ hour: 9, dayOfWeek: "mon-fri" });
    expect(one.isSameRule(CronTrigger.fromCrontab("0 9 * * 1-5"))).toBe(true);
    expect(one.isSameRule(CronTrigger.fromCrontab("0 9 * * MON,TUE,WED,THU,FRI", { dst: "auto" }))).toBe(true);
    expect(one.isSameRule(CronTrigger.fromCrontab("0 9 * * 1-5", { dst: { gap: "advance", overlap: "first" } }))).toBe(
      true,
    );
    expect(one.isSameRule(CronTrigger.fromCrontab("0 9 * * 1-5", { timeZone: "Europe/Berlin" }))).toBe(false);
  });

  test("of the longest field lists comes back from JSON", () => {
    const every = (max: number) => Array.from({ length: max }, (_, index) => index);
    const nth = ["sun", "mon", "tue", "wed"].flatMap((day) => every(5).map((n) => `${day}#${n + 1}`));
    const trigger = new CronTrigger({
      year: Array.from({ length: 150 }, (_, index) => 1970 + index * index)
        .filter((year) => year < 9999)
        .join(","),
      day: [...every(31).map((n) => `L-${n}`), ...every(31).map((n) => `${n + 1}W`), "2nd fri"].join(","),
      dayOfWeek: nth.join(","),
      second: "*/7,*/5,*/11,3",
      minute: "*/7,*/5,*/11,3",
    });
    expect(triggerFromJSON(JSON.parse(JSON.stringify(trigger))).toJSON()).toEqual(trigger.toJSON());
  });
});
