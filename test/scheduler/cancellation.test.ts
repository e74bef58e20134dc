import { describe, expect, test } from "vitest";
import { LocalEventBroker, MemoryDataStore } from "../../src/mod.ts";
import { cancel } from "../../src/testing/data-store-contract/makers.ts";
import { drain, VirtualClock } from "../../src/testing/mod.ts";
import { heldHandler, leaseAndDie, recordEvents, rejectionOf, START, setUp } from "./support.ts";

describe("cancelJob", () => {
  test("ends a queued job at once as cancelled", async () => {
    const { scheduler } = setUp();
    let runs = 0;
    const task = scheduler.task("t", () => {
      runs++;
    });
    const { id } = await scheduler.addJob(task);
    const seen = recordEvents(scheduler);
    expect(await scheduler.cancelJob(id)).toBe("delivered");
    await drain(scheduler);
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "cancelled", startedAt: null, attempts: 0 });
    expect([runs, seen]).toEqual([0, ["jobReleased cancelled"]]);
  });

  test("comes too late for a job that has ended or never was", async () => {
    const { scheduler } = setUp();
    const { id } = await scheduler.addJob(scheduler.task("t", () => {}));
    await drain(scheduler);
    expect([await scheduler.cancelJob(id), await scheduler.cancelJob("nobody")]).toEqual(["tooLate", "tooLate"]);
  });

  test("aborts the signal of a job that runs here at once", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", handler);
    await scheduler.start();
    const running = rejectionOf(scheduler.runJob(task));
    await clock.settle();
    const { id } = held[0]?.context.job ?? { id: "" };
    expect(await scheduler.cancelJob(id)).toBe("delivered");
    expect(held[0]?.context.signal.reason).toMatchObject({ code: "jobCancelled" });
    held[0]?.finish("too late");
    await clock.settle();
    expect(await running).toMatchObject({ code: "jobCancelled" });
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "cancelled", attempts: 1 });
  });

  test("aborts a job that runs elsewhere when its lease is next extended", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const worker = setUp({ clock, dataStore });
    const client = setUp({ clock, dataStore, eventBroker: new LocalEventBroker() });
    const { handler, held } = heldHandler();
    const task = worker.scheduler.task("t", handler);
    await worker.scheduler.start();
    const { id } = await worker.scheduler.addJob(task);
    await clock.advance("PT1S");
    expect(await client.scheduler.cancelJob(id)).toBe("asked");
    expect(held[0]?.context.signal.aborted).toBe(false);
    await clock.advance("PT20S");
    expect(held[0]?.context.signal.reason).toMatchObject({ code: "jobCancelled" });
  });

  test("aborts a job that runs elsewhere at once where an event tells of it, and no event that lies", async () => {
    const { scheduler: worker, clock, store } = setUp();
    const { scheduler: client } = setUp({ clock, dataStore: store });
    const { handler, held } = heldHandler();
    const task = worker.task("t", { maxRunningJobs: 2 }, handler);
    await worker.start();
    const [first, second] = await worker.addJobs([{ task }, { task }]);
    await clock.advance("PT1S");
    expect(await client.cancelJob(first?.id ?? "")).toBe("asked");
    await clock.settle();
    const aborted = held.map(({ context }) => [context.job.id, context.signal.aborted]);
    expect(Object.fromEntries(aborted)).toEqual({ [first?.id ?? ""]: true, [second?.id ?? ""]: false });
    const broker = new LocalEventBroker();
    const { scheduler: other } = setUp({ clock, dataStore: store, eventBroker: broker });
    const { handler: another, held: heldToo } = heldHandler();
    const lied = other.task("u", another);
    await other.start();
    const { id: jobId } = await other.addJob(lied);
    await clock.settle();
    await broker.publish([{ type: "jobCancelRequested", timestampMs: clock.now(), jobId }]);
    await clock.settle();
    expect(heldToo.map(({ context }) => context.signal.aborted)).toEqual([false]);
  });

  test("ends a job whose handler ignores its signal after a lease", async () => {
    const { scheduler, clock } = setUp();
    const { handler } = heldHandler();
    const task = scheduler.task("t", handler);
    await scheduler.start();
    const { id } = await scheduler.addJob(task);
    await clock.settle();
    await scheduler.cancelJob(id);
    await clock.advance("PT59S");
    expect(await scheduler.getJobResult(id)).toBeNull();
    await clock.advance("PT1S");
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "cancelled" });
  });

  test("of a running job that fails just then lets no retry follow", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const { scheduler } = setUp({ clock, dataStore });
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { retry: { maxAttempts: 5, backoff: { initial: "PT0S" } } }, handler);
    await scheduler.start();
    const { id } = await scheduler.addJob(task);
    await clock.settle();
    await cancel(dataStore, id, clock.now());
    const seen = recordEvents(scheduler);
    held[0]?.fail(new Error("no"));
    await clock.settle();
    expect(await scheduler.getJobResult(id)).toMatchObject({ outcome: "cancelled" });
    expect([held.length, seen]).toEqual([1, ["jobReleased cancelled"]]);
  });

  test("of a job whose process died ends it when its lease expires", async () => {
    const clock = new VirtualClock(START);
    const { scheduler, store } = setUp({ clock });
    const { id } = await scheduler.addJob(scheduler.task("t", () => {}));
    await leaseAndDie(store, clock.now());
    expect(await scheduler.cancelJob(id)).toBe("asked");
    await clock.advance("PT1M");
    expect((await scheduler.tick()).outcomes.cancelled).toBe(1);
  });
});
