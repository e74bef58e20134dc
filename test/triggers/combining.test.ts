import { describe, expect, test } from "vitest";
import { MaxIterationsReachedError, OptionsError } from "../../src/core/errors.ts";
import { AndTrigger, OrTrigger } from "../../src/triggers/combining.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";
import { DateTrigger } from "../../src/triggers/date.ts";
import { IntervalTrigger } from "../../src/triggers/interval.ts";
import type { Trigger } from "../../src/triggers/trigger.ts";

const ms = (text: string) => Date.parse(text);
const every = (milliseconds: number, startMs = 0) =>
  new IntervalTrigger({ milliseconds, startTime: new Date(startMs) });
const nextOnes = (trigger: Trigger, from: number, limit: number) =>
  [...trigger.fireTimes({ from: new Date(from), limit })].map((at) => at.epochMilliseconds);

describe("OrTrigger", () => {
  test("fires at every child's times, in order, equal ones once", () => {
    const either = new OrTrigger([every(4000), every(6000)]);
    expect(nextOnes(either, 0, 6)).toEqual([0, 4000, 6000, 8000, 12000, 16000]);
    expect(either.previousMs(12000)).toBe(8000);
    expect(either.previousMs(0)).toBeNull();
    expect(either.matchesMs(6000)).toBe(true);
    expect(either.matchesMs(7000)).toBe(false);
  });

  test("ends when all children have ended", () => {
    const either = new OrTrigger([new DateTrigger("2030-01-01T00:00:00Z"), new DateTrigger("2030-01-02T00:00:00Z")]);
    expect(either.nextMs(ms("2030-01-01T00:00:00Z"))).toBe(ms("2030-01-02T00:00:00Z"));
    expect(either.nextMs(ms("2030-01-02T00:00:00Z"))).toBeNull();
  });

  test("its first fire time is the first of its children's", () => {
    const now = ms("2030-01-01T00:00:00Z");
    const either = new OrTrigger([new CronTrigger({ hour: 9 }), new DateTrigger("2029-12-31T00:00:00Z")]);
    expect(either.firstMs(now)).toBe(ms("2029-12-31T00:00:00Z"));
  });

  test("presents fire times in the first child's zone", () => {
    const either = new OrTrigger([
      new CronTrigger({ hour: 9 }, { timeZone: "Asia/Tokyo" }),
      new CronTrigger({ hour: 9 }),
    ]);
    expect(either.next("2030-01-01T00:00:00Z")?.toString()).toBe("2030-01-01T18:00:00+09:00[Asia/Tokyo]");
    expect(either.describe()).toBe("Any of: (At 09:00, in Asia/Tokyo), (At 09:00, in UTC)");
  });
});

describe("AndTrigger", () => {
  test("fires when its children fire together", () => {
    const friday13 = new AndTrigger([new CronTrigger({ day: 13 }), new CronTrigger({ dayOfWeek: "fri" })]);
    expect(friday13.next("2026-01-01T00:00:00Z")?.toString()).toBe("2026-02-13T00:00:00+00:00[UTC]");
    expect(friday13.previous("2026-01-01T00:00:00Z")?.toString()).toBe("2025-06-13T00:00:00+00:00[UTC]");
  });

  test("fires at the earliest of times that lie within the threshold", () => {
    const first = new DateTrigger("2020-05-16T14:17:30.254Z");
    const second = new DateTrigger("2020-05-16T14:17:31.254Z");
    const both = new AndTrigger([second, first]);
    expect(both.nextMs(0)).toBe(ms("2020-05-16T14:17:30.254Z"));
    expect(both.nextMs(ms("2020-05-16T14:17:30.254Z"))).toBeNull();
    expect(both.previousMs(ms("2021-01-01T00:00:00Z"))).toBe(ms("2020-05-16T14:17:30.254Z"));
    const apart = new AndTrigger([first, second], { threshold: { milliseconds: 999 } });
    expect(apart.nextMs(0)).toBeNull();
    expect(apart.previousMs(ms("2021-01-01T00:00:00Z"))).toBeNull();
  });

  test("gives up where its children never meet", () => {
    const never = new AndTrigger([every(4000), every(4000, 2000)]);
    expect(() => never.nextMs(0)).toThrow(MaxIterationsReachedError);
    expect(() => never.previousMs(1e12)).toThrow(MaxIterationsReachedError);
    expect(() => new AndTrigger([every(4000), every(4000, 2000)], { maxIterations: 5 }).nextMs(0)).toThrow(
      "the triggers did not come together within 5 rounds after 1970-01-01T00:00:00Z; " +
        "raise the threshold or maxIterations, or check that they can meet",
    );
  });

  test("leaps over the times of the faster child", () => {
    const leap = new AndTrigger([CronTrigger.fromCrontab("* * * * * *"), CronTrigger.fromCrontab("0 0 29 2 *")], {
      maxIterations: 3,
    });
    expect(leap.next("2025-01-01T00:00:00Z")?.toString()).toBe("2028-02-28T23:59:59+00:00[UTC]");
    const exact = new AndTrigger(leap.triggers, { threshold: "PT0S", maxIterations: 3 });
    expect(exact.next("2025-01-01T00:00:00Z")?.toString()).toBe("2028-02-29T00:00:00+00:00[UTC]");
  });

  test("starts with the last of its children, where all have starts", () => {
    const both = new AndTrigger([every(1000, 5000), every(1000, 9000)]);
    expect(both.firstMs(1e9)).toBe(8000);
    expect(new AndTrigger([every(1000, 5000), new CronTrigger({ second: "*" })]).firstMs(1e9)).toBe(1e9);
  });
});

describe("combined triggers", () => {
  test("anchor their children, which is no part of the rule", () => {
    const rule = new OrTrigger([
      new IntervalTrigger({ hours: 5 }),
      new AndTrigger([new IntervalTrigger({ hours: 3 })]),
    ]);
    const anchored = rule.startingAt("2030-01-01T00:00:00Z");
    expect(anchored).not.toBe(rule);
    expect(anchored.startingAt("2031-01-01T00:00:00Z")).toBe(anchored);
    expect(anchored.isSameRule(rule)).toBe(true);
    expect(JSON.stringify(anchored).match(/"anchor":"2030-01-01T00:00:00Z"/g)).toHaveLength(2);
    const now = ms("2030-01-01T00:00:00Z");
    expect(nextOnes(anchored, now, 4).map((at) => (at - now) / 3_600_000)).toEqual([0, 3, 5, 6]);
  });

  test("count unanchored children from the instant asked about", () => {
    const both = new AndTrigger([new IntervalTrigger({ hours: 2 }), new IntervalTrigger({ hours: 3 })]);
    expect(both.nextMs(1000)).toBe(1000 + 6 * 3_600_000);
  });

  test.each<[unknown]>([[[]], [[5]], [null], [[{}]], [new CronTrigger({ hour: 1 })]])(
    "%o is no list of triggers",
    (list) => {
      expect(() => new OrTrigger(list as never)).toThrow(OptionsError);
      expect(() => new AndTrigger(list as never)).toThrow(OptionsError);
    },
  );

  test("are bounded in number and depth", () => {
    expect(() => new OrTrigger(Array.from({ length: 101 }, () => every(1000)))).toThrow("1 to 100 triggers");
    let nested: Trigger = every(1000);
    for (let level = 0; level < 7; level++) nested = new OrTrigger([nested]);
    expect(() => new OrTrigger([nested])).toThrow("nests deeper than 8 levels");
  });

  test.each([[{ threshold: 1 }], [{ threshold: "P1M" }], [{ maxIterations: 0 }], [{ treshold: "PT1S" }]])(
    "the options %o are refused",
    (options) => {
      expect(() => new AndTrigger([every(1000)], options as never)).toThrow(OptionsError);
    },
  );
});
