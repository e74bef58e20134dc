/**
 * The data store in Cloudflare's D1, for Workers.
 *
 * @module
 */
export type { Row, SqlStatement, SqlValue } from "../sql/driver/driver-and-failures.ts";
export type { StoreRetryOptions } from "../sql/store-options.ts";
export type { D1Answer, D1Binding, D1Statement } from "./binding.ts";
export type { D1StoreOptions } from "./options.ts";
export { schemaSql } from "./schema-sql.ts";
export { D1DataStore } from "./store.ts";
