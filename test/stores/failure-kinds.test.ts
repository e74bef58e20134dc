import { describe, expect, test } from "vitest";
import { cloudflareAdviceFor, cloudflareFailureKind } from "../../src/stores/cloudflare-sqlite/failures.ts";
import { DurableObjectDriver } from "../../src/stores/durable-object/store.ts";
import { failureKind as libsqlFailureKind } from "../../src/stores/libsql/failures.ts";
import type { FailureKind } from "../../src/stores/sql/driver/driver-and-failures.ts";
import { sqliteFailureKind } from "../../src/stores/sql/sqlite/driver/driver-and-failures.ts";

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

/** As D1 and Durable Objects say it: without a code. */
const OF_CLOUDFLARE: [string, Error, FailureKind][] = [
  ["a lost connection", failure("D1_ERROR: Network connection lost."), "connection"],
  ["an object that was moved", failure("Network connection lost.", { retryable: true }), "connection"],
  ["a mark of the cause", failure("D1_ERROR: ?", { cause: failure("?", { retryable: true }) }), "connection"],
  ["a reset", failure("D1_ERROR: Internal error in D1 DB storage caused object to be reset."), "connection"],
  [
    "a reset at the start",
    failure("D1_ERROR: Internal error while starting up D1 DB storage caused object to be reset."),
    "connection",
  ],
  [
    "a reset after a long wait",
    failure("D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset."),
    "connection",
  ],
  ["a new version", failure("D1_ERROR: D1 DB reset because its code was updated."), "connection"],
  ["a new version of the object", failure("Durable Object reset because its code was updated."), "connection"],
  [
    "a node with trouble",
    failure("D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node."),
    "connection",
  ],
  ["an answer of a proxy", failure("D1_ERROR: Failed to parse body as JSON, got: <html>"), "connection"],
  ["an internal error", failure("D1_ERROR: internal error; reference = 1a2b"), "connection"],
  ["too much to do", failure("D1_ERROR: D1 DB is overloaded. Requests queued for too long."), "unavailable"],
  ["too much to do, by its mark", failure("?", { overloaded: true, retryable: true }), "unavailable"],
  ["too much CPU time", failure("D1_ERROR: D1 DB exceeded its CPU time limit and was reset."), "unavailable"],
  ["too much memory", failure("D1_ERROR: D1 DB exceeded its memory limit and was reset."), "unavailable"],
  ["a full database", failure("D1_ERROR: Exceeded maximum DB size."), "unavailable"],
  ["a full disk, without a code", failure("D1_ERROR: database or disk is full: SQLITE_FULL"), "unavailable"],
  ["no requests left", failure("Too many subrequests."), "unavailable"],
  ["no requests left, by D1", failure("D1_ERROR: Too many API requests by single worker invocation."), "unavailable"],
  ["a value of a wrong type", failure("D1_TYPE_ERROR: Type 'undefined' not supported"), "refused"],
  [
    "a key that exists",
    failure("D1_ERROR: UNIQUE constraint failed: a.b: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_PRIMARYKEY)"),
    "refused",
  ],
  ["text that is too long, without a code", failure("D1_ERROR: string or blob too big: SQLITE_TOOBIG"), "tooLarge"],
  ["a batch that undid itself", failure("D1_ERROR: bad JSON path: 'escapement guard': SQLITE_ERROR"), "guard"],
  ["a statement that is not allowed", failure("D1_ERROR: not authorized: SQLITE_AUTH"), "unavailable"],
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

describe("a failure of D1 or of a Durable Object is told apart:", () => {
  for (const [name, error, kind] of OF_CLOUDFLARE) {
    test(`${name} is ${kind}`, () => expect(cloudflareFailureKind(error)).toBe(kind));
  }

  test("what users can do about it is said", () => {
    const advice = OF_CLOUDFLARE.map(([name, error]) => [name, cloudflareAdviceFor(error)]).filter(([, text]) => text);
    expect(Object.fromEntries(advice)).toEqual({
      "too much to do": "the database has too much to do; ask it less often",
      "too much to do, by its mark": "the database has too much to do; ask it less often",
      "too much CPU time": "do less in one call",
      "too much memory": "do less in one call",
      "a full database": "the database or the account is full; remove what is not needed",
      "no requests left": "the invocation has used up its requests; do less in one invocation",
      "no requests left, by D1": "the invocation has used up its requests; do less in one invocation",
    });
  });

  test("within an object that was reset, nothing is repeated", () => {
    const driver = new DurableObjectDriver({
      sql: { exec: () => ({ toArray: () => [] }) },
      transactionSync: (run) => run(),
    });
    const error = failure("Durable Object reset because its code was updated.");
    expect(driver.failureKind(error)).toBe("unavailable");
    expect(driver.adviceFor(error)).toBe("the next request or alarm gets a new object");
  });
});
