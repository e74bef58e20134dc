/**
 * The data store in PostgreSQL, with postgres.js, pg or PGlite, and events between processes over its `NOTIFY`. What
 * imports one of them bundles nothing of the other.
 *
 * @module
 */
export type { PostgresClient } from "./brokers/postgres/client.ts";
export type {
  PostgresBrokerOptions,
  PostgresClientBrokerOptions,
  PostgresUrlBrokerOptions,
  SharedPostgresBrokerOptions,
} from "./brokers/postgres/options.ts";
export { PostgresEventBroker } from "./brokers/postgres/postgres-event-broker.ts";
export { BrokerUnavailableError } from "./brokers/remote/errors.ts";
export type { BrokerTls } from "./brokers/remote/options.ts";
export type {
  PGliteClient,
  PgClient,
  PostgresJsClient,
  PostgresStoreClient,
} from "./stores/postgres/driver/clients.ts";
export type {
  PostgresClientConnection,
  PostgresConnection,
  PostgresStoreOptions,
  PostgresUrlConnection,
} from "./stores/postgres/options.ts";
export { PostgresDataStore } from "./stores/postgres/store.ts";
export type { SqlStatement, SqlValue } from "./stores/sql/driver/driver-and-failures.ts";
export type { StoreRetryOptions } from "./stores/sql/store-options.ts";
