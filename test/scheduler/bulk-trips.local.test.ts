import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ConflictingIdError, IntervalTrigger, Scheduler, StoreRefusedError } from "../../src/mod.ts";
import { LibsqlDriver } from "../../src/stores/libsql/driver.ts";
import { openClient } from "../../src/stores/libsql/open-client.ts";
import { SqlDataStore } from "../../src/stores/sql/sqlite/store.ts";
import { drain, VirtualClock } from "../../src/testing/mod.ts";
import { CountingDriver } from "../support/counting-driver.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { START } from "./support.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());
const schedulers: Scheduler[] = [];
afterEach(async () => {
  for (const scheduler of schedulers.splice(0)) await scheduler.stop();
});

/** A scheduler with jobs on a file, whose requests are counted from now on. */
async function withJobs(name: string, count: number): Promise<{ scheduler: Scheduler; driver: CountingDriver }> {
  const url = `file:${join(folder.path, `${name} ${count}.db`)}`;
  const driver = new CountingDriver(new LibsqlDriver({ url }, { durability: "normal", timeoutMs: 1000, openClient }));
  const options = { clock: new VirtualClock(START), logLevel: "silent" as const };
  const scheduler = new Scheduler({ dataStore: new SqlDataStore(driver), ...options });
  schedulers.push(scheduler);
  scheduler.task("t", { maxRunningJobs: null, retry: { maxAttempts: 1 } }, () => {
    throw new Error("broken");
  });
  await scheduler.addJobs(Array.from({ length: count }, () => ({ task: "t" })));
  driver.reset();
  return { scheduler, driver };
}

/** Jobs that will fail, with payloads of about 900 KB. */
function addLarge(scheduler: Scheduler, count: number): Promise<unknown> {
  return scheduler.addJobs(Array.from({ length: count }, () => ({ task: "t", payload: "x".repeat(900_000) })));
}

/** The same with schedules instead of jobs. */
async function withSchedules(name: string, count: number): ReturnType<typeof withJobs> {
  const { scheduler, driver } = await withJobs(name, 1);
  const trigger = new IntervalTrigger({ seconds: 1 });
  await scheduler.addSchedules(Array.from({ length: count }, (_, index) => ({ task: "t", trigger, id: `s-${index}` })));
  driver.reset();
  return { scheduler, driver };
}

async function all<T>(listing: AsyncIterable<T>, idOf: (item: T) => string): Promise<string[]> {
  const ids: string[] = [];
  for await (const item of listing) ids.push(idOf(item));
  return ids;
}

test.each([
  [1000, 1],
  [2500, 3],
])("%i jobs are cancelled in %i commits, by a filter and by their ids", async (count, commits) => {
  const filtered = await withJobs("filter", count);
  expect(await filtered.scheduler.cancelJobs({ taskId: "t" })).toMatchObject({ cancelled: count, skipped: 0 });
  expect(filtered.driver.trips).toEqual({ reads: commits, writes: commits });
  const named = await withJobs("ids", count);
  const ids = await all(named.scheduler.getJobs({ limit: 1000 }), ({ id }) => id);
  named.driver.reset();
  expect(await named.scheduler.cancelJobs({ ids })).toMatchObject({ cancelled: count, skipped: 0 });
  expect(named.driver.trips).toEqual({ reads: 0, writes: commits });
});

test.each([
  [1000, 1],
  [2500, 3],
])("%i jobs are retried in %i commits, each with two reads", async (count, commits) => {
  const { scheduler, driver } = await withJobs("retry", count);
  await drain(scheduler);
  const ids = await all(scheduler.getJobResults({ limit: 1000 }), ({ jobId }) => jobId);
  driver.reset();
  expect(await scheduler.retryJobs({ ids })).toMatchObject({ retried: count, skipped: 0 });
  expect(driver.trips).toEqual({ reads: 2 * commits, writes: commits });
  driver.reset();
  expect(await scheduler.retryJobs({ outcome: "error" })).toMatchObject({ retried: 0, skipped: count });
  expect(driver.trips).toEqual({ reads: 2 * commits, writes: 0 });
});

test.each([
  [1000, 1],
  [2500, 3],
])("%i schedules are paused, go on and are removed in %i commits each", async (count, commits) => {
  const { scheduler, driver } = await withSchedules("schedules", count);
  const ids = Array.from({ length: count }, (_, index) => `s-${index}`);
  expect(await scheduler.pauseSchedules({ ids })).toMatchObject({ paused: count, skipped: 0 });
  expect(driver.trips).toEqual({ reads: commits, writes: commits });
  driver.reset();
  expect(await scheduler.unpauseSchedules({ ids }, { resumeFrom: "now" })).toMatchObject({ unpaused: count });
  expect(driver.trips).toEqual({ reads: commits, writes: commits });
  driver.reset();
  expect(await scheduler.pauseSchedules({ taskId: "t" })).toMatchObject({ paused: count, skipped: 0 });
  expect(driver.trips).toEqual({ reads: 2 * commits, writes: commits });
  driver.reset();
  expect(await scheduler.removeSchedules({ ids })).toMatchObject({ removed: count, skipped: 0 });
  expect(driver.trips).toEqual({ reads: 0, writes: commits });
});

test("a thousand schedules are removed by a filter in a read and a commit", async () => {
  const { scheduler, driver } = await withSchedules("filter", 1000);
  expect(await scheduler.removeSchedules({ taskId: "t" })).toMatchObject({ removed: 1000, skipped: 0 });
  expect(driver.trips).toEqual({ reads: 1, writes: 1 });
});

test("a thousand additions in flight whose ids are in use cost ten requests", async () => {
  const { scheduler, driver } = await withSchedules("conflicts", 1000);
  const add = (id: string): Promise<unknown> =>
    scheduler.addSchedule("t", new IntervalTrigger({ seconds: 1 }), { id, conflictPolicy: "error" });
  const all = await Promise.allSettled(Array.from({ length: 1000 }, (_, index) => add(`s-${index}`)));
  expect(all.filter((one) => one.status === "rejected" && one.reason instanceof ConflictingIdError).length).toBe(1000);
  expect(driver.trips).toEqual({ reads: 5, writes: 5 });
  driver.reset();
  const half = await Promise.allSettled(Array.from({ length: 200 }, (_, index) => add(`s-${900 + index}`)));
  expect(half.map(({ status }) => status)).toEqual([...Array(100).fill("rejected"), ...Array(100).fill("fulfilled")]);
  expect(driver.trips).toEqual({ reads: 1, writes: 2 });
});

test("a thousand additions of jobs in flight, some after unknown jobs, cost two writes and a read", async () => {
  const { scheduler, driver } = await withJobs("unknown", 1);
  const add = (index: number): Promise<unknown> =>
    scheduler.addJob("t", index % 3 === 0 ? { after: [`unknown ${index}`] } : {});
  const answers = await Promise.allSettled(Array.from({ length: 1000 }, (_, index) => add(index)));
  const reasons = answers.map((one) => (one.status === "rejected" ? (one.reason as Error) : null));
  expect(reasons.map((reason) => reason instanceof StoreRefusedError)).toEqual(
    answers.map((_, index) => index % 3 === 0),
  );
  expect(reasons[3]?.message).toContain('does not know: "unknown 3". A parent');
  expect(driver.trips).toEqual({ reads: 1, writes: 2 });
});

test("jobs with large results are retried in parts of four megabytes", async () => {
  const { scheduler, driver } = await withJobs("large", 1);
  await scheduler.cancelJobs({ all: true });
  await addLarge(scheduler, 10);
  await drain(scheduler);
  const ids = await all(scheduler.getJobResults({ outcome: "error" }), ({ jobId }) => jobId);
  driver.reset();
  expect(await scheduler.retryJobs({ ids })).toMatchObject({ retried: 10, skipped: 0 });
  expect(driver.trips).toEqual({ reads: 6, writes: 3 });
});
