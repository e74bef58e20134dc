import { StoreUnavailableError } from "../../core/errors.ts";

/**
 * What a failed operation means for the next step:
 * - `busy`: others hold the lock; nothing was written; worth repeating.
 * - `connection`: the answer is lost; whether it was written is unknown; worth repeating.
 * - `tooLarge`: the server refused the size of the answer; nothing was written.
 * - `permanent`: repeating will not help.
 */
export type FailureKind = "busy" | "connection" | "tooLarge" | "permanent";

/** Codes of the client and of hrana, its protocol, that stand for a lost or refused connection. */
const CONNECTION_CODES = new Set([
  // The client was closed and opened anew by another operation of the same store.
  "CLIENT_CLOSED",
  "HRANA_WEBSOCKET_ERROR",
  "HRANA_CLOSED_ERROR",
  "HRANA_PROTO_ERROR",
  "SERVER_ERROR",
  "STREAM_EXPIRED",
  "STREAM_CLOSED",
  "TRANSACTION_TIMEOUT",
  "TRANSACTION_CLOSED",
  "TRANSACTION_BUSY",
  "INTERNAL_ERROR",
  "UNKNOWN",
  "SQLITE_IOERR_SHORT_READ",
]);

/** A remote call that took longer than the store's `timeout`. */
export class TimeoutFailure extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`);
    this.name = "TimeoutFailure";
  }
}

export function failureKind(error: unknown): FailureKind {
  const code = codeOf(error);
  if (code === "RESPONSE_TOO_LARGE" || code === "SQLITE_TOOBIG") return "tooLarge";
  if (error instanceof TimeoutFailure) return "connection";
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) return "busy";
  // An HTTP status of 4xx (a wrong token, a wrong path) stays what it is however often it is asked for, unless it says
  // that the server is slow (408) or has too much to do (429).
  if (code === "SERVER_ERROR" && /\b4(?!08|29)\d\d\b/.test(messageOf(error))) return "permanent";
  if (CONNECTION_CODES.has(code)) return "connection";
  // `fetch` rejects with a TypeError or a DOMException, Node's sockets with ECONNREFUSED and the like.
  if (error instanceof TypeError || nameOf(error) === "TimeoutError" || nameOf(error) === "AbortError") {
    return "connection";
  }
  return isSocketCode(code) || isRetryable(error) ? "connection" : "permanent";
}

/** How workerd marks a plain Error that stands for a lost or refused connection (developers.cloudflare.com/durable-objects,
 *  "Error handling"). */
function isRetryable(error: unknown): boolean {
  return typeof error === "object" && error !== null && "retryable" in error && error.retryable === true;
}

/** ECONNRESET, EAI_AGAIN and the other codes of Node's sockets; UND_ERR_SOCKET and the others of its `fetch`. */
function isSocketCode(code: string): boolean {
  return /^(E[A-Z_]+|UND_ERR_[A-Z_]+)$/.test(code);
}

/** The error that users get: says what happened and what to do. */
export function unavailable(doing: string, where: string, error: unknown): StoreUnavailableError {
  if (error instanceof StoreUnavailableError) return error;
  const advice = adviceFor(error);
  return new StoreUnavailableError(
    `${doing} ${where} failed: ${messageOf(error)}${advice === "" ? "" : `; ${advice}`}`,
    {
      cause: error,
    },
  );
}

function adviceFor(error: unknown): string {
  const code = codeOf(error);
  const message = messageOf(error);
  if (code.startsWith("SQLITE_NOTADB")) return "the file is not an SQLite database; name another file";
  if (code.startsWith("SQLITE_CORRUPT")) return "the database is damaged; restore it from a backup";
  if (code.startsWith("SQLITE_READONLY")) {
    return "the database cannot be written; give this process write permission to the file and to its folder";
  }
  if (code.startsWith("SQLITE_FULL")) return "the disk or the database's quota is full; free space and try again";
  // What a full disk is called where SQLite cannot grow the files beside the database.
  if (code.startsWith("SQLITE_IOERR")) return "the disk is full, or fails; free space, and check it";
  // The native client opens the database without a code of SQLite, so this is about files that a statement needs.
  if (code.startsWith("SQLITE_CANTOPEN")) {
    return "the files beside the database (-wal, -shm) cannot be made; give this process write permission to its folder";
  }
  if (/unable to open/i.test(message)) {
    return "create the folder first, and give this process write permission to it";
  }
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) {
    return "another process holds the database's lock all the time; look for a transaction that stays open";
  }
  if (/\b401\b|\b403\b|auth/i.test(message)) return "check the authToken";
  if (code.startsWith("URL_")) return "check the url";
  if (code === "RESPONSE_TOO_LARGE" || code === "SQLITE_TOOBIG") return "add less in one call";
  return failureKind(error) === "connection" ? "check that the server runs and can be reached" : "";
}

function codeOf(error: unknown): string {
  for (let depth = 0, current = error; depth < 5 && typeof current === "object" && current !== null; depth++) {
    const isOurs = current instanceof StoreUnavailableError;
    if (!isOurs && "code" in current && typeof current.code === "string") return current.code;
    current = "cause" in current ? current.cause : null;
  }
  return "";
}

function nameOf(error: unknown): string {
  return typeof error === "object" && error !== null && "name" in error ? String(error.name) : "";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
