import { PARAMETER_BYTES_MAX } from "../bounds.ts";
import type { Row, SqlStatement, SqlValue } from "./driver.ts";

/** Where the answers of some statements of a batch are. */
export interface Answers {
  /** The answers, in order, once the batch has run. */
  of(results: readonly Row[][]): readonly Row[][];
}

/** The statements of one write transaction, part by part. */
export class Batch {
  readonly statements: SqlStatement[] = [];

  add(part: readonly SqlStatement[]): Answers {
    const start = this.statements.length;
    this.statements.push(...part);
    const end = this.statements.length;
    return { of: (results) => results.slice(start, end) };
  }
}

export function statement(sql: string, ...args: SqlValue[]): SqlStatement {
  return { sql, args };
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

const INSTANT_LENGTH = 20;
/** A cast reads the number with which a text begins. */
export const KEY_INSTANT = "CAST(key AS INTEGER)";
export const KEY_ID: string = `substr(key, ${INSTANT_LENGTH + 1})`;

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
