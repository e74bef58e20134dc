import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** A part of the options of Miniflare. */
export interface WorkerBundle {
  modules: (
    | { type: "ESModule"; path: string; contents: string }
    | { type: "CompiledWasm"; path: string; contents: Uint8Array<ArrayBuffer> }
  )[];
  compatibilityDate: string;
}

/** The modules of a Worker, made of a TypeScript file of the tests and this project's sources. */
export async function bundleWorker(url: URL): Promise<WorkerBundle> {
  const wasm = new Map<string, string>();
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(url)],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "import"],
    external: ["cloudflare:*"],
    logLevel: "warning",
    plugins: [
      {
        name: "WebAssembly as modules",
        setup: ({ onResolve }) =>
          onResolve({ filter: /\.wasm$/ }, async ({ path, resolveDir }) => {
            const name = basename(path);
            wasm.set(name, fileURLToPath(new URL(path, `file://${resolveDir}/`)));
            return { path: `./${name}`, external: true };
          }),
      },
    ],
  });
  const main = { type: "ESModule", path: "main.mjs", contents: outputFiles[0]?.text ?? "" } as const;
  const others = await Promise.all(
    [...wasm].map(
      async ([path, file]) => ({ type: "CompiledWasm", path, contents: new Uint8Array(await readFile(file)) }) as const,
    ),
  );
  return { modules: [main, ...others], compatibilityDate: "2026-04-26" };
}
