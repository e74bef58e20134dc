import { readFile } from "node:fs/promises";
import { inspect } from "node:util";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RedisEventBroker } from "../../../src/brokers/redis/mod.ts";
import type { RemoteEventBroker } from "../../../src/brokers/remote/remote-broker.ts";
import type { EventBroker } from "../../../src/contracts.ts";
import { MemoryDataStore, Scheduler } from "../../../src/mod.ts";
import type { EventRecord } from "../../../src/records/events.ts";
import { recordingLogger } from "../../scheduler/support.ts";
import { refusalOf, untilConnected } from "../../support/connected-broker.ts";
import { LoopbackProxy } from "../../support/loopback-proxy.ts";
import { RedisServer } from "../../support/redis-server.ts";
import { OLDER_REDIS_WAYS, REDIS_WAYS } from "./ways.ts";

const GUIDE = new URL("../../../docs/brokers.md", import.meta.url);
const PASSWORD = "p@ss/w#rd:ü";

let server: RedisServer;
let admin: Redis;
beforeAll(async () => {
  server = await RedisServer.start();
  admin = new Redis(server.url);
  admin.on("error", () => {});
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

const WAYS = { ...REDIS_WAYS, ...OLDER_REDIS_WAYS };

function added(taskId: string): EventRecord {
  return { type: "taskAdded", timestampMs: 1, taskId };
}

function gapOf(broker: RemoteEventBroker): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = broker.onGap(() => {
      unsubscribe();
      resolve();
    });
  });
}

/** Resolves when the broker hears of a task. */
function hears(broker: EventBroker, taskId: string): Promise<void> {
  return new Promise((resolve) => {
    broker.subscribe((event) => {
      if ("taskId" in event && event.taskId === taskId) resolve();
    });
  });
}

describe.each(Object.entries(WAYS))("RedisEventBroker %s", (way, connect) => {
  const channel = `outage ${way}`;

  /** Two brokers on one channel, until `use` has ended. */
  async function withTwo(
    url: string,
    use: (here: RemoteEventBroker, there: RemoteEventBroker) => Promise<void>,
    prepare: (broker: RemoteEventBroker) => RemoteEventBroker = untilConnected,
  ): Promise<void> {
    const [first, second] = [await connect(url), await connect(url)];
    const here = prepare(first.broker({ channel }));
    const there = prepare(second.broker({ channel }));
    await Promise.all([here.open(), there.open()]);
    try {
      await use(here, there);
    } finally {
      await Promise.all([here.close(), there.close()]);
      first.end();
      second.end();
    }
  }

  test("tells a gap after the server was killed and came back, and hears the others again", async () => {
    await withTwo(server.url, async (here, there) => {
      for (const round of ["first", "second"]) {
        const gaps = Promise.all([gapOf(here), gapOf(there)]);
        await server.restart();
        await gaps;
        const heard = Promise.all([hears(here, round), hears(there, round)]);
        await here.publish([added(round)]);
        await heard;
      }
    });
  });

  test.each(["pubsub", "normal"])("tells a gap after the server ended its connections of kind %s", async (kind) => {
    await withTwo(server.url, async (here, there) => {
      const gaps = Promise.all([gapOf(here), gapOf(there)]);
      await admin.call("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes");
      await gaps;
      const heard = hears(there, "after");
      await here.publish([added("after")]);
      await heard;
    });
  });

  test("tells a gap after the network cut its connections in the middle of a message", async () => {
    const proxy = await LoopbackProxy.start(server.port);
    await withTwo(`redis://127.0.0.1:${proxy.port}`, async (here, there) => {
      const gaps = Promise.all([gapOf(here), gapOf(there)]);
      const large = Array.from({ length: 20_000 }, (_, index) => added(`${index}`));
      const published = Promise.allSettled([here.publish(large), here.publish([added("behind")])]);
      proxy.cut();
      await published;
      await gaps;
      const heard = hears(there, "after");
      await here.publish([added("after")]);
      await heard;
    });
    await proxy.stop();
  });

  test("goes on trying while the server refuses its channel, from the start and later", async () => {
    const own = await RedisServer.start();
    const root = new Redis(own.url);
    const rights = ["+publish", "+subscribe", "+unsubscribe", "+ping", "+info", "+client", "+hello"];
    await root.call("ACL", "SETUSER", "jobs", "on", ">word", "resetchannels", ...rights);
    const allow = (): Promise<unknown> => root.call("ACL", "SETUSER", "jobs", "allchannels");
    const refused = async (here: RemoteEventBroker, there: RemoteEventBroker): Promise<void> => {
      for (const round of ["from the start", "later"]) {
        expect(await failureOf(here)).toMatchObject({ code: "brokerUnavailable" });
        const gaps = Promise.all([gapOf(here), gapOf(there)]);
        await allow();
        await gaps;
        const heard = Promise.all([hears(here, round), hears(there, round)]);
        await here.publish([added(round)]);
        await heard;
        await root.call("ACL", "SETUSER", "jobs", "resetchannels");
      }
    };
    await withTwo(own.url.replace("//", "//jobs:word@"), refused, (broker) => broker);
    root.disconnect();
    await own.stop();
  });

  test("rejects at once what is published during an outage, and delivers it to its own listeners", async () => {
    const own = await RedisServer.start();
    await withTwo(own.url, async (here) => {
      await own.kill();
      const outage = await failureOf(here);
      expect(outage).toMatchObject({ code: "brokerUnavailable" });
      const heard = hears(here, "away");
      await expect(here.publish([added("away")])).rejects.toMatchObject({ code: "brokerUnavailable" });
      await heard;
    });
    await own.stop();
  });

  test("is closed although the server hangs", async () => {
    const own = await RedisServer.start();
    await withTwo(own.url, async (here, there) => {
      own.freeze(true);
      const published = here.publish([added("unanswered")]);
      await Promise.all([here.close(), there.close()]);
      await expect(published).rejects.toMatchObject({ code: "brokerUnavailable" });
      own.freeze(false);
    });
    await own.stop();
  });

  test("lets a scheduler stop soon although the server hangs", async () => {
    const own = await RedisServer.start();
    const { broker, end } = await connect(own.url);
    const { logger } = recordingLogger();
    const eventBroker = broker({ channel });
    const scheduler = new Scheduler({ dataStore: new MemoryDataStore(), logger, eventBroker });
    scheduler.task("greet", () => "hello");
    await scheduler.start();
    own.freeze(true);
    await scheduler.addJob("greet");
    await scheduler.stop();
    own.freeze(false);
    end();
    await own.stop();
  });

  test("lets a scheduler find what was added during an outage as soon as the server is back", async () => {
    const own = await RedisServer.start();
    const { broker, end } = await connect(own.url);
    const dataStore = new MemoryDataStore();
    const { logger } = recordingLogger();
    const shared = { dataStore, logger, maxIdle: { hours: 1 } };
    const worker = new Scheduler({ ...shared, eventBroker: broker({ channel }) });
    worker.task("greet", () => "hello");
    await worker.start();
    await own.kill();
    const client = new Scheduler({ ...shared, eventBroker: new RedisEventBroker({ url: own.url, channel }) });
    const released = worker.nextEvent("jobReleased");
    await client.addJob("greet");
    await client.stop();
    await own.resume();
    expect(await released).toMatchObject({ taskId: "greet", outcome: "success" });
    await worker.stop();
    end();
    await own.stop();
  });

  test("wakes a scheduler that sleeps for an hour", async () => {
    const [first, second] = [await connect(server.url), await connect(server.url)];
    const dataStore = new MemoryDataStore();
    const { logger } = recordingLogger();
    const shared = { dataStore, logger, maxIdle: { hours: 1 } };
    const eventBroker = second.broker({ channel });
    const worker = new Scheduler({ ...shared, eventBroker });
    worker.task("greet", () => "hello");
    await worker.start();
    const client = new Scheduler({ ...shared, eventBroker: first.broker({ channel }) });
    expect(await client.runJob("greet")).toBe("hello");
    await client.stop();
    await worker.stop();
    first.end();
    second.end();
  });
});

/** The failure of the first event that cannot be sent. */
async function failureOf(broker: EventBroker): Promise<unknown> {
  for (;;) {
    try {
      await broker.publish([added("probe")]);
    } catch (error) {
      return error;
    }
  }
}

describe("RedisEventBroker", () => {
  test("goes on trying when the server is away at its start", async () => {
    const late = await RedisServer.start();
    await late.kill();
    const { logger, entries } = recordingLogger();
    const broker = new RedisEventBroker({ url: late.url });
    await broker.open({ logger });
    expect(await refusalOf(broker)).toMatchObject({
      code: "brokerUnavailable",
      cause: { message: expect.stringContaining("ECONNREFUSED") },
    });
    const gap = gapOf(broker);
    await late.resume();
    await gap;
    await broker.publish([added("b")]);
    const away =
      `escapement: the event broker has no connection to ${late.url}, and goes on trying; until then, ` +
      "schedulers notice each other's changes with a delay";
    const there = `escapement: the event broker is connected to ${late.url}`;
    expect(entries.map(({ level, message }) => [level, message])).toEqual([
      ["warn", away],
      ["info", there],
    ]);
    await broker.close();
    await late.stop();
  });

  test("says the password of its url, or of its options", async () => {
    const locked = await RedisServer.start({ password: PASSWORD });
    const url = `redis://127.0.0.1:${locked.port}`;
    const options = [
      { url: locked.url },
      { url, password: PASSWORD },
      { url: `redis://:wrong@127.0.0.1:${locked.port}`, password: PASSWORD },
      { url: `unix://${locked.socket}`, password: PASSWORD },
    ];
    for (const each of options) {
      const broker = untilConnected(new RedisEventBroker(each));
      await broker.open();
      await broker.publish([added("a")]);
      await broker.close();
    }
    await locked.stop();
  });

  test("a wrong password ends nothing, and no message shows it", async () => {
    const locked = await RedisServer.start({ password: PASSWORD });
    for (const password of ["wrong:s3cret/ü", undefined]) {
      const { logger, entries } = recordingLogger();
      const url = `redis://127.0.0.1:${locked.port}`;
      const broker = new RedisEventBroker({ url, password });
      await broker.open({ logger });
      const failure = await refusalOf(broker);
      expect(failure).toMatchObject({
        code: "brokerUnavailable",
        cause: { message: expect.stringMatching(/PASS|AUTH/) },
      });
      expect(entries.map(({ level }) => level)).toEqual(["warn"]);
      expect([printed(failure), ...entries.map(printed), printed(broker)].join()).not.toContain("s3cret");
      await broker.close();
    }
    await locked.stop();
  });

  test("works for a user who may do nothing else, as the guide sets one up", async () => {
    const rules = /`ACL SETUSER (jobs [^`]*)`/.exec(await readFile(GUIDE, "utf8"))?.[1] ?? "";
    await admin.call("ACL", "SETUSER", ...rules.replace("PASSWORD", PASSWORD).split(" "));
    const users = { url: server.url, username: "jobs", password: PASSWORD };
    const make = (): RedisEventBroker => untilConnected(new RedisEventBroker(users));
    const [here, there] = [make(), make()];
    await Promise.all([here.open(), there.open()]);
    const heard = hears(there, "a");
    await here.publish([added("a")]);
    await heard;
    const other = new RedisEventBroker({ ...users, channel: "of others" });
    const { logger, entries } = recordingLogger();
    await other.open({ logger });
    expect(await refusalOf(other)).toMatchObject({
      cause: { message: expect.stringContaining("NOPERM") },
    });
    expect(entries.map(({ level }) => level)).toEqual(["warn"]);
    await Promise.all([here.close(), there.close(), other.close()]);
  });

  test("leaves a client that was given open, and no connection of its own", async () => {
    for (const [way, connect] of Object.entries(WAYS)) {
      const own = await RedisServer.start();
      const { options, end } = await connect(own.url);
      const watcher = new Redis(own.url);
      const connections = async (): Promise<number> =>
        String(await watcher.client("LIST"))
          .trim()
          .split("\n").length;
      const before = await connections();
      const broker = untilConnected(new RedisEventBroker(options));
      await broker.open();
      expect([way, (await connections()) - before]).toEqual([way, "url" in options ? 2 : 1]);
      await broker.close();
      if ("client" in options) await options.client.publish("somewhere", "still open");
      while ((await connections()) !== before) await new Promise((resolve) => setImmediate(resolve));
      watcher.disconnect();
      end();
      await own.stop();
    }
  });
});

/** Everything that a log would show of a value. */
function printed(value: unknown): string {
  return `${inspect(value, { depth: 9, showHidden: true })} ${JSON.stringify(value)}`;
}
