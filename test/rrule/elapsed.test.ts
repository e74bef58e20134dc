import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Temporal } from "../../src/core/temporal.ts";
import { RRuleTrigger } from "../../src/rrule/mod.ts";

const MINUTE = 60_000;

function trigger(zone: string, start: string, rule: string): RRuleTrigger {
  return new RRuleTrigger(`DTSTART;TZID=${zone}:${start}\nRRULE:${rule}`);
}

/** The minutes between the first fire times. */
function gapsOf(rule: RRuleTrigger, count: number): number[] {
  const times: number[] = [];
  for (let at = rule.nextMs(-1e14); at !== null && times.length <= count; at = rule.nextMs(at)) times.push(at);
  return times.slice(1).map((at, place) => (at - (times[place] ?? 0)) / MINUTE);
}

describe("an RRULE of hours, minutes or seconds", () => {
  test.each([
    ["FREQ=HOURLY;INTERVAL=2", "Europe/Berlin", "20261025T000000", 120],
    ["FREQ=HOURLY;INTERVAL=2", "Europe/Berlin", "20260329T000000", 120],
    ["FREQ=MINUTELY;INTERVAL=45", "Europe/Berlin", "20261025T000000", 45],
    ["FREQ=MINUTELY;INTERVAL=90", "America/New_York", "20261101T000000", 90],
    ["FREQ=HOURLY;INTERVAL=6", "Europe/London", "20261024T010000", 360],
    ["FREQ=HOURLY;INTERVAL=6", "Europe/London", "20260328T010000", 360],
    ["FREQ=HOURLY", "Europe/Berlin", "20261025T000000", 60],
    ["FREQ=HOURLY;INTERVAL=24", "Europe/Berlin", "20260327T020000", 1440],
    ["FREQ=HOURLY;INTERVAL=36", "Africa/Cairo", "20260422T120000", 2160],
    ["FREQ=HOURLY;INTERVAL=2", "Australia/Lord_Howe", "20260404T221500", 120],
    ["FREQ=HOURLY", "Australia/Lord_Howe", "20261003T221500", 60],
    ["FREQ=HOURLY;INTERVAL=5", "Pacific/Apia", "20111229T070000", 300],
    ["FREQ=MINUTELY;INTERVAL=50", "America/St_Johns", "20101106T220000", 50],
    ["FREQ=HOURLY;INTERVAL=3", "America/Havana", "20261031T220000", 180],
    ["FREQ=SECONDLY;INTERVAL=2700", "America/Santiago", "20260905T223015", 45],
    ["FREQ=HOURLY;INTERVAL=4", "Africa/Casablanca", "20260215T000000", 240],
    ["FREQ=HOURLY;INTERVAL=8760", "Europe/Berlin", "20250101T000000", 525_600],
    ["FREQ=HOURLY;INTERVAL=7", "Europe/Berlin", "19691228T000000", 420],
  ])("counts elapsed time where clocks change: %s in %s from %s", (rule, zone, start, minutes) => {
    expect(gapsOf(trigger(zone, start, rule), 12)).toEqual(Array(12).fill(minutes));
  });

  test("begins after the gap in which its start lies, and with the first of two times", () => {
    const first = (start: string): string | undefined =>
      trigger("Europe/Berlin", start, "FREQ=HOURLY;INTERVAL=3").next("2026-01-01T00:00:00Z")?.toString();
    expect(first("20260329T023000")).toBe("2026-03-29T03:30:00+02:00[Europe/Berlin]");
    expect(first("20261025T023000")).toBe("2026-10-25T02:30:00+02:00[Europe/Berlin]");
  });

  test("asks clocks for dates, minutes and seconds", () => {
    // Every 5 hours from midnight, on Sundays of Berlin, of which that one has 25 hours.
    const sundays = trigger("Europe/Berlin", "20261024T000000", "FREQ=HOURLY;INTERVAL=5;BYDAY=SU;COUNT=6");
    const times = [...sundays.fireTimes({ from: "2026-10-01T00:00:00Z", limit: 9 })].map((at) => `${at}`.slice(5, 25));
    expect(times).toEqual([
      ...["10-25T01:00:00+02:00", "10-25T05:00:00+01:00", "10-25T10:00:00+01:00", "10-25T15:00:00+01:00"],
      ...["10-25T20:00:00+01:00", "11-01T02:00:00+01:00"],
    ]);
    const minutes = trigger("Europe/Berlin", "20261025T001530", "FREQ=HOURLY;INTERVAL=3;BYMINUTE=0,45");
    const shown = [...minutes.fireTimes({ from: "2026-10-01T00:00:00Z", limit: 5 })].map((at) => `${at}`.slice(11, 25));
    expect(shown).toEqual([
      ...["00:45:30+02:00", "02:00:30+01:00", "02:45:30+01:00", "05:00:30+01:00", "05:45:30+01:00"],
    ]);
  });

  test("ends with COUNT and UNTIL, which clocks do not move", () => {
    const spring = "20260328T000000";
    const counted = trigger("Europe/Berlin", spring, "FREQ=HOURLY;INTERVAL=8;COUNT=6");
    expect(gapsOf(counted, 99)).toEqual([480, 480, 480, 480, 480]);
    expect(counted.previousMs(1e14)).toBe(Date.parse("2026-03-29T15:00:00Z"));
    const until = trigger("Europe/Berlin", spring, "FREQ=HOURLY;INTERVAL=8;UNTIL=20260329T150000Z");
    expect(gapsOf(until, 99)).toHaveLength(5);
    expect(until.previousMs(1e14)).toBe(counted.previousMs(1e14));
    const before = trigger("Europe/Berlin", spring, "FREQ=HOURLY;INTERVAL=8;UNTIL=20260329T145959Z");
    expect(gapsOf(before, 99)).toHaveLength(4);
  });

  test("goes by the clock of the wall where dst says so, or BYHOUR names its hours", () => {
    const text = "DTSTART;TZID=Europe/Berlin:20261025T000000\nRRULE:FREQ=HOURLY;INTERVAL=2";
    expect(gapsOf(new RRuleTrigger(text, { dst: { overlap: "first" } }), 4)).toEqual([120, 180, 120, 120]);
    expect(gapsOf(new RRuleTrigger(text, { dst: { gap: "skip", overlap: "both" } }), 4)).toEqual([120, 120, 120, 120]);
    expect(gapsOf(new RRuleTrigger(`${text};BYHOUR=0,2,4,6`), 4)).toEqual([120, 180, 120, 1080]);
  });

  const zones: [zone: string, change: string][] = [
    ["Europe/Berlin", "2026-03-29"],
    ["Europe/Berlin", "2026-10-25"],
    ["Australia/Lord_Howe", "2026-04-05"],
    ["Australia/Lord_Howe", "2026-10-04"],
    ["America/St_Johns", "2010-11-07"],
    ["America/St_Johns", "2010-03-14"],
    ["America/Havana", "2026-11-01"],
    ["Africa/Cairo", "2026-04-24"],
    ["Pacific/Apia", "2011-12-30"],
    ["Asia/Kathmandu", "1985-12-31"],
  ];
  const lists = (values: number[]) => fc.constantFrom([], [], values.slice(0, 1), values);
  const rules = fc.record({
    zone: fc.constantFrom(...zones),
    frequency: fc.constantFrom("HOURLY", "MINUTELY"),
    interval: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom(25, 45, 90)),
    startMinute: fc.integer({ min: -3000, max: 1000 }),
    minutes: lists([0, 20, 45]),
    weekdays: lists([0, 1, 3, 5, 6]),
    monthDays: lists([1, 5, 25, 29, 30, 31]),
  });

  test("agrees with a look at each minute of six days, forward and back", () => {
    fc.assert(
      fc.property(rules, ({ zone: [zone, change], frequency, interval, startMinute, minutes, weekdays, monthDays }) => {
        const start = Temporal.PlainDateTime.from(change).add({ minutes: startMinute });
        const parts = [
          `FREQ=${frequency};INTERVAL=${interval}`,
          minutes.length > 0 ? `BYMINUTE=${minutes}` : "",
          weekdays.length > 0 ? `BYDAY=${weekdays.map((day) => "SU MO TU WE TH FR SA".split(" ")[day])}` : "",
          monthDays.length > 0 ? `BYMONTHDAY=${monthDays}` : "",
        ];
        const text = start.toString({ smallestUnit: "second" }).replaceAll(/[-:]/g, "");
        const started = start.toZonedDateTime(zone);
        const startMs = started.epochMilliseconds;
        const next = started.getTimeZoneTransition("next");
        const unit = frequency === "HOURLY" ? 60 : 1;
        const expected: number[] = [];
        const until = startMs + 6 * 1440 * MINUTE;
        for (let at = startMs; at < until; at += MINUTE) {
          const now = next !== null && at >= next.epochMilliseconds ? next : started;
          const offset = now.offsetNanoseconds / 1e6;
          const shown = new Date(at + offset);
          const isHourly = unit === 60 && minutes.length > 0;
          // An hour of BYMINUTE is one that clocks show; else an hour is 60 minutes from the start on.
          const hour = (ms: number): number => Math.floor((ms + offset) / (60 * MINUTE));
          const periods = isHourly ? hour(at) - hour(startMs) : (at - startMs) / MINUTE / unit;
          if (periods % interval !== 0) continue;
          if (minutes.length > 0 && !minutes.includes(shown.getUTCMinutes())) continue;
          if (weekdays.length > 0 && !weekdays.includes(shown.getUTCDay())) continue;
          if (monthDays.length > 0 && !monthDays.includes(shown.getUTCDate())) continue;
          expected.push(at);
        }
        // Without its end, a rule of every fourth minute may look for one that never comes again.
        const end = new Date(until - 1000).toISOString().replaceAll(/[-:]|\.\d+/g, "");
        const rule = trigger(zone, text, [...parts.filter(Boolean), `UNTIL=${end}`].join(";"));
        const found: number[] = [];
        const back: number[] = [];
        for (let at = rule.nextMs(-1e14); at !== null; at = rule.nextMs(at)) found.push(at);
        for (let at = rule.previousMs(until); at !== null; at = rule.previousMs(at)) back.unshift(at);
        expect([found, back]).toEqual([expected, expected]);
      }),
      { numRuns: 300 },
    );
  });
});
