import { describe, expect, test } from "vitest";
import {
  currentJob,
  InlineExecutor,
  LocalEventBroker,
  MemoryDataStore,
  Scheduler,
  type SchedulerState,
  StoreUnavailableError,
} from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import {
  everySecond,
  heldHandler,
  recordEvents,
  recordingLogger,
  rejectionOf,
  START,
  secondsOf,
  setUp,
} from "./support.ts";

describe("the states of a scheduler", () => {
  test("are stopped, starting, started, paused, started, stopping, stopped", async () => {
    const { scheduler } = setUp();
    const states: SchedulerState[] = [scheduler.state];
    const starting = scheduler.start();
    states.push(scheduler.state);
    await starting;
    states.push(scheduler.state);
    scheduler.pause();
    states.push(scheduler.state);
    scheduler.resume();
    states.push(scheduler.state);
    const stopping = scheduler.stop();
    states.push(scheduler.state);
    await stopping;
    states.push(scheduler.state);
    expect(states).toEqual(["stopped", "starting", "started", "paused", "started", "stopping", "stopped"]);
  });

  test("starting and stopping are told of", async () => {
    const { scheduler } = setUp();
    const seen = recordEvents(scheduler);
    await scheduler.start();
    await scheduler.stop();
    expect(seen).toEqual(["schedulerStarted", "schedulerStopped"]);
  });

  test("starting twice is refused, during the start and after it", async () => {
    const { scheduler } = setUp();
    const starting = scheduler.start();
    await expect(scheduler.start()).rejects.toMatchObject({ code: "schedulerState" });
    await starting;
    await expect(scheduler.start()).rejects.toMatchObject({ code: "schedulerState" });
    expect(scheduler.state).toBe("started");
  });

  test("a start that fails leaves a scheduler that may be started again", async () => {
    const dataStore = new MemoryDataStore();
    let isDown = true;
    dataStore.open = async () => {
      if (isDown) throw new StoreUnavailableError("down");
    };
    const { scheduler } = setUp({ dataStore });
    await expect(scheduler.start()).rejects.toMatchObject({ code: "storeUnavailable" });
    expect(scheduler.state).toBe("stopped");
    isDown = false;
    await scheduler.start();
    expect(scheduler.state).toBe("started");
  });

  test("once it has stopped, everything is refused but stop and what begins again", async () => {
    const { scheduler } = setUp();
    await scheduler.start();
    await scheduler.stop();
    await scheduler.stop();
    const refused = expect.objectContaining({ code: "schedulerState" });
    for (const use of [
      () => scheduler.getTasks(),
      () => scheduler.addJob("t"),
      () => scheduler.getSchedules(),
      () => scheduler.nextEvent(null),
      () => scheduler.cleanup(),
    ]) {
      await expect(use()).rejects.toEqual(refused);
    }
    expect(() => scheduler.subscribe(null, () => {})).toThrow(refused);
    expect(() => scheduler.events()).toThrow(refused);
  });

  test("a scheduler that was never started can be used as a client, and stopped", async () => {
    const { scheduler } = setUp();
    await scheduler.addJob(scheduler.task("t", () => {}));
    expect((await scheduler.getJobs()).items).toHaveLength(1);
    const seen = recordEvents(scheduler);
    await scheduler.stop();
    expect([scheduler.state, seen]).toEqual(["stopped", []]);
  });

  test("stop while it starts ends the start with an error and everything else in order", async () => {
    const { scheduler } = setUp();
    const starting = rejectionOf(scheduler.start());
    await scheduler.stop();
    expect(await starting).toMatchObject({ code: "schedulerState" });
    expect(scheduler.state).toBe("stopped");
  });

  test("await using stops it", async () => {
    const clock = new VirtualClock(START);
    let state: () => SchedulerState = () => "started";
    {
      await using scheduler = new Scheduler({ clock });
      state = () => scheduler.state;
      await scheduler.start();
    }
    expect(state()).toBe("stopped");
  });
});

describe("runUntilStopped", () => {
  test("starts, and resolves when somebody stops it", async () => {
    const { scheduler, clock } = setUp();
    let runs = 0;
    scheduler.task("t", () => {
      runs++;
    });
    await scheduler.addSchedule("t", everySecond());
    const running = scheduler.runUntilStopped();
    await clock.advance("PT2S");
    await scheduler.stop();
    await running;
    expect(runs).toBe(3);
  });

  test("stops when its signal is aborted, before, during and after the start", async () => {
    const { scheduler: before } = setUp();
    await before.runUntilStopped({ signal: AbortSignal.abort() });
    const { scheduler: during } = setUp();
    const given = new AbortController();
    const starting = during.runUntilStopped({ signal: given.signal });
    given.abort();
    await starting;
    const { scheduler: later, clock } = setUp();
    const second = new AbortController();
    const running = later.runUntilStopped({ signal: second.signal });
    await clock.settle();
    expect(later.state).toBe("started");
    second.abort();
    await running;
    expect([before.state, during.state, later.state]).toEqual(["stopped", "stopped", "stopped"]);
  });

  test("joins a start that is under way, and rejects with its failure", async () => {
    const dataStore = new MemoryDataStore();
    dataStore.giveUpLeases = () => Promise.reject(new StoreUnavailableError("down"));
    const { scheduler } = setUp({ dataStore });
    const starting = rejectionOf(scheduler.start());
    await expect(scheduler.runUntilStopped()).rejects.toMatchObject({ code: "storeUnavailable" });
    expect(await starting).toMatchObject({ code: "storeUnavailable" });
  });
});

describe("stop", () => {
  test("lets running jobs end, begins no new ones, and records what they return", async () => {
    const { scheduler, clock, store } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", handler);
    await scheduler.start();
    const [first, second] = await scheduler.addJobs([{ task }, { task }]);
    await clock.settle();
    const stopping = scheduler.stop();
    await clock.advance("PT20S");
    expect(held[0]?.context.signal.aborted).toBe(false);
    held[0]?.finish("drained");
    await clock.settle();
    await stopping;
    expect(await store.getJobResult(first?.id ?? "", 0)).toMatchObject({
      outcome: "success",
      returnValue: '"drained"',
    });
    expect(await store.getJob(second?.id ?? "")).toMatchObject({ acquiredBy: null, recoveries: 0, failedAttempts: 0 });
    expect(held).toHaveLength(1);
  });

  test("after drainTimeout aborts what still runs and puts it back for others, which counts as a recovery", async () => {
    const { scheduler, clock, store } = setUp();
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", { maxRunningJobs: null }, handler);
    await scheduler.start();
    const [polite, stubborn] = await scheduler.addJobs([{ task }, { task }]);
    await clock.settle();
    held[0]?.context.signal.addEventListener("abort", () => held[0]?.fail(held[0].context.signal.reason));
    const stopping = scheduler.stop({ drainTimeout: "PT10S" });
    await clock.advance("PT9.999S");
    expect(held[1]?.context.signal.aborted).toBe(false);
    await clock.advance("PT0.001S");
    expect(held[1]?.context.signal.reason).toMatchObject({ code: "schedulerState" });
    await clock.advance("PT5S");
    await stopping;
    for (const job of [polite, stubborn]) {
      expect(await store.getJob(job?.id ?? "")).toMatchObject({ acquiredBy: null, recoveries: 1, failedAttempts: 0 });
    }
  });

  test("drains 30 seconds by default", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    await scheduler.start();
    await scheduler.addJob(scheduler.task("t", handler));
    await clock.settle();
    const stopping = scheduler.stop();
    await clock.advance("PT29.999S");
    expect(held[0]?.context.signal.aborted).toBe(false);
    await clock.advance("PT0.001S");
    expect(held[0]?.context.signal.aborted).toBe(true);
    held[0]?.finish("");
    await stopping;
  });

  test("a job may use the scheduler while it drains", async () => {
    const { scheduler, clock, store } = setUp();
    const { handler, held } = heldHandler();
    await scheduler.start();
    await scheduler.addJob(scheduler.task("t", handler));
    scheduler.task("next", () => {});
    await clock.settle();
    const stopping = scheduler.stop();
    await held[0]?.context.scheduler.addJob("next");
    held[0]?.finish("");
    await stopping;
    expect((await store.getJobs({ limit: 9, cursor: null })).items.map(({ taskId }) => taskId)).toEqual(["next"]);
  });

  test("awaited by a handler does not wait for that handler", async () => {
    const { scheduler, clock, store } = setUp();
    const happened: string[] = [];
    const task = scheduler.task("quit", async (_, context) => {
      await clock.yield();
      expect(currentJob()).toBe(context);
      await scheduler.stop();
      happened.push(scheduler.state);
      return "said goodbye";
    });
    const running = scheduler.runUntilStopped();
    const { id } = await scheduler.addJob(task);
    await running;
    expect(happened).toEqual(["stopping"]);
    expect(await store.getJobResult(id, 0)).toMatchObject({ outcome: "success", returnValue: '"said goodbye"' });
  });

  test("during a tick lets the tick end first", async () => {
    const dataStore = new MemoryDataStore();
    const happened: string[] = [];
    dataStore.close = async () => void happened.push("closed");
    const { scheduler, clock } = setUp({ dataStore });
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", handler);
    const [first] = await scheduler.addJobs([{ task }, { task }]);
    const ticking = scheduler.tick().then((report) => {
      happened.push("ticked");
      return report;
    });
    await clock.settle();
    const stopping = scheduler.stop();
    await clock.settle();
    held[0]?.finish("");
    await clock.settle();
    expect((await ticking).jobsRun).toBe(1);
    await stopping;
    expect(happened).toEqual(["ticked", "closed"]);
    expect(await dataStore.getJobResult(first?.id ?? "", 0)).toMatchObject({ outcome: "success" });
  });

  test("while the store is being opened closes it after that", async () => {
    const dataStore = new MemoryDataStore();
    const happened: string[] = [];
    const clock = new VirtualClock(START);
    dataStore.open = async () => {
      await clock.yield();
      happened.push("opened");
    };
    dataStore.close = async () => void happened.push("closed");
    const { scheduler } = setUp({ clock, dataStore });
    const asking = rejectionOf(scheduler.getTasks().then(() => Promise.reject(new Error("answered"))));
    await scheduler.stop();
    await asking;
    expect(happened).toEqual(["opened", "closed"]);
  });

  test("runs the jobs that an acquisition under way brings, and drains them", async () => {
    const dataStore = new MemoryDataStore();
    const { scheduler, clock } = setUp({ dataStore });
    const { handler, held } = heldHandler();
    const task = scheduler.task("t", handler);
    await scheduler.start();
    await clock.settle();
    const commit = dataStore.commit.bind(dataStore);
    let answer: (() => void) | undefined;
    dataStore.commit = async (request) => {
      const report = await commit(request);
      if (request.additions.length > 0)
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
      return report;
    };
    const adding = scheduler.addJob(task);
    await clock.settle();
    const stopping = scheduler.stop();
    await clock.settle();
    answer?.();
    const { id } = await adding;
    await clock.advance("PT10S");
    held[0]?.finish("drained");
    await clock.settle();
    await stopping;
    expect(await dataStore.getJobResult(id, 0)).toMatchObject({ outcome: "success", returnValue: '"drained"' });
  });

  test("closes the store with the last scheduler that uses it, and the executors and the broker", async () => {
    const dataStore = new MemoryDataStore();
    const eventBroker = new LocalEventBroker();
    const executor = new InlineExecutor();
    const closed: string[] = [];
    dataStore.close = async () => void closed.push("store");
    eventBroker.close = async () => void closed.push("broker");
    executor.close = async () => void closed.push("executor");
    const first = setUp({ dataStore, eventBroker, executors: { inline: executor } });
    const second = setUp({ dataStore });
    await first.scheduler.start();
    await second.scheduler.getTasks();
    await first.scheduler.stop();
    expect(closed).toEqual(["executor", "broker"]);
    await second.scheduler.stop();
    expect(closed).toEqual(["executor", "broker", "store"]);
  });

  test("closes a broker and an executor that others share with the last scheduler that uses them", async () => {
    const eventBroker = new LocalEventBroker();
    const inline = new InlineExecutor();
    const seen: string[] = [];
    eventBroker.open = async () => void seen.push("broker opened");
    eventBroker.close = async () => void seen.push("broker closed");
    inline.close = async () => void seen.push("executor closed");
    const shared = { eventBroker, executors: { inline, also: inline } };
    const [first, second] = [setUp(shared).scheduler, setUp(shared).scheduler];
    await first.start();
    await second.start();
    await first.stop();
    expect(seen).toEqual(["broker opened", "broker opened"]);
    await second.stop();
    expect(seen.slice(2)).toEqual(["executor closed", "broker closed"]);
  });

  test("a start that fails holds on to nothing that others share", async () => {
    const eventBroker = new LocalEventBroker();
    let closedCount = 0;
    eventBroker.close = async () => void closedCount++;
    const dataStore = new MemoryDataStore();
    dataStore.open = () => Promise.reject(new StoreUnavailableError("no disk"));
    const { scheduler } = setUp({ eventBroker });
    await scheduler.start();
    const failing = setUp({ eventBroker, dataStore }).scheduler;
    for (let tries = 0; tries < 2; tries++) await expect(failing.start()).rejects.toThrow("no disk");
    await failing.stop();
    expect(closedCount).toBe(0);
    await scheduler.stop();
    expect(closedCount).toBe(1);
  });

  test("closes everything even where closing one of them fails, and reports that", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const executor = new InlineExecutor();
    let isStoreClosed = false;
    executor.close = () => Promise.reject(new Error("thread is stuck"));
    dataStore.close = async () => {
      isStoreClosed = true;
    };
    const scheduler = new Scheduler({
      clock,
      dataStore,
      executors: { inline: executor },
      logger: recordingLogger().logger,
    });
    await scheduler.start();
    await expect(scheduler.stop()).rejects.toThrow("thread is stuck");
    expect([isStoreClosed, scheduler.state]).toEqual([true, "stopped"]);
  });

  test("leaves nobody asleep", async () => {
    const { scheduler, clock } = setUp();
    await scheduler.start();
    await scheduler.addJob(scheduler.task("t", { timeout: "PT1H" }, () => {}));
    await clock.advance("PT1S");
    await scheduler.stop();
    expect(clock.sleeperCount).toBe(0);
  });
});

describe("clocks that jump", () => {
  test("forward: what came due fires at once, coalesced", async () => {
    const { scheduler, clock } = setUp();
    const fired: (number | null)[] = [];
    scheduler.task("t", (_, { job }) => {
      fired.push(secondsOf(job.scheduledFireTime));
    });
    await scheduler.start();
    await scheduler.addSchedule("t", everySecond());
    await clock.settle();
    await clock.jumpTo("2030-01-01T06:00:00Z");
    expect(fired).toEqual([0, 21_600]);
  });

  test("back: nothing fires twice, and the scheduler goes on looking at its usual pace", async () => {
    const { scheduler, clock, store } = setUp();
    const fired: (number | null)[] = [];
    scheduler.task("t", (_, { job }) => {
      fired.push(secondsOf(job.scheduledFireTime));
    });
    await scheduler.start();
    await scheduler.addSchedule("t", everySecond());
    await clock.advance("PT2S");
    await clock.jumpTo("2029-12-31T00:00:00Z");
    await clock.advance("PT1H");
    expect(fired).toEqual([0, 1, 2]);
    // Added by somebody whose events do not reach this scheduler.
    const quiet = new Scheduler({ clock, dataStore: store });
    await quiet.addJob("t");
    await clock.advance("PT1M");
    expect(fired).toEqual([0, 1, 2, null]);
    await quiet.stop();
  });

  test("ids stay unique and increasing while the clock stands still or goes back", async () => {
    const { scheduler, clock } = setUp();
    const task = scheduler.task("t", () => {});
    const jobs = await scheduler.addJobs(Array.from({ length: 6000 }, () => ({ task })));
    await clock.jumpTo("2029-01-01T00:00:00Z");
    jobs.push(await scheduler.addJob(task));
    const ids = jobs.map(({ id }) => id);
    expect(new Set(ids).size).toBe(6001);
    expect([...ids].sort()).toEqual(ids);
  });
});
