import type { Row, SqlValue } from "../sql/driver/driver-and-failures.ts";

/** The answer of D1 to one statement. */
export interface D1Answer {
  readonly results: readonly Row[];
}

/** A statement that D1 has prepared. */
export interface D1Statement {
  bind(...values: SqlValue[]): D1Statement;
  all(): Promise<D1Answer>;
}

/** What the store needs of a D1 binding, such as `env.DB`. The interface describes a shape, so that a wrapper around a
 *  binding fits too. */
export interface D1Binding {
  prepare(sql: string): D1Statement;
  /** Runs the statements in one transaction and one request. */
  batch(statements: D1Statement[]): Promise<readonly D1Answer[]>;
}
