import { expect, test } from "vitest";
import { tableNames } from "../../src/stores/sql/schema/tables.ts";
import { makeStatements } from "../../src/stores/sql/sqlite/all-statements.ts";
import type { FileDatabase } from "../../src/stores/sqlite-file/database.ts";
import { KEPT_STATEMENTS_MAX, KeptStatements } from "../../src/stores/sqlite-file/driver.ts";

/** Names what is prepared and given back. */
function recording(): { readonly database: FileDatabase; readonly log: string[] } {
  const log: string[] = [];
  const database: FileDatabase = {
    prepare(sql) {
      log.push(`prepare ${sql}`);
      return { all: () => [], finalize: () => log.push(`finalize ${sql}`) };
    },
    close: () => {},
  };
  return { database, log };
}

test("a statement is prepared once, until so many others were used since that it is given back", () => {
  const { database, log } = recording();
  const statements = new KeptStatements(database);
  const first = statements.get("first");
  statements.get("second");
  expect(statements.get("first")).toBe(first);
  expect(log).toEqual(["prepare first", "prepare second"]);
  for (let index = 0; index < KEPT_STATEMENTS_MAX - 1; index++) statements.get(`${index}`);
  expect(log.filter((line) => line.startsWith("finalize"))).toEqual(["finalize second"]);
  expect(statements.get("first")).toBe(first);
  statements.clear();
  expect(log.filter((line) => line.startsWith("finalize")).length).toBe(KEPT_STATEMENTS_MAX + 1);
});

test("all statements of a store are kept at once", () => {
  const texts = Object.values(makeStatements(tableNames("escapement_"))).flatMap((sql) =>
    typeof sql === "string" ? sql : Object.values(sql),
  );
  expect(new Set(texts).size).toBeLessThan(KEPT_STATEMENTS_MAX);
});
