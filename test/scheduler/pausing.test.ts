import { describe, expect, test } from "vitest";
import { MemoryDataStore } from "../../src/mod.ts";
import type { CommitReport, CommitRequest } from "../../src/stores/data-store.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { at, everySecond, heldHandler, START, secondsOf, setUp } from "./support.ts";

class CommitCounter extends MemoryDataStore {
  commits = 0;

  override commit(request: CommitRequest): Promise<CommitReport> {
    this.commits++;
    return super.commit(request);
  }
}

class SleepCounter extends VirtualClock {
  sleeps = 0;

  override sleep(untilMs: number, signal?: AbortSignal): Promise<void> {
    this.sleeps++;
    return super.sleep(untilMs, signal);
  }
}

describe("a paused schedule", () => {
  async function pausedFor(resume: Parameters<ReturnType<typeof setUp>["scheduler"]["unpauseSchedule"]>[1]) {
    const { scheduler, clock } = setUp();
    const fired: (number | null)[] = [];
    scheduler.task("t", (_, { job }) => {
      fired.push(secondsOf(job.scheduledFireTime));
    });
    await scheduler.start();
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await clock.advance("PT2S");
    await scheduler.pauseSchedule("s");
    await clock.advance("PT7.5S");
    const whilePaused = [...fired];
    await scheduler.unpauseSchedule("s", resume);
    await clock.advance("PT2S");
    return { whilePaused, resumed: fired.slice(whilePaused.length) };
  }

  test("makes no jobs, and without resumeFrom keeps its next fire time, which may misfire", async () => {
    expect(await pausedFor(undefined)).toEqual({ whilePaused: [0, 1, 2], resumed: [9, 10, 11] });
  });

  test("resumed from now drops what it missed", async () => {
    expect(await pausedFor({ resumeFrom: "now" })).toEqual({ whilePaused: [0, 1, 2], resumed: [10, 11] });
  });

  test("resumed from an instant begins with the first fire time at or after it", async () => {
    expect(await pausedFor({ resumeFrom: at(11) })).toEqual({ whilePaused: [0, 1, 2], resumed: [11] });
    expect(await pausedFor({ resumeFrom: "2030-01-01T00:00:05Z" })).toMatchObject({ resumed: [9, 10, 11] });
  });

  test("never moves back to before its next fire time", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "s", paused: true });
    await scheduler.unpauseSchedule("s", { resumeFrom: "2020-01-01T00:00:00Z" });
    expect(secondsOf((await scheduler.getSchedule("s")).nextFireTime)).toBe(0);
  });

  test("may be added paused, previewed, and run by hand", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => "by hand");
    const schedule = await scheduler.addSchedule("t", everySecond(), { id: "s", paused: true });
    expect(schedule.paused).toBe(true);
    const { id } = await scheduler.runScheduleNow("s");
    const report = await scheduler.tick();
    expect([report.schedulesProcessed, report.jobsRun]).toEqual([0, 1]);
    expect(await scheduler.getJobResult(id)).toMatchObject({ scheduleId: "s", returnValue: "by hand" });
    expect(await scheduler.previewSchedule("s", { limit: 2 })).toHaveLength(2);
  });

  test("is found by the paused filter", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "a" });
    await scheduler.addSchedule("t", everySecond(), { id: "b", paused: true });
    const ids = async (paused: boolean) => (await scheduler.getSchedules({ paused })).items.map(({ id }) => id);
    expect([await ids(true), await ids(false)]).toEqual([["b"], ["a"]]);
  });

  test("that does not exist is an error", async () => {
    const { scheduler } = setUp();
    await expect(scheduler.pauseSchedule("no")).rejects.toMatchObject({ code: "scheduleLookup", id: "no" });
    await expect(scheduler.unpauseSchedule("no")).rejects.toMatchObject({ code: "scheduleLookup" });
  });
});

describe("a paused scheduler", () => {
  test("neither fires nor starts jobs until it is resumed; running jobs go on", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const fired: (number | null)[] = [];
    scheduler.task("tick", (_, { job }) => {
      fired.push(secondsOf(job.scheduledFireTime));
    });
    const slow = scheduler.task("slow", handler);
    await scheduler.start();
    await scheduler.addSchedule("tick", everySecond(), { id: "s" });
    const { id } = await scheduler.addJob(slow);
    await clock.advance("PT1S");
    scheduler.pause();
    expect(scheduler.state).toBe("paused");
    await scheduler.addJob("tick");
    held[0]?.finish("went on");
    await clock.advance("PT5S");
    expect(fired).toEqual([0, 1]);
    expect((await scheduler.getJobResult(id))?.returnValue).toBe("went on");
    scheduler.resume();
    await clock.settle();
    expect(fired).toContain(6);
    expect(fired).toContain(null);
  });

  test("takes no commit to add a job, because no commit would lease it", async () => {
    const store = new CommitCounter();
    const { scheduler, clock } = setUp({ dataStore: store });
    let runs = 0;
    scheduler.task("t", () => {
      runs++;
    });
    await scheduler.start({ paused: true });
    await clock.settle();
    await scheduler.addJob("t");
    await clock.settle();
    expect([store.commits, runs]).toEqual([0, 0]);
    scheduler.resume();
    await clock.settle();
    expect(runs).toBe(1);
  });

  test("sleeps on while jobs and schedules are added", async () => {
    const clock = new SleepCounter(START);
    const { scheduler } = setUp({ clock });
    scheduler.task("t", () => {});
    await scheduler.start({ paused: true });
    await clock.settle();
    const before = clock.sleeps;
    await scheduler.addJob("t");
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await clock.settle();
    expect(clock.sleeps).toBe(before);
  });

  test("may be started paused", async () => {
    const { scheduler, clock } = setUp();
    let runs = 0;
    scheduler.task("t", () => {
      runs++;
    });
    await scheduler.addJob("t");
    await scheduler.start({ paused: true });
    await clock.advance("PT5M");
    expect([scheduler.state, runs]).toEqual(["paused", 0]);
    scheduler.resume();
    await clock.settle();
    expect([scheduler.state, runs]).toEqual(["started", 1]);
  });

  test("pausing and resuming twice changes nothing", async () => {
    const { scheduler } = setUp();
    await scheduler.start();
    scheduler.pause();
    scheduler.pause();
    scheduler.resume();
    scheduler.resume();
    expect(scheduler.state).toBe("started");
  });

  test("a scheduler that does not run can be neither paused nor resumed", () => {
    const { scheduler } = setUp();
    expect(() => scheduler.pause()).toThrow(expect.objectContaining({ code: "schedulerState" }));
    expect(() => scheduler.resume()).toThrow(expect.objectContaining({ code: "schedulerState" }));
  });
});
