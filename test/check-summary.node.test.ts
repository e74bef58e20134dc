import { describe, expect, test, vi } from "vitest";
import { PARTS, parseOptions } from "../scripts/check-options.mjs";
import { STARTING_ORDER } from "../scripts/check-parts.mjs";
import { countRun, formatFailure, formatRow, formatTotal } from "../scripts/check-summary.mjs";
import { inLanes } from "../scripts/lib/lanes.mjs";

describe("the summary of npm test", () => {
  const ended = { exitCode: 0, problem: null };
  const report = { passed: 3, failed: 0, skipped: [{}] };

  test("has a line per runtime and a total", () => {
    const node = { name: "node", passed: 123, failed: 0, skipped: 1, durationMs: 12_345 };
    const bun = { name: "bun", passed: 100, failed: 2, skipped: 0, durationMs: 900 };
    expect(formatRow(node)).toBe("node     123 passed, 0 failed, 1 skipped (12.3 s)");
    expect(formatTotal([node, bun])).toBe("223 passed, 2 failed, 1 skipped");
  });

  test("counts what the report says", () => {
    expect(countRun(ended, report, { mayBeEmpty: false })).toEqual({ passed: 3, failed: 0, skipped: 1 });
  });

  test("never counts a runtime that did not run as passed", () => {
    const empty = { passed: 0, failed: 0, skipped: [] };
    expect(countRun(ended, null, { mayBeEmpty: true }).failed).toBe(1);
    expect(countRun(ended, empty, { mayBeEmpty: false }).failed).toBe(1);
    expect(countRun({ exitCode: 1, problem: null }, report, { mayBeEmpty: false }).failed).toBe(1);
    expect(countRun({ exitCode: null, problem: "hung" }, report, { mayBeEmpty: false }).failed).toBe(1);
    expect(countRun(ended, empty, { mayBeEmpty: true }).failed).toBe(0);
  });
});

describe("a command that failed", () => {
  test("is shown with its output and how it ended, a little to the right", () => {
    const ended = { exitCode: 2, output: "one\ntwo\n\n", problem: null };
    expect(formatFailure(["tsc", "-p", "."], ended)).toBe("  $ tsc -p .\n  one\n  two\n  exit code 2");
    expect(formatFailure(["tsc"], { ...ended, problem: "hung" })).toBe("  $ tsc\n  one\n  two\n  hung");
  });
});

describe("parts that run in lanes", () => {
  test("begin in their order as lanes become free, and answer in that order", async () => {
    const log: string[] = [];
    const ends = new Map<string, () => void>();
    const running = inLanes(["node", "checks", "workerd"], 2, (name) => {
      log.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(`${name} ended`)));
    });
    expect(log).toEqual(["node", "checks"]);
    ends.get("checks")?.();
    await vi.waitUntil(() => ends.has("workerd"));
    ends.get("workerd")?.();
    ends.get("node")?.();
    expect(await running).toEqual(["node ended", "checks ended", "workerd ended"]);
  });

  test("include every part that there is", () => {
    expect([...STARTING_ORDER].sort()).toEqual([...PARTS].sort());
  });
});

describe("the options of npm test", () => {
  test("run every part by default, and the suites alone for a file filter", () => {
    expect([...parseOptions([]).parts]).toEqual(["checks", "node", "deno", "bun", "workerd"]);
    expect([...parseOptions(["triggers"]).parts]).toEqual(["node", "deno", "bun", "workerd"]);
  });

  test("take parts as a list, and what follows as file filters", () => {
    const options = parseOptions(["--only", "node,bun", "--fast", "triggers"]);
    expect([...options.parts]).toEqual(["node", "bun"]);
    expect(options).toMatchObject({ isFast: true, filters: ["triggers"] });
  });

  test("refuse a part that does not exist, naming those that do", () => {
    expect(() => parseOptions(["--only", "nod"])).toThrow('checks, node, deno, bun, workerd; got "nod"');
    expect(() => parseOptions(["--fats"])).toThrow("--fats");
  });

  test("take a number of busy loops, and none by default", () => {
    expect([parseOptions([]).busyLoops, parseOptions(["--busy", "4"]).busyLoops]).toEqual([0, 4]);
    expect(() => parseOptions(["--busy", "many"])).toThrow('--busy takes a number up to 99; got "many"');
  });
});
