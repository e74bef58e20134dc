import type { Row, SqlValue } from "../sqlite/mod.ts";

/** A prepared statement of a runtime's own SQLite. */
export interface FileStatement {
  /** Runs it to its end. */
  all(...args: SqlValue[]): Row[];
  /** Gives it back, where the runtime does not do so by itself. */
  finalize?(): void;
}

/** What the store needs of the SQLite that a runtime brings along. Its calls answer synchronously. */
export interface FileDatabase {
  prepare(sql: string): FileStatement;
  close(): void;
}

/** Opens the database at a path, or one in memory for `":memory:"`. Throws what SQLite says. */
export type OpenDatabase = (path: string) => FileDatabase;
