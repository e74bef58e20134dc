import { describe, expect, test } from "vitest";
import type { EventBroker } from "../../src/contracts.ts";
import { VERSION } from "../../src/core/version.ts";
import { LocalEventBroker, MemoryDataStore, Scheduler, StoreUnavailableError } from "../../src/mod.ts";
import { Metrics } from "../../src/observability/metrics/mod.ts";
import { drain, VirtualClock } from "../../src/testing/mod.ts";
import { everySecond, heldHandler, recordingLogger, START, setUp } from "./support.ts";

const counted = (count: number) => ({ count, isCapped: false });

describe("health()", () => {
  test("of a store with nothing in it says that all is well", async () => {
    const { scheduler } = setUp({ identity: "me" });
    const health = await scheduler.health();
    expect(health.toJSON()).toEqual({
      identity: "me",
      checkedAt: "2030-01-01T00:00:00Z",
      isStoreReached: true,
      storeError: null,
      eventsShared: false,
      versions: { package: VERSION, schema: null },
      latencyMs: 0,
      clockSkewMs: null,
      storeWarnings: [],
      oldestDueJob: null,
      oldestDueSchedule: null,
      backlog: [],
      schedulers: [],
      unhandledTasks: [],
      backloggedSchedules: [],
      overdueOccurrences: [],
      overdueCount: counted(0),
      pausedTasks: [],
    });
  });

  test("tells whether the events of a broker reach other processes, also through what watches the broker", async () => {
    const remote: EventBroker = Object.assign(new LocalEventBroker(), { isLocal: false });
    const shared: unknown[] = [];
    for (const broker of [remote, new LocalEventBroker()]) {
      const { eventBroker } = new Metrics().watch({ dataStore: new MemoryDataStore(), eventBroker: broker });
      shared.push((await setUp({ eventBroker: eventBroker as EventBroker }).scheduler.health()).eventsShared);
    }
    expect(shared).toEqual([true, false]);
  });

  test("tells what waits and runs, what is late, who lives, what nobody runs, and what piles up", async () => {
    const { scheduler: worker, clock, store } = setUp({ identity: "worker", role: "worker" });
    const { scheduler: client } = setUp({ clock, dataStore: store, identity: "client" });
    const { handler } = heldHandler();
    const slow = worker.task("slow", handler);
    client.task("orphan", () => {});
    await worker.start();
    await client.addSchedule("slow", everySecond(), { id: "s", coalesce: "all" });
    const { id } = await client.addJob("orphan");
    await client.addJob("orphan", { runAt: "2030-01-02T00:00:00Z" });
    await clock.advance("PT20S");
    const { scheduler: firing } = setUp({ clock, dataStore: store, identity: "firing", role: "scheduler" });
    await firing.tick();
    await worker.addJob(slow);
    await clock.advance("PT1.5S");
    const health = await client.health();
    expect(health.toJSON()).toMatchObject({
      identity: "client",
      oldestDueJob: { id, taskId: "orphan", runAt: "2030-01-01T00:00:00Z", lateMs: 21_500 },
      oldestDueSchedule: { id: "s", taskId: "slow", nextFireTime: "2030-01-01T00:00:21Z", lateMs: 500 },
      backlog: [
        { taskId: "orphan", waiting: counted(2), blocked: counted(0), running: 0 },
        { taskId: "slow", waiting: counted(20), blocked: counted(0), running: 1 },
      ],
      schedulers: [
        { identity: "firing", role: "scheduler", isResident: false, tasks: [], executors: ["inline"] },
        { identity: "worker", role: "worker", isResident: true, tasks: ["slow"], executors: ["inline"] },
      ],
      unhandledTasks: ["orphan"],
      backloggedSchedules: [{ scheduleId: "s", taskId: "slow", unfinished: counted(21) }],
    });
    expect(health.oldestDueJob?.runAt.epochMilliseconds).toBe(Date.parse(START));
    expect(health.schedulers[0]?.aliveUntil.epochMilliseconds).toBeGreaterThan(clock.now());
    expect(JSON.parse(JSON.stringify(health))).toEqual(health.toJSON());
  });

  test("knows of the tasks that were registered after the start", async () => {
    const { scheduler } = setUp({ identity: "me" });
    scheduler.task("early", () => {});
    await scheduler.start();
    scheduler.task("late", () => {});
    await scheduler.addJob("late", { runAt: "2030-01-02T00:00:00Z" });
    const { schedulers, unhandledTasks } = await scheduler.health();
    expect([schedulers.map(({ tasks }) => tasks), unhandledTasks]).toEqual([[["early", "late"]], []]);
  });

  test("never rejects: an outage and a stop are facts", async () => {
    const dataStore = new MemoryDataStore();
    dataStore.inspect = () => Promise.reject(new StoreUnavailableError("no disk"));
    const { scheduler } = setUp({ dataStore });
    const down = await scheduler.health();
    await scheduler.stop();
    const stopped = await scheduler.health();
    expect(
      [down, stopped].map(({ isStoreReached, storeError, backlog }) => [isStoreReached, storeError?.code, backlog]),
    ).toEqual([
      [false, "storeUnavailable", []],
      [false, "schedulerState", []],
    ]);
  });

  test("tells after 5 s that the store hangs", async () => {
    const dataStore = new MemoryDataStore();
    dataStore.inspect = () => new Promise(() => {});
    const { scheduler, clock } = setUp({ dataStore });
    const health = scheduler.health();
    await clock.advance("PT5S");
    const { isStoreReached, storeError } = await health;
    expect([isStoreReached, storeError?.code, storeError?.message]).toEqual([
      false,
      "storeUnavailable",
      "the store has not answered within 5 s",
    ]);
  });

  test("tells how far the clock of the store is ahead, and warns once beyond a second", async () => {
    const dataStore = new MemoryDataStore();
    const clock = new VirtualClock(START);
    const inspect = dataStore.inspect.bind(dataStore);
    const { logger, entries } = recordingLogger();
    let skewMs = 1000;
    dataStore.inspect = async (now) => ({ ...(await inspect(now)), storeNow: clock.now() + skewMs });
    await using scheduler = new Scheduler({ dataStore, clock, logger });
    expect(await scheduler.health()).toMatchObject({ clockSkewMs: 1000, storeWarnings: [] });
    for (skewMs of [-1500, -1501]) {
      expect(await scheduler.health()).toMatchObject({ clockSkewMs: skewMs, storeWarnings: [{ code: "clockSkew" }] });
    }
    const message =
      "the store's clock is 1500 ms behind this scheduler's; let both machines take the time of one server";
    expect(entries.filter(({ level }) => level === "warn").map((entry) => entry.message)).toEqual([
      `escapement: ${message}`,
    ]);
  });
});

describe("what consoles print", () => {
  const INSPECT = Symbol.for("nodejs.util.inspect.custom");
  const printed = (value: object): unknown => (Reflect.get(value, INSPECT) as () => unknown).call(value);

  test("of a tick is its report with the instant as text", async () => {
    const { scheduler } = setUp();
    scheduler.task("t", () => {});
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    const report = await scheduler.tick();
    expect(printed(report)).toEqual({ ...report, nextWakeAt: "2030-01-01T00:00:01Z" });
    await scheduler.removeSchedule("s");
    expect(printed(await scheduler.tick())).toMatchObject({ nextWakeAt: null, exhausted: false });
    await drain(scheduler);
  });

  test("of health is its JSON", async () => {
    const { scheduler } = setUp();
    const health = await scheduler.health();
    expect(printed(health)).toEqual(health.toJSON());
  });
});
