import { describe, expect, test } from "vitest";
import { compareExports } from "./architecture/exports-maps.ts";
import { ACCEPTED, CIRCLES, VIOLATIONS } from "./architecture/fixtures.ts";
import { LEVELS, SHARED_NAMES } from "./architecture/levels.ts";
import { checkFile, findCircles, findSharedTypeNames } from "./architecture/rules.ts";
import { architecturePage, assemblyFiles, denoManifest, packageManifest, sourceFiles } from "./architecture/sources.ts";
import { tokenize } from "./architecture/tokens.ts";
import { compareTree, readTree } from "./architecture/tree.ts";

describe("the sources", () => {
  test("keep to their levels, packages, host globals and time", () => {
    expect(sourceFiles.length).toBeGreaterThan(0);
    const violations = sourceFiles.flatMap(([path, text]) => checkFile(path, text));
    expect(violations.map(({ rule, path, line, message }) => `${path}:${line} [${rule}] ${message}`)).toEqual([]);
  });

  test("import each other nowhere, types included, nor do those of the WebAssembly engine", () => {
    expect(assemblyFiles.length).toBeGreaterThan(0);
    expect(findCircles([...sourceFiles, ...assemblyFiles])).toEqual([]);
  });

  test("declare each name of a type in one file", () => {
    expect(findSharedTypeNames(sourceFiles)).toEqual(Object.entries(SHARED_NAMES));
  });

  test("have no line above 120 columns, nor do those of the WebAssembly engine", () => {
    const long = [...sourceFiles, ...assemblyFiles].flatMap(([path, text]) =>
      text.split("\n").flatMap((line, index) => (line.length > 120 ? [`${path}:${index + 1}`] : [])),
    );
    expect(long).toEqual([]);
  });

  test("stand where the tree of docs/architecture.md has them", () => {
    const entries = readTree(architecturePage);
    expect(entries.length).toBeGreaterThan(20);
    expect(
      compareTree(
        entries,
        sourceFiles.map(([path]) => path),
        LEVELS,
      ),
    ).toEqual([]);
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

  test.each(CIRCLES)("find $name", ({ files, circles }) => {
    expect(findCircles(files)).toEqual(circles);
  });

  test("find names of types that several files declare, and no imports of them", () => {
    const files = [
      ["src/a.ts", "export abstract class Row<T> {}\ninterface Cell { type: Other }\ntype Fields = { a: 1 };"],
      ["src/b.ts", "type Row<T> = T[];\ndeclare class Fields implements Some {}\nenum Other { A }"],
      ["src/c.ts", 'import { type Cell, Row } from "./a.ts";\n// type Other = 1;\nexport type { Cell };'],
    ] as const;
    expect(findSharedTypeNames(files)).toEqual([
      ["Fields", ["src/a.ts", "src/b.ts"]],
      ["Row", ["src/a.ts", "src/b.ts"]],
    ]);
  });

  test("compare the tree of the page with the files", () => {
    const page = "# Page\n\n```text\nsrc/\n  a.ts b.ts      two files\n  core/          L1   a folder\n    x.ts\n```\n";
    const entries = readTree(page);
    expect(entries).toEqual([
      { path: "src/", level: null },
      { path: "src/a.ts", level: null },
      { path: "src/b.ts", level: null },
      { path: "src/core/", level: 1 },
      { path: "src/core/x.ts", level: null },
    ]);
    const paths = ["src/a.ts", "src/b.ts", "src/core/x.ts"];
    expect(compareTree(entries, paths, { core: 1 })).toEqual([]);
    expect(compareTree(entries, ["src/a.ts", "src/core/x.ts", "src/cron/y.ts"], { core: 0 })).toEqual([
      "src/b.ts does not exist",
      "src/cron/ is not in the tree",
      "src/core/ is of level 0, and not 1",
    ]);
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
