import type { EventBroker } from "../brokers/event-broker.ts";
import { EVENT_TYPES, type EventRecord, type EventType } from "../records/events.ts";
import { equal, isTrue } from "./data-store-contract/assert.ts";

/** What a test runner gives to every case. */
export interface EventBrokerContext {
  /** A new broker that is not open, on a channel of its own. */
  make(): EventBroker | Promise<EventBroker>;
  /** A second broker that is not open, on the channel of the broker that `make` gave. Another process would have such a
   *  broker. Leave this function out for brokers that work only within one object. */
  join?(): EventBroker | Promise<EventBroker>;
  /** Sends something as a stranger would, to the broker that `make` gave: `message` in the place of a list of events.
   *  Leave it out for brokers that only work within their object. */
  post?(message: unknown): void | Promise<void>;
}

/** One sentence about event brokers, and a function that tests the sentence. */
export interface EventBrokerCase {
  readonly name: string;
  /** Rejects with a `ContractViolation` when the broker does not keep the sentence. If an event gets lost, the case
   *  does not end, until the test runner's time limit ends it. */
  run(context: EventBrokerContext): Promise<void>;
}

/**
 * The contract that every `EventBroker` keeps, as named cases for any test runner. The cases wait only for events.
 *
 * ```ts
 * for (const { name, run } of eventBrokerContract) {
 *   test(name, () => run({ make: () => new LocalEventBroker() }));
 * }
 * ```
 */
export const eventBrokerContract: readonly EventBrokerCase[] = Object.freeze([
  {
    name: "every event reaches every listener once, in the order of publishing",
    run: (context: EventBrokerContext) =>
      withBroker(context, async (broker) => {
        const listeners = [new Collector(broker), new Collector(broker), new Collector(broker)];
        await broker.publish([eventOf("a"), eventOf("b")]);
        await broker.publish([eventOf("c")]);
        await broker.publish([eventOf("end")]);
        for (const listener of listeners)
          equal(await listener.untilEnd(), ["a", "b", "c", "end"], "events of a listener");
      }),
  },
  {
    name: "events of one publisher keep their order when nobody waits between them",
    run: (context) =>
      withBroker(context, async (broker) => {
        const listener = new Collector(broker);
        const ids = Array.from({ length: 200 }, (_, index) => `${index}`);
        await Promise.all([...ids.map((id) => broker.publish([eventOf(id)])), broker.publish([eventOf("end")])]);
        equal(await listener.untilEnd(), [...ids, "end"], "events");
      }),
  },
  {
    name: "every type of event arrives as it was published",
    run: (context) =>
      withBroker(context, async (broker) => {
        const listener = new Collector(broker);
        const events = EVENT_TYPES.map(sampleOf);
        await broker.publish([...events, eventOf("end")]);
        await listener.untilEnd();
        equal(listener.events.slice(0, -1), events, "events");
      }),
  },
  {
    name: "a listener that throws disturbs neither the publisher nor the other listeners",
    run: (context) =>
      withBroker(context, async (broker) => {
        const before = new Collector(broker);
        broker.subscribe(() => {
          throw new Error("a listener's own failure");
        });
        const after = new Collector(broker);
        await broker.publish([eventOf("a"), eventOf("end")]);
        equal(
          [await before.untilEnd(), await after.untilEnd()],
          [
            ["a", "end"],
            ["a", "end"],
          ],
          "events of the others",
        );
      }),
  },
  {
    name: "a listener gets nothing once it has unsubscribed, and may unsubscribe again",
    run: (context) =>
      withBroker(context, async (broker) => {
        const ids: string[] = [];
        const unsubscribe = broker.subscribe((event) => ids.push(idOf(event)));
        const other = new Collector(broker);
        await broker.publish([eventOf("a"), eventOf("end")]);
        await other.untilEnd();
        unsubscribe();
        unsubscribe();
        await broker.publish([eventOf("b"), eventOf("end")]);
        equal(await other.untilEnd(), ["a", "end", "b", "end"], "events of the other listener");
        equal(ids, ["a", "end"], "events until it unsubscribed");
      }),
  },
  {
    name: "a function that subscribes twice is called twice, and each subscription ends by itself",
    run: (context) =>
      withBroker(context, async (broker) => {
        const ids: string[] = [];
        const listener = (event: EventRecord): void => void ids.push(idOf(event));
        const unsubscribe = broker.subscribe(listener);
        broker.subscribe(listener);
        const other = new Collector(broker);
        await broker.publish([eventOf("end")]);
        await other.untilEnd();
        unsubscribe();
        await broker.publish([eventOf("end")]);
        await other.untilEnd();
        equal(ids.length, 3, "calls");
      }),
  },
  {
    name: "a listener may unsubscribe while it is called, and the others still get the event",
    run: (context) =>
      withBroker(context, async (broker) => {
        let calls = 0;
        const unsubscribe = broker.subscribe(() => {
          calls++;
          unsubscribe();
        });
        const other = new Collector(broker);
        await broker.publish([eventOf("a"), eventOf("end")]);
        equal(await other.untilEnd(), ["a", "end"], "events of the other listener");
        equal(calls, 1, "calls of the one that unsubscribed");
      }),
  },
  {
    name: "a listener that subscribed before the broker was opened gets what comes after",
    run: async ({ make }) => {
      const broker = await make();
      const listener = new Collector(broker);
      await broker.open();
      await broker.publish([eventOf("a"), eventOf("end")]);
      equal(await listener.untilEnd(), ["a", "end"], "events");
      await broker.close();
    },
  },
  {
    name: "opening twice does not double events, and closing twice does no harm",
    run: (context) =>
      withBroker(context, async (broker) => {
        await broker.open();
        const listener = new Collector(broker);
        await broker.publish([eventOf("a"), eventOf("end")]);
        equal(await listener.untilEnd(), ["a", "end"], "events");
        await broker.close();
        await broker.close();
        await broker[Symbol.asyncDispose]();
      }),
  },
  {
    name: "publishing no events does nothing",
    run: (context) =>
      withBroker(context, async (broker) => {
        const listener = new Collector(broker);
        await broker.publish([]);
        await broker.publish([eventOf("end")]);
        equal(await listener.untilEnd(), ["end"], "events");
      }),
  },
  {
    name: "brokers of one channel hear each other, each event once and in order",
    run: (context) =>
      withTwo(context, async (first, second) => {
        const listeners = [new Collector(first), new Collector(second)];
        await first.publish([eventOf("a"), eventOf("b")]);
        await first.publish([eventOf("c")]);
        await first.publish([eventOf("end")]);
        for (const listener of listeners)
          equal(await listener.untilEnd(), ["a", "b", "c", "end"], "events from the first");
        await second.publish([eventOf("d"), eventOf("end")]);
        for (const listener of listeners)
          equal((await listener.untilEnd()).slice(4), ["d", "end"], "events from the second");
      }),
  },
  {
    name: "every type of event arrives at another broker as it was published",
    run: (context) =>
      withTwo(context, async (first, second) => {
        const listener = new Collector(second);
        const events = EVENT_TYPES.map(sampleOf);
        await first.publish([...events, eventOf("end")]);
        await listener.untilEnd();
        equal(listener.events.slice(0, -1), events, "events");
      }),
  },
  {
    name: "what is no event reaches no listener, and what comes after it does",
    run: async (context) => {
      const { post } = context;
      if (post === undefined) return;
      await withBroker(context, async (broker) => {
        const listener = new Collector(broker);
        for (const message of [...HOSTILE_MESSAGES, ...HOSTILE_EVENTS.map((event) => [event])]) await post(message);
        await post([...HOSTILE_EVENTS, eventOf("a")]);
        await post([eventOf("end")]);
        equal(await listener.untilEnd(), ["a", "end"], "events");
      });
    },
  },
  {
    name: "a broker that was closed hears the others no more",
    run: (context) =>
      withTwo(context, async (first, second) => {
        const ids: string[] = [];
        second.subscribe((event) => ids.push(idOf(event)));
        const probe = new Collector(second);
        await first.publish([eventOf("end")]);
        await probe.untilEnd();
        await second.close();
        const listener = new Collector(first);
        await first.publish([eventOf("a"), eventOf("end")]);
        await listener.untilEnd();
        equal(ids, ["end"], "events until it was closed");
      }),
  },
]);

async function withBroker(context: EventBrokerContext, use: (broker: EventBroker) => Promise<void>): Promise<void> {
  const broker = await context.make();
  try {
    await broker.open();
    await use(broker);
  } finally {
    await broker.close();
  }
}

/** Runs a test with two brokers of one channel. Without `join` there is nothing to test. */
async function withTwo(
  context: EventBrokerContext,
  use: (first: EventBroker, second: EventBroker) => Promise<void>,
): Promise<void> {
  if (context.join === undefined) return;
  const { join } = context;
  await withBroker(context, async (first) => {
    const second = await join();
    try {
      await second.open();
      await use(first, second);
    } finally {
      await second.close();
    }
  });
}

/** Keeps the events that it hears, and tells when an event with the id `end` has come. */
class Collector {
  readonly events: EventRecord[] = [];
  #ends = 0;
  #awaited = 0;
  #resolve: (() => void) | null = null;

  constructor(broker: EventBroker) {
    broker.subscribe((event) => {
      this.events.push(event);
      if (idOf(event) !== "end") return;
      this.#ends++;
      this.#resolve?.();
    });
  }

  /** The ids of all events that it has heard by the next `end`. */
  async untilEnd(): Promise<string[]> {
    this.#awaited++;
    while (this.#ends < this.#awaited) {
      await new Promise<void>((resolve) => {
        this.#resolve = resolve;
      });
    }
    isTrue(this.#ends === this.#awaited, "no event comes twice");
    return this.events.map(idOf);
  }
}

function idOf(event: EventRecord): string {
  return "taskId" in event ? event.taskId : event.type;
}

function eventOf(id: string): EventRecord {
  return { type: "taskAdded", timestampMs: 1_800_000_000_000, taskId: id };
}

/** One event of each type, with every field filled in. */
function sampleOf(type: EventType): EventRecord {
  const timestampMs = 1_800_000_000_001;
  const error = { name: "TypeError", message: "über \u{1F551}", stack: "at x", cause: { name: "Error", message: "" } };
  const task = { timestampMs, taskId: "task" };
  const schedule = { ...task, scheduleId: "schedule" };
  const job = { ...task, jobId: "job", scheduleId: null };
  switch (type) {
    case "taskAdded":
    case "taskUpdated":
    case "taskRemoved":
      return { type, ...task };
    case "taskPaused":
    case "taskUnpaused":
      return { type, ...task, concurrencyKey: null };
    case "taskOutdated":
      return { type, ...task, schedulerId: "scheduler", version: null };
    case "scheduleAdded":
      return { type, ...schedule, nextFireTimeMs: 1_800_000_000_002 };
    case "scheduleUpdated":
      return { type, ...schedule, nextFireTimeMs: null };
    case "scheduleRemoved":
      return { type, timestampMs, scheduleId: "schedule", finished: true };
    case "scheduleBacklogged":
      return { type, ...schedule, schedulerId: "scheduler", unfinished: 11 };
    case "scheduleFailed":
      return { type, ...schedule, error };
    case "scheduleOutdated":
      return { type, ...schedule, schedulerId: "scheduler", version: 6 };
    case "occurrenceSkipped":
      return { type, ...schedule, fireTimeMs: 1_800_000_000_002, count: 3, reason: "replaced", jobId: "job" };
    case "scheduleDeserializationFailed":
      return { type, ...schedule, schedulerId: "scheduler", error };
    case "jobAdded":
      return { type, ...job, scheduleId: "schedule", executor: "inline", runAtMs: 1_800_000_000_003, isLeased: false };
    case "jobUpdated":
      return { type, ...job, runAtMs: 1_800_000_000_003 };
    case "jobHeld":
      return { type, ...job, reason: "limit", concurrencyKey: "key" };
    case "jobPromoted":
      return { type, ...job, schedulerId: "scheduler", isLeased: false, concurrencyKey: null };
    case "jobUnclaimed":
      return { type, ...job, schedulerId: "scheduler", executor: "threads", missing: "executor" };
    case "jobAcquired":
      return { type, ...job, schedulerId: "scheduler", attempt: 2, scheduledFireTimeMs: 1_800_000_000_000 };
    case "jobProgressed":
      return { type, ...job, fraction: 0.25, note: null };
    case "jobRetried":
      return { type, ...job, attempt: 1, runAtMs: 1_800_000_000_004, error };
    case "jobCancelRequested":
      return { type, timestampMs, jobId: "job" };
    case "jobReleased":
      return { type, ...job, schedulerId: null, outcome: "error", error, scheduledFireTimeMs: null, startedAtMs: 5 };
    case "schedulerStarted":
    case "schedulerPaused":
    case "schedulerResumed":
    case "schedulerStopped":
      return { type, timestampMs, schedulerId: "scheduler" };
    default:
      return type satisfies never;
  }
}

/** What strangers send in the place of a list of events. */
const HOSTILE_MESSAGES: readonly unknown[] = Object.freeze([null, 7, "events", {}, { length: 1 }, [], [[]], [null, 7]]);

/** What strangers, and newer versions of this library, send as events. */
const HOSTILE_EVENTS: readonly unknown[] = Object.freeze([
  {},
  { type: 7 },
  { type: "constructor", timestampMs: 1 },
  { type: "__proto__", timestampMs: 1 },
  { type: "ofANewerVersion", timestampMs: 1, taskId: "task" },
  { type: "taskAdded", taskId: "a" },
  { type: "taskAdded", timestampMs: 1 },
  { type: "taskAdded", timestampMs: 1, taskId: ["a"] },
  { type: "taskAdded", timestampMs: 1, taskId: "a".repeat(1_000_000) },
  ...["2030-01-01T00:00:00Z", Number.NaN, Number.POSITIVE_INFINITY, 1.5, 1e300, null, undefined, {}].map((runAtMs) => ({
    ...sampleOf("jobAdded"),
    runAtMs,
  })),
  { ...sampleOf("scheduleUpdated"), nextFireTimeMs: "2030" },
  { ...sampleOf("scheduleUpdated"), nextFireTimeMs: undefined },
  { ...sampleOf("jobReleased"), outcome: "fine" },
  { ...sampleOf("jobReleased"), error: "broken" },
  { ...sampleOf("jobRetried"), error: { name: "Error" } },
  { ...sampleOf("jobRetried"), error: { name: "Error", message: nested(1000) } },
  { ...sampleOf("jobProgressed"), fraction: 2 },
]);

function nested(depth: number): unknown {
  let value: unknown = 7;
  for (let left = depth; left > 0; left--) value = [value];
  return value;
}
