// @ts-check

// Writes test/simulation/caught-by.ts: for each fault of our own, the first seed whose simulation finds it.
//
//   node scripts/mutant-seeds.mjs
//
// The tests ask these seeds first. One that finds nothing any more makes them slower, not wrong, and a line of
// `npm test` says so.

import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const outfile = `${root}node_modules/.cache/escapement/mutant-seeds-${process.pid}.mjs`;

await mkdir(new URL(".", pathToFileURL(outfile)), { recursive: true });
await build({
  stdin: {
    contents: 'export { MUTANTS } from "./mutants.ts"; export { catchingSeed } from "./catching-seed.ts";',
    resolveDir: `${root}test/simulation`,
  },
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  logLevel: "warning",
  external: ["temporal-polyfill", "valibot"],
});

/** @type {{ MUTANTS: typeof import("../test/simulation/mutants.ts").MUTANTS,
 *   catchingSeed: typeof import("../test/simulation/catching-seed.ts").catchingSeed }} */
const { MUTANTS, catchingSeed } = await import(pathToFileURL(outfile).href);

const lines = [];
for (const mutant of MUTANTS) {
  const seed = await catchingSeed(mutant, null);
  console.log(`${seed ?? "no seed"}: ${mutant.name}`);
  if (seed !== null) lines.push(`  ${JSON.stringify(mutant.name)}: ${seed},`);
  else process.exitCode = 1;
}

const text = `// Written by \`node scripts/mutant-seeds.mjs\`.

/** By the name of a fault, the first seed whose simulation finds it. */
export const CAUGHT_BY: Readonly<Record<string, number>> = {
${lines.join("\n")}
};
`;
await writeFile(`${root}test/simulation/caught-by.ts`, text);
