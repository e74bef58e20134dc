import { Temporal as Polyfill } from "temporal-polyfill/implementation";
import { describe, expect, test } from "vitest";
import { Temporal } from "../../src/core/temporal.ts";
import { CalendarIntervalTrigger } from "../../src/triggers/calendar-interval.ts";
import { AndTrigger } from "../../src/triggers/combining.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";
import { DateTrigger } from "../../src/triggers/date.ts";
import { ExcludingTrigger } from "../../src/triggers/excluding.ts";
import { IntervalTrigger } from "../../src/triggers/interval.ts";

// On a runtime with a Temporal of its own the two differ, and neither reads the other's objects.
const WORLDS = [
  ["the library's Temporal", Temporal],
  ["polyfilled Temporal", Polyfill],
] as const;

describe.each(WORLDS)("objects of %s", (_name, world) => {
  const zoned = world.ZonedDateTime.from("2030-01-31T09:00:00+01:00[Europe/Berlin]");
  const epochMs = Date.parse("2030-01-31T08:00:00Z");
  const cron = CronTrigger.fromCrontab("0 9 * * *", { timeZone: "Europe/Berlin" });

  test("are instants", () => {
    for (const instant of [zoned, zoned.toInstant(), new Date(epochMs), "2030-01-31T08:00:00Z", zoned.toString()]) {
      expect(new DateTrigger(instant).nextMs(0)).toBe(epochMs);
      expect(cron.next(instant)?.toString()).toBe("2030-02-01T09:00:00+01:00[Europe/Berlin]");
      expect(cron.previous(instant)?.toString()).toBe("2030-01-30T09:00:00+01:00[Europe/Berlin]");
      expect(cron.matches(instant)).toBe(true);
      expect(new IntervalTrigger({ hours: 1, startTime: instant }).startMs).toBe(epochMs);
      expect(CronTrigger.fromCrontab("@daily", { startTime: instant, endTime: instant }).startMs).toBe(epochMs);
      expect([...cron.fireTimes({ from: instant, until: instant })]).toHaveLength(1);
    }
  });

  test("are dates and durations", () => {
    const date = world.PlainDate.from("2030-01-31");
    const calendar = new CalendarIntervalTrigger({ days: 1, startDate: date, endDate: date });
    expect(calendar.toJSON()).toMatchObject({ startDate: "2030-01-31", endDate: "2030-01-31" });
    expect(new ExcludingTrigger(cron, [date, { from: date, until: date }]).toJSON().excluded).toEqual(["2030-01-31"]);
    const both = new AndTrigger([cron], { threshold: world.Duration.from({ seconds: 2 }) });
    expect(both.toJSON()).toMatchObject({ threshold: "PT2S" });
  });

  test("fire times are ZonedDateTimes of the library's Temporal", () => {
    expect(cron.next(zoned)).toBeInstanceOf(Temporal.ZonedDateTime);
  });
});
