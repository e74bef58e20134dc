import { describe, expect, test } from "vitest";
import { IntervalTrigger } from "../../src/mod.ts";
import { START_MS, setUp } from "./support.ts";

describe("the fires of a schedule, while a burst of jobs of the same priority waits", () => {
  test("begin with the next places that are free", async () => {
    const { scheduler, clock } = setUp({ maxConcurrentJobs: 10 });
    const burst = scheduler.task("burst", { maxRunningJobs: null }, () => clock.sleep(clock.now() + 1000));
    const lateness: number[] = [];
    const tick = scheduler.task("tick", (_payload, { job }) => {
      lateness.push(clock.now() - (job.scheduledFireTime?.epochMilliseconds ?? 0));
    });
    await scheduler.start();
    await scheduler.addJobs(Array.from({ length: 600 }, () => ({ task: burst })));
    await scheduler.addSchedule(tick, new IntervalTrigger({ seconds: 5, startTime: new Date(START_MS + 2500) }));
    await clock.advance("PT40S");
    expect([lateness.length, lateness.filter((ms) => ms > 1000)]).toEqual([8, []]);
  });

  test("wait where the burst has a higher priority", async () => {
    const { scheduler, clock } = setUp({ maxConcurrentJobs: 10 });
    const burst = scheduler.task("burst", { maxRunningJobs: null }, () => clock.sleep(clock.now() + 1000));
    const begun: number[] = [];
    const tick = scheduler.task("tick", () => void begun.push(clock.now() - START_MS));
    await scheduler.start();
    await scheduler.addJobs(Array.from({ length: 200 }, () => ({ task: burst, priority: 1 })));
    await scheduler.addSchedule(tick, new IntervalTrigger({ seconds: 5, startTime: new Date(START_MS + 2500) }));
    await clock.advance("PT30S");
    expect(begun.filter((ms) => ms < 20_000)).toEqual([]);
    expect(begun.length).toBeGreaterThan(0);
  });

  test("leave every other commit to the burst", async () => {
    const { scheduler, clock } = setUp({ maxConcurrentJobs: 2 });
    let ended = 0;
    const burst = scheduler.task("burst", { maxRunningJobs: null }, async () => {
      await clock.sleep(clock.now() + 1000);
      ended++;
    });
    const tick = scheduler.task("tick", { maxRunningJobs: null }, () => clock.sleep(clock.now() + 1000));
    await scheduler.start();
    await scheduler.addJobs(Array.from({ length: 200 }, () => ({ task: burst })));
    const often = new IntervalTrigger({ milliseconds: 250 });
    await scheduler.addSchedule(tick, often, { coalesce: "all" });
    await clock.advance("PT20S");
    expect(ended).toBeGreaterThan(10);
  });
});
