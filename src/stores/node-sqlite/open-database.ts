import { StoreUnavailableError } from "../../core/errors.ts";
import { builtinModule } from "../../core/host.ts";
import type { FileDatabase } from "../sqlite-file/database.ts";

interface NodeSqlite {
  readonly DatabaseSync: new (path: string) => FileDatabase;
}

/** Opens a database with `node:sqlite`, of Node and Deno.
 *  @throws {StoreUnavailableError} when the runtime has no SQLite */
export function openDatabase(path: string): FileDatabase {
  // The module is asked for and not imported, because a failed import would not say what to do.
  const sqlite = builtinModule("node:sqlite") as NodeSqlite | undefined;
  if (sqlite === undefined) {
    throw new StoreUnavailableError(
      "escapement/sqlite needs a runtime that brings SQLite along: Node 22.13 or later, Deno, or Bun. Update the " +
        "runtime, or use LibsqlDataStore of escapement/libsql, which opens the same files",
    );
  }
  return new sqlite.DatabaseSync(path);
}
