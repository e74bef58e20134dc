import { createRequire } from "node:module";
import type { Row, SqlValue } from "../../src/stores/sql/driver/driver-and-failures.ts";
import type { FileDatabase } from "../../src/stores/sqlite-file/database.ts";
import type { SqliteStoreOptions } from "../../src/stores/sqlite-file/options.ts";
import { FileDataStore } from "../../src/stores/sqlite-file/store.ts";

interface NativeDatabase {
  prepare(sql: string): { all(args: readonly SqlValue[]): Row[] };
  close(): void;
}

/**
 * A store on the SQLite of libSQL that keeps its statements prepared, for tests in which a driver has no part, on a
 * Node that brings no SQLite along. `@libsql/client` prepares each statement anew, which takes most of the time of a
 * long story.
 */
export class KeptLibsqlStore extends FileDataStore {
  constructor(path: string, options: SqliteStoreOptions = {}) {
    super(openDatabase, { path }, options);
  }
}

function openDatabase(path: string): FileDatabase {
  // The native part comes with `@libsql/client`.
  const client = createRequire(import.meta.url).resolve("@libsql/client");
  const Database: new (path: string) => NativeDatabase = createRequire(client)("libsql");
  const database = new Database(path);
  return {
    prepare(sql) {
      const statement = database.prepare(sql);
      return { all: (...args) => statement.all(args) };
    },
    close: () => database.close(),
  };
}
