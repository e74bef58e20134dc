/** The data store over any database that speaks SQLite's SQL, and the driver that it needs. */
export type { FailureKind, Row, SqlDriver, SqlStatement, SqlValue } from "./driver.ts";
export { sqliteFailureKind } from "./failures.ts";
export type { RetryLimits } from "./retry-limits.ts";
export { SqlDataStore, type SqlDataStoreOptions } from "./store.ts";
