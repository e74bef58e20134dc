import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { denoManifest } from "../architecture/sources.ts";
import { ROOT } from "../package/stage.ts";

/** The sources, packages included, that a bundle of a door has, and its size. */
async function bundled(door: string): Promise<{ sources: string[]; gzippedBytes: number }> {
  const { metafile, outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [join(ROOT, denoManifest.exports[door] ?? "")],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    packages: "external",
    conditions: ["node"],
    logLevel: "silent",
    outdir: "out",
  });
  const outputs = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  const gzippedBytes = outputFiles.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).byteLength, 0);
  return { sources: [...Object.keys(metafile.inputs), ...outputs], gzippedBytes };
}

const isOfObservability = (source: string): boolean => /observability|opentelemetry/.test(source);
const others = Object.keys(denoManifest.exports).filter((door) => !/^\.\/(metrics|otel)$/.test(door));

describe("a program without metrics and traces", () => {
  test.each(others)("has no part of them from the door %s", async (door) => {
    expect((await bundled(door)).sources.filter(isOfObservability)).toEqual([]);
  });
});

describe("metrics", () => {
  test("are in at most 6 kB, and name no package of OpenTelemetry", async () => {
    const { sources, gzippedBytes } = await bundled("./metrics");
    console.log(`escapement/metrics: ${gzippedBytes} bytes, minified and gzipped`);
    expect(sources.filter((source) => source.includes("opentelemetry"))).toEqual([]);
    expect(gzippedBytes).toBeLessThanOrEqual(6000);
  });
});

describe("traces", () => {
  test("name no package of OpenTelemetry but its interface", async () => {
    const { sources } = await bundled("./otel");
    expect([...new Set(sources.filter((source) => source.includes("opentelemetry")))]).toEqual(["@opentelemetry/api"]);
  });
});
