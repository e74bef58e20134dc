import { describe, expect, test } from "vitest";
import { OptionsError, StoreUnavailableError } from "../../src/core/errors.ts";
import { T0 } from "../../src/testing/data-store-contract/makers.ts";
import { SqliteDataStore, whyNoSqlite } from "../support/sqlite-store.ts";

describe("options of SqliteDataStore", () => {
  const refused: [string, unknown, unknown, string][] = [
    ["no path", {}, {}, "(connection): path is missing; it must be the path of a file, or :memory:"],
    ...["", " ", "undefined", "null", "./undefined", "/data/undefined", "data/"].map(
      (path): [string, unknown, unknown, string] => [
        `the path ${JSON.stringify(path)}, of a variable that is not set`,
        { path },
        {},
        `(connection): path must be the path of a file, or :memory:; got "${path}": is the environment variable set?`,
      ],
    ),
    ["a path alone", "jobs.db", {}, '(connection) takes { path }; got "jobs.db": write { path: "jobs.db" }'],
    ["an address alone", "file:a.db", {}, '(connection) takes { path }; got "file:a.db": write { path: "a.db" }'],
    ["a URL object", new URL("file:///a"), {}, "(connection) takes { path }; got a URL: write { path }"],
    [
      "a server's address",
      { path: "libsql://jobs.example" },
      {},
      '(connection): path must be a path, not a url; got "libsql://jobs.example": a server\'s database is for new ' +
        "LibsqlDataStore({ url })",
    ],
    [
      "a url",
      { path: "file:jobs.db" },
      {},
      '(connection): path must be a path, not a url; got "file:jobs.db": write { path: "jobs.db" }',
    ],
    [
      "a url by its own name",
      { url: "jobs.db" },
      {},
      '(connection) takes { path }; got { url: "jobs.db" }: write { path: "jobs.db" }',
    ],
    [
      "an option of the store in its connection",
      { path: ":memory:", reset: true },
      {},
      "(connection): reset is no option here; it comes second: new SqliteDataStore(connection, { reset })",
    ],
    [
      "the path among the options",
      { path: ":memory:" },
      { path: "x" },
      "(connection, options): path is no option here; it comes first: new SqliteDataStore({ path })",
    ],
    [
      "an unknown option",
      { path: ":memory:" },
      { tableprefix: "x" },
      '(connection, options): tableprefix is no option; did you mean "tablePrefix"?',
    ],
    [
      "a prefix that is no name",
      { path: ":memory:" },
      { tablePrefix: "a b" },
      "(connection, options): tablePrefix must be letters, digits and _, at most 64, not beginning with a digit; got " +
        '"a b"',
    ],
    [
      "a prefix with a quote",
      { path: ":memory:" },
      { tablePrefix: "x'; --" },
      "(connection, options): tablePrefix must be letters, digits and _, at most 64, not beginning with a digit; got " +
        '"x\'; --"',
    ],
    [
      "a prefix of SQLite's own",
      { path: ":memory:" },
      { tablePrefix: "sqlite_x" },
      "(connection, options): tablePrefix must be another prefix, because names that begin with sqlite_ are SQLite's " +
        'own; got "sqlite_x"',
    ],
    [
      "an unknown durability",
      { path: ":memory:" },
      { durability: "none" },
      '(connection, options): durability must be "full" or "normal"; got "none"',
    ],
    [
      "a serializer without methods",
      { path: ":memory:" },
      { serializer: {} },
      "(connection, options): serializer must be a Serializer; got {}: it lacks serialize(), deserialize()",
    ],
    [
      "a number of retries",
      { path: ":memory:" },
      { retry: 3 },
      "(connection, options): retry must be an object; got 3: write { maxAttempts: 3 }",
    ],
    [
      "no retries",
      { path: ":memory:" },
      { retry: false },
      '(connection, options): retry must be an object; got false: write { maxAttempts: 1, maxBusyDuration: "PT0S" }',
    ],
    [
      "retry settings by other names",
      { path: ":memory:" },
      { retry: { attempts: 3, backoff: { initial: 20 } } },
      [
        "(connection, options): 2 problems",
        '- retry.backoff.initial must be a duration such as "5m" or { minutes: 5 }; got 20: a bare number has no ' +
          "unit; write { seconds: 20 } or { milliseconds: 20 }",
        '- retry.attempts is no option; did you mean "maxAttempts"?',
      ].join("\n"),
    ],
    [
      "no attempt at all",
      { path: ":memory:" },
      { retry: { maxAttempts: 0 } },
      "(connection, options): retry.maxAttempts must be a whole number of 1 or more; got 0",
    ],
    [
      "a number of entries",
      { path: ":memory:" },
      { ledger: 100 },
      "(connection, options): ledger must be true, false or an object such as { maxCount, maxAge }; got 100: write " +
        "{ maxCount: 100 }",
    ],
    [
      "a ledger of nothing",
      { path: ":memory:" },
      { ledger: { maxCount: 0, maxAge: "1s", days: 3 } },
      [
        "(connection, options): 3 problems",
        "- ledger.maxCount must be a whole number from 1 to 1000000; got 0",
        '- ledger.maxAge must be a duration of at least 60000 milliseconds; got "1s"',
        "- ledger.days is no option; the options are maxCount and maxAge",
      ].join("\n"),
    ],
    [
      "a ledger by another name",
      { path: ":memory:" },
      { history: false },
      '(connection, options): history is no option; did you mean "ledger"?',
    ],
    [
      "text for a switch",
      { path: ":memory:" },
      { reset: "yes" },
      '(connection, options): reset must be true or false; got "yes"',
    ],
  ];
  for (const [name, connection, options, message] of refused) {
    test(`${name} is refused, with what to do`, () => {
      // What callers without types can pass.
      let refusal: unknown = null;
      try {
        Reflect.construct(SqliteDataStore, [connection, options]);
      } catch (error) {
        refusal = error;
      }
      expect(refusal).toBeInstanceOf(OptionsError);
      expect((refusal as Error).message).toBe(`new SqliteDataStore${message}`);
    });
  }
});

test("a runtime without SQLite is told what to do", async ({ skip }) => {
  skip(whyNoSqlite === null, "this runtime brings SQLite along");
  const failure = await new SqliteDataStore({ path: ":memory:" }).open(T0).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StoreUnavailableError);
  expect(String(failure)).toMatch(/Node 22\.13 or later, Deno, or Bun/);
});
