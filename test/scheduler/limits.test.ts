import { describe, expect, test } from "vitest";
import { LocalEventBroker, MemoryDataStore } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { heldHandler, START, setUp } from "./support.ts";

describe("maxRunningJobs", () => {
  test("is one by default", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", handler);
    await scheduler.start();
    await scheduler.addJobs([{ task }, { task }]);
    await clock.settle();
    expect(held).toHaveLength(1);
    held[0]?.finish("");
    await clock.settle();
    expect(held).toHaveLength(2);
  });

  test("null is unlimited", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { maxRunningJobs: null }, handler);
    await scheduler.start();
    await scheduler.addJobs(Array.from({ length: 50 }, () => ({ task })));
    await clock.settle();
    expect(held).toHaveLength(50);
  });

  test("counts over all schedulers of the store", async () => {
    const clock = new VirtualClock(START);
    const shared = { clock, dataStore: new MemoryDataStore(), eventBroker: new LocalEventBroker() };
    const { handler, held } = heldHandler();
    const schedulers = [setUp(shared), setUp(shared), setUp(shared)].map(({ scheduler }) => scheduler);
    for (const scheduler of schedulers) {
      scheduler.task("t", { maxRunningJobs: 2 }, handler);
      await scheduler.start();
    }
    await schedulers[0]?.addJobs(Array.from({ length: 5 }, () => ({ task: "t" })));
    await clock.advance("PT1S");
    expect(held).toHaveLength(2);
    held[0]?.finish("");
    await clock.advance("PT1S");
    expect(held).toHaveLength(3);
  });

  test("a task at its limit does not starve the jobs of others, whatever their order", async () => {
    const { scheduler, clock } = setUp({ maxConcurrentJobs: 2 });
    const { handler, held } = heldHandler();
    const busy = scheduler.task("busy", handler);
    const other = scheduler.task("other", () => "ran");
    await scheduler.addJobs(Array.from({ length: 200 }, () => ({ task: busy, priority: 9 })));
    const { id } = await scheduler.addJob(other);
    await scheduler.start();
    await clock.settle();
    expect(held).toHaveLength(1);
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "success" });
  });
});

describe("maxConcurrentJobs", () => {
  test("is the most that a scheduler ever holds", async () => {
    const { scheduler, clock } = setUp({ maxConcurrentJobs: 3 });
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { maxRunningJobs: null }, handler);
    await scheduler.start();
    await scheduler.addJobs(Array.from({ length: 10 }, () => ({ task })));
    for (let done = 0; done < 10; done++) {
      await clock.settle();
      const acquired = (await scheduler.getJobs()).items.filter(({ acquiredBy }) => acquiredBy !== null);
      expect(acquired.length).toBe(Math.min(3, 10 - done));
      expect(held.length).toBe(Math.min(10, done + 3));
      held[done]?.finish("");
    }
  });
});
