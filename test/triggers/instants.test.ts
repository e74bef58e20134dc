// What is no instant is refused in one way, whatever is asked; digits below a millisecond count.
import { describe, expect, test } from "vitest";
import { BrokenTriggerError } from "../../src/core/errors.ts";
import { CalendarIntervalTrigger } from "../../src/triggers/calendar-interval.ts";
import { AndTrigger, OrTrigger } from "../../src/triggers/combining.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";
import { CronBatch } from "../../src/triggers/cron-batch.ts";
import { DateTrigger } from "../../src/triggers/date.ts";
import { ExcludingTrigger } from "../../src/triggers/excluding.ts";
import { IntervalTrigger } from "../../src/triggers/interval.ts";
import { Trigger } from "../../src/triggers/trigger.ts";
import type { TriggerJSON } from "../../src/triggers/trigger-json.ts";

/** A subclass as users write it. */
class Never extends Trigger {
  nextMs(): null {
    return null;
  }
  previousMs(): null {
    return null;
  }
  describe(): string {
    return "never";
  }
  toJSON(): TriggerJSON {
    return { type: "test/never", version: 1 };
  }
}

const cron = CronTrigger.fromCrontab("0 9 * * *", { timeZone: "Europe/Berlin" });
const interval = new IntervalTrigger({ hours: 1 });
const TRIGGERS: readonly Trigger[] = [
  cron,
  interval,
  interval.startingAt("2030-01-01T00:00:00Z"),
  new CalendarIntervalTrigger({ days: 1, hour: 9 }),
  new CalendarIntervalTrigger({ months: 1, startDate: "2026-01-31", timeZone: "Europe/Berlin" }),
  new DateTrigger("2030-01-01T00:00:00Z"),
  new OrTrigger([cron, interval]),
  new AndTrigger([cron, interval]),
  new ExcludingTrigger(cron, ["2030-01-01"]),
  new ExcludingTrigger(interval, cron),
];

const NO_MS = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, undefined, null, 5n, "5", {}, true];
const NUMBER_METHODS = ["nextMs", "previousMs", "matchesMs", "startingAtMs", "firstMs"] as const;

describe("a number that is no instant", () => {
  test.each(TRIGGERS.map((trigger) => [trigger.toJSON().type, trigger] as const))(
    "is refused by %s",
    (_type, trigger) => {
      for (const method of NUMBER_METHODS) {
        for (const value of NO_MS) {
          expect(() => trigger[method](value as number), `${method}(${String(value)})`).toThrow(
            expect.objectContaining({
              code: "options",
              message: expect.stringMatching(/^\w+Ms must be a finite number of epoch milliseconds; got /),
            }),
          );
        }
      }
    },
  );

  test("is refused by what a subclass inherits", () => {
    for (const method of ["matchesMs", "startingAtMs", "firstMs"] as const) {
      expect(() => new Never()[method](Number.NaN)).toThrow(expect.objectContaining({ code: "options" }));
    }
  });

  test("is refused by a batch", () => {
    for (const value of NO_MS) {
      expect(() => new CronBatch([cron]).nextMs(value as number)).toThrow(expect.objectContaining({ code: "options" }));
    }
  });
});

describe("a value that is no instant", () => {
  test.each([Number.NaN, 5, 5n, null, "", "2030-01-01", {}, new Date(Number.NaN)])("%o is refused", (value) => {
    for (const trigger of [...TRIGGERS, new Never()]) {
      for (const method of ["next", "previous", "matches", "startingAt"] as const) {
        expect(() => trigger[method](value as string)).toThrow(expect.objectContaining({ code: "options" }));
      }
      for (const name of ["from", "until"]) {
        expect(() => trigger.fireTimes({ [name]: value as string })).toThrow(
          expect.objectContaining({ code: "options" }),
        );
      }
    }
    expect(() => cron.count(value as string, "2030-01-01T00:00:00Z")).toThrow(
      expect.objectContaining({ code: "options" }),
    );
  });
});

describe("the options of fireTimes", () => {
  test.each<[unknown, string]>([
    [{ limit: 2.5 }, ": limit must be a whole number of 0 or more; got 2.5"],
    [{ limit: -1 }, ": limit must be a whole number of 0 or more; got -1"],
    [{ limit: Number.NaN }, ": limit must be a whole number of 0 or more; got NaN"],
    [{ limit: "2" }, ': limit must be a whole number of 0 or more; got "2"'],
    [{ untill: "2030-01-01T00:00:00Z" }, ': untill is no option; did you mean "until"?'],
    [{ limit: 1, count: 1 }, ": count is no option; the options are from, until and limit"],
    [null, " takes an object of options; got null"],
    [5, " takes an object of options; got 5"],
  ])("%o are refused when they are given, also to expand", (options, problem) => {
    const refusal = (where: string) => expect.objectContaining({ code: "options", message: where + problem });
    for (const trigger of TRIGGERS) {
      expect(() => trigger.fireTimes(options as object)).toThrow(refusal("fireTimes()"));
    }
    expect(() => cron.expand(options as object)).toThrow(refusal("expand()"));
  });

  test("may have a limit of 0 or of none", () => {
    expect([...interval.fireTimes({ limit: 0 })]).toEqual([]);
    const until = "2030-01-01T02:00:00Z";
    expect([
      ...interval.fireTimes({ from: "2030-01-01T00:00:00Z", until, limit: Number.POSITIVE_INFINITY }),
    ]).toHaveLength(3);
  });
});

describe("digits below a millisecond", () => {
  const nine = new CronTrigger({ hour: 9 });
  const atNine = "2026-01-01T09:00:00Z";
  const justAfter = "2026-01-01T09:00:00.0000005Z";

  test("make an instant later than the fire time of that millisecond", () => {
    expect(nine.previous(justAfter)?.toString()).toBe("2026-01-01T09:00:00+00:00[UTC]");
    expect(nine.previous(atNine)?.toString()).toBe("2025-12-31T09:00:00+00:00[UTC]");
    expect(nine.next(justAfter)?.toString()).toBe("2026-01-02T09:00:00+00:00[UTC]");
    expect(String([...nine.fireTimes({ from: justAfter, limit: 1 })])).toBe("2026-01-02T09:00:00+00:00[UTC]");
    expect(nine.count(justAfter, "2026-01-03T00:00:00Z")).toBe(1);
  });

  test("belong to no fire time, but to the second that a cron trigger matches", () => {
    const hourly = new IntervalTrigger({ hours: 1, startTime: "2026-01-01T00:00:00Z" });
    expect(hourly.matches(atNine)).toBe(true);
    expect(hourly.matches(justAfter)).toBe(false);
    expect(hourly.matches("2026-01-01T09:00:00.001Z")).toBe(false);
    expect(nine.matches(justAfter)).toBe(true);
    expect(nine.matches("2026-01-01T09:00:00.999999999Z")).toBe(true);
    expect(nine.matches("2026-01-01T09:00:01Z")).toBe(false);
  });

  test("of a number round to where they belong", () => {
    const ms = Date.parse(atNine);
    for (const trigger of [nine, new OrTrigger([nine]), new AndTrigger([nine]), new ExcludingTrigger(nine, [])]) {
      expect(trigger.previousMs(ms + 0.5)).toBe(ms);
      expect(trigger.nextMs(ms - 0.5)).toBe(ms);
      expect(trigger.nextMs(ms + 0.5)).toBe(ms + 86_400_000);
    }
  });
});

describe("a trigger of one's own whose answers are no instants", () => {
  class Broken extends Never {
    readonly #answer: unknown;
    constructor(answer: unknown) {
      super();
      this.#answer = answer;
    }
    override nextMs(): null {
      return this.#answer as null;
    }
    override previousMs(): null {
      return this.#answer as null;
    }
  }
  const now = Date.parse("2026-01-01T00:00:00Z");

  test.each([[Number.POSITIVE_INFINITY], [now + 1.5], [Number.NaN]])("is told so within others: %d", (answer) => {
    const broken = new Broken(answer);
    for (const trigger of [new OrTrigger([broken]), new AndTrigger([broken, interval])]) {
      expect(() => trigger.nextMs(now)).toThrow(BrokenTriggerError);
    }
    expect(() => new OrTrigger([new Broken(now - 1.5)]).previousMs(now)).toThrow(BrokenTriggerError);
  });
});
