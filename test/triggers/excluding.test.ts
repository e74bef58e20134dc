import { describe, expect, test, vi } from "vitest";
import { MaxIterationsReachedError, OptionsError } from "../../src/core/errors.ts";
import { Temporal } from "../../src/core/temporal.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";
import { type Excluded, type ExcludingOptions, ExcludingTrigger } from "../../src/triggers/excluding.ts";
import { IntervalTrigger } from "../../src/triggers/interval.ts";
import { stepsTaken } from "../../src/triggers/step-budget.ts";

const nine = CronTrigger.fromCrontab("0 9 * * *", { timeZone: "Europe/Berlin" });

function days(excluded: Excluded, from: string, limit: number, options?: ExcludingOptions): string[] {
  const trigger = new ExcludingTrigger(nine, excluded, options);
  return [...trigger.fireTimes({ from, limit })].map((at) => at.toString().slice(0, 10));
}

describe("ExcludingTrigger", () => {
  test("leaves out dates and spans of dates, of which both ends count", () => {
    const holidays = [{ from: "2026-12-24", until: "2026-12-26" }, "2026-12-28", Temporal.PlainDate.from("2026-12-30")];
    expect(days(holidays, "2026-12-23T00:00:00Z", 5)).toEqual([
      "2026-12-23",
      "2026-12-27",
      "2026-12-29",
      "2026-12-31",
      "2027-01-01",
    ]);
  });

  test("goes backwards too", () => {
    const trigger = new ExcludingTrigger(nine, [{ from: "2026-12-24", until: "2026-12-26" }]);
    expect(trigger.previous("2026-12-27T00:00:00Z")?.toString()).toBe("2026-12-23T09:00:00+01:00[Europe/Berlin]");
    expect(trigger.matches("2026-12-25T08:00:00Z")).toBe(false);
    expect(trigger.matches("2026-12-27T08:00:00Z")).toBe(true);
  });

  test("dates begin and end in the inner trigger's zone, or in the one given", () => {
    const lateEvening = CronTrigger.fromCrontab("30 23 * * *", { timeZone: "America/New_York" });
    const inner = new ExcludingTrigger(lateEvening, ["2026-06-01"]);
    expect(inner.next("2026-06-01T12:00:00Z")?.toString()).toContain("2026-06-02T23:30");
    const utc = new ExcludingTrigger(lateEvening, ["2026-06-02"], { timeZone: "UTC" });
    expect(utc.next("2026-06-01T12:00:00Z")?.toString()).toContain("2026-06-02T23:30");
  });

  test("a day with a clock change is left out as a whole", () => {
    const hourly = CronTrigger.fromCrontab("0 * * * *", { timeZone: "Europe/Berlin" });
    const trigger = new ExcludingTrigger(hourly, ["2026-10-25"]);
    expect(trigger.next("2026-10-24T21:00:00Z")?.toString()).toBe("2026-10-26T00:00:00+01:00[Europe/Berlin]");
    expect(trigger.previous("2026-10-25T23:00:00Z")?.toString()).toBe("2026-10-24T23:00:00+02:00[Europe/Berlin]");
  });

  test("leaves out what another trigger fires at", () => {
    const weekends = CronTrigger.fromCrontab("* * * * * sat-sun", { timeZone: "Europe/Berlin" });
    expect(days(weekends, "2026-05-01T00:00:00Z", 3)).toEqual(["2026-05-01", "2026-05-04", "2026-05-05"]);
    const midnight = CronTrigger.fromCrontab("0 0 * * sat-sun", { timeZone: "Europe/Berlin" });
    expect(days(midnight, "2026-05-01T00:00:00Z", 3)).toEqual(["2026-05-01", "2026-05-02", "2026-05-03"]);
  });

  test("keeps the rhythm of an interval through what it leaves out", () => {
    const trigger = new ExcludingTrigger(new IntervalTrigger({ hours: 36 }), ["2026-05-02", "2026-05-03"]);
    const anchored = trigger.startingAt("2026-05-01T00:00:00Z");
    const expected = ["2026-05-01T00:00:00+00:00[UTC]", "2026-05-04T00:00:00+00:00[UTC]"];
    expect([...anchored.fireTimes({ from: "2026-05-01T00:00:00Z", limit: 2 })].map(String)).toEqual(expected);
    expect([...trigger.fireTimes({ from: "2026-05-01T00:00:00Z", limit: 2 })].map(String)).toEqual(expected);
    expect(trigger.next("2026-05-01T00:00:00Z")?.toString()).toBe(expected[1]);
    expect(anchored.isSameRule(trigger)).toBe(true);
    expect(anchored.startingAt("2027-01-01T00:00:00Z")).toBe(anchored);
  });

  test("passes a long span in one step, and gives up on an endless row of single ones", () => {
    const seconds = CronTrigger.fromCrontab("* * * * * *");
    const century = new ExcludingTrigger(seconds, [{ from: "2030-01-01", until: "2129-12-31" }]);
    expect(century.next("2030-01-01T00:00:00Z")?.toString()).toBe("2130-01-01T00:00:00+00:00[UTC]");
    const nothing = new ExcludingTrigger(seconds, seconds);
    expect(() => nothing.nextMs(0)).toThrow(MaxIterationsReachedError);
    expect(() => nothing.previousMs(2e12)).toThrow(MaxIterationsReachedError);
    const oneDay = new ExcludingTrigger(seconds, CronTrigger.fromCrontab("* * * 25 12 *"));
    expect(oneDay.next("2030-12-24T23:59:59Z")?.toString()).toBe("2030-12-26T00:00:00+00:00[UTC]");
  });

  test("costs a few steps, however many dates are left out and although the trigger counts from no start", () => {
    const dates = Array.from({ length: 10_000 }, (_, index) =>
      Temporal.PlainDate.from("2000-01-01").add({ days: index * 2 }),
    );
    const trigger = new ExcludingTrigger(new IntervalTrigger({ hours: 1 }), dates, { timeZone: "Europe/Berlin" });
    const from = Date.parse("2026-01-01T00:00:00Z");
    const look = vi.spyOn(Temporal.ZonedDateTime.prototype, "getTimeZoneTransition");
    expect(trigger.nextMs(from)).toBe(from + 3_600_000);
    const transitions = look.mock.calls.length;
    for (let hour = 0; hour < 100; hour++) trigger.nextMs(from + hour * 3_600_000);
    expect(stepsTaken()).toBeLessThan(100);
    // The zone's table is read once.
    expect(look.mock.calls.length).toBe(transitions);
    look.mockRestore();
  });

  test("leaves out the whole of a date whose last hour comes twice, and no more", () => {
    // Clocks went back from 00:01 to 23:01 of the day before.
    const timeZone = "America/St_Johns";
    const quarters = CronTrigger.fromCrontab("*/15 * * * *", { timeZone });
    const hours = (dates: string[]) => {
      const range = { from: "2010-11-07T01:30:00Z", until: "2010-11-07T04:00:00Z" };
      return [...new ExcludingTrigger(quarters, dates).fireTimes(range)].map((at) => at.toString().slice(8, 22));
    };
    const all = hours([]);
    expect(all).toContain("07T00:00:00-02");
    expect(hours(["2010-11-06"])).toEqual(all.filter((text) => !text.startsWith("06")));
    expect(hours(["2010-11-07"])).toEqual(all.filter((text) => !text.startsWith("07")));
    const trigger = new ExcludingTrigger(quarters, ["2010-11-07"]);
    const backwards: string[] = [];
    for (
      let at = trigger.previous("2010-11-08T12:00:00Z");
      backwards.length < 4 && at !== null;
      at = trigger.previous(at)
    ) {
      if (at.day === 6) backwards.unshift(at.toString().slice(8, 22));
    }
    expect(backwards).toEqual(all.filter((text) => text.startsWith("06")).slice(-4));
  });

  test("describes itself", () => {
    expect(new ExcludingTrigger(nine, ["2026-12-25", { from: "2026-12-27", until: "2026-12-29" }]).describe()).toBe(
      "At 09:00, in Europe/Berlin, except (2026-12-25, 2026-12-27 to 2026-12-29)",
    );
    const many = Array.from({ length: 10 }, (_, index) => `2026-01-${11 + index * 2}`);
    expect(new ExcludingTrigger(nine, many).describe()).toContain("2026-01-19 and 5 more)");
    expect(new ExcludingTrigger(nine, ["2026-12-25"], { timeZone: "Asia/Tokyo" }).describe()).toBe(
      "At 09:00, in Europe/Berlin, except (2026-12-25 in Asia/Tokyo)",
    );
    expect(new ExcludingTrigger(nine, ["2026-12-25"], { timeZone: "Europe/Berlin" }).describe()).toBe(
      "At 09:00, in Europe/Berlin, except (2026-12-25)",
    );
    expect(new ExcludingTrigger(nine, []).describe()).toBe("At 09:00, in Europe/Berlin");
  });

  test.each<[unknown, string]>([
    [["2026-02-30"], "excluded.0"],
    [["2026-01-01", "x"], "excluded.1"],
    [[{ from: "2026-01-02", until: "2026-01-01" }], "excluded.0.until"],
    [[{ from: "2026-01-02" }], "excluded.0"],
    [[5], "excluded.0"],
    [[null], "excluded.0"],
    ["2026-01-01", "excluded"],
    [null, "excluded"],
  ])("%o cannot be excluded", (excluded, path) => {
    expect(() => new ExcludingTrigger(nine, excluded as never)).toThrow(
      expect.objectContaining({ code: "options", issues: [expect.objectContaining({ path })] }),
    );
  });

  test("takes every date that Temporal knows, and writes it", () => {
    const dates = ["-271821-04-19", "-000001-02-03", "0099-01-01", "2026-01-01", "+012345-06-07", "+275760-09-13"];
    const trigger = new ExcludingTrigger(nine, dates, { timeZone: "Pacific/Apia" });
    expect(trigger.toJSON()).toMatchObject({ excluded: dates });
    for (const ms of [-8.64e15, 8.64e15, Date.parse("2026-01-01T00:00:00Z")]) {
      expect(() => [trigger.nextMs(ms), trigger.previousMs(ms)]).not.toThrow();
    }
  });

  test("takes a bounded number of dates", () => {
    const dates = Array.from({ length: 10_001 }, () => "2026-01-01");
    expect(() => new ExcludingTrigger(nine, dates)).toThrow(OptionsError);
  });
});
