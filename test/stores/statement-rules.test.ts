import { expect, test } from "vitest";
import { problemsOf } from "./statement-rules.ts";

test("the rules of statements find what D1 and Durable Objects refuse or change", () => {
  const problems = (sql: string, args: readonly unknown[] = [], columns: readonly string[] = []): string[] =>
    problemsOf({ sql, args: args as (string | number | null)[] }, columns).map((text) => text.split(":")[0] ?? "");
  expect(problems("SELECT 'BEGIN', template FROM a WHERE b = ?1", ["PRAGMA", 1.5, null], ["a", "b"])).toEqual([]);
  expect(problems("SELECT 1", Array(101).fill(0))).toEqual(["101 parameters"]);
  expect(problems(`SELECT ${"é".repeat(50_000)}`)).toEqual(["100007 bytes of text"]);
  expect(problems("SELECT ?1", [true, 1n, undefined, Number.NaN])).toEqual([
    "boolean true bound",
    "bigint 1 bound",
    "undefined undefined bound",
    "number NaN bound",
  ]);
  for (const word of ["BEGIN", "PRAGMA", "SAVEPOINT", "ATTACH"])
    expect(problems(`${word} x`)).toEqual([`the word ${word}`]);
  expect(problems("CREATE TEMP TABLE x (a)")).toEqual(["the word TEMP"]);
  expect(problems("SELECT 1 AS a, 2 AS a", [], ["a", "a"])).toEqual(["columns of one name"]);
});
