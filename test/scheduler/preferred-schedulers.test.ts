import { describe, expect, test } from "vitest";
import { IntervalTrigger, LocalEventBroker, MemoryDataStore } from "../../src/mod.ts";
import { PLANS_PER_COMMIT_MAX } from "../../src/stores/shared/limits.ts";
import { at, everySecond, START_MS, setUp } from "./support.ts";

/** Whose preferred scheduler a schedule is, as anybody sees it. */
async function preferredAfterFiring(role: "both" | "scheduler"): Promise<string | null | undefined> {
  const { scheduler, store, clock } = setUp({ role, identity: "one" });
  scheduler.task("t", () => {});
  await scheduler.addSchedule("t", everySecond());
  await scheduler.start();
  await clock.advance({ seconds: 2 });
  await store.extendLeases({
    now: clock.now(),
    schedulerId: "one",
    instanceId: "elsewhere",
    settledCommitId: null,
    until: clock.now(),
    jobs: [],
    aliveUntil: clock.now() + 60_000,
  });
  const schedules = { dueBy: START_MS + 60_000, limit: 1, bytesMax: 10_000, after: null };
  const { due } = await store.look({ now: clock.now(), schedulerId: "two", jobs: null, schedules, tasks: null });
  return due[0]?.preferredScheduler;
}

describe("the preferred scheduler of a schedule", () => {
  test("is the scheduler that fired it last, and runs its jobs", async () => {
    expect(await preferredAfterFiring("both")).toBe("one");
  });

  test("is nobody after one that runs no jobs, since waiting for that one gains nothing", async () => {
    expect(await preferredAfterFiring("scheduler")).toBeNull();
  });
});

describe("schedules of a preferred scheduler that is alive and late", () => {
  test("are looked at page by page, with a pause between, and fired when the preferred scheduler has let the time pass", async () => {
    const store = Object.assign(new MemoryDataStore(), { capabilities: { sharedByProcesses: true } });
    const eventBroker = new LocalEventBroker();
    const { scheduler, clock } = setUp({ identity: "one", dataStore: store, eventBroker });
    const other = setUp({ identity: "two", dataStore: store, clock, eventBroker: new LocalEventBroker() }).scheduler;
    const trigger = new IntervalTrigger({ minutes: 1, startTime: at(1) });
    for (const each of [scheduler, other]) each.task("t", { maxRunningJobs: null }, () => {});
    const count = 2 * PLANS_PER_COMMIT_MAX + 50;
    for (let index = 0; index < count; index++) await scheduler.addSchedule("t", trigger, { id: `s${index}` });
    await scheduler.start();
    await clock.advance("PT2S");
    // It lives, and does nothing any more.
    scheduler.pause();
    await other.start();
    await clock.advance("PT58S");
    const look = store.look.bind(store);
    const looks: number[] = [];
    store.look = (request) => {
      if (request.schedulerId === "two") looks.push(clock.now());
      if (looks.length > 100) throw new Error("looks without a pause");
      return look(request);
    };
    await clock.advanceTo(at(61.05));
    expect(looks.length).toBeGreaterThan(0);
    expect(looks.length).toBeLessThanOrEqual(3);
    await clock.advanceTo(at(62));
    expect(
      (await other.getSchedules({ limit: 1000 })).items.filter(({ lastFireTime }) => {
        return lastFireTime?.epochMilliseconds === START_MS + 61_000;
      }).length,
    ).toBe(count);
  });
});
