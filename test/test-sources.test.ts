import { describe, expect, test } from "vitest";
import { testFiles } from "./architecture/sources.ts";
import { TEST_ACCEPTED, TEST_VIOLATIONS } from "./architecture/test-fixtures.ts";
import { checkTestFile } from "./architecture/test-rules.ts";

test("no test expects anything of the host's clock, or has a time limit of its own", () => {
  expect(testFiles.length).toBeGreaterThan(0);
  const violations = testFiles.flatMap(([path, text]) => checkTestFile(path, text));
  expect(violations.map(({ rule, path, line, message }) => `${path}:${line} [${rule}] ${message}`)).toEqual([]);
});

describe("the rules of tests", () => {
  test.each(TEST_VIOLATIONS)("refuse $name", ({ text, breaks }) => {
    expect(checkTestFile("test/a.test.ts", text).map(({ rule }) => rule)).toEqual([breaks]);
  });

  test.each(TEST_ACCEPTED)("accept $name", ({ text }) => {
    expect(checkTestFile("test/a.test.ts", text)).toEqual([]);
  });

  test("name the line of a violation", () => {
    expect(checkTestFile("test/a.test.ts", "const a = Date.now();\n\nexpect(a)\n  .toBe(5);")).toEqual([
      {
        rule: "clock",
        path: "test/a.test.ts",
        line: 3,
        message: "expects something of a, which the machine's load decides; count the work instead",
      },
    ]);
  });
});
