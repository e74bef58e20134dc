import { describe, expect, onTestFinished, test } from "vitest";
import { MemoryDataStore, Scheduler, type Stats } from "../../src/mod.ts";
import { StatsSum } from "../../src/records/stats.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { drain, VirtualClock } from "../../src/testing/mod.ts";
import { rejectionOf, START, setUp } from "./support.ts";

/** A scheduler that has run a schedule each minute for an hour, each run 30 s late and 2 s long, the first one failed,
 *  and one job of another task. */
async function withRuns(dataStore: MemoryDataStore | LibsqlDataStore = new MemoryDataStore()) {
  const clock = new VirtualClock(START);
  const scheduler = new Scheduler({ dataStore, clock, logLevel: "silent" });
  onTestFinished(() => scheduler.stop());
  let count = 0;
  scheduler.task("print", { maxRunningJobs: null }, async () => {
    await clock.advance("PT2S");
    if (++count === 1) throw new Error("no paper");
  });
  scheduler.task("fax", () => {});
  await clock.advance("PT30S");
  await scheduler.addSchedule("print", "* * * * *", { id: "s" });
  for (let minute = 0; minute < 60; minute++) {
    await clock.advance("PT58S");
    await drain(scheduler);
  }
  await scheduler.addJob("fax");
  await drain(scheduler);
  return { scheduler, clock };
}

function msOf(stats: Stats | undefined): unknown[] {
  const { runTime = null, lateness = null } = stats ?? {};
  const of = [runTime?.p50, runTime?.p95, lateness?.p50, lateness?.p95];
  return of.map((time) => time?.total("milliseconds") ?? null);
}

describe.each([
  ["memory", () => new MemoryDataStore()],
  ["SQLite", () => new LibsqlDataStore({ url: ":memory:" })],
] as const)("statistics in %s", (_name, make) => {
  test("count the jobs of each hour by outcome, and how long and how late they ran", async () => {
    const { scheduler } = await withRuns(make());
    const { items, isKept, ...range } = await scheduler.getStats();
    expect(JSON.stringify({ isKept, ...range })).toBe(
      '{"isKept":true,"from":"2029-12-31T02:00:00Z","until":"2030-01-01T02:00:00Z","bucket":"PT1H"}',
    );
    const [all] = items;
    expect([all?.id, all?.total.count, all?.buckets.length]).toEqual([null, 61, 24]);
    expect(all?.total.outcomes).toMatchObject({ success: 60, error: 1, cancelled: 0 });
    expect(all?.buckets.flatMap(({ from, count }) => (count === 0 ? [] : [`${from} ${count}`]))).toEqual([
      "2030-01-01T00:00:00Z 59",
      "2030-01-01T01:00:00Z 2",
    ]);
    const [run50 = 0, run95 = 0, late50 = 0, late95 = 0] = msOf(all?.total).map(Number);
    for (const [found, true_] of [
      [run50, 2000],
      [run95, 2000],
      [late50, 28_000],
      [late95, 30_000],
    ] as const) {
      expect(Math.abs(found / true_ - 1)).toBeLessThan(0.1);
    }
  });

  test("are by task and by schedule, those with the most jobs first", async () => {
    const { scheduler } = await withRuns(make());
    const counts = async (options: object) =>
      (await scheduler.getStats(options)).items.map(({ id, total }) => [id, total.count]);
    expect(await counts({ by: "task" })).toEqual([
      ["print", 60],
      ["fax", 1],
    ]);
    expect(await counts({ by: "task", limit: 1 })).toEqual([["print", 60]]);
    expect(await counts({ by: "task", taskId: "fax" })).toEqual([["fax", 1]]);
    expect(await counts({ taskId: "fax" })).toEqual([[null, 1]]);
    expect(await counts({ by: "schedule" })).toEqual([["s", 60]]);
    expect(await counts({ by: "schedule", taskId: "fax" })).toEqual([]);
    expect(await counts({ scheduleId: "s" })).toEqual([[null, 60]]);
    expect(await counts({ scheduleId: "none" })).toEqual([[null, 0]]);
    expect(await counts({ by: "task", until: "2030-01-01T01:00:00Z" })).toEqual([["print", 59]]);
    const { from, until, bucket } = await scheduler.getStats({ scheduleId: "s" });
    expect([`${from}`, `${until}`, bucket.total("hours")]).toEqual([
      "2029-12-26T00:00:00Z",
      "2030-01-02T00:00:00Z",
      24,
    ]);
  });

  test("come with a list of schedules", async () => {
    const { scheduler } = await withRuns(make());
    await scheduler.addSchedule("print", "0 9 1 1 *", { id: "t" });
    const { items } = await scheduler.getSchedules({ include: { stats: true } });
    expect(items.map(({ stats }) => [stats?.count, stats?.outcomes.error])).toEqual([
      [60, 1],
      [0, 0],
    ]);
    expect(msOf(items[1]?.stats)).toEqual([null, null, null, null]);
    expect((await scheduler.getSchedules()).items[0]?.stats).toBeUndefined();
  });
});

describe("statistics", () => {
  test("are not kept where the ledger is off", async () => {
    const { scheduler } = await withRuns(new MemoryDataStore({ ledger: false }));
    const { isKept, items } = await scheduler.getStats();
    expect([isKept, items[0]?.total.count]).toEqual([false, 0]);
    expect((await scheduler.getSchedules({ include: { stats: true } })).items[0]?.stats?.count).toBe(0);
  });

  test.each<[object, string]>([
    [{ bucket: "90m" }, "bucket"],
    [{ by: "schedule", bucket: "1h" }, "bucket"],
    [{ by: "hour" }, "by"],
    [{ taskId: "t", scheduleId: "s" }, "scheduleId"],
    [{ by: "task", scheduleId: "s" }, "scheduleId"],
    [{ from: "2030-01-02T00:00:00Z", until: "2030-01-01T00:00:00Z" }, "from"],
    [{ from: "1900-01-01T00:00:00Z" }, "bucket"],
    [{ by: "task", limit: 1000 }, "bucket"],
    [{ limit: 0 }, "limit"],
    [{ interval: "1h" }, "interval"],
  ])("are refused for %j", async (options, path) => {
    const { scheduler } = setUp();
    const error = await rejectionOf(scheduler.getStats(options));
    expect(error).toMatchObject({ code: "options", issues: [{ path }] });
  });

  test("say times that are off by 9% at most, and by half a millisecond", () => {
    for (let ms = 0; ms < 1e9; ms = Math.ceil(ms * 1.03) + 1) {
      const sum = new StatsSum();
      const step = ms < 1 ? 1 : 2 + Math.floor(4 * Math.log2(ms));
      sum.add(step, 1);
      expect(Math.abs((sum.facts.lateness?.p50Ms ?? Number.NaN) - ms)).toBeLessThanOrEqual(ms * 0.0906 + 0.5);
    }
  });
});
