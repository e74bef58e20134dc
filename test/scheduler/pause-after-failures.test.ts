import { describe, expect, test } from "vitest";
import { MemoryDataStore, OptionsError, SkipRun, type TaskSettings } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { everySecond, rejectionOf, setUp } from "./support.ts";

/** A task whose runs fail while `fails` says so, and what it published about pauses. */
function failingTask(settings: TaskSettings<unknown> = {}) {
  const setup = setUp();
  const state = { fails: true, runs: 0 };
  setup.scheduler.task("t", settings, () => {
    state.runs++;
    if (state.fails) throw new Error("down");
  });
  const events: unknown[] = [];
  setup.scheduler.subscribe(["schedulePaused", "scheduleUnpaused"], (event) => {
    const { type, scheduleId } = event;
    events.push([type, scheduleId, event.by, event.type === "schedulePaused" ? event.reason : null]);
  });
  return { ...setup, state, events };
}

describe("a schedule with pauseAfterFailures", () => {
  test("is paused by the failure that reaches it, says why, and makes no more jobs", async () => {
    const { scheduler, clock, state, events } = failingTask();
    await scheduler.start();
    await scheduler.addSchedule("t", everySecond(), { id: "s", pauseAfterFailures: 3 });
    await clock.advance("PT10S");
    const shown = await scheduler.getSchedule("s");
    expect(state.runs).toBe(3);
    expect(shown.toJSON()).toMatchObject({
      paused: true,
      pausedUntil: null,
      pauseReason: "3 failures in a row",
      pausedBy: scheduler.identity,
      pauseAfterFailures: 3,
    });
    expect(events).toEqual([["schedulePaused", "s", scheduler.identity, "3 failures in a row"]]);
    const { items } = await scheduler.getScheduleChanges("s");
    expect(items[0]).toMatchObject({ kind: "paused", by: scheduler.identity });
  });

  test("counts anew after its end, and after a success", async () => {
    const { scheduler, clock, state } = failingTask({ pauseAfterFailures: 2 });
    await scheduler.start();
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await clock.advance("PT5S");
    expect(state.runs).toBe(2);
    await scheduler.unpauseSchedule("s", { resumeFrom: "now" });
    await clock.advance("PT0.5S");
    expect([state.runs, (await scheduler.getSchedule("s")).paused]).toEqual([3, false]);
    state.fails = false;
    await clock.advance("PT1S");
    state.fails = true;
    await clock.advance("PT1S");
    expect([state.runs, (await scheduler.getSchedule("s")).paused]).toEqual([5, false]);
    await clock.advance("PT1S");
    expect([state.runs, (await scheduler.getSchedule("s")).paused]).toEqual([6, true]);
  });

  test("counts in ticks, over the schedulers of one store", async () => {
    const clock = new VirtualClock("2030-01-01T00:00:00Z");
    const dataStore = new MemoryDataStore();
    const [one, two] = ["one", "two"].map((identity) => setUp({ clock, dataStore, identity }).scheduler);
    for (const scheduler of [one, two]) {
      scheduler?.task("t", { pauseAfterFailures: 2 }, () => Promise.reject(new Error("down")));
    }
    await one?.addSchedule("t", everySecond(), { id: "s" });
    await one?.tick();
    await clock.advance("PT1S");
    await two?.tick();
    expect(await one?.getSchedule("s")).toMatchObject({ paused: true, pausedBy: "two" });
  });

  test("counts no run that was asked for, skipped, or retried and then succeeded", async () => {
    const { scheduler, clock } = setUp();
    const outcomes = [new Error("first attempt"), null, new SkipRun("nothing to do")];
    scheduler.task(
      "t",
      { retry: { maxAttempts: 2, backoff: { initial: { milliseconds: 1 } } }, pauseAfterFailures: 1 },
      (_, { job }) => {
        const outcome = job.scheduledFireTime === null ? new Error("asked for") : outcomes.shift();
        if (outcome instanceof Error) throw outcome;
      },
    );
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await scheduler.runScheduleNow("s");
    for (let ticks = 0; ticks < 3; ticks++) {
      await scheduler.tick();
      await clock.advance("PT1S");
    }
    expect((await scheduler.getSchedule("s")).paused).toBe(false);
  });

  test("takes 1 to 1,000, and null for never, also where its task says something else", async () => {
    const { scheduler } = failingTask({ pauseAfterFailures: 2 });
    const refused: unknown[] = [0, 1001, 1.5, -1, "2", Number.NaN];
    for (const pauseAfterFailures of refused) {
      const options = { id: "x", pauseAfterFailures } as { id: string; pauseAfterFailures: number };
      expect(await rejectionOf(scheduler.addSchedule("t", everySecond(), options))).toBeInstanceOf(OptionsError);
    }
    const of = async (id: string) => (await scheduler.getSchedule(id)).pauseAfterFailures;
    await scheduler.addSchedule("t", everySecond(), { id: "never", pauseAfterFailures: null });
    await scheduler.addSchedule("t", everySecond(), { id: "task's" });
    expect([await of("never"), await of("task's")]).toEqual([null, 2]);
    await scheduler.updateSchedule("never", { pauseAfterFailures: 7 });
    await scheduler.updateSchedule("task's", { pauseAfterFailures: null });
    expect([await of("never"), await of("task's")]).toEqual([7, null]);
    expect((await scheduler.getTasks())[0]?.pauseAfterFailures).toBe(2);
  });
});
