import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { type Lockfile, missingPackages } from "./lockfiles/missing-packages.ts";

describe.each([
  "package-lock.json",
  "bench/package-lock.json",
  "docs/site/package-lock.json",
  "test/readme/next/package-lock.json",
])("%s", (path) => {
  async function readLockfile(): Promise<Lockfile> {
    return JSON.parse(await readFile(new URL(`../${path}`, import.meta.url), "utf8"));
  }

  test("has an entry for every package, those of other platforms too", async () => {
    expect(missingPackages(await readLockfile())).toEqual([]);
  });

  test("names no address, so that every registry can serve it", async () => {
    const { packages } = await readLockfile();
    expect(Object.values(packages).flatMap(({ resolved }) => resolved ?? [])).toEqual([]);
  });
});

test("a package is missing that stands neither beside the one that needs it, nor in a folder around it", () => {
  const packages = {
    "": { dependencies: { a: "1" } },
    "node_modules/a": { dependencies: { b: "1" }, optionalDependencies: { "@b/linux": "1", "@b/darwin": "1" } },
    "node_modules/a/node_modules/b": { dependencies: { "@b/linux": "1", c: "1" } },
    "node_modules/@b/linux": {},
    "node_modules/d/node_modules/c": {},
  };
  expect(missingPackages({ packages })).toEqual([
    "node_modules/a needs @b/darwin",
    "node_modules/a/node_modules/b needs c",
  ]);
});
