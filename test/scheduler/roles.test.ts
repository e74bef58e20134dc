import { describe, expect, test } from "vitest";
import { LocalEventBroker, MemoryDataStore } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { everySecond, START, setUp } from "./support.ts";

describe("roles", () => {
  test("both, the default, makes jobs and runs them", async () => {
    const { scheduler, clock } = setUp();
    let runs = 0;
    scheduler.task("t", () => runs++);
    await scheduler.start();
    await scheduler.addSchedule("t", everySecond());
    await clock.advance("PT2S");
    expect([runs, (await scheduler.getJobs()).items]).toEqual([3, []]);
  });

  test("a scheduler makes jobs and runs none", async () => {
    const { scheduler, clock } = setUp({ role: "scheduler" });
    let runs = 0;
    scheduler.task("t", () => runs++);
    await scheduler.start();
    await scheduler.addSchedule("t", everySecond(), { coalesce: "all" });
    await clock.advance("PT2S");
    expect([runs, (await scheduler.getJobs()).items.length]).toEqual([0, 3]);
  });

  test("a worker runs jobs and makes none", async () => {
    const { scheduler, clock } = setUp({ role: "worker" });
    let runs = 0;
    scheduler.task("t", () => runs++);
    await scheduler.start();
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await scheduler.addJob("t");
    await clock.advance("PT2M");
    expect([runs, (await scheduler.getSchedule("s")).lastFireTime]).toEqual([1, null]);
  });

  test("scheduler, worker and client work together through the store and the broker", async () => {
    const shared = {
      clock: new VirtualClock(START),
      dataStore: new MemoryDataStore(),
      eventBroker: new LocalEventBroker(),
    };
    const client = setUp(shared).scheduler;
    const maker = setUp({ ...shared, role: "scheduler" }).scheduler;
    const worker = setUp({ ...shared, role: "worker" }).scheduler;
    const ran: (string | null)[] = [];
    worker.task("t", (_, { job }) => {
      ran.push(job.scheduledFireTime?.toString() ?? null);
    });
    await maker.start();
    await worker.start();
    await client.addSchedule("t", everySecond());
    await shared.clock.advance("PT1S");
    expect(ran).toEqual(["2030-01-01T00:00:00Z", "2030-01-01T00:00:01Z"]);
  });

  test("many schedulers on one store run every fire once", async () => {
    const shared = {
      clock: new VirtualClock(START),
      dataStore: new MemoryDataStore(),
      eventBroker: new LocalEventBroker(),
    };
    const ran: string[] = [];
    for (const identity of ["a", "b", "c"]) {
      const { scheduler } = setUp({ ...shared, identity });
      scheduler.task("t", (_, { job }) => {
        ran.push(String(job.scheduledFireTime));
      });
      await scheduler.start();
      await scheduler.addSchedule("t", everySecond(), { id: "s" });
    }
    await shared.clock.advance("PT30S");
    expect(ran).toHaveLength(31);
    expect(new Set(ran).size).toBe(31);
  });
});
