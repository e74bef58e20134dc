import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AndTrigger } from "../../src/triggers/combining.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";
import { IntervalTrigger } from "../../src/triggers/interval.ts";
import type { Trigger } from "../../src/triggers/trigger.ts";

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 0, 1);

/**
 * Meetings as APScheduler's documentation defines them, from lists of fire times: as long as the triggers' fire times are
 * not within the threshold of each other, the trigger with the earliest is asked for its next one; when they are, the
 * earliest is a fire time, and every trigger is asked for its next one.
 */
function documentedMeetings(lists: readonly (readonly number[])[], thresholdMs: number): number[] {
  const meetings: number[] = [];
  const heads = lists.map(() => 0);
  for (;;) {
    const times = heads.map((head, index) => lists[index]?.[head]);
    if (times.some((time) => time === undefined)) return meetings;
    const known = times.map(Number);
    const earliest = Math.min(...known);
    const haveMet = known.every((time) => time - earliest <= thresholdMs);
    if (haveMet) meetings.push(earliest);
    for (const [index, time] of known.entries())
      if (haveMet || time === earliest) heads[index] = (heads[index] ?? 0) + 1;
  }
}

/** All fire times of a trigger, which has an end, one by one. */
function listOf(trigger: Trigger): number[] {
  const times: number[] = [];
  for (let at = trigger.nextMs(START_MS - 1); at !== null; at = trigger.nextMs(at)) times.push(at);
  return times;
}

const endTime = new Date(START_MS + 130 * MINUTE_MS);
const startTime = fc.integer({ min: 0, max: 30 * MINUTE_MS }).map((ms) => new Date(START_MS + ms));
const seconds = fc.integer({ min: 60, max: 2000 });
const interval: fc.Arbitrary<Trigger> = fc
  .record({ seconds, startTime })
  .map((options) => new IntervalTrigger({ ...options, endTime }));
const cron: fc.Arbitrary<Trigger> = fc
  .tuple(fc.constantFrom("* * * * *", "*/5 * * * *", "7,8,40 * * * *", "*/7 1 * * *", "50-59 0 * * *"), startTime)
  .map(([text, from]) => CronTrigger.fromCrontab(text, { startTime: from, endTime }));
const children = fc.array(fc.oneof(interval, cron), { minLength: 1, maxLength: 4 });
/** From exact meetings to thresholds that are longer than the periods of the triggers. */
const threshold = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 90_000 }), fc.integer({ min: 1, max: 1_800_000 }));

test("2,000 random triggers meet where APScheduler's documentation says, and previous inverts next", () => {
  let found = 0;
  fc.assert(
    fc.property(children, threshold, fc.integer({ min: 0, max: 130 * MINUTE_MS }), (triggers, milliseconds, asked) => {
      const expected = documentedMeetings(triggers.map(listOf), milliseconds);
      const both = new AndTrigger(triggers, { threshold: { milliseconds } });
      const forwards: number[] = [];
      for (let at = both.nextMs(START_MS - 1); at !== null; at = both.nextMs(at)) forwards.push(at);
      expect(forwards).toEqual(expected);
      const backwards: number[] = [];
      for (let at = both.previousMs(endTime.getTime() + 1); at !== null; at = both.previousMs(at))
        backwards.unshift(at);
      expect(backwards).toEqual(expected);
      // The answer does not depend on what was asked before.
      const fresh = new AndTrigger(triggers, { threshold: { milliseconds } });
      expect(fresh.nextMs(START_MS + asked)).toBe(expected.find((at) => at > START_MS + asked) ?? null);
      expect(fresh.previousMs(START_MS + asked)).toBe(expected.findLast((at) => at < START_MS + asked) ?? null);
      found += expected.length;
    }),
    { numRuns: 2000 },
  );
  expect(found).toBeGreaterThan(2000);
});

describe("a meeting", () => {
  const timesOf = (trigger: Trigger, from: string, limit: number): string[] =>
    [...trigger.fireTimes({ from, limit })].map((at) => at.toPlainDateTime().toString().slice(5));
  const every = (options: object) => new IntervalTrigger({ ...options, startTime: new Date(START_MS) });

  test("consumes the times that met, so that every minute and nine o'clock meet once a day", () => {
    const both = new AndTrigger([CronTrigger.fromCrontab("* * * * *"), CronTrigger.fromCrontab("0 9 * * *")], {
      threshold: { minutes: 1 },
    });
    expect(timesOf(both, "2026-01-01T00:00:00Z", 3)).toEqual(["01-01T08:59:00", "01-02T08:59:00", "01-03T08:59:00"]);
    expect(both.matches("2026-01-01T09:00:00Z")).toBe(false);
    expect(both.next("2026-01-01T08:59:30Z")?.toString()).toBe("2026-01-02T08:59:00+00:00[UTC]");
    expect(both.previous("2026-01-02T08:59:00Z")?.toString()).toBe("2026-01-01T08:59:00+00:00[UTC]");
  });

  test("does not depend on the instant that is asked about, where meetings follow each other without end", () => {
    const both = new AndTrigger([new CronTrigger({ second: "*" }), new CronTrigger({ second: "*/2" })]);
    expect(timesOf(both, "2026-01-01T00:00:00Z", 3)).toEqual(["01-01T00:00:01", "01-01T00:00:03", "01-01T00:00:05"]);
    expect(timesOf(both, "2026-01-01T00:00:04Z", 1)).toEqual(["01-01T00:00:05"]);
    const everySecond = new AndTrigger([new CronTrigger({ second: "*" }), new CronTrigger({ second: "*" })]);
    expect(timesOf(everySecond, "2026-01-01T00:00:00Z", 3)).toEqual([
      "01-01T00:00:00",
      "01-01T00:00:01",
      "01-01T00:00:02",
    ]);
  });

  test("of triggers that always share times is counted from their starts", () => {
    const later = new IntervalTrigger({ seconds: 10, startTime: new Date(START_MS + 5000) });
    const both = new AndTrigger([every({ seconds: 10 }), later], { threshold: { seconds: 6 } });
    expect(timesOf(both, "2026-01-01T00:01:00Z", 3)).toEqual(["01-01T00:01:00", "01-01T00:01:10", "01-01T00:01:20"]);
    expect(both.previous("2026-01-01T00:01:00Z")?.toString()).toBe("2026-01-01T00:00:50+00:00[UTC]");
    expect(() => both.next("2027-01-01T00:00:00Z")).toThrow("was not found within the 250000 steps of one question");
  });

  test("keeps the times that can still meet, where APScheduler's code passes them", () => {
    const at = (minute: number, period: number) =>
      new IntervalTrigger({ minutes: period, startTime: new Date(START_MS + minute * MINUTE_MS) });
    const three = new AndTrigger([at(0, 10), at(5, 1000), at(8, 1000)], { threshold: { minutes: 6 } });
    expect(timesOf(three, "2026-01-01T00:00:00Z", 1)).toEqual(["01-01T00:05:00"]);
  });
});
