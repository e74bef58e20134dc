/**
 * The libSQL data store over `fetch` alone, for sqld and Turso: nothing to install, and small enough for a Worker.
 *
 * @module
 */
export type { LibsqlStoreOptions } from "../libsql/store-options.ts";
export type { SqlStatement, SqlValue } from "../sql/driver/driver-and-failures.ts";
export type { StoreRetryOptions } from "../sql/store-options.ts";
export type { HttpFetch, HttpRequest, HttpResponse } from "./driver.ts";
export type { LibsqlHttpConnection } from "./options.ts";
export { LibsqlDataStore } from "./store.ts";
