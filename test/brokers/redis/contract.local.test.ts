import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, test } from "vitest";
import type { EventBroker } from "../../../src/contracts.ts";
import { eventBrokerContract } from "../../../src/testing/event-broker-contract.ts";
import { untilConnected } from "../../support/connected-broker.ts";
import { RedisServer } from "../../support/redis-server.ts";
import { byUrl, OLDER_REDIS_WAYS, REDIS_WAYS } from "./ways.ts";

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

const WAYS = {
  ...REDIS_WAYS,
  ...OLDER_REDIS_WAYS,
  "by the path of its socket": (_: string) => byUrl(`unix://${server.socket}`),
};

describe.each(Object.entries(WAYS))("RedisEventBroker %s keeps the contract:", (way, connect) => {
  for (const [index, { name, run }] of eventBrokerContract.entries()) {
    test(`${name}`, async () => {
      const channel = `${way} ${index}`;
      const { broker, end } = await connect(server.url);
      const make = (): EventBroker => untilConnected(broker({ channel }));
      await run({
        make,
        join: make,
        neighbour: () => broker({ channel, namespace: "another" }),
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
