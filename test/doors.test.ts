import { describe, expect, test } from "vitest";
import { denoManifest, sourceFiles } from "./architecture/sources.ts";
import { DOOR_NAMES } from "./doors/names.ts";
import { namesOf } from "./doors/names-of.ts";

const sources = new Map(sourceFiles);

describe("each door of the package", () => {
  test("has its list of names here", () => {
    expect(Object.keys(DOOR_NAMES).sort()).toEqual(Object.keys(denoManifest.exports).sort());
  });

  test.each(Object.entries(denoManifest.exports))("%s shows exactly the names that are listed", (door, path) => {
    const text = sources.get(path.replace("./", "")) ?? "";
    expect(namesOf(text)).toEqual(DOOR_NAMES[door]);
  });
});

test("what browsers get of escapement/worker shows nothing that its types do not", () => {
  const { values, types } = namesOf(sources.get("src/executors/worker/browser/mod.ts") ?? "");
  expect(values).toEqual(["WorkerExecutor", "serveTasks"]);
  expect(types.filter((name) => !DOOR_NAMES["./worker"]?.types.includes(name))).toEqual([]);
});

describe("the names of a door", () => {
  test("are read from its exports, types apart from values, under the names that users see", () => {
    const text = [
      "/** @module */",
      'export { A, type B, c as d } from "./a.ts";',
      'export type { E, F as G } from "./b.ts";',
      "export const h = 1;",
      "// export { I } from './c.ts'",
    ].join("\n");
    expect(namesOf(text)).toEqual({ values: ["A", "d", "h"], types: ["B", "E", "G"] });
  });
});
