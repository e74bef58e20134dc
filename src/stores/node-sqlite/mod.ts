/**
 * The SQLite data store: a file, through the SQLite that Node (22.13 or later), Deno and Bun bring along. It needs no
 * package.
 *
 * @module
 */
import type { SqliteConnection, SqliteStoreOptions } from "../sqlite-file/options.ts";
import { FileDataStore } from "../sqlite-file/store.ts";
import { openDatabase } from "./open-database.ts";

export type { SqliteConnection, SqliteStoreOptions } from "../sqlite-file/options.ts";

/**
 * Keeps everything in an SQLite database: a file, or memory. Many schedulers, in many processes of one machine, may
 * share a file; never share one over a network's file system. `LibsqlDataStore` opens the same files, but not within
 * the same process: SQLite's locks do not hold between two SQLite libraries there.
 *
 * ```ts
 * const store = new SqliteDataStore({ path: "jobs.db" });
 * await using scheduler = new Scheduler({ dataStore: store });
 * ```
 *
 * A file that others keep locked is asked again for 20 seconds before a method rejects with `StoreUnavailableError`.
 * The same error comes from `open` where the runtime has no SQLite.
 */
export class SqliteDataStore extends FileDataStore {
  /** @throws {OptionsError} when an option is unknown, of a wrong type or out of range */
  constructor(connection: SqliteConnection, options: SqliteStoreOptions = {}) {
    super(openDatabase, connection, options);
  }
}
