import { WAL_CHECKPOINT_PAGES } from "./limits.ts";

/** The statement that prepares a new database file. The journal mode belongs to the file, and stays with the file. */
export const FILE_MODE = "PRAGMA journal_mode = WAL";

/** The statements that set up each connection to a database file. */
export function connectionSettings(durability: "full" | "normal"): string[] {
  return [
    `PRAGMA synchronous = ${durability.toUpperCase()}`,
    `PRAGMA wal_autocheckpoint = ${WAL_CHECKPOINT_PAGES}`,
    // Otherwise the data that a statement of many rows needs to undo itself goes to a temporary file.
    "PRAGMA temp_store = MEMORY",
  ];
}
