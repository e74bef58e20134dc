import { describe, expect, test } from "vitest";
import type { Job } from "../../src/mod.ts";
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

  test("lets a handler that ignores its signal hold its slot for a lease, and then tells of it", async () => {
    const { scheduler, clock, log } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { timeout: "PT10S" }, handler);
    await scheduler.start();
    const [{ id }] = (await scheduler.addJobs([{ task }, { task }])) as [Job, Job];
    await clock.advance("PT69S");
    expect([held.length, log.filter(({ level }) => level === "error")]).toEqual([1, []]);
    await clock.advance("PT1S");
    expect(held).toHaveLength(2);
    const told = log.filter(({ message }) => message.includes("abandonAfter"));
    expect(told.map(({ level, message }) => [level, message])).toEqual([
      ["error", expect.stringMatching(new RegExp(`job ${id} of task "t" goes on without its handler.* for 60 s`))],
    ]);
  });

  test("lets the next attempt wait until the one before has returned", async () => {
    const { scheduler, clock, log } = setUp();
    const { handler, held } = heldHandler();
    const retry = { maxAttempts: 2, backoff: { initial: "PT0S" } };
    const task = scheduler.task("t", { timeout: "PT1S", retry }, handler);
    await scheduler.start();
    await scheduler.addJobs([{ task }, { task }]);
    await clock.advance("PT40S");
    expect(held).toHaveLength(1);
    held[0]?.finish("late");
    await clock.settle();
    expect(held).toHaveLength(2);
    expect(log.some(({ message }) => message.includes("abandonAfter"))).toBe(false);
  });

  test.each([
    ["PT2S", 2],
    ["PT0S", 0],
    ["PT5M", 300],
  ])("abandons such a handler after the task's abandonAfter, %s", async (abandonAfter, seconds) => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { timeout: "PT10S", abandonAfter }, handler);
    await scheduler.start();
    const { id } = await scheduler.addJob(task);
    await clock.advance({ milliseconds: 10_000 + seconds * 1000 - 1 });
    expect(await scheduler.getJobResult(id)).toBeNull();
    await clock.advance("PT0.001S");
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "error" });
    expect(held).toHaveLength(1);
    expect((await scheduler.getTask("t")).abandonAfter?.total("seconds")).toBe(seconds);
  });

  test("gives a stop its own time", async () => {
    const { scheduler, clock } = setUp();
    const task = scheduler.task("t", { timeout: "PT1S", abandonAfter: "PT1H" }, heldHandler().handler);
    await scheduler.start();
    await scheduler.addJob(task);
    await clock.advance("PT2S");
    const stopping = scheduler.stop({ drainTimeout: "PT1S" });
    await clock.advance("PT6S");
    await stopping;
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
    await clock.advance("PT61S");
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
