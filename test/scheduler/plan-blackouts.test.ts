import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CronTrigger, IntervalTrigger, type Trigger } from "../../src/mod.ts";
import type { BlackoutRecord, MissedPolicy } from "../../src/records/blackout.ts";
import { OpenTrigger, planOpenFires } from "../../src/scheduler/firing/plan-blackouts.ts";
import type { FiringSchedule } from "../../src/scheduler/firing/plan-fires.ts";
import { BlackoutWindows, ScheduleBlackouts } from "../../src/triggers/blackout-windows.ts";
import { endOnClock } from "../../src/triggers/wall-duration.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const T0 = Date.parse("2030-01-01T00:00:00Z");

type When = Partial<Pick<BlackoutRecord, "from" | "until" | "durationMs">> & {
  trigger?: Trigger;
  missed?: MissedPolicy;
};

function blackouts(...all: readonly When[]): ScheduleBlackouts {
  return new ScheduleBlackouts(
    all.map(({ from = null, until = null, durationMs = null, trigger, missed = "skip" }, index) => {
      const text = trigger === undefined ? null : JSON.stringify(trigger.startingAtMs(T0));
      const others = { labels: null, taskIds: null, reason: null, by: null, createdAt: T0 };
      return new BlackoutWindows({ id: `b${index}`, from, until, durationMs, trigger: text, missed, ...others });
    }),
  );
}

/** From one hour of the first day to another. */
function hours(from: number, until: number, missed: MissedPolicy = "skip"): When {
  return { from: T0 + from * HOUR, until: T0 + until * HOUR, missed };
}

const HOURLY = new IntervalTrigger({ hours: 1, startTime: "2030-01-01T00:00:00Z" });

type Planned = FiringSchedule & { readonly createdAt: number };

function scheduleOf(fields: Partial<Planned> = {}): Planned {
  return {
    ...{ id: "s", coalesce: "all", overlap: "queue", catchUp: null, paceUntil: null, maxJitterMs: 0 },
    ...{ nextFireTime: T0, lastFireTime: null, createdAt: T0 },
    ...fields,
  };
}

/** Hours since the first midnight. */
function hourOf(at: number | null): number | null {
  return at === null ? null : (at - T0) / HOUR;
}

/** A plan at an hour, in hours. */
function planAt(hour: number, of: ScheduleBlackouts, fields: Partial<Planned> = {}, trigger: Trigger = HOURLY) {
  const plan = planOpenFires(scheduleOf(fields), trigger, of, T0 + hour * HOUR, () => 0);
  return {
    fires: plan.fires.map(({ fireTime, missedCount }) => [hourOf(fireTime), missedCount]),
    next: hourOf(plan.nextFireTime),
    last: hourOf(plan.lastFireTime),
    skips: (plan.skips ?? []).map(({ from, until, verdict, count, into }) => [
      ...[verdict, hourOf(from), hourOf(until), count, hourOf(into)],
    ]),
  };
}

describe("a plan with blackouts", () => {
  test("makes no job of a fire time within one, and looks at the next one", () => {
    const plan = planAt(2, blackouts(hours(2, 4)), { nextFireTime: T0 + 2 * HOUR });
    expect(plan).toEqual({ fires: [], next: 3, last: 2, skips: [["blackedOut", 2, 2, 1, null]] });
  });

  test("fires at the end of a blackout that is not part of it, and at its beginning it does not", () => {
    const of = blackouts(hours(2, 4));
    expect(planAt(4, of, { nextFireTime: T0 + 4 * HOUR }).fires).toEqual([[4, 0]]);
    expect(planAt(1, of, { nextFireTime: T0 + 1 * HOUR })).toMatchObject({ fires: [[1, 0]], next: 2, skips: [] });
  });

  test("makes one job at the end for those that are to be made up for", () => {
    const of = blackouts(hours(1.5, 4.5, "runOnce"));
    const first = planAt(2, of, { nextFireTime: T0 + 2 * HOUR });
    expect(first).toEqual({ fires: [], next: 3, last: 2, skips: [["blackedOut", 2, 2, 1, 4.5]] });
    const last = planAt(4, of, { nextFireTime: T0 + 4 * HOUR, lastFireTime: T0 + 3 * HOUR });
    expect(last).toEqual({ fires: [], next: 4.5, last: 4, skips: [["blackedOut", 4, 4, 1, 4.5]] });
    const end = planAt(4.5, of, { nextFireTime: T0 + 4.5 * HOUR, lastFireTime: T0 + 4 * HOUR });
    expect(end).toEqual({ fires: [[4.5, 3]], next: 5, last: 4.5, skips: [] });
  });

  test("makes one job where a fire time is at the very end", () => {
    const of = blackouts(hours(2, 4, "runOnce"));
    const plan = planAt(4, of, { nextFireTime: T0 + 4 * HOUR, lastFireTime: T0 + 3 * HOUR });
    expect(plan).toMatchObject({ fires: [[4, 2]], next: 5 });
  });

  test("makes up for nothing where no fire time was within it", () => {
    const daily = CronTrigger.fromCrontab("0 0 * * *");
    const of = blackouts(hours(2, 4, "runOnce"));
    expect(planAt(0, of, {}, daily)).toMatchObject({ fires: [[0, 0]], next: 24 });
  });

  test("finds all of it where nobody looked for a day", () => {
    const of = blackouts(hours(2, 4), hours(6.5, 8.5, "runOnce"));
    expect(planAt(10, of)).toEqual({
      fires: [...[0, 1, 4, 5, 6].map((hour) => [hour, 0]), [8.5, 2], [9, 0], [10, 0]],
      next: 11,
      last: 10,
      skips: [
        ["blackedOut", 2, 3, 2, null],
        ["blackedOut", 7, 8, 2, 8.5],
      ],
    });
    const latest = planAt(10, of, { coalesce: "latest" });
    expect(latest).toEqual({
      fires: [[10, 7]],
      next: 11,
      last: 10,
      skips: [
        ["coalesced", 0, 1.9999997222222223, 2, 10],
        ["blackedOut", 2, 3, 2, null],
        ["coalesced", 4, 6.999999722222222, 3, 10],
        ["blackedOut", 7, 8, 2, 8.5],
        ["coalesced", 8.5, 9, 2, 10],
      ],
    });
  });

  test("lets skip win over runOnce where blackouts overlap, and ends with the last of those that touch", () => {
    const of = blackouts(hours(2, 4, "runOnce"), hours(3, 6), hours(6, 7, "runOnce"));
    expect(planAt(3, of, { nextFireTime: T0 + 3 * HOUR })).toMatchObject({
      next: 4,
      skips: [["blackedOut", 3, 3, 1, 7]],
    });
    const skipped = planAt(3, blackouts(hours(2.5, 4, "runOnce"), hours(2, 6)), { nextFireTime: T0 + 3 * HOUR });
    expect(skipped).toMatchObject({ fires: [], next: 4, skips: [["blackedOut", 3, 3, 1, null]] });
  });

  test("goes on where a blackout lasts for ever, once or because it recurs before it ends", () => {
    const forEver = { from: T0, until: Date.parse("9999-01-01T00:00:00Z") };
    const always = {
      trigger: new IntervalTrigger({ minutes: 1, startTime: "2029-01-01T00:00:00Z" }),
      durationMs: HOUR,
    };
    for (const missed of ["skip", "runOnce"] as const) {
      for (const one of [forEver, always]) {
        const plan = planAt(5, blackouts({ ...one, missed }));
        expect(plan).toMatchObject({ fires: [], next: 6, last: 5 });
      }
    }
  });

  test("moves a fire time that a caller chose as those of the rule", () => {
    const of = blackouts(hours(2, 4, "runOnce"));
    expect(planAt(2.25, of, { nextFireTime: T0 + 2.25 * HOUR })).toMatchObject({ fires: [], next: 3, last: 2.25 });
  });

  test.each([1, 2, 12])("makes up for what one left out while others follow, planned every %s hours", (rhythm) => {
    const of = blackouts(hours(2, 5.5, "runOnce"), hours(5, 8.5));
    let schedule = scheduleOf();
    const fired: (number | null)[] = [];
    for (let now = T0; now <= T0 + 12 * HOUR; now += (rhythm * HOUR) / 2) {
      const plan = planOpenFires(schedule, HOURLY, of, now, () => 0);
      fired.push(...plan.fires.map(({ fireTime }) => hourOf(fireTime)));
      schedule = { ...schedule, nextFireTime: plan.nextFireTime, lastFireTime: plan.lastFireTime };
    }
    expect(fired).toEqual([0, 1, 8.5, 9, 10, 11, 12]);
  });

  test("makes up for what was left out since the schedule was added", () => {
    const of = blackouts(hours(0, 5.5, "runOnce"), hours(5, 8.5));
    const later = { nextFireTime: T0 + 6 * HOUR, lastFireTime: T0 + 5 * HOUR };
    expect(planAt(8, of, later).next).toBe(8.5);
    expect(planAt(8, of, { ...later, createdAt: T0 + 5 * HOUR }).next).toBe(9);
  });

  test("makes no job within a blackout, and at most one at its end, whatever blackouts there are", () => {
    const when = fc
      .record({ from: fc.integer({ min: 0, max: 40 }), length: fc.integer({ min: 1, max: 12 }), once: fc.boolean() })
      .map(({ from, length, once }) => hours(from / 2, (from + length) / 2, once ? "runOnce" : "skip"));
    const steps = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 });
    const coalesce = fc.constantFrom("all" as const, "latest" as const, "earliest" as const);
    fc.assert(
      fc.property(fc.array(when, { maxLength: 5 }), steps, coalesce, (whens, waits, policy) => {
        const of = blackouts(...whens);
        let schedule = scheduleOf({ coalesce: policy });
        const fired: number[] = [];
        const told: number[] = [];
        let now = T0;
        for (const wait of waits) {
          now += wait * (HOUR / 2);
          while (schedule.nextFireTime !== null && schedule.nextFireTime <= now) {
            const plan = planOpenFires(schedule, HOURLY, of, now, () => 0);
            fired.push(...plan.fires.map(({ fireTime }) => fireTime));
            for (const { from, until } of plan.skips ?? []) {
              for (let at: number | null = from; at !== null && at <= until; at = HOURLY.nextMs(at)) told.push(at);
            }
            expect(plan.nextFireTime).toBeGreaterThan(schedule.nextFireTime);
            schedule = { ...schedule, nextFireTime: plan.nextFireTime, lastFireTime: plan.lastFireTime };
          }
        }
        const isWithin = (at: number): boolean =>
          whens.some(({ from, until }) => (from ?? 0) <= at && at < (until ?? 0));
        expect(fired.filter(isWithin)).toEqual([]);
        expect(new Set(fired).size).toBe(fired.length);
        // Every fire time of the rule has fired, or is told of, and no two entries have one.
        const ofRule = Array.from({ length: Math.floor((now - T0) / HOUR) + 1 }, (_, hour) => T0 + hour * HOUR);
        const all = [...fired, ...told].filter((at) => (at - T0) % HOUR === 0).sort((a, b) => a - b);
        expect(all).toEqual(ofRule);
      }),
      { numRuns: 500 },
    );
  });
});

describe("a rule with blackouts", () => {
  test("answers the same forward and backward", () => {
    const of = blackouts(hours(2, 4), hours(6.5, 8.5, "runOnce"), hours(8.5, 9.5, "runOnce"));
    const open = new OpenTrigger(HOURLY, of, T0, T0);
    const forward: number[] = [];
    for (let at = open.nextMs(T0 - 1); at !== null && at <= T0 + 12 * HOUR; at = open.nextMs(at)) forward.push(at);
    const backward: number[] = [];
    for (let at = open.previousMs(T0 + 12 * HOUR + 1); at !== null; at = open.previousMs(at)) backward.unshift(at);
    expect(forward.map(hourOf)).toEqual([0, 1, 4, 5, 6, 9.5, 10, 11, 12]);
    expect(backward).toEqual(forward);
  });
});

describe("the end of a duration on a clock", () => {
  const sundays = CronTrigger.fromCrontab("0 2 * * sun", { timeZone: "Europe/Berlin" });
  const endOf = (day: string, durationMs: number, trigger = sundays): [string, string] => {
    const from = trigger.nextMs(Date.parse(`${day}T00:00:00Z`) - 6 * HOUR) ?? 0;
    return [new Date(from).toISOString(), new Date(endOnClock(trigger, from, durationMs)).toISOString()];
  };

  test.each([
    ["on any other day", "2027-03-21", 2 * HOUR, "2027-03-21T01:00:00.000Z", "2027-03-21T03:00:00.000Z"],
    [
      "when clocks go over its beginning",
      "2027-03-28",
      2 * HOUR,
      "2027-03-28T01:00:00.000Z",
      "2027-03-28T02:00:00.000Z",
    ],
    ["when clocks go over all of it", "2027-03-28", HOUR / 2, "2027-03-28T01:00:00.000Z", "2027-03-28T01:00:00.000Z"],
    ["when its beginning comes twice", "2027-10-31", 2 * HOUR, "2027-10-31T00:00:00.000Z", "2027-10-31T03:00:00.000Z"],
    [
      "when it is the hour that comes twice",
      "2027-10-31",
      HOUR,
      "2027-10-31T00:00:00.000Z",
      "2027-10-31T02:00:00.000Z",
    ],
    ["after a change, a day later", "2027-03-28", 26 * HOUR, "2027-03-28T01:00:00.000Z", "2027-03-29T02:00:00.000Z"],
  ])("%s", (_, day, durationMs, from, until) => {
    expect(endOf(day, durationMs)).toEqual([from, until]);
  });

  test("when clocks go over its end, and when it began an hour before they change", () => {
    const atOne = CronTrigger.fromCrontab("0 1 * * sun", { timeZone: "Europe/Berlin" });
    expect(endOf("2027-03-28", 1.5 * HOUR, atOne)).toEqual(["2027-03-28T00:00:00.000Z", "2027-03-28T01:00:00.000Z"]);
    expect(endOf("2027-03-28", 3 * HOUR, atOne)).toEqual(["2027-03-28T00:00:00.000Z", "2027-03-28T02:00:00.000Z"]);
    expect(endOf("2027-10-31", 3 * HOUR, atOne)).toEqual(["2027-10-30T23:00:00.000Z", "2027-10-31T03:00:00.000Z"]);
  });

  test("a recurring blackout is there at its beginning, and over at its end, on each of these days", () => {
    const of = blackouts({ trigger: sundays, durationMs: 2 * HOUR });
    const isWithin = (at: string): boolean => of.idAt(Date.parse(at)) !== null;
    const times = ["2027-03-28T00:59:59.999Z", "2027-03-28T01:00Z", "2027-03-28T01:59:59.999Z", "2027-03-28T02:00Z"];
    expect(times.map(isWithin)).toEqual([false, true, true, false]);
    const autumn = ["2027-10-30T23:59:59.999Z", "2027-10-31T00:00Z", "2027-10-31T02:59:59.999Z", "2027-10-31T03:00Z"];
    expect(autumn.map(isWithin)).toEqual([false, true, true, false]);
    expect(of.idAt(T0 + 3 * DAY)).toBeNull();
  });
});
