import { readdir, readFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { CHUNKS, sharedChunks } from "../scripts/lib/built-chunks.mjs";
import { builtDoors } from "../scripts/lib/built-doors.mjs";
import { droppable } from "../scripts/lib/droppable.mjs";
import { reachedDeclarations } from "../scripts/lib/reached-declarations.mjs";
import { stagePackage } from "./package/stage.ts";

describe("the built package", () => {
  let stage: Awaited<ReturnType<typeof stagePackage>>;
  let dist = "";
  beforeAll(async () => {
    stage = await stagePackage();
    dist = join(stage.path, "dist");
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  test("has each source in one file alone, so that a class is the same one through every door", async () => {
    const sources = [...(await readBuilt(dist)).values()].flatMap((text) => [
      ...text.matchAll(/^\/\/ (src\/.+\.ts)$/gm),
    ]);
    const paths = sources.map(([, path]) => path);
    expect(paths).toContain("src/scheduler/scheduler.ts");
    expect(paths.filter((path, index) => paths.indexOf(path) !== index)).toEqual([]);
  });

  test("has no source maps, and lines that a stack trace can show", async () => {
    const built = await readBuilt(dist);
    expect((await readdir(dist, { recursive: true })).filter((path) => path.endsWith(".map"))).toEqual([]);
    expect(built.get("shared/scheduler.js")).toMatch(/^class Scheduler extends|^var Scheduler = class/m);
    for (const text of built.values()) expect(text).not.toContain("sourceMappingURL");
    // Node prints the line that threw an error that nobody catches: for `instant + ""` one of the polyfill.
    const polyfill = built.get("shared/temporal.js")?.split("\n") ?? [];
    expect(Math.max(...polyfill.filter((line) => line.includes("throw")).map((line) => line.length))).toBeLessThan(250);
  });

  test("loads two files for escapement/cron and three for escapement, beside those of its own conditions", async () => {
    const built = await readBuilt(dist);
    expect(filesOf("cron.js", built)).toEqual(["cron.js", "shared/cron.js"]);
    expect(filesOf("mod.js", built)).toEqual(["mod.js", "shared/cron.js", "shared/scheduler.js"]);
    for (const { sources } of [builtDoors(manifest)]) {
      const counts = sources.map((path) => filesOf(path.slice("src/".length).replace(/ts$/, "js"), built).length);
      expect(Math.max(...counts)).toBeLessThanOrEqual(5);
    }
  });

  test("has shared files that run everywhere", async () => {
    const built = await readBuilt(dist);
    const imported = CHUNKS.flatMap((name) => importsOf(built.get(`shared/${name}.js`) ?? ""));
    expect([...new Set(imported.filter((path) => !path.startsWith(".")))].sort()).toEqual(["#cron-wasm", "#temporal"]);
  });

  test("has the Temporal of its polyfill in one file, which runs nothing until it is used", async () => {
    const { Temporal } = await import(/* @vite-ignore */ pathToFileURL(join(dist, "shared/temporal.js")).href);
    const { Temporal: polyfill } = await import("temporal-polyfill");
    expect(Object.keys(Temporal).sort()).toEqual(Object.getOwnPropertyNames(polyfill).sort());
    expect(Temporal.Instant).toBe(Temporal.Instant);
    expect(Temporal.Instant.from("2030-01-31T09:00:00+01:00").toString()).toBe("2030-01-31T08:00:00Z");
    expect(String(Temporal)).toBe("[object Temporal]");
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

describe("what doors share", () => {
  const imports: Record<string, string[]> = {
    "src/cron.ts": ["src/core/a.ts"],
    "src/mod.ts": ["src/core/a.ts", "src/records/b.ts", "src/stores/memory.ts", "src/stores/c.ts"],
    "src/stores/one.ts": ["src/records/b.ts", "src/stores/c.ts", "src/stores/d.ts"],
    "src/stores/two.ts": ["src/stores/d.ts", "src/http/e.ts"],
    "src/hono.ts": ["src/http/e.ts"],
    "src/records/b.ts": ["src/core/a.ts"],
  };

  test("is in a file for cron, one for the scheduler, and one for each room; the rest stays in its door", () => {
    const entries = ["src/cron.ts", "src/mod.ts", "src/stores/one.ts", "src/stores/two.ts", "src/hono.ts"];
    expect(Object.fromEntries(sharedChunks(entries, (path) => imports[path] ?? []))).toEqual({
      "src/core/a.ts": "cron",
      "src/records/b.ts": "scheduler",
      "src/stores/c.ts": "scheduler",
      "src/stores/d.ts": "stores",
      "src/http/e.ts": "scheduler",
    });
  });
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

/** The text of every file of code, by its path. */
async function readBuilt(dist: string): Promise<Map<string, string>> {
  const paths = (await readdir(dist, { recursive: true })).filter((path) => path.endsWith(".js")).sort();
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await readFile(join(dist, path), "utf8")] as const)),
  );
}

/** The files of the package that a file needs, itself first. */
function filesOf(path: string, built: ReadonlyMap<string, string>): string[] {
  const files = new Set([path]);
  for (const file of files) {
    const near = importsOf(built.get(file) ?? "").filter((name) => name.startsWith("."));
    for (const name of near) files.add(posix.join(posix.dirname(file), name));
  }
  return [...files];
}

/** What a file imports, but for what it imports when it is told to. */
function importsOf(text: string): string[] {
  return [...text.matchAll(/^(?:import|export) (?:.* from )?"([^"\n]+)";$/gm)].map(([, name = ""]) => name);
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
