import mqtt from "mqtt";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { linkMaker as mqttLinks } from "../../src/brokers/mqtt/mqtt-event-broker.ts";
import { checkOptions as mqttOptions } from "../../src/brokers/mqtt/options.ts";
import { checkOptions as postgresOptions } from "../../src/brokers/postgres/options.ts";
import { linkMaker as postgresLinks } from "../../src/brokers/postgres/postgres-event-broker.ts";
import { checkOptions as redisOptions } from "../../src/brokers/redis/options.ts";
import { linkMaker as redisLinks } from "../../src/brokers/redis/redis-event-broker.ts";
import { HEARTBEAT_MS, PING_WAIT_MS } from "../../src/brokers/remote/limits.ts";
import type { LinkMaker } from "../../src/brokers/remote/link.ts";
import { RemoteEventBroker } from "../../src/brokers/remote/remote-broker.ts";
import { timerHost } from "../../src/core/timer-host.ts";
import type { EventRecord } from "../../src/records/events.ts";
import { recordingLogger } from "../scheduler/support.ts";
import { untilConnected } from "../support/connected-broker.ts";
import { LoopbackProxy } from "../support/loopback-proxy.ts";
import { Mosquitto } from "../support/mosquitto.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { RedisServer } from "../support/redis-server.ts";
import { OLDER_REDIS_WAYS, REDIS_WAYS, type RedisWay } from "./redis/ways.ts";
import { VirtualTimers } from "./virtual-timers.ts";

let servers: { readonly redis: RedisServer; readonly mqtt: Mosquitto; readonly postgres: PostgresServer };
beforeAll(async () => {
  const [redis, mqtt, postgres] = await Promise.all([RedisServer.start(), Mosquitto.start(), PostgresServer.start()]);
  servers = { redis, mqtt, postgres };
});
afterAll(() => Promise.all(Object.values(servers).map((server) => server.stop())));

type Kind = keyof typeof servers;

/** A broker's way to its server, and how its client, if it has one, is closed. */
interface Way {
  readonly maker: LinkMaker;
  /** Does to the client what its own time limit does. */
  renew?(): void;
  end?(): void | Promise<void>;
}

const linksByUrl: Readonly<Record<Kind, (url: string) => LinkMaker>> = {
  redis: (url) => redisLinks(redisOptions({ url })),
  mqtt: (url) => mqttLinks(mqttOptions({ url })),
  postgres: (url) => postgresLinks(postgresOptions({ url })),
};

function toWay({ maker, end }: RedisWay): Way {
  return { maker: maker(), end };
}

const WAYS: Readonly<Record<string, readonly [Kind, (url: string) => Promise<Way>]>> = {
  ...Object.fromEntries(
    Object.entries({ ...REDIS_WAYS, ...OLDER_REDIS_WAYS }).map(([way, connect]) => [
      `of Redis ${way}`,
      ["redis", async (url: string) => toWay(await connect(url))] as const,
    ]),
  ),
  "of MQTT by url": ["mqtt", async (url) => ({ maker: linksByUrl.mqtt(url) })],
  "of MQTT over a client": [
    "mqtt",
    async (url) => {
      const client = await mqtt.connectAsync(url, { reconnectPeriod: 50 });
      const renew = (): void => void client.stream.destroy();
      return { maker: mqttLinks(mqttOptions({ client })), renew, end: () => client.endAsync(true) };
    },
  ],
  "of PostgreSQL by url": ["postgres", async (url) => ({ maker: linksByUrl.postgres(url) })],
  "of PostgreSQL over a client": [
    "postgres",
    async (url) => {
      const client = postgres(url, { max: 1 });
      return { maker: postgresLinks(postgresOptions({ client })), end: () => client.end({ timeout: 0 }) };
    },
  ],
};

function added(taskId: string): EventRecord {
  return { type: "taskAdded", timestampMs: 1, taskId };
}

function nextGap(broker: RemoteEventBroker): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = broker.onGap(() => {
      unsubscribe();
      resolve();
    });
  });
}

function hears(broker: RemoteEventBroker, taskId: string): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = broker.subscribe((event) => {
      if (!("taskId" in event) || event.taskId !== taskId) return;
      unsubscribe();
      resolve();
    });
  });
}

/** Resolves when a condition holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise<void>((resolve) => timerHost.nextTurn(resolve));
}

describe.each(Object.entries(WAYS))("a broker %s", (_, [kind, connect]) => {
  test("whose connections go silent warns once within 30 s, and then hears the others over new ones, each time", async () => {
    const server = servers[kind];
    const proxy = await LoopbackProxy.start(server.port);
    const { maker, renew, end } = await connect(server.url.replace(`:${server.port}`, `:${proxy.port}`));
    const timers = new VirtualTimers();
    const { logger, entries } = recordingLogger();
    const here = untilConnected(new RemoteEventBroker(maker, timers));
    const there = untilConnected(new RemoteEventBroker(linksByUrl[kind](server.url)));
    await Promise.all([here.open({ logger }), there.open()]);
    const exchange = async (taskId: string): Promise<void> => {
      for (const [from, to] of [[here, there] as const, [there, here] as const]) {
        const heard = hears(to, taskId);
        await from.publish([added(taskId)]);
        await heard;
      }
    };
    await exchange("before");

    for (let loss = 1; loss <= 3; loss++) {
      proxy.silence();
      const gap = nextGap(here);
      await there.publish([added("lost")]);
      timers.advance(HEARTBEAT_MS + PING_WAIT_MS);
      await until(() => entries.length > 0);
      expect(entries).toMatchObject([
        {
          level: "warn",
          message: expect.stringContaining("has no connection to"),
          details: [{ message: `the server did not answer within ${PING_WAIT_MS} ms` }],
        },
      ]);
      await expect(here.publish([added("refused")])).rejects.toMatchObject({ code: "brokerUnavailable" });
      renew?.();
      await gap;
      await exchange(`after loss ${loss}`);
      expect(entries.map(({ level }) => level)).toEqual(["warn", "info"]);
      entries.length = 0;
    }
    await Promise.all([here.close(), there.close()]);
    await end?.();
    await proxy.stop();
  });

  test("stays connected while its server answers", async () => {
    const { maker, end } = await connect(servers[kind].url);
    const timers = new VirtualTimers();
    const { logger, entries } = recordingLogger();
    let pings = 0;
    const counting: LinkMaker = {
      ...maker,
      make: async (listener) => {
        const link = await maker.make(listener);
        const ping = link.ping.bind(link);
        link.ping = async () => {
          await ping();
          pings++;
        };
        return link;
      },
    };
    const broker = untilConnected(new RemoteEventBroker(counting, timers));
    await broker.open({ logger });
    let gaps = 0;
    broker.onGap(() => gaps++);
    const atFirst = pings;
    for (let beat = 1; beat <= 3; beat++) {
      timers.advance(HEARTBEAT_MS);
      await until(() => pings >= atFirst + beat);
      await new Promise<void>((resolve) => timerHost.nextTurn(resolve));
    }
    expect([gaps, entries]).toEqual([0, []]);
    await broker.close();
    await end?.();
  });
});
