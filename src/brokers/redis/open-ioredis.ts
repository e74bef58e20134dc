import { decoded } from "../remote/address.ts";
import { CONNECT_TIMEOUT_MS, KEEP_ALIVE_MS } from "../remote/limits.ts";
import { loadPackage } from "../remote/load-package.ts";
import { reconnectPauseMs } from "../remote/pauses.ts";
import type { IoredisClient } from "./clients.ts";
import type { IoredisClients } from "./ioredis-link.ts";
import type { RedisUrlBrokerOptions } from "./options.ts";

/** Makes the two clients of a broker that was given a url.
 *  @param load loads ioredis
 *  @throws {BrokerUnavailableError} when the package is missing */
export async function openIoredis(
  options: RedisUrlBrokerOptions,
  load: () => Promise<RedisClass> = loadIoredis,
): Promise<IoredisClients> {
  const Redis = await load();
  const { address, username, password } = addressOf(options);
  const { tls } = options;
  const settings = {
    ...(username === "" ? {} : { username }),
    ...(password === "" ? {} : { password }),
    ...(tls === undefined ? {} : { tls }),
    connectionName: "escapement",
    lazyConnect: true,
    keepAlive: KEEP_ALIVE_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: reconnectPauseMs,
    // A message that waits for a connection is of no use any more when it comes.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
  };
  return { publisher: new Redis(address, settings), subscriber: new Redis(address, settings), ownsPublisher: true };
}

/** The address as ioredis takes it. Credentials stand apart, because ioredis prefers those of the address. */
function addressOf({ url, username, password }: RedisUrlBrokerOptions): {
  readonly address: string;
  readonly username: string;
  readonly password: string;
} {
  const parsed = new URL(url);
  const credentials = {
    username: username ?? decoded(parsed.username),
    password: password ?? decoded(parsed.password),
  };
  if (parsed.protocol === "unix:") return { address: decoded(parsed.pathname), ...credentials };
  parsed.username = "";
  parsed.password = "";
  return { address: parsed.href, ...credentials };
}

/** What the broker needs of ioredis's class. Its own types would bind the shapes above to one version. */
export type RedisClass = new (url: string, settings: object) => IoredisClient;

function loadIoredis(): Promise<RedisClass> {
  return loadPackage("ioredis", "Redis", async () => (await import("ioredis")).Redis);
}
