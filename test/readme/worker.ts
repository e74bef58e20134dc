import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { Miniflare } from "miniflare";

/**
 * What a Worker answers to a request for `/`, in workerd. It has a D1 database as `env.DB`, and a namespace for each
 * class of Durable Objects that it exports: `env.JOBS` for `class Jobs`.
 *
 * @param packageFolder the folder of the built package, in which "escapement" names the package itself
 */
export async function answerOfWorker(code: string, packageFolder: string): Promise<string> {
  const folder = await mkdtemp(join(packageFolder, "worker-"));
  const source = join(folder, "worker.ts");
  await writeFile(source, code);
  await build({
    entryPoints: [source],
    outdir: join(folder, "out"),
    bundle: true,
    format: "esm",
    target: "es2022",
    conditions: ["workerd"],
    external: ["cloudflare:*", "node:*"],
    loader: { ".wasm": "copy" },
    logLevel: "error",
  });
  const classes = [...code.matchAll(/export class (\w+) extends (?:Scheduler)?DurableObject/g)].map(
    (match) => match[1] ?? "",
  );
  const worker = new Miniflare({
    modules: true,
    modulesRules: [{ type: "CompiledWasm", include: ["**/*.wasm"] }],
    scriptPath: join(folder, "out", "worker.js"),
    modulesRoot: join(folder, "out"),
    compatibilityDate: "2026-04-26",
    d1Databases: ["DB"],
    durableObjects: Object.fromEntries(
      classes.map((className) => [className.toUpperCase(), { className, useSQLite: true }]),
    ),
  });
  try {
    return await (await worker.dispatchFetch("http://worker/")).text();
  } finally {
    await worker.dispose();
  }
}
