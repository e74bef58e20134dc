import type { SqlDriver } from "../sql/driver/driver-and-failures.ts";
import { SqlDataStore } from "../sql/sqlite/store.ts";
import { FileVersion } from "../sqlite-file/file-version.ts";
import { databaseKind, shownUrl } from "./address.ts";
import { checkConnection, checkOptions, type LibsqlConnection } from "./connection-options.ts";
import { LibsqlDriver } from "./driver.ts";
import { openClient } from "./open-client.ts";
import type { LibsqlStoreOptions } from "./store-options.ts";

/**
 * Keeps everything in a libSQL database: a file, memory, a server (sqld, Turso), or an embedded replica of one. Many
 * schedulers, in many processes, may share a database.
 *
 * ```ts
 * const store = new LibsqlDataStore({ url: "file:jobs.db" });
 * await using scheduler = new Scheduler({ dataStore: store });
 * ```
 *
 * If you pass a `client` that you made, give the client only one connection to a file (`concurrency: 1`), and close the
 * client yourself. When others kept the file locked, the store opens that connection anew (`reconnect`) and keeps the
 * usual settings of SQLite. After a passing failure (a busy database, a lost connection) the store tries again, for
 * some seconds (`retry`), before a method rejects with `StoreUnavailableError`.
 */
export class LibsqlDataStore extends SqlDataStore {
  /** @throws {OptionsError} when an option is unknown, of a wrong type or out of range */
  constructor(connection: LibsqlConnection, options: LibsqlStoreOptions = {}) {
    checkConnection(connection);
    const { durability, timeoutMs, ...shared } = checkOptions(options);
    const isByUrl = "url" in connection;
    super(new LibsqlDriver(connection, { durability, timeoutMs, openClient, makeVersion }), {
      where: isByUrl ? shownUrl(connection.url) : "the database",
      sharedByProcesses: !(isByUrl && databaseKind(connection) === "memory"),
      timeoutMs,
      ...shared,
    });
  }
}

function makeVersion(execute: SqlDriver["execute"]): FileVersion {
  return new FileVersion(execute);
}
