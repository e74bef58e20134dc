import { expect } from "vitest";
import { IntervalTrigger, Scheduler } from "../../src/mod.ts";
import type { DataStore } from "../../src/stores/data-store.ts";
import { VirtualClock } from "../../src/testing/mod.ts";

/** Expects that a tick fires the schedule that is due, and that the next tick has nothing to do. Closes the store. */
export async function expectTicksToFire(dataStore: DataStore): Promise<void> {
  const clock = new VirtualClock("2030-01-01T00:00:00Z");
  const scheduler = new Scheduler({ dataStore, clock });
  try {
    const fired: string[] = [];
    const task = scheduler.task("report", (_, { job }) => {
      fired.push(String(job.fireTime));
    });
    await scheduler.addSchedule(task, new IntervalTrigger({ minutes: 5 }), { id: "reports" });
    expect(await scheduler.tick()).toMatchObject({ schedulesProcessed: 1, jobsAdded: 1, jobsRun: 1 });
    expect(fired).toEqual(["2030-01-01T00:00:00Z"]);
    expect((await scheduler.getSchedule("reports")).nextFireTime?.toString()).toBe("2030-01-01T00:05:00Z");
    expect(await scheduler.tick()).toMatchObject({ schedulesProcessed: 0, jobsAdded: 0, jobsRun: 0 });
  } finally {
    await scheduler.stop();
  }
}
