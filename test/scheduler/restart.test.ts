import { describe, expect, test } from "vitest";
import {
  BroadcastChannelEventBroker,
  InlineExecutor,
  LocalEventBroker,
  MemoryDataStore,
  Scheduler,
} from "../../src/mod.ts";
import {
  everySecond,
  gate,
  heldHandler,
  recordEvents,
  recordingLogger,
  rejectionOf,
  secondsOf,
  setUp,
} from "./support.ts";

describe("a scheduler that is started again after a stop", () => {
  test("fires its schedules and runs its jobs again, with its tasks and listeners", async () => {
    const { scheduler, clock } = setUp();
    const fired: (number | null)[] = [];
    const task = scheduler.task("t", (_, { job }) => void fired.push(secondsOf(job.scheduledFireTime)));
    const seen = recordEvents(scheduler);
    await scheduler.start();
    await scheduler.addSchedule(task, everySecond(), { id: "s" });
    await clock.advance("PT1S");
    await scheduler.stop();
    await clock.advance("PT10S");
    expect(fired).toEqual([0, 1]);
    seen.length = 0;
    await scheduler.start();
    await clock.advance("PT1S");
    expect([scheduler.state, fired]).toEqual(["started", [0, 1, 11, 12]]);
    const rest = ["jobAdded", "scheduleUpdated", "jobAcquired 1", "jobReleased success"];
    expect(seen.filter((event) => event !== "schedulerStarted")).toEqual([...rest, ...rest]);
    expect(await scheduler.runJob(scheduler.task("late", () => "done"))).toBe("done");
  });

  test("opens what it closed again, and closes it again", async () => {
    const dataStore = new MemoryDataStore();
    const eventBroker = new LocalEventBroker();
    const inline = new InlineExecutor();
    const seen: string[] = [];
    for (const [name, part] of Object.entries({ dataStore, eventBroker, inline })) {
      part.open = async () => void seen.push(`${name} opened`);
      part.close = async () => void seen.push(`${name} closed`);
    }
    const { scheduler } = setUp({ dataStore, eventBroker, executors: { inline } });
    await scheduler.start();
    await scheduler.stop();
    const once = [...seen];
    await scheduler.start();
    await scheduler.stop();
    expect(seen).toEqual([...once, ...once]);
    expect(once).toHaveLength(6);
  });

  test("is another instanceId of the same identity", async () => {
    const { scheduler, clock, store } = setUp({ identity: "me" });
    const instances = new Set<string>();
    for (let run = 0; run < 3; run++) {
      await scheduler.start();
      const [alive, ...others] = await store.getSchedulers(clock.now());
      expect([alive?.identity, others]).toEqual(["me", []]);
      instances.add(alive?.instanceId ?? "");
      await scheduler.stop();
    }
    expect(instances.size).toBe(3);
    expect(await store.getSchedulers(clock.now())).toEqual([]);
  });

  test("declares its tasks again, because the store may have been emptied meanwhile", async () => {
    const { scheduler, store } = setUp();
    scheduler.task("t", () => {});
    await scheduler.start();
    await scheduler.stop();
    await store.removeTask("t");
    await scheduler.start();
    expect((await scheduler.getTasks()).map(({ id }) => id)).toEqual(["t"]);
  });

  test("may be stopped and started many times in a row", async () => {
    const { scheduler, clock } = setUp();
    let runs = 0;
    scheduler.task("t", () => {
      runs++;
    });
    for (let round = 0; round < 5; round++) {
      const starting = scheduler.start();
      const stopping = scheduler.stop();
      expect(await rejectionOf(starting)).toMatchObject({ code: "schedulerState" });
      await stopping;
      await scheduler.start();
      await scheduler.addJob("t");
      await clock.settle();
      await Promise.all([scheduler.stop(), scheduler.stop()]);
    }
    expect([runs, clock.sleeperCount]).toEqual([5, 0]);
  });

  test("is refused with what to do while it stops", async () => {
    const { scheduler, clock } = setUp();
    const { handler, held } = heldHandler();
    await scheduler.start();
    await scheduler.addJob(scheduler.task("t", handler));
    await clock.settle();
    const stopping = scheduler.stop();
    const error = { code: "schedulerState", message: "the scheduler stops; await stop(), then begin again" };
    expect(await rejectionOf(scheduler.start())).toMatchObject(error);
    held[0]?.finish("");
    await stopping;
    await scheduler.start();
    expect(scheduler.state).toBe("started");
  });

  test("may tick after a stop, and is a client then until the next stop", async () => {
    const { scheduler } = setUp();
    let runs = 0;
    const task = scheduler.task("t", () => {
      runs++;
    });
    await scheduler.start();
    await scheduler.stop();
    expect((await scheduler.tick()).jobsRun).toBe(0);
    await scheduler.addJob(task);
    await scheduler.tick();
    await scheduler.stop();
    expect([runs, await rejectionOf(scheduler.addJob(task))]).toEqual([
      1,
      expect.objectContaining({
        code: "schedulerState",
        message: "this scheduler was stopped; start() or tick() begins again, and then everything else works too",
      }),
    ]);
    await scheduler.tick();
  });

  test("what waits in the earlier run ends with it", async () => {
    const { scheduler, clock } = setUp({ role: "scheduler" });
    scheduler.task("t", () => {});
    await scheduler.start();
    const waiting = [
      rejectionOf(scheduler.runJob("t")),
      rejectionOf(scheduler.nextEvent("jobReleased")),
      scheduler.events("jobReleased").next(),
    ];
    await clock.settle();
    await scheduler.stop();
    await scheduler.start();
    expect(await Promise.all(waiting)).toMatchObject([
      { code: "schedulerState" },
      { name: "AbortError" },
      { done: true },
    ]);
  });

  test("a start that hangs in the earlier run takes up no work in the next", async () => {
    const dataStore = new MemoryDataStore();
    const { passed, pass } = gate();
    const giveUp = dataStore.giveUpLeases.bind(dataStore);
    let calls = 0;
    dataStore.giveUpLeases = async (request) => {
      if (++calls === 1) await passed;
      return giveUp(request);
    };
    const { scheduler, clock } = setUp({ dataStore, identity: "me" });
    const fired: (number | null)[] = [];
    scheduler.task("t", (_, { job }) => void fired.push(secondsOf(job.scheduledFireTime)));
    await scheduler.addSchedule("t", everySecond(), { id: "s" });
    const starting = rejectionOf(scheduler.start());
    await clock.settle();
    const stopping = scheduler.stop({ drainTimeout: "PT0S" });
    await clock.advance("PT10S");
    await stopping;
    await scheduler.start();
    pass();
    expect(await starting).toMatchObject({ code: "schedulerState" });
    await clock.advance("PT1S");
    expect([scheduler.state, fired]).toEqual(["started", [10, 11]]);
  });

  test("hears the events of others again", async ({ skip }) => {
    const isWorkerd = globalThis.navigator?.userAgent === "Cloudflare-Workers";
    skip(isWorkerd, "workerd has no BroadcastChannel that delivers");
    const dataStore = new MemoryDataStore();
    const channel = `restart ${Math.random()}`;
    const [broker, other] = [
      new BroadcastChannelEventBroker({ channel }),
      new BroadcastChannelEventBroker({ channel }),
    ];
    const { logger } = recordingLogger();
    await using scheduler = new Scheduler({ dataStore, eventBroker: broker, logger });
    await using client = new Scheduler({ dataStore, eventBroker: other, logger });
    scheduler.task("t", () => {});
    client.task("t", () => {});
    await scheduler.start();
    await scheduler.stop();
    await scheduler.start();
    const added = scheduler.nextEvent("jobAdded");
    const { id } = await client.addJob("t");
    expect((await added).jobId).toBe(id);
  });

  test("is not started by runUntilStopped(), because a signal may have stopped it a moment ago", async () => {
    const { scheduler } = setUp();
    await scheduler.start();
    await scheduler.stop();
    await scheduler.runUntilStopped();
    expect(scheduler.state).toBe("stopped");
  });
});
