import * as v from "valibot";
import { hasMethods, implementing } from "../../core/check.ts";
import { once } from "../../core/once.ts";
import type { Given } from "../../core/without-undefined.ts";
import {
  addressText,
  type BrokerTls,
  channelName,
  namespaceName,
  saysReadable,
  secret,
  text,
  tlsOptions,
} from "../remote/options.ts";
import { saysUrl, serverOptionsChecker, urlOfPlace } from "../remote/server-options.ts";
import type { RedisClient } from "./clients.ts";

/** Options that do not depend on how the server is reached. */
export interface SharedRedisBrokerOptions {
  /** Name of the Pub/Sub channel. Brokers on the same channel, of any database of the server, hear each other. Default:
   *  `"escapement"` */
  readonly channel?: string | undefined;
  /** Which of the stores that share the channel the events belong to. Brokers hear only those of the same namespace.
   *  Default: `""`, a namespace as every other. */
  readonly namespace?: string | undefined;
}

/** A broker that makes its two connections with the package `ioredis`. */
export interface RedisUrlBrokerOptions extends SharedRedisBrokerOptions {
  /** `redis://[user:password@]host[:port]`, `rediss://` for TLS, or `unix:///path/of/redis.sock`. */
  readonly url: string;
  /** User of the server's access list. Default: that of the url, or the server's default user. */
  readonly username?: string | undefined;
  /** Default: that of the url, or none. */
  readonly password?: string | undefined;
  /** Settings of a TLS connection. Together with `redis://`, they turn TLS on. Default: those of the runtime. */
  readonly tls?: BrokerTls | undefined;
}

/** A broker that publishes over a client of the caller's, and listens over a copy of it (`duplicate()`). The caller
 *  connects and closes the client; the broker closes its copy. */
export interface RedisClientBrokerOptions extends SharedRedisBrokerOptions {
  /** A client of ioredis (`new Redis(...)`, `new Cluster(...)`) or of node-redis (`createClient(...)`). */
  readonly client: RedisClient;
}

/** Options of a `RedisEventBroker`: a server is given by its url, or by a client of the caller's. */
export type RedisBrokerOptions = RedisUrlBrokerOptions | RedisClientBrokerOptions;

const CLIENT_METHODS = ["publish", "subscribe", "duplicate", "on", "off"] as const;

const sharedEntries = once(() => ({
  channel: v.optional(channelName(), "escapement"),
  namespace: v.optional(namespaceName(), ""),
}));

const saysAddress = saysUrl("redis:// or rediss:// and a host, or unix:/// and a path", addressOf);

const urlSchema = once(() =>
  v.strictObject({
    ...sharedEntries(),
    url: v.pipe(
      addressText("redis://127.0.0.1:6379"),
      v.check((url) => /^(rediss?:\/\/[^/]|unix:\/\/\/)/i.test(url), saysAddress),
      v.check((url) => URL.canParse(url), saysReadable),
    ),
    username: v.optional(text()),
    password: v.optional(secret()),
    tls: v.optional(tlsOptions()),
  }),
);

const clientSchema = once(() =>
  v.strictObject({
    ...sharedEntries(),
    client: implementing<RedisClient>("a client of ioredis or node-redis", CLIENT_METHODS),
  }),
);

/** Options with their defaults. */
export type CheckedRedisOptions = RedisBrokerOptions & Given<SharedRedisBrokerOptions>;

/** @throws {OptionsError} with one issue per problem */
export const checkOptions: (options: unknown) => CheckedRedisOptions = serverOptionsChecker({
  where: "new RedisEventBroker(options)",
  byUrl: urlSchema,
  byClient: clientSchema,
  isClient: (value) => hasMethods(value, CLIENT_METHODS),
  example: "redis://user:password@host:6379",
  addressOf,
  synonyms: { topic: "channel", keyprefix: "namespace", redisurl: "url", clientorurl: "url", redis: "client" },
  elsewhere: (name) =>
    /^(db|database)$/i.test(name) ? "channels belong to no database; { namespace } keeps stores apart" : null,
});

/** The url that a host, a path or an address of another form means; null where that is unknown. */
function addressOf(given: string): string | null {
  return urlOfPlace(given, "redis") ?? (/^valkeys?:\/\//i.test(given) ? given.replace(/^valkey/i, "redis") : null);
}
