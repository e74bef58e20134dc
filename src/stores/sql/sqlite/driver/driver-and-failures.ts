import { codeOf, type FailureKind, messageOf, PARENTS_GUARD, resultCode } from "../../driver/driver-and-failures.ts";
import { LOG_BYTES_MAX } from "../../limits.ts";
import { WAL_CHECKPOINT_PAGES } from "../limits.ts";

/** The statement that prepares a new database file. The journal mode belongs to the file, and stays with the file. */
export const FILE_MODE = "PRAGMA journal_mode = WAL";

/** The statements that set up each connection to a database file. */
export function connectionSettings(durability: "full" | "normal"): string[] {
  return [
    `PRAGMA synchronous = ${durability.toUpperCase()}`,
    `PRAGMA wal_autocheckpoint = ${WAL_CHECKPOINT_PAGES}`,
    `PRAGMA journal_size_limit = ${LOG_BYTES_MAX}`,
    // Otherwise the data that a statement of many rows needs to undo itself goes to a temporary file.
    "PRAGMA temp_store = MEMORY",
  ];
}

/** The text in SQLite's error when a batch undoes itself. */
const GUARD = "escapement guard";

/**
 * SQL that fails when a condition does not hold, and so undoes the whole batch, because a batch has no other way to
 * branch. No damaged row can fail with the same text.
 */
export function guardSql(condition: string): string {
  // SQLite, in every version, shows an invalid JSON path in its error.
  return `json_extract('{}', CASE WHEN ${condition} THEN '$' ELSE '${GUARD}' END)`;
}

/**
 * What an error of SQLite means for what to do next, however the client writes its result code.
 *
 * @example
 * failureKind(error) {
 *   return sqliteFailureKind(error);
 * }
 */
export function sqliteFailureKind(error: unknown): FailureKind {
  const message = messageOf(error);
  if (message.includes(GUARD)) return "guard";
  if (message.includes(PARENTS_GUARD)) return "refused";
  const code = resultCode(error);
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) return "busy";
  if (code.startsWith("SQLITE_TOOBIG") || isTooLongHere(error)) return "tooLarge";
  if (/^SQLITE_(CONSTRAINT|MISMATCH|RANGE)/.test(code) || isMalformed(error)) return "refused";
  // Seen where another process made the file shorter during the read.
  if (code === "SQLITE_IOERR_SHORT_READ") return "connection";
  return "unavailable";
}

/** Text that is longer than the runtime can hold, on its way in or out. */
function isTooLongHere(error: unknown): boolean {
  return codeOf(error) === "ERR_STRING_TOO_LONG" || messageOf(error) === "Invalid string length";
}

/** A value that the client cannot pass on, or text that the statement cannot read. */
function isMalformed(error: unknown): boolean {
  if (/malformed JSON/i.test(messageOf(error))) return true;
  if (/^ERR_(INVALID_ARG_TYPE|INVALID_ARG_VALUE|OUT_OF_RANGE)$/.test(codeOf(error))) return true;
  const isAboutValues = error instanceof TypeError || error instanceof RangeError;
  return isAboutValues && /\bbind|passed as arguments?\b|Unsupported type of value/i.test(messageOf(error));
}
