import { describe, expect, test } from "vitest";
import { endsWorkWithRequests } from "../../src/core/host.ts";
import { DateTrigger, InlineExecutor, IntervalTrigger, StoreUnavailableError } from "../../src/mod.ts";
import { CLEANUP_BATCH } from "../../src/scheduler/options/limits.ts";
import { drain, VirtualClock } from "../../src/testing/mod.ts";
import { at, everySecond, heldHandler, secondsOf, setUp } from "./support.ts";

const NO_OUTCOMES = {
  success: 0,
  error: 0,
  missedStartDeadline: 0,
  deserializationFailed: 0,
  skipped: 0,
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
      nextWakeAtMs: at(200).epochMilliseconds,
      exhausted: false,
      roundTrips: 0,
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
      nextWakeAtMs: null,
      exhausted: false,
      roundTrips: 0,
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

  test("begins nothing once a handler has taken all the time, and says that there is more", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", handler);
    await scheduler.addJobs([{ task }, { task }]);
    const ticking = scheduler.tick({ maxDuration: "PT10S" });
    await clock.advance("PT10S");
    held[0]?.finish("");
    expect(await ticking).toMatchObject({ jobsRun: 1, outcomes: { success: 1 }, exhausted: true });
  });

  test("keeps the leases of jobs that take longer than a lease", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    await scheduler.addJob(scheduler.task("t", handler));
    const ticking = scheduler.tick({ maxDuration: "PT11M" });
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

  test("is refused on a scheduler that runs; start waits for it", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    await scheduler.addJob(scheduler.task("t", handler));
    const ticking = scheduler.tick();
    await clock.settle();
    await expect(scheduler.start()).rejects.toMatchObject({ code: "schedulerState" });
    held[0]?.finish("");
    await ticking;
    await scheduler.start();
    await expect(scheduler.tick()).rejects.toMatchObject({ code: "schedulerState" });
  });

  test("is refused while another one is under way, unless the runtime may have ended that one", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { maxRunningJobs: null }, handler);
    await scheduler.addJob(task);
    const ticking = scheduler.tick();
    await clock.settle();
    if (endsWorkWithRequests()) {
      await scheduler.addJob(task);
      const beside = scheduler.tick();
      while (held.length < 2) await clock.settle();
      held[1]?.finish("");
      expect(await beside).toMatchObject({ jobsRun: 1, outcomes: { success: 1 } });
    } else {
      await expect(scheduler.tick()).rejects.toMatchObject({ code: "schedulerState" });
    }
    held[0]?.finish("");
    expect(await ticking).toMatchObject({ jobsRun: 1, outcomes: { success: 1 } });
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

describe("a tick after a commit that failed", () => {
  test("ends, also when the task of its jobs was removed meanwhile", async () => {
    const { scheduler, store } = setUp();
    const commit = store.commit.bind(store);
    let commits = 0;
    store.commit = async (request) => {
      if (++commits > 100) throw new Error("the tick does not end");
      const report = await commit(request);
      // The answer to the first commit is lost.
      if (commits === 1) throw new StoreUnavailableError("down");
      return report;
    };
    scheduler.task("a", () => {});
    scheduler.task("b", () => {});
    await scheduler.addSchedule("a", everySecond(), { id: "a" });
    await scheduler.addSchedule("b", everySecond(), { id: "b" });
    await expect(scheduler.tick()).rejects.toBeInstanceOf(StoreUnavailableError);
    await scheduler.removeSchedule("a");
    for (const { id } of (await scheduler.getJobs({ taskId: "a" })).items) await scheduler.cancelJob(id);
    await scheduler.removeTask("a").catch(() => {});
    const report = await scheduler.tick({ maxDuration: "PT1S" });
    // What the first commit leased runs too.
    expect(report).toMatchObject({ jobsRun: 2, exhausted: false });
    expect(commits).toBeLessThan(10);
  });

  test("ends, also when no task is left", async () => {
    const { scheduler, store } = setUp();
    const commit = store.commit.bind(store);
    let commits = 0;
    store.commit = async (request) => {
      if (++commits > 100) throw new Error("the tick does not end");
      if (commits === 1) throw new StoreUnavailableError("down");
      return commit(request);
    };
    const task = scheduler.task("a", () => {});
    await scheduler.addJob(task);
    await expect(scheduler.tick()).rejects.toBeInstanceOf(StoreUnavailableError);
    for (const { id } of (await scheduler.getJobs()).items) await scheduler.cancelJob(id);
    await scheduler.removeTask("a");
    expect(await scheduler.tick({ maxDuration: "PT1S" })).toMatchObject({ jobsRun: 0, exhausted: false });
    expect(commits).toBeLessThan(10);
  });
});

describe("a tick that cannot record an outcome", () => {
  test("fails, and tries once more before it ends, because no other tick may follow", async () => {
    const { scheduler, store } = setUp();
    const commit = store.commit.bind(store);
    let commits = 0;
    store.commit = (request) => (++commits === 2 ? Promise.reject(new StoreUnavailableError("down")) : commit(request));
    const { id } = await scheduler.addJob(scheduler.task("t", () => "done"));
    await expect(scheduler.tick()).rejects.toBeInstanceOf(StoreUnavailableError);
    expect((await scheduler.getJobResult(id))?.outcome).toBe("success");
    expect(await scheduler.tick()).toMatchObject({ jobsRun: 0, exhausted: false });
  });
});

describe("the clean-up of ticks", () => {
  /** Results that one tick leaves, and the clean-ups that the store was asked for. */
  async function tickOnce(cleanupInterval: string | null = "PT15M") {
    const { scheduler, store, clock } = setUp({ cleanupInterval });
    const limits: number[] = [];
    const cleanup = store.cleanup.bind(store);
    store.cleanup = (request) => {
      limits.push(request.limit);
      return cleanup(request);
    };
    const task = scheduler.task("t", { maxRunningJobs: null, resultExpirationTime: "PT10M" }, () => {});
    await scheduler.addSchedule(task, new DateTrigger(at(0)), { id: "once" });
    await scheduler.tick();
    return { scheduler, clock, task, limits };
  }

  test("removes expired results once in a while, and schedules that have ended", async () => {
    const { scheduler, clock, limits } = await tickOnce();
    const removed: string[] = [];
    scheduler.subscribe("scheduleRemoved", ({ scheduleId }) => void removed.push(scheduleId));
    await clock.advance("PT12M");
    await scheduler.tick();
    expect([limits.length, removed]).toEqual([0, []]);
    await clock.advance("PT3M");
    await scheduler.tick();
    await scheduler.tick();
    expect([limits.length, removed]).toEqual([1, ["once"]]);
  });

  test("takes one bounded commit in a tick, and goes on with the next", async () => {
    const { scheduler, clock, task, limits } = await tickOnce();
    await scheduler.addJobs(Array.from({ length: CLEANUP_BATCH + 10 }, () => ({ task })));
    await scheduler.tick();
    await clock.advance("PT20M");
    for (let left = 4; left > 0; left--) await scheduler.tick();
    expect(limits).toEqual([CLEANUP_BATCH, CLEANUP_BATCH]);
  });

  test("does not fail the tick, and is tried again by the next", async () => {
    const { scheduler, store, clock, log } = setUp();
    const cleanup = store.cleanup.bind(store);
    store.cleanup = () => Promise.reject(new StoreUnavailableError("down"));
    const task = scheduler.task("t", { resultExpirationTime: "PT1S" }, () => {});
    await scheduler.addJob(task);
    await scheduler.tick();
    await clock.advance("PT20M");
    expect(await scheduler.tick()).toMatchObject({ jobsRun: 0, exhausted: false });
    expect(log.map(({ message }) => message)).toEqual([expect.stringMatching(/clean-up failed/)]);
    let removed = 0;
    store.cleanup = async (request) => {
      const report = await cleanup(request);
      removed += report.removedResults;
      return report;
    };
    await scheduler.tick();
    expect(removed).toBe(1);
  });

  test("never happens with a cleanupInterval of null", async () => {
    const { scheduler, clock, limits } = await tickOnce(null);
    await clock.advance("PT20M");
    await scheduler.tick();
    expect(limits).toEqual([]);
  });
});
