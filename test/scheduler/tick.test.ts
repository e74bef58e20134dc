import { describe, expect, test } from "vitest";
import { DateTrigger, InlineExecutor, IntervalTrigger } from "../../src/mod.ts";
import { drain, VirtualClock } from "../../src/testing/mod.ts";
import { at, everySecond, heldHandler, secondsOf, setUp } from "./support.ts";

const NO_OUTCOMES = {
  success: 0,
  error: 0,
  missedStartDeadline: 0,
  deserializationFailed: 0,
  cancelled: 0,
  abandoned: 0,
};

describe("tick", () => {
  test("does what is due and tells when to come again", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    await scheduler.addSchedule(task, new IntervalTrigger({ minutes: 5 }));
    await scheduler.addJob(task, { runAt: at(200) });
    expect(await scheduler.tick()).toEqual({
      schedulesProcessed: 1,
      jobsAdded: 1,
      jobsRun: 1,
      outcomes: { ...NO_OUTCOMES, success: 1 },
      nextWakeAt: at(200),
      exhausted: false,
    });
  });

  test("of a scheduler with nothing to do reports nothing", async () => {
    const { scheduler } = setUp();
    expect(await scheduler.tick()).toEqual({
      schedulesProcessed: 0,
      jobsAdded: 0,
      jobsRun: 0,
      outcomes: NO_OUTCOMES,
      nextWakeAt: null,
      exhausted: false,
    });
  });

  test("runs the jobs of a task one after the other where its limit says so", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    await scheduler.addJobs(Array.from({ length: 5 }, () => ({ task })));
    expect(await scheduler.tick()).toMatchObject({ jobsRun: 5, exhausted: false });
  });

  test("runs what its jobs add", async () => {
    const { scheduler } = setUp();
    scheduler.task("child", () => {});
    const parent = scheduler.task("parent", (_, context) => context.scheduler.addJob("child").then(() => {}));
    await scheduler.addJob(parent);
    expect((await scheduler.tick()).jobsRun).toBe(2);
  });

  test("starts at most maxJobs and says that there is more", async () => {
    const { scheduler, clock } = setUp();
    const task = scheduler.task("t", () => {});
    await scheduler.addJobs(Array.from({ length: 5 }, () => ({ task })));
    expect(await scheduler.tick({ maxJobs: 2 })).toMatchObject({
      jobsRun: 2,
      exhausted: true,
      nextWakeAt: clock.instant,
    });
    expect(await scheduler.tick({ maxJobs: 3 })).toMatchObject({ jobsRun: 3, exhausted: false, nextWakeAt: null });
  });

  test("begins nothing after maxDuration, ends what it began, and says that there is more", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", handler);
    await scheduler.addJobs([{ task }, { task }]);
    const ticking = scheduler.tick({ maxDuration: "PT10S" });
    await clock.advance("PT25S");
    held[0]?.finish("");
    expect(await ticking).toMatchObject({ jobsRun: 1, outcomes: { success: 1 }, exhausted: true });
  });

  test("keeps the leases of jobs that take longer than a lease", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    await scheduler.addJob(scheduler.task("t", handler));
    const ticking = scheduler.tick();
    await clock.advance("PT10M");
    held[0]?.finish("");
    expect((await ticking).outcomes.success).toBe(1);
  });

  test("begins nothing once its signal is aborted", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    await scheduler.addSchedule(task, everySecond());
    await scheduler.addJob(task);
    const report = await scheduler.tick({ signal: AbortSignal.abort() });
    expect(report).toMatchObject({ schedulesProcessed: 0, jobsRun: 0, exhausted: true });
  });

  test("tells when a job that was put off or failed is due again", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task(
      "t",
      { retry: { maxAttempts: 2, backoff: { initial: "PT30S", jitter: "none" } } },
      () => {
        throw new Error("no");
      },
    );
    await scheduler.addJob(task);
    expect(secondsOf((await scheduler.tick()).nextWakeAt)).toBe(30);
  });

  test("is refused while another one is under way, and on a scheduler that runs; start waits for it", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    await scheduler.addJob(scheduler.task("t", handler));
    const ticking = scheduler.tick();
    await clock.settle();
    await expect(scheduler.tick()).rejects.toMatchObject({ code: "schedulerState" });
    await expect(scheduler.start()).rejects.toMatchObject({ code: "schedulerState" });
    held[0]?.finish("");
    await ticking;
    await scheduler.start();
    await expect(scheduler.tick()).rejects.toMatchObject({ code: "schedulerState" });
  });

  test("opens the executors first", async () => {
    const inline = new InlineExecutor();
    let opened = 0;
    inline.open = async () => void opened++;
    const { scheduler } = setUp({ executors: { inline } });
    await scheduler.tick();
    expect(opened).toBe(1);
  });

  test("processes more schedules than fit into one commit", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", { maxRunningJobs: null }, () => {});
    for (let index = 0; index < 450; index++) await scheduler.addSchedule("t", new DateTrigger(at(0)));
    expect(await scheduler.tick()).toMatchObject({ schedulesProcessed: 450, jobsAdded: 450, jobsRun: 450 });
  });

  test("drain ticks until nothing is due", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    await scheduler.addJob(task);
    expect((await drain(scheduler)).map(({ jobsRun }) => jobsRun)).toEqual([1]);
  });

  test("runs what a client whose clock is ahead has just added, and asks to be called for it", async () => {
    const ahead = setUp({ clock: new VirtualClock(at(0.3).toString()) });
    const behind = setUp({ dataStore: ahead.store });
    const { id } = await ahead.scheduler.addJob(ahead.scheduler.task("t", () => {}));
    behind.scheduler.task("t", { maxRunningJobs: 1 }, () => {});
    expect(await behind.scheduler.tick()).toMatchObject({ jobsRun: 1, exhausted: false });
    expect((await behind.scheduler.getJobResult(id))?.outcome).toBe("success");
    await ahead.scheduler.addJobs([{ task: "t" }, { task: "t" }]);
    const { nextWakeAt, exhausted } = await behind.scheduler.tick({ maxJobs: 1 });
    expect([secondsOf(nextWakeAt), exhausted]).toEqual([0, true]);
  });
});
