import { expect } from "vitest";
import type { SqlDriver, SqlStatement } from "../../src/stores/sql/driver/driver-and-failures.ts";

/** What D1 and Durable Objects take in one statement. */
const PARAMETERS_MAX = 100;
const STATEMENT_BYTES_MAX = 100_000;

/** What drivers write themselves where they must; the statements of the store are without it. */
const FORBIDDEN = /\b(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|PRAGMA|TEMP|TEMPORARY|ATTACH|DETACH|VACUUM)\b/i;

/** What is wrong with a statement that ran, in words. How large a text may be is tested where texts are refused. */
export function problemsOf({ sql, args }: SqlStatement, columns: readonly string[] = []): string[] {
  const problems: string[] = [];
  if (args.length > PARAMETERS_MAX) problems.push(`${args.length} parameters`);
  if (bytesOf(sql) > STATEMENT_BYTES_MAX) problems.push(`${bytesOf(sql)} bytes of text`);
  const isBindable = (arg: unknown): boolean => arg === null || typeof arg === "string" || Number.isFinite(arg);
  for (const arg of args) if (!isBindable(arg)) problems.push(`${typeof arg} ${arg} bound`);
  // What a trigger does stands between BEGIN and END.
  const text = sql.startsWith("CREATE TRIGGER ") ? sql.replace(" BEGIN ", " ") : sql;
  const word = FORBIDDEN.exec(text.replaceAll(/'(?:[^']|'')*'/g, "''"));
  if (word !== null) problems.push(`the word ${word[0]}`);
  if (new Set(columns).size < columns.length) problems.push(`columns of one name: ${columns.join(", ")}`);
  return problems.map((problem) => `${problem}: ${sql.slice(0, 100)}`);
}

function bytesOf(text: string): number {
  // Three bytes are the most that a UTF-16 unit takes; what is surely short is not encoded.
  return text.length * 3 <= STATEMENT_BYTES_MAX ? text.length : new TextEncoder().encode(text).length;
}

/** The statements that ran, and what was wrong with them. */
export class StatementRecord {
  readonly texts: Set<string> = new Set<string>();
  readonly problems: Set<string> = new Set<string>();

  note(statement: SqlStatement, columns: readonly string[] = []): void {
    this.texts.add(statement.sql);
    for (const problem of problemsOf(statement, columns)) this.problems.add(problem);
  }
}

/** A driver of a local database that notes what it runs. */
export function recording(driver: SqlDriver, record: StatementRecord): SqlDriver {
  return {
    isLocal: driver.isLocal,
    open: async () => driver.open?.(),
    close: () => driver.close?.(),
    reopen: async () => driver.reopen?.(),
    failureKind: (error) => driver.failureKind(error),
    execute(statement) {
      record.note(statement);
      return driver.execute(statement);
    },
    batch(statements) {
      for (const statement of statements) record.note(statement);
      return driver.batch(statements);
    },
  };
}

/** The last test of a file whose stores wrote to the record. */
export function expectPortable({ texts, problems }: StatementRecord): void {
  // Else the stores were not those of the record.
  expect(texts.size).toBeGreaterThan(100);
  expect([...problems]).toEqual([]);
}
