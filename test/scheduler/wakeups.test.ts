import { describe, expect, test } from "vitest";
import { type DataStore, StoreUnavailableError } from "../../src/contracts.ts";
import { Wakeup } from "../../src/core/wakeup.ts";
import { DateTrigger, LocalEventBroker, MemoryDataStore, systemClock } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { at, heldHandler, leaseAndDie, recordEvents, START, START_MS, setUp } from "./support.ts";

/** Counts the calls of a store's hot path. */
function countCalls(store: DataStore): { looks: number; commits: number } {
  const calls = { looks: 0, commits: 0 };
  const look = store.look.bind(store);
  const commit = store.commit.bind(store);
  store.look = (request) => {
    calls.looks++;
    return look(request);
  };
  store.commit = (request) => {
    calls.commits++;
    return commit(request);
  };
  return calls;
}

describe("a sleeping scheduler", () => {
  test("is woken by the event of a job that another one adds", async () => {
    const shared = {
      clock: new VirtualClock(START),
      dataStore: new MemoryDataStore(),
      eventBroker: new LocalEventBroker(),
    };
    const worker = setUp(shared).scheduler;
    const client = setUp(shared).scheduler;
    worker.task("t", () => "ran");
    await worker.start();
    await shared.clock.advance("PT1S");
    const { id } = await client.addJob("t");
    await shared.clock.settle();
    expect((await client.getJobResult(id))?.returnValue).toBe("ran");
  });

  test("takes a job that was added while its commit found another job to be gone", async () => {
    const shared = { clock: new VirtualClock(START), dataStore: new MemoryDataStore() };
    const worker = setUp(shared).scheduler;
    const client = setUp(shared).scheduler;
    worker.task("t", { maxRunningJobs: null }, () => "ran");
    await worker.start();
    await shared.clock.advance("PT1S");
    const { dataStore } = shared;
    const commit = dataStore.commit.bind(dataStore);
    let id = "";
    dataStore.commit = async (request) => {
      dataStore.commit = commit;
      expect(await leaseAndDie(dataStore, request.now, { schedulerId: "faster" })).toBe(1);
      const report = await commit(request);
      ({ id } = await client.addJob("t"));
      return report;
    };
    await client.addJob("t");
    await shared.clock.settle();
    expect((await client.getJobResult(id))?.returnValue).toBe("ran");
  });

  test("finds work whose event was lost within maxIdle", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const worker = setUp({ clock, dataStore, maxIdle: "PT15S" }).scheduler;
    const client = setUp({ clock, dataStore, eventBroker: new LocalEventBroker() }).scheduler;
    worker.task("t", () => "ran");
    await worker.start();
    await clock.advance("PT1S");
    const { id } = await client.addJob("t");
    await clock.advance("PT13.999S");
    expect(await client.getJobResult(id)).toBeNull();
    await clock.advance("PT0.001S");
    expect(await client.getJobResult(id)).toMatchObject({ outcome: "success" });
  });

  test.each([
    [true, 10],
    [false, 60],
  ])(
    "on a store that is shared by processes: %s, looks every %i seconds by default",
    async (sharedByProcesses, seconds) => {
      const clock = new VirtualClock(START);
      const dataStore = new MemoryDataStore();
      Object.defineProperty(dataStore, "capabilities", { value: { sharedByProcesses } });
      const calls = countCalls(dataStore);
      const { scheduler } = setUp({ clock, dataStore });
      await scheduler.start();
      await clock.settle();
      const before = calls.looks;
      await clock.advance({ seconds: 10 * seconds });
      expect([calls.looks - before, calls.commits]).toEqual([10, 0]);
    },
  );

  test("is not woken before a job's runAt by the event of that job", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const calls = countCalls(dataStore);
    const { scheduler } = setUp({ clock, dataStore, maxIdle: "PT1H" });
    scheduler.task("t", () => "ran");
    await scheduler.start();
    await clock.settle();
    const { id } = await scheduler.addJob("t", { runAt: at(1800) });
    await clock.settle();
    const before = { ...calls };
    await clock.advance("PT29M59S");
    expect(calls).toEqual(before);
    await clock.advance("PT1S");
    expect((await scheduler.getJobResult(id))?.returnValue).toBe("ran");
  });

  test("wakes at the fire time of a schedule, not at maxIdle", async () => {
    const { scheduler, clock } = setUp({ maxIdle: "PT1H" });
    let ranAt: string | null = null;
    scheduler.task("t", () => {
      ranAt = clock.instant.toString();
    });
    await scheduler.start();
    await scheduler.addSchedule("t", new DateTrigger(at(61)));
    await clock.advance("PT2M");
    expect(ranAt).toBe("2030-01-01T00:01:01Z");
  });

  test("takes over a job when another one's release makes room for it", async () => {
    const shared = {
      clock: new VirtualClock(START),
      dataStore: new MemoryDataStore(),
      eventBroker: new LocalEventBroker(),
    };
    const { handler, held } = heldHandler();
    const a = setUp({ ...shared, maxConcurrentJobs: 1 }).scheduler;
    const b = setUp({ ...shared, maxConcurrentJobs: 1 }).scheduler;
    for (const scheduler of [a, b]) scheduler.task("t", { maxRunningJobs: 1 }, handler);
    await a.start();
    await b.start();
    await a.addJobs([{ task: "t" }, { task: "t" }]);
    await shared.clock.advance("PT1S");
    held[0]?.finish("");
    await shared.clock.settle();
    expect(held).toHaveLength(2);
  });

  test("a year away sleeps without a timer above an hour on the system clock", async () => {
    const delays: number[] = [];
    const { setTimeout: original } = globalThis;
    const given = new AbortController();
    globalThis.setTimeout = ((run: () => void, ms: number) => {
      delays.push(ms);
      return original(run, 0);
    }) as typeof setTimeout;
    try {
      const sleeping = systemClock.sleep(systemClock.now() + 31_536_000_000, given.signal);
      given.abort();
      await sleeping;
    } finally {
      globalThis.setTimeout = original;
    }
    expect(delays).toEqual([3_600_000]);
  });
});

describe("Wakeup", () => {
  const never = new AbortController().signal;

  test("heeds a call that comes while nobody waits", async () => {
    const clock = new VirtualClock(START);
    const wakeup = new Wakeup(clock);
    wakeup.call();
    await wakeup.wait(Number.POSITIVE_INFINITY, never);
    expect(clock.now()).toBe(START_MS);
  });

  test("wakes at the earliest instant that somebody called for", async () => {
    const clock = new VirtualClock(START);
    const wakeup = new Wakeup(clock);
    let wokenAt = 0;
    const waiting = wakeup.wait(START_MS + 60_000, never).then(() => {
      wokenAt = clock.now();
    });
    wakeup.call(START_MS + 30_000);
    wakeup.call(START_MS + 10_000);
    wakeup.call(START_MS + 20_000);
    await clock.advance("PT1M");
    await waiting;
    expect(wokenAt).toBe(START_MS + 10_000);
  });

  test("is not woken by a call for later than it sleeps anyway", async () => {
    const clock = new VirtualClock(START);
    const wakeup = new Wakeup(clock);
    const waiting = wakeup.wait(START_MS + 1000, never);
    wakeup.call(START_MS + 5000);
    expect(clock.nextWakeMs).toBe(START_MS + 1000);
    await clock.advance("PT1S");
    await waiting;
  });

  test("ends with its signal", async () => {
    const clock = new VirtualClock(START);
    const given = new AbortController();
    const waiting = new Wakeup(clock).wait(Number.POSITIVE_INFINITY, given.signal);
    given.abort();
    await waiting;
    expect(clock.sleeperCount).toBe(0);
  });

  test("comes with a commit that was repeated, because the answer to the first try was lost", async () => {
    const clock = new VirtualClock(START);
    const store = new MemoryDataStore();
    const commit = store.commit.bind(store);
    let isLost = false;
    store.commit = async (request) => {
      const report = await commit(request);
      if (isLost || request.plans.length === 0) return report;
      isLost = true;
      throw new StoreUnavailableError("the answer was lost");
    };
    const eventBroker = new LocalEventBroker();
    const options = { clock, dataStore: store, eventBroker, maxIdle: "PT1H" } as const;
    const worker = setUp({ ...options, role: "worker" }).scheduler;
    const { scheduler } = setUp({ ...options, role: "scheduler" });
    const seen = recordEvents(scheduler);
    let runs = 0;
    for (const one of [worker, scheduler]) one.task("t", () => void runs++);
    await worker.start();
    await scheduler.start();
    await scheduler.addSchedule("t", new DateTrigger(at(5)));
    await clock.advance("PT10S");
    expect([isLost, runs]).toEqual([true, 1]);
    expect(seen.filter((event) => event.startsWith("jobAdded"))).toHaveLength(1);
  });
});
