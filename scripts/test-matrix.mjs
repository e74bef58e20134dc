// @ts-check

// Runs the suite on every runtime and version that is supported, two at once, and ends with a table.
// `npm run test:matrix -- --help` names the options.

import { parseArgs } from "node:util";
import { vitestArguments } from "./check-parts.mjs";
import { inLanes } from "./lib/lanes.mjs";
import { MATRIX, prepareRuntime } from "./lib/matrix-runtimes.mjs";
import { formatMatrix, isGreen, rowWithoutRun } from "./lib/matrix-table.mjs";
import { ROOT, runMain } from "./lib/run-main.mjs";
import { runSuite } from "./lib/run-suite.mjs";

/** @typedef {import("./lib/matrix-runtimes.mjs").MatrixRuntime} MatrixRuntime */

const LANES = 2;

/** What tells most about a runtime in a few seconds: the wasm, zones by Temporal, and a store. */
const SHORT = ["test/runtime/", "test/cron/zone.test.ts", "test/stores/memory.test.ts"];

const USAGE = `npm run test:matrix -- [options] [file filter ...]

  --only <runtime,...>   run only these: ${MATRIX.join(", ")}
  --short                run a few test files on each
  --help                 print this

A file filter is a part of a test file's path. Chromium has tests of its own, and takes no filter. The exit code is 1 when
a test fails or a runtime cannot run.`;

await runMain(main, USAGE);

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      only: { type: "string", multiple: true },
      short: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const named = (values.only ?? []).flatMap((list) => list.split(",")).filter((name) => name !== "");
  for (const name of named) {
    if (!MATRIX.includes(name)) throw new Error(`--only knows ${MATRIX.join(", ")}; got ${JSON.stringify(name)}`);
  }
  const filters = [...(values.short ? SHORT : []), ...positionals];
  const chosen = MATRIX.filter((name) => named.length === 0 || named.includes(name));
  // One after the other, because npm installs the versions of Node.
  const prepared = [];
  for (const name of chosen) prepared.push({ name, runtime: await prepare(name) });
  const rows = await inLanes(prepared, LANES, ({ name, runtime }) => runOn(name, runtime, filters));
  console.log(`\n${formatMatrix(rows)}`);
  return isGreen(rows) ? 0 : 1;
}

/** @param {string} name @returns {Promise<MatrixRuntime | string>} the runtime, or why it cannot run here */
async function prepare(name) {
  try {
    return await prepareRuntime(ROOT, name);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** @param {string} name @param {MatrixRuntime | string} runtime @param {string[]} filters */
async function runOn(name, runtime, filters) {
  if (typeof runtime === "string") {
    console.log(`\nSuite on ${name}: did not run: ${runtime}`);
    return rowWithoutRun(name, runtime);
  }
  const { version, temporal, only, without } = runtime;
  const args = [...vitestArguments({ isFast: false, filters: only.length > 0 ? only : filters }), ...without];
  const lines = /** @type {string[]} */ ([]);
  const row = await runSuite(runtime, {
    root: ROOT,
    args,
    isWhole: true,
    mayBeEmpty: false,
    print: (line) => lines.push(line),
  });
  console.log(lines.join("\n"));
  return { ...row, version, temporal, problem: null };
}
