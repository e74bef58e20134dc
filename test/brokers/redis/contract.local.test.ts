import { createClient } from "@redis/client";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, test } from "vitest";
import { type RedisBrokerOptions, RedisEventBroker } from "../../../src/brokers/redis/mod.ts";
import { eventBrokerContract } from "../../../src/testing/event-broker-contract.ts";
import { RedisServer } from "../../support/redis-server.ts";

let server: RedisServer;
let stranger: Redis;
beforeAll(async () => {
  server = await RedisServer.start();
  stranger = new Redis(server.url);
});
afterAll(async () => {
  stranger.disconnect();
  await server.stop();
});

/** Ways to reach the server: what the broker gets, and how the client is closed in the end. */
const WAYS: Readonly<Record<string, () => Promise<{ options: RedisBrokerOptions; end(): void }>>> = {
  "by url": async () => ({ options: { url: server.url }, end: () => {} }),
  "by the path of its socket": async () => ({ options: { url: `unix://${server.socket}` }, end: () => {} }),
  "over a client of ioredis": async () => {
    const client = new Redis(server.url);
    client.on("error", () => {});
    return { options: { client }, end: () => client.disconnect() };
  },
  "over a client of node-redis": async () => {
    const client = createClient({ url: server.url });
    client.on("error", () => {});
    await client.connect();
    return { options: { client }, end: () => client.destroy() };
  },
};

describe.each(Object.entries(WAYS))("RedisEventBroker %s keeps the contract:", (way, connect) => {
  for (const [index, { name, run }] of eventBrokerContract.entries()) {
    test(`${name}`, async () => {
      const channel = `${way} ${index}`;
      const { options, end } = await connect();
      const make = (): RedisEventBroker => new RedisEventBroker({ ...options, channel });
      await run({
        make,
        join: make,
        neighbour: () => new RedisEventBroker({ ...options, channel, namespace: "another" }),
        post: async (events) => {
          await stranger.publish(channel, JSON.stringify({ escapement: 1, namespace: "", events }));
        },
        interrupt: async () => {
          // At once, because each is an outage of its own otherwise.
          const kill = ["CLIENT", "KILL", "SKIPME", "yes", "TYPE"] as const;
          await stranger
            .multi()
            .call(...kill, "normal")
            .call(...kill, "pubsub")
            .exec();
        },
      });
      end();
    });
  }
});
