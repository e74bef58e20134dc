import { describe, expect, test } from "vitest";
import { drain } from "../../src/testing/mod.ts";
import { at, everySecond, setUp } from "./support.ts";

describe("the order of acquisition", () => {
  test("is priority, then runAt, then creation", async () => {
    const { scheduler, clock } = setUp({ maxConcurrentJobs: 1 });
    const ran: string[] = [];
    const task = scheduler.task("t", { maxRunningJobs: null }, (name: string) => {
      ran.push(name);
    });
    await scheduler.addJobs([
      { task, payload: "late", runAt: at(2) },
      { task, payload: "early", runAt: at(1) },
      { task, payload: "early, added later", runAt: at(1) },
      { task, payload: "urgent", runAt: at(3), priority: 5 },
      { task, payload: "unimportant", runAt: at(0), priority: -1 },
    ]);
    await clock.advance("PT5S");
    await drain(scheduler);
    expect(ran).toEqual(["urgent", "early", "early, added later", "late", "unimportant"]);
  });

  test("holds across tasks", async () => {
    const { scheduler } = setUp({ maxConcurrentJobs: 1 });
    const ran: string[] = [];
    for (const [id, priority] of [
      ["a", 1],
      ["b", 3],
      ["c", 2],
    ] as const) {
      scheduler.task(id, () => {
        ran.push(id);
      });
      await scheduler.addJob(id, { priority });
    }
    await drain(scheduler);
    expect(ran).toEqual(["b", "c", "a"]);
  });

  test("a schedule gives its jobs its priority", async () => {
    const { scheduler } = setUp({ role: "scheduler" });
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { priority: 7 });
    await scheduler.tick();
    expect((await scheduler.getJobs()).items.map(({ priority }) => priority)).toEqual([7]);
  });

  test("a job does not run before its runAt, and then at once", async () => {
    const { scheduler, clock } = setUp();
    const task = scheduler.task("t", () => "ran");
    await scheduler.start();
    const { id } = await scheduler.addJob(task, { runAt: at(30) });
    await clock.advance("PT29.999S");
    expect(await scheduler.getJobResult(id)).toBeNull();
    await clock.advance("PT0.001S");
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "success", startedAt: at(30) });
  });
});
