import { readdir, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { builtDoors } from "../scripts/lib/built-doors.mjs";
import { withOwnNames, withoutIdleImports } from "../scripts/lib/built-text.mjs";
import { droppable } from "../scripts/lib/droppable.mjs";
import { reachedDeclarations } from "../scripts/lib/reached-declarations.mjs";
import { ROOT, stagePackage } from "./package/stage.ts";

describe("the built package", () => {
  let stage: Awaited<ReturnType<typeof stagePackage>>;
  let dist = "";
  beforeAll(async () => {
    stage = await stagePackage();
    dist = join(stage.path, "dist");
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  test("has each source in one file alone, so that a class is the same one through every door", async () => {
    const sources = (await readMaps(dist)).flatMap(({ sources }) => sources);
    expect(sources).toContain(join(ROOT, "src/scheduler/scheduler.ts"));
    expect(sources.filter((source, index) => sources.indexOf(source) !== index)).toEqual([]);
  });

  test("has source maps that hold the sources as they are written", async () => {
    for (const { sources, sourcesContent } of await readMaps(dist)) {
      expect(sourcesContent).toEqual(await Promise.all(sources.map((source) => readFile(source, "utf8"))));
    }
  });

  test("leaves what its own conditions choose to whoever loads it", async () => {
    const paths = (await readdir(dist, { recursive: true })).filter((path) => path.endsWith(".js"));
    const texts = await Promise.all(paths.map((path) => readFile(join(dist, path), "utf8")));
    expect(texts.filter((text) => text.includes('from "#cron-wasm"'))).toHaveLength(1);
    expect(texts.filter((text) => text.includes("WebAssembly.Module("))).toEqual([]);
  });

  test("gives classes and functions the names that they have in the sources", async () => {
    const wrong: string[] = [];
    for (const [door, names] of await loadDoors(dist)) {
      for (const [name, value] of Object.entries(names)) {
        if (typeof value === "function" && value.name !== name) wrong.push(`${door} has ${name} as ${value.name}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe("the doors that are built", () => {
  test("are those of package.json under all conditions", () => {
    const map = {
      ".": { types: "./dist/mod.d.ts", default: "./dist/mod.js" },
      "./a": { types: "./dist/a/mod.d.ts", bun: "./dist/b/mod.js", node: { import: "./dist/a/mod.js" } },
      "./again": "./dist/mod.js",
      "./package.json": "./package.json",
    };
    expect(builtDoors({ exports: map })).toEqual({
      sources: ["src/a/mod.ts", "src/b/mod.ts", "src/mod.ts"],
      declarations: ["a/mod.d.ts", "mod.d.ts"],
    });
  });
});

describe("the declarations that programs can reach", () => {
  const files: Readonly<Record<string, string>> = {
    "mod.d.ts": 'export { type A } from "./a/a.ts";\nexport { b } from "./b.ts";',
    "a/a.d.ts": 'import type { B } from "../b.ts";\n/**\n * import { c } from "./c.ts";\n */\nexport type A = B;',
    "b.d.ts": 'import type { A } from "./a/a.js";\nimport * as v from "valibot";\nexport declare const b: A;',
    "c.d.ts": "export declare const c: number;",
  };

  test("are those of doors, and what they import; what an example imports is none", () => {
    expect([...reachedDeclarations(["mod.d.ts"], (path) => files[path] ?? "")]).toEqual([
      "mod.d.ts",
      "a/a.d.ts",
      "b.d.ts",
    ]);
  });
});

describe("the names of classes in a built file", () => {
  test.each([
    [
      "that name themselves",
      "var A = class _A extends B {\n  a = _A.a;\n};",
      "var A = class A extends B {\n  a = A.a;\n};",
    ],
    [
      "within functions",
      "var A = /* @__PURE__ */ (() => {\n  class A2 extends B {\n  }\n  return A2;\n})();",
      "var A = /* @__PURE__ */ (() => {\n  class A extends B {\n  }\n  return A;\n})();",
    ],
    ["beside others", "var A2 = class extends A {\n};", 'var A2 = class extends A { static name = "A";\n};'],
    ["of other names", "var A = class {\n};\nvar a = class _B {\n};", "var A = class {\n};\nvar a = class _B {\n};"],
  ])("are those of the sources: classes %s", (_, text, named) => {
    expect(withOwnNames(text)).toBe(named);
  });
});

test("a built file imports no chunk of which it uses no name", () => {
  const text = 'import { a } from "./shared/A.js";\nimport "./shared/B.js";\nimport "temporal-polyfill";\nf(a);\n';
  expect(withoutIdleImports(text)).toBe(text.replace('import "./shared/B.js";', ""));
});

describe("statements that bundlers may drop", () => {
  test.each([
    ["a value that is computed", "export const a = f(1);", "export const a = /* @__PURE__ */ (() => (f(1)))();"],
    ["one with a type", "const a: A = { ...b } as A;", "const a: A = /* @__PURE__ */ (() => ({ ...b } as A))();"],
    [
      "properties of a name",
      "const { a, b: c } = d as D;",
      "const a = /* @__PURE__ */ (() => (d as D).a)(), c = /* @__PURE__ */ (() => (d as D).b)();",
    ],
    [
      "a class that does something when it is defined",
      "export abstract class A<T> extends B {\n  static {\n    f(A);\n  }\n}",
      "export const A = /* @__PURE__ */ (() => {  abstract class A<T> extends B {\n  static {\n    f(A);\n  }\n} return A; })();",
    ],
  ])("are marked: %s", (_, text, marked) => {
    expect(droppable("a.ts", text)).toBe(marked);
  });

  test.each([
    "const a = 1, b = -2 * 3, c = 'text', d = /x/, e = null, f = undefined;",
    "export const a = { b: [1, true, name], c, d() {} } as const;",
    "const a = () => f(), b = async function () {}, c = new Map<string, number>();",
    "export class A { static readonly b: string = 'B'; static c() { return f(); } d = f(); }",
    "import type { A } from './a.ts';\nexport { b } from './b.ts';\ndeclare const c: number;\nfunction d() {}",
  ])("stay as they are where every bundler sees that nothing happens: %s", (text) => {
    expect(droppable("a.ts", text)).toBe(text);
  });

  test.each(["f();", "import './a.ts';", "for (const a of b) f(a);"])("do more than define names: %s", (text) => {
    expect(() => droppable("src/a.ts", `\n${text}`)).toThrow(
      "src/a.ts:2 does something when it is loaded, and package.json says that no file does",
    );
  });

  test.each(["const { a = 1 } = b;", "const { ...a } = b;", "const { a } = f();", "const [a] = b;"])(
    "are no destructuring but of a name's properties: %s",
    (text) => {
      expect(() => droppable("a.ts", text)).toThrow("a.ts: cannot mark");
    },
  );
});

/** Every source map, its sources as absolute paths. */
async function readMaps(dist: string): Promise<{ sources: string[]; sourcesContent: string[] }[]> {
  const paths = (await readdir(dist, { recursive: true })).filter((path) => path.endsWith(".js.map"));
  return Promise.all(
    paths.map(async (path) => {
      const { sources, sourcesContent } = JSON.parse(await readFile(join(dist, path), "utf8"));
      const folder = dirname(join(ROOT, "dist", path));
      return { sources: sources.map((source: string) => resolve(folder, source)), sourcesContent };
    }),
  );
}

/** What each door shows, but for those that need what Node lacks. */
async function loadDoors(dist: string): Promise<[string, Record<string, unknown>][]> {
  const loaded: [string, Record<string, unknown>][] = [];
  for (const [door, conditions] of Object.entries(manifest.exports)) {
    if (typeof conditions === "string") continue;
    const url = pathToFileURL(join(dist, "..", conditions.default)).href;
    try {
      loaded.push([door, await import(/* @vite-ignore */ url)]);
    } catch (error) {
      if ((error as { code?: unknown }).code !== "ERR_UNSUPPORTED_ESM_URL_SCHEME") throw error;
    }
  }
  return loaded;
}
