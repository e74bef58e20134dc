import type { Row, SqlValue } from "../sql/driver/driver-and-failures.ts";

/** A prepared statement of a runtime's own SQLite. */
export interface FileStatement {
  /** Runs the statement to its end, and returns all rows. */
  all(...args: SqlValue[]): Row[];
  /** Frees the statement, where the runtime does not do so by itself. */
  finalize?(): void;
}

/** What the store needs of the SQLite that comes with a runtime. Its calls are synchronous. */
export interface FileDatabase {
  prepare(sql: string): FileStatement;
  close(): void;
}

/** Opens the database at a path; the path `":memory:"` is a database in memory. Throws SQLite's errors. */
export type OpenDatabase = (path: string) => FileDatabase;
