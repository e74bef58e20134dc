/**
 * The data store in the storage of a Durable Object of Cloudflare's.
 *
 * @module
 */
export type { Row, SqlStatement, SqlValue } from "../sql/driver/driver-and-failures.ts";
export type { StoreRetryOptions } from "../sql/store-options.ts";
export type { DurableObjectStoreOptions } from "./options.ts";
export type { DurableObjectSqlStorage } from "./storage.ts";
export { DurableObjectDataStore } from "./store.ts";
