import { describe, expect, test } from "vitest";
import type { DataStore, JobResultRecord, RecordPage } from "../../src/contracts.ts";
import { ABORT_GRACE_MS } from "../../src/executors/remote/limits.ts";
import { MemoryDataStore, type Scheduler, StoreUnavailableError } from "../../src/mod.ts";
import { STOP_SETTLE_MS } from "../../src/scheduler/driving/limits.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { gate, heldHandler, rejectionOf, START, START_MS, setUp } from "./support.ts";

const DRAIN_MS = 10_000;
const SETTLED_BY = START_MS + DRAIN_MS + ABORT_GRACE_MS + STOP_SETTLE_MS;

/** When a stop ended, on the clock of the test; null as long as it has not. */
function watchStop(scheduler: Scheduler, clock: VirtualClock, drainMs = DRAIN_MS): { endedAt: number | null } {
  const stop: { endedAt: number | null } = { endedAt: null };
  void scheduler.stop({ drainTimeout: { milliseconds: drainMs } }).then(() => {
    stop.endedAt = clock.now();
  });
  return stop;
}

/** Makes methods of a store hang for ever from now on. */
function hang(store: DataStore, ...methods: readonly (keyof DataStore)[]): void {
  for (const method of methods) Object.defineProperty(store, method, { value: () => new Promise(() => {}) });
}

const METHODS = ["look", "commit", "extendLeases", "cleanup", "close"] as const;

describe("a stop in an outage", () => {
  for (const [name, isRunning] of [
    ["while a job runs", true],
    ["while nothing runs", false],
  ] as const) {
    test(`ends when its time is up, though the store never answers, ${name}`, async () => {
      const { scheduler, store, clock, log } = setUp();
      const { handler } = heldHandler();
      await scheduler.start();
      const task = scheduler.task("t", handler);
      if (isRunning) await scheduler.addJob(task);
      await clock.settle();
      hang(store, ...METHODS);
      // The answer to this addition never comes.
      const adding = scheduler.addJob(task).catch((error: unknown) => error);
      await clock.settle();
      const stop = watchStop(scheduler, clock);
      await clock.advanceTo(new Date(SETTLED_BY));
      expect(stop.endedAt).not.toBeNull();
      expect(scheduler.state).toBe("stopped");
      expect(log.some(({ message }) => message.includes("did not wait for the store"))).toBe(true);
      expect(clock.sleeperCount).toBe(0);
      void adding;
    });
  }

  test("ends when its time is up, though the start still waits for the store, and nothing begins later", async () => {
    const { scheduler, store, clock } = setUp();
    const giveUpLeases = store.giveUpLeases.bind(store);
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    store.giveUpLeases = async (request) => {
      await answered;
      return giveUpLeases(request);
    };
    let looks = 0;
    const look = store.look.bind(store);
    store.look = (request) => {
      looks++;
      return look(request);
    };
    const starting = scheduler.start().catch((error: unknown) => error);
    await clock.settle();
    const stop = watchStop(scheduler, clock, 30_000);
    await clock.advanceTo(new Date(START_MS + STOP_SETTLE_MS));
    expect(stop.endedAt).not.toBeNull();
    answer();
    expect(await starting).toMatchObject({ code: "schedulerState" });
    await clock.advance("PT1M");
    expect([scheduler.state, looks]).toEqual(["stopped", 0]);
  });

  test("that a signal began is told to who awaits runUntilStopped(), though the store never answers the start", async () => {
    const { scheduler, store, clock } = setUp();
    store.giveUpLeases = () => new Promise(() => {});
    const given = new AbortController();
    let isOver = false;
    void scheduler.runUntilStopped({ signal: given.signal }).then(() => {
      isOver = true;
    });
    await clock.settle();
    given.abort();
    await clock.advance({ milliseconds: STOP_SETTLE_MS });
    expect([isOver, scheduler.state]).toEqual([true, "stopped"]);
  });

  test("runs nothing that a late answer brings", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const { scheduler } = setUp({ clock, dataStore });
    let runs = 0;
    const task = scheduler.task("t", () => void runs++);
    await scheduler.start();
    await clock.settle();
    let answer = (): void => {};
    const commit = dataStore.commit.bind(dataStore);
    dataStore.commit = async (request) => {
      const report = await commit(request);
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return report;
    };
    scheduler.addJob(task).catch(() => {});
    await clock.settle();
    const stop = watchStop(scheduler, clock, 0);
    await clock.advance({ milliseconds: STOP_SETTLE_MS });
    expect(stop.endedAt).not.toBeNull();
    answer();
    await clock.settle();
    expect(runs).toBe(0);
  });

  test("gives up after some failures to record an outcome, and records all of many commits", async () => {
    const { scheduler, store, clock } = setUp();
    const returned = "x".repeat(400_000);
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { maxRunningJobs: null }, handler);
    await scheduler.start();
    const jobs = await scheduler.addJobs(Array.from({ length: 20 }, () => ({ task })));
    await clock.settle();
    const commit = store.commit.bind(store);
    let fails = 2;
    store.commit = async (request) => {
      if (fails-- > 0) throw new StoreUnavailableError("down");
      return commit(request);
    };
    const stop = watchStop(scheduler, clock);
    await clock.settle();
    for (const { finish } of held) finish(returned);
    await clock.advanceTo(new Date(SETTLED_BY));
    expect(stop.endedAt).not.toBeNull();
    // They are too large for one page.
    const ended: string[] = [];
    let cursor: string | null = null;
    do {
      const page: RecordPage<JobResultRecord> = await store.getJobResults({ limit: 100, cursor }, clock.now());
      ended.push(...page.items.map(({ jobId }) => jobId));
      cursor = page.cursor;
    } while (cursor !== null);
    expect(ended.sort()).toEqual(jobs.map(({ id }) => id).sort());
  });

  test("says once that an outcome could not be recorded, however often it tried", async () => {
    const { scheduler, store, clock, log } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", handler);
    await scheduler.start();
    await scheduler.addJob(task);
    await clock.settle();
    store.commit = () => Promise.reject(new StoreUnavailableError("down"));
    const stop = watchStop(scheduler, clock);
    await clock.settle();
    for (const { finish } of held) finish("done");
    await clock.advanceTo(new Date(SETTLED_BY));
    expect(stop.endedAt).not.toBeNull();
    expect(log.filter(({ message }) => message.includes("the last outcomes are not recorded yet")).length).toBe(1);
  });
});

describe("a stop without a drain", () => {
  test("aborts at once and waits for no handler", async () => {
    const { scheduler, store, clock } = setUp();
    const { handler, held } = heldHandler();
    await scheduler.start();
    const { id } = await scheduler.addJob(scheduler.task("t", handler));
    await clock.settle();
    const stop = watchStop(scheduler, clock, 0);
    await clock.settle();
    expect(stop.endedAt).toBe(START_MS);
    expect(held[0]?.context.signal.reason).toMatchObject({ code: "schedulerState" });
    expect(await store.getJob(id)).toMatchObject({ acquiredBy: null });
  });

  test("does not wait for a handler either that was cancelled before", async () => {
    const { scheduler, clock } = setUp();
    const { handler } = heldHandler();
    await scheduler.start();
    const { id } = await scheduler.addJob(scheduler.task("t", handler));
    await clock.settle();
    await scheduler.cancelJob(id);
    const stop = watchStop(scheduler, clock, 0);
    await clock.settle();
    expect(stop.endedAt).toBe(START_MS);
  });
});

describe("a stop during a tick", () => {
  test("drains, aborts and gives back what its handlers do not end", async () => {
    const { scheduler, store, clock } = setUp();
    const { handler, held } = heldHandler();
    const { id } = await scheduler.addJob(scheduler.task("t", handler));
    const ticking = scheduler.tick();
    await clock.settle();
    const stop = watchStop(scheduler, clock);
    await clock.advance({ milliseconds: DRAIN_MS - 1 });
    expect(held[0]?.context.signal.aborted).toBe(false);
    await clock.advance({ milliseconds: 1 });
    expect(held[0]?.context.signal.aborted).toBe(true);
    await clock.advance({ milliseconds: ABORT_GRACE_MS });
    expect(await ticking).toMatchObject({ jobsRun: 1, exhausted: true });
    expect(stop.endedAt).toBe(START_MS + DRAIN_MS + ABORT_GRACE_MS);
    expect(await store.getJob(id)).toMatchObject({ acquiredBy: null });
  });

  test("ends when its time is up, though the store never answers", async () => {
    const { scheduler, store, clock } = setUp();
    scheduler.task("t", () => {});
    await scheduler.getTasks();
    hang(store, "look");
    void scheduler.tick();
    await clock.settle();
    const stop = watchStop(scheduler, clock, 0);
    await clock.advance({ milliseconds: STOP_SETTLE_MS });
    expect(stop.endedAt).toBe(START_MS + STOP_SETTLE_MS);
  });
});

describe("a stop that a handler left behind", () => {
  test("waits for the jobs that run, like any other", async () => {
    const { scheduler, clock } = setUp();
    let stoppedAt: number | null = null;
    const leaves = scheduler.task("leaves", () => {
      void clock
        .sleep(START_MS + 1000)
        .then(() => scheduler.stop())
        .then(() => {
          stoppedAt = clock.now();
        });
    });
    const { handler, held } = heldHandler();
    const long = scheduler.task("long", handler);
    await scheduler.start();
    await scheduler.addJobs([{ task: leaves }, { task: long }]);
    await clock.advance("PT2S");
    expect([scheduler.state, stoppedAt]).toEqual(["stopping", null]);
    held[0]?.finish("done");
    await clock.settle();
    expect([scheduler.state, stoppedAt]).toEqual(["stopped", START_MS + 2000]);
  });
});

describe("a stop while a handler awaits a job", () => {
  /** A job that awaits another one, which is held up. */
  async function parentAndChild(store = new MemoryDataStore()) {
    const { scheduler, clock } = setUp({ dataStore: store });
    const { handler, held } = heldHandler();
    const child = scheduler.task("child", { maxRunningJobs: 1 }, handler);
    const parent = scheduler.task("parent", (_: unknown, context) => context.scheduler.runJob(child));
    await scheduler.start();
    return { scheduler, clock, held, child, parent, store };
  }

  test("that nobody is left to run ends at once, and the job goes back to the queue", async () => {
    const { scheduler, clock, held, child, parent, store } = await parentAndChild();
    await scheduler.addJob(child);
    const { id } = await scheduler.addJob(parent);
    await clock.settle();
    // The parent's child waits, because one job of its task runs already.
    const stop = watchStop(scheduler, clock);
    await clock.settle();
    held[0]?.finish("done");
    await clock.advance("PT2S");
    expect(stop.endedAt).not.toBeNull();
    expect(await store.getJob(id)).toMatchObject({ acquiredBy: null, failedAttempts: 0 });
    expect(held.length).toBe(1);
  });

  test("that runs here waits for it", async () => {
    const { scheduler, clock, held, parent } = await parentAndChild();
    const result = scheduler.addJob(parent);
    await clock.settle();
    const stop = watchStop(scheduler, clock);
    await clock.advance("PT5S");
    expect(stop.endedAt).toBeNull();
    held[0]?.finish("done");
    await clock.advance("PT1S");
    expect(stop.endedAt).not.toBeNull();
    const { id } = await result;
    expect(await scheduler.getJobResult(id).catch((error: { code: string }) => error.code)).toBe("schedulerState");
  });

  test("that another process may run waits for it as long as it drains", async () => {
    const store = Object.assign(new MemoryDataStore(), { capabilities: { sharedByProcesses: true } });
    const { scheduler, clock, held, child, parent } = await parentAndChild(store);
    await scheduler.addJob(child);
    await scheduler.addJob(parent);
    await clock.settle();
    const stop = watchStop(scheduler, clock);
    await clock.settle();
    held[0]?.finish("done");
    await clock.advance({ milliseconds: DRAIN_MS - 1 });
    expect(stop.endedAt).toBeNull();
    await clock.advance({ milliseconds: ABORT_GRACE_MS + STOP_SETTLE_MS });
    expect(stop.endedAt).not.toBeNull();
  });
});

test("who waits for a job hears of the stop by one code, also where the store is closed in the middle of a read", async () => {
  const { scheduler, store, clock } = setUp();
  scheduler.task("t", () => {});
  const job = await scheduler.addJob("t", { delay: "PT1H" });
  const [asked, closed] = [gate(), gate()];
  store.getJob = async () => {
    asked.pass();
    await closed.passed;
    throw new StoreUnavailableError("the store is closed");
  };
  const waits = rejectionOf(job.wait());
  await clock.advance("PT1M");
  await asked.passed;
  await scheduler.stop();
  closed.pass();
  expect(await waits).toMatchObject({
    code: "schedulerState",
    message: `the scheduler stopped before job "${job.id}" ended`,
  });
});
