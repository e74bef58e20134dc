/**
 * What workerd gets of `escapement/libsql`.
 *
 * @module
 */

export type { LibsqlClient, SqlResult } from "../libsql/client.ts";
export type { LibsqlClientConnection, LibsqlConnection, LibsqlUrlConnection } from "../libsql/connection-options.ts";
export type { LibsqlStoreOptions } from "../libsql/store-options.ts";
export type { Row, SqlStatement, SqlValue } from "../sql/driver/driver-and-failures.ts";
export type { StoreRetryOptions } from "../sql/store-options.ts";
export { LibsqlDataStore } from "./store.ts";
