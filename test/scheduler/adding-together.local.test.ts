import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ConflictingIdError, OptionsError, PayloadError, Scheduler } from "../../src/mod.ts";
import { LibsqlDriver } from "../../src/stores/libsql/driver.ts";
import { openClient } from "../../src/stores/libsql/open-client.ts";
import { SqlDataStore } from "../../src/stores/sql/sqlite/store.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { CountingDriver } from "../support/counting-driver.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { recordEvents, rejectionOf, START } from "./support.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let files = 0;
beforeAll(async () => {
  folder = await temporaryFolder();
});
beforeEach(() => {
  files++;
});
afterAll(() => folder.remove());
const schedulers: Scheduler[] = [];
afterEach(async () => {
  for (const scheduler of schedulers.splice(0)) await scheduler.stop();
});

/** A scheduler as a new process has it, on the database of the test. */
function begin(version?: number): { scheduler: Scheduler; driver: CountingDriver; trips: () => number } {
  const url = `file:${join(folder.path, `${files}.db`)}`;
  const driver = new CountingDriver(new LibsqlDriver({ url }, { durability: "normal", timeoutMs: 1000, openClient }));
  const options = { clock: new VirtualClock(START), logLevel: "silent" as const };
  const dataStore = new SqlDataStore(driver);
  const scheduler = new Scheduler({ dataStore, ...options, ...(version === undefined ? {} : { version }) });
  schedulers.push(scheduler);
  return { scheduler, driver, trips: () => driver.trips.reads + driver.trips.writes };
}

const ids = (count: number): string[] => Array.from({ length: count }, (_, index) => `s${index}`);

/** Declares schedules, all before the first `await`. */
const declareAll = (scheduler: Scheduler, count: number): Promise<unknown> =>
  Promise.all(ids(count).map((id) => scheduler.schedule(id, "0 9 * * *", () => {})));

describe("schedules that are added before the first await of a turn travel together", () => {
  test("in four requests to an empty database, and one to a database that has them", async () => {
    const first = begin();
    await declareAll(first.scheduler, 25);
    expect(first.trips()).toBeLessThanOrEqual(4);
    const again = begin();
    await declareAll(again.scheduler, 25);
    expect(again.driver.trips).toEqual({ reads: 1, writes: 0 });
    await again.scheduler.tick();
    expect(again.driver.trips).toEqual({ reads: 2, writes: 0 });
  });

  test("so that only those that changed are written", async () => {
    await declareAll(begin().scheduler, 5);
    const { scheduler, driver } = begin();
    await scheduler.tick();
    driver.reset();
    const events = recordEvents(scheduler);
    const changed = scheduler.schedule("s3", "0 10 * * *", () => {});
    const others = ids(3).map((id) => scheduler.schedule(id, "0 9 * * *", () => {}));
    expect((await changed).trigger.toString()).toContain("0 10");
    expect((await Promise.all(others)).map(({ id }) => id)).toEqual(["s0", "s1", "s2"]);
    expect(driver.trips).toEqual({ reads: 1, writes: 1 });
    await scheduler.stop();
    expect(events.filter((event) => event.startsWith("schedule"))).toEqual(["scheduleUpdated"]);
  });

  test("a thousand in at most ten commits", async () => {
    const { scheduler, driver } = begin();
    scheduler.task("t", () => {});
    await Promise.all(ids(1000).map((id) => scheduler.addSchedule("t", "0 9 * * *", { id })));
    expect(driver.trips.writes).toBeLessThanOrEqual(10);
    expect((await scheduler.getSchedules({ limit: 1000 })).items).toHaveLength(1000);
  });

  test("as a list too, whose schedules come back in its order", async () => {
    const { scheduler, driver } = begin();
    const report = scheduler.task("report", () => {});
    await scheduler.addJob("report");
    driver.reset();
    const added = await scheduler.addSchedules([
      { task: report, id: "weekly", trigger: "0 9 * * mon" },
      { task: "report", trigger: "0 9 * * *", payload: { full: true } },
    ]);
    expect(added.map(({ id, payload }) => [id, payload])).toEqual([
      ["weekly", undefined],
      [expect.any(String), { full: true }],
    ]);
    expect(driver.trips).toEqual({ reads: 1, writes: 1 });
    const wrong = [null] as unknown as Parameters<Scheduler["addSchedules"]>[0];
    expect(String(await rejectionOf(scheduler.addSchedules(wrong)))).toContain("task, trigger");
    expect(await rejectionOf(scheduler.addSchedules({} as never))).toBeInstanceOf(OptionsError);
  });

  test.each<[string, object, string]>([
    ["an option", { prority: 1 }, 'prority is no option; did you mean "priority"?'],
    ["a trigger", { trigger: "0 99 * * *" }, 'hour "99" is outside 0-23'],
    ["a task", { task: "nobody" }, 'no task "nobody" is known here'],
    ["a payload", { payload: () => {} }, 'the payload of task "t" cannot be stored'],
    ["an id", { id: "taken", conflictPolicy: "error" }, 'there is a schedule "taken" already'],
    ["a key", { task: "keyed" }, 'concurrencyKey is missing: task "keyed"'],
  ])("and an error about %s of a list says which schedule it is about", async (_what, options, message) => {
    const { scheduler } = begin();
    scheduler.task("t", () => {});
    scheduler.task("keyed", { maxRunningPerKey: 1 }, () => {});
    await scheduler.addSchedule("t", "0 9 * * *", { id: "taken" });
    const wrong = { task: "t", trigger: "0 9 * * *", id: "report", ...options };
    const error = await rejectionOf(scheduler.addSchedules([{ task: "t", trigger: "0 9 * * *", id: "fine" }, wrong]));
    const start = `addSchedules()[1] (id "${wrong.id}"): ${message}`;
    expect((error as Error).message.slice(0, start.length)).toBe(start);
    expect(String((error as Error).stack)).toContain((error as Error).message);
    expect((await scheduler.getSchedule("fine")).id).toBe("fine");
  });

  test("and what is wrong with one of them rejects its call alone", async () => {
    const { scheduler } = begin();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", "0 9 * * *", { id: "taken" });
    const strict = { "~standard": { version: 1, vendor: "test", validate: () => ({ issues: [{ message: "no" }] }) } };
    scheduler.task("strict", { schema: strict as never }, () => {});
    const calls = [
      scheduler.addSchedule("t", "0 9 * * *", { id: "a" }),
      scheduler.addSchedule("t", "0 9 * * *", { id: "taken", conflictPolicy: "error" }),
      scheduler.addSchedule("missing", "0 9 * * *", { id: "b" }),
      scheduler.addSchedule("strict", "0 9 * * *", { id: "c", payload: 1 as never }),
      scheduler.addSchedule("t", "0 9 * * *", { id: "d", conflictPolicy: "error" }),
      scheduler.addSchedule("t", "0 10 * * *", { id: "d", conflictPolicy: "error" }),
      scheduler.addSchedule("t", "0 10 * * *", { id: "e", by: "somebody" }),
    ];
    const ends = await Promise.allSettled(calls);
    expect(ends.map((end) => (end.status === "fulfilled" ? end.value.id : end.reason.constructor.name))).toEqual([
      ...["a", ConflictingIdError.name, "TaskLookupError", PayloadError.name, "d", ConflictingIdError.name, "e"],
    ]);
    expect((await scheduler.getSchedules()).items.map(({ id }) => id)).toEqual(["a", "d", "e", "taken"]);
  });

  test("and the last declaration of an id counts", async () => {
    await declareAll(begin().scheduler, 1);
    const { scheduler } = begin();
    scheduler.task("s0", () => {});
    const [first, second] = await Promise.all([
      scheduler.addSchedule("s0", "0 10 * * *", { id: "s0" }),
      scheduler.addSchedule("s0", "0 9 * * *", { id: "s0" }),
    ]);
    expect([first.id, second.id]).toEqual(["s0", "s0"]);
    expect((await scheduler.getSchedule("s0")).trigger.toString()).toContain("0 9");
  });

  test("and a program of a higher version writes its version, although nothing else changed", async () => {
    await declareAll(begin(1).scheduler, 2);
    const { scheduler, driver } = begin(2);
    await scheduler.tick();
    driver.reset();
    await declareAll(scheduler, 2);
    expect(driver.trips.writes).toBeGreaterThan(0);
    const again = begin(2);
    await declareAll(again.scheduler, 2);
    expect(again.driver.trips.writes).toBe(0);
  });
});
