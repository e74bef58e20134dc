import { expect, test } from "vitest";
import { PARAMETER_BYTES_MAX } from "../../src/stores/sql/limits.ts";
import { instantKey, memberParameters } from "../../src/stores/sql/sql-and-json.ts";

test("rows with keys become the members of one object, in their order", () => {
  const rows = [
    ["b", '{"n":1}'],
    ['a"\\é', 2],
  ] as const;
  expect(memberParameters(rows)).toEqual([{ text: '{"b":{"n":1},"a\\"\\\\é":2}', count: 2 }]);
  expect(memberParameters([])).toEqual([]);
});

test("members that are too large together travel in several objects", () => {
  const json = JSON.stringify("x".repeat(PARAMETER_BYTES_MAX / 2));
  const parameters = memberParameters([
    ["a", json],
    ["b", json],
    ["c", 1],
  ]);
  expect(parameters).toEqual([
    { text: `{"a":${json}}`, count: 1 },
    { text: `{"b":${json},"c":1}`, count: 2 },
  ]);
});

test("a key holds the instant before the id", () => {
  expect([instantKey(-12, "7 x"), instantKey(8_640_000_000_000_000, "a")]).toEqual([
    "-12                 7 x",
    "8640000000000000    a",
  ]);
});
