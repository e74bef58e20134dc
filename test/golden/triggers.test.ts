import { describe, expect, test } from "vitest";
import { CalendarIntervalTrigger } from "../../src/triggers/calendar-interval.ts";
import { AndTrigger, OrTrigger } from "../../src/triggers/combining.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";
import { DateTrigger } from "../../src/triggers/date.ts";
import { IntervalTrigger } from "../../src/triggers/interval.ts";
import type { Trigger } from "../../src/triggers/trigger.ts";

// Vectors written by hand for the other triggers of the specification.

const VECTORS: [name: string, trigger: Trigger, from: string, times: string[]][] = [
  ["a date", new DateTrigger("2026-01-01T12:00:00+02:00"), "2025-01-01T00:00:00Z", ["2026-01-01T10:00:00+00:00[UTC]"]],
  [
    "elapsed days of 24 hours",
    new IntervalTrigger({ days: 1, startTime: "2026-03-28T02:30:00+01:00[Europe/Berlin]" }),
    "2026-03-01T00:00:00Z",
    ["2026-03-28T01:30:00+00:00[UTC]", "2026-03-29T01:30:00+00:00[UTC]"],
  ],
  [
    "calendar months without clamping",
    new CalendarIntervalTrigger({ months: 1, hour: 10, startDate: "2026-03-31", timeZone: "Europe/Berlin" }),
    "2026-03-01T00:00:00Z",
    [
      "2026-03-31T10:00:00+02:00[Europe/Berlin]",
      "2026-05-31T10:00:00+02:00[Europe/Berlin]",
      "2026-07-31T10:00:00+02:00[Europe/Berlin]",
      "2026-08-31T10:00:00+02:00[Europe/Berlin]",
      "2026-10-31T10:00:00+01:00[Europe/Berlin]",
    ],
  ],
  [
    "a calendar time within a gap, which fires when the gap ends",
    new CalendarIntervalTrigger({ weeks: 1, hour: 2, minute: 30, startDate: "2026-03-22", timeZone: "Europe/Berlin" }),
    "2026-03-01T00:00:00Z",
    [
      "2026-03-22T02:30:00+01:00[Europe/Berlin]",
      "2026-03-29T03:00:00+02:00[Europe/Berlin]",
      "2026-04-05T02:30:00+02:00[Europe/Berlin]",
    ],
  ],
  [
    "a calendar time within a gap that is skipped, with its date",
    new CalendarIntervalTrigger({
      ...{ weeks: 1, hour: 2, minute: 30, startDate: "2026-03-22", timeZone: "Europe/Berlin" },
      dst: { gap: "skip" },
    }),
    "2026-03-01T00:00:00Z",
    ["2026-03-22T02:30:00+01:00[Europe/Berlin]", "2026-04-05T02:30:00+02:00[Europe/Berlin]"],
  ],
  [
    "a calendar time that exists twice, of which the first counts",
    new CalendarIntervalTrigger({ weeks: 1, hour: 2, minute: 30, startDate: "2026-10-25", timeZone: "Europe/Berlin" }),
    "2026-03-01T00:00:00Z",
    ["2026-10-25T02:30:00+02:00[Europe/Berlin]", "2026-11-01T02:30:00+01:00[Europe/Berlin]"],
  ],
  [
    "either of two",
    new OrTrigger([CronTrigger.fromCrontab("0 9 * * mon-fri"), CronTrigger.fromCrontab("0 9,11 * * fri-sun")]),
    "2026-01-02T00:00:00Z",
    [
      "2026-01-02T09:00:00+00:00[UTC]",
      "2026-01-02T11:00:00+00:00[UTC]",
      "2026-01-03T09:00:00+00:00[UTC]",
      "2026-01-03T11:00:00+00:00[UTC]",
    ],
  ],
  [
    "both of two",
    new AndTrigger([
      new IntervalTrigger({ days: 3, startTime: "2026-01-01T09:00:00Z" }),
      CronTrigger.fromCrontab("0 9 * * mon"),
    ]),
    "2026-01-01T00:00:00Z",
    ["2026-01-19T09:00:00+00:00[UTC]", "2026-02-09T09:00:00+00:00[UTC]"],
  ],
];

describe("fire times", () => {
  test.each(VECTORS)("of %s", (_name, trigger, from, times) => {
    expect([...trigger.fireTimes({ from, limit: times.length })].map(String)).toEqual(times);
    const backwards = [];
    for (
      let at = trigger.previousMs(Date.parse((times.at(-1) ?? from).replace(/\[.*/, "")) + 1);
      backwards.length < times.length;
    ) {
      if (at === null) break;
      backwards.unshift(at);
      at = trigger.previousMs(at);
    }
    expect(backwards).toEqual(times.map((time) => Date.parse(time.replace(/\[.*/, ""))));
  });
});
