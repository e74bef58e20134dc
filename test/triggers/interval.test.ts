import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OptionsError } from "../../src/core/errors.ts";
import { Temporal } from "../../src/core/temporal.ts";
import { triggerFromJSON } from "../../src/triggers/codec.ts";
import { DateTrigger } from "../../src/triggers/date.ts";
import { IntervalTrigger } from "../../src/triggers/interval.ts";

const ms = (text: string) => Date.parse(text);
const HOUR = 3_600_000;

describe("DateTrigger", () => {
  const trigger = new DateTrigger("2030-01-31T09:00:00+01:00");

  test("fires once", () => {
    const at = ms("2030-01-31T08:00:00Z");
    expect(trigger.nextMs(at - 1)).toBe(at);
    expect(trigger.nextMs(at)).toBeNull();
    expect(trigger.previousMs(at)).toBeNull();
    expect(trigger.previousMs(at + 1)).toBe(at);
    expect(trigger.matches("2030-01-31T08:00:00Z")).toBe(true);
    expect(trigger.firstMs(at + HOUR)).toBe(at);
  });

  test("describes itself", () => {
    expect([trigger.describe(), String(trigger)]).toEqual(Array(2).fill("Once, at 2030-01-31T08:00:00Z"));
  });

  test("needs an instant", () => {
    expect(() => new DateTrigger("2030-01-31")).toThrow(OptionsError);
    expect(() => new DateTrigger(new Date(Number.NaN))).toThrow(OptionsError);
    expect(() => new DateTrigger(5 as never)).toThrow(OptionsError);
    expect(() => new DateTrigger(new Date(8e15))).toThrow(OptionsError);
  });
});

describe("DateTrigger at a civil time", () => {
  const timeZone = "Europe/Berlin";
  const described = (...given: ConstructorParameters<typeof DateTrigger>): string =>
    new DateTrigger(...given).describe();

  test.each<[what: string, runTime: string | Temporal.PlainDateTime, at: string]>([
    ["a time of the wall clock", "2030-01-01 09:00", "2030-01-01T09:00:00+01:00"],
    ["the same in ISO 8601", "2030-01-01T09:00:00", "2030-01-01T09:00:00+01:00"],
    ["midnight where there is no time", "2030-01-01", "2030-01-01T00:00:00+01:00"],
    ["a Temporal.PlainDateTime", Temporal.PlainDateTime.from("2030-01-01T09:00"), "2030-01-01T09:00:00+01:00"],
    ["an hour later in a gap", "2030-03-31 02:30", "2030-03-31T03:30:00+02:00"],
    ["the first of two", "2030-10-27 02:30", "2030-10-27T02:30:00+02:00"],
    ["an instant, which the zone only shows", "2030-01-01T09:00:00Z", "2030-01-01T10:00:00+01:00"],
  ])("fires at %s", (_what, runTime, at) => {
    expect(described(runTime, { timeZone })).toBe(`Once, at ${at}`);
  });

  test("keeps its zone in JSON, as Temporal spells it", () => {
    const trigger = new DateTrigger("2030-01-01 09:00", { timeZone: "europe/berlin" });
    expect(trigger.toJSON()).toEqual({ type: "date", version: 1, runTime: "2030-01-01T08:00:00Z", timeZone });
    expect(triggerFromJSON(trigger.toJSON()).next("2029-01-01T00:00:00Z")?.timeZoneId).toBe(timeZone);
    expect(triggerFromJSON(trigger.toJSON()).isSameRule(trigger)).toBe(true);
  });

  test.each<[runTime: unknown, message: string]>([
    ["2030-01-01 09:00", 'got "2030-01-01 09:00": write new DateTrigger("2030-01-01 09:00:00", { timeZone: "Eur'],
    [Temporal.PlainDateTime.from("2030-01-01T09:00"), "got a PlainDateTime: write new DateTrigger("],
    ["2030-02-30 09:00", 'runTime must be a date and a time that exist; got "2030-02-30 09:00"'],
  ])("is refused without a zone, or where it does not exist: %s", (runTime, message) => {
    expect(() => new DateTrigger(runTime as string)).toThrow(message);
  });
});

describe("IntervalTrigger, first after one period", () => {
  const trigger = new IntervalTrigger({ hours: 1, firstRun: "afterInterval" });
  const from = "2030-01-01T00:00:00Z";
  const times = (of: IntervalTrigger): string[] =>
    [...of.fireTimes({ from, limit: 2 })].map((at) => at.toInstant().toString());

  test("counts from its anchor without firing at it", () => {
    expect(trigger.firstMs(ms(from))).toBe(ms(from) + HOUR);
    expect(new IntervalTrigger({ hours: 1 }).firstMs(ms(from))).toBe(ms(from));
    expect(times(trigger)).toEqual(["2030-01-01T01:00:00Z", "2030-01-01T02:00:00Z"]);
    const anchored = trigger.startingAt(from);
    expect(anchored.nextMs(ms("2020-01-01T00:00:00Z"))).toBe(ms(from) + HOUR);
    expect(anchored.previousMs(ms(from) + HOUR)).toBeNull();
    expect(anchored.previousMs(ms(from) + 2 * HOUR)).toBe(ms(from) + HOUR);
    expect(anchored.startingAt("2031-01-01T00:00:00Z")).toBe(anchored);
  });

  test("comes back from JSON, with or without its anchor", () => {
    const anchored = trigger.startingAt(from);
    const json = { type: "interval", version: 1, milliseconds: HOUR, firstRun: "afterInterval" };
    expect(trigger.toJSON()).toEqual(json);
    expect(anchored.toJSON()).toEqual({ ...json, anchor: from });
    expect(triggerFromJSON(anchored.toJSON()).nextMs(0)).toBe(ms(from) + HOUR);
    expect(anchored.isSameRule(trigger)).toBe(true);
    expect(trigger.isSameRule(new IntervalTrigger({ hours: 1 }))).toBe(false);
    expect(trigger.describe()).toBe("Every hour, first after one period");
  });

  test("is not for a rule that names its first fire time", () => {
    expect(() => new IntervalTrigger({ hours: 1, startTime: from, firstRun: "afterInterval" })).toThrow(
      'IntervalTrigger: firstRun cannot be "afterInterval" beside startTime, which names the first fire time itself',
    );
  });
});

describe("IntervalTrigger", () => {
  test("has one object of options, and refuses a second one", () => {
    const second = { firstRun: "afterInterval" } as never;
    expect(() => new IntervalTrigger({ minutes: 5 }, second)).toThrow(
      'IntervalTrigger takes one object of options, and nothing behind it; got { firstRun: "afterInterval" }',
    );
  });

  const start = "2030-01-01T00:00:00Z";
  const trigger = new IntervalTrigger({ hours: 36, startTime: start, endTime: "2030-01-05T12:00:00Z" });

  test("counts from its start, which is its first fire time, to its end, which is its last", () => {
    expect([...trigger.fireTimes({ from: "2029-01-01T00:00:00Z" })].map(String)).toEqual([
      "2030-01-01T00:00:00+00:00[UTC]",
      "2030-01-02T12:00:00+00:00[UTC]",
      "2030-01-04T00:00:00+00:00[UTC]",
      "2030-01-05T12:00:00+00:00[UTC]",
    ]);
    expect(trigger.previousMs(1e15)).toBe(ms("2030-01-05T12:00:00Z"));
    expect(trigger.previousMs(ms(start))).toBeNull();
    expect(trigger.previousMs(ms(start) + 1)).toBe(ms(start));
    expect(trigger.nextMs(-1e15)).toBe(ms(start));
    expect(trigger.nextMs(1e15)).toBeNull();
  });

  test("counts from the instant asked about when it has no start", () => {
    const unanchored = new IntervalTrigger({ minutes: 5 });
    expect(unanchored.nextMs(1000)).toBe(301_000);
    expect(unanchored.previousMs(1000)).toBe(-299_000);
    expect([...unanchored.fireTimes({ from: start, limit: 2 })].map((at) => at.epochMilliseconds)).toEqual([
      ms(start),
      ms(start) + 300_000,
    ]);
  });

  test("an anchor makes it fire at once and then on its period, and is no part of the rule", () => {
    const rule = new IntervalTrigger({ minutes: 5 });
    const anchored = rule.startingAt(start);
    expect(anchored.firstMs(ms(start))).toBe(ms(start));
    expect(anchored.nextMs(ms(start))).toBe(ms(start) + 300_000);
    expect(anchored.startingAt("2031-01-01T00:00:00Z")).toBe(anchored);
    expect(anchored.isSameRule(rule)).toBe(true);
    expect(anchored.isSameRule(rule.startingAt("2031-01-01T00:00:00Z"))).toBe(true);
    expect(anchored.isSameRule(new IntervalTrigger({ minutes: 6 }))).toBe(false);
  });

  test("a start that the user gave is part of the rule", () => {
    const first = new IntervalTrigger({ minutes: 5, startTime: start });
    expect(first.isSameRule(new IntervalTrigger({ minutes: 5, startTime: "2031-01-01T00:00:00Z" }))).toBe(false);
    expect(first.isSameRule(new IntervalTrigger({ minutes: 5 }))).toBe(false);
    expect(first.isSameRule(new IntervalTrigger({ seconds: 300, startTime: start }))).toBe(true);
    expect(first.startingAt("2031-01-01T00:00:00Z")).toBe(first);
    expect(first.firstMs(ms("2031-01-01T00:00:00Z"))).toBe(ms(start));
  });

  test("days have 24 hours, whatever clocks do", () => {
    const daily = new IntervalTrigger({ days: 1, startTime: "2026-03-28T12:00:00+01:00[Europe/Berlin]" });
    expect(daily.nextMs(ms("2026-03-28T11:00:00Z"))).toBe(ms("2026-03-29T11:00:00Z"));
  });

  test.each<[object, string]>([
    [{ hours: 1 }, "Every hour"],
    [{ weeks: 1 }, "Every week"],
    [{ weeks: 2 }, "Every 2 weeks"],
    [{ days: 10 }, "Every 10 days"],
    [{ minutes: 90 }, "Every 1 hour and 30 minutes"],
    [{ days: 1, hours: 12, seconds: 1.5 }, "Every 1 day, 12 hours, 1 second and 500 milliseconds"],
    [{ hours: 2, startTime: start }, "Every 2 hours, from 2030-01-01T00:00:00Z"],
    [{ hours: 2, endTime: start }, "Every 2 hours, until 2030-01-01T00:00:00Z"],
  ])("%o is described as %j", (options, english) => {
    expect(new IntervalTrigger(options).describe()).toBe(english);
  });

  test.each<[unknown, string]>([
    [{}, "IntervalTrigger needs an interval longer than zero, such as { minutes: 5 }"],
    [{ minutes: 0 }, "IntervalTrigger needs an interval longer than zero, such as { minutes: 5 }"],
    [{ milliseconds: 0.5 }, "IntervalTrigger needs an interval of whole milliseconds"],
    [{ weeks: 1e9 }, "IntervalTrigger needs an interval shorter than 8,030 years"],
    [{ weeks: 1e300 }, "IntervalTrigger needs an interval shorter than 8,030 years"],
    [{ minutes: -1 }, "IntervalTrigger: minutes must be a number of 0 or more; got -1"],
    [{ minute: 1 }, 'IntervalTrigger: minute is no option; did you mean "minutes"?'],
    [
      { hours: 1, startTime: "2030-01-02T00:00:00Z", endTime: "2030-01-01T00:00:00Z" },
      "IntervalTrigger: endTime is before startTime, so nothing would ever fire",
    ],
  ])("%o is refused", (options, message) => {
    expect(() => new IntervalTrigger(options as never)).toThrow(expect.objectContaining({ code: "options", message }));
  });

  test("1.005 seconds are 1005 milliseconds", () => {
    expect(new IntervalTrigger({ seconds: 1.005 }).nextMs(0)).toBe(1005);
  });

  test("next and previous agree with counting, wherever they are asked", () => {
    const instant = fc.integer({ min: -8e12, max: 2e14 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e12 }), instant, instant, (milliseconds, startMs, askedMs) => {
        const rule = new IntervalTrigger({ milliseconds, startTime: new Date(startMs) });
        const next = rule.nextMs(askedMs);
        if (next === null) return;
        expect(next).toBeGreaterThan(askedMs);
        expect((next - startMs) % milliseconds).toBe(0);
        expect(next === startMs || next - milliseconds <= askedMs).toBe(true);
        expect(rule.previousMs(next + 1)).toBe(next);
        expect(rule.matchesMs(next)).toBe(true);
        expect(rule.previousMs(next)).toBe(next === startMs ? null : next - milliseconds);
      }),
    );
  });

  test("nothing fires before the earliest instant", () => {
    expect(new IntervalTrigger({ hours: 1 }).previousMs(-8.64e15)).toBeNull();
    expect(new IntervalTrigger({ hours: 1 }).previous("-271821-04-20T00:00:00Z")).toBeNull();
  });

  test("nothing fires after the year 9999", () => {
    const rule = new IntervalTrigger({ days: 1000, startTime: "9999-12-31T00:00:00Z" });
    expect(rule.nextMs(ms("9999-12-31T00:00:00Z"))).toBeNull();
    expect(new IntervalTrigger({ days: 1000 }).nextMs(ms("9999-12-31T00:00:00Z"))).toBeNull();
  });
});
