import { describe, expect, test } from "vitest";
import { drain } from "../../src/testing/mod.ts";
import { heldHandler, recordEvents, setUp } from "./support.ts";

describe("an idempotency key", () => {
  test("makes adding again return the unfinished job that has it", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", (_: number) => {});
    const first = await scheduler.addJob(task, { payload: 1, idempotencyKey: "k" });
    const seen = recordEvents(scheduler);
    const second = await scheduler.addJob(task, { payload: 2, idempotencyKey: "k" });
    expect([second.id, second.payload, seen]).toEqual([first.id, 1, []]);
  });

  test("holds while the job runs, and is free once it has ended", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", handler);
    await scheduler.start();
    const first = await scheduler.addJob(task, { idempotencyKey: "k" });
    await clock.settle();
    expect((await scheduler.addJob(task, { idempotencyKey: "k" })).id).toBe(first.id);
    held[0]?.finish("");
    await clock.settle();
    expect((await scheduler.addJob(task, { idempotencyKey: "k" })).id).not.toBe(first.id);
  });

  test("is unique within one bulk addition too", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    const jobs = await scheduler.addJobs([
      { task, idempotencyKey: "k" },
      { task, idempotencyKey: "k" },
    ]);
    expect(jobs[1]?.id).toBe(jobs[0]?.id);
    expect((await scheduler.getJobs()).items).toHaveLength(1);
  });

  test("reaches the handler, and is the job's id where none was given", async () => {
    const { scheduler } = setUp();
    const keys: string[] = [];
    const task = scheduler.task("t", { maxRunningJobs: null }, (_, { idempotencyKey }) => {
      keys.push(idempotencyKey);
    });
    await scheduler.addJob(task, { idempotencyKey: "mine" });
    const { id } = await scheduler.addJob(task);
    await drain(scheduler);
    expect(keys).toEqual(["mine", id]);
  });
});
