import { basename, join } from "node:path";
import process from "node:process";
import { build } from "esbuild";

/** Makes one file that Node runs of a TypeScript file and this project's sources; Node 20 takes no types. */
export async function bundleProcess(entryPoint: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [entryPoint],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "warning",
    external: ["@libsql/client"],
    // The bundle lies in a temporary folder, from which packages are not found.
    plugins: [
      {
        name: "packages of this project",
        setup: ({ onResolve }) =>
          onResolve({ filter: /^[@a-z]/ }, ({ path, kind }) =>
            kind === "entry-point" || path.startsWith("node:")
              ? null
              : { path: import.meta.resolve(path), external: true },
          ),
      },
    ],
  });
}

/** How this runtime runs a TypeScript file in a process of its own. @param folder for a bundle, where it needs one */
export async function processCommand(file: string, folder: string): Promise<string[]> {
  if ("Bun" in globalThis) return [process.execPath, "run", file];
  if ("Deno" in globalThis) return [process.execPath, "run", "--allow-all", "--cached-only", file];
  const bundle = join(folder, basename(file).replace(/\.ts$/, ".mjs"));
  await bundleProcess(file, bundle);
  return [process.execPath, bundle];
}
