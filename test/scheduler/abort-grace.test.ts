import { describe, expect, test } from "vitest";
import type { JobCall } from "../../src/contracts.ts";
import { OwnHandlers } from "./own-handlers.ts";
import { setUp } from "./support.ts";

/** A scheduler whose executor runs the task `t` until the test ends it, and what the executor was told of aborts. */
function withThreads() {
  const told: (number | string)[] = [];
  const ends: (() => void)[] = [];
  const t = (call: JobCall): Promise<void> =>
    new Promise((_, reject) => {
      call.onAbort?.((_, graceMs) => told.push(graceMs));
      ends.push(() => reject(new Error("ended")));
    });
  const setup = setUp({ executors: { threads: new OwnHandlers({ t }) } });
  const task = setup.scheduler.task("t", { executor: "threads" });
  return { ...setup, task, told, ends };
}

describe("an executor that ends its work by force", () => {
  test("is told how long the attempt may take at the deadline of a tick, and the lease is kept until it has ended", async () => {
    const { scheduler, store, clock, task, told, ends } = withThreads();
    const { id } = await scheduler.addJob(task);
    const ticking = scheduler.tick({ maxDuration: "PT10S" });
    await clock.advance("PT11.5S");
    expect(told).toEqual([1000]);
    expect(await store.getJob(id)).toMatchObject({ acquiredBy: scheduler.identity });
    ends[0]?.();
    await clock.advance("PT0S");
    expect(await ticking).toMatchObject({ jobsRun: 1, exhausted: true });
    expect(await store.getJob(id)).toMatchObject({ acquiredBy: null, recoveries: 1 });
  });

  test("has a second more, and then the lease is given up", async () => {
    const { scheduler, store, clock, task } = withThreads();
    const { id } = await scheduler.addJob(task);
    const ticking = scheduler.tick({ maxDuration: "PT10S" });
    await clock.advance("PT12S");
    expect(await ticking).toMatchObject({ jobsRun: 1 });
    expect(await store.getJob(id)).toMatchObject({ acquiredBy: null, recoveries: 1 });
  });

  test("is told that a stop without a drain leaves no time, and is waited for", async () => {
    const { scheduler, store, clock, task, told, ends } = withThreads();
    await scheduler.start();
    const { id } = await scheduler.addJob(task);
    await clock.advance("PT1S");
    const stopping = scheduler.stop({ drainTimeout: "PT0S" });
    await clock.advance("PT0.5S");
    expect(told).toEqual([0]);
    expect(await store.getJob(id)).toMatchObject({ acquiredBy: scheduler.identity });
    ends[0]?.();
    await clock.advance("PT0S");
    await stopping;
    expect(await store.getJob(id)).toMatchObject({ acquiredBy: null, recoveries: 1 });
  });
});
