import type { Row, SqlStatement } from "../sqlite/mod.ts";

/** What comes back of one statement. */
export interface SqlResult {
  readonly rows: readonly Row[];
}

/**
 * What the store needs of a libSQL client. Described by its shape, so that the clients of `@libsql/client`,
 * `@libsql/client/web`, `/http`, `/ws` and `/sqlite3` all fit, and so does a wrapper around one.
 */
export interface LibsqlClient {
  execute(statement: SqlStatement): Promise<SqlResult>;
  /** Runs the statements in one transaction and one round trip. */
  batch(statements: SqlStatement[], mode: "write"): Promise<SqlResult[]>;
  close(): void;
  /** `"file"` for local databases; anything else is taken for a remote one. */
  readonly protocol?: string;
  /** Makes a new connection in place of one that no longer answers. */
  reconnect?(): unknown;
  /** Fetches the primary's changes into an embedded replica. */
  sync?(): Promise<unknown>;
}
