import { StoreUnavailableError } from "../../core/errors.ts";
import { builtinModule } from "../../core/host.ts";
import type { FileDatabase } from "../sqlite-file/database.ts";

interface BunSqlite {
  readonly Database: new (path: string) => FileDatabase;
}

/** Opens a database with `bun:sqlite`.
 *  @throws {StoreUnavailableError} when the runtime is not Bun */
export function openDatabase(path: string): FileDatabase {
  // The module is asked for and not imported, so that tools that do not know Bun can read and bundle this file.
  const sqlite = builtinModule("bun:sqlite") as BunSqlite | undefined;
  if (sqlite === undefined) {
    throw new StoreUnavailableError(
      'this is the form of escapement/sqlite for Bun: set the condition "bun" in a bundler for Bun alone',
    );
  }
  return new sqlite.Database(path);
}
