import { describe, expect, test } from "vitest";
import type { TaskSettings } from "../../src/mod.ts";
import { MemoryDataStore, Scheduler } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { gate, recordEvents, recordingLogger, rejectionOf, START, setUp } from "./support.ts";

/** Runs a program that declares the task `t` and stops. Returns the events and warnings about it. */
async function deploy(store: MemoryDataStore, settings: TaskSettings, version?: number): Promise<unknown[]> {
  const { logger, entries } = recordingLogger();
  const clock = new VirtualClock(START);
  const options = {
    dataStore: store,
    clock,
    logger,
    logLevel: "warn" as const,
    identity: "program",
    ...(version === undefined ? {} : { version }),
  };
  const scheduler = new Scheduler(options);
  const events = recordEvents(scheduler);
  scheduler.task("t", settings, () => {});
  await scheduler.start();
  await clock.settle();
  await scheduler.stop();
  return [...events.filter((type) => type.startsWith("task")), ...entries.map(({ level }) => level)];
}

async function limitIn(store: MemoryDataStore): Promise<number | null | undefined> {
  return (await store.getTask("t"))?.maxRunningJobs;
}

describe("a program that declares its tasks at every start", () => {
  test("changes nothing while its declaration is the same, so that an edit made elsewhere survives", async () => {
    const store = new MemoryDataStore();
    expect(await deploy(store, { maxRunningJobs: 2 })).toEqual(["taskAdded"]);
    const declared = await store.getTask("t");
    if (declared === null) throw new Error("the task was declared");
    const { declaration: _, ...settings } = declared;
    await store.putTasks([{ ...settings, maxRunningJobs: 9 }]);
    expect([await deploy(store, { maxRunningJobs: 2 }), await limitIn(store)]).toEqual([[], 9]);
    expect([await deploy(store, { maxRunningJobs: 3 }), await limitIn(store)]).toEqual([["taskUpdated"], 3]);
  });

  test("overwrites nothing of a higher version, and says so once", async () => {
    const store = new MemoryDataStore();
    expect(await deploy(store, { maxRunningJobs: 5 }, 7)).toEqual(["taskAdded"]);
    expect(await deploy(store, { maxRunningJobs: 2 }, 6)).toEqual(["taskOutdated", "warn"]);
    expect(await deploy(store, { maxRunningJobs: 2 })).toEqual(["taskOutdated", "warn"]);
    expect(await limitIn(store)).toBe(5);
    expect([await deploy(store, { maxRunningJobs: 2 }, 7), await limitIn(store)]).toEqual([["taskUpdated"], 2]);
    expect([await deploy(store, { maxRunningJobs: 5 }, 8), await limitIn(store)]).toEqual([["taskUpdated"], 5]);
  });

  test("tells its version in the event", async () => {
    const store = new MemoryDataStore();
    await deploy(store, { maxRunningJobs: 5 }, 7);
    const { scheduler } = setUp({ dataStore: store, version: 0, identity: "older" });
    scheduler.task("t", () => {});
    const outdated = scheduler.nextEvent("taskOutdated");
    await scheduler.tick();
    expect(await outdated).toMatchObject({ taskId: "t", schedulerId: "older", version: 0 });
  });

  test.each([[-1], [1.5], ["7"], [null]])("takes %j for no version", async (version) => {
    const error = await rejectionOf(Promise.resolve().then(() => new Scheduler({ version: version as number })));
    expect(error).toMatchObject({ code: "options", issues: [{ path: "version" }] });
  });
});

describe("a task that another scheduler removed", () => {
  test("keeps its limit where its handler still runs", async () => {
    const { scheduler: worker, clock, store } = setUp();
    const { scheduler: other } = setUp({ clock, dataStore: store });
    const held = gate();
    let running = 0;
    const task = worker.task("t", { maxRunningJobs: 2 }, async () => {
      running++;
      await held.passed;
    });
    await worker.start();
    await clock.settle();
    await other.removeTask("t");
    expect(await other.getTasks()).toEqual([]);
    for (let left = 8; left > 0; left--) await worker.addJob(task);
    await clock.settle();
    expect(running).toBe(2);
    held.pass();
    await clock.settle();
    expect(running).toBe(8);
  });
});
