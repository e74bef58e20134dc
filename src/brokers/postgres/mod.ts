/**
 * Events between processes over `NOTIFY` of PostgreSQL, with postgres.js.
 *
 * @module
 */
export { BrokerUnavailableError } from "../remote/errors.ts";
export type { BrokerTls } from "../remote/options.ts";
export type { PostgresClient } from "./client.ts";
export type {
  PostgresBrokerOptions,
  PostgresClientBrokerOptions,
  PostgresUrlBrokerOptions,
  SharedPostgresBrokerOptions,
} from "./options.ts";
export { PostgresEventBroker } from "./postgres-event-broker.ts";
