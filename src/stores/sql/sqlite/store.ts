import type { SqlDriver } from "../driver/driver-and-failures.ts";
import { type SqlDataStoreOptions, StoreInSql } from "../store.ts";
import { sqlite } from "./dialect.ts";

/**
 * Keeps everything in a database that speaks SQLite's SQL, over a driver. Many schedulers, in many processes, may
 * share the database.
 *
 * @example
 * new SqlDataStore(myDriver, { tablePrefix: "jobs_" }); // an SqlDriver of your own
 */
export class SqlDataStore extends StoreInSql {
  constructor(driver: SqlDriver, options: SqlDataStoreOptions = {}) {
    super(driver, sqlite, options);
  }
}
