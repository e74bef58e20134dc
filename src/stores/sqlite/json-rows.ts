import { StoreUnavailableError } from "../../core/errors.ts";
import type { Metadata } from "../../records/policies.ts";
import type { Row } from "./driver/driver.ts";

// Rows travel as JSON text in both directions: many rows go in as one parameter, and a row comes out as one value. The
// client spends microseconds on every single value of a result, which is more than SQLite needs for the whole row.

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

/** SQL of a column that holds JSON, or of `otherwise` in a damaged row, because one damaged row must not make the text
 *  of all rows unreadable. SQLite's functions of JSON end at a NUL, and pass over what stands behind it. */
export function validJson(column: string, otherwise = "{}"): string {
  return `CASE WHEN json_valid(${column}) AND instr(${column}, char(0)) = 0 THEN ${column} ELSE '${otherwise}' END`;
}

/** Columns that hold numbers; the others hold text. */
const NUMBERS: ReadonlySet<string> = new Set([
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

/** The records of an answer, in order: the JSON in the column `record` of each row. */
export function jsonRecords<R>(rows: readonly Row[] | undefined): R[] {
  return (rows ?? []).map((row) => parseJson<R>(row.record));
}

/** The JSON array in a column of the first row of an answer; empty for null. */
export function jsonArray<R>(rows: readonly Row[] | undefined, column: string): R[] {
  const text = rows?.[0]?.[column];
  return text === null || text === undefined ? [] : parseJson<R[]>(text);
}

/** The number in a column of the first row of an answer, or null. */
export function numberOrNull(rows: readonly Row[] | undefined, column: string): number | null {
  const value = rows?.[0]?.[column];
  return value === null || value === undefined ? null : Number(value);
}

/** The ids that the rows of an answer name. */
export function idsOf(rows: readonly Row[] | undefined): string[] {
  return (rows ?? []).map((row) => String(row.id));
}

function parseJson<T>(text: unknown): T {
  try {
    // Our own statements wrote this text. A type test of each field would cost as much as the query.
    return JSON.parse(String(text)) as T;
  } catch (cause) {
    throw new StoreUnavailableError("the database holds a row that is not what this library wrote", { cause });
  }
}

/** The details of a row, or `otherwise` where they are JSON, but no object. */
export function fieldsOf<T extends object>(details: T, otherwise: Partial<T>): Partial<T> {
  return typeof details === "object" && details !== null && !Array.isArray(details) ? details : otherwise;
}

/** A further field of a JSON object; nothing for null. Rows are put together by hand, because to make an object without
 *  null first, and its text then, costs twice as much. */
export function field(name: string, value: unknown): string {
  if (value === null || value === undefined) return "";
  return `,"${name}":${typeof value === "number" && Number.isFinite(value) ? value : JSON.stringify(value)}`;
}

/** The same of the metadata of a job; nothing for none. */
export function metadataField(metadata: Metadata): string {
  return field("metadata", Object.keys(metadata).length === 0 ? null : metadata);
}
