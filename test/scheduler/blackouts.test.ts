import { describe, expect, test } from "vitest";
import {
  ConflictingIdError,
  CronTrigger,
  IntervalTrigger,
  MemoryDataStore,
  OptionsError,
  type Scheduler,
  StoreRefusedError,
} from "../../src/mod.ts";
import type { CommitReport, CommitRequest } from "../../src/stores/data-store.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { at, everySecond, rejectionOf, START, secondsOf, setUp } from "./support.ts";

/** Registers task "t", and lists the fire times of its jobs as they run, in seconds. */
function recordFires(scheduler: Scheduler): (number | null)[] {
  const fired: (number | null)[] = [];
  scheduler.task("t", { maxRunningJobs: null }, (_, { job }) => void fired.push(secondsOf(job.fireTime)));
  return fired;
}

describe("a blackout", () => {
  test("leaves out the fire times within it, and nothing else", async () => {
    const { scheduler, clock } = setUp();
    const fired = recordFires(scheduler);
    await scheduler.start();
    await scheduler.addBlackout("b", { from: at(3), until: at(6), reason: "upgrade", by: "Ada" });
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await clock.advance("PT4S");
    await scheduler.addJob("t");
    await scheduler.runScheduleNow("s");
    await clock.advance("PT4S");
    expect(fired).toEqual([0, 1, 2, null, null, 6, 7, 8]);
    const { items } = await scheduler.getOccurrences("s", { verdict: "blackedOut", order: "oldest" });
    expect(items.map(({ fireTime, into }) => [secondsOf(fireTime.toInstant()), into])).toEqual([
      [3, null],
      [4, null],
      [5, null],
    ]);
    const explained = await scheduler.explain("s", at(4));
    expect([explained.verdict, explained.cause]).toMatchObject([
      "blackedOut",
      { kind: "blackout", id: "b", reason: "upgrade", by: "Ada", until: at(6), missed: "skip" },
    ]);
    expect(explained.text).toContain('it lies within blackout "b" by Ada');
  });

  test("makes one job at its end for all that it left out", async () => {
    const { scheduler, clock } = setUp();
    const fired = recordFires(scheduler);
    await scheduler.start();
    await scheduler.addBlackout("b", { from: at(3), until: at(6.5), missed: "runOnce" });
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await clock.advance("PT6.499S");
    expect(fired).toEqual([0, 1, 2]);
    await clock.advance("PT0.001S");
    expect(fired).toEqual([0, 1, 2, 6.5]);
    const { items } = await scheduler.getJobResults({ limit: 1 });
    expect(secondsOf(items[0]?.scheduledFireTime ?? null)).toBe(6.5);
    await clock.advance("PT1S");
    expect(fired).toEqual([0, 1, 2, 6.5, 7]);
    const explained = await scheduler.explain("s", at(4));
    expect([explained.verdict, secondsOf(explained.occurrence?.into ?? null)]).toEqual(["blackedOut", 6.5]);
  });

  test("is heeded by ticks, which also find out later what lay within it", async () => {
    const { scheduler, clock } = setUp();
    const fired = recordFires(scheduler);
    await scheduler.addSchedule("t", everySecond(), { id: "s", coalesce: "all" });
    await scheduler.addBlackout("b", { from: at(1), until: at(4), missed: "runOnce" });
    await clock.advance("PT2S");
    await scheduler.tick();
    await clock.advance("PT4S");
    await scheduler.tick();
    expect(fired).toEqual([0, 4, 5, 6]);
  });

  test("that recurs begins at each fire time of its trigger", async () => {
    const { scheduler, clock } = setUp();
    const fired = recordFires(scheduler);
    await scheduler.start();
    await scheduler.addBlackout("b", {
      trigger: new IntervalTrigger({ seconds: 4, startTime: START }),
      duration: "2s",
    });
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await clock.advance("PT10S");
    expect(fired).toEqual([2, 3, 6, 7, 10]);
  });

  test("is about the tasks that it names, and about labels that a schedule has", async () => {
    const { scheduler, clock } = setUp();
    const fired = recordFires(scheduler);
    const others: (number | null)[] = [];
    scheduler.task("other", (_, { job }) => void others.push(secondsOf(job.fireTime)));
    await scheduler.start();
    await scheduler.addBlackout("tasks", { from: at(1), until: at(3), taskIds: ["other", "unknown"] });
    await scheduler.addBlackout("labels", { from: at(0), until: at(100), labels: { team: "billing" } });
    for (const task of ["t", "other"]) await scheduler.addSchedule(task, everySecond(), { id: task });
    const labels = { team: "billing", tier: "1" };
    const billing = await scheduler.addSchedule("t", everySecond(), { id: "billing", labels });
    await clock.advance("PT4S");
    expect((await scheduler.explain(billing.id, at(2))).cause).toMatchObject({ kind: "blackout", id: "labels" });
    expect((await billing.preview({ limit: 1 }))[0]?.blackout).toBe("labels");
    expect([fired, others]).toEqual([
      [0, 1, 2, 3, 4],
      [0, 3, 4],
    ]);
  });

  test("no longer counts once it is removed: what nobody has processed yet fires", async () => {
    const { scheduler, clock } = setUp();
    const fired = recordFires(scheduler);
    await scheduler.start();
    await scheduler.addBlackout("b", { from: at(2), until: at(1000), missed: "runOnce" });
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await clock.advance("PT4.5S");
    expect(await scheduler.removeBlackout("b")).toBe(true);
    expect(await scheduler.removeBlackout("b")).toBe(false);
    await clock.advance("PT2S");
    expect(fired).toEqual([0, 1, 5, 6]);
    const explained = await scheduler.explain("s", at(3));
    expect([explained.verdict, explained.cause]).toMatchObject(["blackedOut", { kind: "blackout", id: null }]);
  });

  test("holds back a plan that was made before it, however close they are", async () => {
    class Racing extends MemoryDataStore {
      before: (() => Promise<unknown>) | null = null;
      override async commit(request: CommitRequest): Promise<CommitReport> {
        const before = request.plans.length > 0 ? this.before : null;
        this.before = null;
        await before?.();
        return super.commit(request);
      }
    }
    const store = new Racing();
    const { scheduler, clock } = setUp({ dataStore: store });
    const other = setUp({ dataStore: store, clock }).scheduler;
    const fired = recordFires(scheduler);
    await scheduler.start();
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await clock.advance("PT2.5S");
    store.before = () => other.addBlackout("b", { from: at(3), until: at(5) });
    await clock.advance("PT3S");
    expect(fired).toEqual([0, 1, 2, 5]);
  });

  test("is told of in events, and by skips", async () => {
    const { scheduler, clock } = setUp();
    recordFires(scheduler);
    const seen: unknown[] = [];
    scheduler.subscribe(["blackoutAdded", "blackoutRemoved", "occurrenceSkipped"], (event) => {
      const { timestamp: _, timestampMs: __, ...facts } = JSON.parse(JSON.stringify(event));
      seen.push(facts);
    });
    const options = { from: at(0), until: at(2), reason: "upgrade", by: "Ada" };
    await scheduler.addBlackout("b", options);
    await clock.advance("PT0.001S");
    await scheduler.addBlackout("b", options);
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await clock.advance("PT1.4S");
    await scheduler.tick();
    await scheduler.removeBlackout("b", { by: "Alan" });
    expect(seen).toMatchObject([
      { type: "blackoutAdded", blackoutId: "b", by: "Ada", reason: "upgrade" },
      { type: "occurrenceSkipped", scheduleId: "s", reason: "blackedOut", count: 2, jobId: null },
      { type: "blackoutRemoved", blackoutId: "b", by: "Alan" },
    ]);
  });

  test("is shown by previews and by what explains an instant to come", async () => {
    const { scheduler } = setUp();
    recordFires(scheduler);
    const mondays = CronTrigger.fromCrontab("0 0 * * mon", { timeZone: "Europe/Berlin" });
    await scheduler.addBlackout("monday", { trigger: mondays, duration: "1d", missed: "runOnce", reason: "closed" });
    await scheduler.addSchedule("t", CronTrigger.fromCrontab("0 9 * * *", { timeZone: "Europe/Berlin" }), { id: "s" });
    const preview = await scheduler.previewSchedule("s", { limit: 9 });
    const within = preview.filter(({ blackout }) => blackout === "monday").map(({ fireTime }) => fireTime.dayOfWeek);
    expect([preview.length, within]).toEqual([9, [1]]);
    const explained = await scheduler.explain("s", "2030-01-07T08:00:00Z");
    expect([explained.verdict, explained.cause]).toMatchObject(["upcoming", { kind: "blackout", id: "monday" }]);
    expect(explained.advice).toBe('removeBlackout("monday") lets it fire.');
    const { items } = await scheduler.getSchedules({ include: { next: 9 } } as object);
    expect(items[0]?.next?.filter(({ blackout }) => blackout !== null)).toHaveLength(1);
  });

  test("shows what it was given, and is replaced only where it says something else", async () => {
    const { scheduler } = setUp({ timeZone: "Europe/Berlin" });
    const added = await scheduler.addBlackout("weekly", {
      ...{ trigger: "0 2 * * sun", duration: "2h", missed: "runOnce", reason: "maintenance", by: "Ada" },
      ...{ taskIds: ["a", "b", "a"], labels: { team: "billing" } },
    });
    expect(added.toJSON()).toMatchObject({
      ...{ id: "weekly", from: null, until: null, duration: "PT2H", missed: "runOnce", reason: "maintenance" },
      ...{ taskIds: ["a", "b"], labels: { team: "billing" }, by: "Ada", createdAt: START },
      trigger: { type: "cron", timeZone: "Europe/Berlin" },
    });
    expect(added.trigger?.describe()).toContain("02:00");
    const once = { from: at(0), until: at(60) };
    await scheduler.addBlackout("once", once);
    const kept = await scheduler.addBlackout("once", { ...once, by: "Alan" });
    expect(kept.by).toBe(scheduler.identity);
    expect((await scheduler.addBlackout("once", { ...once, until: at(61), by: "Alan" })).by).toBe("Alan");
    expect((await scheduler.getBlackouts()).map(({ id }) => id)).toEqual(["once", "weekly"]);
    const error = await rejectionOf(scheduler.addBlackout("once", { ...once, conflictPolicy: "error" }));
    expect(error).toBeInstanceOf(ConflictingIdError);
  });

  test.each([
    ["nothing", undefined],
    ["no time", {}],
    ["a beginning alone", { from: START }],
    ["a trigger alone", { trigger: "0 2 * * *" }],
    ["both forms", { from: START, until: at(1), trigger: "0 2 * * *", duration: "1h" }],
    ["an end before its beginning", { from: at(1), until: at(1) }],
    ["no duration", { trigger: "0 2 * * *", duration: 0 }],
    [
      "a trigger that never fires again",
      { trigger: new CronTrigger({ hour: 2 }, { endTime: "2020-01-01T00:00:00Z" }), duration: "1h" },
    ],
    ["no labels", { from: START, until: at(1), labels: {} }],
    ["a label that is no text", { from: START, until: at(1), labels: { team: 7 } }],
    ["no tasks", { from: START, until: at(1), taskIds: [] }],
    ["a word that it does not know", { from: START, until: at(1), missed: "later" }],
    ["a name that belongs elsewhere", { start: START, until: at(1) }],
  ])("refuses %s", async (_, options) => {
    const { scheduler } = setUp();
    const error = await rejectionOf(scheduler.addBlackout("b", options as object));
    expect(error).toBeInstanceOf(OptionsError);
    expect((error as Error).message).toContain("addBlackout()");
    expect(await scheduler.getBlackouts()).toEqual([]);
  });

  test("is refused beyond the 1,000 that a store takes", async () => {
    const { scheduler, store } = setUp();
    const blackout = await scheduler.addBlackout("b0", { from: START, until: at(1) });
    const { items } = await store.getBlackouts();
    for (let index = 1; index < 1000; index++) {
      const copy = { ...items[0], id: `b${index}` } as (typeof items)[number];
      await store.addBlackout({ blackout: copy, conflictPolicy: "update" });
    }
    const error = await rejectionOf(scheduler.addBlackout("more", { from: START, until: at(1) }));
    expect([error, blackout.id]).toEqual([expect.any(StoreRefusedError), "b0"]);
  });
});

test("a scheduler leaves schedules to others whose blackouts it cannot read", async () => {
  const clock = new VirtualClock(START);
  const { scheduler, store } = setUp({ clock });
  const fired = recordFires(scheduler);
  await scheduler.start();
  await scheduler.addSchedule("t", everySecond(), { id: "s" });
  await clock.advance("PT1S");
  await scheduler.addBlackout("b", { trigger: "0 2 * * *", duration: "1h" });
  const [known] = (await store.getBlackouts()).items;
  if (known !== undefined) {
    const unreadable = { ...known, trigger: '{"type":"test:newer","version":1}' };
    await store.addBlackout({ blackout: unreadable, conflictPolicy: "replace" });
  }
  await clock.advance("PT5S");
  expect(fired).toEqual([0, 1]);
  await scheduler.removeBlackout("b");
  await clock.advance("PT1M");
  expect(fired.length).toBeGreaterThan(2);
});
