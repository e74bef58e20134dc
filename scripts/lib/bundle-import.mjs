// Imports TypeScript on Node, which (at version 20) takes none: bundles it with the library's sources, leaves packages
// outside, and imports the result.
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Modules find the files beside them by their own place, not by the bundle's. */
const ownPlaces = {
  name: "own places",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
      loader: "ts",
      contents: (await readFile(path, "utf8"))
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
        .replaceAll("import.meta.dirname", JSON.stringify(dirname(path))),
    })),
};

/** Imports a module by its path below the project's root. */
export async function bundleImport(path) {
  const cache = join(root, "node_modules/.cache");
  await mkdir(cache, { recursive: true });
  // A folder of its own, as several of these may run at once; below node_modules, so that packages are found.
  const folder = await mkdtemp(join(cache, "escapement-"));
  const outfile = join(folder, path.replace(/\.ts$/, ".mjs"));
  try {
    await build({
      entryPoints: [join(root, path)],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      sourcemap: "inline",
      logLevel: "warning",
      external: [
        ...["@hono/*", "@libsql/*", "@redis/*", "devalue", "esbuild", "express", "fast-check", "hono", "ioredis"],
        ...["ioredis5", "miniflare", "mqtt", "pg", "postgres", "temporal-polyfill", "valibot"],
      ],
      plugins: [ownPlaces],
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
