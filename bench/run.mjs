// Bundles a bench and runs it: node bench/run.mjs cron-next [--runtime=node|deno|bun] [--ours] [sections...]
// One bundle for all runtimes, as Node 20 reads no TypeScript. Libraries without time zones get UTC as the host's.
// --ours leaves the peers out, which then need not be installed.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const [name = "cron-next", ...rest] = process.argv.slice(2);
const runtime = rest.find((argument) => argument.startsWith("--runtime="))?.slice(10) ?? "node";
const commands = {
  node: [process.execPath],
  deno: [`${here}../node_modules/.bin/deno`, "run", "-A", "--cached-only", "--no-config"],
  bun: [`${here}../node_modules/.bin/bun`, "run"],
};

/** Benches that compare with nobody. */
const WITHOUT_PEERS = ["forecast", "lists", "observability", "overview", "steps", "triggers"];
/** Modules that a bench loads into threads and processes: each becomes a file beside its own. */
const MODULES_BESIDE = { executors: ["raw-thread", "tasks"] };
const isOursAlone = rest.includes("--ours") || WITHOUT_PEERS.includes(name);
if (!isOursAlone && !existsSync(`${here}node_modules/croner`)) {
  console.error("The peers are not installed: run npm ci in bench/ first, or leave them out with --ours.");
  process.exit(1);
}
const command = commands[runtime];
if (command === undefined) {
  console.error(`unknown runtime ${runtime}: use node, deno or bun`);
  process.exit(1);
}

const { build } = await import("esbuild");
const outdir = `${here}node_modules/.cache`;
const beside = MODULES_BESIDE[name] ?? [];
// Deno finds the packages of the built library by a package.json, which is configuration.
if (beside.length > 0) commands.deno.pop();
await build({
  entryPoints: [
    { in: `${here}${name}.bench.ts`, out: name },
    ...beside.map((module) => ({ in: `${here}${name}/${module}.ts`, out: `${name}-${module}` })),
  ],
  outdir,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  format: "esm",
  platform: "node",
  target: "es2022",
  logLevel: "warning",
  // They bundle Workers, and cannot be bundled themselves.
  external: ["esbuild"],
  define: { OURS_ALONE: String(isOursAlone) },
  plugins: [...(isOursAlone ? [emptyPeers()] : []), ...(beside.length > 0 ? [builtPackage()] : [])],
  // Some peers are CommonJS and call require for Node's own modules.
  banner: {
    js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
  },
});
const [program, ...prefix] = command;
const { status } = spawnSync(
  program,
  [...prefix, `${outdir}/${name}.mjs`, ...rest.filter((argument) => !argument.startsWith("--"))],
  {
    stdio: "inherit",
    env: { ...process.env, TZ: "UTC" },
  },
);
process.exit(status ?? 1);

// Every package that is not the library's own becomes an empty module.
function emptyPeers() {
  return {
    name: "empty peers",
    setup(build) {
      const filter = /^(croner|cron-parser|cron-schedule|cronosjs|node-cron|rrule-temporal)$/;
      build.onResolve({ filter }, ({ path }) => ({ path, namespace: "peer" }));
      build.onLoad({ filter: /.*/, namespace: "peer" }, () => ({ contents: "module.exports = {};", loader: "js" }));
    },
  };
}

// Workers load modules of the package by their places, so that such benches run the package as it is built. They import
// it at run time, because Deno does not when a file below node_modules names one outside.
function builtPackage() {
  const root = new URL("../", import.meta.url);
  const { exports: doors } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
  return {
    name: "the built package",
    setup(build) {
      build.onResolve({ filter: /^escapement(\/|$)/ }, ({ path }) => {
        const { default: file } = doors[path.replace("escapement", ".")];
        const { href, pathname } = new URL(file, root);
        if (!existsSync(pathname)) return { errors: [{ text: `${file} is missing: run npm run build first` }] };
        return { path: href, namespace: "built" };
      });
      build.onResolve({ filter: /^file:/ }, ({ path }) => ({ path, external: true }));
      build.onLoad({ filter: /.*/, namespace: "built" }, async ({ path }) => {
        const names = Object.keys(await import(path)).join(", ");
        return { contents: `export const { ${names} } = await import(${JSON.stringify(path)});` };
      });
    },
  };
}
