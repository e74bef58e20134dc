import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { ROOT } from "../package/stage.ts";

/** What a bundler makes of a program: the text of its one file, and its WebAssembly by file name. */
export interface Bundle {
  readonly code: string;
  readonly wasm: ReadonlyMap<string, Uint8Array>;
  /** Bytes of all of it, each file minified and gzipped by itself. */
  readonly gzippedBytes: number;
}

export interface BundleOptions {
  /** A folder with the package, as `stagePackage` makes it. */
  readonly stage: string;
  readonly isMinified?: boolean;
  /** Whether `escapement/no-temporal` stands in the place of `temporal-polyfill`. */
  readonly withoutTemporal?: boolean;
}

/** Bundles a Worker as wrangler does: with the condition `workerd`, and its WebAssembly beside the code. */
export async function bundleWorker(source: string, options: BundleOptions): Promise<Bundle> {
  const { stage, isMinified = true, withoutTemporal = false } = options;
  const { outputFiles = [] } = await build({
    stdin: { contents: source, resolveDir: stage },
    absWorkingDir: stage,
    bundle: true,
    minify: isMinified,
    write: false,
    outdir: "out",
    format: "esm",
    target: "es2024",
    mainFields: ["module", "main"],
    conditions: ["workerd", "worker", "browser"],
    external: ["node:*", "cloudflare:*"],
    loader: { ".wasm": "copy" },
    assetNames: "[name]",
    legalComments: "none",
    logLevel: "silent",
    alias: withoutTemporal ? { "temporal-polyfill": "escapement/no-temporal" } : {},
    // What benches compare with is installed there, if at all.
    nodePaths: [join(ROOT, "bench/node_modules")],
  });
  const code = outputFiles.find(({ path }) => path.endsWith(".js"))?.text ?? "";
  const wasm = new Map(
    outputFiles.filter(({ path }) => path.endsWith(".wasm")).map(({ path, contents }) => [nameOf(path), contents]),
  );
  const gzippedBytes = [code, ...wasm.values()].reduce((sum, part) => sum + gzipSync(part, { level: 9 }).byteLength, 0);
  return { code, wasm, gzippedBytes };
}

/** Whether a package that the benches compare with is installed. */
export function isBenchPeerInstalled(name: string): boolean {
  try {
    createRequire(join(ROOT, "bench/package.json")).resolve(name);
    return true;
  } catch {
    return false;
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
