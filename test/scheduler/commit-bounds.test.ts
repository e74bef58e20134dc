import { describe, expect, test } from "vitest";
import type { CommitRequest, DataStore } from "../../src/contracts.ts";
import { DateTrigger, IntervalTrigger, MemoryDataStore } from "../../src/mod.ts";
import { BURST_MS_MAX } from "../../src/scheduler/driving/limits.ts";
import { COMMIT_BYTES_MAX } from "../../src/scheduler/firing/limits.ts";
import { RELEASES_PER_COMMIT_MAX } from "../../src/scheduler/running/limits.ts";
import { FIRES_PER_COMMIT_MAX } from "../../src/stores/shared/limits.ts";
import { drain, VirtualClock } from "../../src/testing/mod.ts";
import { START, START_MS, setUp } from "./support.ts";

/** What a commit carried. */
interface Load {
  readonly plans: number;
  readonly fires: number;
  /** Bytes of payloads that the store copies into jobs. */
  readonly bytes: number;
  readonly releases: number;
  readonly returned: number;
}

function watchCommits(store: DataStore, bytesOf: (scheduleId: string) => number): Load[] {
  const loads: Load[] = [];
  const commit = store.commit.bind(store);
  store.commit = (request: CommitRequest) => {
    const { plans, releases } = request;
    const returned = releases.map((release) => (release.kind === "finish" ? (release.result.returnValue ?? "") : ""));
    loads.push({
      plans: plans.length,
      fires: plans.reduce((sum, { fires }) => sum + fires.length, 0),
      bytes: plans.reduce((sum, { scheduleId, fires }) => sum + fires.length * bytesOf(scheduleId), 0),
      releases: releases.length,
      returned: returned.join("").length,
    });
    return commit(request);
  };
  return loads;
}

function most(loads: readonly Load[], key: keyof Load): number {
  return Math.max(...loads.map((load) => load[key]));
}

describe("a commit", () => {
  test("has one budget of jobs for all schedules that catch up, and leaves none out", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const { scheduler } = setUp({ clock, dataStore, role: "scheduler" });
    scheduler.task("t", () => {});
    for (let index = 0; index < 200; index++) {
      await scheduler.addSchedule("t", new IntervalTrigger({ seconds: 1 }), { id: `s${index}`, coalesce: "all" });
    }
    await clock.advance("PT9S");
    const loads = watchCommits(dataStore, () => 1);
    await drain(scheduler);
    expect(most(loads, "fires")).toBe(FIRES_PER_COMMIT_MAX);
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
    const loads = watchCommits(dataStore, () => 100_000);
    await drain(scheduler);
    const planning = loads.filter(({ plans }) => plans > 0);
    expect(planning[0]).toMatchObject({ plans: 4, fires: 4 });
    expect(most(loads, "bytes")).toBeLessThanOrEqual(COMMIT_BYTES_MAX);
    expect(planning.reduce((sum, { fires }) => sum + fires, 0)).toBe(40);
  });

  test("tells of no more outcomes than fit into a commit, and the next one of the others", async () => {
    const dataStore = new MemoryDataStore();
    const { scheduler, clock } = setUp({ dataStore, maxConcurrentJobs: 5000 });
    const loads = watchCommits(dataStore, () => 0);
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
    await scheduler.addJobs(Array.from({ length: RELEASES_PER_COMMIT_MAX + 500 }, () => ({ task, payload: 1 })));
    await scheduler.addJobs(Array.from({ length: 6 }, () => ({ task, payload: 300_000 })));
    await clock.settle();
    finish();
    await clock.advance("PT1S");
    expect(most(loads, "releases")).toBe(RELEASES_PER_COMMIT_MAX);
    expect(most(loads, "returned")).toBeLessThan(400_000);
    const { items } = await scheduler.getJobs();
    expect(items).toEqual([]);
  });

  /** What the commits of a burst carried: of 450 schedules that are due at one instant. */
  async function loadsOfBurst(
    maxRunningJobs: number | null,
    handler: (clock: VirtualClock) => void,
  ): Promise<number[][]> {
    const dataStore = new MemoryDataStore();
    const { scheduler, clock } = setUp({ dataStore, maxConcurrentJobs: 1000 });
    const task = scheduler.task("t", { maxRunningJobs, resultExpirationTime: "PT0S" }, () => handler(clock));
    await scheduler.start();
    for (let index = 0; index < 450; index++) {
      await scheduler.addSchedule(task, new DateTrigger(new Date(START_MS + 1000)), { id: `s${index}` });
    }
    const loads = watchCommits(dataStore, () => 0);
    await clock.advance("PT2S");
    expect((await scheduler.getJobs()).items).toEqual([]);
    return loads.map(({ plans, releases }) => [plans, releases]);
  }

  test("leaves outcomes to a later one while handlers of a burst of fires begin", async () => {
    const loads = await loadsOfBurst(null, () => {});
    expect(loads).toEqual([
      [200, 0],
      [200, 0],
      [50, 0],
      [0, 450],
    ]);
  });

  test("leaves them no longer than the jobs of a burst can begin without them", async () => {
    const loads = await loadsOfBurst(1, () => {});
    expect(loads.slice(0, 4)).toEqual([
      [200, 0],
      [200, 0],
      [50, 1],
      [0, 1],
    ]);
  });

  test("leaves them for a moment only, however long the burst is", async () => {
    let isFirst = true;
    const loads = await loadsOfBurst(null, (clock) => {
      if (isFirst) void clock.jumpTo(new Date(clock.now() + BURST_MS_MAX));
      isFirst = false;
    });
    expect(loads).toEqual([
      [200, 0],
      [200, 200],
      [50, 200],
      [0, 50],
    ]);
  });
});
