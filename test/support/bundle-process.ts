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
