import { WAL_CHECKPOINT_PAGES } from "./limits.ts";

/** The statements that make a new database file ready: the journal mode is the file's own and stays with it. */
export const FILE_MODE = "PRAGMA journal_mode = WAL";

/** The statements that set up each connection to a database file. */
export function connectionSettings(durability: "full" | "normal"): string[] {
  return [
    `PRAGMA synchronous = ${durability.toUpperCase()}`,
    `PRAGMA wal_autocheckpoint = ${WAL_CHECKPOINT_PAGES}`,
    // What a statement of many rows needs to undo itself goes to a temporary file otherwise.
    "PRAGMA temp_store = MEMORY",
  ];
}
