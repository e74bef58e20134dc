import { describe, expect, test } from "vitest";
import { compareExports } from "./architecture/exports-maps.ts";
import { ACCEPTED, VIOLATIONS } from "./architecture/fixtures.ts";
import { checkFile } from "./architecture/rules.ts";
import { denoManifest, packageManifest, sourceFiles } from "./architecture/sources.ts";
import { tokenize } from "./architecture/tokens.ts";

describe("the sources", () => {
  test("keep to their levels, packages, host globals and time", () => {
    expect(sourceFiles.length).toBeGreaterThan(0);
    const violations = sourceFiles.flatMap(([path, text]) => checkFile(path, text));
    expect(violations.map(({ rule, path, line, message }) => `${path}:${line} [${rule}] ${message}`)).toEqual([]);
  });

  test("are offered by package.json and deno.json under the same names", () => {
    expect(compareExports(packageManifest, denoManifest)).toEqual([]);
  });
});

describe("the rules", () => {
  test.each(VIOLATIONS)("refuse $name", ({ path, text, breaks }) => {
    expect(checkFile(path, text).map(({ rule }) => rule)).toEqual([breaks]);
  });

  test.each(ACCEPTED)("accept $name", ({ path, text }) => {
    expect(checkFile(path, text)).toEqual([]);
  });

  test("name the line of a violation", () => {
    const text = "/* one\n two */\nconst a = `\n\n`;\nDate.now();";
    expect(checkFile("src/stores/memory/store.ts", text)).toEqual([
      {
        rule: "time",
        path: "src/stores/memory/store.ts",
        line: 6,
        message: "Date.now belongs to core; take a Clock or a RandomSource",
      },
    ]);
  });

  test("read a division as a division, not as a regular expression", () => {
    expect(tokenize("const a = (b) / 2; Date.now() / c").map(({ value }) => value)).toContain("now");
  });
});

describe("the comparison of exports maps", () => {
  const entry = { types: "./dist/mod.d.ts", default: "./dist/mod.js" };

  test("accepts maps that offer the same, package.json itself aside", () => {
    const npm = {
      exports: { ".": entry, "./package.json": "./package.json" },
      imports: { "#a": { default: "./a.js" } },
    };
    expect(compareExports(npm, { exports: { ".": "./src/mod.ts" }, imports: { "#a": "./a.js" } })).toEqual([]);
  });

  test("names what differs", () => {
    const npm = { exports: { ".": entry, "./npm": entry }, imports: { "#a": { default: "./a.js" } } };
    const jsr = { exports: { ".": "./src/core/mod.ts", "./jsr": "./src/jsr.ts" }, imports: { "#a": "./b.js" } };
    expect(compareExports(npm, jsr)).toEqual([
      ". is ./dist/mod.js, and not ./dist/core/mod.js",
      ". has the types ./dist/mod.d.ts, not ./dist/core/mod.d.ts",
      "./npm is not in deno.json",
      "./jsr is not in package.json",
      "#a is ./b.js in deno.json, not ./a.js",
    ]);
  });
});
