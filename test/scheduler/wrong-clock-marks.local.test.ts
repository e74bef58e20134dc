import { describe, expect, onTestFinished, test } from "vitest";
import type { DataStore } from "../../src/contracts.ts";
import { type JobContext, MemoryDataStore, Scheduler } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { LOCAL_STORES } from "../stores/local-stores.ts";
import { recordingLogger } from "./support.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const YEAR = 365 * 24 * HOUR;

const STORES: readonly [string, (options?: { ledger: { maxAge: string } }) => DataStore][] = [
  ["MemoryDataStore", (options) => new MemoryDataStore(options)],
  ...LOCAL_STORES.filter(({ whyMissing }) => whyMissing === null).map(({ name, make }): (typeof STORES)[number] => [
    name,
    (options) => make(":memory:", options),
  ]),
];

/** A host that is at noon, and what it ran: the task and the instant. */
async function setUp(dataStore: DataStore) {
  const clock = new VirtualClock("2026-12-01T12:00:30Z");
  const ran: string[] = [];
  const { logger } = recordingLogger();
  const scheduler = new Scheduler({
    clock,
    dataStore,
    logger,
    timeZone: "UTC",
    cleanupInterval: "1m",
    random: () => 1,
  });
  onTestFinished(() => scheduler.stop());
  const note = (task: string) => void ran.push(`${task} ${clock.instant.toString().slice(11, 16)}`);
  const backoff = { initial: "10m", factor: 1, jitter: "none" } as const;
  scheduler.task("t", { maxRunningJobs: null }, () => note("t"));
  scheduler.task("fails", { retry: { maxAttempts: 2, backoff } }, () => {
    note("fails");
    throw new Error("busy");
  });
  scheduler.task("sleeps", async (_payload: undefined, { step }: JobContext) => {
    await step.sleep("an hour", "1h");
    note("sleeps");
  });
  await scheduler.start();
  await clock.advance({ minutes: 2 });
  /** Lets the clock be wrong for a minute, and then right. */
  const beWrong = async (aheadMs: number, meanwhile: () => Promise<unknown>) => {
    const since = clock.now();
    await clock.jumpTo(new Date(since + aheadMs));
    await clock.advance({ seconds: 5 });
    await meanwhile();
    await clock.advance({ seconds: 55 });
    await clock.jumpTo(new Date(since + MINUTE));
  };
  return { clock, scheduler, ran, beWrong };
}

describe.each(STORES)("what a clock that is ten years ahead for a minute leaves in a %s", (_name, make) => {
  test("delays, retries and sleeps last as long as they are to", async () => {
    const { clock, scheduler, ran, beWrong } = await setUp(make());
    await beWrong(10 * YEAR, async () => {
      await scheduler.addJob("t", { delay: "20m" });
      await scheduler.addJob("fails");
      await scheduler.addJob("sleeps");
    });
    ran.length = 0;
    await clock.advance({ hours: 2 });
    expect(ran).toEqual(["fails 12:19", "t 12:29", "sleeps 13:09"]);
  });

  test("what waits by a right clock is left alone", async () => {
    const { clock, scheduler, ran, beWrong } = await setUp(make());
    await scheduler.addJob("t", { delay: "3h" });
    await scheduler.addJob("t", { runAt: "2036-12-05T00:00:00Z" });
    await scheduler.addJob("fails");
    await scheduler.addJob("sleeps");
    await clock.advance({ seconds: 5 });
    await beWrong(2 * MINUTE, async () => undefined);
    await clock.advance({ hours: 4 });
    expect(ran).toEqual(["fails 12:02", "fails 12:12", "sleeps 13:02", "t 15:02"]);
    expect((await scheduler.getJobs()).items.map(({ runAt }) => String(runAt))).toEqual(["2036-12-05T00:00:00Z"]);
  });

  test("the clean-up goes on", async () => {
    const { clock, scheduler, beWrong } = await setUp(make({ ledger: { maxAge: "1h" } }));
    await scheduler.addSchedule("t", "* * * * *", { id: "minutely" });
    await beWrong(10 * YEAR, async () => scheduler.addSchedule("t", "* * * * *", { id: "late" }));
    await clock.advance({ hours: 4 });
    const { items } = await scheduler.getOccurrences("minutely", { order: "oldest" });
    expect(items[0]?.fireTime.epochMilliseconds).toBeGreaterThan(clock.now() - 3 * HOUR);
  });

  test("an alarm of a missing start is raised", async () => {
    const { clock, scheduler, beWrong } = await setUp(make());
    await scheduler.addSchedule("t", "*/10 * * * *", { id: "watched", expectStartWithin: "5m" });
    await beWrong(10 * YEAR, async () => undefined);
    await clock.advance({ minutes: 20 });
    expect((await scheduler.health()).overdueCount.count).toBe(0);
    await scheduler.pauseTask("t");
    await clock.advance({ minutes: 20 });
    expect((await scheduler.health()).overdueCount.count).toBe(1);
  });
});

describe.each(STORES)("what a clock that begins in 1970 leaves in a %s", (_name, make) => {
  test("is due as soon as the clock is right, and nothing is cleaned up that should not be", async () => {
    const { clock, scheduler, ran, beWrong } = await setUp(make());
    await scheduler.addSchedule("t", "*/10 * * * *", { id: "t" });
    await scheduler.runJob("t");
    await clock.advance({ minutes: 10 });
    ran.length = 0;
    await beWrong(Date.parse("1970-01-01T00:00:30Z") - clock.now(), async () => {
      await scheduler.addJob("t", { delay: "20m" });
      await scheduler.addJob("fails");
      await scheduler.addJob("sleeps");
    });
    await clock.advance({ minutes: 30 });
    expect(ran.toSorted()).toEqual([
      "fails 00:00",
      "fails 12:13",
      "sleeps 12:13",
      "t 12:13",
      "t 12:20",
      "t 12:30",
      "t 12:40",
    ]);
    expect((await scheduler.getJobResults({ scheduleId: "t" })).items).toHaveLength(4);
    const { items } = await scheduler.getOccurrences("t", { order: "oldest" });
    expect(items.map(({ fireTime }) => fireTime.toString().slice(11, 16))).toEqual([
      "12:10",
      "12:20",
      "12:30",
      "12:40",
    ]);
  });
});
