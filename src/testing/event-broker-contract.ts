import type { EventBroker } from "../brokers/event-broker.ts";
import { EVENT_TYPES, type EventRecord } from "../records/events.ts";
import { ContractViolation, equal, isTrue } from "./data-store-contract/assert.ts";
import { eventOf, HOSTILE_EVENTS, HOSTILE_MESSAGES, LARGE_EVENTS, sampleOf, withoutTexts } from "./event-samples.ts";

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
  /** A broker that is not open, on the channel of the broker that `make` gave, and with another namespace. Leave this
   *  function out for brokers without namespaces. */
  neighbour?(): EventBroker | Promise<EventBroker>;
  /** Cuts the connections of the brokers that `make` and `join` gave, which may then connect again. Leave this function
   *  out for brokers without a connection. */
  interrupt?(): void | Promise<void>;
}

/** One sentence about event brokers, and a function that tests the sentence. */
export interface EventBrokerCase {
  readonly name: string;
  /** Rejects with a `ContractViolation` when the broker does not keep the sentence. If an event gets lost, the case
   *  does not end, until the test runner's time limit ends it. */
  readonly run: (context: EventBrokerContext) => Promise<void>;
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
        // A message that is larger than any that brokers send may be dropped as a whole.
        const short = HOSTILE_EVENTS.filter((event) => JSON.stringify(event).length < 5000);
        await post([...short, eventOf("a")]);
        await post([eventOf("end")]);
        equal(await listener.untilEnd(), ["a", "end"], "events");
      });
    },
  },
  {
    name: "hundreds of events in one call arrive, in order and once",
    run: (context) =>
      withTwo(context, async (first, second) => {
        const listeners = [new Collector(first), new Collector(second)];
        const ids = Array.from({ length: 700 }, (_, index) => `${index} ${"ü".repeat(index % 200)}`);
        await first.publish([...ids.map(eventOf), eventOf("end")]);
        for (const listener of listeners) equal(await listener.untilEnd(), [...ids, "end"], "events");
      }),
  },
  {
    name: "an event that is very large arrives, though its texts may be shorter",
    run: (context) =>
      withTwo(context, async (first, second) => {
        const listener = new Collector(second);
        for (const event of LARGE_EVENTS) await first.publish([event]);
        await first.publish([eventOf("a"), ...LARGE_EVENTS, eventOf("end")]);
        await listener.untilEnd();
        const expected = [...LARGE_EVENTS, eventOf("a"), ...LARGE_EVENTS, eventOf("end")];
        equal(listener.events.map(withoutTexts), expected.map(withoutTexts), "events, but for their texts");
      }),
  },
  {
    name: "brokers with different namespaces do not hear each other",
    run: async (context) => {
      const { neighbour } = context;
      if (neighbour === undefined) return;
      await withTwo(context, async (first, second) => {
        const other = await neighbour();
        try {
          await other.open();
          const listeners = [new Collector(first), new Collector(second)];
          const listener = new Collector(other);
          await other.publish([eventOf("b"), eventOf("end")]);
          await listener.untilEnd();
          await first.publish([eventOf("a"), eventOf("end")]);
          for (const own of listeners) equal(await own.untilEnd(), ["a", "end"], "events of the namespace");
          await other.publish([eventOf("c"), eventOf("end")]);
          equal(await listener.untilEnd(), ["b", "end", "c", "end"], "events of the other namespace");
        } finally {
          await other.close();
        }
      });
    },
  },
  {
    name: "after its connection was cut, a broker tells of the gap, and then hears the others again",
    run: async (context) => {
      const { interrupt } = context;
      if (interrupt === undefined) return;
      await withTwo(context, async (first, second) => {
        const listeners = [new Collector(first), new Collector(second)];
        let calls = 0;
        for (const broker of [first, second]) {
          onGapOf(broker)(() => {
            throw new Error("a listener's own failure");
          });
          onGapOf(broker)(() => calls++)();
        }
        for (let round = 0; round < 2; round++) {
          const gaps = [first, second].map(gapOf);
          await interrupt();
          // The broker refuses it, or has taken it: it keeps nobody waiting.
          await first.publish([eventOf("lost")]).catch(() => {});
          await Promise.all(gaps);
          for (const broker of [first, second]) {
            await broker.publish([eventOf(broker === first ? "a" : "b"), eventOf("end")]);
            for (const listener of listeners) await listener.untilEnd();
          }
        }
        const expected = ["a", "end", "b", "end", "a", "end", "b", "end"];
        for (const { events } of listeners) {
          const ids = events.map(idOf).filter((id) => id !== "lost");
          equal(ids, expected, "events after each gap");
        }
        equal(calls, 0, "calls of a listener that was ended");
      });
    },
  },
  {
    name: "a broker that was closed delivers nothing more, not even what was under way",
    run: (context) =>
      withTwo(context, async (first, second) => {
        const listener = new Collector(first);
        let heard = 0;
        second.subscribe(() => heard++);
        const publishing = [first, second].map((broker) =>
          broker.publish(Array.from({ length: 50 }, () => eventOf("a"))),
        );
        const closing = second.close();
        const before = heard;
        await Promise.allSettled([...publishing, closing, second.publish([eventOf("b")])]);
        await first.publish([eventOf("end")]);
        await listener.untilEnd();
        equal(heard, before, "events that were heard before it was closed, and in all");
      }),
  },
  {
    name: "a broker that was closed may be opened again",
    run: (context) =>
      withTwo(context, async (first, second) => {
        const listener = new Collector(second);
        await second.close();
        await second.open();
        await first.publish([eventOf("a"), eventOf("end")]);
        equal(await listener.untilEnd(), ["a", "end"], "events");
        await second.publish([eventOf("b"), eventOf("end")]);
        equal(await listener.untilEnd(), ["a", "end", "b", "end"], "events, its own included");
      }),
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

function onGapOf(broker: EventBroker): (listener: () => void) => () => void {
  const { onGap } = broker;
  if (onGap === undefined) throw new ContractViolation("a broker whose connection can be cut has onGap");
  return (listener) => onGap.call(broker, listener);
}

/** Resolves at the next gap. */
function gapOf(broker: EventBroker): Promise<void> {
  return new Promise((resolve) => {
    const end = onGapOf(broker)(() => {
      end();
      resolve();
    });
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
