import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { BroadcastChannelEventBroker } from "../../src/brokers/broadcast-channel.ts";
import { OptionsError } from "../../src/core/errors.ts";
import { Scheduler } from "../../src/mod.ts";
import type { EventRecord } from "../../src/records/events.ts";
import { eventBrokerContract } from "../../src/testing/event-broker-contract.ts";
import { VirtualClock } from "../../src/testing/mod.ts";
import { recordingLogger, START } from "../scheduler/support.ts";

const exists = typeof globalThis.BroadcastChannel === "function";
// What stands there under Node's compatibility delivers nothing.
const isWorkerd = globalThis.navigator?.userAgent === "Cloudflare-Workers";
const isAvailable = exists && !isWorkerd;

// In Deno 2.9 a channel that is opened right after the last one was closed cannot post ("expected i32"): its worker's
// one subscription is still being taken down. With one channel open all the time there is no last one.
let keeper: { close(): void } | null = null;
beforeAll(() => {
  if (isAvailable) keeper = new globalThis.BroadcastChannel("keeper");
});
afterAll(() => keeper?.close());

test("a runtime without BroadcastChannel is told so", ({ skip }) => {
  skip(exists, "this runtime has BroadcastChannel");
  expect(() => new BroadcastChannelEventBroker()).toThrow(OptionsError);
});

describe("BroadcastChannelEventBroker keeps the contract:", () => {
  beforeEach(({ skip }) => skip(!isAvailable, "workerd has no BroadcastChannel that delivers"));
  for (const [index, { name, run }] of eventBrokerContract.entries()) {
    test(`${name}`, async () => {
      const channel = `contract-${index}`;
      const make = (): BroadcastChannelEventBroker => new BroadcastChannelEventBroker({ channel });
      const stranger = new globalThis.BroadcastChannel(channel);
      const post = (events: unknown): void => stranger.postMessage({ escapement: 1, events });
      await run({ make, join: make, post });
      stranger.close();
    });
  }
});

describe("BroadcastChannelEventBroker", () => {
  beforeEach(({ skip }) => skip(!isAvailable, "workerd has no BroadcastChannel that delivers"));
  test("brokers of different channels do not hear each other", async () => {
    const [here, there, witness] = ["one", "two", "one"].map((channel) => new BroadcastChannelEventBroker({ channel }));
    if (here === undefined || there === undefined || witness === undefined) throw new Error("three brokers were made");
    await Promise.all([here.open(), there.open(), witness.open()]);
    const heard: EventRecord[] = [];
    there.subscribe((event) => heard.push(event));
    const arrived = new Promise((resolve) => witness.subscribe(resolve));
    await here.publish([{ type: "taskAdded", timestampMs: 1, taskId: "task" }]);
    await arrived;
    expect(heard).toEqual([]);
    await Promise.all([here.close(), there.close(), witness.close()]);
  });

  test("what others post on its channel is passed over, and told once for each reason", async () => {
    const { logger, entries } = recordingLogger();
    const broker = new BroadcastChannelEventBroker({ channel: "noisy", logger });
    await broker.open();
    const stranger = new globalThis.BroadcastChannel("noisy");
    const heard: EventRecord[] = [];
    const arrived = new Promise<void>((resolve) => {
      broker.subscribe((event) => {
        heard.push(event);
        resolve();
      });
    });
    for (const message of [
      null,
      "hello",
      7,
      { escapement: 2, events: [] },
      { escapement: 1, events: [{ type: "x" }] },
      { escapement: 1, events: [{ type: "x" }, { type: "taskAdded", timestampMs: "soon", taskId: "task" }] },
    ]) {
      stranger.postMessage(message);
    }
    const event: EventRecord = { type: "taskAdded", timestampMs: 1, taskId: "task" };
    stranger.postMessage({ escapement: 1, events: [event] });
    await arrived;
    expect(heard).toEqual([event]);
    expect(entries).toEqual(
      [
        "a message of another program, or of another version, is dropped",
        'events of the type "x" are dropped, because this version knows none',
        'an event of the type "taskAdded" is dropped, because its timestampMs is not what it must be',
      ].map((reason) => ({ level: "debug", message: `escapement: on the channel "noisy", ${reason}`, details: [] })),
    );
    stranger.close();
    await broker.close();
  });

  test("an instant that is none, which a stranger sent, keeps no loop from its work", async () => {
    const broker = new BroadcastChannelEventBroker({ channel: "wedged" });
    const clock = new VirtualClock(START);
    const scheduler = new Scheduler({ clock, eventBroker: broker, logger: recordingLogger().logger });
    const task = scheduler.task("t", () => "done");
    await scheduler.start();
    const stranger = new globalThis.BroadcastChannel("wedged");
    const heard = scheduler.nextEvent("taskRemoved");
    stranger.postMessage({
      escapement: 1,
      events: [
        {
          type: "jobAdded",
          timestampMs: 1,
          jobId: "j",
          taskId: "t",
          scheduleId: null,
          executor: "inline",
          runAtMs: "2030",
          isLeased: false,
        },
        { type: "taskRemoved", timestampMs: 1, taskId: "other" },
      ],
    });
    await heard;
    expect(await scheduler.runJob(task)).toBe("done");
    stranger.close();
    await scheduler.stop();
  });
});
