import type { Row, SqlStatement } from "../sql/driver/driver-and-failures.ts";

/** The answer to one statement. */
export interface SqlResult {
  readonly rows: readonly Row[];
}

/**
 * What the store needs of a libSQL client. The interface describes a shape, so that the clients of `@libsql/client`,
 * `@libsql/client/web`, `/http`, `/ws` and `/sqlite3` all fit. A wrapper around such a client fits too.
 */
export interface LibsqlClient {
  /** Runs one statement by itself. */
  execute(statement: SqlStatement): Promise<SqlResult>;
  /** Runs the statements in one transaction and one round trip. */
  batch(statements: SqlStatement[], mode: "write"): Promise<SqlResult[]>;
  /** Closes the connection. The store calls it only for a client that the store made itself. */
  close(): void;
  /** `"file"` for a local database; every other value, or none, is taken for a remote database. */
  readonly protocol?: string;
  /** Makes a new connection in place of the present one. The store calls it when others kept a local database locked,
   *  or when a remote server did not answer in time. */
  reconnect?(): unknown;
  /** Fetches the primary's changes into an embedded replica. The store calls it before a scheduler looks for work. */
  sync?(): Promise<unknown>;
}
