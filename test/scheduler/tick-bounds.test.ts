import { describe, expect, test } from "vitest";
import type { CommitReport, CommitRequest, JobRecord, LookReport, LookRequest } from "../../src/contracts.ts";
import { IntervalTrigger, MemoryDataStore } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { at, everySecond, heldHandler, START, START_MS, secondsOf, setUp } from "./support.ts";

/** A store that is slow: each answer takes a time. */
class SlowStore extends MemoryDataStore {
  trips = 0;
  readonly #clock: VirtualClock;
  readonly #seconds: number;

  constructor(clock: VirtualClock, seconds: number) {
    super();
    this.#clock = clock;
    this.#seconds = seconds;
  }

  get roundTrips(): number {
    return this.trips;
  }

  override look(request: LookRequest): Promise<LookReport> {
    return this.#slowly(() => super.look(request));
  }

  override commit(request: CommitRequest): Promise<CommitReport> {
    return this.#slowly(() => super.commit(request));
  }

  async #slowly<T>(ask: () => Promise<T>): Promise<T> {
    this.trips++;
    const answer = await ask();
    const now = this.#clock.now() - START_MS;
    await this.#clock.jumpTo(at(now / 1000 + this.#seconds));
    return answer;
  }
}

function slow(seconds: number): ReturnType<typeof setUp> {
  const clock = new VirtualClock(START);
  return setUp({ clock, dataStore: new SlowStore(clock, seconds) });
}

async function job(store: MemoryDataStore): Promise<JobRecord | undefined> {
  return (await store.getJobs({ limit: 1, cursor: null })).items[0];
}

describe("a tick takes what was due when it began", () => {
  test("and leaves a schedule that has become due meanwhile to the next tick", async () => {
    const { scheduler } = slow(0.35);
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    const report = await scheduler.tick();
    expect(report).toMatchObject({ schedulesProcessed: 1, jobsAdded: 1, jobsRun: 1, roundTrips: 3, exhausted: false });
    const second = await scheduler.tick({ maxDuration: "PT1M" });
    expect(second).toMatchObject({ schedulesProcessed: 1, jobsAdded: 1, jobsRun: 1, roundTrips: 3, exhausted: false });
    // It may be past when the tick ends.
    expect(secondsOf(second.nextWakeAt)).toBe(2);
  });

  test("also of schedules that catch up, all of it", async () => {
    const { scheduler, clock } = slow(2);
    const fired: (number | null)[] = [];
    scheduler.task("t", { maxRunningJobs: null }, (_, context) => void fired.push(secondsOf(context.job.fireTime)));
    await scheduler.addSchedule("t", everySecond(), { id: "s", coalesce: "all", catchUp: { maxCount: 100 } });
    await clock.jumpTo(at(2));
    await scheduler.tick({ maxDuration: "PT1M" });
    expect(fired.slice(0, 3)).toEqual([0, 1, 2]);
  });

  test("and what its own handlers add, but no job that is to run later", async () => {
    const { scheduler } = slow(1);
    const ran: string[] = [];
    scheduler.task("child", () => void ran.push("child"));
    scheduler.task("parent", async (_, context) => {
      ran.push("parent");
      await context.scheduler.addJob("child");
      await context.scheduler.addJob("child", { runAt: at(60) });
    });
    await scheduler.addJob("parent");
    const report = await scheduler.tick();
    expect([ran, secondsOf(report.nextWakeAt)]).toEqual([["parent", "child"], 60]);
  });
});

describe("maxDuration of a tick", () => {
  test("aborts what still runs, and hands it back as lost", async () => {
    const { scheduler, store, clock } = setUp();
    const reasons: unknown[] = [];
    const task = scheduler.task("t", (_, { signal }) => {
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          reasons.push(String(signal.reason));
          reject(signal.reason);
        });
      });
    });
    await scheduler.addJob(task);
    const ticking = scheduler.tick({ maxDuration: "PT10S" });
    await clock.advance("PT9.999S");
    expect(reasons).toEqual([]);
    await clock.advance("PT0.001S");
    expect(await ticking).toMatchObject({ jobsRun: 1, outcomes: { success: 0, error: 0 }, exhausted: true });
    expect(reasons).toEqual([expect.stringContaining("the tick has reached its maxDuration")]);
    expect(await job(store)).toMatchObject({ acquiredBy: null, recoveries: 1, failedAttempts: 0 });
  });

  test("does not wait long for a handler that ignores its signal", async () => {
    const { scheduler, store, clock } = setUp();
    const { handler, held } = heldHandler();
    await scheduler.addJob(scheduler.task("t", handler));
    const ticking = scheduler.tick({ maxDuration: "PT10S" });
    await clock.advance("PT11S");
    expect(await ticking).toMatchObject({ jobsRun: 1, exhausted: true });
    expect(await job(store)).toMatchObject({ acquiredBy: null, recoveries: 1 });
    held[0]?.finish("too late");
  });

  test("counts no loss of a job that waited for its turn and had not started", async () => {
    const { scheduler, store, clock } = setUp();
    const { handler } = heldHandler();
    const task = scheduler.task("t", { maxRunningJobs: null, maxRecoveries: 5 }, handler);
    await scheduler.addJobs([{ task }, { task }]);
    // Both are lost with their process, so that each may be what ended it.
    for (const from of [0, 60]) {
      await store.commit({
        ...{ now: START_MS + from * 1000, schedulerId: "dead", commitId: `dead#${from}`, isRepetition: false },
        ...{ until: START_MS + (from + 1) * 1000, releases: [], additions: [], recover: true, plans: [] },
        ...{ jobs: from === 0 ? { queues: [{ executor: "inline", taskId: "t" }], limit: 9 } : null, schedules: null },
      });
    }
    await clock.advance("PT1M");
    const ticking = scheduler.tick({ maxDuration: "PT1S" });
    await clock.advance("PT2S");
    await ticking;
    const { items } = await store.getJobs({ limit: 9, cursor: null });
    expect(items.map(({ recoveries }) => recoveries).sort()).toEqual([1, 2]);
  });

  test("starts no job whose timeout is longer than what is left, and says that there is more", async () => {
    const { scheduler, clock } = setUp();
    const started: string[] = [];
    const { handler, held } = heldHandler();
    scheduler.task("slow", handler);
    scheduler.task("long", { timeout: "PT5S" }, () => void started.push("long"));
    scheduler.task("short", { timeout: "PT1S" }, () => void started.push("short"));
    await scheduler.addJob("slow");
    const ticking = scheduler.tick({ maxDuration: "PT10S" });
    await clock.advance("PT8S");
    await scheduler.addJobs([{ task: "long" }, { task: "short" }]);
    held[0]?.finish("");
    expect(await ticking).toMatchObject({ jobsRun: 2, exhausted: true });
    expect(started).toEqual(["short"]);
    expect(await scheduler.tick({ maxDuration: "PT10S" })).toMatchObject({ jobsRun: 1, exhausted: false });
  });

  test("starts a job whose timeout is all of it, if the tick has just begun", async () => {
    const { scheduler } = slow(0.2);
    scheduler.task("long", { timeout: "PT30S" }, () => {});
    await scheduler.addJob("long");
    expect(await scheduler.tick()).toMatchObject({ jobsRun: 1, exhausted: false });
  });

  test("that is shorter than the timeout of a task starts none of its jobs, and is told of", async () => {
    const { scheduler, log } = setUp();
    scheduler.task("long", { timeout: "PT1M" }, () => {});
    await scheduler.addJob("long");
    for (let times = 0; times < 2; times++) {
      expect(await scheduler.tick({ maxDuration: "PT10S" })).toMatchObject({ jobsRun: 0, exhausted: false });
    }
    expect(log.map(({ message }) => message)).toEqual([expect.stringContaining('jobs of task "long"')]);
    expect(await scheduler.tick({ maxDuration: "PT1M" })).toMatchObject({ jobsRun: 1 });
  });
});

describe("maxRoundTrips of a tick", () => {
  test.each([
    [1, { schedulesProcessed: 0, jobsRun: 0, roundTrips: 1, exhausted: true }],
    [2, { schedulesProcessed: 1, jobsRun: 0, roundTrips: 2, exhausted: true }],
    [3, { schedulesProcessed: 1, jobsRun: 1, roundTrips: 3, exhausted: false }],
  ])("of %i", async (maxRoundTrips, report) => {
    const { scheduler } = slow(0);
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", new IntervalTrigger({ hours: 1, startTime: START }), { id: "s" });
    expect(await scheduler.tick({ maxRoundTrips })).toMatchObject(report);
  });

  test("keeps the last one for the outcomes of all jobs that still run", async () => {
    const { scheduler, clock } = slow(0);
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { maxRunningJobs: null }, handler);
    await scheduler.addJobs([{ task }, { task }, { task }]);
    const ticking = scheduler.tick({ maxRoundTrips: 3 });
    while (held.length < 3) await clock.settle();
    for (const { finish } of held) {
      finish("");
      await clock.settle();
    }
    const outcomes = { success: 3 };
    expect(await ticking).toMatchObject({ jobsRun: 3, roundTrips: 3, outcomes, exhausted: false });
  });
});

describe("nextWakeAt", () => {
  test("is the instant at which something is due, as one read finds out", async () => {
    const { scheduler, store } = slow(0);
    expect(await scheduler.nextWakeAt()).toBeNull();
    scheduler.task("t", () => {});
    await scheduler.addJob("t", { runAt: at(90) });
    expect(secondsOf(await scheduler.nextWakeAt())).toBe(90);
    await scheduler.addSchedule("t", new IntervalTrigger({ hours: 1, startTime: at(30) }), { id: "s" });
    const trips = (): number => (store instanceof SlowStore ? store.trips : 0);
    const before = trips();
    expect(secondsOf(await scheduler.nextWakeAt())).toBe(30);
    expect(trips() - before).toBe(1);
    await scheduler.addJob("t");
    expect(secondsOf(await scheduler.nextWakeAt())).toBe(0);
    expect(await scheduler.tick()).toMatchObject({ jobsRun: 1, nextWakeAtMs: START_MS + 30_000 });
    expect(secondsOf(await scheduler.nextWakeAt())).toBe(30);
  });

  test("is an instant that is past while that is not done", async () => {
    const { scheduler, clock } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", new IntervalTrigger({ hours: 1, startTime: at(30) }), { id: "s" });
    await clock.advance("PT1M");
    expect(secondsOf(await scheduler.nextWakeAt())).toBe(30);
  });
});

describe("the first tick of a scheduler", () => {
  test("gives up what a dead run of its identity left, and runs it", async () => {
    const { scheduler, store } = setUp({ identity: "cron" });
    scheduler.task("t", () => {});
    await scheduler.addJobs([{ task: "t" }]);
    await store.commit({
      ...{ now: START_MS, schedulerId: "cron", commitId: "dead#1", isRepetition: false, until: START_MS + 60_000 },
      ...{ releases: [], additions: [], recover: false, plans: [], schedules: null },
      jobs: { queues: [{ executor: "inline", taskId: "t" }], limit: 9 },
    });
    expect(await scheduler.tick()).toMatchObject({ jobsRun: 1, outcomes: { success: 1 } });
  });

  test("leaves alone what another run of its identity holds that is alive", async () => {
    const { clock, store, scheduler: first } = setUp({ identity: "cron" });
    const { handler, held } = heldHandler();
    await first.addJob(first.task("t", handler));
    const ticking = first.tick();
    await clock.settle();
    const { scheduler: second } = setUp({ identity: "cron", dataStore: store, clock });
    second.task("t", () => {});
    expect(await second.tick()).toMatchObject({ jobsRun: 0 });
    held[0]?.finish("");
    expect(await ticking).toMatchObject({ outcomes: { success: 1 } });
  });

  test("removes what has been expired for the whole interval, in a commit that it takes anyway", async () => {
    const { clock, store, scheduler } = setUp();
    let cleanUps = 0;
    const cleanup = store.cleanup.bind(store);
    store.cleanup = (request) => {
      cleanUps++;
      return cleanup(request);
    };
    const task = scheduler.task("t", { resultExpirationTime: "PT1M" }, () => {});
    await scheduler.addJob(task);
    await scheduler.tick();
    const results = async (): Promise<number> => (await store.inspect(clock.now())).tasks.length;
    expect(await results()).toBe(0);
    const { scheduler: early } = setUp({ dataStore: store, clock });
    const { scheduler: late } = setUp({ dataStore: store, clock });
    const hasExpired = async (): Promise<boolean> =>
      (
        await store.look({
          ...{ now: clock.now(), schedulerId: "x", jobs: null, schedules: null, tasks: null, asksForExpired: true },
        })
      ).hasExpired;
    await clock.advance("PT15M");
    await early.tick();
    expect(await hasExpired()).toBe(true);
    await clock.advance("PT1M");
    late.task("t", () => {});
    await late.addJob("t");
    await late.tick();
    expect([await hasExpired(), cleanUps]).toEqual([false, 0]);
  });
});

test("a tick ends although the clock is set back by an hour, and its jobs add jobs for ever", async () => {
  const { clock, scheduler } = setUp();
  let runs = 0;
  scheduler.task("again", async () => {
    if (++runs === 1) await clock.jumpTo(at(-3600));
    else await clock.advance({ seconds: 1 });
    if (runs < 100) await scheduler.addJob("again", { runAt: at(-3600) });
  });
  await scheduler.addJob("again");
  const { exhausted } = await scheduler.tick({ maxDuration: { seconds: 10 } });
  expect([runs < 30, exhausted]).toEqual([true, true]);
});
