import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Folders of src that a bundle of a source file takes in, and whatever it takes in besides. */
async function foldersBehind(entry: string): Promise<string[]> {
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
  return [...new Set(Object.keys(metafile.inputs).map((path) => path.replace(/^(src\/\w+|wasm)\/.*/, "$1")))].sort();
}

test("behind escapement/cron lie triggers, the engine and the core, and no scheduler, store or record", async () => {
  expect(await foldersBehind("src/cron.ts")).toEqual(["src/core", "src/cron", "src/cron.ts", "src/triggers", "wasm"]);
});

test("triggers of escapement/cron and of escapement mix: both doors offer the same classes, and one has batches", async () => {
  const cron: Record<string, unknown> = await import("../../src/cron.ts");
  const all: Record<string, unknown> = await import("../../src/mod.ts");
  expect(Object.keys(cron).filter((name) => cron[name] !== all[name])).toEqual(["CronBatch", "preloadZones"]);
  expect(Object.keys(cron).sort()).toEqual([
    "AndTrigger",
    "BrokenTriggerError",
    "CalendarIntervalTrigger",
    "CronBatch",
    "CronSyntaxError",
    "CronTrigger",
    "DateTrigger",
    "DeserializationError",
    "EscapementError",
    "ExcludingTrigger",
    "IntervalTrigger",
    "MaxIterationsReachedError",
    "OptionsError",
    "OrTrigger",
    "Temporal",
    "Trigger",
    "preloadZones",
    "registerTrigger",
    "triggerFromJSON",
  ]);
});
