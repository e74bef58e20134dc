import { describe, expect, test } from "vitest";
import { CronSyntaxError, DeserializationError } from "../../src/core/errors.ts";
import { CalendarIntervalTrigger } from "../../src/triggers/calendar-interval.ts";
import { registerTrigger, triggerFromJSON } from "../../src/triggers/codec.ts";
import { AndTrigger, OrTrigger } from "../../src/triggers/combining.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";
import { DateTrigger } from "../../src/triggers/date.ts";
import { ExcludingTrigger } from "../../src/triggers/excluding.ts";
import { IntervalTrigger } from "../../src/triggers/interval.ts";
import { Trigger } from "../../src/triggers/trigger.ts";
import type { TriggerJSON } from "../../src/triggers/trigger-json.ts";

const cron = CronTrigger.fromCrontab("0 9 * * mon-fri", { timeZone: "Europe/Berlin" });
const START = "2030-01-01T00:00:00Z";

const TRIGGERS: Trigger[] = [
  new DateTrigger(START),
  new IntervalTrigger({ minutes: 5 }),
  new IntervalTrigger({ minutes: 5 }).startingAt(START),
  new IntervalTrigger({ milliseconds: 5, startTime: START, endTime: "2031-01-01T00:00:00.001Z" }),
  new CalendarIntervalTrigger({ months: 1, hour: 9, minute: 30, timeZone: "Europe/Berlin" }),
  new CalendarIntervalTrigger({ years: 1, startDate: "2028-02-29", endDate: "2100-01-01" }),
  new CalendarIntervalTrigger({ weeks: 2, dst: { gap: "shift", overlap: "second" } }).startingAt(START),
  new CalendarIntervalTrigger({ days: 1, startDate: START.slice(0, 10), endDate: "+010000-01-01" }),
  cron,
  new CronTrigger(
    { day: "2nd fri", week: "*/2", year: 2030 },
    { startTime: START, dst: { gap: "skip", overlap: "both" } },
  ),
  CronTrigger.fromCrontab("0 0 13 * fri", { endTime: "2031-01-01T00:00:00Z" }),
  new OrTrigger([cron, new IntervalTrigger({ hours: 1 }).startingAt(START)]),
  new AndTrigger([cron, new OrTrigger([cron])], { threshold: { milliseconds: 1500 }, maxIterations: 7 }),
  new ExcludingTrigger(cron, ["2030-01-01", { from: "2030-05-01", until: "2030-06-01" }], { timeZone: "UTC" }),
  new ExcludingTrigger(cron, CronTrigger.fromCrontab("* * * 25 12 *")),
  new ExcludingTrigger(cron, [{ from: "2030-05-01", until: "+275760-09-13" }]),
];

describe("a trigger's JSON", () => {
  test.each(TRIGGERS.map((trigger) => [trigger.toJSON(), trigger] as const))("%j comes back equal", (json, trigger) => {
    const copy = triggerFromJSON(JSON.parse(JSON.stringify(json)));
    expect(copy.constructor).toBe(trigger.constructor);
    expect(copy.toJSON()).toEqual(json);
    expect(json.version).toBe(1);
    expect(copy.isSameRule(trigger)).toBe(true);
    expect(copy.describe()).toBe(trigger.describe());
    for (const at of [0, Date.parse(START), Date.parse("2030-06-15T12:34:56Z")]) {
      expect(copy.nextMs(at)).toBe(trigger.nextMs(at));
      expect(copy.previousMs(at)).toBe(trigger.previousMs(at));
    }
  });

  const KNOWN =
    "the types are date, interval, calendarInterval, cron, or, and, excluding; call registerTrigger for another " +
    "before the store is read";
  const or = (...triggers: unknown[]): object => ({ type: "or", version: 1, triggers });
  test.each<[unknown, string]>([
    [null, "trigger: expected an object with a text `type` and a whole-number `version`"],
    ["cron", "trigger: expected an object with a text `type` and a whole-number `version`"],
    [{ type: "cron" }, "trigger: expected an object with a text `type` and a whole-number `version`"],
    [{ type: "cron", version: 0 }, "trigger: expected an object with a text `type` and a whole-number `version`"],
    [{ type: "cron", version: "1" }, "trigger: expected an object with a text `type` and a whole-number `version`"],
    [{ type: "solar", version: 1 }, `trigger: the type "solar" is unknown; ${KNOWN}`],
    [{ type: "toString", version: 1 }, `trigger: the type "toString" is unknown; ${KNOWN}`],
    [{ type: "cron", version: 2 }, 'trigger: "cron" has version 2, newer than 1, the newest known; update first'],
    [{ type: "cron", version: 1 }, "trigger: expression: expected text"],
    [
      { type: "cron", version: 1, expression: "0 9 * * *", zone: "UTC" },
      'trigger: CronTrigger: zone is no option; did you mean "timeZone"?',
    ],
    [
      or({ type: "cron", version: 1, expression: "0 24 * * *" }),
      'trigger at triggers.0: hour "24" is outside 0-23 (position 2 in "0 24 * * *"); did you mean "0"?',
    ],
    [
      or({ type: "excluding", version: 1, trigger: or({ type: "x", version: 1 }), excluded: [] }),
      `trigger at triggers.0.trigger.triggers.0: the type "x" is unknown; ${KNOWN}`,
    ],
    [or(), "trigger: OrTrigger: triggers must be a list of 1 to 100 triggers; got a list of 0"],
    [{ type: "or", version: 1 }, "trigger: triggers: expected a list"],
    [{ type: "date", version: 1, runTime: 5 }, "trigger: runTime: expected text"],
    [{ type: "interval", version: 1, milliseconds: 5, anchor: 7 }, "trigger: anchor: expected text"],
  ])("%j is refused", (json, message) => {
    const refusal = catchError(() => triggerFromJSON(json));
    expect(refusal).toMatchObject({ code: "deserialization", message: expect.any(String) });
    // Other files of the same run may have registered types of their own.
    expect((refusal as Error).message.replace(/excluding, [^;]*;/, "excluding;")).toBe(message);
  });

  test("the reason of a refusal is kept as its cause", () => {
    const refusal = catchError(() => triggerFromJSON({ type: "cron", version: 1, expression: "x * * * *" }));
    expect(refusal).toBeInstanceOf(DeserializationError);
    expect(refusal).toMatchObject({ cause: expect.any(CronSyntaxError) });
  });

  test("that nests without end is refused", () => {
    let json: unknown = cron.toJSON();
    for (let level = 0; level < 10_000; level++) json = or(json);
    expect(() => triggerFromJSON(json)).toThrow("nests deeper than 8 levels");
  });
});

class EveryOther extends Trigger {
  readonly inner: Trigger;
  constructor(inner: Trigger) {
    super();
    this.inner = inner;
  }
  nextMs(afterMs: number): number | null {
    const once = this.inner.nextMs(afterMs);
    return once === null ? null : this.inner.nextMs(once);
  }
  previousMs(beforeMs: number): number | null {
    return this.inner.previousMs(beforeMs);
  }
  describe(): string {
    return `Every other of (${this.inner.describe()})`;
  }
  toJSON(): TriggerJSON {
    return { type: "test/everyOther", version: 2, inner: this.inner.toJSON() };
  }
}

describe("a trigger of the user's", () => {
  const codec = {
    version: 2,
    fromJSON: (json: TriggerJSON, read: (json: unknown, path: string) => Trigger) =>
      new EveryOther(read(json.inner, "inner")),
  };

  test("comes back through the codec that was registered under its tag", () => {
    registerTrigger("test/everyOther", codec);
    registerTrigger("test/everyOther", codec);
    const trigger = new OrTrigger([new EveryOther(cron)]);
    const copy = triggerFromJSON(JSON.parse(JSON.stringify(trigger)));
    expect(copy.toJSON()).toEqual(trigger.toJSON());
    expect(copy.nextMs(0)).toBe(trigger.nextMs(0));
  });

  test("names the path to a part that is malformed", () => {
    registerTrigger("test/everyOther", codec);
    const json = { type: "test/everyOther", version: 1, inner: { type: "nothing", version: 1 } };
    expect(() => triggerFromJSON({ type: "or", version: 1, triggers: [json] })).toThrow("trigger at triggers.0.inner:");
  });

  test("a codec that returns no trigger is refused", () => {
    registerTrigger("test/broken", { version: 1, fromJSON: () => ({}) as never });
    expect(() => triggerFromJSON({ type: "test/broken", version: 1 })).toThrow("returned no trigger");
  });

  const CODEC = "codec must be { version, fromJSON }, whose version is a whole number of 1 or more; got";
  test.each<[unknown, unknown, string]>([
    [
      "cron",
      codec,
      'tag must be another tag than those of built-in triggers; got "cron": put the name of your package into it',
    ],
    ["", codec, 'tag must be text that is not empty; got ""'],
    [5, codec, "tag must be text that is not empty; got 5"],
    ["test/none", null, `${CODEC} null`],
    ["test/none", { version: 0, fromJSON: () => cron }, `${CODEC} { version: 0, fromJSON: the function fromJSON }`],
    ["test/none", { version: 1 }, `${CODEC} { version: 1 }`],
  ])("the tag %j with the codec %o is refused", (tag, bad, problem) => {
    expect(() => registerTrigger(tag as string, bad as never)).toThrow(
      expect.objectContaining({ code: "options", message: `registerTrigger(): ${problem}` }),
    );
  });

  test("comes back through the codec that was registered last, so that a module may be loaded again", () => {
    class Renewed extends EveryOther {}
    const json = { type: "test/mine", version: 1, inner: cron.toJSON() };
    registerTrigger("test/mine", codec);
    expect(triggerFromJSON(json)).not.toBeInstanceOf(Renewed);
    registerTrigger("test/mine", { version: 3, fromJSON: (of, read) => new Renewed(read(of.inner, "inner")) });
    expect(triggerFromJSON(json)).toBeInstanceOf(Renewed);
    expect(triggerFromJSON({ ...json, version: 3 })).toBeInstanceOf(Renewed);
  });

  test("one that does not advance is reported, not followed for ever", () => {
    class Stuck extends EveryOther {
      override nextMs(afterMs: number): number {
        return afterMs;
      }
    }
    class Lost extends EveryOther {
      override nextMs(): number {
        return Number.NaN;
      }
    }
    class Between extends EveryOther {
      override nextMs(afterMs: number): number {
        return afterMs + 0.5;
      }
      override previousMs(): number {
        return undefined as never;
      }
    }
    expect(() => [...new Lost(cron).fireTimes({ limit: 5 })]).toThrow("answered NaN");
    expect(() => new Lost(cron).next()).toThrow(expect.objectContaining({ code: "brokenTrigger" }));
    expect(() => new Between(cron).next()).toThrow("which is no whole number of milliseconds");
    expect(() => new Between(cron).previous()).toThrow("answered undefined, which is not earlier than");
    expect(() => new OrTrigger([new Stuck(cron)]).nextMs(0)).toThrow("which is not later than 1970-01-01T00:00:00Z");
    expect(() => [...new Stuck(cron).fireTimes({ limit: 5 })]).toThrow(
      expect.objectContaining({ code: "brokenTrigger" }),
    );
  });
});

function catchError(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
