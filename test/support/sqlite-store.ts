import { SqliteDataStore as BunSqliteDataStore } from "../../src/stores/bun-sqlite/mod.ts";
import { openDatabase as openBunDatabase } from "../../src/stores/bun-sqlite/open-database.ts";
import { SqliteDataStore as NodeSqliteDataStore } from "../../src/stores/node-sqlite/mod.ts";
import { openDatabase as openNodeDatabase } from "../../src/stores/node-sqlite/open-database.ts";
import type { OpenDatabase } from "../../src/stores/sqlite-file/database.ts";

// Export conditions choose between the two for users; here are the sources, of which each loads on every runtime.
const isBun = "Bun" in globalThis;
const host = globalThis as { process?: { getBuiltinModule?(id: string): unknown } };

/** The `SqliteDataStore` that this runtime gets of `escapement/sqlite`. */
export const SqliteDataStore: typeof NodeSqliteDataStore = isBun ? BunSqliteDataStore : NodeSqliteDataStore;
export const openDatabase: OpenDatabase = isBun ? openBunDatabase : openNodeDatabase;

/** Why it cannot be opened here, or null. */
export const whyNoSqlite: string | null =
  isBun || host.process?.getBuiltinModule?.("node:sqlite") !== undefined
    ? null
    : "this Node brings no SQLite along: it does from 22.13 on";
