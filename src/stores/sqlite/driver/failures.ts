import { StoreRefusedError, StoreUnavailableError } from "../../../core/errors.ts";
import type { FailureKind } from "./driver.ts";

/** SQLite's result codes (sqlite.org/rescode.html) that mean something to the store. Some clients give only the number
 *  of a code. */
const RESULT_CODES: Readonly<Record<number, string>> = {
  1: "SQLITE_ERROR",
  5: "SQLITE_BUSY",
  6: "SQLITE_LOCKED",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  18: "SQLITE_TOOBIG",
  19: "SQLITE_CONSTRAINT",
  20: "SQLITE_MISMATCH",
  26: "SQLITE_NOTADB",
  522: "SQLITE_IOERR_SHORT_READ",
};

/** The text in SQLite's error when a batch undoes itself. */
const GUARD = "escapement guard";

/** Text in SQLite's error when a job has a parent that the store does not know. */
export const PARENTS_GUARD = "escapement: a job in `after` is unknown";

/**
 * SQL that fails when a condition does not hold, and so undoes the whole batch, because a batch has no other way to
 * branch. No damaged row can fail with the same text.
 */
export function guardSql(condition: string): string {
  // SQLite, in every version, shows an invalid JSON path in its error.
  return `json_extract('{}', CASE WHEN ${condition} THEN '$' ELSE '${GUARD}' END)`;
}

/** Most errors in a chain of causes that are looked at. */
const CAUSES_MAX = 5;

/** What an error of SQLite means for the next step, however the client writes its result code. */
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

/** Whether an error, or its cause, says that a parent is unknown. */
export function isAboutParents(error: unknown): boolean {
  return causesOf(error).some(({ message }) => typeof message === "string" && message.includes(PARENTS_GUARD));
}

/** The error that users get. It says what happened, and what to do. */
export function storeError(
  kind: FailureKind,
  doing: string,
  where: string,
  error: unknown,
  driverAdvice = "",
): StoreUnavailableError | StoreRefusedError {
  const shown = adviceFor(error) || driverAdvice;
  const message = `${doing} ${where} failed: ${messageOf(error)}${shown === "" ? "" : `; ${shown}`}`;
  const isRefused = kind === "refused" || kind === "tooLarge";
  return isRefused
    ? new StoreRefusedError(message, { cause: error })
    : new StoreUnavailableError(message, { cause: error });
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

/** The first `code` in an error or its causes that is text. */
export function codeOf(error: unknown): string {
  for (const { code } of causesOf(error)) if (typeof code === "string") return code;
  return "";
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function adviceFor(error: unknown): string {
  const code = resultCode(error);
  if (code.startsWith("SQLITE_NOTADB")) return "the file is not an SQLite database; name another file";
  if (code.startsWith("SQLITE_CORRUPT")) return "the database is damaged; restore it from a backup";
  if (code.startsWith("SQLITE_READONLY")) {
    return "the database cannot be written; give this process write permission to the file and to its folder";
  }
  if (code.startsWith("SQLITE_FULL")) return "the disk or the database's quota is full; free space and try again";
  // SQLite reports a full disk so when it cannot grow the files beside the database.
  if (code.startsWith("SQLITE_IOERR")) return "the disk is full, or fails; free space, and check it";
  if (code.startsWith("SQLITE_CANTOPEN") || /unable to open/i.test(messageOf(error))) {
    // The message does not tell whether it means the file itself or a file that a statement needs beside it.
    return (
      "create the folder first if it is missing; where the database or the files beside the database (-wal, -shm) " +
      "cannot be made, give this process write permission to its folder"
    );
  }
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return "another process holds the database's lock all the time; look for a transaction that stays open";
  }
  return code.startsWith("SQLITE_TOOBIG") ? "add less in one call" : "";
}

/** SQLite's name for what went wrong (`SQLITE_BUSY`), or empty. The name of an extended code begins with the name of
 *  its primary code. */
function resultCode(error: unknown): string {
  for (const { code, errcode, message } of causesOf(error)) {
    if (typeof code === "string" && code.startsWith("SQLITE_")) return code;
    if (typeof errcode === "number") return RESULT_CODES[errcode] ?? RESULT_CODES[errcode % 256] ?? "";
    if (message === "database is locked") return "SQLITE_BUSY";
    const named = typeof message === "string" && /\bSQLITE_[A-Z]+(_[A-Z]+)*/.exec(message);
    if (named) return named[0];
  }
  return "";
}

type ErrorFacts = Partial<Record<"code" | "errcode" | "message", unknown>>;

function causesOf(error: unknown): ErrorFacts[] {
  const causes: ErrorFacts[] = [];
  for (let current = error; causes.length < CAUSES_MAX && typeof current === "object" && current !== null; ) {
    causes.push(current);
    current = "cause" in current ? current.cause : null;
  }
  return causes;
}
