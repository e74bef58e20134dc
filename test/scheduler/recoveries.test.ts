import { describe, expect, test } from "vitest";
import { MemoryDataStore } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import {
  commitRequest,
  everySecond,
  heldHandler,
  leaseAndDie,
  recordEvents,
  START,
  secondsOf,
  setUp,
} from "./support.ts";

/** Leases a job as a process does that dies at once. */
async function loseJob(store: MemoryDataStore, clock: VirtualClock, schedulerId = "dead"): Promise<void> {
  expect(await leaseAndDie(store, clock.now(), { schedulerId })).toBe(1);
}

/** Takes the leases back, as a process does whose clock is ahead. */
async function takeBack(store: MemoryDataStore, clock: VirtualClock): Promise<void> {
  const now = clock.now() + 61_000;
  expect((await store.commit(commitRequest({ now, schedulerId: "ahead", recover: true }))).recovered).toHaveLength(1);
}

describe("a job that was lost with its process", () => {
  test("goes back to the queue when its lease expires, and runs again with a higher fence", async () => {
    const clock = new VirtualClock(START);
    const { scheduler, store } = setUp({ clock });
    const seen: number[][] = [];
    const task = scheduler.task("t", (_, { attempt, fence }) => {
      seen.push([attempt, fence]);
    });
    const { id } = await scheduler.addJob(task);
    await loseJob(store, clock);
    await clock.advance("PT59.999S");
    expect((await scheduler.tick()).jobsRun).toBe(0);
    await clock.advance("PT0.001S");
    expect((await scheduler.tick()).outcomes.success).toBe(1);
    expect(seen).toEqual([[2, 2]]);
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "success", attempts: 2 });
  });

  test("is no failure of the handler: the retry budget is untouched", async () => {
    const clock = new VirtualClock(START);
    const { scheduler, store } = setUp({ clock });
    const task = scheduler.task("t", { retry: { maxAttempts: 2, backoff: { initial: "PT0S" } } }, () => {
      throw new Error("no");
    });
    const { id } = await scheduler.addJob(task);
    await loseJob(store, clock);
    await clock.advance("PT1M");
    await scheduler.tick();
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "error", attempts: 3 });
  });

  test("is abandoned after maxRecoveries, three by default", async () => {
    const clock = new VirtualClock(START);
    const { scheduler, store } = setUp({ clock });
    const { id } = await scheduler.addJob(scheduler.task("t", () => {}));
    for (let crash = 0; crash < 4; crash++) {
      await loseJob(store, clock);
      await clock.advance("PT1M");
    }
    expect((await scheduler.tick()).outcomes.abandoned).toBe(1);
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "abandoned", attempts: 4 });
  });

  test("with maxRecoveries 0 never runs twice", async () => {
    const clock = new VirtualClock(START);
    const { scheduler, store } = setUp({ clock });
    const { id } = await scheduler.addJob(scheduler.task("t", { maxRecoveries: 0 }, () => {}));
    await loseJob(store, clock);
    await clock.advance("PT1M");
    const report = await scheduler.tick();
    expect([report.jobsRun, report.outcomes.abandoned]).toEqual([0, 1]);
    expect((await scheduler.getJobResult(id))?.error).toMatchObject({ code: "jobAbandoned" });
  });

  test("comes back at once when a scheduler with the same identity starts", async () => {
    const clock = new VirtualClock(START);
    const { scheduler, store } = setUp({ clock, identity: "worker-1" });
    const { id } = await scheduler.addJob(scheduler.task("t", () => "done"));
    await loseJob(store, clock, "worker-1");
    await scheduler.start();
    await clock.settle();
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "success", attempts: 2 });
  });

  test("waits for its lease when the scheduler that starts has another identity", async () => {
    const clock = new VirtualClock(START);
    const { scheduler, store } = setUp({ clock, identity: "worker-2" });
    const { id } = await scheduler.addJob(scheduler.task("t", () => "done"));
    await loseJob(store, clock, "worker-1");
    await scheduler.start();
    await clock.advance("PT59S");
    expect(await scheduler.getJobResult(id)).toBeNull();
    await clock.advance("PT1S");
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "success" });
  });

  test("is told of by jobRetried with its schedule and attempt, and no error", async () => {
    const clock = new VirtualClock(START);
    const { scheduler, store } = setUp({ clock });
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    await scheduler.runScheduleNow("s");
    await scheduler.pauseSchedule("s");
    await loseJob(store, clock);
    await clock.advance("PT1M");
    const retried = scheduler.nextEvent("jobRetried");
    await scheduler.tick();
    expect(await retried).toMatchObject({ scheduleId: "s", attempt: 1, error: null });
  });
});

describe("a lease", () => {
  test("lasts 60 seconds by default, and is extended every 20", async () => {
    const { scheduler, clock } = setUp();
    const { handler } = heldHandler();
    await scheduler.start();
    const { id } = await scheduler.addJob(scheduler.task("t", handler));
    await clock.settle();
    const ends: (number | null)[] = [];
    for (let commit = 0; commit < 3; commit++) {
      ends.push(secondsOf((await scheduler.getJob(id)).acquiredUntil));
      await clock.advance("PT20S");
    }
    expect(ends).toEqual([60, 80, 100]);
  });
});

describe("a lost lease", () => {
  test("lets the job run again with the same idempotency key, the next attempt and a higher fence", async () => {
    const { scheduler, clock, store } = setUp({ identity: "a" });
    const { handler, held } = heldHandler();
    await scheduler.start();
    const { id } = await scheduler.addJob(scheduler.task("t", handler));
    await clock.settle();
    await takeBack(store, clock);
    await clock.advance("PT1M");
    const seen = held.map(({ context: { attempt, fence, idempotencyKey } }) => ({ attempt, fence, idempotencyKey }));
    expect(seen).toEqual([
      { attempt: 1, fence: 1, idempotencyKey: id },
      { attempt: 2, fence: 2, idempotencyKey: id },
    ]);
  });

  test("aborts the running job, and what it returns no longer counts", async () => {
    const clock = new VirtualClock(START);
    const store = new MemoryDataStore();
    const first = setUp({ clock, dataStore: store, identity: "a" });
    const { handler, held } = heldHandler();
    const task = first.scheduler.task("t", handler);
    await first.scheduler.start();
    const { id } = await first.scheduler.addJob(task);
    await clock.settle();
    await takeBack(store, clock);
    await clock.advance("PT20S");
    expect(held[0]?.context.signal.reason).toMatchObject({ code: "leaseLost" });
    held[0]?.finish("too late");
    await clock.settle();
    expect(await first.scheduler.getJobResult(id)).toBeNull();
    held[1]?.finish("in time");
    await clock.advance("PT1S");
    expect(await first.scheduler.getJobResult(id)).toMatchObject({ returnValue: "in time", attempts: 2 });
  });

  test("is noticed at once by the scheduler that takes its own job back", async () => {
    const clock = new VirtualClock(START);
    const store = new MemoryDataStore();
    const { scheduler } = setUp({ clock, dataStore: store, identity: "a" });
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", handler);
    await scheduler.start();
    await scheduler.addJob(task);
    await clock.settle();
    await takeBack(store, clock);
    const other = scheduler.task("other", () => {});
    await scheduler.addJob(other);
    await clock.settle();
    expect(held).toHaveLength(2);
    expect(held[0]?.context.signal.reason).toMatchObject({ code: "leaseLost" });
    expect(held[1]?.context.signal.aborted).toBe(false);
    expect(held[1]?.context.fence).toBe(2);
  });

  test("is not lost to an event loop that stood still longer than the lease, however slow the store is then", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const extendLeases = dataStore.extendLeases.bind(dataStore);
    dataStore.extendLeases = async (extension) => {
      for (let turns = 0; turns < 20; turns++) await clock.yield();
      return extendLeases(extension);
    };
    const { scheduler } = setUp({ clock, dataStore });
    const seen = recordEvents(scheduler);
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", handler);
    await scheduler.start();
    const { id } = await scheduler.addJob(task);
    await clock.settle();
    await clock.jumpTo(new Date(clock.now() + 90_000));
    await clock.advance("PT1S");
    held[0]?.finish("done");
    await clock.settle();
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "success", attempts: 1 });
    expect(seen.filter((event) => event.startsWith("job"))).toEqual([
      "jobAdded",
      "jobAcquired 1",
      "jobReleased success",
    ]);
  });
});
