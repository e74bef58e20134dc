/** The data store over any database that speaks SQLite's SQL, and the driver that it needs. */

export type { RetryLimits } from "./bounds.ts";
export type { FailureKind, Row, SqlDriver, SqlStatement, SqlValue } from "./driver/driver.ts";
export { sqliteFailureKind } from "./driver/failures.ts";
export { SqlDataStore, type SqlDataStoreOptions } from "./store.ts";
