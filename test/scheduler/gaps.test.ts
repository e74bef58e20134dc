import { describe, expect, test } from "vitest";
import type { EventBroker, EventRecord } from "../../src/contracts.ts";
import { LocalEventBroker, MemoryDataStore, OptionsError, type TaskHandler } from "../../src/mod.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { heldHandler, type Setup, START, setUp } from "./support.ts";

/** A broker that may be without its connection: then events are lost, until it has the connection again. */
class CutBroker extends LocalEventBroker implements EventBroker {
  isCut = false;
  readonly #listeners = new Set<() => void>();

  override async publish(events: readonly EventRecord[]): Promise<void> {
    if (!this.isCut) await super.publish(events);
  }

  onGap(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  mend(): void {
    this.isCut = false;
    for (const listener of this.#listeners) listener();
  }
}

/** A worker and a client on one store, whose broker is cut as soon as the worker is idle. */
async function setUpCut(handler: TaskHandler): Promise<{
  worker: Setup["scheduler"];
  client: Setup["scheduler"];
  clock: VirtualClock;
  broker: CutBroker;
}> {
  const broker = new CutBroker();
  const shared = { clock: new VirtualClock(START), dataStore: new MemoryDataStore(), eventBroker: broker };
  const worker = setUp({ ...shared, maxIdle: "PT1H" }).scheduler;
  const client = setUp(shared).scheduler;
  worker.task("t", handler);
  await worker.start();
  await shared.clock.advance("PT1S");
  return { worker, client, clock: shared.clock, broker };
}

describe("after a gap in the events", () => {
  test("a sleeping scheduler looks at once, and finds the job whose event was lost", async () => {
    const { client, clock, broker } = await setUpCut(() => "ran");
    broker.isCut = true;
    const { id } = await client.addJob("t");
    await clock.advance("PT1M");
    expect(await client.getJobResult(id)).toBeNull();
    broker.mend();
    await clock.settle();
    expect((await client.getJobResult(id))?.returnValue).toBe("ran");
  });

  test("a sleeping scheduler plans a schedule whose event was lost", async () => {
    const { client, clock, broker } = await setUpCut(() => "ran");
    broker.isCut = true;
    await client.addSchedule("t", "* * * * *");
    broker.mend();
    await clock.advance("PT1M");
    expect((await client.getJobResults()).items.map(({ returnValue }) => returnValue)).toEqual(["ran"]);
  });

  test("whoever waits for a result asks the store", async () => {
    const { handler, held } = heldHandler();
    const { client, clock, broker } = await setUpCut(handler);
    const running = client.runJob("t");
    await clock.settle();
    // The pauses between two looks are long by then.
    await clock.advance("PT5M");
    broker.isCut = true;
    held[0]?.finish("done");
    await clock.settle();
    const before = clock.now();
    broker.mend();
    expect([await running, clock.now() - before]).toEqual(["done", 0]);
  });

  test("a job is aborted whose cancellation was asked for meanwhile", async () => {
    const { handler, held } = heldHandler();
    const { client, clock, broker } = await setUpCut(handler);
    const { id } = await client.addJob("t");
    await clock.settle();
    broker.isCut = true;
    await client.cancelJob(id);
    await clock.settle();
    expect(held[0]?.context.signal.aborted).toBe(false);
    broker.mend();
    await clock.settle();
    expect(held[0]?.context.signal.reason).toMatchObject({ code: "jobCancelled" });
  });

  test("subscribers are told that want to know, and their failures disturb nobody", async () => {
    const broker = new CutBroker();
    const { scheduler, log } = setUp({ eventBroker: broker });
    let count = 0;
    const fails = (): never => {
      throw new Error("a listener's own failure");
    };
    scheduler.subscribe("jobAdded", () => {}, { onGap: fails });
    const onGap = (): number => count++;
    const subscription = scheduler.subscribe("jobAdded", () => {}, { onGap });
    scheduler.subscribe("taskAdded", () => {}, { onGap });
    broker.mend();
    subscription.unsubscribe();
    broker.mend();
    expect(count).toBe(3);
    expect(log.map(({ level, message }) => [level, message])).toEqual([
      ["error", "escapement: a listener of onGap failed"],
      ["error", "escapement: a listener of onGap failed"],
    ]);
  });

  test("nobody is told in a scheduler that has stopped", async () => {
    const broker = new CutBroker();
    const { scheduler } = setUp({ eventBroker: broker });
    let count = 0;
    scheduler.subscribe(null, () => void count++, { onGap: () => void count++ });
    broker.onGap = (listener) => {
      CutBroker.prototype.onGap.call(broker, listener);
      // It cannot be ended.
      return () => {};
    };
    await scheduler.start();
    await scheduler.stop();
    const before = count;
    broker.mend();
    expect(count - before).toBe(0);
  });
});

describe("a broker", () => {
  test("that delivers after a stop is not listened to, and nothing comes twice after the next start", async () => {
    const broker = new LocalEventBroker();
    const subscribe = broker.subscribe.bind(broker);
    broker.subscribe = (listener) => {
      subscribe(listener);
      return () => {};
    };
    const { scheduler } = setUp({ eventBroker: broker });
    const seen: string[] = [];
    scheduler.subscribe("taskRemoved", ({ taskId }) => void seen.push(taskId));
    const removed = (taskId: string): readonly EventRecord[] => [{ type: "taskRemoved", timestampMs: 1, taskId }];
    await scheduler.start();
    await broker.publish(removed("while it runs"));
    await scheduler.stop();
    await broker.publish(removed("after the stop"));
    await scheduler.start();
    await broker.publish(removed("in the next run"));
    expect(seen).toEqual(["while it runs", "in the next run"]);
  });

  test("that fails to open delays nothing; it is tried again, and then the loop looks", async () => {
    const broker = new CutBroker();
    let tries = 0;
    broker.open = async () => {
      broker.isCut = ++tries < 3;
      if (broker.isCut) throw new Error("connection refused");
    };
    const dataStore = new MemoryDataStore();
    const { scheduler, clock, log } = setUp({ eventBroker: broker, dataStore, maxIdle: "PT1H" });
    scheduler.task("t", () => "ran");
    const client = setUp({ clock, dataStore }).scheduler;
    await scheduler.start();
    await clock.settle();
    const { id } = await client.addJob("t");
    expect([tries, await client.getJobResult(id)]).toEqual([1, null]);
    await clock.advance("PT1M");
    expect([tries, (await client.getJobResult(id))?.returnValue]).toEqual([3, "ran"]);
    expect(log.map(({ message }) => message.replace(/\d+ ms/, "… ms"))).toEqual(
      Array(2).fill("escapement: a call over the event broker failed and is repeated in … ms"),
    );
  });

  test("that hangs while it opens delays a start by 5 s at most", async () => {
    const broker = new LocalEventBroker();
    broker.open = () => new Promise(() => {});
    const { scheduler, clock, log } = setUp({ eventBroker: broker });
    const task = scheduler.task("t", () => "ran");
    const starting = scheduler.start();
    await clock.advance("PT5S");
    await starting;
    expect(await scheduler.runJob(task)).toBe("ran");
    expect(log.map(({ level, message }) => [level, message])).toEqual([
      ["warn", "escapement: the event broker takes more than 5 s to open; work goes on without"],
    ]);
  });

  test("that opens after its scheduler has stopped is closed again", async () => {
    const broker = new LocalEventBroker();
    let openNow = (): void => {};
    let closed = 0;
    broker.open = () =>
      new Promise((resolve) => {
        openNow = resolve;
      });
    broker.close = async () => void closed++;
    const { scheduler, clock } = setUp({ eventBroker: broker });
    const starting = scheduler.start();
    await clock.advance("PT5S");
    await starting;
    await scheduler.stop();
    expect(closed).toBe(1);
    openNow();
    await clock.settle();
    expect(closed).toBe(2);
  });

  test("that refuses its own options fails the start", async () => {
    const broker = new LocalEventBroker();
    broker.open = async () => {
      throw new OptionsError("the client is missing", []);
    };
    const { scheduler } = setUp({ eventBroker: broker });
    await expect(scheduler.start()).rejects.toThrow("the client is missing");
  });

  test("gets events after the commit of what they tell of, never before", async () => {
    const clock = new VirtualClock(START);
    const dataStore = new MemoryDataStore();
    const order: string[] = [];
    for (const name of [
      "putTasks",
      "pauseTask",
      "commit",
      "addSchedules",
      "updateSchedules",
      "removeSchedules",
    ] as const) {
      const write: (...given: never[]) => Promise<unknown> = dataStore[name].bind(dataStore);
      const watched = async (...given: never[]): Promise<unknown> => {
        const answer = await write(...given);
        // As slow as a store over a network, that answers some turns after its commit.
        for (let turn = 0; turn < 3; turn++) await clock.yield();
        order.push(name);
        return answer;
      };
      Object.assign(dataStore, { [name]: watched });
    }
    const eventBroker = new LocalEventBroker();
    const publish = eventBroker.publish.bind(eventBroker);
    eventBroker.publish = (events) => {
      order.push(events.map(({ type }) => type).join(" "));
      return publish(events);
    };
    const { scheduler } = setUp({ clock, dataStore, eventBroker });
    const settled = (call: Promise<unknown>): Promise<unknown> => Promise.all([call, clock.settle()]);
    scheduler.task("t", () => "ran");
    await settled(scheduler.start());
    await settled(scheduler.addJob("t"));
    await settled(scheduler.addSchedule("t", "0 0 * * *", { id: "s" }));
    await settled(scheduler.pauseSchedule("s"));
    await settled(scheduler.removeSchedule("s"));
    await settled(scheduler.pauseTask("t"));
    expect(order).toEqual([
      ...["putTasks", "taskAdded", "schedulerStarted"],
      ...["commit", "jobAdded jobAcquired", "commit", "jobReleased"],
      ...["addSchedules", "scheduleAdded"],
      ...["commit", "jobAdded scheduleUpdated jobAcquired", "commit", "jobReleased"],
      ...["updateSchedules", "schedulePaused", "scheduleUpdated"],
      ...["removeSchedules", "scheduleRemoved", "pauseTask", "taskPaused"],
    ]);
  });
});
