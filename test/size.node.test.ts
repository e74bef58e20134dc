import { stat } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT, stagePackage } from "./package/stage.ts";

const WASM_BYTES_MAX = 12_288;

let stage: Awaited<ReturnType<typeof stagePackage>> | undefined;
beforeAll(async () => {
  stage = await stagePackage();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

/** Bytes of a program, bundled, minified and gzipped, without the packages that a project may have already. */
async function gzippedBytes(source: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: stage?.path ?? "" },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    external: ["temporal-polyfill", "valibot"],
    legalComments: "none",
  });
  return gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }).byteLength;
}

// The budgets are what there is plus a little, so that growth is noticed: what each import costs a page or a Worker.
for (const [name, source, bytesMax] of [
  [
    "the core (compiled cron, zones and WebAssembly)",
    `export { CompiledCron } from "${join(ROOT, "src/cron/compiled-cron.ts")}";`,
    12_288,
  ],
  ["CronTrigger, with its dialect, errors and descriptions", 'export { CronTrigger } from "escapement";', 26_624],
  ["all triggers, without a scheduler", 'export * from "escapement/cron";', 36_352],
  ["everything: scheduler, memory store, all triggers", 'export * from "escapement";', 102_400],
] as const) {
  test(`${name} stays below ${bytesMax} bytes gzipped, without the polyfill and valibot`, async ({ annotate }) => {
    const bytes = await gzippedBytes(source);
    await annotate(`size: ${name}: ${bytes} bytes gzipped, of ${bytesMax}`);
    expect(bytes).toBeLessThan(bytesMax);
  });
}

test("cron.wasm stays below 12 KB", async ({ annotate }) => {
  const { size } = await stat(join(stage?.path ?? "", "wasm/dist/cron.wasm"));
  await annotate(`size: cron.wasm: ${size} bytes, of ${WASM_BYTES_MAX}`);
  expect(size).toBeLessThan(WASM_BYTES_MAX);
});
