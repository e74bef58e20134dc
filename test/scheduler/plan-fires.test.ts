import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DateTrigger, Trigger, type TriggerJSON } from "../../src/mod.ts";
import type { CatchUp } from "../../src/records/policies.ts";
import type { ScheduleRecord } from "../../src/records/schedule.ts";
import { planFires } from "../../src/scheduler/firing/plan-fires.ts";
import { CountingTrigger, everySecond, START_MS } from "./support.ts";

function schedule(changes: Partial<ScheduleRecord> = {}): ScheduleRecord {
  return {
    id: "s",
    name: null,
    taskId: "t",
    trigger: "",
    triggerRule: "",
    payload: null,
    executor: "inline",
    priority: 0,
    coalesce: "latest",
    misfireGraceMs: null,
    maxJitterMs: 0,
    catchUp: null,
    resultExpirationMs: 0,
    maxRecoveries: 0,
    overlap: "queue",
    metadata: {},
    paused: false,
    createdAt: START_MS,
    nextFireTime: START_MS,
    lastFireTime: null,
    paceUntil: null,
    revision: 0,
    skippedCount: 0,
    fence: 0,
    ...changes,
  };
}

const bounds = (given: Partial<CatchUp>): CatchUp => ({ maxAgeMs: null, maxCount: null, paceMs: null, ...given });
const s = (seconds: number): number => START_MS + seconds * 1000;
const plain = (fireTime: number) => ({
  fireTime,
  scheduledFireTime: fireTime,
  missedCount: 0,
  firstMissedTime: null,
  lastMissedTime: null,
});

class Broken extends Trigger {
  readonly #next: number | null;
  readonly #previous: number | null;
  constructor(next: number | null, previous: number | null) {
    super();
    this.#next = next;
    this.#previous = previous;
  }
  nextMs(): number | null {
    return this.#next;
  }
  previousMs(): number | null {
    return this.#previous;
  }
  toJSON(): TriggerJSON {
    return { type: "test:broken", version: 1 };
  }
  describe(): string {
    return "never";
  }
}

describe("the plan of a due schedule", () => {
  test("one fire that is on time is one job and the next fire time", () => {
    expect(planFires(schedule(), everySecond(), s(0), () => 0)).toEqual({
      fires: [plain(s(0))],
      nextFireTime: s(1),
      lastFireTime: s(0),
      isCut: false,
    });
  });

  test("latest makes one job for the last missed fire and tells what it stands for", () => {
    expect(planFires(schedule(), everySecond(), s(3) + 500, () => 0)).toEqual({
      fires: [{ fireTime: s(3), scheduledFireTime: s(3), missedCount: 3, firstMissedTime: s(0), lastMissedTime: s(2) }],
      nextFireTime: s(4),
      lastFireTime: s(3),
      isCut: false,
      skips: [{ from: s(0), until: s(2), verdict: "coalesced", count: 3, into: s(3) }],
    });
  });

  test("earliest makes one job for the first missed fire and tells what it stands for", () => {
    expect(planFires(schedule({ coalesce: "earliest" }), everySecond(), s(3), () => 0)).toEqual({
      fires: [{ fireTime: s(0), scheduledFireTime: s(0), missedCount: 3, firstMissedTime: s(1), lastMissedTime: s(3) }],
      nextFireTime: s(4),
      lastFireTime: s(3),
      isCut: false,
      skips: [{ from: s(1), until: s(3), verdict: "coalesced", count: 3, into: s(0) }],
    });
  });

  test("all makes one job for every missed fire, oldest first", () => {
    expect(planFires(schedule({ coalesce: "all" }), everySecond(), s(2), () => 0)).toEqual({
      fires: [plain(s(0)), plain(s(1)), plain(s(2))],
      nextFireTime: s(3),
      lastFireTime: s(2),
      isCut: false,
    });
  });

  test("all stops after 500 jobs and leaves the rest due", () => {
    const { fires, nextFireTime } = planFires(schedule({ coalesce: "all" }), everySecond(), s(31_536_000), () => 0);
    expect(fires).toHaveLength(500);
    expect(fires.at(-1)?.fireTime).toBe(s(499));
    expect(nextFireTime).toBe(s(500));
  });

  test("a fire time that a caller chose is the first that a job stands for", () => {
    const { fires, skips } = planFires(schedule({ nextFireTime: s(1) + 1 }), everySecond(), s(2), () => 0);
    expect(fires).toEqual([{ ...plain(s(2)), missedCount: 1, firstMissedTime: s(1) + 1, lastMissedTime: s(1) + 1 }]);
    expect(skips).toEqual([{ from: s(1) + 1, until: s(1) + 1, verdict: "coalesced", count: 1, into: s(2) }]);
  });

  test.each([
    ["skip", s(0), s(4), { from: s(1), until: s(4), verdict: "overlapSkipped", count: 4, into: null }],
    ["replaceQueued", s(4), s(3), { from: s(0), until: s(3), verdict: "replaced", count: 4, into: s(4) }],
    ["cancelRunning", s(4), s(3), { from: s(0), until: s(3), verdict: "replaced", count: 4, into: s(4) }],
  ] as const)(
    "all with %s makes one job, and passes over the other fire times",
    (overlap, fireTime, lastTime, skip) => {
      const apart = schedule({ coalesce: "all", overlap });
      expect(planFires(apart, everySecond(), s(4), () => 0)).toEqual({
        fires: [plain(fireTime)],
        nextFireTime: s(5),
        lastFireTime: s(4),
        isCut: false,
        passed: { count: 4, lastTime },
        skips: [skip],
      });
      const one = { fires: [plain(s(0))], nextFireTime: s(1), lastFireTime: s(0), isCut: false };
      expect(planFires(apart, everySecond(), s(0), () => 0)).toEqual(one);
    },
  );

  test("with maxCount, one of the newest fire times makes a job, which passes over the rest of them", () => {
    const overCount = { from: s(0), until: s(2), verdict: "overCount", count: 3, into: null };
    const plan = (overlap: "skip" | "replaceQueued") =>
      planFires(schedule({ coalesce: "all", catchUp: bounds({ maxCount: 2 }), overlap }), everySecond(), s(4), () => 0);
    expect(plan("skip")).toMatchObject({
      fires: [plain(s(3))],
      passed: { count: 1, lastTime: s(4) },
      skips: [overCount, { from: s(4), until: s(4), verdict: "overlapSkipped", count: 1, into: null }],
    });
    expect(plan("replaceQueued")).toMatchObject({
      fires: [plain(s(4))],
      passed: { count: 1, lastTime: s(3) },
      skips: [overCount, { from: s(3), until: s(3), verdict: "replaced", count: 1, into: s(4) }],
    });
  });

  test("a plan passes over a bounded number of fire times, and leaves the others due", () => {
    const apart = schedule({ coalesce: "all", overlap: "skip" });
    const { passed, nextFireTime, lastFireTime, isCut } = planFires(apart, everySecond(), s(100_000), () => 0);
    expect({ passed, nextFireTime, lastFireTime, isCut }).toEqual({
      passed: { count: 1000, lastTime: s(1000) },
      nextFireTime: s(1001),
      lastFireTime: s(1000),
      isCut: true,
    });
  });

  test("jitter of a job of overlapping fire times never reaches the fire time after its own", () => {
    const apart = schedule({ coalesce: "all", overlap: "skip", maxJitterMs: 60_000 });
    expect(planFires(apart, everySecond(), s(5), () => 0.999_999_999).fires[0]?.scheduledFireTime).toBe(s(1) - 1);
  });

  test("the last fire of a trigger leaves no next fire time", () => {
    const once = new DateTrigger(new Date(START_MS));
    expect(planFires(schedule(), once, s(5), () => 0)).toEqual({
      fires: [plain(s(0))],
      nextFireTime: null,
      lastFireTime: s(0),
      isCut: false,
    });
  });

  test.each(["latest", "earliest", "all"] as const)(
    "%s makes no job for what fired already, where a new trigger starts before the last fire time",
    (coalesce) => {
      const behind = schedule({ coalesce, lastFireTime: s(5) });
      const fireTimes = planFires(behind, everySecond(), s(7), () => 0).fires.map(({ fireTime }) => fireTime);
      expect(fireTimes).toEqual({ latest: [s(7)], earliest: [s(6)], all: [s(6), s(7)] }[coalesce]);
      const nothingNew = { fires: [], nextFireTime: s(6), lastFireTime: s(5), isCut: false };
      expect(planFires(behind, everySecond(), s(5), () => 0)).toEqual(nothingNew);
    },
  );

  test("a new trigger that ends before the last fire time leaves no job and no next fire time", () => {
    const once = new DateTrigger(new Date(START_MS));
    expect(planFires(schedule({ lastFireTime: s(5) }), once, s(7), () => 0)).toEqual({
      fires: [],
      nextFireTime: null,
      lastFireTime: s(5),
      isCut: false,
    });
  });

  test.each(["latest", "earliest", "all"] as const)(
    "%s makes no job for what is not due any more, as the clock was set back, and keeps its fire times",
    (coalesce) => {
      const early = schedule({ coalesce, nextFireTime: s(3), lastFireTime: s(2) });
      const unchanged = { fires: [], nextFireTime: s(3), lastFireTime: s(2), isCut: false };
      expect(planFires(early, everySecond(), s(3) - 1, () => 0)).toEqual(unchanged);
    },
  );

  test.each(["latest", "earliest"] as const)(
    "%s asks the trigger as often after a century as after an hour",
    (coalesce) => {
      const calls = [3600, 3_155_760_000].map((seconds) => {
        const trigger = new CountingTrigger();
        planFires(schedule({ coalesce }), trigger, s(seconds), () => 0);
        return trigger.calls;
      });
      expect(calls[0]).toBe(calls[1]);
      expect(calls[0]).toBeLessThan(1010);
    },
  );

  test("a count that would take too long is null, and the times are still told", () => {
    const [fire] = planFires(schedule(), everySecond(), s(100_000), () => 0).fires;
    expect(fire).toMatchObject({ missedCount: null, firstMissedTime: s(0), lastMissedTime: s(99_999) });
  });

  test("jitter is uniform from 0 to maxJitter, both included", () => {
    const scheduled = (random: number) =>
      planFires(schedule({ maxJitterMs: 400 }), everySecond(), s(0), () => random).fires[0]?.scheduledFireTime;
    expect([scheduled(0), scheduled(0.5), scheduled(0.999_999)]).toEqual([s(0), s(0) + 200, s(0) + 400]);
  });

  test("jitter never reaches the next fire time", () => {
    const plan = planFires(schedule({ maxJitterMs: 60_000 }), everySecond(), s(0), () => 0.999_999_999);
    expect(plan.fires[0]?.scheduledFireTime).toBe(s(1) - 1);
  });

  test("jitter of an early fire never reaches the fire after it", () => {
    const early = schedule({ coalesce: "earliest", maxJitterMs: 60_000 });
    expect(planFires(early, everySecond(), s(5), () => 0.999_999_999).fires[0]?.scheduledFireTime).toBe(s(1) - 1);
  });

  test.each([
    ["answers the instant it was asked about", new Broken(s(0), null)],
    ["goes back", new Broken(s(-5), null)],
    ["answers no number", new Broken(Number.NaN, null)],
    ["answers a fraction of a millisecond", new Broken(s(1) + 0.5, null)],
    ["has a previous fire time in the future", new Broken(s(9), s(8))],
  ])("a trigger that %s is refused", (_, trigger) => {
    expect(() => planFires(schedule(), trigger, s(3), () => 0)).toThrow();
  });

  test("whatever was missed, every fire time is covered once and the next one is later than now", () => {
    const policies = fc.constantFrom("latest", "earliest", "all" as const);
    fc.assert(
      fc.property(
        policies,
        fc.nat(400_000),
        fc.nat(5000),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (coalesce, lateMs, maxJitterMs, draw) => {
          const now = START_MS + lateMs;
          const { fires, nextFireTime } = planFires(
            schedule({ coalesce, maxJitterMs }),
            everySecond(),
            now,
            () => draw,
          );
          const missed = fires.reduce((sum, fire) => sum + (fire.missedCount ?? Number.NaN), 0);
          expect(fires.length + missed).toBe(Math.floor(lateMs / 1000) + 1);
          expect(nextFireTime).toBe(s(Math.floor(lateMs / 1000) + 1));
          for (const fire of fires) {
            expect(fire.fireTime).toBeLessThanOrEqual(now);
            expect(fire.scheduledFireTime - fire.fireTime).toBeLessThan(Math.min(1000, maxJitterMs + 1));
          }
        },
      ),
    );
  });
});
