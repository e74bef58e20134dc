import { codeOf, type FailureKind, messageOf } from "../sql/driver/driver-and-failures.ts";
import { sqliteFailureKind } from "../sql/sqlite/driver/driver-and-failures.ts";

/** Codes for a lost or refused connection, of the client and of hrana, the client's protocol. */
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
]);

/** What an error of a libSQL client means for what to do next. */
export function failureKind(error: unknown): FailureKind {
  const code = codeOf(error);
  if (code === "RESPONSE_TOO_LARGE" || isTooLarge(code, messageOf(error))) return "tooLarge";
  // A client or a server that does not take a value says so before anything is written.
  if (code === "ARGS_INVALID") return "refused";
  const kind = sqliteFailureKind(error);
  if (kind === "refused" || kind === "tooLarge") return kind;
  // An HTTP status of 4xx (a wrong token, a wrong path) stays the same however often the request is repeated. The
  // exceptions are 408 (the server is slow) and 429 (the server has too much to do).
  if (code === "SERVER_ERROR" && /HTTP status 4(?!08|29)\d\d\b/.test(messageOf(error))) return "unavailable";
  if (CONNECTION_CODES.has(code)) return "connection";
  // `fetch` rejects with a TypeError or a DOMException, Node's sockets with ECONNREFUSED and the like.
  if (error instanceof TypeError || nameOf(error) === "TimeoutError" || nameOf(error) === "AbortError") {
    return "connection";
  }
  return isSocketCode(code) || isRetryable(error) ? "connection" : kind;
}

/** A value above the server's limit (5 MB for sqld), or a request above the limit of what stands in front of it. */
function isTooLarge(code: string, message: string): boolean {
  return (
    (code === "ARGS_INVALID" && /too big/i.test(message)) ||
    (code === "SERVER_ERROR" && /HTTP status 413\b/.test(message))
  );
}

/** What users should do about a failure that is not SQLite's own; empty where the advice is unknown. */
export function adviceFor(error: unknown): string {
  const code = codeOf(error);
  if (/\b401\b|\b403\b|auth/i.test(messageOf(error))) return "check the authToken";
  if (code.startsWith("URL_") || code === "HRANA_PROTO_ERROR" || /HTTP status 40[45]\b/.test(messageOf(error))) {
    return "check the url";
  }
  if (code === "RESPONSE_TOO_LARGE" || isTooLarge(code, messageOf(error))) return "add less in one call";
  return failureKind(error) === "connection" ? "check that the server runs and can be reached" : "";
}

/** How workerd marks a plain Error that stands for a lost or refused connection
 *  (developers.cloudflare.com/durable-objects, "Error handling"). */
function isRetryable(error: unknown): boolean {
  return typeof error === "object" && error !== null && "retryable" in error && error.retryable === true;
}

/** ECONNRESET, EAI_AGAIN and the other codes of Node's sockets; UND_ERR_SOCKET and the others of its `fetch`. */
function isSocketCode(code: string): boolean {
  return /^(E[A-Z_]+|UND_ERR_[A-Z_]+)$/.test(code);
}

function nameOf(error: unknown): string {
  return typeof error === "object" && error !== null && "name" in error ? String(error.name) : "";
}
