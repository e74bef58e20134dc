// @ts-check

// Builds the package: `node scripts/build.mjs [--outdir dist]`. Code is bundled, because most of what an import costs
// is finding and loading its modules: a file for each door of package.json, and a few for what doors share. So a class
// is the same one through every door. Declarations stay a file per source, and those that no door reaches go.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { rolldown } from "rolldown";
import { CHUNKS, sharedChunks } from "./lib/built-chunks.mjs";
import { builtDoors } from "./lib/built-doors.mjs";
import { bundleImport } from "./lib/bundle-import.mjs";
import { droppable } from "./lib/droppable.mjs";
import { outputSchema } from "./lib/output-schema.mjs";
import { reachedDeclarations } from "./lib/reached-declarations.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Programs that a door starts in a thread or a process. They are built beside the door. */
const PROGRAMS = [
  "src/cli/engine.ts",
  "src/executors/process/process-entry.ts",
  "src/executors/worker/lease-entry.ts",
  "src/executors/worker/thread-entry.ts",
];

/** The command line. It is built apart from the doors, which it imports as any program does. */
const COMMANDS = "src/cli/bin.ts";

/** Packages whose code is in the built files. */
const BUNDLED = ["commander", "picocolors", "temporal-polyfill", "temporal-utils", "valibot", "yaml"];

/** Whoever loads the package decides which one it is. */
const OF_TEMPORAL = /** @type {const} */ ({ id: "#temporal", external: true });

/** @type {import("rolldown").OutputOptions} */
const OUTPUT = {
  dir: resolve(root, parseArgs({ options: { outdir: { type: "string", default: "dist" } } }).values.outdir),
  entryFileNames: "[name].js",
  chunkFileNames: "shared/[name].js",
  // V8 keeps a file with any other character as two bytes each, and reads it more slowly.
  charset: "ascii",
  minifyInternalExports: false,
  comments: { annotation: true, jsdoc: false, legal: true },
};
const outdir = OUTPUT.dir ?? "";

const doors = builtDoors(JSON.parse(readFileSync(`${root}package.json`, "utf8")));
const entries = [...doors.sources, ...PROGRAMS];

/** The shared file of each module that has one. @type {ReadonlyMap<string, string>} */
let chunks = new Map();

/** @type {import("rolldown").Plugin} */
const sources = {
  name: "sources",
  resolveId(name, importer) {
    if (importer === undefined || name === "valibot") return null;
    // The one door that imports others, beside its folder.
    const isDoor = /^src\/nestjs\//.test(relative(root, importer)) && /^\.\.\/\w+\.ts$/.test(name);
    if (isDoor) return { id: name.replace(/ts$/, "js"), external: "absolute" };
    if (name.startsWith(".")) return null;
    // package.json's own conditions say which file has it, and whoever loads the package decides by them.
    return { id: name === "temporal-polyfill" ? "#temporal" : name, external: true };
  },
  async load(id) {
    const path = relative(root, id);
    if (!path.startsWith("src/")) return null;
    const text = await readFile(id, "utf8");
    return { code: PROGRAMS.includes(path) ? text : droppable(path, text), moduleType: "ts" };
  },
  buildEnd() {
    const importsOf = (/** @type {string} */ path) => this.getModuleInfo(join(root, path))?.importedIds ?? [];
    chunks = sharedChunks(entries, (path) => importsOf(path).map((imported) => relative(root, imported)));
  },
};

// A file that is no source any more must not be packed.
rmSync(outdir, { recursive: true, force: true });
declare();
await bundle();
await bundleCommands();
await bundleTemporal();
writeFileSync(join(outdir, "cli/output.schema.json"), JSON.stringify(await schemaOfOutput()));
writeFileSync(join(outdir, "LICENSES"), licenses());

function declare() {
  const options = ["-p", "tsconfig.json", "--emitDeclarationOnly", "--outDir", outdir];
  const { status } = spawnSync(`${root}node_modules/.bin/tsc`, options, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
  const missing = doors.declarations.filter((path) => !existsSync(join(outdir, path)));
  if (missing.length > 0) throw new Error(`package.json names declarations that no source has: ${missing.join(", ")}`);
  const reached = reachedDeclarations(doors.declarations, (path) => readFileSync(join(outdir, path), "utf8"));
  for (const file of readdirSync(outdir, { recursive: true, encoding: "utf8" })) {
    const path = file.replaceAll("\\", "/");
    if (path.endsWith(".d.ts") && !reached.has(path)) rmSync(join(outdir, path));
  }
}

async function bundle() {
  const graph = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries.map((path) => [path.slice("src/".length, -".ts".length), path])),
    platform: "neutral",
    treeshake: { moduleSideEffects: false },
    // Limits and units stand where they are used, so that no bundle has names for them.
    optimization: { inlineConst: true },
    // Bundlers write them as 1/0 and -1/0.
    transform: {
      target: "es2022",
      define: { "Number.POSITIVE_INFINITY": "Infinity", "Number.NEGATIVE_INFINITY": "-Infinity" },
    },
    plugins: [sources],
  });
  await graph.write({
    ...OUTPUT,
    codeSplitting: {
      // A file takes what its modules import along, unless an earlier file has it.
      groups: CHUNKS.map((name, index) => ({
        debugName: name,
        name: (id) => (chunks.get(relative(root, id)) === name ? name : null),
        priority: CHUNKS.length - index,
      })),
    },
  });
  await graph.close();
}

/** A file for each command, and what they share; `commander`, `picocolors` and `yaml` are in them. */
async function bundleCommands() {
  const graph = await rolldown({
    cwd: root,
    input: { bin: COMMANDS },
    platform: "node",
    external: (name) => /^(hono|ioredis|jiti|pg|postgres|@)/.test(name),
    // Its modules for bundlers, of which what is unused goes.
    resolve: { alias: { yaml: join(root, "node_modules/yaml/browser/dist/index.js") } },
    plugins: [
      {
        name: "doors",
        resolveId(name, importer) {
          if (importer === undefined || !name.startsWith(".")) return name === "temporal-polyfill" ? OF_TEMPORAL : null;
          const path = relative(root, resolve(importer, "..", name));
          if (!path.startsWith("src/") || path === COMMANDS) return null;
          if (doors.sources.includes(path)) return { id: `../${path.slice(4, -3)}.js`, external: "absolute" };
          if (path === "src/cli/engine.ts") return { id: "./engine.js", external: "absolute" };
          // Limits are numbers, which a command may have of its own.
          if (/^src\/(cli|core)\/|\/limits\.ts$/.test(path)) return null;
          throw new Error(
            `${relative(root, importer)} imports ${path}; a command imports doors, the core, limits and cli/engine.ts`,
          );
        },
      },
    ],
  });
  const dir = join(outdir, "cli");
  await graph.write({ ...OUTPUT, dir, chunkFileNames: "[name].js", minify: true, comments: { legal: false } });
  await graph.close();
}

/** What the commands print with `--json`. */
async function schemaOfOutput() {
  const { openApiDocument } = await bundleImport("src/hono/openapi/document.ts");
  return outputSchema(JSON.parse(openApiDocument));
}

/**
 * The two files of `#temporal`. Node has the polyfill in one small file, which runs it when a program first uses it, and
 * never where the runtime has a Temporal. Elsewhere the package of that name is imported, in the place of which bundlers
 * and import maps may put something else.
 */
async function bundleTemporal() {
  const input = join(root, "node_modules/temporal-polyfill/implementation.js");
  const graph = await rolldown({ cwd: root, input, platform: "neutral" });
  // In lines, because Node prints the line that threw an error which nobody catches, such as that of `instant + ""`.
  const minify = { mangle: true, compress: true, codegen: { removeWhitespace: false } };
  const { output } = await graph.generate({ format: "iife", name: "polyfill", exports: "named", minify });
  await graph.close();
  const names = Object.getOwnPropertyNames((await import("temporal-polyfill")).Temporal).sort();
  const getters = names.map((name) => `  get ${name}() {\n    return (loaded ??= load()).${name};\n  },`);
  const text = `let loaded;
export const Temporal = globalThis.Temporal ?? {
  [Symbol.toStringTag]: "Temporal",
${getters.join("\n")}
};
function load() {
${output[0].code.trim()}
return polyfill.Temporal;
}
`;
  writeFileSync(join(outdir, "shared/temporal.js"), text);
  writeFileSync(join(outdir, "shared/temporal-polyfill.js"), 'export { Temporal } from "temporal-polyfill";\n');
}

function licenses() {
  return BUNDLED.map((name) => {
    const path = ["LICENSE", "LICENSE.md"].map((file) => join(root, "node_modules", name, file)).find(existsSync);
    return `${name}\n\n${readFileSync(path ?? "", "utf8").trim()}\n`;
  }).join("\n\n");
}
