import { describe, expect, test } from "vitest";
import type { CommitReport, CommitRequest, SchedulePlan } from "../../src/contracts.ts";
import {
  CronTrigger,
  DateTrigger,
  ExcludingTrigger,
  IntervalTrigger,
  MemoryDataStore,
  OrTrigger,
  registerTrigger,
  type Scheduler,
  Trigger,
  type TriggerJSON,
} from "../../src/mod.ts";
import { updateSchedule } from "../../src/testing/data-store-contract/makers.ts";
import { drain } from "../../src/testing/mod.ts";
import { at, everySecond, START, secondsOf, setUp } from "./support.ts";

describe("conflictPolicy", () => {
  test("doNothing keeps the schedule that is there", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "s", payload: "old" });
    const kept = await scheduler.addSchedule("t", everySecond(), {
      id: "s",
      payload: "new",
      conflictPolicy: "doNothing",
    });
    expect(kept.payload).toBe("old");
  });

  test("error refuses and changes nothing", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "s", payload: "old" });
    const adding = scheduler.addSchedule("t", everySecond(), { id: "s", payload: "new", conflictPolicy: "error" });
    await expect(adding).rejects.toMatchObject({ code: "conflictingId", id: "s" });
    expect((await scheduler.getSchedule("s")).payload).toBe("old");
  });

  test("replace with an unchanged trigger keeps the next fire time and its anchor, so no due run is lost", async () => {
    const { scheduler, clock } = setUp();
    scheduler.task("t", () => {});
    const hourly = (): Trigger => new IntervalTrigger({ hours: 1 });
    await scheduler.addSchedule("t", hourly(), { id: "s" });
    await drain(scheduler);
    await clock.advance({ minutes: 90 });
    const replaced = await scheduler.addSchedule("t", hourly(), { id: "s", payload: "new", conflictPolicy: "replace" });
    expect([replaced.payload, secondsOf(replaced.nextFireTime), secondsOf(replaced.createdAt)]).toEqual([
      "new",
      3600,
      0,
    ]);
    expect(secondsOf(replaced.lastFireTime)).toBe(0);
    await drain(scheduler);
    expect(secondsOf((await scheduler.getSchedule("s")).nextFireTime)).toBe(7200);
  });

  test("replace with another trigger counts from now", async () => {
    const { scheduler, clock } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", new IntervalTrigger({ hours: 1 }), { id: "s" });
    await clock.advance({ minutes: 90 });
    const changed = new IntervalTrigger({ hours: 2 });
    const replaced = await scheduler.addSchedule("t", changed, { id: "s", conflictPolicy: "replace" });
    expect(secondsOf(replaced.nextFireTime)).toBe(5400);
  });

  test("replace by a trigger that starts before the last fire time enqueues no occurrence twice", async () => {
    const { scheduler, clock } = setUp();
    const fired = recordFires(scheduler);
    await scheduler.start();
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await clock.advance("PT3S");
    const twos = new IntervalTrigger({ seconds: 2, startTime: START });
    await scheduler.addSchedule("t", twos, { id: "s", conflictPolicy: "replace", coalesce: "all" });
    await clock.advance("PT3S");
    expect(fired).toEqual([0, 1, 2, 3, 4, 6]);
  });

  test("tells of what changed: added, updated, or nothing", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const seen: string[] = [];
    scheduler.subscribe(["scheduleAdded", "scheduleUpdated"], ({ type, scheduleId }) =>
      seen.push(`${type} ${scheduleId}`),
    );
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await scheduler.addSchedule("t", everySecond(), { id: "s", conflictPolicy: "replace" });
    expect(seen).toEqual(["scheduleAdded s", "scheduleUpdated s"]);
  });
});

describe("the anchor of a trigger without a start", () => {
  test("is the present when it is added: an interval fires at once and then on its period", async () => {
    const { scheduler, clock } = setUp();
    const fired: (number | null)[] = [];
    scheduler.task("t", (_, { job }) => {
      fired.push(secondsOf(job.scheduledFireTime));
    });
    await scheduler.start();
    await clock.advance("PT7S");
    await scheduler.addSchedule("t", new IntervalTrigger({ seconds: 10 }));
    await clock.advance("PT25S");
    expect(fired).toEqual([7, 17, 27]);
  });

  test("is stored with the schedule", async () => {
    const { scheduler, clock } = setUp();
    scheduler.task("t", () => {});
    const trigger = new IntervalTrigger({ seconds: 10 });
    await scheduler.addSchedule("t", trigger, { id: "s" });
    await clock.advance("PT3S");
    const stored = (await scheduler.getSchedule("s")).trigger;
    expect(stored.nextMs(clock.now())).toBe(at(10).epochMilliseconds);
    expect(stored.isSameRule(trigger)).toBe(true);
  });

  test("a rule with a start that is past is due at once", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const schedule = await scheduler.addSchedule(
      "t",
      new IntervalTrigger({ hours: 1, startTime: "2029-12-31T00:00:00Z" }),
    );
    expect(secondsOf(schedule.nextFireTime)).toBe(-86_400);
    expect((await scheduler.tick()).jobsAdded).toBe(1);
  });
});

describe("updateSchedule", () => {
  test("replaces what is given and keeps the rest", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const added = await scheduler.addSchedule("t", everySecond(), {
      id: "s",
      payload: 1,
      priority: 2,
      maxJitter: "PT1S",
    });
    const updated = await scheduler.updateSchedule("s", {
      priority: 3,
      misfireGraceTime: "PT5S",
      coalesce: "all",
      catchUp: { maxAge: "1d", maxCount: 4 },
    });
    expect(updated.toJSON()).toEqual({
      ...added.toJSON(),
      revision: added.revision + 1,
      priority: 3,
      misfireGraceTime: "PT5S",
      coalesce: "all",
      catchUp: { maxAge: "PT24H", maxCount: 4, pace: null },
    });
    expect(updated.catchUp?.maxAge?.toString()).toBe("PT24H");
    const { catchUp } = await scheduler.updateSchedule("s", { catchUp: { pace: "5s" } });
    expect(JSON.stringify(catchUp)).toBe('{"maxAge":null,"maxCount":null,"pace":"PT5S"}');
    expect((await scheduler.updateSchedule("s", { catchUp })).catchUp).toEqual(catchUp);
    expect((await scheduler.updateSchedule("s", { catchUp: {} })).catchUp).toBe(null);
    const lifted = await scheduler.updateSchedule("s", {
      misfireGraceTime: null,
      catchUp: null,
      payload: undefined,
    });
    expect([lifted.misfireGraceTime, lifted.catchUp, lifted.payload]).toEqual([null, null, undefined]);
  });

  test("with a new trigger counts from now; with the same rule the fire times stay", async () => {
    const { scheduler, clock } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", new IntervalTrigger({ hours: 1 }), { id: "s" });
    await drain(scheduler);
    await clock.advance("PT10M");
    const same = await scheduler.updateSchedule("s", { trigger: new IntervalTrigger({ minutes: 60 }) });
    const other = await scheduler.updateSchedule("s", { trigger: new IntervalTrigger({ minutes: 30 }) });
    expect([secondsOf(same.nextFireTime), secondsOf(other.nextFireTime)]).toEqual([3600, 600]);
  });

  test("with a trigger that starts before the last fire time enqueues no occurrence twice", async () => {
    const { scheduler, clock } = setUp();
    const fired = recordFires(scheduler);
    await scheduler.start();
    await scheduler.addSchedule("t", everySecond(), { id: "s", coalesce: "all" });
    await clock.advance("PT3S");
    await scheduler.updateSchedule("s", { trigger: new IntervalTrigger({ seconds: 2, startTime: START }) });
    await clock.advance("PT3S");
    expect(fired).toEqual([0, 1, 2, 3, 4, 6]);
  });

  test("wakes the loop for an earlier fire time", async () => {
    const { scheduler, clock } = setUp();
    let runs = 0;
    scheduler.task("t", () => {
      runs++;
    });
    await scheduler.start();
    await scheduler.addSchedule("t", new DateTrigger("2031-01-01T00:00:00Z"), { id: "s" });
    await clock.advance("PT1S");
    await scheduler.updateSchedule("s", { trigger: new DateTrigger(at(2)) });
    await clock.advance("PT1S");
    expect(runs).toBe(1);
  });

  test("refuses what it does not know, and a schedule that is not there", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await expect(scheduler.updateSchedule("s", { id: "x" } as object)).rejects.toMatchObject({
      issues: [{ path: "id" }],
    });
    await expect(scheduler.updateSchedule("s", { trigger: 5 as unknown as Trigger })).rejects.toMatchObject({
      issues: [{ path: "trigger" }],
    });
    await expect(scheduler.updateSchedule("no", { priority: 1 })).rejects.toMatchObject({ code: "scheduleLookup" });
  });
});

describe("runScheduleNow", () => {
  test("makes one extra job as the schedule would, and does not move the schedule", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", (payload: unknown) => payload);
    const options = { id: "s", payload: "p", priority: 4, metadata: { m: 1 }, misfireGraceTime: "PT1S" } as const;
    await scheduler.addSchedule("t", new DateTrigger("2031-01-01T00:00:00Z"), options);
    const job = await scheduler.runScheduleNow("s");
    expect(job).toMatchObject({ scheduleId: "s", payload: "p", priority: 4, metadata: { m: 1 } });
    expect([job.scheduledFireTime, job.startDeadline]).toEqual([null, null]);
    await drain(scheduler);
    expect((await scheduler.getJobResults({ scheduleId: "s" })).items).toHaveLength(1);
    expect((await scheduler.getSchedule("s")).nextFireTime?.toString()).toBe("2031-01-01T00:00:00Z");
  });
});

describe("runScheduleNow with a key", () => {
  test("returns the unfinished job that has the key", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", new DateTrigger("2031-01-01T00:00:00Z"), { id: "s" });
    const first = await scheduler.runScheduleNow("s", { idempotencyKey: "k" });
    const again = await scheduler.runScheduleNow("s", { idempotencyKey: "k" });
    expect([again.id, first.idempotencyKey]).toEqual([first.id, "k"]);
  });

  test("says how the key is written when it is passed alone", async () => {
    const { scheduler } = setUp();
    const wrong = "k" as unknown as object;
    await expect(scheduler.runScheduleNow("s", wrong)).rejects.toMatchObject({
      code: "options",
      message: expect.stringContaining('write { idempotencyKey: "k" }'),
    });
  });
});

describe("previewSchedule", () => {
  test("lists the fire times to come in the trigger's time zone", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", CronTrigger.fromCrontab("0 9 * * *", { timeZone: "Europe/Berlin" }), { id: "s" });
    const texts = (await scheduler.previewSchedule("s", { limit: 2 })).map(String);
    expect(texts).toEqual(["2030-01-01T09:00:00+01:00[Europe/Berlin]", "2030-01-02T09:00:00+01:00[Europe/Berlin]"]);
  });

  test("begins at the next fire time, or later where that is asked for", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    const seconds = async (from?: string) =>
      (await scheduler.previewSchedule("s", { limit: 2, ...(from === undefined ? {} : { from }) })).map(
        ({ fireTime }) => secondsOf(fireTime.toInstant()),
      );
    expect(await seconds()).toEqual([0, 1]);
    expect(await seconds("2030-01-01T00:00:05.5Z")).toEqual([6, 7]);
    expect(await seconds("2020-01-01T00:00:00Z")).toEqual([0, 1]);
  });

  test("lists nothing that fired already, also where a new trigger starts before that", async () => {
    const { scheduler, clock } = setUp();
    recordFires(scheduler);
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await clock.advance("PT3S");
    await drain(scheduler);
    await scheduler.updateSchedule("s", { trigger: new IntervalTrigger({ seconds: 2, startTime: START }) });
    const preview = await scheduler.previewSchedule("s", { limit: 2 });
    expect(preview.map(({ fireTime }) => secondsOf(fireTime.toInstant()))).toEqual([4, 6]);
  });

  test("says from which excluded date a fire time was moved", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    const days = CronTrigger.fromCrontab("0 9 4,7 1 *", { timeZone: "Europe/Berlin" });
    const trigger = new ExcludingTrigger(days, ["2030-01-04"], { shift: "before" });
    await scheduler.addSchedule("t", trigger, { id: "s" });
    const preview = await scheduler.previewSchedule("s", { limit: 2 });
    expect(preview.map(({ fireTime, shiftedFrom }) => [String(fireTime), shiftedFrom?.toString()])).toEqual([
      ["2030-01-03T09:00:00+01:00[Europe/Berlin]", "2030-01-04T09:00:00+01:00[Europe/Berlin]"],
      ["2030-01-07T09:00:00+01:00[Europe/Berlin]", undefined],
    ]);
    expect(String(preview[0])).toBe("2030-01-03T09:00:00+01:00[Europe/Berlin]");
    expect(JSON.parse(JSON.stringify(preview[0]))).toEqual({
      timeZone: "Europe/Berlin",
      fireTime: "2030-01-03T08:00:00Z",
      shiftedFrom: "2030-01-04T08:00:00Z",
      blackout: null,
    });
  });

  test("is empty for a schedule without fire times, and bounded", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", new DateTrigger(START), { id: "s" });
    await drain(scheduler);
    expect(await scheduler.previewSchedule("s", { limit: 5 })).toEqual([]);
    for (const limit of [Number.POSITIVE_INFINITY, -1, 1001, 0.5]) {
      await expect(scheduler.previewSchedule("s", { limit })).rejects.toMatchObject({
        issues: expect.arrayContaining([expect.objectContaining({ path: "limit" })]),
      });
    }
  });
});

describe("a schedule whose trigger is exhausted", () => {
  test("is kept until it is cleaned up, and not before its jobs have ended", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", new DateTrigger(START), { id: "s" });
    const seen: [string, boolean][] = [];
    scheduler.subscribe("scheduleRemoved", ({ scheduleId, finished }) => seen.push([scheduleId, finished]));
    await scheduler.tick({ maxJobs: 1 });
    expect((await scheduler.getSchedule("s")).nextFireTime).toBeNull();
    await scheduler.runScheduleNow("s");
    await scheduler.cleanup();
    expect((await scheduler.getSchedule("s")).id).toBe("s");
    await drain(scheduler);
    await scheduler.cleanup();
    await expect(scheduler.getSchedule("s")).rejects.toMatchObject({ code: "scheduleLookup" });
    expect(seen).toEqual([["s", true]]);
  });

  test("is forgotten once it is cleaned up: adding it again starts it anew", async () => {
    const { scheduler } = setUp();
    const fired = recordFires(scheduler);
    const addOnce = () => scheduler.addSchedule("t", new DateTrigger(START), { id: "s" });
    await addOnce();
    await drain(scheduler);
    await addOnce();
    await drain(scheduler);
    const beforeTheCleanup = [...fired];
    await scheduler.cleanup();
    await addOnce();
    await drain(scheduler);
    expect([beforeTheCleanup, fired]).toEqual([[0], [0, 0]]);
  });

  test("is remembered by a scheduler that runs without clean-up", async () => {
    const { scheduler, clock } = setUp({ cleanupInterval: null });
    const fired = recordFires(scheduler);
    await scheduler.start();
    await scheduler.addSchedule("t", new DateTrigger(START), { id: "s" });
    await clock.advance("PT1H");
    await scheduler.addSchedule("t", new DateTrigger(START), { id: "s" });
    await clock.advance("PT1S");
    expect(fired).toEqual([0]);
  });
});

describe("removeSchedule", () => {
  test("leaves the jobs that it made", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => "ran");
    await scheduler.addSchedule("t", new DateTrigger("2031-01-01T00:00:00Z"), { id: "s" });
    const { id } = await scheduler.runScheduleNow("s");
    await scheduler.removeSchedule("s");
    await drain(scheduler);
    expect((await scheduler.getJobResult(id))?.returnValue).toBe("ran");
    await expect(scheduler.removeSchedule("s")).rejects.toMatchObject({ code: "scheduleLookup" });
  });
});

describe("getSchedules", () => {
  test("comes in pages by id, filtered by task", async () => {
    const { scheduler } = setUp();
    scheduler.task("a", () => {});
    scheduler.task("b", () => {});
    for (let index = 4; index >= 0; index--) await scheduler.addSchedule("a", everySecond(), { id: `s${index}` });
    await scheduler.addSchedule("b", everySecond(), { id: "other" });
    const first = await scheduler.getSchedules({ taskId: "a", limit: 3 });
    const second = await scheduler.getSchedules({ taskId: "a", limit: 3, cursor: first.cursor });
    expect([first, second].map(({ items }) => items.map(({ id }) => id))).toEqual([
      ["s0", "s1", "s2"],
      ["s3", "s4"],
    ]);
    expect(second.cursor).toBeNull();
  });
});

/** Registers task "t", and lists the fire times of its jobs as they run, in seconds. */
function recordFires(scheduler: Scheduler): (number | null)[] {
  const fired: (number | null)[] = [];
  scheduler.task("t", { maxRunningJobs: null }, (_, { job }) => {
    fired.push(secondsOf(job.scheduledFireTime));
  });
  return fired;
}

/** Fires as everySecond does until it is told to fail. */
class Moody extends Trigger {
  static failure: "none" | "throw" | "stand still" = "none";
  nextMs(afterMs: number): number {
    if (Moody.failure === "throw") throw new Error("out of order");
    return Moody.failure === "stand still" ? afterMs : (everySecond().nextMs(afterMs) ?? 0);
  }
  previousMs(beforeMs: number): number | null {
    return everySecond().previousMs(beforeMs);
  }
  toJSON(): TriggerJSON {
    return { type: "test:moody", version: 1 };
  }
  describe(): string {
    return "Moody";
  }
}
registerTrigger("test:moody", { version: 1, fromJSON: () => new Moody() });

describe("a trigger that fails", () => {
  test.each(["throw", "stand still"] as const)(
    "(%s) pauses its own schedule with a scheduleFailed event and spares the others",
    async (failure) => {
      Moody.failure = "none";
      const { scheduler, clock, log } = setUp();
      const fired: string[] = [];
      scheduler.task("t", { maxRunningJobs: null }, (_, { job }) => {
        fired.push(`${job.scheduleId} ${secondsOf(job.scheduledFireTime)}`);
      });
      const failed = scheduler.nextEvent("scheduleFailed");
      const paused = scheduler.nextEvent("schedulePaused");
      await scheduler.start();
      await scheduler.addSchedule("t", new Moody(), { id: "a" });
      await scheduler.addSchedule("t", everySecond(), { id: "b" });
      await clock.settle();
      Moody.failure = failure;
      await clock.advance("PT2S");
      expect(await failed).toMatchObject({ scheduleId: "a", taskId: "t" });
      const { by, reason } = (await paused) ?? {};
      expect([by, reason]).toEqual([scheduler.identity, (await scheduler.getSchedule("a")).pauseReason]);
      expect(reason).toContain(failure === "throw" ? "out of order" : "must return");
      expect(fired.sort()).toEqual(["a 0", "b 0", "b 1", "b 2"]);
      expect(await scheduler.getSchedule("a")).toMatchObject({ paused: true, nextFireTime: at(1) });
      expect(log.filter(({ level }) => level === "error")).toHaveLength(1);
      Moody.failure = "none";
      await scheduler.unpauseSchedule("a", { resumeFrom: "now" });
      await clock.advance("PT1S");
      expect(fired).toContain("a 3");
    },
  );

  test.each([
    ["that is not registered here", '{"type":"test:unknown","version":1}'],
    ["of a newer version", '{"type":"interval","version":2,"seconds":1}'],
    ["that is no JSON", "{"],
  ])("one %s does not pause its schedule, which others may be able to read", async (_, trigger) => {
    const { scheduler, store, log } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await updateSchedule(store, "s", { trigger });
    const failed = scheduler.nextEvent("scheduleDeserializationFailed");
    await scheduler.tick();
    const error = { code: "deserialization" };
    expect(await failed).toMatchObject({ scheduleId: "s", taskId: "t", schedulerId: scheduler.identity, error });
    expect(await scheduler.getSchedule("s")).toMatchObject({ paused: false, nextFireTime: at(0) });
    expect(log.map(({ level }) => level)).toEqual(["warn"]);
  });
});

describe("a trigger whose first answer is no instant", () => {
  const answers: readonly unknown[] = [Number.NaN, Number.POSITIVE_INFINITY, 1e300, 9e15, 0.5, "5", 5n, undefined, {}];

  test.each(answers)("is refused when it is added: %s", async (answer) => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await expect(scheduler.addSchedule("t", new Answering(answer), { id: "s" })).rejects.toMatchObject({
      code: "brokenTrigger",
    });
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await expect(scheduler.updateSchedule("s", { trigger: new Answering(answer) })).rejects.toMatchObject({
      code: "brokenTrigger",
    });
    expect(secondsOf((await scheduler.getSchedule("s")).nextFireTime)).toBe(0);
  });
});

describe("a schedule of which the store takes no plan", () => {
  test("is passed by after a few tries, is told of, and holds up no other", async () => {
    const store = new MemoryDataStore();
    let plans = 0;
    const commit = store.commit.bind(store);
    store.commit = async (request: CommitRequest): Promise<CommitReport> => {
      const isStuck = ({ scheduleId }: SchedulePlan): boolean => scheduleId === "stuck";
      plans += request.plans.filter(isStuck).length;
      const report = await commit({ ...request, plans: request.plans.filter((plan) => !isStuck(plan)) });
      const others = [...report.plans];
      const none = { committed: false, addedJobIds: [] };
      return { ...report, plans: request.plans.map((plan) => (isStuck(plan) ? none : (others.shift() ?? none))) };
    };
    const { scheduler, clock, log } = setUp({ dataStore: store });
    const fired: (number | null)[] = [];
    scheduler.task("t", (_, { job }) => {
      fired.push(secondsOf(job.scheduledFireTime));
    });
    await scheduler.addSchedule("t", everySecond(), { id: "stuck" });
    await scheduler.addSchedule("t", everySecond(), { id: "good" });
    const told = scheduler.nextEvent("scheduleDeserializationFailed");
    await scheduler.start();
    await clock.advance("PT3S");
    expect(await told).toMatchObject({ scheduleId: "stuck" });
    expect(plans).toBe(3);
    expect(fired).toEqual([0, 1, 2, 3]);
    expect(log.map(({ level }) => level)).toEqual(["warn"]);
    await clock.advance("PT30S");
    expect(plans).toBeLessThan(10);
  });

  test("pauses when its stored settings are damaged, rather than make jobs that nobody runs", async () => {
    const { scheduler, store } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await updateSchedule(store, "s", { executor: "" });
    const failed = scheduler.nextEvent("scheduleFailed");
    await scheduler.tick();
    expect(await failed).toMatchObject({ scheduleId: "s", error: { code: "deserialization" } });
    expect((await scheduler.getSchedule("s")).paused).toBe(true);
    expect((await scheduler.getJobs()).items).toEqual([]);
  });
});

/** Answers with what no trigger may answer with. */
class Answering extends Trigger {
  readonly #answer: unknown;

  constructor(answer: unknown) {
    super();
    this.#answer = answer;
  }

  nextMs(): number {
    return this.#answer as number;
  }

  previousMs(): null {
    return null;
  }

  toJSON(): TriggerJSON {
    return { type: "test:answering", version: 1 };
  }

  describe(): string {
    return "Never";
  }
}

describe("a schedule of several rules", () => {
  test("makes one job for an instant that two of them share", async () => {
    const { scheduler, clock } = setUp();
    const fired: (number | null)[] = [];
    scheduler.task("t", (_, { job }) => {
      fired.push(secondsOf(job.scheduledFireTime));
    });
    await scheduler.start();
    const twos = new IntervalTrigger({ seconds: 2, startTime: START });
    const threes = new IntervalTrigger({ seconds: 3, startTime: START });
    await scheduler.addSchedule("t", new OrTrigger([twos, threes]));
    await clock.advance("PT6S");
    expect(fired).toEqual([0, 2, 3, 4, 6]);
  });
});

describe("jitter", () => {
  test("puts a fire off by a random time, and keeps the original time", async () => {
    const { scheduler, clock } = setUp({ random: () => 0.25 });
    const seen: unknown[] = [];
    scheduler.task("t", (_, { job }) => {
      seen.push([secondsOf(clock.instant), secondsOf(job.scheduledFireTime), secondsOf(job.fireTime)]);
    });
    await scheduler.start();
    const everyMinute = new IntervalTrigger({ minutes: 1, startTime: START });
    await scheduler.addSchedule("t", everyMinute, { maxJitter: "PT39.999S" });
    await clock.advance("PT75S");
    expect(seen).toEqual([
      [10, 10, 0],
      [70, 70, 60],
    ]);
  });

  test("is drawn anew for every fire, from the scheduler's random source", async () => {
    let draw = 0;
    const { scheduler, clock } = setUp({ random: () => draw });
    const seen: (number | null)[] = [];
    scheduler.task("t", (_, { job }) => {
      seen.push(secondsOf(job.scheduledFireTime));
    });
    await scheduler.addSchedule("t", new IntervalTrigger({ minutes: 1, startTime: START }), { maxJitter: "PT39.999S" });
    for (draw of [0.25, 0.5, 0.75]) {
      await scheduler.tick();
      await clock.advance("PT1M");
    }
    await drain(scheduler);
    expect(seen.slice(0, 3)).toEqual([10, 80, 150]);
  });
});
