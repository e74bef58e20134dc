// @ts-check

// Visits every state of the model of the stores' protocol (test/model), more of them than the tests do:
//
//   node scripts/model.mjs [--quick] [--states 6000000] [--only "part of a name"]
//
// Prints the shortest way to each flaw, and exits with 1 when there is one.

import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const outfile = `${root}node_modules/.cache/escapement/model-${process.pid}.mjs`;

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    states: { type: "string", default: "6000000" },
    only: { type: "string", default: "" },
  },
});

await build({
  entryPoints: [`${root}test/model/check.ts`],
  outfile,
  bundle: true,
  format: "esm",
  target: "node20",
  logLevel: "warning",
});
/** @type {typeof import("../test/model/check.ts")} */
const { casesOf, check } = await import(pathToFileURL(outfile).href);

const startedAt = performance.now();
let states = 0;
for (const { name, settings } of casesOf(!values.quick)) {
  if (!name.includes(values.only)) continue;
  const from = performance.now();
  const verdict = check(settings, Number(values.states));
  states += verdict.states;
  const seconds = ((performance.now() - from) / 1000).toFixed(1);
  console.log(`${name}: ${verdict.states} states, ${verdict.moves} moves, ${seconds} s, ${verdict.flaw ?? "no flaw"}`);
  if (verdict.flaw === null) continue;
  console.log(verdict.trace);
  process.exitCode = 1;
}
console.log(
  `${states} states in ${((performance.now() - startedAt) / 60_000).toFixed(1)} minutes on Node ${process.version}`,
);
