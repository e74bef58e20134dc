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
