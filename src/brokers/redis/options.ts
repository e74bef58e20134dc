import * as v from "valibot";
import { type Checker, checker, type Hints, hasMethods, implementing, namesOf } from "../../core/check.ts";
import { mustBe, shown } from "../../core/option-errors.ts";
import {
  type BrokerTls,
  channelName,
  nameOfWrongUrl,
  namespaceName,
  saysReadable,
  secret,
  text,
  tlsOptions,
} from "../remote/options.ts";
import type { RedisClient } from "./clients.ts";

/** Options that do not depend on how the server is reached. */
export interface SharedRedisBrokerOptions {
  /** Name of the Pub/Sub channel. Brokers on the same channel, of any database of the server, hear each other. Default:
   *  `"escapement"` */
  readonly channel?: string;
  /** Which of the stores that share the channel the events belong to. Brokers hear only those of the same namespace.
   *  Default: `""`, a namespace as every other. */
  readonly namespace?: string;
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
  readonly tls?: BrokerTls;
}

/** A broker that publishes over a client of the caller's, and listens over a copy of it (`duplicate()`). The caller
 *  connects and closes the client; the broker closes its copy. */
export interface RedisClientBrokerOptions extends SharedRedisBrokerOptions {
  /** A client of ioredis (`new Redis(...)`, `new Cluster(...)`) or of node-redis (`createClient(...)`). */
  readonly client: RedisClient;
}

export type RedisBrokerOptions = RedisUrlBrokerOptions | RedisClientBrokerOptions;

const CLIENT_METHODS = ["publish", "subscribe", "duplicate", "on", "off"] as const;

const sharedEntries = {
  channel: v.optional(channelName, "escapement"),
  namespace: v.optional(namespaceName, ""),
};

const urlSchema = v.strictObject({
  ...sharedEntries,
  url: v.pipe(
    text,
    v.check((url) => /^(rediss?:\/\/[^/]|unix:\/\/\/)/i.test(url), saysUrl),
    v.check((url) => URL.canParse(url), saysReadable),
  ),
  username: v.optional(text),
  password: v.optional(secret),
  tls: v.optional(tlsOptions),
});

const clientSchema = v.strictObject({
  ...sharedEntries,
  client: implementing<RedisClient>("a client of ioredis or node-redis", CLIENT_METHODS),
});

const hints: Hints = {
  takes: "{ url } or { client }",
  instead: adviceOn,
  synonyms: { topic: "channel", prefix: "namespace", uri: "url", address: "url", redis: "client", user: "username" },
};
const checkByUrl = checker(urlSchema, hints);
const checkByClient = checker(clientSchema, {
  ...hints,
  elsewhere: (name) =>
    namesOf(urlSchema).includes(name) ? "a server is given by url or by client, not by both" : null,
});

/** Options with their defaults. */
export type CheckedRedisOptions = RedisBrokerOptions & Required<SharedRedisBrokerOptions>;

/** @throws {OptionsError} with one issue per problem */
export function checkOptions(options: RedisBrokerOptions): CheckedRedisOptions {
  const isByClient = typeof options === "object" && options !== null && "client" in options;
  const check: Checker<unknown> = isByClient ? checkByClient : checkByUrl;
  return check(options, "new RedisEventBroker(options)") as CheckedRedisOptions;
}

function adviceOn(value: unknown): string | null {
  if (typeof value === "string") return `write { url: ${shown(value)} }`;
  if (value instanceof URL) return "write { url: url.href }";
  return hasMethods(value, CLIENT_METHODS) ? "pass it as { client }" : null;
}

function saysUrl({ input }: { readonly input: unknown }): string {
  const isHost = typeof input === "string" && /^[\w.-]+(:\d+)?$/.test(input);
  const isPath = typeof input === "string" && input.startsWith("/") && !input.includes("@");
  const advice = isHost ? `redis://${input}` : isPath ? `unix://${input}` : null;
  return mustBe(
    "redis:// or rediss:// and a host, or unix:/// and a path",
    input,
    nameOfWrongUrl(input),
    advice === null ? null : `write ${shown(advice)}`,
  );
}
