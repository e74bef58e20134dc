import { describe, expect, test } from "vitest";
import type { CommitReport, CommitRequest, LookReport, LookRequest } from "../../src/contracts.ts";
import { IntervalTrigger, MemoryDataStore, type TickOptions, type TickReport } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { at, everySecond, type Setup, START, START_MS, secondsOf, setUp } from "./support.ts";

/** A store that counts looks and commits. */
class CountingStore extends MemoryDataStore {
  roundTrips = 0;

  override look(request: LookRequest): Promise<LookReport> {
    this.roundTrips++;
    return super.look(request);
  }

  override commit(request: CommitRequest): Promise<CommitReport> {
    this.roundTrips++;
    return super.commit(request);
  }
}

interface World extends Setup {
  /** Whose jobs began when, in seconds after {@link START}. */
  readonly begun: Record<string, number[]>;
  /** Adds a task that writes its beginnings down, and takes a while. */
  readonly task: (id: string, seconds?: number) => void;
}

function begin(): World {
  const clock = new VirtualClock(START);
  const world = setUp({ clock, dataStore: new CountingStore() });
  const begun: Record<string, number[]> = {};
  const task = (id: string, seconds = 0): void => {
    world.scheduler.task(id, async () => {
      begun[id] = [...(begun[id] ?? []), (clock.now() - START_MS) / 1000];
      if (seconds > 0) await clock.sleep(clock.now() + seconds * 1000);
    });
  };
  return { ...world, begun, task };
}

/** The report of a tick if it ends while so many seconds pass; otherwise null. */
async function tickFor({ scheduler, clock }: Setup, options: TickOptions, seconds: number): Promise<TickReport | null> {
  const reports: TickReport[] = [];
  void scheduler.tick(options).then((report) => reports.push(report));
  await clock.advance({ seconds });
  return reports[0] ?? null;
}

const everyTenSeconds = (): IntervalTrigger => new IntervalTrigger({ seconds: 10, startTime: START });

describe("a tick that stays", () => {
  test("fires a schedule each time, retries, and runs a job that is to run later", async () => {
    const world = begin();
    const { scheduler, begun, task } = world;
    const attempts: number[] = [];
    const retry = { maxAttempts: 2, backoff: { initial: "2s", jitter: "none" } } as const;
    scheduler.task("retried", { retry }, (_, { attempt }) => {
      attempts.push(attempt);
      if (attempt === 1) throw new Error("once");
    });
    task("ten");
    task("later");
    await scheduler.addSchedule("ten", everyTenSeconds(), { id: "s" });
    await scheduler.addJob("retried");
    await scheduler.addJob("later", { runAt: at(15) });
    const report = await tickFor(world, { stay: "55s", maxRoundTrips: 40 }, 55);
    expect(begun).toEqual({ ten: [0, 10, 20, 30, 40, 50], later: [15] });
    expect(attempts).toEqual([1, 2]);
    expect(report).toMatchObject({ schedulesProcessed: 6, jobsRun: 9, exhausted: false });
    expect(secondsOf(report?.nextWakeAt ?? null)).toBe(60);
    // A look, a commit that starts the jobs, and one that records their ends, for each instant.
    expect(report?.roundTrips).toBeLessThanOrEqual(3 * 8 + 1);
  });

  test("asks the store for nothing while nothing is due", async () => {
    const world = begin();
    world.task("t");
    await world.scheduler.tick();
    const report = await tickFor(world, { stay: "55s" }, 55);
    expect(report).toMatchObject({ jobsRun: 0, roundTrips: 1 });
  });

  test("ends early when the round trips run short, and leaves nothing unrecorded", async () => {
    const world = begin();
    const { scheduler, store, task, begun } = world;
    task("t");
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    const report = await tickFor(world, { stay: "55s", maxRoundTrips: 12 }, 20);
    expect(report?.roundTrips).toBeLessThanOrEqual(12);
    const { length } = Object.values(begun).flat();
    expect(length).toBeGreaterThan(2);
    expect(report).toMatchObject({ jobsRun: length, outcomes: { success: length } });
    expect((await store.getJobs({ limit: 10, cursor: null })).items).toEqual([]);
  });

  test("ends early at its most jobs", async () => {
    const world = begin();
    world.task("t");
    await world.scheduler.addSchedule("t", everySecond(), { id: "s" });
    expect(await tickFor(world, { stay: "55s", maxJobs: 3 }, 5)).toMatchObject({ jobsRun: 3 });
  });

  test("ends at once when its signal is aborted", async () => {
    const { scheduler, clock, task } = begin();
    task("t");
    const ending = new AbortController();
    const ticking = scheduler.tick({ stay: "55s", signal: ending.signal });
    await clock.advance({ seconds: 3 });
    ending.abort();
    await ticking;
    expect(secondsOf(at((clock.now() - START_MS) / 1000))).toBe(3);
  });

  test("ends at once when the scheduler stops", async () => {
    const { scheduler, clock, task } = begin();
    task("t");
    const ticking = scheduler.tick({ stay: "55s" });
    await clock.advance({ seconds: 3 });
    await scheduler.stop();
    await ticking;
    expect(clock.now() - START_MS).toBe(3000);
  });

  test("starts a job that this scheduler is given meanwhile", async () => {
    const { scheduler, clock, task, begun } = begin();
    task("t");
    const ticking = scheduler.tick({ stay: "55s" });
    await clock.advance({ seconds: 3 });
    await scheduler.addJob("t");
    await scheduler.addSchedule("t", new IntervalTrigger({ seconds: 30, startTime: at(5) }), { id: "s" });
    await clock.advance({ seconds: 52 });
    expect((await ticking).jobsRun).toBe(3);
    expect(begun).toEqual({ t: [3, 5, 35] });
  });

  test("gives a job that begins at the end of the stay all of maxDuration", async () => {
    const world = begin();
    const { scheduler, task, clock, begun } = world;
    task("long", 18);
    await scheduler.addJob("long", { runAt: at(54) });
    const ticking = scheduler.tick({ stay: "55s", maxDuration: "20s" });
    await clock.advance({ seconds: 73 });
    expect((await ticking).outcomes.success).toBe(1);
    expect(begun).toEqual({ long: [54] });
  });

  test("is over in time although the clock was set back", async () => {
    const { scheduler, clock, task } = begin();
    task("t");
    const ticking = scheduler.tick({ stay: "10s", maxDuration: "10s" });
    await clock.advance({ seconds: 5 });
    await clock.jumpTo(at(-3600));
    await clock.advance({ seconds: 21 });
    expect(await ticking).toMatchObject({ jobsRun: 0 });
  });
});

describe("a tick that stays while its jobs run", () => {
  test("starts a schedule each second beside a job of 8 seconds, and then ends", async () => {
    const world = begin();
    const { scheduler, task, begun } = world;
    task("slow", 8);
    task("beat");
    await scheduler.addJob("slow");
    await scheduler.addSchedule("beat", everySecond(), { id: "s" });
    const report = await tickFor(world, { stay: "whileRunning" }, 9);
    expect(begun).toEqual({ slow: [0], beat: [0, 1, 2, 3, 4, 5, 6, 7, 8] });
    expect(report).toMatchObject({ jobsRun: 10, exhausted: false });
  });

  test("starts a job that is added beside it at once", async () => {
    const { scheduler, clock, task, begun } = begin();
    task("slow", 8);
    task("t");
    await scheduler.addJob("slow");
    const ticking = scheduler.tick({ stay: "whileRunning" });
    await clock.advance({ seconds: 3 });
    await scheduler.addJob("t");
    await clock.advance({ seconds: 5 });
    await ticking;
    expect(begun).toEqual({ slow: [0], t: [3] });
  });

  test("takes nothing more in the second half of maxDuration", async () => {
    const world = begin();
    const { scheduler, task, begun } = world;
    task("slow", 8);
    task("beat");
    await scheduler.addJob("slow");
    await scheduler.addSchedule("beat", everySecond(), { id: "s" });
    await tickFor(world, { stay: "whileRunning", maxDuration: "10s" }, 9);
    expect(begun).toEqual({ slow: [0], beat: [0, 1, 2, 3, 4, 5] });
  });

  test("does not wait when none runs", async () => {
    const world = begin();
    world.task("t");
    await world.scheduler.addJob("t", { runAt: at(1) });
    expect(await tickFor(world, { stay: "whileRunning" }, 0)).toMatchObject({ jobsRun: 0 });
  });
});

test("a stay is a duration or a word", async () => {
  const { scheduler } = begin();
  const wrong = { stay: "always" } as unknown as TickOptions;
  await expect(scheduler.tick(wrong)).rejects.toThrow('stay must be "whileRunning" or a duration');
});
