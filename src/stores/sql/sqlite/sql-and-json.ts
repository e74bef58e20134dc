import { INSTANT_LENGTH } from "../sql-and-json.ts";

// How SQL texts come about, and what travels with them. Rows travel as JSON text in both directions: many rows go in as
// one parameter, and a row comes out as one value. The client spends microseconds on every single value of a result,
// which is more than SQLite needs for the whole row.

/**
 * SQL of a JSON array: its first item is the JSON array of `columns`, and its other items are the texts of `jsons`.
 * These texts are joined as they are, because parsing and printing them once more would cost most. Without `table`,
 * `columns` are SQL expressions.
 */
export function rowAsJson(table: string | null, columns: readonly string[], jsons: readonly string[]): string {
  const plain = (table === null ? columns : readableColumns(table, columns)).join(", ");
  return `'[' || json_array(${plain})${jsons.map((json) => ` || ',' || ${json}`).join("")} || ']'`;
}

/** SQL of an instant that JSON and clients can hold; NULL for what is damaged. */
export function instant(column: string): string {
  return `CASE WHEN ${column} BETWEEN -9e15 AND 9e15 THEN ${column} + 0 END`;
}

/** Columns that hold numbers; the others hold text. */
const NUMBERS: ReadonlySet<string> = new Set([
  "failures",
  "priority",
  "run_at",
  "fire_time",
  "failed_attempts",
  "recoveries",
  "cancel_requested",
  "acquired_until",
  "fence",
  "started_fence",
  "paused",
  "paused_until",
  "created_at",
  "next_fire_time",
  "last_fire_time",
  "pace_until",
  "max_running_jobs",
  "version",
  "expires_at",
  "skipped_count",
  "revision",
  "finished_at",
  "rowid",
  "state",
  "virtual_time",
]);

/** SQL of a column for `json_array`, which fails at a BLOB, and with it the answer about all rows. In a damaged row,
 *  text where a number belongs reads as 0. */
export function readableColumn(table: string, column: string): string {
  return NUMBERS.has(column) ? `${table}.${column} + 0` : `CAST(${table}.${column} AS TEXT)`;
}

export function readableColumns(table: string, columns: readonly string[]): string[] {
  return columns.map((column) => readableColumn(table, column));
}

/** SQL of one field of a row's details; NULL where the details have no such field. */
export function detail(name: string, table?: string): string {
  const column = table === undefined ? "details" : `${table}.details`;
  return `CASE WHEN json_valid(${column}) THEN ${column}->>'${name}' END`;
}

/** SQL of the length of a text in bytes. `length` without the cast counts characters, and stops at a NUL. */
export function sizeInBytes(text: string): string {
  return `length(CAST(${text} AS BLOB))`;
}
/** A cast reads the number with which a text begins. */
export const KEY_INSTANT = "CAST(key AS INTEGER)";
export const KEY_ID: string = `substr(key, ${INSTANT_LENGTH + 1})`;

/** SQL of what the clock of the store's machine says. */
export const STORE_NOW = "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)";
