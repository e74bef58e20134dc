import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CronTrigger, DateTrigger, IntervalTrigger, type Trigger } from "../../src/mod.ts";
import type { CatchUp } from "../../src/records/policies.ts";
import { RUN_OVERLAP_POLICIES } from "../../src/records/policies.ts";
import type { ScheduleRecord } from "../../src/records/schedule.ts";
import { type FirePlan, planFires } from "../../src/scheduler/firing/plan-fires.ts";
import { makeSchedule } from "../../src/testing/data-store-contract/makers.ts";
import { CountingTrigger, everySecond, START_MS } from "./support.ts";

const s = (seconds: number): number => START_MS + seconds * 1000;
const bounds = (given: Partial<CatchUp>): CatchUp => ({ maxAgeMs: null, maxCount: null, paceMs: null, ...given });

function schedule(catchUp: Partial<CatchUp>, fields: Partial<ScheduleRecord> = {}): ScheduleRecord {
  return makeSchedule({ coalesce: "all", nextFireTime: s(0), catchUp: bounds(catchUp), ...fields });
}

function plan(record: ScheduleRecord, now: number, firesMax?: number, trigger: Trigger = everySecond()): FirePlan {
  return planFires(record, trigger, now, () => 0, firesMax);
}

const fireTimes = ({ fires }: FirePlan): number[] => fires.map(({ fireTime }) => fireTime);
const pacedTimes = ({ fires }: FirePlan): (number | undefined)[] => fires.map(({ pacedTime }) => pacedTime);
const tooOld = (from: number, until: number, count: number | null) => ({
  ...{ from, until, count, verdict: "tooOld", into: null },
});
const overCount = (from: number, until: number, count: number | null) => ({
  ...{ from, until, count, verdict: "overCount", into: null },
});

describe("maxAge", () => {
  test("leaves out what is older, and not what is just as old", () => {
    const made = plan(schedule({ maxAgeMs: 2000 }), s(9));
    expect(fireTimes(made)).toEqual([s(7), s(8), s(9)]);
    expect(made.skips).toEqual([tooOld(s(0), s(6), 7)]);
    expect(fireTimes(plan(schedule({ maxAgeMs: 2000 }), s(9) + 1))).toEqual([s(8), s(9)]);
  });

  test.each([
    ["latest", s(9), { missedCount: 2, firstMissedTime: s(7), lastMissedTime: s(8) }],
    ["earliest", s(7), { missedCount: 2, firstMissedTime: s(8), lastMissedTime: s(9) }],
  ] as const)("leaves what is older out of what %s coalesces", (coalesce, fireTime, missed) => {
    const { fires, skips } = plan(schedule({ maxAgeMs: 2000 }, { coalesce }), s(9));
    expect(fires).toEqual([{ fireTime, scheduledFireTime: fireTime, ...missed }]);
    const { missedCount: count, firstMissedTime: from, lastMissedTime: until } = missed;
    expect(skips).toEqual([tooOld(s(0), s(6), 7), { from, until, count, verdict: "coalesced", into: fireTime }]);
  });

  test.each(["latest", "earliest", "all"] as const)(
    "makes no job where %s finds all too old, and moves on",
    (coalesce) => {
      const hourly = new IntervalTrigger({ hours: 1, startTime: new Date(START_MS) });
      expect(plan(schedule({ maxAgeMs: 60_000 }, { coalesce }), s(2 * 3600 + 61), undefined, hourly)).toEqual({
        fires: [],
        nextFireTime: s(3 * 3600),
        lastFireTime: s(2 * 3600),
        isCut: false,
        skips: [tooOld(s(0), s(2 * 3600), 3)],
      });
    },
  );

  test("ends a schedule whose last fire time is too old", () => {
    expect(plan(schedule({ maxAgeMs: 60_000 }), s(61), undefined, new DateTrigger(new Date(START_MS)))).toEqual({
      fires: [],
      nextFireTime: null,
      lastFireTime: s(0),
      isCut: false,
      skips: [tooOld(s(0), s(0), 1)],
    });
  });

  test("counts a fire time that a caller chose, wherever it lies", () => {
    const { fires, skips } = plan(schedule({ maxAgeMs: 1500 }, { nextFireTime: s(0) + 7 }), s(2));
    expect(fires.map(({ fireTime }) => fireTime)).toEqual([s(1), s(2)]);
    expect(skips).toEqual([tooOld(s(0) + 7, s(0) + 7, 1)]);
  });

  test("says nothing of fire times that a former rule has passed", () => {
    const made = plan(schedule({ maxAgeMs: 2000 }, { lastFireTime: s(4) }), s(9));
    expect(made.skips).toEqual([tooOld(s(5), s(6), 2)]);
  });

  test("asks the trigger as often after a century as after an hour", () => {
    const calls = [3600, 3_155_760_000].map((seconds) => {
      const trigger = new CountingTrigger();
      const { skips } = plan(schedule({ maxAgeMs: 5000 }), s(seconds), undefined, trigger);
      expect(skips).toEqual([tooOld(s(0), s(seconds - 6), null)]);
      return trigger.calls;
    });
    expect(calls[0]).toBe(calls[1]);
    expect(calls[0]).toBeLessThan(1020);
  });
});

describe("maxCount", () => {
  test("leaves the newest, and no job stands for the others", () => {
    const made = plan(schedule({ maxCount: 2 }), s(9));
    expect(made.fires.map(({ fireTime, missedCount }) => [fireTime, missedCount])).toEqual([
      [s(8), 0],
      [s(9), 0],
    ]);
    expect(made).toMatchObject({ nextFireTime: s(10), lastFireTime: s(9), isCut: false });
    expect(made.skips).toEqual([overCount(s(0), s(7), 8)]);
  });

  test("above what was missed changes nothing", () => {
    expect(plan(schedule({ maxCount: 99 }), s(4))).toEqual(plan(schedule({}), s(4)));
  });

  test.each(["latest", "earliest"] as const)("changes nothing where %s makes one job", (coalesce) => {
    expect(plan(schedule({ maxCount: 1 }, { coalesce }), s(4))).toEqual(plan(schedule({}, { coalesce }), s(4)));
  });

  test("bounds what maxAge leaves", () => {
    const made = plan(schedule({ maxAgeMs: 5000, maxCount: 2 }), s(9));
    expect(fireTimes(made)).toEqual([s(8), s(9)]);
    expect(made.skips).toEqual([tooOld(s(0), s(3), 4), overCount(s(4), s(7), 4)]);
  });
});

describe("pace", () => {
  const paced = (fields: Partial<ScheduleRecord> = {}): ScheduleRecord => schedule({ paceMs: 60_000 }, fields);
  const minute = (count: number, from = s(3)): number => from + count * 60_000;

  test("spreads the jobs of fire times that are due together, from now on", () => {
    const made = plan(paced(), s(3));
    expect(pacedTimes(made)).toEqual([minute(0), minute(1), minute(2), minute(3)]);
    expect(made.paceUntil).toBe(minute(4));
  });

  test("goes on where the plan before ended, in whatever process", () => {
    const first = plan(paced(), s(5), 3);
    expect(first).toMatchObject({ nextFireTime: s(3), lastFireTime: s(2), isCut: true, paceUntil: minute(3, s(5)) });
    const { nextFireTime, lastFireTime, paceUntil = null } = first;
    const second = plan(paced({ nextFireTime, lastFireTime, paceUntil }), s(5) + 1, 3);
    expect(pacedTimes(second)).toEqual([minute(3, s(5)), minute(4, s(5)), minute(5, s(5))]);
    expect(second).toMatchObject({ isCut: false, paceUntil: minute(6, s(5)) });
  });

  test("leaves two fire times for the plan after, so that the last of many is not alone there", () => {
    const first = plan(paced(), s(3), 3);
    expect(first).toMatchObject({ nextFireTime: s(2), lastFireTime: s(1), isCut: true, paceUntil: minute(2) });
    expect(fireTimes(first)).toEqual([s(0), s(1)]);
  });

  test("lets a fire time that is due alone run at once, and lasts on", () => {
    const made = plan(paced({ nextFireTime: s(4), lastFireTime: s(3), paceUntil: minute(4) }), s(4) + 30);
    expect(pacedTimes(made)).toEqual([undefined]);
    expect(made.paceUntil).toBe(minute(4));
  });

  test("that is over is forgotten", () => {
    const { paceUntil, fires } = plan(paced({ nextFireTime: s(4), paceUntil: s(4) }), s(4));
    expect([paceUntil, fires.length]).toEqual([undefined, 1]);
    expect(pacedTimes(plan(paced({ nextFireTime: s(3), paceUntil: s(4) }), s(4)))).toEqual([s(4), minute(1, s(4))]);
  });

  test("lasts where all that is due is too old, and where nothing is due", () => {
    const catchUp = bounds({ paceMs: 60_000, maxAgeMs: 100 });
    expect(plan(paced({ catchUp, paceUntil: minute(9) }), s(0) + 101)).toMatchObject({
      fires: [],
      paceUntil: minute(9),
    });
    expect(plan(paced({ paceUntil: minute(9) }), s(0) - 1)).toMatchObject({ fires: [], paceUntil: minute(9) });
  });

  test.each([
    [{ coalesce: "latest" }],
    [{ coalesce: "earliest" }],
    [{ overlap: "skip" }],
    [{ overlap: "replaceQueued" }],
    [{ catchUp: null }],
  ] as const)("has nothing to spread with %o, and is forgotten", (fields) => {
    const { fires, paceUntil } = plan(paced({ ...fields, paceUntil: minute(9) }), s(3));
    expect([fires[0]?.pacedTime, paceUntil]).toEqual([undefined, undefined]);
  });

  test("of a thousand years yields instants all the same", () => {
    const paceMs = 31_557_600_000_000;
    const made = plan(schedule({ paceMs }), s(400));
    expect(pacedTimes(made).slice(0, 3)).toEqual([s(400), s(400) + paceMs, s(400) + paceMs]);
    expect(() => new Date(made.paceUntil ?? Number.NaN).toISOString()).not.toThrow();
  });
});

test("whatever was missed, each due fire time is a fire of the plans, or in exactly one of their skips", () => {
  const triggers = fc.constantFrom<Trigger>(
    everySecond(),
    new IntervalTrigger({ seconds: 7, startTime: new Date(START_MS - 3000) }),
    new IntervalTrigger({ seconds: 3, startTime: new Date(START_MS), endTime: new Date(START_MS + 40_000) }),
    CronTrigger.fromCrontab("*/5,17 * * * * *", { timeZone: "UTC" }),
    new DateTrigger(new Date(START_MS + 5000)),
  );
  const orNull = (value: fc.Arbitrary<number>) => fc.option(value, { nil: null });
  const limits = fc.record({
    maxAgeMs: orNull(fc.integer({ min: 1, max: 90_000 })),
    maxCount: orNull(fc.integer({ min: 1, max: 40 })),
    paceMs: orNull(fc.integer({ min: 1, max: 5000 })),
  });
  const policies = {
    coalesce: fc.constantFrom("latest", "earliest", "all" as const),
    overlap: fc.constantFrom(...RUN_OVERLAP_POLICIES),
    catchUp: orNull(fc.constant(0)).chain((none) => (none === null ? fc.constant(null) : limits)),
    lastFireTime: orNull(fc.integer({ min: s(-5), max: s(9) })),
    nextFireTime: fc.oneof(fc.constant(s(0)), fc.integer({ min: s(0), max: s(3) })),
  };
  fc.assert(
    fc.property(
      triggers,
      fc.record(policies),
      fc.nat(100_000),
      fc.integer({ min: 1, max: 9 }),
      (trigger, given, late, most) => {
        let record = makeSchedule(given as Partial<ScheduleRecord>);
        const now = s(0) + late;
        const due: number[] = [];
        const { nextFireTime, lastFireTime } = record;
        const isBehind = nextFireTime !== null && lastFireTime !== null && nextFireTime <= lastFireTime;
        for (let at = isBehind ? trigger.nextMs(lastFireTime) : nextFireTime; at !== null && at <= now; ) {
          due.push(at);
          at = trigger.nextMs(at);
        }
        const fired: number[] = [];
        const told: number[] = [];
        let paceUntil = Number.NEGATIVE_INFINITY;
        for (let plans = 0; ; plans++) {
          expect(plans).toBeLessThan(200);
          const made = planFires(record, trigger, now, () => 0, most);
          fired.push(...fireTimes(made));
          for (const { from, until, count } of made.skips ?? []) {
            const within = due.filter((at) => from <= at && at <= until);
            expect([within[0], within.at(-1), within.length]).toEqual([from, until, count]);
            told.push(...within);
          }
          for (const { pacedTime } of made.fires) {
            if (pacedTime === undefined) continue;
            expect(pacedTime).toBeGreaterThanOrEqual(Math.max(now, paceUntil));
            paceUntil = pacedTime + (record.catchUp?.paceMs ?? 0);
          }
          record = { ...record, ...made, paceUntil: made.paceUntil ?? null } as ScheduleRecord;
          if (record.nextFireTime === null || record.nextFireTime > now) break;
        }
        expect([...told, ...fired].sort((a, b) => a - b)).toEqual(due);
        expect(record.lastFireTime).toBe(due.at(-1) ?? lastFireTime);
        if (record.coalesce !== "all" || record.overlap !== "queue") return;
        const fresh = due.filter((at) => now - at <= (record.catchUp?.maxAgeMs ?? now));
        expect(fired).toEqual(fresh.slice(-(record.catchUp?.maxCount ?? due.length + 1)));
      },
    ),
  );
});
