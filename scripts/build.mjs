// @ts-check

// Builds the package: `node scripts/build.mjs [--outdir dist]`. Code is bundled, because most of what an import costs
// is finding and loading its modules: a file for each door of package.json, and chunks for what doors share. So a class
// is the same one through every door. Declarations stay a file per source.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { builtDoors } from "./lib/built-doors.mjs";
import { withOwnNames, withoutIdleImports } from "./lib/built-text.mjs";
import { droppable } from "./lib/droppable.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/** @type {import("esbuild").Plugin} */
const droppableStatements = {
  name: "droppable statements",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
      loader: "ts",
      contents: await contentsOf(relative(root, path)),
    })),
};

/** Programs that a door starts in a thread or a process. They are built beside the door. */
const PROGRAMS = [
  "src/executors/process/process-entry.ts",
  "src/executors/worker/lease-entry.ts",
  "src/executors/worker/thread-entry.ts",
];

/** @param {string} path from the root @returns {Promise<string>} */
async function contentsOf(path) {
  const text = await readFile(join(root, path), "utf8");
  return PROGRAMS.includes(path) ? text : droppable(path, text);
}

const { values } = parseArgs({ options: { outdir: { type: "string", default: "dist" } } });
const outdir = resolve(root, values.outdir);
const doors = builtDoors(JSON.parse(readFileSync(`${root}package.json`, "utf8")));

// A file that is no source any more must not be packed.
rmSync(outdir, { recursive: true, force: true });
declare();
for (const path of await bundle()) {
  if (path.endsWith(".map")) embedSources(path);
  else writeFileSync(path, withoutIdleImports(withOwnNames(readFileSync(path, "utf8"))));
}

function declare() {
  const options = ["-p", "tsconfig.json", "--emitDeclarationOnly", "--outDir", outdir];
  const { status } = spawnSync(`${root}node_modules/.bin/tsc`, options, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
  const missing = doors.declarations.filter((path) => !existsSync(join(outdir, path)));
  if (missing.length > 0) throw new Error(`package.json names declarations that no source has: ${missing.join(", ")}`);
}

/** @returns {Promise<string[]>} the files that were written */
async function bundle() {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [...doors.sources, ...PROGRAMS],
    outbase: "src",
    outdir,
    bundle: true,
    splitting: true,
    chunkNames: "shared/[hash]",
    format: "esm",
    platform: "neutral",
    target: "es2022",
    packages: "external",
    // What package.json's own conditions choose is chosen by the runtime or the bundler that loads the package.
    external: ["#*"],
    // Bundlers write it as 1/0.
    define: { "Number.POSITIVE_INFINITY": "Infinity" },
    sourcemap: true,
    metafile: true,
    logLevel: "warning",
    plugins: [droppableStatements],
  });
  return Object.keys(metafile.outputs).map((path) => resolve(root, path));
}

/** The sources are not packed, so maps hold their text: as it is written, with the same lines as what was bundled. */
function embedSources(/** @type {string} */ path) {
  const map = JSON.parse(readFileSync(path, "utf8"));
  const sources = map.sources.map((/** @type {string} */ source) => resolve(dirname(path), source));
  // Wherever the output is written, the map is the same.
  const folder = dirname(join(root, "dist", relative(outdir, path)));
  map.sources = sources.map((/** @type {string} */ source) => relative(folder, source));
  map.sourcesContent = sources.map((/** @type {string} */ source) => readFileSync(source, "utf8"));
  writeFileSync(path, JSON.stringify(map));
}
