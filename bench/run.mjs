// Bundles a bench and runs it: node bench/run.mjs cron-next [--runtime=node|deno|bun] [--ours] [sections...]
// One bundle for all runtimes, as Node 20 reads no TypeScript. Libraries without time zones get UTC as the host's.
// --ours leaves the peers out, which then need not be installed.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
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
const WITHOUT_PEERS = ["lists", "observability", "triggers"];
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
const outfile = `${here}node_modules/.cache/${name}.mjs`;
await build({
  entryPoints: [`${here}${name}.bench.ts`],
  outfile,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "es2022",
  logLevel: "warning",
  // They bundle Workers, and cannot be bundled themselves.
  external: ["esbuild"],
  define: { OURS_ALONE: String(isOursAlone) },
  plugins: isOursAlone ? [emptyPeers()] : [],
  // Some peers are CommonJS and call require for Node's own modules.
  banner: {
    js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
  },
});
const [program, ...prefix] = command;
const { status } = spawnSync(program, [...prefix, outfile, ...rest.filter((argument) => !argument.startsWith("--"))], {
  stdio: "inherit",
  env: { ...process.env, TZ: "UTC" },
});
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
