// Bounds of D1 and of the SQLite of Durable Objects (developers.cloudflare.com/d1/platform/limits and
// /durable-objects/platform/limits), with units. The tests hold every statement of the store to them.

/** Most parameters of a statement. */
export const PARAMETERS_MAX = 100;

/** Longest text of a statement, in bytes. */
export const STATEMENT_BYTES_MAX = 100_000;

/** Largest text or row, in bytes. */
export const ROW_BYTES_MAX = 2_000_000;

/** Largest value that the store sends, in bytes. A job that is read again has more to it: its lease, its progress, and
 *  up to 20 attempts with their errors. A row that can be written must never be too large to be read. */
export const VALUE_BYTES_MAX = 1_800_000;
