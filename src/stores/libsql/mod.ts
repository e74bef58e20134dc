/**
 * The libSQL data store: a file on a laptop, sqld in a rack, Turso at the edge.
 *
 * @module
 */
export type { Row, SqlStatement, SqlValue } from "../sql/driver/driver-and-failures.ts";
export type { StoreRetryOptions } from "../sql/store-options.ts";
export type { LibsqlClient, SqlResult } from "./client.ts";
export type { LibsqlClientConnection, LibsqlConnection, LibsqlUrlConnection } from "./connection-options.ts";
export { LibsqlDataStore } from "./store.ts";
export type { LibsqlStoreOptions } from "./store-options.ts";
