import { addressFacts } from "../remote/address.ts";
import type { LinkMaker } from "../remote/link.ts";
import { RemoteEventBroker } from "../remote/remote-broker.ts";
import { copyOf, isNodeRedis } from "./clients.ts";
import { IoredisLink } from "./ioredis-link.ts";
import { NodeRedisLink } from "./node-redis-link.ts";
import { openIoredis } from "./open-ioredis.ts";
import { type CheckedRedisOptions, checkOptions, type RedisBrokerOptions } from "./options.ts";

/** Largest message, in bytes. Redis takes more, and drops subscribers that have not read 8 MB for a minute. */
const MESSAGE_BYTES_MAX = 1_000_000;

/**
 * Carries events between processes over Pub/Sub of Redis, Valkey or another server that speaks their protocol. It
 * needs two connections. Redis keeps no messages: what is published while a process has no connection, that process
 * does not hear, and its schedulers look into the store as soon as they are connected again.
 *
 * @example
 * const eventBroker = new RedisEventBroker({ url: "redis://127.0.0.1:6379" });
 * const scheduler = new Scheduler({ dataStore, eventBroker });
 */
export class RedisEventBroker extends RemoteEventBroker {
  /** @throws {OptionsError} with one issue per problem */
  constructor(options: RedisBrokerOptions) {
    super(linkMaker(checkOptions(options)));
  }
}

/** How a broker with these options reaches its server. */
export function linkMaker(options: CheckedRedisOptions): LinkMaker {
  const { channel, namespace } = options;
  const shared = { namespace, bytesMax: MESSAGE_BYTES_MAX };
  if ("url" in options) {
    return {
      ...shared,
      ...addressFacts(options),
      make: async (listener) => new IoredisLink(await openIoredis(options), channel, listener).start(),
    };
  }
  const { client } = options;
  return {
    ...shared,
    address: "Redis",
    secrets: [],
    make: async (listener) => {
      if (isNodeRedis(client)) return new NodeRedisLink(client, channel, listener).start();
      const clients = { publisher: client, subscriber: copyOf(client), ownsPublisher: false };
      return new IoredisLink(clients, channel, listener).start();
    },
  };
}
