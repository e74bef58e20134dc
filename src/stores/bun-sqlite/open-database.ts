import { StoreUnavailableError } from "../../core/errors.ts";
import type { FileDatabase } from "../sqlite-file/database.ts";

interface BunSqlite {
  readonly Database: new (path: string) => FileDatabase;
}

interface Host {
  readonly process?: { getBuiltinModule?(id: string): unknown };
}

/** Opens a database with `bun:sqlite`.
 *  @throws {StoreUnavailableError} when the runtime is another one than Bun */
export function openDatabase(path: string): FileDatabase {
  // Asked for rather than imported: tools that know nothing of Bun then read and bundle this file like any other.
  const sqlite = (globalThis as Host).process?.getBuiltinModule?.("bun:sqlite") as BunSqlite | undefined;
  if (sqlite === undefined) {
    throw new StoreUnavailableError(
      'this is the form of escapement/sqlite for Bun: set the condition "bun" in a bundler for Bun alone',
    );
  }
  return new sqlite.Database(path);
}
