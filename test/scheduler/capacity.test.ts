import { describe, expect, test } from "vitest";
import type { JobCall, JobExecutor } from "../../src/contracts.ts";
import { MemoryDataStore, Scheduler } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { LookCountingStore } from "./counting-store.ts";
import { heldHandler, recordingLogger, START, secondsOf, setUp } from "./support.ts";

/** Runs so many handlers at once, each at once or after its worker has started. */
class Pool implements JobExecutor {
  readonly #listeners = new Set<() => void>();
  readonly #start: (() => Promise<unknown>) | undefined;
  #capacity: number;

  constructor(capacity: number, start?: () => Promise<unknown>) {
    this.#capacity = capacity;
    this.#start = start;
  }

  get capacity(): number {
    return this.#capacity;
  }

  set capacity(capacity: number) {
    const hasGrown = capacity > this.#capacity;
    this.#capacity = capacity;
    if (hasGrown) for (const listener of this.#listeners) listener();
  }

  onCapacity(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  async execute(call: JobCall): Promise<unknown> {
    this.capacity--;
    try {
      if (this.#start !== undefined) await this.#start();
      call.started?.();
      return await call.invoke();
    } finally {
      this.capacity++;
    }
  }

  async open(): Promise<void> {}
  async close(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Jobs that nobody has leased yet. */
async function untouched(store: MemoryDataStore): Promise<number> {
  const { items } = await store.getJobs({ limit: 1000, cursor: null });
  return items.filter(({ fence }) => fence === 0).length;
}

describe("a scheduler refuses to start", () => {
  test.each<[string, object, string]>([
    ["no number", { capacity: "2", onCapacity: () => () => {} }, 'how many more jobs it could begin now; got "2"'],
    ["NaN", { capacity: Number.NaN, onCapacity: () => () => {} }, "how many more jobs it could begin now; got NaN"],
    ["told once", { capacity: 2, onCapacity: undefined }, "onCapacity is missing; it has to call a listener each time"],
  ])("with an executor whose capacity is %s", async (_, parts, message) => {
    const pool = new Pool(1);
    for (const [name, value] of Object.entries(parts)) Object.defineProperty(pool, name, { value });
    const { scheduler } = setUp({ executors: { pool } });
    scheduler.task("t", { executor: "pool" }, () => {});
    const starting = scheduler.start();
    await expect(starting).rejects.toMatchObject({ code: "options", message: expect.stringContaining(message) });
    await expect(starting).rejects.toThrow('executor "pool": ');
  });

  test("with an executor whose capacity cannot be read", async () => {
    const refuse = (): never => {
      throw new Error("gone");
    };
    const { scheduler } = setUp({
      executors: { pool: Object.defineProperty(new Pool(1), "capacity", { get: refuse }) },
    });
    const message = 'executor "pool": capacity cannot be read: gone';
    await expect(scheduler.start()).rejects.toMatchObject({ code: "options", message });
  });
});

describe("a scheduler takes what its executors can begin", () => {
  test("leases no more jobs than the executor can begin, and the next when one has ended", async () => {
    const { scheduler, clock, store } = setUp({ executors: { pool: new Pool(2) } });
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { executor: "pool", maxRunningJobs: null }, handler);
    await scheduler.start();
    await scheduler.addJobs(Array.from({ length: 5 }, () => ({ task })));
    await clock.settle();
    expect([held.length, await untouched(store)]).toEqual([2, 3]);
    held[0]?.finish("done");
    await clock.settle();
    expect([held.length, await untouched(store)]).toEqual([3, 2]);
  });

  test("runs a job inline beside an executor that is full, over all its tasks", async () => {
    const { scheduler, clock } = setUp({ maxConcurrentJobs: 2, executors: { pool: new Pool(1) } });
    const { handler, held } = heldHandler();
    const tasks = ["a", "b", "c"].map((id) => scheduler.task(id, { executor: "pool" }, handler));
    const inline = scheduler.task("inline", () => "done");
    await scheduler.start();
    await scheduler.addJobs(Array.from({ length: 150 }, (_, index) => ({ task: tasks[index % 3] ?? "a" })));
    const job = await scheduler.addJob(inline);
    await clock.settle();
    expect([held.length, (await scheduler.getJobResult(job.id))?.outcome]).toEqual([1, "success"]);
  });

  test("begins the most urgent job next, however late it was added", async () => {
    const { scheduler, clock } = setUp({ executors: { pool: new Pool(1) } });
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { executor: "pool", maxRunningJobs: null }, handler);
    await scheduler.start();
    await scheduler.addJobs([{ task }, { task }, { task }]);
    const { id } = await scheduler.addJob(task, { priority: 9 });
    held[0]?.finish("done");
    await clock.settle();
    expect(held[1]?.context.job.id).toBe(id);
  });

  test("counts startedAt and the timeout from where the handler begins", async () => {
    const started: (() => void)[] = [];
    const pool = new Pool(1, () => new Promise<void>((resolve) => started.push(resolve)));
    const { scheduler, clock } = setUp({ executors: { pool } });
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { executor: "pool", timeout: "PT10S" }, handler);
    await scheduler.start();
    const { id } = await scheduler.addJob(task);
    await clock.advance("PT1M");
    started[0]?.();
    await clock.advance("PT9S");
    expect(held[0]?.context.signal.aborted).toBe(false);
    held[0]?.finish("done");
    await clock.settle();
    const result = await scheduler.getJobResult(id);
    expect([result?.outcome, secondsOf(result?.startedAt ?? null)]).toEqual(["success", 60]);
  });

  test.each([undefined, async () => {}])("keeps one timer for the timeout of an attempt, case %#", async (start) => {
    const sleepersWith = async (options: { timeout?: string }): Promise<number> => {
      const { scheduler, clock } = setUp({ executors: { pool: new Pool(1, start) } });
      const { handler, held } = heldHandler();
      scheduler.task("t", { executor: "pool", ...options }, handler);
      await scheduler.start();
      await scheduler.addJob("t");
      await clock.settle();
      expect(held).toHaveLength(1);
      return clock.sleeperCount;
    };
    expect(await sleepersWith({ timeout: "PT10S" })).toBe((await sleepersWith({})) + 1);
  });

  test("takes a waiting job as soon as an executor says that it can begin more", async () => {
    const pool = new Pool(0);
    const { scheduler, clock } = setUp({ executors: { pool } });
    const { handler, held } = heldHandler();
    scheduler.task("t", { executor: "pool" }, handler);
    await scheduler.start();
    await scheduler.addJob("t");
    await clock.settle();
    expect(held).toHaveLength(0);
    pool.capacity = 1;
    await clock.settle();
    expect(held).toHaveLength(1);
  });

  test("neither looks nor commits again and again for jobs of an executor that can begin none", async () => {
    const store = new LookCountingStore();
    const { scheduler, clock } = setUp({ dataStore: store, executors: { pool: new Pool(0) }, maxIdle: { minutes: 1 } });
    scheduler.task("t", { executor: "pool" }, () => {});
    await scheduler.start();
    await scheduler.addJob("t");
    await clock.settle();
    const before = store.calls;
    await clock.advance("PT10S");
    expect(store.calls).toBe(before);
  });

  test("gives back, without a recovery, what an executor can no longer begin when the lease comes", async () => {
    const pool = new Pool(1);
    const store = new LookCountingStore();
    store.onStep = ({ additions }) => {
      if (additions.length > 0) pool.capacity = 0;
    };
    const { scheduler, clock } = setUp({ dataStore: store, executors: { pool } });
    const { handler, held } = heldHandler();
    scheduler.task("t", { executor: "pool", maxRecoveries: 0 }, handler);
    await scheduler.start();
    const { id } = await scheduler.addJob("t");
    await clock.settle();
    expect([held.length, (await store.getJob(id))?.acquiredBy, (await store.getJob(id))?.fence]).toEqual([0, null, 1]);
    pool.capacity = 1;
    await clock.settle();
    expect(held[0]?.context.attempt).toBe(1);
  });

  const boom = (): number => {
    throw new Error("boom");
  };
  test.each([
    ["NaN", () => Number.NaN, "is NaN"],
    ["below zero", () => -1, "is -1"],
    ["an object", () => ({}) as number, "is a value of type object"],
    ["a bigint", () => 2n as unknown as number, "is a value of type bigint"],
    ["an error", boom, "threw when it was read"],
  ])(
    "leases nothing for an executor whose capacity becomes %s, says so once, and runs others",
    async (_, read, what) => {
      let hasStarted = false;
      const pool = Object.defineProperty(new Pool(1), "capacity", { get: () => (hasStarted ? read() : 1) });
      const { scheduler, clock, store, log } = setUp({ executors: { pool } });
      scheduler.task("t", { executor: "pool" }, () => {});
      const inline = scheduler.task("inline", () => "done");
      await scheduler.start();
      hasStarted = true;
      await scheduler.addJob("t");
      const job = await scheduler.addJob(inline);
      await clock.advance("PT10S");
      expect([await untouched(store), (await scheduler.getJobResult(job.id))?.outcome]).toEqual([1, "success"]);
      expect(log.filter(({ message }) => message.includes(`the capacity of executor "pool" ${what}`))).toHaveLength(1);
    },
  );

  test("rounds down a capacity that is no whole number", async () => {
    const { scheduler, clock } = setUp({ executors: { pool: new Pool(1.5) } });
    const { handler, held } = heldHandler();
    scheduler.task("t", { executor: "pool", maxRunningJobs: null }, handler);
    await scheduler.start();
    await scheduler.addJobs(Array.from({ length: 5 }, () => ({ task: "t" })));
    await clock.settle();
    expect(held).toHaveLength(1);
  });

  test("listens to its executors no longer than it runs", async () => {
    const pool = new Pool(1);
    const { scheduler } = setUp({ executors: { pool } });
    await scheduler.start();
    expect(pool.listenerCount).toBe(1);
    await scheduler.stop();
    expect(pool.listenerCount).toBe(0);
  });

  test("a tick runs all jobs of an executor that begins one at a time", async () => {
    const { scheduler } = setUp({ executors: { pool: new Pool(1) } });
    scheduler.task("t", { executor: "pool", maxRunningJobs: null }, () => {});
    await scheduler.addJobs(Array.from({ length: 5 }, () => ({ task: "t" })));
    expect(await scheduler.tick()).toMatchObject({ jobsRun: 5, exhausted: false });
  });

  test("a tick waits for an executor that can begin nothing while jobs wait for it", async () => {
    const pool = new Pool(0);
    const { scheduler, clock } = setUp({ executors: { pool } });
    scheduler.task("t", { executor: "pool" }, () => {});
    await scheduler.addJob("t");
    const ticking = scheduler.tick();
    await clock.advance("PT1S");
    pool.capacity = 1;
    expect(await ticking).toMatchObject({ jobsRun: 1, exhausted: false });
    pool.capacity = 0;
    await scheduler.addJob("t");
    const vain = scheduler.tick({ maxDuration: { seconds: 5 } });
    await clock.advance("PT5S");
    expect(await vain).toMatchObject({ jobsRun: 0, exhausted: true });
  });
});

describe("two schedulers share a burst of jobs", () => {
  const sharesOf = async (maxConcurrentJobs: number): Promise<number[]> => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const counts = [0, 0];
    const schedulers = counts.map((_, index) => {
      const { scheduler } = setUp({ clock, dataStore, maxConcurrentJobs });
      scheduler.task("t", { maxRunningJobs: null }, async (_payload, { signal }) => {
        counts[index] = (counts[index] ?? 0) + 1;
        await clock.sleep(clock.now() + 100, signal);
      });
      return scheduler;
    });
    await Promise.all(schedulers.map((scheduler) => scheduler.start()));
    await clock.settle();
    await Promise.all(Array.from({ length: 40 }, () => schedulers[0]?.addJob("t")));
    await clock.advance("PT1M");
    expect(counts.reduce((sum, count) => sum + count)).toBe(40);
    return counts;
  };

  test("with one slot each, both run half of them, or nearly", async () => {
    expect(Math.min(...(await sharesOf(1)))).toBeGreaterThanOrEqual(15);
  });

  test("with many slots each, the one that adds them leaves some to the other", async () => {
    expect(Math.min(...(await sharesOf(100)))).toBeGreaterThanOrEqual(8);
  });

  test("who is first leaves time to the other, which may be slow to hear of them", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    // The other one has no handler: whatever it does, it takes nothing.
    const other = setUp({ clock, dataStore });
    const { scheduler } = setUp({ clock, dataStore });
    const { handler, held } = heldHandler();
    scheduler.task("t", { maxRunningJobs: null }, handler);
    await Promise.all([other.scheduler.start(), scheduler.start()]);
    await clock.settle();
    await scheduler.addJobs(Array.from({ length: 40 }, () => ({ task: "t" })));
    const counts: number[] = [];
    for (let look = 0; look < 4; look++) {
      await clock.settle();
      counts.push(held.length);
      await clock.advance({ milliseconds: 10 });
    }
    expect(counts).toEqual([4, 12, 28, 40]);
  });
});

test("a scheduler whose store nobody shares takes all that it can in one commit", async () => {
  const store = new LookCountingStore();
  const clock = new VirtualClock(START);
  const { logger } = recordingLogger();
  const scheduler = new Scheduler({ clock, dataStore: store, logger });
  scheduler.task("t", { maxRunningJobs: null }, () => new Promise(() => {}));
  await scheduler.start();
  await clock.settle();
  let commits = 0;
  store.onStep = () => void commits++;
  await scheduler.addJobs(Array.from({ length: 40 }, () => ({ task: "t" })));
  await clock.settle();
  expect(commits).toBe(1);
  const stopping = scheduler.stop({ drainTimeout: { seconds: 0 } });
  await clock.advance("PT1M");
  await stopping;
});
