/** What the broker needs of a client of ioredis: a `Redis` or a `Cluster`. The interface describes a shape, so that
 *  other clients of the same shape fit, too. */
export interface IoredisClient {
  /** `"ready"` while commands reach the server, and `"wait"` until a lazy client is told to connect. */
  readonly status: string;
  /** True of a `Cluster`. */
  readonly isCluster?: boolean;
  publish(channel: string, message: string): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  ping(): Promise<unknown>;
  connect(): Promise<unknown>;
  duplicate(): IoredisClient;
  disconnect(reconnect?: boolean): void;
  on(event: string, listener: (...facts: unknown[]) => void): unknown;
  off(event: string, listener: (...facts: unknown[]) => void): unknown;
}

/** What the broker needs of a client of node-redis (`createClient` of `redis` or `@redis/client`). */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  publish(channel: string, message: string): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  ping(): Promise<unknown>;
  connect(): Promise<unknown>;
  duplicate(): NodeRedisClient;
  destroy(): void;
  on(event: string, listener: (...facts: unknown[]) => void): unknown;
  off(event: string, listener: (...facts: unknown[]) => void): unknown;
}

/** A client that the caller made. The caller connects and closes it. */
export type RedisClient = IoredisClient | NodeRedisClient;

/** A copy of a client, to listen. The broker itself subscribes after each connection: where the server refuses the
 *  channel, a promise of ioredis that nobody waits for would reject, and end the process. */
export function copyOf(client: IoredisClient): IoredisClient {
  if (client.isCluster === true) return client.duplicate();
  return Reflect.apply(client.duplicate, client, [{ autoResubscribe: false }]) as IoredisClient;
}

/** A client of node-redis says whether it is ready; one of ioredis has a status. */
export function isNodeRedis(client: RedisClient): client is NodeRedisClient {
  return "isReady" in client;
}
