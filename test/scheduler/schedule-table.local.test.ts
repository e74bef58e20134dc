import { describe, expect, onTestFinished, test } from "vitest";
import { MemoryDataStore, Scheduler } from "../../src/mod.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { drain, VirtualClock } from "../../src/testing/mod.ts";
import { rejectionOf, START, secondsOf, setUp } from "./support.ts";

const COUNT = 100;

/** A hundred schedules on a file of their own, after some fires of a part of them. */
async function withTable() {
  const dataStore = new LibsqlDataStore({ url: ":memory:" });
  const clock = new VirtualClock(START);
  const scheduler = new Scheduler({ dataStore, clock, identity: "s" });
  onTestFinished(() => scheduler.stop());
  scheduler.task("t", { maxRunningJobs: null }, () => {});
  const list = Array.from({ length: COUNT }, (_, index) => ({
    ...{ task: "t", id: `s-${String(index).padStart(3, "0")}` },
    trigger: index % 2 === 0 ? "* * * * *" : "0 9 * * *",
  }));
  await scheduler.addSchedules(list);
  for (let minute = 0; minute < 3; minute++) {
    await clock.advance("PT1M");
    await drain(scheduler);
  }
  return { dataStore, clock, scheduler, ids: list.map(({ id }) => id) };
}

describe("a table of schedules", () => {
  test("of a hundred, with fires to come, runs and statistics, takes four statements", async () => {
    const { dataStore, scheduler, ids } = await withTable();
    const before = dataStore.roundTrips ?? 0;
    const { items } = await scheduler.getSchedules({ ids, include: { next: 5, runs: 24, stats: true } });
    // The schedules, the blackouts, in which a fire time makes no job, the fire times that were, and the counts.
    expect((dataStore.roundTrips ?? 0) - before).toBe(4);
    expect(items.slice(0, 2).map(({ stats }) => stats?.count)).toEqual([3, 0]);
    expect(items.map(({ id }) => id)).toEqual(ids);
    const [often, daily] = items;
    expect(often?.next?.map((time) => secondsOf(time.fireTime.toInstant()))).toEqual([240, 300, 360, 420, 480]);
    const runs = often?.runs ?? [];
    expect(runs.map(({ fireTime, verdict }) => [secondsOf(fireTime.toInstant()), verdict])).toEqual([
      [180, "success"],
      [120, "success"],
      [60, "success"],
      [0, "coalesced"],
    ]);
    expect([daily?.next?.length, daily?.runs]).toEqual([5, []]);
  });
});

describe("what a list of schedules includes", () => {
  test("is the fire times that its preview has, also of a paused schedule and of one that a caller has moved", async () => {
    const { scheduler, clock } = setUp();
    scheduler.task("t", () => {});
    const schedule = await scheduler.addSchedule("t", "0 9 * * *", { id: "s" });
    await schedule.update({ nextFireTime: "2030-01-01T03:00:00Z" });
    await schedule.pause();
    await clock.advance("PT1H");
    const { items } = await scheduler.getSchedules({ include: { next: 3 } });
    expect(items[0]?.next?.map(String)).toEqual((await schedule.preview({ limit: 3 })).map(String));
    expect(items[0]?.runs).toBeUndefined();
    expect((await scheduler.getSchedule("s")).next).toBeUndefined();
  });

  test("says of a fire time what occurrences say, skipped and unfinished ones too", async () => {
    const { scheduler, clock } = setUp();
    let fails = false;
    scheduler.task("t", () => {
      if (fails) throw new Error("no paper");
    });
    await scheduler.addSchedule("t", "* * * * *", { id: "s", coalesce: "latest" });
    await clock.advance("PT1M");
    await drain(scheduler);
    fails = true;
    await clock.advance("PT3M");
    await drain(scheduler);
    await scheduler.pauseTask("t");
    await clock.advance("PT1M");
    await drain(scheduler);
    const { items } = await scheduler.getSchedules({ include: { runs: 24 } });
    const occurrences = (await scheduler.getOccurrences("s")).items;
    expect(items[0]?.runs?.map((one) => one.toJSON())).toEqual(occurrences.map((one) => one.toJSON()));
    const verdicts = ["waiting", "error", "coalesced", "coalesced", "success", "coalesced"];
    expect(occurrences.map(({ verdict }) => verdict)).toEqual(verdicts);
    expect((await scheduler.getSchedules({ include: { runs: 2 } })).items[0]?.runs?.length).toBe(2);
  });

  test("is nothing where the store keeps no ledger, and of a trigger that throws", async () => {
    const { scheduler, clock } = setUp({ dataStore: new MemoryDataStore({ ledger: false }) });
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", "* * * * *", { id: "s" });
    await clock.advance("PT1M");
    await drain(scheduler);
    expect((await scheduler.getSchedules({ include: { runs: 3, next: 1 } })).items[0]).toMatchObject({
      runs: [],
      next: [expect.anything()],
    });
  });

  test.each<[object, string]>([
    [{ ids: [] }, "ids"],
    [{ ids: ["a"], sort: "nextFireTime" }, "ids"],
    [{ include: { next: 0 } }, "include.next"],
    [{ include: { next: 101 } }, "include.next"],
    [{ limit: 1000, include: { runs: 11 } }, "include.runs"],
    [{ include: { stat: true } }, "include.stat"],
  ])("is refused for %j", async (filter, path) => {
    const { scheduler } = setUp();
    const error = await rejectionOf(scheduler.getSchedules(filter));
    expect(error).toMatchObject({ code: "options", issues: [{ path }] });
  });

  test("does not change which list a cursor belongs to", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    for (const id of ["a", "b", "c,d"]) await scheduler.addSchedule("t", "* * * * *", { id });
    const { cursor } = await scheduler.getSchedules({ limit: 1 });
    const { items } = await scheduler.getSchedules({ limit: 1, cursor, include: { next: 1 } });
    expect(items[0]?.id).toBe("b");
    const named = await scheduler.getSchedules({ ids: ["c,d", "none", "a"] });
    expect(named.items.map(({ id }) => id)).toEqual(["a", "c,d"]);
  });
});
