import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The files that a bundle of a source file takes in. */
async function filesBehind(entry: string): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [`${ROOT}${entry}`],
    absWorkingDir: ROOT,
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "neutral",
    external: ["temporal-polyfill", "valibot"],
  });
  return Object.keys(metafile.inputs);
}

test("behind escapement/cron lie triggers, the engine and the core, and no scheduler, store or record", async () => {
  const folders = (await filesBehind("src/cron.ts")).map((path) => path.replace(/^(src\/\w+|wasm)\/.*/, "$1"));
  expect([...new Set(folders)].sort()).toEqual(["src/core", "src/cron", "src/cron.ts", "src/triggers", "wasm"]);
});

test("behind escapement/scheduler lies no data store", async () => {
  expect((await filesBehind("src/scheduler.ts")).filter((path) => /^src\/stores\/(?!shared\/).+\//.test(path))).toEqual(
    [],
  );
});

test("behind escapement/testing lies no contract", async () => {
  expect((await filesBehind("src/testing/mod.ts")).filter((path) => path.includes("contract"))).toEqual([]);
});

test("behind escapement/loggers lie the adapters alone", async () => {
  expect(await filesBehind("src/loggers.ts")).toEqual([
    "src/core/error-like.ts",
    "src/core/log-adapters.ts",
    "src/loggers.ts",
  ]);
});

test("triggers of escapement/cron and of escapement mix: both doors offer the same classes, and one has batches", async () => {
  const cron: Record<string, unknown> = await import("../../src/cron.ts");
  const all: Record<string, unknown> = await import("../../src/mod.ts");
  expect(Object.keys(cron).filter((name) => cron[name] !== all[name])).toEqual(["CronBatch", "preloadZones"]);
});
