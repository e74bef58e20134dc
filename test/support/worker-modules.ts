import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { temporaryFolder } from "./temporary-folder.ts";

/** Modules as workers of the present runtime can load them. */
export interface WorkerModules {
  /** The URL of the module: that of the argument, or of what was made of it. */
  url(source: URL): string;
  remove(): Promise<void>;
}

/**
 * Makes modules loadable in workers. Deno and Bun load TypeScript as it is. Node 20 does not, so that there the modules
 * are built together, as a program's own build would do it: what they share is shared.
 */
export async function workerModules(...sources: readonly URL[]): Promise<WorkerModules> {
  if ("Deno" in globalThis || "Bun" in globalThis) return { url: String, remove: async () => {} };
  const folder = await temporaryFolder();
  const names = new Map(sources.map((source, index) => [String(source), `module${index}`]));
  await bundle(folder.path, sources);
  return {
    url: (source) => String(pathToFileURL(join(folder.path, `${names.get(String(source))}.mjs`))),
    remove: () => folder.remove(),
  };
}

/** A bundle of one module on any runtime, with all that it imports. */
export async function bundledModule(source: URL): Promise<{ readonly url: URL; remove(): Promise<void> }> {
  const folder = await temporaryFolder();
  await bundle(folder.path, [source]);
  return { url: pathToFileURL(join(folder.path, "module0.mjs")), remove: () => folder.remove() };
}

async function bundle(outdir: string, sources: readonly URL[]): Promise<void> {
  const { build } = await import("esbuild");
  await build({
    entryPoints: sources.map((source, index) => ({ in: source.pathname, out: `module${index}` })),
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "error",
  });
}
