import { describe, expect, test } from "vitest";
import { LocalEventBroker, MemoryDataStore, OptionsError, type SchedulerEvent } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { at, everySecond, rejectionOf, START, START_MS, secondsOf, setUp } from "./support.ts";

/** The events of pauses, without their times. */
function pauseEvents(scheduler: ReturnType<typeof setUp>["scheduler"]): object[] {
  const seen: object[] = [];
  const keep = (event: SchedulerEvent): void => {
    const { timestamp: _, timestampMs: __, ...facts } = JSON.parse(JSON.stringify(event));
    seen.push(facts);
  };
  scheduler.subscribe(["schedulePaused", "scheduleUnpaused", "taskPaused", "taskUnpaused"], keep);
  return seen;
}

/** A schedule of every second that was paused at 2 s until 7.5 s. */
async function pausedSchedule(isResident: boolean) {
  const setup = setUp();
  const { scheduler, clock } = setup;
  const fired: (number | null)[] = [];
  scheduler.task("t", (_, { job }) => void fired.push(secondsOf(job.scheduledFireTime)));
  if (isResident) await scheduler.start();
  await scheduler.addSchedule("t", everySecond(), { id: "s" });
  await clock.advance("PT2S");
  if (!isResident) await scheduler.tick();
  const events = pauseEvents(scheduler);
  const paused = await scheduler.pauseSchedule("s", { until: at(7.5), reason: "upgrade", by: "Ada" });
  return { ...setup, fired, events, paused };
}

describe("a schedule that is paused until an instant", () => {
  test("shows when the pause ends, why it is there and who asked for it", async () => {
    const { scheduler, paused } = await pausedSchedule(true);
    expect(paused.toJSON()).toMatchObject({
      paused: true,
      pausedUntil: "2030-01-01T00:00:07.5Z",
      pauseReason: "upgrade",
      pausedBy: "Ada",
    });
    const again = await scheduler.pauseSchedule("s");
    expect([again.pausedUntil, again.pauseReason, again.pausedBy]).toEqual([null, null, scheduler.identity]);
    const { pausedUntil, pauseReason, pausedBy } = await scheduler.unpauseSchedule("s");
    expect([pausedUntil, pauseReason, pausedBy]).toEqual([null, null, null]);
  });

  test("goes on at that very instant, as after unpauseSchedule, and says so once", async () => {
    const { scheduler, clock, fired, events } = await pausedSchedule(true);
    await clock.advance("PT5.499S");
    expect(fired).toEqual([0, 1, 2]);
    await clock.advance("PT0.001S");
    expect(fired).toEqual([0, 1, 2, 7]);
    await clock.advance("PT2S");
    expect(fired).toEqual([0, 1, 2, 7, 8, 9]);
    expect(events).toEqual([
      { type: "schedulePaused", taskId: "t", scheduleId: "s", by: "Ada", reason: "upgrade", untilMs: START_MS + 7500 },
      { type: "scheduleUnpaused", taskId: "t", scheduleId: "s", by: null },
    ]);
    const { paused, pausedUntil } = await scheduler.getSchedule("s");
    expect([paused, pausedUntil]).toEqual([false, null]);
    const { items } = await scheduler.getScheduleChanges("s", { order: "oldest" });
    expect(items.map(({ kind, by, before, after }) => [kind, by, before?.pauseReason, after?.pauseReason])).toEqual([
      ["added", scheduler.identity, undefined, null],
      ["paused", "Ada", null, "upgrade"],
      ["unpaused", null, "upgrade", null],
    ]);
    const explained = await scheduler.explain("s", at(4));
    expect([explained.verdict, explained.cause]).toMatchObject([
      "coalesced",
      { kind: "schedulePaused", by: "Ada", reason: "upgrade", until: at(7.5) },
    ]);
    expect(explained.text).toMatch(/was paused by Ada at .*00:00:02.*, until .*00:00:07/);
    expect(explained.text).toContain(": upgrade");
  });

  test("goes on in the first tick from then on, which makes up for what was missed", async () => {
    const { scheduler, clock, fired } = await pausedSchedule(false);
    await clock.advance("PT5S");
    const early = await scheduler.tick();
    expect([fired, secondsOf(early.nextWakeAt)]).toEqual([[2], 7.5]);
    await clock.advance("PT2S");
    await scheduler.tick();
    expect(fired).toEqual([2, 9]);
    expect((await scheduler.getSchedule("s")).paused).toBe(false);
  });

  test("wakes a tick that stays", async () => {
    const { scheduler, clock, fired } = await pausedSchedule(false);
    const ticking = scheduler.tick({ stay: "PT6S" });
    await clock.advance("PT6S");
    await ticking;
    expect(fired).toEqual([2, 7, 8]);
  });

  test("goes on when somebody else set the end, and earlier or later when the end is changed", async () => {
    const shared = {
      clock: new VirtualClock(START),
      dataStore: new MemoryDataStore(),
      eventBroker: new LocalEventBroker(),
    };
    const { scheduler, clock } = setUp({ ...shared, maxIdle: "PT1H" });
    const other = setUp(shared).scheduler;
    const fired: (number | null)[] = [];
    scheduler.task("t", (_, { job }) => void fired.push(secondsOf(job.scheduledFireTime)));
    await scheduler.start();
    await other.addSchedule("t", everySecond(), { id: "s", paused: true });
    await clock.advance("PT1S");
    await other.pauseSchedule("s", { until: at(100) });
    await clock.advance("PT1S");
    await other.pauseSchedule("s", { until: at(5) });
    await clock.advance("PT2S");
    await other.pauseSchedule("s", { until: at(8) });
    await clock.advance("PT5S");
    expect(fired).toEqual([8, 9]);
  });

  test("is unpaused by hand before its end, and does not end twice", async () => {
    const { scheduler, clock, events } = await pausedSchedule(true);
    await clock.advance("PT1S");
    await scheduler.unpauseSchedule("s", { by: "Alan" });
    await clock.advance("PT10S");
    expect(events.slice(1)).toEqual([{ type: "scheduleUnpaused", taskId: "t", scheduleId: "s", by: "Alan" }]);
  });

  test("raises nothing overdue for what was missed", async () => {
    const { scheduler, clock } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "s", paused: true, expectStartWithin: "PT0.2S" });
    await scheduler.pauseSchedule("s", { until: at(5) });
    const overdue: string[] = [];
    scheduler.subscribe("occurrenceOverdue", ({ type }) => void overdue.push(type));
    await clock.advance("PT10S");
    await scheduler.tick();
    await clock.advance("PT0.1S");
    expect(overdue).toEqual([]);
  });

  test("takes an end in the future, a reason of 500 characters at most, and nothing else", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    const wrong: [object, string][] = [
      [{ until: START }, "pauseSchedule(): until must be later than now, 2030-01-01T00:00:00Z"],
      [{ until: "soon" }, "until"],
      [{ reason: "" }, "reason"],
      [{ reason: "x".repeat(501) }, "reason"],
      [{ to: at(1) }, "until"],
      [{ resumeFrom: "now" }, "resumeFrom"],
    ];
    for (const [options, named] of wrong) {
      const error = await rejectionOf(scheduler.pauseSchedule("s", options));
      expect(error).toBeInstanceOf(OptionsError);
      expect((error as Error).message).toContain(named);
    }
    expect((await scheduler.getSchedule("s")).paused).toBe(false);
    await expect(scheduler.unpauseTask("t", { reason: "over" } as object)).rejects.toThrow(OptionsError);
  });
});

describe("many schedules", () => {
  test("are paused until an instant, and all go on then", async () => {
    const { scheduler, clock } = setUp();
    scheduler.task("t", { maxRunningJobs: null }, () => {});
    const adding = Array.from({ length: 250 }, (_, index) =>
      scheduler.addSchedule("t", "0 0 1 1 *", { id: `s${String(index).padStart(3, "0")}` }),
    );
    await Promise.all(adding);
    await scheduler.start();
    const report = await scheduler.pauseSchedules({ all: true }, { until: at(60), reason: "upgrade", by: "Ada" });
    expect(report.paused).toBe(250);
    const events = pauseEvents(scheduler);
    await clock.advance("PT59S");
    expect((await scheduler.getSchedules({ paused: true, limit: 1000 })).items).toHaveLength(250);
    await clock.advance("PT1S");
    expect((await scheduler.getSchedules({ paused: true, limit: 1000 })).items).toHaveLength(0);
    expect(events).toHaveLength(250);
  });
});

describe("a task that is paused until an instant", () => {
  test("starts its jobs at that instant, and a key of it at its own", async () => {
    const { scheduler, clock } = setUp();
    const began: [unknown, number][] = [];
    scheduler.task(
      "t",
      { maxRunningJobs: null },
      (payload) => void began.push([payload, (clock.now() - START_MS) / 1000]),
    );
    await scheduler.start();
    const events = pauseEvents(scheduler);
    const task = await scheduler.pauseTask("t", { until: at(5), reason: "upgrade", by: "Ada" });
    expect([task.pausedUntil, task.pauseReason, task.pausedBy]).toEqual([at(5), "upgrade", "Ada"]);
    await scheduler.pauseTask("t", { key: "k", until: at(7) });
    await scheduler.addJob("t", { payload: 1 });
    await scheduler.addJob("t", { payload: 2, concurrencyKey: "k" });
    const { pausedTasks } = await scheduler.health();
    expect(pausedTasks).toEqual([
      { taskId: "t", key: null, until: at(5), reason: "upgrade", by: "Ada" },
      { taskId: "t", key: "k", until: at(7), reason: null, by: scheduler.identity },
    ]);
    await clock.advance("PT10S");
    expect(began).toEqual([
      [1, 5],
      [2, 7],
    ]);
    const ofTask = { taskId: "t", concurrencyKey: null };
    expect(events).toEqual([
      { type: "taskPaused", ...ofTask, by: "Ada", reason: "upgrade", untilMs: START_MS + 5000 },
      {
        type: "taskPaused",
        taskId: "t",
        concurrencyKey: "k",
        by: scheduler.identity,
        reason: null,
        untilMs: START_MS + 7000,
      },
      { type: "taskUnpaused", ...ofTask, by: null },
      { type: "taskUnpaused", taskId: "t", concurrencyKey: "k", by: null },
    ]);
  });

  test("starts them in the first tick from then on", async () => {
    const { scheduler, clock } = setUp();
    let runs = 0;
    scheduler.task("t", () => void runs++);
    await scheduler.addJob("t");
    await scheduler.pauseTask("t", { until: at(5) });
    const report = await scheduler.tick();
    expect([runs, secondsOf(report.nextWakeAt)]).toEqual([0, 5]);
    await clock.advance("PT5S");
    await scheduler.tick();
    expect(runs).toBe(1);
  });
});
