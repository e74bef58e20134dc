import { describe, expect, test } from "vitest";
import type { DataStore, StepRequest } from "../../src/contracts.ts";
import { FIRES_PER_STEP_MAX, RELEASES_PER_STEP_MAX, STEP_BYTES_MAX } from "../../src/core/limits.ts";
import { IntervalTrigger, MemoryDataStore } from "../../src/mod.ts";
import { drain, VirtualClock } from "../../src/testing/mod.ts";
import { START, setUp } from "./support.ts";

/** What a step carried. */
interface Load {
  readonly plans: number;
  readonly fires: number;
  /** Bytes of payloads that the store copies into jobs. */
  readonly bytes: number;
  readonly releases: number;
  readonly returned: number;
}

function watchSteps(store: DataStore, bytesOf: (scheduleId: string) => number): Load[] {
  const loads: Load[] = [];
  const step = store.step.bind(store);
  store.step = (request: StepRequest) => {
    const { plans, releases } = request;
    const returned = releases.map((release) => (release.kind === "finish" ? (release.result.returnValue ?? "") : ""));
    loads.push({
      plans: plans.length,
      fires: plans.reduce((sum, { fires }) => sum + fires.length, 0),
      bytes: plans.reduce((sum, { scheduleId, fires }) => sum + fires.length * bytesOf(scheduleId), 0),
      releases: releases.length,
      returned: returned.join("").length,
    });
    return step(request);
  };
  return loads;
}

function most(loads: readonly Load[], key: keyof Load): number {
  return Math.max(...loads.map((load) => load[key]));
}

describe("a step", () => {
  test("has one budget of jobs for all schedules that catch up, and leaves none out", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const { scheduler } = setUp({ clock, dataStore, role: "scheduler" });
    scheduler.task("t", () => {});
    for (let index = 0; index < 200; index++) {
      await scheduler.addSchedule("t", new IntervalTrigger({ seconds: 1 }), { id: `s${index}`, coalesce: "all" });
    }
    await clock.advance("PT9S");
    const loads = watchSteps(dataStore, () => 1);
    await drain(scheduler);
    expect(most(loads, "fires")).toBe(FIRES_PER_STEP_MAX);
    expect(loads.filter(({ plans }) => plans > 0)).toEqual([
      expect.objectContaining({ plans: 200, fires: 1000 }),
      expect.objectContaining({ plans: 200, fires: 1000 }),
    ]);
  });

  test("has one budget of bytes for all of them, of which each gets one job before any gets a second", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const { scheduler } = setUp({ clock, dataStore, role: "scheduler" });
    scheduler.task("t", () => {});
    for (let index = 0; index < 4; index++) {
      await scheduler.addSchedule("t", new IntervalTrigger({ seconds: 1 }), {
        id: `s${index}`,
        coalesce: "all",
        payload: "x".repeat(100_000),
      });
    }
    await clock.advance("PT9S");
    const loads = watchSteps(dataStore, () => 100_000);
    await drain(scheduler);
    const planning = loads.filter(({ plans }) => plans > 0);
    expect(planning[0]).toMatchObject({ plans: 4, fires: 4 });
    expect(most(loads, "bytes")).toBeLessThanOrEqual(STEP_BYTES_MAX);
    expect(planning.reduce((sum, { fires }) => sum + fires, 0)).toBe(40);
  });

  test("tells of no more outcomes than fit into a commit, and the next one of the others", async () => {
    const dataStore = new MemoryDataStore();
    const { scheduler, clock } = setUp({ dataStore, maxConcurrentJobs: 5000 });
    const loads = watchSteps(dataStore, () => 0);
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const wait = async (size: number): Promise<string> => {
      await finished;
      return "x".repeat(size);
    };
    const task = scheduler.task("t", { maxRunningJobs: null }, wait);
    await scheduler.start();
    await scheduler.addJobs(Array.from({ length: RELEASES_PER_STEP_MAX + 500 }, () => ({ task, payload: 1 })));
    await scheduler.addJobs(Array.from({ length: 6 }, () => ({ task, payload: 300_000 })));
    await clock.settle();
    finish();
    await clock.advance("PT1S");
    expect(most(loads, "releases")).toBe(RELEASES_PER_STEP_MAX);
    expect(most(loads, "returned")).toBeLessThan(400_000);
    const { items } = await scheduler.getJobs();
    expect(items).toEqual([]);
  });
});
