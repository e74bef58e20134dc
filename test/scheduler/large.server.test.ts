import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { DateTrigger, type EventType, IntervalTrigger, Scheduler } from "../../src/mod.ts";
import type { SchedulerEvent } from "../../src/scheduler/events/scheduler-event.ts";
import { LibsqlDataStore } from "../../src/stores/libsql/mod.ts";
import { Sqld } from "../support/sqld.ts";
import { leaseAndDie, recordingLogger } from "./support.ts";

// sqld takes values of at most 5 MB, and sends answers of at most 10 MB.

const WIDE = "x".repeat(900_000);

let server: Sqld;
let prefixes = 0;
let tablePrefix = "";

beforeAll(async () => {
  server = await Sqld.start();
});
beforeEach(() => {
  tablePrefix = `large${++prefixes}_`;
});
afterAll(() => server?.stop());

function newStore(): LibsqlDataStore {
  return new LibsqlDataStore({ url: server.httpUrl }, { tablePrefix });
}

/** A scheduler on a real server, whose warnings and errors, but those of its jobs, fail the test. */
async function withScheduler(
  options: { identity?: string; maxConcurrentJobs?: number },
  work: (scheduler: Scheduler) => Promise<void>,
): Promise<void> {
  const { logger, entries } = recordingLogger();
  const scheduler = new Scheduler({ dataStore: newStore(), logger, logLevel: "warn", ...options });
  try {
    await work(scheduler);
  } finally {
    await scheduler.stop();
  }
  // How a job ends is what these tests are about, and some begin after a process has died.
  const expected = /^escapement: (job |\d+ jobs? (is|are) still leased)/;
  const others = entries.filter(({ message }) => !expected.test(message));
  expect(others.map(({ level, message, details }) => [level, message, String(details[0])])).toEqual([]);
}

/** Resolves when so many events of a type have come. */
function eventsOf<T extends EventType>(scheduler: Scheduler, type: T, count: number): Promise<SchedulerEvent<T>[]> {
  return new Promise((resolve) => {
    const seen: SchedulerEvent<T>[] = [];
    scheduler.subscribe(type, (event) => {
      seen.push(event);
      if (seen.length === count) resolve(seen);
    });
  });
}

test("a schedule with a large payload catches up on all that it missed, and others go on", async () => {
  await withScheduler({ maxConcurrentJobs: 1000 }, async (scheduler) => {
    const fired: (string | null)[] = [];
    const task = scheduler.task("t", { maxRunningJobs: null }, (_: unknown, { job }) => {
      fired.push(job.scheduleId);
    });
    const startTime = new Date(Date.now() - 600_000);
    const endTime = new Date(startTime.getTime() + 599_000);
    const all = new IntervalTrigger({ seconds: 1, startTime, endTime });
    await scheduler.addSchedule(task, all, { id: "all", coalesce: "all", payload: "x".repeat(10_000) });
    const ended = eventsOf(scheduler, "jobReleased", 601);
    await scheduler.start();
    await scheduler.addSchedule(task, new DateTrigger(new Date(Date.now())), { id: "other" });
    expect((await ended).every(({ outcome }) => outcome === "success")).toBe(true);
    expect(fired.filter((id) => id === "all").length).toBe(600);
    // It did not wait for the end of the catch-up.
    expect(fired.indexOf("other")).toBeLessThan(600);
  });
});

test("jobs that return large values at once all get their results", async () => {
  await withScheduler({}, async (scheduler) => {
    let running = 0;
    let finishAll = (): void => {};
    const all = new Promise<void>((resolve) => {
      finishAll = resolve;
    });
    const large = scheduler.task("large", { maxRunningJobs: null }, async () => {
      if (++running === 6) finishAll();
      await all;
      return WIDE;
    });
    const small = scheduler.task("small", () => "small");
    await scheduler.start();
    const ended = eventsOf(scheduler, "jobReleased", 7);
    const jobs = await scheduler.addJobs(Array.from({ length: 6 }, () => ({ task: large })));
    await scheduler.addJob(small);
    expect((await ended).map(({ outcome }) => outcome)).toEqual(Array.from({ length: 7 }, () => "success"));
    const results = await Promise.all(jobs.map(({ id }) => scheduler.getJobResult(id)));
    expect(results.every((result) => result?.returnValue === WIDE)).toBe(true);
  });
});

test("schedules with large payloads that are due at one instant all fire", async () => {
  await withScheduler({}, async (scheduler) => {
    const task = scheduler.task("t", { maxRunningJobs: null }, (payload: string) => payload.length);
    const at = new DateTrigger(new Date(Date.now() - 1000));
    const payload = "x".repeat(90_000);
    for (let index = 0; index < 60; index++) await scheduler.addSchedule(task, at, { id: `s${index}`, payload });
    const ended = eventsOf(scheduler, "jobReleased", 60);
    await scheduler.start();
    const events = await ended;
    expect(events.every(({ outcome }) => outcome === "success")).toBe(true);
    expect(new Set(events.map(({ scheduleId }) => scheduleId)).size).toBe(60);
  });
});

/** Jobs with large payloads whose holder died. */
async function abandoned(identity: string, maxRecoveries: number): Promise<void> {
  const store = newStore();
  const client = new Scheduler({ dataStore: store });
  const task = client.task("t", { maxRunningJobs: null, maxRecoveries }, (_: string) => {});
  for (let left = 12; left > 0; left--) await client.addJob(task, { payload: WIDE });
  for (let left = 12; left > 0; left--)
    await leaseAndDie(store, Date.now() - 120_000 - left, { schedulerId: identity });
  await client.stop();
}

for (const [name, maxRecoveries, outcome] of [
  ["run again", 3, "success"],
  ["end as abandoned", 0, "abandoned"],
] as const) {
  test(`large jobs whose holder died ${name}, and others go on`, async () => {
    await abandoned("dead", maxRecoveries);
    await withScheduler({}, async (scheduler) => {
      scheduler.task("t", { maxRunningJobs: null, maxRecoveries }, (_: string) => {});
      const small = scheduler.task("small", { maxRunningJobs: null }, () => {});
      const ended = eventsOf(scheduler, "jobReleased", 17);
      await scheduler.start();
      await scheduler.addJobs(Array.from({ length: 5 }, () => ({ task: small })));
      const events = await ended;
      expect(events.filter(({ taskId }) => taskId === "t").map((event) => event.outcome)).toEqual(
        Array.from({ length: 12 }, () => outcome),
      );
    });
  });

  test(`large jobs that an earlier process of the identity left ${name} after its start`, async () => {
    await abandoned("same", maxRecoveries);
    await withScheduler({ identity: "same" }, async (scheduler) => {
      scheduler.task("t", { maxRunningJobs: null, maxRecoveries }, (_: string) => {});
      const ended = eventsOf(scheduler, "jobReleased", 12);
      await scheduler.start();
      expect((await ended).map((event) => event.outcome)).toEqual(Array.from({ length: 12 }, () => outcome));
    });
  });
}
