import { describe, expect, test } from "vitest";
import { OptionsError, StoreUnavailableError } from "../../src/core/errors.ts";
import { T0 } from "../../src/testing/data-store-contract/makers.ts";
import { SqliteDataStore, whyNoSqlite } from "../support/sqlite-store.ts";

describe("options of SqliteDataStore", () => {
  const refused: [string, unknown, unknown, RegExp][] = [
    ["no path", {}, {}, /path/],
    ["an empty path", { path: "" }, {}, /path of a file/],
    ["a url", { path: "file:jobs.db" }, {}, /path must be a path, not a URL; got "file:jobs.db": leave out `file:`$/],
    ["a url by its own name", { url: "jobs.db" }, {}, /path is missing.*\n- url is no option; did you mean "path"\?$/s],
    ["a path alone", "jobs.db", {}, /takes { path }; got "jobs.db": write { path: "jobs.db" }$/],
    [
      "an option among the connection",
      { path: "x", durability: "normal" },
      {},
      /durability is no option here; it comes/,
    ],
    [
      "an unknown option",
      { path: ":memory:" },
      { tableprefix: "x" },
      /tableprefix is no option; did you mean "tablePrefix"\?$/,
    ],
    ["a prefix that is no name", { path: ":memory:" }, { tablePrefix: "a b" }, /tablePrefix must be letters/],
    ["a prefix with a quote", { path: ":memory:" }, { tablePrefix: 'x"; DROP TABLE y; --' }, /tablePrefix/],
    ["a prefix of SQLite's own", { path: ":memory:" }, { tablePrefix: "sqlite_x" }, /tablePrefix/],
    ["an unknown durability", { path: ":memory:" }, { durability: "none" }, /durability must be "full" or "normal"/],
    ["a serializer without methods", { path: ":memory:" }, { serializer: {} }, /serializer/],
  ];
  for (const [name, connection, options, message] of refused) {
    test(`${name} is refused`, () => {
      // What callers without types can pass.
      const make = (): unknown => Reflect.construct(SqliteDataStore, [connection, options]);
      expect(make).toThrow(OptionsError);
      expect(make).toThrow(message);
    });
  }
});

test("a runtime without SQLite is told what to do", async ({ skip }) => {
  skip(whyNoSqlite === null, "this runtime brings SQLite along");
  const failure = await new SqliteDataStore({ path: ":memory:" }).open(T0).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StoreUnavailableError);
  expect(String(failure)).toMatch(/Node 22\.13 or later, Deno, or Bun/);
});
