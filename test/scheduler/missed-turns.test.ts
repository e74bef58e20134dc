import { describe, expect, test } from "vitest";
import { LocalEventBroker } from "../../src/brokers/local.ts";
import { type Job, type ScheduleOptions, Scheduler, type SchedulerOptions } from "../../src/mod.ts";
import { MemoryDataStore } from "../../src/stores/memory/store.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { heldHandler, START, secondsOf } from "./support.ts";

const MINUTELY = "* * * * *";
const MINUTE_S = 60;

/** A schedule `s` of the task `t` that has run for five minutes, and a way to have no worker for it. */
async function setUp(schedule: ScheduleOptions = {}, besides: SchedulerOptions | null = { role: "scheduler" }) {
  const clock = new VirtualClock(START);
  const store = new MemoryDataStore();
  const jobs: Job[] = [];
  const start = async (options: SchedulerOptions): Promise<Scheduler> => {
    const scheduler = new Scheduler({ clock, dataStore: store, logLevel: "silent", ...options });
    if (options.role !== "scheduler") scheduler.task("t", (_: undefined, { job }) => void jobs.push(job));
    await scheduler.start();
    return scheduler;
  };
  const planner = besides === null ? null : await start(besides);
  const worker = await start({});
  await worker.addSchedule("t", MINUTELY, { id: "s", ...schedule });
  await clock.advance({ minutes: 5, seconds: 30 });
  const ran = (): (number | null)[] => jobs.splice(0).map(({ fireTime }) => (secondsOf(fireTime) ?? 0) / MINUTE_S);
  ran();
  return { clock, store, worker, planner, start, jobs, ran };
}

/** As on a server: each scheduler may be of another process, and hears of the others by its broker alone. */
class SharedStore extends MemoryDataStore {
  override readonly capabilities = { sharedByProcesses: true };
}

describe("a schedule whose worker hears of nothing, and looks now and then", () => {
  const OFTEN_S = 4;

  async function setUp(minutes: number, withWorker: boolean): Promise<{ runs: number; coalesced: number }> {
    const clock = new VirtualClock(START);
    const dataStore = new SharedStore();
    let runs = 0;
    const start = async (role: "scheduler" | "worker"): Promise<Scheduler> => {
      const eventBroker = new LocalEventBroker();
      const scheduler = new Scheduler({ clock, dataStore, eventBroker, role, logLevel: "silent" });
      scheduler.task("t", () => void runs++);
      await scheduler.start();
      return scheduler;
    };
    const planner = await start("scheduler");
    const worker = withWorker ? await start("worker") : null;
    await planner.addSchedule("t", { every: `${OFTEN_S}s` }, { id: "s" });
    await clock.advance({ minutes });
    const last = worker ?? (await start("worker"));
    await clock.settle();
    await last.stop();
    const { items } = await planner.getOccurrences("s", { verdict: "coalesced", limit: 1000 });
    await planner.stop();
    return { runs, coalesced: items.length };
  }

  test("runs as often as it fires, though it fires more often than the worker looks", async () => {
    const { runs, coalesced } = await setUp(5, true);
    // The first fire time is at once, and what came after the last look waits.
    expect(coalesced).toBe(0);
    expect(runs).toBeGreaterThan((4 * 60) / OFTEN_S);
  });

  test("and runs once for what it missed while no worker was up at all", async () => {
    const { runs, coalesced } = await setUp(5, false);
    expect([runs, coalesced]).toEqual([1, (5 * 60) / OFTEN_S]);
  });
});

describe("a schedule whose worker is away while others plan", () => {
  test.each([
    ["latest", [485], 1],
    ["earliest", [6], 1],
  ] as const)("runs once when the worker is back, with %s", async (coalesce, expected, waiting) => {
    const { clock, store, worker, start, ran, jobs } = await setUp({ coalesce });
    await worker.stop();
    await clock.advance({ hours: 8 });
    expect((await store.getJobs({ limit: 100, cursor: null })).items).toHaveLength(waiting);
    const back = await start({});
    await clock.advance({ seconds: 20 });
    expect(jobs.map(({ missedCount }) => missedCount)).toEqual([479]);
    expect(ran()).toEqual(expected);
    const { items } = await back.getOccurrences("s", { verdict: "coalesced", limit: 1000 });
    expect(new Set(items.map(({ into }) => (secondsOf(into) ?? 0) / MINUTE_S))).toEqual(new Set(expected));
    expect(items).toHaveLength(479);
    await clock.advance({ minutes: 2 });
    expect(ran()).toEqual([486, 487]);
    expect((await back.getSchedule("s")).skippedCount).toBe(0);
  });

  test("is overdue as early as the first fire time that waits, and says so again as long as it lasts", async () => {
    const { clock, worker, planner, start } = await setUp({ expectStartWithin: "10m" });
    const told: (number | string)[] = [];
    planner?.subscribe("occurrenceOverdue", () => told.push((clock.now() - Date.parse(START)) / 60_000));
    planner?.subscribe("occurrenceResolved", ({ reason }) => told.push(reason));
    await worker.stop();
    await clock.advance({ minutes: 20 });
    expect(told).toEqual([16, 25]);
    await start({});
    await clock.advance({ seconds: 20 });
    expect(told).toEqual([16, 25, "started", "started"]);
  });

  test("runs as often as it fired, with all", async () => {
    const { clock, worker, start, ran } = await setUp({ coalesce: "all" });
    await worker.stop();
    await clock.advance({ minutes: 10 });
    await start({});
    await clock.advance({ seconds: 20 });
    expect(ran()).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
  });

  test("tells of each job that another one stands for", async () => {
    const { clock, worker, planner } = await setUp();
    const told: unknown[] = [];
    planner?.subscribe("occurrenceSkipped", ({ reason, count, fireTime }) => {
      told.push([reason, count, (secondsOf(fireTime) ?? 0) / MINUTE_S]);
    });
    await worker.stop();
    await clock.advance({ minutes: 3 });
    expect(told).toEqual([
      ["coalesced", 1, 6],
      ["coalesced", 1, 7],
    ]);
  });

  test("ends the job that came too late, and runs the one in time", async () => {
    const { clock, worker, start, ran } = await setUp({ misfireGraceTime: "PT40S" });
    await worker.stop();
    await clock.advance({ minutes: 10 });
    await clock.advance({ seconds: 15 });
    const back = await start({});
    await clock.advance({ seconds: 10 });
    expect(ran()).toEqual([]);
    await clock.advance({ seconds: 30 });
    expect(ran()).toEqual([16]);
    expect((await back.getOccurrences("s", { verdict: "misfired", limit: 100 })).items).not.toEqual([]);
  });
});

test("a schedule whose task is paused runs once when it goes on", async () => {
  const { clock, worker, ran } = await setUp({}, null);
  await worker.pauseTask("t");
  await clock.advance({ hours: 8 });
  await worker.unpauseTask("t");
  await clock.advance({ seconds: 20 });
  expect(ran()).toEqual([485]);
});

test("a schedule whose concurrency key is paused runs once when it goes on", async () => {
  const { clock, worker, ran } = await setUp({ concurrencyKey: "k" }, null);
  await worker.pauseTask("t", { key: "k" });
  await clock.advance({ hours: 8 });
  await worker.unpauseTask("t", { key: "k" });
  await clock.advance({ seconds: 20 });
  expect(ran()).toEqual([485]);
});

test("a schedule whose places others have runs once when there is room", async () => {
  const { clock, worker, ran } = await setUp({}, null);
  const { handler, held } = heldHandler();
  worker.task("long", { maxRunningJobs: null }, handler);
  await worker.addJobs(Array.from({ length: 100 }, () => ({ task: "long" })));
  await clock.advance({ minutes: 30 });
  held[0]?.finish("done");
  await clock.advance({ seconds: 1 });
  expect(ran()).toEqual([35]);
  for (const one of held) one.finish("done");
});

describe("fire times that no other one makes up for:", () => {
  test("those of a run that takes longer than the interval", async () => {
    const clock = new VirtualClock(START);
    const scheduler = new Scheduler({ clock, logLevel: "silent" });
    const ran: (number | null)[] = [];
    scheduler.task("t", async (_: undefined, { job }) => {
      ran.push(secondsOf(job.fireTime));
      await clock.sleep(clock.now() + (ran.length <= 2 ? 3000 : 100));
    });
    await scheduler.addSchedule("t", "* * * * * *", { id: "s" });
    await scheduler.start();
    await clock.advance({ milliseconds: 12_500 });
    expect(ran).toEqual(ran.map((_, index) => (ran[0] ?? 0) + index));
    expect(ran.length).toBeGreaterThan(11);
    await scheduler.stop();
  });

  test("jobs by hand, retries and jobs of other schedules that wait with it", async () => {
    const { clock, store, worker, planner } = await setUp();
    await worker.addSchedule("t", "30 0 1 1 *", { id: "other" });
    await worker.stop();
    await planner?.addJob("t", { payload: undefined });
    await planner?.runScheduleNow("other");
    await clock.advance({ minutes: 5 });
    const { items } = await store.getJobs({ limit: 100, cursor: null });
    expect(items.map(({ scheduleId, fireTime }) => [scheduleId, fireTime !== null]).sort()).toEqual([
      [null, false],
      ["other", false],
      ["s", true],
    ]);
  });
});
