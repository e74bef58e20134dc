import { describe, expect, test } from "vitest";
import { currentJob } from "../../src/mod.ts";
import { drain } from "../../src/testing/mod.ts";
import { setUp } from "./support.ts";

describe("currentJob", () => {
  test("is null outside of jobs", () => {
    expect(currentJob()).toBeNull();
  });

  test("is the context of the job that calls, through everything it awaits, also beside others", async () => {
    const { scheduler, clock } = setUp();
    const seen: [string | undefined, string][] = [];
    const look = async (expected: string): Promise<void> => {
      await clock.yield();
      seen.push([currentJob()?.job.id, expected]);
    };
    const task = scheduler.task("t", { maxRunningJobs: null }, async (_, { job }) => {
      await look(job.id);
      await Promise.all([look(job.id), look(job.id)]);
    });
    await scheduler.addJobs(Array.from({ length: 5 }, () => ({ task })));
    await drain(scheduler);
    expect(seen).toHaveLength(15);
    for (const [found, expected] of seen) expect(found).toBe(expected);
    expect(currentJob()).toBeNull();
  });

  test("is the context that the handler gets", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", (_, context) => currentJob() === context);
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    expect((await scheduler.getJobResult(id))?.returnValue).toBe(true);
  });

  test("the context's parts may be taken out of it", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", (_, { job, attempt, fence, idempotencyKey, signal, progress, logger }) => {
      progress(1);
      logger.info("hello");
      return [job.id === idempotencyKey, attempt, fence, signal.aborted];
    });
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    expect((await scheduler.getJobResult(id))?.returnValue).toEqual([true, 1, 1, false]);
  });
});
