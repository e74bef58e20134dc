/**
 * Events between processes over Redis, with ioredis or node-redis.
 *
 * @module
 */
export { BrokerUnavailableError } from "../remote/errors.ts";
export type { BrokerTls } from "../remote/options.ts";
export type { IoredisClient, NodeRedisClient, RedisClient } from "./clients.ts";
export type {
  RedisBrokerOptions,
  RedisClientBrokerOptions,
  RedisUrlBrokerOptions,
  SharedRedisBrokerOptions,
} from "./options.ts";
export { RedisEventBroker } from "./redis-event-broker.ts";
