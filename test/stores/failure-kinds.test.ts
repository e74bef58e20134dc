import { describe, expect, test } from "vitest";
import { failureKind as libsqlFailureKind } from "../../src/stores/libsql/failures.ts";
import type { FailureKind } from "../../src/stores/sqlite/driver.ts";
import { sqliteFailureKind } from "../../src/stores/sqlite/failures.ts";

/** An error as a client makes it: with facts beside the message. */
function failure(message: string, facts: Record<string, unknown> = {}): Error {
  return Object.assign(new Error(message), facts);
}

const OF_SQLITE: [string, Error, FailureKind][] = [
  ["a lock", failure("database is locked", { code: "SQLITE_BUSY" }), "busy"],
  ["an overtaken snapshot", failure("database is locked", { code: "SQLITE_BUSY_SNAPSHOT" }), "busy"],
  ["a lock, by its number", failure("database is locked", { code: "ERR_SQLITE_ERROR", errcode: 5 }), "busy"],
  ["an overtaken snapshot, by its number", failure("database is locked", { errcode: 517 }), "busy"],
  ["a lock, without a code", failure("database is locked"), "busy"],
  ["a lock, in the message alone", failure("D1_ERROR: database is locked: SQLITE_BUSY"), "busy"],
  ["a lock, as the cause", failure("batch failed", { cause: failure("locked", { code: "SQLITE_LOCKED" }) }), "busy"],
  ["a value that a column refuses", failure("NOT NULL", { code: "SQLITE_CONSTRAINT_NOTNULL" }), "refused"],
  ["a value that a column refuses, by its number", failure("NOT NULL", { errcode: 1299 }), "refused"],
  ["a value of a wrong type", failure("datatype mismatch", { code: "SQLITE_MISMATCH" }), "refused"],
  ["text that is too long", failure("string or blob too big", { code: "SQLITE_TOOBIG" }), "tooLarge"],
  ["text that is too long, by its number", failure("string or blob too big", { errcode: 18 }), "tooLarge"],
  ["a batch that undid itself", failure("bad JSON path: 'escapement guard'", { code: "SQLITE_ERROR" }), "guard"],
  ["text that is no JSON", failure("malformed JSON", { code: "SQLITE_ERROR" }), "refused"],
  ["a value that the client cannot pass on", new TypeError("Unsupported type of value"), "refused"],
  ["a number that is none", new RangeError("Only finite numbers can be passed as arguments"), "refused"],
  ["a value that Node cannot pass on", failure("no", { code: "ERR_INVALID_ARG_TYPE" }), "refused"],
  ["a value that Bun cannot pass on", new TypeError("Binding expected string, number or null"), "refused"],
  ["a database that is closed", new RangeError("Cannot use a closed database"), "unavailable"],
  [
    "an answer too long for the runtime",
    failure("Cannot create a string", { code: "ERR_STRING_TOO_LONG" }),
    "tooLarge",
  ],
  ["a text too long for the runtime", new RangeError("Invalid string length"), "tooLarge"],
  ["a full disk", failure("database or disk is full", { code: "SQLITE_FULL" }), "unavailable"],
  ["a disk that fails", failure("disk I/O error", { errcode: 778 }), "unavailable"],
  ["a file that became shorter", failure("disk I/O error", { errcode: 522 }), "connection"],
  ["a file that cannot be written", failure("readonly", { code: "SQLITE_READONLY" }), "unavailable"],
  ["a damaged file", failure("database disk image is malformed", { code: "SQLITE_CORRUPT" }), "unavailable"],
  ["a file that is no database", failure("file is not a database", { errcode: 26 }), "unavailable"],
  ["a table that is missing", failure("no such table: x", { code: "SQLITE_ERROR" }), "unavailable"],
  ["what nobody foresaw", failure("?"), "unavailable"],
];

const OF_LIBSQL: [string, Error, FailureKind][] = [
  ["a lost connection", new TypeError("fetch failed"), "connection"],
  ["a refused connection", failure("connect", { code: "ECONNREFUSED" }), "connection"],
  ["a socket that ends, as the cause", failure("x", { cause: failure("y", { code: "UND_ERR_SOCKET" }) }), "connection"],
  ["a server that is closing", failure("HTTP status 503", { code: "SERVER_ERROR" }), "connection"],
  ["a server with too much to do", failure("HTTP status 429", { code: "SERVER_ERROR" }), "connection"],
  ["a wrong token", failure("HTTP status 401", { code: "SERVER_ERROR" }), "unavailable"],
  ["an answer above the limit", failure("too large", { code: "RESPONSE_TOO_LARGE" }), "tooLarge"],
  ["a value above the server's limit", failure("string or blob too big", { code: "ARGS_INVALID" }), "tooLarge"],
  ["a value that the server cannot read", failure("Arguments do not match", { code: "ARGS_INVALID" }), "refused"],
  ["a request above the limit", failure("HTTP status 413", { code: "SERVER_ERROR" }), "tooLarge"],
  ["an object of workerd's that was moved", failure("Network connection lost.", { retryable: true }), "connection"],
];

describe("a failure of SQLite is told apart:", () => {
  for (const [name, error, kind] of OF_SQLITE) {
    test(`${name} is ${kind}`, () => expect(sqliteFailureKind(error)).toBe(kind));
  }
});

describe("a failure of a libSQL client is told apart:", () => {
  for (const [name, error, kind] of [...OF_SQLITE, ...OF_LIBSQL]) {
    // The numbers are what other clients give.
    if (!("errcode" in error)) test(`${name} is ${kind}`, () => expect(libsqlFailureKind(error)).toBe(kind));
  }
});
