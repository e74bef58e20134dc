/**
 * The SQLite data store as Bun gets it. It equals the SQLite data store of the other runtimes, which has the docs.
 *
 * @module
 */
import type { SqliteConnection, SqliteStoreOptions } from "../sqlite-file/options.ts";
import { FileDataStore } from "../sqlite-file/store.ts";
import { openDatabase } from "./open-database.ts";

export type { SqlStatement, SqlValue } from "../sql/driver/driver-and-failures.ts";
export type { StoreRetryOptions } from "../sql/store-options.ts";
export type { SqliteConnection, SqliteStoreOptions } from "../sqlite-file/options.ts";

/** Keeps everything in an SQLite database: a file, or memory. */
export class SqliteDataStore extends FileDataStore {
  /** @throws {OptionsError} when an option is unknown, of a wrong type or out of range */
  constructor(connection: SqliteConnection, options: SqliteStoreOptions = {}) {
    super(openDatabase, connection, options);
  }
}
