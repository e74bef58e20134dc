// Every search over triggers has a bound, held here by counts of what it asks, not by time.
import { describe, expect, test } from "vitest";
import { MaxIterationsReachedError } from "../../src/core/errors.ts";
import { type CalendarIntervalOptions, CalendarIntervalTrigger } from "../../src/triggers/calendar-interval.ts";
import { AndTrigger, OrTrigger } from "../../src/triggers/combining.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";
import { ExcludingTrigger } from "../../src/triggers/excluding.ts";
import { IntervalTrigger } from "../../src/triggers/interval.ts";
import { QUESTION_STEPS_MAX } from "../../src/triggers/limits.ts";
import { stepsTaken } from "../../src/triggers/step-budget.ts";
import { Trigger } from "../../src/triggers/trigger.ts";
import type { TriggerJSON } from "../../src/triggers/trigger-json.ts";

const NOW = Date.UTC(2026, 5, 15, 12);

/** Fires every so many milliseconds from a first instant on, both ways, and counts how often it is asked. */
class Counting extends Trigger {
  asked = 0;
  readonly everyMs: number;
  readonly phaseMs: number;
  constructor(everyMs: number, phaseMs = 0) {
    super();
    this.everyMs = everyMs;
    this.phaseMs = phaseMs;
  }
  nextMs(afterMs: number): number {
    this.asked++;
    return Math.floor((afterMs - this.phaseMs) / this.everyMs) * this.everyMs + this.everyMs + this.phaseMs;
  }
  previousMs(beforeMs: number): number {
    this.asked++;
    return Math.ceil((beforeMs - this.phaseMs) / this.everyMs) * this.everyMs - this.everyMs + this.phaseMs;
  }
  describe(): string {
    return "counted";
  }
  toJSON(): TriggerJSON {
    return { type: "test/counting", version: 1 };
  }
}

/** What one question takes from its budget. */
function stepsOf(ask: () => void): number {
  ask();
  return stepsTaken();
}

describe("an AndTrigger", () => {
  test("asks each child once a round forwards and twice backwards, for maxIterations rounds at most", () => {
    const children = [new Counting(4000), new Counting(4000, 2000), new Counting(4000)];
    const never = new AndTrigger(children, { maxIterations: 500 });
    expect(() => never.nextMs(NOW)).toThrow(MaxIterationsReachedError);
    expect(children.map(({ asked }) => asked)).toEqual([500, 500, 500]);
    expect(() => never.previousMs(NOW)).toThrow(MaxIterationsReachedError);
    for (const { asked } of children) expect(asked).toBeLessThanOrEqual(1500);
  });

  test("that can meet within its rounds does", () => {
    const children = [new Counting(7000), new Counting(11_000)];
    const rare = new AndTrigger(children, { threshold: "PT0S" });
    expect(rare.nextMs(1)).toBe(77_000);
    expect(rare.previousMs(77_000)).toBe(0);
    for (const { asked } of children) expect(asked).toBeLessThan(60);
  });
});

test("an OrTrigger asks each child once", () => {
  const children = [new Counting(4000), new Counting(4000, 2000)];
  const either = new OrTrigger(children);
  expect(either.nextMs(0)).toBe(2000);
  expect(either.previousMs(2000)).toBe(0);
  expect(children.map(({ asked }) => asked)).toEqual([2, 2]);
});

describe("an ExcludingTrigger", () => {
  test("passes over a bounded number of fire times, then says so", () => {
    const inner = new Counting(1000);
    const nothing = new ExcludingTrigger(inner, CronTrigger.fromCrontab("* * * * * *"));
    expect(() => nothing.nextMs(NOW)).toThrow(MaxIterationsReachedError);
    expect(Math.abs(inner.asked - QUESTION_STEPS_MAX / 2)).toBeLessThan(10);
    expect(() => nothing.previousMs(NOW)).toThrow(MaxIterationsReachedError);
    expect(Math.abs(inner.asked - QUESTION_STEPS_MAX)).toBeLessThan(20);
  });

  test("passes a span of dates in one step, however long", () => {
    const inner = new Counting(1000);
    const late = new ExcludingTrigger(inner, [{ from: "2026-01-01", until: "8999-12-31" }, "9000-06-01"]);
    expect(late.nextMs(NOW)).toBe(Date.UTC(9000, 0, 1));
    expect(late.previousMs(NOW)).toBe(Date.UTC(2026, 0, 1) - 1000);
    expect(inner.asked).toBe(4);
  });
});

describe("a CalendarIntervalTrigger", () => {
  test.each<[string, CalendarIntervalOptions]>([
    ["29 February", { years: 1, startDate: "2024-02-29" }],
    ["29 February of every hundredth year", { years: 100, startDate: "2000-02-29" }],
    ["the 31st", { months: 1, startDate: "2026-01-31" }],
    ["a period longer than the calendar", { years: 10_000, startDate: "2000-01-01" }],
    ["every day", { days: 1, startDate: "1970-01-01" }],
  ])("of %s takes few steps", (_name, options) => {
    const trigger = new CalendarIntervalTrigger(options);
    for (const ms of [NOW, Date.UTC(9999, 11, 31), 0, -1e15]) {
      expect(stepsOf(() => trigger.nextMs(ms))).toBeLessThan(30);
      expect(stepsOf(() => trigger.previousMs(ms))).toBeLessThan(30);
    }
  });

  test("of mixed units steps through all dates once, and takes few steps near any of them then", () => {
    const trigger = new CalendarIntervalTrigger({ months: 1, days: 1, startDate: "1970-01-01" });
    expect(stepsOf(() => trigger.nextMs(Date.UTC(9990, 0, 1)))).toBeLessThan(QUESTION_STEPS_MAX);
    for (const ms of [NOW, Date.UTC(9990, 0, 1), Date.UTC(5000, 0, 1)]) {
      expect(stepsOf(() => trigger.nextMs(ms))).toBeLessThan(100);
      expect(stepsOf(() => trigger.previousMs(ms))).toBeLessThan(100);
    }
  });

  test("whose dates are over, or do not exist, stops", () => {
    // A century and a month on there is no 31st, and the end is long past.
    const once = new CalendarIntervalTrigger({ months: 12 * 100 + 1, startDate: "2096-01-31", endDate: "2096-01-31" });
    expect(once.nextMs(Date.UTC(2096, 0, 30))).toBe(Date.UTC(2096, 0, 31));
    expect(stepsOf(() => expect(once.nextMs(Date.UTC(2096, 0, 31))).toBeNull())).toBeLessThan(30);
    expect(stepsOf(() => expect(once.previousMs(Date.UTC(2096, 0, 31))).toBeNull())).toBeLessThan(30);
  });
});

describe("one question", () => {
  const every = (milliseconds: number, phaseMs = 0) =>
    new IntervalTrigger({ milliseconds, startTime: new Date(NOW - 1e9 + phaseMs) });
  const exactly = (...triggers: Trigger[]) => new AndTrigger(triggers, { threshold: "PT0S" });
  const errorOf = (ask: () => unknown): MaxIterationsReachedError => {
    try {
      ask();
    } catch (error) {
      if (error instanceof MaxIterationsReachedError) return error;
    }
    throw new Error("expected a MaxIterationsReachedError");
  };

  test("has one budget for all triggers within triggers, however deep", () => {
    let nested = exactly(every(4999), every(5003));
    for (let level = 1; level < 6; level++) nested = exactly(nested, exactly(every(4993), every(5009, level)));
    for (const ask of [() => nested.nextMs(NOW), () => nested.previousMs(NOW), () => nested.matchesMs(NOW)]) {
      expect(errorOf(ask).code).toBe("maxIterationsReached");
      expect(stepsTaken()).toBeLessThan(QUESTION_STEPS_MAX * 1.13);
    }
  });

  test("that fails names the trigger that searched, and what to do", () => {
    const never = exactly(every(4999), every(4999, 1));
    const either = new OrTrigger([every(1000), new ExcludingTrigger(never, ["2026-01-01"])]);
    const error = errorOf(() => either.nextMs(NOW));
    expect(error.path).toBe("triggers.1.trigger");
    expect(error.message).toBe(
      "trigger at triggers.1.trigger: the triggers did not come together within 10000 rounds after " +
        "2026-06-15T12:00:00Z; raise the threshold or maxIterations, or check that they can meet",
    );
    const covered = new ExcludingTrigger(every(1000), every(1000));
    expect(errorOf(() => exactly(every(1), covered).previousMs(NOW)).message).toMatch(
      /^trigger at triggers.1: no fire time before .* was found that is not excluded, within the 250000 steps of one /,
    );
  });

  test("to a calendar interval that another one excludes ends", () => {
    const timeZone = "Europe/Berlin";
    const monthly = new CalendarIntervalTrigger({ months: 1, hour: 9, startDate: "2026-01-01", timeZone });
    const nothing = new ExcludingTrigger(monthly, CronTrigger.fromCrontab("0 9 * * *", { timeZone }));
    expect(errorOf(() => nothing.nextMs(NOW)).path).toBe("");
    expect(stepsTaken()).toBeLessThan(QUESTION_STEPS_MAX * 1.13);
  });

  test("is not charged for the questions before it", () => {
    const nothing = new ExcludingTrigger(every(1000), every(1000));
    for (let again = 0; again < 3; again++) errorOf(() => nothing.nextMs(NOW));
    expect(exactly(every(1000), every(3000)).nextMs(NOW)).not.toBeNull();
    expect(stepsTaken()).toBeLessThan(20);
  });

  test("counts the work of the engine, too", () => {
    // The last Sunday of March at 02:30 never exists in Rome under the present rule: all years are searched.
    const never = CronTrigger.fromCrontab("30 2 * 3 sunL", {
      timeZone: "Europe/Rome",
      dst: { gap: "skip", overlap: "both" },
    });
    const seconds = CronTrigger.fromCrontab("* * * * * *");
    const nothing = new ExcludingTrigger(new OrTrigger([never, seconds]), seconds);
    const error = errorOf(() => nothing.nextMs(NOW));
    expect(error.path).toBe("");
    expect(stepsTaken()).toBeLessThan(QUESTION_STEPS_MAX * 1.13);
  });

  test("asks a trigger that is a child of many as often as it stands there, within the budget", () => {
    let many: Trigger = every(1000);
    for (let level = 0; level < 7; level++) many = new OrTrigger(new Array(100).fill(many));
    expect(errorOf(() => many.nextMs(NOW)).message).toMatch(/the triggers and those within them ask more than/);
    expect(stepsTaken()).toBeLessThan(QUESTION_STEPS_MAX * 1.13);
  });
});
