// @ts-check

// Removes from a build the declarations that no door of package.json reaches:
// `node scripts/drop-declarations.mjs [--outdir dist]`. `npm run build` does both.

import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { builtDoors } from "./lib/built-doors.mjs";
import { reachedDeclarations } from "./lib/reached-declarations.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values } = parseArgs({ options: { outdir: { type: "string", default: "dist" } } });
const outdir = resolve(root, values.outdir);
const { declarations } = builtDoors(JSON.parse(readFileSync(`${root}package.json`, "utf8")));
const reached = reachedDeclarations(declarations, (path) => readFileSync(join(outdir, path), "utf8"));

for (const file of readdirSync(outdir, { recursive: true, encoding: "utf8" })) {
  const path = file.replaceAll("\\", "/");
  if (path.endsWith(".d.ts") && !reached.has(path)) rmSync(join(outdir, path));
}
