import { SqlDataStore } from "../sql/sqlite/store.ts";
import type { OpenDatabase } from "./database.ts";
import { FileDriver, MEMORY_PATH } from "./driver.ts";
import { checkOptions, checkPath, type SqliteConnection, type SqliteStoreOptions } from "./options.ts";

/** What the `SqliteDataStore` classes of all runtimes share. They differ only in the SQLite that they open. */
export abstract class FileDataStore extends SqlDataStore {
  constructor(openDatabase: OpenDatabase, connection: SqliteConnection, options: SqliteStoreOptions = {}) {
    const path = checkPath(connection);
    const { durability, ...shared } = checkOptions(options);
    const driver = new FileDriver(openDatabase, path, durability);
    super(driver, { where: path, sharedByProcesses: path !== MEMORY_PATH, ...shared });
  }
}
