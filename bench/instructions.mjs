// Counts the instructions of one item of a batch: node bench/instructions.mjs
// Needs valgrind. What two runs of different length differ by leaves start and compilation out.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const INSTANTS = 1024;
const ROUNDS = [400, 2400];
const ROWS = [
  ["* * * * *", "America/New_York", "near"],
  ["7,22,41 * * * *", "America/New_York", "near"],
  ["* * * * *", "UTC", "random"],
  ["7,22,41 * * * *", "UTC", "random"],
  ["0 12 29 2 *", "UTC", "random"],
  ["* * * * *", "America/New_York", "random"],
  ["7,22,41 * * * *", "America/New_York", "random"],
  ["0 9 * * 1", "America/New_York", "random"],
  ["0 12 29 2 *", "America/New_York", "random"],
];

const here = fileURLToPath(new URL(".", import.meta.url));
const outfile = `${here}node_modules/.cache/instructions.mjs`;
await build({
  entryPoints: [`${here}instructions.bench.ts`],
  outfile,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "es2022",
  logLevel: "warning",
});
for (const row of ROWS) {
  const [few, many] = ROUNDS.map((rounds) => count([...row, String(rounds)]));
  const each = (many - few) / (ROUNDS[1] - ROUNDS[0]) / INSTANTS;
  console.log(`${row.join(", ")}: ${each.toFixed(0)} instructions`);
}

function count(args) {
  const valgrind = ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"];
  // Compiled once, by the optimizing compiler, and on one thread: else the counts would vary.
  const node = [process.execPath, "--no-liftoff", "--single-threaded", outfile];
  const { stderr, error, status } = spawnSync("valgrind", [...valgrind, ...node, ...args], { encoding: "utf8" });
  const found = /I\s+refs:\s+([\d,]+)/.exec(stderr ?? "");
  if (error || status !== 0 || found === null) {
    console.error(`valgrind did not run (apt-get install valgrind): ${error?.message ?? stderr}`);
    process.exit(1);
  }
  return Number(found[1].replaceAll(",", ""));
}
