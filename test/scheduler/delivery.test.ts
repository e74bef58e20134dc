import { describe, expect, test } from "vitest";
import { MemoryDataStore } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { everySecond, START, START_MS, secondsOf, setUp } from "./support.ts";

describe("a due occurrence", () => {
  test("is enqueued once, whoever processes its schedule and however often it is added", async () => {
    const shared = { clock: new VirtualClock(START), dataStore: new MemoryDataStore() };
    const schedulers = ["a", "b"].map((identity) => setUp({ ...shared, identity, role: "scheduler" }).scheduler);
    for (const scheduler of schedulers) scheduler.task("t", () => {});
    for (let second = 0; second < 3; second++) {
      for (const scheduler of schedulers) {
        await scheduler.addSchedule("t", everySecond(), { id: "s", coalesce: "all", conflictPolicy: "replace" });
        await scheduler.tick();
      }
      await shared.clock.advance("PT1S");
    }
    const { items } = await shared.dataStore.getJobs({ limit: 10, cursor: null });
    expect(items.map(({ fireTime }) => fireTime)).toEqual([START_MS, START_MS + 1000, START_MS + 2000]);
  });

  test("is executed, or its skip is recorded as an outcome or told by the plan that leaves it out", async () => {
    const shared = { clock: new VirtualClock(START), dataStore: new MemoryDataStore() };
    const maker = setUp({ ...shared, role: "scheduler" }).scheduler;
    const { scheduler } = setUp({ ...shared, role: "worker" });
    const ran: (number | null)[] = [];
    scheduler.task("t", { maxRunningJobs: null }, (_, { job }) => {
      ran.push(secondsOf(job.scheduledFireTime));
    });
    await scheduler.addSchedule("t", everySecond(), {
      coalesce: "all",
      catchUp: { maxCount: 8 },
      misfireGraceTime: "PT2S",
    });
    await shared.clock.advance("PT9S");
    const skips: unknown[] = [];
    const commit = shared.dataStore.commit.bind(shared.dataStore);
    shared.dataStore.commit = (request) => {
      skips.push(...request.plans.flatMap((plan) => plan.skips ?? []));
      return commit(request);
    };
    await maker.tick();
    const jobs = (await scheduler.getJobs()).items;
    await scheduler.cancelJob(jobs.at(-1)?.id ?? "");
    await scheduler.tick();
    const listed = async (outcome: "missedStartDeadline" | "cancelled") =>
      (await scheduler.getJobResults({ outcome, order: "oldest" })).items.map((result) =>
        secondsOf(result.scheduledFireTime),
      );
    expect({ skips, missed: await listed("missedStartDeadline"), ran, cancelled: await listed("cancelled") }).toEqual({
      skips: [{ from: START_MS, until: START_MS + 1000, verdict: "overCount", count: 2, into: null }],
      missed: [2, 3, 4, 5, 6],
      ran: [7, 8],
      cancelled: [9],
    });
  });
});
