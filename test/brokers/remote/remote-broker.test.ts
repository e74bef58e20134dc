import { describe, expect, test } from "vitest";
import { BrokerUnavailableError } from "../../../src/brokers/remote/errors.ts";
import type { Link, LinkListener } from "../../../src/brokers/remote/link.ts";
import { RemoteEventBroker } from "../../../src/brokers/remote/remote-broker.ts";
import type { EventRecord } from "../../../src/records/events.ts";
import { eventBrokerContract } from "../../../src/testing/event-broker-contract.ts";
import { recordingLogger } from "../../scheduler/support.ts";

/** A server in memory: what one link sends, all links hear. */
class Hall {
  readonly links = new Set<HallLink>();
  isReachable = true;
  bytesMax = 1000;
  /** Of the coming messages, which ones get lost on their way, or come twice. */
  losing = 0;
  doubling = 0;
  heard: string[] = [];

  broker(namespace = ""): RemoteEventBroker {
    return new RemoteEventBroker({
      address: "hall://here",
      secrets: ["hunter2"],
      namespace,
      bytesMax: this.bytesMax,
      make: async (listener) => new HallLink(this, listener).connect(),
    });
  }

  say(text: string): void {
    this.heard.push(text);
    const copies = this.doubling-- > 0 ? 2 : 1;
    const isLost = this.losing-- > 0;
    for (let copy = 0; copy < copies && !isLost; copy++) for (const { listener } of this.links) listener.received(text);
  }

  /** Every link loses its connection. */
  fall(): void {
    this.isReachable = false;
    for (const link of [...this.links]) link.cut();
  }

  /** Every link is connected again. */
  rise(links: Iterable<HallLink>): void {
    this.isReachable = true;
    for (const link of links) link.connect();
  }
}

class HallLink implements Link {
  readonly #hall: Hall;
  readonly listener: LinkListener;

  constructor(hall: Hall, listener: LinkListener) {
    this.#hall = hall;
    this.listener = listener;
  }

  connect(): this {
    if (this.#hall.isReachable) {
      this.#hall.links.add(this);
      this.listener.connected();
    } else this.listener.lost(new Error("refused for hunter2"));
    return this;
  }

  cut(): void {
    this.#hall.links.delete(this);
    this.listener.lost(new Error("reset for hunter2"));
  }

  async send(messages: readonly string[]): Promise<void> {
    if (!this.#hall.links.has(this)) throw new Error("not connected");
    for (const message of messages) this.#hall.say(message);
  }

  async ping(): Promise<void> {}

  reconnect(): void {
    this.cut();
    this.connect();
  }

  async close(): Promise<void> {
    this.#hall.links.delete(this);
  }
}

function added(taskId: string): EventRecord {
  return { type: "taskAdded", timestampMs: 1, taskId };
}

/** What a broker hears, events by their task and gaps, in order. */
function heardBy(broker: RemoteEventBroker): string[] {
  const heard: string[] = [];
  broker.subscribe((event) => heard.push("taskId" in event ? event.taskId : event.type));
  broker.onGap(() => heard.push("gap"));
  return heard;
}

describe("a broker over a server keeps the contract:", () => {
  for (const { name, run } of eventBrokerContract) {
    test(`${name}`, async () => {
      const hall = new Hall();
      hall.bytesMax = 10_000;
      const make = (): RemoteEventBroker => hall.broker();
      const post = (events: unknown): void => hall.say(JSON.stringify({ escapement: 1, namespace: "", events }));
      await run({ make, join: make, post });
    });
  }
});

describe("a broker over a server", () => {
  test("hears only the brokers of its namespace", async () => {
    const hall = new Hall();
    const [shop, other, second, none] = [hall.broker("shop"), hall.broker("other"), hall.broker("shop"), hall.broker()];
    const all = [shop, other, second, none];
    const heard = all.map(heardBy);
    await Promise.all(all.map((broker) => broker.open()));
    await shop.publish([added("of the shop")]);
    await other.publish([added("of the other")]);
    await none.publish([added("of none")]);
    expect(heard).toEqual([["of the shop"], ["of the other"], ["of the shop"], ["of none"]]);
    await Promise.all(all.map((broker) => broker.close()));
  });

  test("drops a message that is longer than any that its transport carries, unread, and says so once", async () => {
    const hall = new Hall();
    const [here, there] = [hall.broker(), hall.broker()];
    const { logger, entries } = recordingLogger();
    const heard = heardBy(there);
    await Promise.all([here.open(), there.open({ logger })]);
    const message = JSON.stringify({ escapement: 1, namespace: "", events: [added("a")] });
    for (const length of [1000, 1001, 1002]) hall.say(message.padEnd(length));
    expect(heard).toEqual(["a"]);
    expect(entries.map(({ level, message }) => [level, message])).toEqual([
      [
        "debug",
        "escapement: on the event broker's channel at hall://here, a message of more than 1000 bytes is dropped unread",
      ],
    ]);
    await Promise.all([here.close(), there.close()]);
  });

  test("delivers a doubled message once", async () => {
    const hall = new Hall();
    const [here, there] = [hall.broker(), hall.broker()];
    const heard = heardBy(there);
    await Promise.all([here.open(), there.open()]);
    hall.doubling = 2;
    for (const id of ["a", "b", "c"]) await here.publish([added(id)]);
    expect(heard).toEqual(["a", "b", "c"]);
    await Promise.all([here.close(), there.close()]);
  });

  test("looks into the store when somebody has used a number of its publisher, and hears the publisher again", async () => {
    const hall = new Hall();
    const [here, there] = [hall.broker(), hall.broker()];
    const heard = heardBy(there);
    await Promise.all([here.open(), there.open()]);
    await here.publish([added("a")]);
    const { from } = JSON.parse(hall.heard[0] ?? "");
    const forge = (number: number): void =>
      hall.say(JSON.stringify({ escapement: 1, namespace: "", from, number, events: [] }));
    forge(3);
    for (const id of ["b", "c", "d"]) await here.publish([added(id)]);
    forge(Number.MAX_SAFE_INTEGER);
    for (const id of ["e", "f"]) await here.publish([added(id)]);
    expect(heard).toEqual(["a", "gap", "gap", "gap", "d", "gap", "e", "gap", "f"]);
    await Promise.all([here.close(), there.close()]);
  });

  test("tells a gap when a message got lost on its way, as soon as the next one comes", async () => {
    const hall = new Hall();
    const [here, there] = [hall.broker(), hall.broker()];
    const heard = heardBy(there);
    await Promise.all([here.open(), there.open()]);
    await here.publish([added("a")]);
    hall.losing = 2;
    await here.publish([added("lost")]);
    await here.publish([added("lost, too")]);
    await here.publish([added("b")]);
    await here.publish([added("c")]);
    expect(heard).toEqual(["a", "b", "gap", "c"]);
    await Promise.all([here.close(), there.close()]);
  });

  test("tells no gap before it is connected again, although it hears already that a message got lost", async () => {
    const hall = new Hall();
    const [first, second] = [hall.broker(), hall.broker()];
    const heard = heardBy(second);
    await Promise.all([first.open(), second.open()]);
    const link = [...hall.links].at(-1);
    await first.publish([added("a")]);
    // The connection by which the link sends is lost; it goes on hearing over the other one.
    link?.listener.lost(new Error("reset"));
    hall.losing = 1;
    await first.publish([added("b")]);
    await first.publish([added("c")]);
    expect(heard).toEqual(["a", "c"]);
    link?.listener.connected();
    expect(heard).toEqual(["a", "c", "gap"]);
    await Promise.all([first.close(), second.close()]);
  });

  test("tells the others of a gap when it could not send, as soon as it is connected again", async () => {
    const hall = new Hall();
    const [here, there] = [hall.broker(), hall.broker()];
    await here.open();
    const [link] = hall.links;
    if (link === undefined) throw new Error("the broker has a link");
    await there.open();
    const [heardHere, heardThere] = [heardBy(here), heardBy(there)];
    await here.publish([added("a")]);
    link.cut();
    await expect(here.publish([added("b")])).rejects.toThrow(BrokerUnavailableError);
    link.connect();
    expect([heardHere, heardThere]).toEqual([
      ["a", "b", "gap"],
      ["a", "gap"],
    ]);
    await Promise.all([here.close(), there.close()]);
  });

  test("tells each gap to each listener until it unsubscribes, and a listener that throws disturbs nobody", async () => {
    const hall = new Hall();
    const broker = hall.broker();
    await broker.open();
    const [link] = hall.links;
    let calls = 0;
    broker.onGap(() => {
      throw new Error("a listener's own failure");
    });
    const count = (): void => void calls++;
    const unsubscribe = broker.onGap(count);
    broker.onGap(count);
    link?.cut();
    link?.connect();
    expect(calls).toBe(2);
    unsubscribe();
    unsubscribe();
    link?.cut();
    link?.connect();
    expect(calls).toBe(3);
    await broker.close();
  });

  test("is opened although the server is away, and tells a gap when it is there", async () => {
    const hall = new Hall();
    hall.isReachable = false;
    const { logger, entries } = recordingLogger();
    let link: HallLink | undefined;
    const broker = new RemoteEventBroker({
      address: "hall://here",
      secrets: ["hunter2"],
      namespace: "",
      bytesMax: 1000,
      make: async (listener) => {
        link = new HallLink(hall, listener).connect();
        return link;
      },
    });
    const heard = heardBy(broker);
    await broker.open({ logger });
    await expect(broker.publish([added("a")])).rejects.toMatchObject({
      code: "brokerUnavailable",
      message: "the event broker has no connection (hall://here)",
      cause: { message: "refused for …" },
    });
    hall.rise([link as HallLink]);
    await broker.publish([added("b")]);
    expect(heard).toEqual(["a", "gap", "b"]);
    expect(entries.map(({ level, message }) => ({ level, message }))).toEqual([
      {
        level: "warn",
        message:
          "escapement: the event broker has no connection to hall://here, and goes on trying; until then, " +
          "schedulers notice each other's changes with a delay",
      },
      { level: "info", message: "escapement: the event broker is connected to hall://here" },
    ]);
    await broker.close();
  });

  test("warns once for each outage, without the password", async () => {
    const hall = new Hall();
    const { logger, entries } = recordingLogger();
    const broker = hall.broker();
    await broker.open({ logger });
    const links = [...hall.links];
    for (let outage = 0; outage < 2; outage++) {
      hall.fall();
      for (const link of links) for (let tries = 0; tries < 5; tries++) link.connect();
      hall.rise(links);
    }
    expect(entries.map(({ level, details }) => [level, ...details.map(String)])).toEqual([
      ["warn", "Error: reset for …"],
      ["info"],
      ["warn", "Error: reset for …"],
      ["info"],
    ]);
    await broker.close();
  });

  test("hears and says nothing once it is closed, and may be opened again", async () => {
    const hall = new Hall();
    const broker = hall.broker();
    const heard = heardBy(broker);
    await expect(broker.publish([added("a")])).rejects.toThrow("the event broker is not open: call open() first");
    await broker.open();
    const [link] = hall.links;
    await broker.close();
    link?.listener.received(JSON.stringify({ escapement: 1, namespace: "", events: [added("late")] }));
    link?.listener.lost(new Error("late"));
    link?.listener.connected();
    await expect(broker.publish([added("b")])).rejects.toThrow(BrokerUnavailableError);
    await broker.open();
    await broker.publish([added("c")]);
    expect(heard).toEqual(["c"]);
    await broker.close();
  });

  test("closes a link that is made while it is closed", async () => {
    const hall = new Hall();
    const broker = hall.broker();
    const opened = broker.open();
    await broker.close();
    await opened;
    expect(hall.links.size).toBe(0);
  });

  test.each([
    ["is lost", "reset", (listener: LinkListener, _: RemoteEventBroker) => listener.lost(new Error("reset"))],
    ["is closed", "the broker was closed", (_: LinkListener, broker: RemoteEventBroker) => void broker.close()],
  ])("waits no longer for answers once its connection %s", async (_, reason, end) => {
    let listener: LinkListener | null = null;
    const broker = new RemoteEventBroker({
      address: "hall://here",
      secrets: [],
      namespace: "",
      bytesMax: 1000,
      make: async (given) => {
        listener = given;
        given.connected();
        return { send: () => new Promise(() => {}), ping: async () => {}, reconnect: () => {}, close: async () => {} };
      },
    });
    await broker.open();
    const published = broker.publish([added("a")]);
    if (listener !== null) end(listener, broker);
    await expect(published).rejects.toMatchObject({ code: "brokerUnavailable", cause: { message: reason } });
    await broker.close();
  });

  test("sends no more to a server that hangs than its bound", async () => {
    const sent: string[] = [];
    const broker = new RemoteEventBroker({
      address: "hall://here",
      secrets: [],
      namespace: "",
      bytesMax: 4_000_000,
      make: async (listener) => {
        listener.connected();
        return {
          send: (messages) => {
            sent.push(...messages);
            return new Promise(() => {});
          },
          ping: async () => {},
          reconnect: () => {},
          close: async () => {},
        };
      },
    });
    await broker.open();
    const progress = { type: "jobProgressed", timestampMs: 1, jobId: "j", taskId: "t", scheduleId: null } as const;
    const batch = Array.from({ length: 3 }, () => ({ ...progress, fraction: 0.5, note: "x".repeat(1_000_000) }));
    const published = Array.from({ length: 12 }, () => broker.publish(batch));
    const last = published.at(-1) ?? Promise.resolve();
    await expect(last).rejects.toThrow("the event broker gets no answers (hall://here)");
    expect(sent.reduce((sum, message) => sum + message.length, 0)).toBeLessThanOrEqual(32_000_000);
    await broker.close();
    await Promise.allSettled(published);
  });

  test("says why when it cannot be opened at all, and may be opened later", async () => {
    const hall = new Hall();
    let isMissing = true;
    const broker = new RemoteEventBroker({
      address: "hall://here",
      secrets: [],
      namespace: "",
      bytesMax: 1000,
      make: async (listener) => {
        if (isMissing) throw new BrokerUnavailableError("the package is missing");
        return new HallLink(hall, listener).connect();
      },
    });
    const heard = heardBy(broker);
    await expect(broker.open()).rejects.toThrow("the package is missing");
    await expect(broker.publish([added("a")])).rejects.toThrow("the event broker failed to open");
    isMissing = false;
    await broker.open();
    await broker.publish([added("b")]);
    expect(heard).toEqual(["a", "b"]);
    await broker.close();
  });

  test("shows nothing of its server when it is printed", () => {
    const broker = new Hall().broker();
    expect(JSON.stringify(broker)).toBe("{}");
  });
});
