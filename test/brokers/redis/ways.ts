import { createClient } from "@redis/client";
import { createClient as createClient5 } from "@redis/client5";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { IoredisLink } from "../../../src/brokers/redis/ioredis-link.ts";
import { openIoredis, type RedisClass } from "../../../src/brokers/redis/open-ioredis.ts";
import {
  checkOptions,
  type RedisBrokerOptions,
  type SharedRedisBrokerOptions,
} from "../../../src/brokers/redis/options.ts";
import { linkMaker, RedisEventBroker } from "../../../src/brokers/redis/redis-event-broker.ts";
import type { LinkMaker } from "../../../src/brokers/remote/link.ts";
import { RemoteEventBroker } from "../../../src/brokers/remote/remote-broker.ts";

/** How a broker reaches a server, on one channel. */
export interface RedisWay {
  /** What the broker gets. */
  readonly options: RedisBrokerOptions;
  maker(shared?: SharedRedisBrokerOptions): LinkMaker;
  broker(shared: SharedRedisBrokerOptions): RemoteEventBroker;
  /** Closes the client. */
  end(): void;
}

const isNode = !("Deno" in globalThis) && !("Bun" in globalThis);

type Connect = (url: string) => Promise<RedisWay>;

function wayOf(options: RedisBrokerOptions, { end = () => {} }: Partial<RedisWay> = {}): RedisWay {
  return {
    options,
    maker: (shared) => linkMaker(checkOptions({ ...options, ...shared })),
    broker: (shared) => new RedisEventBroker({ ...options, ...shared }),
    end,
  };
}

export async function byUrl(url: string): Promise<RedisWay> {
  return wayOf({ url });
}

function overIoredis(Class: typeof Redis | typeof Redis5): Connect {
  return async (url) => {
    const client = new (Class as typeof Redis)(url);
    client.on("error", () => {});
    return wayOf({ client }, { end: () => client.disconnect() });
  };
}

function overNodeRedis(create: typeof createClient | typeof createClient5): Connect {
  return async (url) => {
    const client = (create as typeof createClient)({ url });
    client.on("error", () => {});
    await client.connect();
    return wayOf({ client }, { end: () => client.destroy() });
  };
}

/** By url, with the ioredis of version 5 in the place of the one that is installed as `ioredis`. */
async function byUrlWithIoredis5(url: string): Promise<RedisWay> {
  const way = wayOf({ url });
  const load = async (): Promise<RedisClass> => Redis5 as unknown as RedisClass;
  const maker: RedisWay["maker"] = (shared) => ({
    ...way.maker(shared),
    make: async (listener) =>
      new IoredisLink(await openIoredis({ url }, load), shared?.channel ?? "escapement", listener).start(),
  });
  return { ...way, maker, broker: (shared) => new RemoteEventBroker(maker(shared)) };
}

/** Ways to reach a Redis server. */
export const REDIS_WAYS: Readonly<Record<string, Connect>> = {
  "by url": byUrl,
  "over a client of ioredis": overIoredis(Redis),
  "over a client of node-redis": overNodeRedis(createClient),
};

/** The same with older versions of the clients. What differs lies between client and server, hence one runtime is
 *  enough. */
export const OLDER_REDIS_WAYS: Readonly<Record<string, Connect>> = isNode
  ? {
      "by url with ioredis 5": byUrlWithIoredis5,
      "over a client of ioredis 5": overIoredis(Redis5),
      "over a client of node-redis 5": overNodeRedis(createClient5),
    }
  : {};
