import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { ROOT } from "./child.ts";

/** A module of a Worker, as miniflare takes it. */
export type WorkerModule =
  | { readonly type: "ESModule"; readonly path: string; readonly contents: string }
  | { readonly type: "CompiledWasm"; readonly path: string; readonly contents: Uint8Array };

/** Bundles a Worker of this project as wrangler does: under the conditions of workerd, with its WebAssembly beside it.
 *  @param entry its path below the project's root */
export async function bundleWorker(entry: string): Promise<WorkerModule[]> {
  const wasm = new Map<string, string>();
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, entry)],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    logLevel: "warning",
    plugins: [
      {
        name: "WebAssembly beside the bundle",
        setup: ({ onResolve }) =>
          onResolve({ filter: /\.wasm$/ }, ({ path, resolveDir }) => {
            const name = path.replace(/^.*\//, "");
            wasm.set(name, join(resolveDir, path));
            return { path: `./${name}`, external: true };
          }),
      },
    ],
  });
  const modules: WorkerModule[] = [{ type: "ESModule", path: "worker.js", contents: outputFiles[0]?.text ?? "" }];
  for (const [path, file] of wasm) modules.push({ type: "CompiledWasm", path, contents: await readFile(file) });
  return modules;
}
