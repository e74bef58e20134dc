/**
 * The SQLite data store: a file, through the SQLite that comes with Node (22.13 or later), Deno and Bun. The store
 * needs no package.
 *
 * @module
 */
import type { SqliteConnection, SqliteStoreOptions } from "../sqlite-file/options.ts";
import { FileDataStore } from "../sqlite-file/store.ts";
import { openDatabase } from "./open-database.ts";

export type { SqlStatement, SqlValue } from "../sql/driver/driver-and-failures.ts";
export type { StoreRetryOptions } from "../sql/store-options.ts";
export type { SqliteConnection, SqliteStoreOptions } from "../sqlite-file/options.ts";

/**
 * Keeps everything in an SQLite database: a file, or memory. Many schedulers, in many processes of one machine, may
 * share a file. Never share a file over a network file system. `LibsqlDataStore` opens the same files, but never use
 * both stores on one file within one process, because there SQLite's locks do not hold between two SQLite libraries.
 *
 * ```ts
 * const store = new SqliteDataStore({ path: "jobs.db" });
 * await using scheduler = new Scheduler({ dataStore: store });
 * ```
 *
 * While others keep the file locked, the store tries again for 20 seconds (`retry`) before a method rejects with
 * `StoreUnavailableError`. `open` rejects with the same error where the runtime has no SQLite.
 */
export class SqliteDataStore extends FileDataStore {
  /** @throws {OptionsError} when an option is unknown, of a wrong type or out of range */
  constructor(connection: SqliteConnection, options: SqliteStoreOptions = {}) {
    super(openDatabase, connection, options);
  }
}
