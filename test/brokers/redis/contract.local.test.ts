import { createClient } from "@redis/client";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, test } from "vitest";
import { RedisEventBroker } from "../../../src/brokers/redis/mod.ts";
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

/** Sends what is no broker's, or what a broker of another program sends. */
function poster(channel: string): (events: unknown) => Promise<void> {
  return async (events) => {
    await stranger.publish(channel, JSON.stringify({ escapement: 1, namespace: "", events }));
  };
}

describe("RedisEventBroker by url keeps the contract:", () => {
  for (const [index, { name, run }] of eventBrokerContract.entries()) {
    test(`${name}`, async () => {
      const channel = `url-${index}`;
      const make = (): RedisEventBroker => new RedisEventBroker({ url: server.url, channel });
      await run({ make, join: make, post: poster(channel) });
    });
  }
});

describe("RedisEventBroker over a client of ioredis keeps the contract:", () => {
  for (const [index, { name, run }] of eventBrokerContract.entries()) {
    test(`${name}`, async () => {
      const channel = `ioredis-${index}`;
      const client = new Redis(server.url);
      const make = (): RedisEventBroker => new RedisEventBroker({ client, channel });
      await run({ make, join: make, post: poster(channel) });
      client.disconnect();
    });
  }
});

describe("RedisEventBroker over a client of node-redis keeps the contract:", () => {
  for (const [index, { name, run }] of eventBrokerContract.entries()) {
    test(`${name}`, async () => {
      const channel = `node-redis-${index}`;
      const client = createClient({ url: server.url });
      await client.connect();
      const make = (): RedisEventBroker => new RedisEventBroker({ client, channel });
      await run({ make, join: make, post: poster(channel) });
      client.destroy();
    });
  }
});
