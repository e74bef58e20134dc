import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Temporal } from "../../src/core/temporal.ts";
import { CalendarIntervalTrigger } from "../../src/triggers/calendar-interval.ts";
import { triggerFromJSON } from "../../src/triggers/codec.ts";
import { OrTrigger } from "../../src/triggers/combining.ts";
import { CronTrigger } from "../../src/triggers/cron.ts";
import { DateTrigger } from "../../src/triggers/date.ts";
import { ExcludingTrigger } from "../../src/triggers/excluding.ts";
import { IntervalTrigger } from "../../src/triggers/interval.ts";
import { stepsTaken } from "../../src/triggers/step-budget.ts";
import type { Trigger } from "../../src/triggers/trigger.ts";

type Shift = "before" | "after";

const DAY_MS = 86_400_000;
/** Changes of clocks at 02:00, 03:00, midnight, just after midnight, by half an hour, by a whole day, and none. */
const CHANGES = [
  ["Europe/Berlin", "2026-03-29"],
  ["Europe/Berlin", "2026-10-25"],
  ["America/New_York", "2026-03-08"],
  ["America/New_York", "2026-11-01"],
  ["America/St_Johns", "2010-03-14"],
  ["America/St_Johns", "2010-11-07"],
  ["America/Havana", "2026-11-01"],
  ["America/Santiago", "2026-09-06"],
  ["Australia/Lord_Howe", "2026-04-05"],
  ["Australia/Lord_Howe", "2026-10-04"],
  ["Africa/Casablanca", "2026-02-15"],
  ["Pacific/Apia", "2011-12-30"],
  ["Atlantic/Azores", "2026-10-25"],
  ["UTC", "2026-03-01"],
] as const;
const RADIUS_DAYS = 20;

/** Where a fire time goes, in words of Temporal: a day further at a time, until the date is not excluded. */
function movedTo(at: Temporal.ZonedDateTime, dates: ReadonlySet<string>, dateZone: string, shift: Shift): number {
  const isExcluded = (instant: Temporal.ZonedDateTime) =>
    dates.has(instant.withTimeZone(dateZone).toPlainDate().toString());
  let moved = at;
  for (let days = 1; isExcluded(moved); days++) {
    const wall = at.toPlainDateTime().add({ days: shift === "after" ? days : -days });
    const [earlier, later] = (["earlier", "later"] as const).map((disambiguation) =>
      wall.toZonedDateTime(at.timeZoneId, { disambiguation }),
    ) as [Temporal.ZonedDateTime, Temporal.ZonedDateTime];
    const isGap = !earlier.toPlainDateTime().equals(wall);
    moved = isGap ? (later.add({ nanoseconds: 1 }).getTimeZoneTransition("previous") ?? later) : earlier;
  }
  return moved.epochMilliseconds;
}

function listOf(trigger: Trigger, fromMs: number, untilMs: number): number[] {
  const times: number[] = [];
  for (let at = trigger.nextMs(fromMs - 1); at !== null && at < untilMs; at = trigger.nextMs(at)) times.push(at);
  return times;
}

function backwardsOf(trigger: Trigger, fromMs: number, untilMs: number): number[] {
  const times: number[] = [];
  for (let at = trigger.previousMs(untilMs); at !== null && at >= fromMs; at = trigger.previousMs(at)) times.push(at);
  return times.reverse();
}

const inner = (timeZone: string, middleMs: number): fc.Arbitrary<Trigger> =>
  fc.oneof(
    fc
      .constantFrom(
        ...["0 9 * * *", "30 2 * * *", "0 0 * * *", "30 23 * * *", "5 0 * * *", "*/30 * * * *", "0 */5 * * *"],
        ...["0 9 * * sat-sun", "15 1-3 * * *", "0 12 1,15 * *"],
      )
      .chain((text) =>
        fc
          .constantFrom("auto" as const, { gap: "shift", overlap: "second" } as const, { overlap: "both" } as const)
          .map((dst) => CronTrigger.fromCrontab(text, { timeZone, dst })),
      ),
    fc
      .record({ hours: fc.integer({ min: 3, max: 60 }), offset: fc.integer({ min: 0, max: 7_199_999 }) })
      .map(({ hours, offset }) => new IntervalTrigger({ hours, startTime: new Date(middleMs - 60 * DAY_MS + offset) })),
    fc
      .integer({ min: 0, max: 23 })
      .map((hour) => new CalendarIntervalTrigger({ days: 3, startDate: "2010-01-01", hour, minute: 30, timeZone })),
  );

const question = fc.constantFrom(...CHANGES).chain(([timeZone, date]) => {
  const middleMs = Date.parse(`${date}T00:00:00Z`);
  const day = fc.integer({ min: -RADIUS_DAYS, max: RADIUS_DAYS });
  const single = day.map((at) => [at, at] as const);
  const near = fc.integer({ min: -3, max: 3 }).map((at) => [at, at] as const);
  const span = fc.tuple(day, fc.integer({ min: 1, max: 9 })).map(([at, length]) => [at, at + length] as const);
  return fc.record({
    middleMs: fc.constant(middleMs),
    trigger: inner(timeZone, middleMs),
    spans: fc.array(fc.oneof(single, near, span), { minLength: 1, maxLength: 8 }),
    dateZone: fc.oneof(
      { weight: 3, arbitrary: fc.constant(undefined) },
      { weight: 2, arbitrary: fc.constantFrom(...CHANGES.map(([zone]) => zone), "Asia/Tokyo", "Pacific/Kiritimati") },
    ),
    shift: fc.constantFrom<Shift>("before", "after"),
    askedMs: fc.integer({ min: middleMs - 15 * DAY_MS, max: middleMs + 15 * DAY_MS }),
  });
});

test("random rules move fire times as Temporal does, and previous inverts next", () => {
  let moved = 0;
  fc.assert(
    fc.property(question, ({ middleMs, trigger, spans, dateZone, shift, askedMs }) => {
      const dateOf = (day: number) => new Date(middleMs + day * DAY_MS).toISOString().slice(0, 10);
      const ranges = spans.map(([from, until]) => ({ from: dateOf(from), until: dateOf(until) }));
      const dates = new Set(
        spans.flatMap(([from, until]) => Array.from({ length: until - from + 1 }, (_, index) => dateOf(from + index))),
      );
      const excluding = new ExcludingTrigger(trigger, ranges, { timeZone: dateZone, shift });
      // What lies further away than the dates is no matter of theirs.
      const [fromMs, untilMs] = [middleMs - 50 * DAY_MS, middleMs + 50 * DAY_MS];
      const sources = new Map<number, number[]>();
      for (const ownMs of listOf(trigger, fromMs, untilMs)) {
        const at = Temporal.Instant.fromEpochMilliseconds(ownMs).toZonedDateTimeISO(trigger.timeZone);
        const toMs = movedTo(at, dates, dateZone ?? trigger.timeZone, shift);
        sources.set(toMs, [...(sources.get(toMs) ?? []), ownMs]);
        if (toMs !== ownMs) moved++;
        expect(excluding.shiftedToMs(ownMs)).toBe(toMs === ownMs ? null : toMs);
      }
      const expected = [...sources.keys()].sort((a, b) => a - b);
      expect(listOf(excluding, fromMs, untilMs)).toEqual(expected);
      expect(backwardsOf(excluding, fromMs, untilMs)).toEqual(expected);
      expect(excluding.nextMs(askedMs)).toBe(expected.find((at) => at > askedMs) ?? null);
      expect(excluding.previousMs(askedMs)).toBe(expected.findLast((at) => at < askedMs) ?? null);
      for (const [toMs, froms] of sources) {
        const from = excluding.shiftedFromMs(toMs);
        if (froms.includes(toMs)) expect(from).toBe(null);
        else expect(froms).toContain(from);
      }
    }),
    { numRuns: 80 },
  );
  expect(moved).toBeGreaterThan(300);
});

describe("a fire time on an excluded date", () => {
  const timeZone = "Europe/Berlin";
  const nine = CronTrigger.fromCrontab("0 9 * * *", { timeZone });
  const holidays = [{ from: "2026-12-24", until: "2026-12-27" }];
  const localOf = (trigger: Trigger, from: string, limit: number) =>
    [...trigger.fireTimes({ from, limit })].map((at) => at.toPlainDateTime().toString());

  test("moves to the nearest day that is not excluded, and keeps its time of day", () => {
    const monthly = CronTrigger.fromCrontab("30 9 25 * *", { timeZone });
    const after = new ExcludingTrigger(monthly, holidays, { shift: "after" });
    const before = new ExcludingTrigger(monthly, holidays, { shift: "before" });
    expect(localOf(after, "2026-12-01T00:00:00Z", 2)).toEqual(["2026-12-28T09:30:00", "2027-01-25T09:30:00"]);
    expect(localOf(before, "2026-12-01T00:00:00Z", 2)).toEqual(["2026-12-23T09:30:00", "2027-01-25T09:30:00"]);
    expect(before.previous("2026-12-25T00:00:00Z")?.toString()).toContain("2026-12-23T09:30");
    expect(after.previous("2026-12-28T00:00:00Z")?.toString()).toContain("2026-11-25T09:30");
    expect(after.matches("2026-12-28T08:30:00Z")).toBe(true);
    expect(after.matches("2026-12-25T08:30:00Z")).toBe(false);
    expect(after.shiftedFrom("2026-12-28T08:30:00Z")?.toString()).toBe("2026-12-25T09:30:00+01:00[Europe/Berlin]");
    expect(after.shiftedFrom("2027-01-25T08:30:00Z")).toBe(null);
    expect(after.shiftedFrom("2026-12-28T08:30:00.0001Z")).toBe(null);
    expect(after.shiftedToMs(Date.parse("2026-12-25T08:30:00Z"))).toBe(Date.parse("2026-12-28T08:30:00Z"));
  });

  test("fires once where it meets another, or the rule has that fire time too", () => {
    const daily = new ExcludingTrigger(nine, holidays, { shift: "after" });
    expect(localOf(daily, "2026-12-23T00:00:00Z", 3).map((text) => text.slice(5, 10))).toEqual([
      "12-23",
      "12-28",
      "12-29",
    ]);
    expect(daily.shiftedFrom("2026-12-28T08:00:00Z")).toBe(null);
    const twice = new ExcludingTrigger(CronTrigger.fromCrontab("0 9 25,26 12 *", { timeZone }), holidays, {
      shift: "after",
    });
    expect(localOf(twice, "2026-12-01T00:00:00Z", 2)).toEqual(["2026-12-28T09:00:00", "2027-12-25T09:00:00"]);
    // Of several, the nearest.
    expect(twice.shiftedFrom("2026-12-28T08:00:00Z")?.toString()).toContain("2026-12-26T09:00");
  });

  test("takes the first instant after a gap, and of a time that comes twice the first", () => {
    const dates = ["2026-03-28", "2026-10-24"];
    const nightly = CronTrigger.fromCrontab("30 2 28 3 *", { timeZone });
    const spring = new ExcludingTrigger(nightly, dates, { shift: "after" });
    expect(spring.next("2026-03-01T00:00:00Z")?.toString()).toBe("2026-03-29T03:00:00+02:00[Europe/Berlin]");
    const autumn = new ExcludingTrigger(CronTrigger.fromCrontab("30 2 24 10 *", { timeZone }), dates, {
      shift: "after",
    });
    expect(autumn.next("2026-10-01T00:00:00Z")?.toString()).toBe("2026-10-25T02:30:00+02:00[Europe/Berlin]");
  });

  test("moves on the clocks of the trigger, although the dates are those of another zone", () => {
    // Clocks of Berlin change between the two days.
    const utc = new ExcludingTrigger(
      CronTrigger.fromCrontab("0 8 * * *"),
      [{ from: "2026-03-28", until: "2026-03-29" }],
      {
        timeZone,
        shift: "before",
      },
    );
    expect(localOf(utc, "2026-03-27T00:00:00Z", 2)).toEqual(["2026-03-27T08:00:00", "2026-03-30T08:00:00"]);
  });

  test("is moved before the start of its rule, and after its end", () => {
    const bounded = new CronTrigger(
      { hour: 9 },
      { timeZone, startTime: "2026-12-25T00:00:00Z", endTime: "2026-12-26T20:00:00Z" },
    );
    const before = new ExcludingTrigger(bounded, holidays, { shift: "before" });
    expect(before.firstMs(Date.parse("2026-06-01T00:00:00Z"))).toBe(Date.parse("2026-12-23T08:00:00Z"));
    expect(before.next("2026-12-23T08:00:00Z")).toBe(null);
    const after = new ExcludingTrigger(bounded, holidays, { shift: "after" });
    expect(after.firstMs(Date.parse("2026-06-01T00:00:00Z"))).toBe(Date.parse("2026-12-28T08:00:00Z"));
    const last = new ExcludingTrigger(new DateTrigger("9999-12-31T08:00:00Z"), ["9999-12-31"], { shift: "after" });
    expect(last.next("9999-12-01T00:00:00Z")).toBe(null);
    const first = new ExcludingTrigger(new DateTrigger("1970-01-01T08:00:00Z"), ["1970-01-01"], { shift: "before" });
    expect(first.next("1969-01-01T00:00:00Z")?.toString()).toBe("1969-12-31T08:00:00+00:00[UTC]");
  });

  test("is told of by the triggers around", () => {
    const monthly = new ExcludingTrigger(CronTrigger.fromCrontab("0 9 25 * *", { timeZone }), holidays, {
      shift: "after",
    });
    const either = new OrTrigger([monthly, CronTrigger.fromCrontab("0 9 * * tue", { timeZone })]);
    expect(either.shiftedFrom("2026-12-28T08:00:00Z")?.toString()).toContain("2026-12-25T09:00");
    expect(either.shiftedFrom("2026-12-29T08:00:00Z")).toBe(null);
    expect(new OrTrigger([monthly, nine]).shiftedFrom("2026-12-28T08:00:00Z")).toBe(null);
    expect(new ExcludingTrigger(monthly, ["2026-12-30"]).shiftedFrom("2026-12-28T08:00:00Z")?.day).toBe(25);
    expect(new ExcludingTrigger(monthly, nine).shiftedFrom("2026-12-01T08:00:00Z")).toBe(null);
  });

  test("costs a few steps a day, however often the rule fires", () => {
    const seconds = CronTrigger.fromCrontab("* * * * * *", { timeZone });
    const year = [{ from: "2026-01-01", until: "2026-12-31" }];
    for (const shift of ["before", "after"] as const) {
      const trigger = new ExcludingTrigger(seconds, year, { shift });
      const at = Date.parse(shift === "after" ? "2027-01-01T11:00:00Z" : "2025-12-31T11:00:00Z");
      expect(trigger.nextMs(at)).toBe(at + 1000);
      expect(trigger.previousMs(at)).toBe(at - 1000);
      expect(stepsTaken()).toBeLessThan(5000);
    }
  });

  test("is written down, read, and described", () => {
    const trigger = new ExcludingTrigger(nine, ["2026-12-25"], { shift: "before" });
    expect(trigger.toJSON()).toMatchObject({ type: "excluding", excluded: ["2026-12-25"], shift: "before" });
    expect(triggerFromJSON(trigger.toJSON()).toJSON()).toEqual(trigger.toJSON());
    expect(trigger.isSameRule(new ExcludingTrigger(nine, ["2026-12-25"]))).toBe(false);
    expect(trigger.describe()).toBe(
      "At 09:00, in Europe/Berlin, moved from excluded dates (2026-12-25) to the last day before that is not",
    );
    expect(new ExcludingTrigger(nine, ["2026-12-25"], { shift: "after", timeZone: "UTC" }).describe()).toBe(
      "At 09:00, in Europe/Berlin, moved from excluded dates (2026-12-25 in UTC) to the next day that is not",
    );
    const anchored = new ExcludingTrigger(new IntervalTrigger({ hours: 36 }), ["2026-05-02"], { shift: "after" });
    expect(anchored.startingAt("2026-05-01T00:00:00Z").toJSON()).toMatchObject({ shift: "after" });
  });

  test("needs dates, of which at most 366 are in a row", () => {
    expect(() => new ExcludingTrigger(nine, nine, { shift: "after" })).toThrow(
      "ExcludingTrigger: shift takes excluded dates alone; leave it out where a trigger says what is excluded",
    );
    const long = [{ from: "2026-01-01", until: "2027-01-02" }];
    expect(() => new ExcludingTrigger(nine, long, { shift: "after" })).toThrow(
      "shift needs at most 366 excluded dates in a row, and 2026-01-01 to 2027-01-02 are 367; " +
        "a trigger ends by its endTime",
    );
    expect(() => new ExcludingTrigger(nine, long)).not.toThrow();
    expect(() => new ExcludingTrigger(nine, [], { shift: "nearest" as "after" })).toThrow(
      expect.objectContaining({ code: "options", issues: [expect.objectContaining({ path: "shift" })] }),
    );
  });
});
