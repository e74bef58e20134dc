import { describe, expect, test } from "vitest";
import type { JobAddition, JobRecord } from "../../src/contracts.ts";
import { LocalEventBroker, MemoryDataStore } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { gate, heldHandler, rejectionOf, START, setUp } from "./support.ts";

/** The reads of one job or result that a store is asked for from now on, by their names. */
function countReads(store: MemoryDataStore): string[] {
  const reads: string[] = [];
  for (const name of ["getJob", "getJobResult"] as const) {
    const read = store[name].bind(store) as (...given: unknown[]) => Promise<never>;
    store[name] = (...given: unknown[]): Promise<never> => {
      reads.push(name);
      return read(...given);
    };
  }
  return reads;
}

describe("runJob", () => {
  test("resolves with what the handler returns", async () => {
    const { scheduler } = setUp();
    const add = scheduler.task("add", async ([a, b]: [number, number]) => a + b);
    await scheduler.start();
    expect(await scheduler.runJob(add, { payload: [1, 2] })).toBe(3);
  });

  test("rejects with the name, message, stack, code and causes of what the handler threw", async () => {
    const { scheduler } = setUp();
    const thrown = Object.assign(new TypeError("outer", { cause: new RangeError("inner") }), { code: "E_OUTER" });
    const task = scheduler.task("t", () => {
      throw thrown;
    });
    await scheduler.start();
    const error = await rejectionOf(scheduler.runJob(task));
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: "TypeError", message: "outer", code: "E_OUTER", stack: thrown.stack });
    expect((error as Error).cause).toMatchObject({ name: "RangeError", message: "inner" });
  });

  test.each([
    ["a string", "just text", "just text"],
    ["nothing", undefined, "undefined"],
    ["an object without a prototype", Object.create(null), "cannot be read"],
    [
      "an error whose message throws",
      Object.defineProperty(new Error(), "message", {
        get() {
          throw new Error("gotcha");
        },
      }),
      "cannot be read",
    ],
  ])("rejects with an error when %s was thrown", async (_, thrown: unknown, text) => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {
      throw thrown;
    });
    await scheduler.start();
    const error = await rejectionOf(scheduler.runJob(task));
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toContain(text);
  });

  test("keeps the result long enough to read it, even where none is to be kept", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", { resultExpirationTime: "PT0S" }, () => "kept");
    await scheduler.start();
    expect(await scheduler.runJob(task)).toBe("kept");
    expect(await scheduler.runJob(task, { resultExpirationTime: "PT0S" })).toBe("kept");
  });

  test("rejects at once with the reason of a signal that is aborted already, and adds nothing", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    await expect(scheduler.runJob(task, { signal: AbortSignal.abort(new Error("no")) })).rejects.toThrow("no");
    expect((await scheduler.getJobs()).items).toEqual([]);
  });

  test("ends its wait with the signal's reason; the job goes on", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", handler);
    await scheduler.start();
    const given = new AbortController();
    const running = rejectionOf(scheduler.runJob(task, { signal: given.signal }));
    await clock.settle();
    given.abort(new Error("enough"));
    expect(await running).toMatchObject({ message: "enough" });
    expect(held[0]?.context.signal.aborted).toBe(false);
  });

  test("rejects when the scheduler stops before the job ends", async () => {
    const { scheduler } = setUp();
    const task = scheduler.task("t", () => {});
    await scheduler.start({ paused: true });
    const running = rejectionOf(scheduler.runJob(task));
    await scheduler.stop();
    expect(await running).toMatchObject({ code: "schedulerState" });
  });

  test("works from a client whose worker is another scheduler that it hears nothing of", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const worker = setUp({ clock, dataStore });
    const client = setUp({ clock, dataStore });
    worker.scheduler.task("t", () => "from the worker");
    await worker.scheduler.start();
    const running = client.scheduler.runJob("t");
    await clock.advance("PT2M");
    expect(await running).toBe("from the worker");
  });

  test("reads the result of a job that runs here once, however long that takes", async () => {
    const { scheduler, store, clock } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", handler);
    await scheduler.start();
    const reads = countReads(store);
    const running = scheduler.runJob(task);
    await clock.advance("PT10M");
    held[0]?.finish("done");
    expect(await running).toBe("done");
    expect(reads).toEqual(["getJobResult"]);
  });

  test("reads the result of a job that another scheduler runs once, if that one is heard in time", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const eventBroker = new LocalEventBroker();
    const worker = setUp({ clock, dataStore, eventBroker });
    const client = setUp({ clock, dataStore, eventBroker });
    worker.scheduler.task("t", () => "from the worker");
    await worker.scheduler.start();
    const reads = countReads(dataStore);
    expect(await client.scheduler.runJob("t")).toBe("from the worker");
    expect(reads).toEqual(["getJobResult"]);
  });

  test("looks for a job of which it hears nothing ever more rarely, and then for its result", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const client = setUp({ clock, dataStore, eventBroker: new LocalEventBroker() });
    const worker = setUp({ clock, dataStore, eventBroker: new LocalEventBroker() });
    const task = worker.scheduler.task("t", () => "from the worker");
    await worker.scheduler.addJob(task, { idempotencyKey: "k" });
    const reads = countReads(dataStore);
    const running = client.scheduler.runJob("t", { idempotencyKey: "k" });
    await clock.advance("PT4S");
    // After 50, 150, 350, 750, 1550 and 3150 ms.
    expect(reads).toEqual(Array.from({ length: 6 }, () => "getJob"));
    await worker.scheduler.tick();
    reads.length = 0;
    await clock.advance("PT2S");
    expect(await running).toBe("from the worker");
    expect(reads).toEqual(["getJob", "getJobResult"]);
  });

  test("finds a job that ended before its addition was answered", async () => {
    const clock = new VirtualClock(START);
    const { passed, pass } = gate();
    class SlowStore extends MemoryDataStore {
      override async addJobs(jobs: readonly JobRecord[]): Promise<JobAddition[]> {
        const additions = await super.addJobs(jobs);
        await passed;
        return additions;
      }
    }
    const dataStore = new SlowStore();
    const client = setUp({ clock, dataStore });
    const worker = setUp({ clock, dataStore });
    worker.scheduler.task("t", () => "early");
    await worker.scheduler.getTasks();
    const reads = countReads(dataStore);
    const running = client.scheduler.runJob("t");
    await clock.settle();
    expect(await worker.scheduler.tick()).toMatchObject({ outcomes: { success: 1 } });
    pass();
    expect(await running).toBe("early");
    expect(reads).toEqual(["getJobResult"]);
  });

  test("rejects with the class of the outcome of a job that did not run", async () => {
    const { scheduler, clock } = setUp();
    const task = scheduler.task("t", () => {});
    await scheduler.start({ paused: true });
    const cancelled = rejectionOf(scheduler.runJob(task, { idempotencyKey: "k" }));
    const late = rejectionOf(scheduler.runJob(task, { startDeadline: clock.instant }));
    await clock.settle();
    const job = (await scheduler.getJobs()).items.find(({ idempotencyKey }) => idempotencyKey === "k");
    await scheduler.cancelJob(job?.id ?? "");
    await clock.advance("PT1S");
    scheduler.resume();
    await clock.advance("PT10S");
    expect(await cancelled).toMatchObject({ name: "JobCancelledError", code: "jobCancelled" });
    expect(await late).toMatchObject({ name: "JobDeadlineMissedError", code: "jobDeadlineMissed" });
  });

  test("waits in any number without a listener on a shared signal, of which Node would warn", async () => {
    const { scheduler, clock } = setUp();
    const task = scheduler.task("t", { maxRunningJobs: null }, () => {});
    await scheduler.start({ paused: true });
    const added = new Map<AbortSignal, number>();
    const { addEventListener } = AbortSignal.prototype;
    AbortSignal.prototype.addEventListener = function (
      this: AbortSignal,
      ...args: Parameters<typeof addEventListener>
    ) {
      added.set(this, (added.get(this) ?? 0) + 1);
      return addEventListener.apply(this, args);
    } as typeof addEventListener;
    try {
      const running = Array.from({ length: 30 }, () => rejectionOf(scheduler.runJob(task)));
      await clock.settle();
      await scheduler.stop();
      await Promise.all(running);
    } finally {
      AbortSignal.prototype.addEventListener = addEventListener;
    }
    expect(Math.max(0, ...added.values())).toBeLessThan(10);
  });
});
