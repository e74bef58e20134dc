import { describe, expect, test } from "vitest";
import { formatMatrix, isGreen, rowWithoutRun } from "../scripts/lib/matrix-table.mjs";

describe("the matrix of runtimes", () => {
  const counts = { passed: 120, failed: 0, skipped: 3, durationMs: 61_234, problem: null };
  const reasons = ["no node:sqlite", "no server", "no node:sqlite"];
  const node = { name: "node20", version: "20.19.0", temporal: "undefined", ...counts, reasons };
  const deno = { ...node, name: "deno", version: "2.9.5", temporal: "object", skipped: 0, reasons: [] };

  test("is a table, and says why tests were skipped and what did not run", () => {
    expect(formatMatrix([node, deno, rowWithoutRun("chromium", "it is missing")]).split("\n")).toEqual([
      "| runtime  | version | Temporal   | passed      | failed | skipped | time |",
      "|----------|---------|------------|-------------|--------|---------|------|",
      "| node20   | 20.19.0 | polyfilled | 120         | 0      | 3       | 61 s |",
      "| deno     | 2.9.5   | native     | 120         | 0      | 0       | 61 s |",
      "| chromium | -       | -          | did not run | -      | -       | -    |",
      "",
      "node20 skipped 2: no node:sqlite",
      "node20 skipped 1: no server",
      "chromium did not run: it is missing",
    ]);
  });

  test("is green when every runtime ran and failed nothing", () => {
    expect(isGreen([node, deno])).toBe(true);
    expect(isGreen([node, { ...deno, failed: 1 }])).toBe(false);
    expect(isGreen([node, { ...deno, passed: 0 }])).toBe(false);
    expect(isGreen([node, rowWithoutRun("chromium", "it is missing")])).toBe(false);
    expect(isGreen([])).toBe(false);
  });
});
