/**
 * The libSQL data store: a file on a laptop, sqld in a rack, Turso at the edge.
 *
 * @module
 */
export type { LibsqlClient, SqlResult, SqlStatement, SqlValue } from "./client.ts";
export type {
  LibsqlClientConnection,
  LibsqlConnection,
  LibsqlStoreOptions,
  LibsqlUrlConnection,
} from "./options.ts";
export { LibsqlDataStore } from "./store.ts";
