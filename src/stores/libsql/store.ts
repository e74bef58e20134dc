import { SqlDataStore } from "../sqlite/mod.ts";
import { LibsqlDriver } from "./driver.ts";
import { databaseKind, shownUrl } from "./open-client.ts";
import { checkConnection, checkOptions, type LibsqlConnection, type LibsqlStoreOptions } from "./options.ts";

/**
 * Keeps everything in a libSQL database: a file, memory, a server (sqld, Turso), or an embedded replica of one. Many
 * schedulers, in many processes, may share a database.
 *
 * ```ts
 * const store = new LibsqlDataStore({ url: "file:jobs.db" });
 * await using scheduler = new Scheduler({ dataStore: store });
 * ```
 *
 * With a `client` that you made, see that it has one connection to a file (`concurrency: 1`), and close it yourself.
 * The store opens that connection anew (`reconnect`) when others kept the file locked, with SQLite's usual settings
 * kept. Failures that pass (a busy database, a lost connection) are repeated for a few seconds before a method rejects
 * with `StoreUnavailableError`.
 */
export class LibsqlDataStore extends SqlDataStore {
  /** @throws {OptionsError} when an option is unknown, of a wrong type or out of range */
  constructor(connection: LibsqlConnection, options: LibsqlStoreOptions = {}) {
    checkConnection(connection);
    const { durability, timeoutMs, tablePrefix, serializer } = checkOptions(options);
    const isByUrl = "url" in connection;
    super(new LibsqlDriver(connection, { durability, timeoutMs }), {
      where: isByUrl ? shownUrl(connection.url) : "the database",
      sharedByProcesses: !(isByUrl && databaseKind(connection) === "memory"),
      tablePrefix,
      serializer,
      timeoutMs,
    });
  }
}
