import { describe, expect, test } from "vitest";
import { DateTrigger, type JobContext, Scheduler } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { at, everySecond, START, secondsOf, setUp } from "./support.ts";

describe("the misfire grace time", () => {
  async function outcomesAfter(lateMs: number, grace: string | null | undefined, taskGrace: string | null = null) {
    const { scheduler, clock } = setUp();
    const task = scheduler.task("t", { misfireGraceTime: taskGrace }, () => {});
    const options = grace === undefined ? {} : { misfireGraceTime: grace };
    await scheduler.addSchedule(task, new DateTrigger(START), { id: "s", ...options });
    await clock.advance({ milliseconds: lateMs });
    await drain(scheduler);
    return (await scheduler.getJobResults()).items.map(({ outcome }) => outcome);
  }

  test("is unlimited by default", async () => {
    expect(await outcomesAfter(86_400_000, undefined)).toEqual(["success"]);
  });

  test("lets a job start up to its very end", async () => {
    expect(await outcomesAfter(10_000, "PT10S")).toEqual(["success"]);
  });

  test("ends a job that was not started by then as missedStartDeadline", async () => {
    expect(await outcomesAfter(10_001, "PT10S")).toEqual(["missedStartDeadline"]);
  });

  test("comes from the task where the schedule has none of its own", async () => {
    expect(await outcomesAfter(11_000, undefined, "PT10S")).toEqual(["missedStartDeadline"]);
  });

  test("null at the schedule overrides the task's", async () => {
    expect(await outcomesAfter(11_000, null, "PT10S")).toEqual(["success"]);
  });

  test("counts from the scheduled fire time with its jitter", async () => {
    const { scheduler, clock } = setUp();
    scheduler.task("t", () => {});
    const trigger = new DateTrigger(START);
    await scheduler.addSchedule("t", trigger, { maxJitter: "PT10S", misfireGraceTime: "PT5S" });
    await scheduler.tick();
    const job = (await scheduler.getJobs()).items[0];
    expect(secondsOf(job?.scheduledFireTime ?? null)).toBeCloseTo(5, 2);
    expect(secondsOf(job?.startDeadline ?? null)).toBeCloseTo(10, 2);
    expect(secondsOf(job?.fireTime ?? null)).toBe(0);
    await clock.advance("PT9S");
    expect((await scheduler.tick()).outcomes.success).toBe(1);
  });

  test("does not end a job that failed in time and is retried later", async () => {
    const { scheduler, clock } = setUp();
    let runs = 0;
    scheduler.task("t", { retry: { maxAttempts: 2, backoff: { initial: "PT1M", jitter: "none" } } }, () => {
      if (++runs === 1) throw new Error("first");
    });
    await scheduler.addSchedule("t", new DateTrigger(START), { misfireGraceTime: "PT1S" });
    await drain(scheduler);
    await clock.advance("PT1M");
    await drain(scheduler);
    expect((await scheduler.getJobResults()).items.map(({ outcome, attempts }) => [outcome, attempts])).toEqual([
      ["success", 2],
    ]);
  });

  test("records every skipped fire", async () => {
    const { scheduler, clock } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { coalesce: "all", misfireGraceTime: "PT1S" });
    await clock.advance("PT4S");
    const { outcomes } = await scheduler.tick();
    expect([outcomes.missedStartDeadline, outcomes.success]).toEqual([3, 2]);
  });

  test("startDeadline does the same for a job that is added directly", async () => {
    const { scheduler, clock } = setUp();
    const task = scheduler.task("t", () => {});
    const { id } = await scheduler.addJob(task, { startDeadline: at(5) });
    await clock.advance("PT6S");
    await drain(scheduler);
    expect(await scheduler.getJobResult(id)).toMatchObject({
      outcome: "missedStartDeadline",
      startedAt: null,
      attempts: 0,
    });
  });

  test("is kept by a job that had started in time and was put back when its scheduler stopped", async () => {
    const { scheduler, clock, store } = setUp();
    const hold = (_payload: unknown, { signal }: JobContext): Promise<void> =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const task = scheduler.task("t", { misfireGraceTime: { seconds: 10 } }, hold);
    await scheduler.addSchedule(task, new DateTrigger(START), { id: "s" });
    await scheduler.start();
    await clock.advance({ seconds: 5 });
    const stopped = scheduler.stop({ drainTimeout: { seconds: 1 } });
    await clock.advance({ seconds: 60 });
    await stopped;
    const next = new Scheduler({ dataStore: store, clock });
    next.task("t", () => {});
    await drain(next);
    expect((await next.getJobResults()).items.map(({ outcome }) => outcome)).toEqual(["success"]);
  });
});
