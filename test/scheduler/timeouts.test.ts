import { describe, expect, test } from "vitest";
import { drain } from "../../src/testing/mod.ts";
import { heldHandler, rejectionOf, setUp } from "./support.ts";

describe("a timeout", () => {
  test("aborts the signal with a JobTimeoutError and records it as the job's error", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { timeout: "PT10S" }, handler);
    await scheduler.start();
    const { id } = await scheduler.addJob(task);
    await clock.advance("PT9.999S");
    expect(held[0]?.context.signal.aborted).toBe(false);
    await clock.advance("PT0.001S");
    expect(held[0]?.context.signal.reason).toMatchObject({ code: "jobTimeout" });
    held[0]?.fail(new Error("aborted"));
    await clock.settle();
    const result = await scheduler.getJobResult(id);
    expect(result?.outcome).toBe("error");
    expect(result?.error).toMatchObject({ code: "jobTimeout", name: "JobTimeoutError" });
  });

  test("does not let a handler that ignores its signal hold its slot for ever", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { timeout: "PT10S" }, handler);
    await scheduler.start();
    await scheduler.addJobs([{ task }, { task }]);
    await clock.advance("PT14S");
    expect(held).toHaveLength(1);
    await clock.advance("PT1S");
    expect(held).toHaveLength(2);
  });

  test("counts a value that comes in spite of it as too late", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { timeout: "PT10S" }, handler);
    await scheduler.start();
    const { id } = await scheduler.addJob(task);
    await clock.advance("PT11S");
    held[0]?.finish("late");
    await clock.settle();
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "error", returnValue: undefined });
  });

  test("is retried as the task's retry says", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task(
      "t",
      { timeout: "PT1S", retry: { maxAttempts: 2, backoff: { initial: "PT0S" } } },
      handler,
    );
    await scheduler.start();
    await scheduler.addJob(task);
    await clock.advance("PT1S");
    held[0]?.fail(new Error("aborted"));
    await clock.settle();
    expect(held.map(({ context }) => context.attempt)).toEqual([1, 2]);
  });

  test("rejects runJob with a JobTimeoutError", async () => {
    const { scheduler, clock } = setUp();
    const { handler } = heldHandler();
    const task = scheduler.task("t", { timeout: "PT1S" }, handler);
    await scheduler.start();
    const running = rejectionOf(scheduler.runJob(task));
    await clock.advance("PT10S");
    expect(await running).toMatchObject({ code: "jobTimeout" });
  });

  test("of the task overrides the default, and null lifts it", async () => {
    const { scheduler, clock } = setUp({ taskDefaults: { timeout: "PT1S" } });
    const { handler, held } = heldHandler();
    await scheduler.addJobs([
      { task: scheduler.task("default", handler) },
      { task: scheduler.task("own", { timeout: "PT5S" }, handler) },
      { task: scheduler.task("none", { timeout: null }, handler) },
    ]);
    await scheduler.start();
    await clock.advance("PT2S");
    const abortedAfter2 = held.map(({ context }) => context.signal.aborted);
    await clock.advance("PT1H");
    expect([abortedAfter2, held.map(({ context }) => context.signal.aborted)]).toEqual([
      [true, false, false],
      [true, true, false],
    ]);
  });

  test("is measured in time that passes, when the clock is set back meanwhile", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { timeout: "PT10S" }, handler);
    await scheduler.start();
    await scheduler.addJob(task);
    await clock.settle();
    await clock.jumpTo("2029-12-31T00:00:00Z");
    expect(held[0]?.context.signal.aborted).toBe(false);
    await clock.advance("PT10S");
    expect(held[0]?.context.signal.aborted).toBe(true);
  });

  test("leaves a job that ended in time alone", async () => {
    const { scheduler, clock } = setUp();
    const task = scheduler.task("t", { timeout: "PT10S" }, () => "in time");
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    await clock.advance("PT1H");
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "success", returnValue: "in time" });
    expect(clock.sleeperCount).toBe(0);
  });
});
