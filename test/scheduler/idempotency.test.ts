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

  test("belongs to its task", async () => {
    const { scheduler } = setUp();
    const [one, two] = ["one", "two"].map((id) => scheduler.task(id, () => {}));
    const ids = [];
    for (const task of [one, two, one]) ids.push((await scheduler.addJob(task as never, { idempotencyKey: "k" })).id);
    expect(new Set(ids).size).toBe(2);
    expect(ids[2]).toBe(ids[0]);
  });

  test("of a job that keeps no result makes runJob wait for it all the same", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { resultExpirationTime: "PT0S" }, handler);
    await scheduler.start();
    for (const end of ["finish", "fail"] as const) {
      await scheduler.addJob(task, { idempotencyKey: "k" });
      await clock.settle();
      let settled: unknown = "nothing yet";
      const running = scheduler.runJob(task, { idempotencyKey: "k" }).then(
        (value) => {
          settled = value;
        },
        (error: unknown) => {
          settled = String(error);
        },
      );
      await clock.advance("PT10S");
      expect(settled).toBe("nothing yet");
      if (end === "finish") held[0]?.finish("a value");
      else held[1]?.fail(new Error("no"));
      await clock.settle();
      await running;
      expect(settled).toBe(end === "finish" ? undefined : "Error: no");
    }
  });
});
