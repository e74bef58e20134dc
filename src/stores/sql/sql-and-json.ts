import { StoreUnavailableError } from "../../core/errors.ts";
import type { Metadata } from "../../records/policies.ts";
import type { Row } from "./driver/driver-and-failures.ts";
import { PARAMETER_BYTES_MAX } from "./limits.ts";

/** SQL of a column that holds JSON, or of `otherwise` in a damaged row, because one damaged row must not make the text
 *  of all rows unreadable. SQLite's functions of JSON end at a NUL, and pass over what stands behind it. */
export function validJson(column: string, otherwise = "{}"): string {
  return `CASE WHEN json_valid(${column}) AND instr(${column}, char(0)) = 0 THEN ${column} ELSE '${otherwise}' END`;
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

const encoder = new TextEncoder();

/** A text for a JSON parameter, and how many rows it has. */
export interface RowsParameter {
  readonly text: string;
  readonly count: number;
}

/** Rows as the texts of JSON parameters. No text is larger than `PARAMETER_BYTES_MAX`, unless a single row is. No rows
 *  make no text. */
export function rowParameters<R>(rows: readonly R[]): RowsParameter[] {
  if (rows.length === 0) return [];
  const text = JSON.stringify(rows);
  if (rows.length === 1 || fits(text)) return [{ text, count: rows.length }];
  return inParts(
    rows.map((row) => JSON.stringify(row)),
    (texts) => `[${texts.join(",")}]`,
  );
}

/** As {@link rowParameters}, of rows that are a key and a JSON text. They travel as the members of an object, because
 *  `json_each` yields these as they are, whereas it takes a row that is an array to be parsed once more. No two rows
 *  have the same key. */
export function memberParameters(rows: readonly (readonly [key: string, json: string | number])[]): RowsParameter[] {
  return parametersOf(rows.map(([key, json]) => member(key, json)));
}

/** A row of {@link parametersOf}. */
export function member(key: string, json: string | number): string {
  return `${JSON.stringify(key)}:${json}`;
}

/** As {@link memberParameters}, of rows that `member` has made. */
export function parametersOf(members: readonly string[]): RowsParameter[] {
  if (members.length === 0) return [];
  const text = asObject(members);
  return members.length === 1 || fits(text) ? [{ text, count: members.length }] : inParts(members, asObject);
}

function asObject(members: readonly string[]): string {
  return `{${members.join(",")}}`;
}

/** A key that holds an instant and an id. `KEY_INSTANT` and `KEY_ID` read them. */
export function instantKey(instant: number, id: string): string {
  return String(instant).padEnd(INSTANT_LENGTH) + id;
}

export const INSTANT_LENGTH = 20;

function inParts(rows: readonly string[], join: (rows: readonly string[]) => string): RowsParameter[] {
  const parameters: RowsParameter[] = [];
  let texts: string[] = [];
  let bytes = 0;
  const flush = (): void => {
    if (texts.length > 0) parameters.push({ text: join(texts), count: texts.length });
    texts = [];
    bytes = 0;
  };
  for (const text of rows) {
    const size = bytesOf(text) + 1;
    if (bytes + size >= PARAMETER_BYTES_MAX) flush();
    texts.push(text);
    bytes += size;
  }
  flush();
  return parameters;
}

/** Whether a text is small enough for one parameter. */
export function fits(text: string): boolean {
  // A UTF-16 unit takes three bytes at most.
  return text.length * 3 <= PARAMETER_BYTES_MAX || bytesOf(text) <= PARAMETER_BYTES_MAX;
}

export function bytesOf(text: string): number {
  return encoder.encode(text).length;
}

/** Texts that are made when they are first read, because most programs need a few of the statements alone. */
export function lazily<T extends object>(makers: { readonly [K in keyof T]: () => T[K] }): T {
  const texts = {};
  for (const [name, make] of Object.entries<() => unknown>(makers)) {
    Object.defineProperty(texts, name, {
      get(this: object): unknown {
        const value = make();
        Object.defineProperty(this, name, { value, enumerable: true });
        return value;
      },
      enumerable: true,
      configurable: true,
    });
  }
  return texts as T;
}

/** All texts of several objects, each still made when it is first read. No two objects may have a text of one name. */
export function joined<T extends object>(...parts: readonly object[]): T {
  const texts = {};
  for (const part of parts) {
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(part))) {
      if (Object.hasOwn(texts, name)) throw new Error(`two statements are named ${name}`);
      Object.defineProperty(texts, name, descriptor);
    }
  }
  return texts as T;
}

/** The JSON in a column; undefined where there is none, or where it is damaged. */
export function jsonOrUndefined<T>(text: string | null | undefined): T | undefined {
  if (text === null || text === undefined) return undefined;
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}
