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
    scheduler.task("t", { maxRunningJobs: 1 }, () => {});
    const outdated = scheduler.nextEvent("taskOutdated");
    await scheduler.tick();
    expect(await outdated).toMatchObject({ taskId: "t", schedulerId: "older", version: 0 });
  });

  test.each([[-1], [1.5], ["7"], [null]])("takes %j for no version", async (version) => {
    const error = await rejectionOf(Promise.resolve().then(() => new Scheduler({ version: version as number })));
    expect(error).toMatchObject({ code: "options", issues: [{ path: "version" }] });
  });
});

describe("programs that declare one task differently", () => {
  const FULL = { maxRunningJobs: 5, timeout: "1m", retry: { maxAttempts: 3 }, labels: { team: "mail" } } as const;

  /** What the store says of the task, by name. */
  async function storedSettings(store: MemoryDataStore, ...names: readonly string[]): Promise<unknown[]> {
    const { scheduler } = setUp({ dataStore: store });
    const settings = (await scheduler.getTask("t")).toJSON();
    return names.map((name) => settings[name]);
  }

  test("a stub leaves the settings of another program, and its jobs get them", async () => {
    const { scheduler: worker, clock, store } = setUp({ identity: "worker" });
    let running = 0;
    worker.task("t", FULL, async (_, { signal }) => {
      running++;
      await clock.sleep(clock.now() + 10_000, signal);
    });
    await worker.start();
    const { scheduler: web, log } = setUp({ clock, dataStore: store, identity: "web" });
    const events = recordEvents(web);
    web.task("t", () => {});
    const jobs = await web.addJobs(Array.from({ length: 8 }, () => ({ task: "t" })));
    await clock.settle();
    expect(running).toBe(5);
    expect(jobs.map(({ labels }) => labels)).toEqual(Array(8).fill({ team: "mail" }));
    expect(await storedSettings(store, "maxRunningJobs", "timeout")).toEqual([5, "PT1M"]);
    expect([log, events.filter((type) => type.startsWith("task"))]).toEqual([[], []]);
  });

  test("a program that only names the task runs its jobs with the settings of the store", async () => {
    const store = new MemoryDataStore();
    await deploy(store, { timeout: "2s" });
    const { scheduler, clock } = setUp({ dataStore: store });
    scheduler.task("t", (_, { signal }) => clock.sleep(clock.now() + 60_000, signal));
    await scheduler.start();
    const job = await scheduler.addJob("t");
    await clock.advance({ seconds: 3 });
    expect((await job.result())?.error?.name).toBe("JobTimeoutError");
  });

  test("each setting is declared for itself, in any order, and edits of others stay", async () => {
    const store = new MemoryDataStore();
    expect(await deploy(store, { maxRunningJobs: 5 })).toEqual(["taskAdded"]);
    expect(await deploy(store, { timeout: "1m" })).toEqual(["taskUpdated"]);
    for (const settings of [{ maxRunningJobs: 5 }, { timeout: "1m" }, {}, { timeout: undefined }]) {
      expect(await deploy(store, settings)).toEqual([]);
    }
    expect(await storedSettings(store, "maxRunningJobs", "timeout")).toEqual([5, "PT1M"]);
    const { declaration: _, ...edited } = (await store.getTask("t")) ?? unknownTask();
    await store.putTasks([{ ...edited, maxRunningJobs: 9 }]);
    expect(await deploy(store, { timeout: "2m" })).toEqual(["taskUpdated"]);
    expect(await deploy(store, { maxRunningJobs: 5 })).toEqual([]);
    expect(await storedSettings(store, "maxRunningJobs", "timeout")).toEqual([9, "PT2M"]);
  });

  test.each<[name: string, settings: TaskSettings, back: TaskSettings]>([
    ["maxRunningJobs", { maxRunningJobs: 5 }, { maxRunningJobs: 1 }],
    ["maxRunningPerKey", { maxRunningPerKey: 2 }, { maxRunningPerKey: null }],
    ["rateLimit", { rateLimit: { limit: 1, per: "1s" } }, { rateLimit: null }],
    ["fair", { fair: true }, { fair: false }],
    ["keepLogs", { keepLogs: {} }, { keepLogs: null }],
    ["misfireGraceTime", { misfireGraceTime: "1m" }, { misfireGraceTime: null }],
    ["retry", { retry: { maxAttempts: 3 } }, { retry: {} }],
    ["maxRecoveries", { maxRecoveries: 0 }, { maxRecoveries: 3 }],
    ["maxSnoozes", { maxSnoozes: 0 }, { maxSnoozes: 100 }],
    ["timeout", { timeout: "1m" }, { timeout: null }],
    ["abandonAfter", { abandonAfter: "5m" }, { abandonAfter: null }],
    ["resultExpirationTime", { resultExpirationTime: "1h" }, { resultExpirationTime: "24h" }],
    ["failureExpirationTime", { failureExpirationTime: "1h" }, { failureExpirationTime: null }],
    ["overlap", { overlap: "skip" }, { overlap: "queue" }],
    ["pauseAfterFailures", { pauseAfterFailures: 3 }, { pauseAfterFailures: null }],
    ["metadata", { metadata: { a: null } }, { metadata: {} }],
    ["labels", { labels: { a: "b" } }, { labels: {} }],
  ])("%s stays without a word, and its default counts where it is declared", async (name, settings, back) => {
    const [store, fresh] = [new MemoryDataStore(), new MemoryDataStore()];
    await deploy(store, settings);
    const [declared] = await storedSettings(store, name);
    expect([await deploy(store, {}), await storedSettings(store, name)]).toEqual([[], [declared]]);
    await deploy(fresh, {});
    const [byDefault] = await storedSettings(fresh, name);
    expect(byDefault).not.toEqual(declared);
    expect(await deploy(store, back)).toEqual(["taskUpdated"]);
    expect(await storedSettings(store, name)).toEqual([byDefault]);
  });

  test("taskDefaults are declared like settings, and only those that are given", async () => {
    const store = new MemoryDataStore();
    const { scheduler: first } = setUp({ dataStore: store, taskDefaults: { timeout: "1m" } });
    first.task("t", { maxRunningJobs: 2 }, () => {});
    await first.getTasks();
    const { scheduler: second } = setUp({ dataStore: store, taskDefaults: { maxRecoveries: 0 } });
    second.task("t", () => {});
    await second.getTasks();
    expect(await storedSettings(store, "maxRunningJobs", "timeout", "maxRecoveries")).toEqual([2, "PT1M", 0]);
  });

  test("a limit for each key leaves none for all, unless one is declared", async () => {
    const store = new MemoryDataStore();
    await deploy(store, {});
    await deploy(store, { maxRunningPerKey: 2 });
    expect(await storedSettings(store, "maxRunningJobs", "maxRunningPerKey")).toEqual([null, 2]);
  });

  test("two that begin at once lose no setting of either", async () => {
    for (const order of [
      [{}, FULL],
      [FULL, {}],
      [{ maxRunningJobs: 5 }, { timeout: "1m", retry: { maxAttempts: 3 }, labels: FULL.labels }],
    ]) {
      const store = new MemoryDataStore();
      await Promise.all(
        order.map(async (settings) => {
          const { scheduler } = setUp({ dataStore: store });
          scheduler.task("t", settings, () => {});
          await scheduler.getTasks();
        }),
      );
      const expected = [5, "PT1M", { team: "mail" }];
      expect(await storedSettings(store, "maxRunningJobs", "timeout", "labels")).toEqual(expected);
    }
  });

  test("both hear of a setting that differs under one version: the values, who, and how to tell the newer one", async () => {
    const { scheduler: worker, clock, store, log: heard } = setUp({ identity: "worker", version: 7 });
    worker.task("t", FULL, () => {});
    await worker.start();
    const { scheduler: web, log } = setUp({ clock, dataStore: store, identity: "web", version: 7 });
    web.task("t", { timeout: null, maxRunningJobs: 5 }, () => {});
    await web.getTasks();
    const warning =
      'escapement: task "t" has timeout null in this program (scheduler "web"), and "PT1M" in that of scheduler ' +
      '"worker", both of version 7; null counts, because it was declared last. Declare it in one of them only, or ' +
      "tell which program is newer: new Scheduler({ version })";
    expect(log.map(({ message }) => message)).toEqual([warning]);
    await clock.advance({ minutes: 5 });
    const other =
      'escapement: task "t" has timeout "PT1M" in this program (scheduler "worker"), and null in that of scheduler ' +
      '"web", both of version 7; null counts, because it was declared last. Declare it in one of them only, or ' +
      "tell which program is newer: new Scheduler({ version })";
    expect(heard.map(({ message }) => message)).toEqual([other]);
    expect(await storedSettings(store, "timeout", "maxRunningJobs")).toEqual([null, 5]);
  });

  test("whoever was told that its value counts hears, too, that it does so no longer", async () => {
    const { clock, store } = setUp();
    const start = async (identity: string, timeout: string) => {
      const { scheduler, log } = setUp({ clock, dataStore: store, identity });
      scheduler.task("t", { timeout }, () => {});
      await scheduler.start();
      await clock.advance({ minutes: 5 });
      return log;
    };
    await start("old", "1m");
    const log = await start("web", "2m");
    await start("older", "1m");
    const counting = log.map(({ message }) => /"(\w+)", both .*; (.*) counts, because/.exec(message)?.slice(1));
    expect(counting).toEqual([
      ["old", '"PT2M"'],
      ["older", '"PT1M"'],
    ]);
  });

  test("nobody hears of what a newer version changed, nor of what a program that has gone declared", async () => {
    const { scheduler: worker, clock, store, log: heard } = setUp({ identity: "worker", version: 7 });
    worker.task("t", FULL, () => {});
    await worker.start();
    const { scheduler: newer, log } = setUp({ clock, dataStore: store, identity: "newer", version: 8 });
    newer.task("t", { timeout: "3m" }, () => {});
    await newer.getTasks();
    await clock.advance({ minutes: 5 });
    expect([heard, log]).toEqual([[], []]);
    await worker.stop();
    expect(await deploy(store, { timeout: "4m" }, 8)).toEqual(["taskUpdated"]);
  });

  test("a version that says nothing of the settings leaves them to older ones", async () => {
    const store = new MemoryDataStore();
    expect(await deploy(store, {}, 9)).toEqual(["taskAdded"]);
    expect(await deploy(store, { timeout: "1m" }, 8)).toEqual(["taskUpdated"]);
    expect(await deploy(store, {}, 9)).toEqual([]);
    expect(await deploy(store, { timeout: "2m" }, 8)).toEqual(["taskUpdated"]);
  });

  test("text that no scheduler has written declares nothing", async () => {
    for (const declaration of ["hash", "null", '"text"', "[1]", "{"]) {
      const store = new MemoryDataStore();
      await deploy(store, FULL);
      const task = (await store.getTask("t")) ?? unknownTask();
      await store.putTasks([{ ...task, declaration }]);
      expect(await deploy(store, {})).toEqual([]);
      expect(await deploy(store, { timeout: "2m" })).toEqual(["taskUpdated"]);
      expect(await storedSettings(store, "timeout", "maxRunningJobs")).toEqual(["PT2M", 5]);
    }
  });
});

function unknownTask(): never {
  throw new Error("the task was declared");
}

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
