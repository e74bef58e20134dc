// @ts-check

// Runs the suite on every runtime and version that is supported, one after the other, and ends with a table.
// `npm run test:matrix -- --help` names the options.

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { vitestArguments } from "./check-parts.mjs";
import { endCommandsOnSignal } from "./check-process.mjs";
import { MATRIX, prepareRuntime } from "./lib/matrix-runtimes.mjs";
import { formatMatrix, isGreen, rowWithoutRun } from "./lib/matrix-table.mjs";
import { runSuite } from "./lib/run-suite.mjs";

/** What tells most about a runtime in a few seconds: the wasm, zones by Temporal, and a store. */
const SHORT = ["test/runtime/", "test/cron/zone.test.ts", "test/stores/memory.test.ts"];

const USAGE = `npm run test:matrix -- [options] [file filter ...]

  --only <runtime,...>   run only these: ${MATRIX.join(", ")}
  --short                run a few test files on each
  --help                 print this

A file filter is a part of a test file's path. Chromium has tests of its own, and takes no filter. The exit code is 1 when
a test fails or a runtime cannot run.`;

const root = fileURLToPath(new URL("..", import.meta.url));
process.chdir(root);
endCommandsOnSignal();

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  console.error(`\n${USAGE}`);
  process.exitCode = 2;
}

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
  const rows = [];
  for (const name of MATRIX) if (named.length === 0 || named.includes(name)) rows.push(await runOn(name, filters));
  console.log(`\n${formatMatrix(rows)}`);
  return isGreen(rows) ? 0 : 1;
}

/** @param {string} name @param {string[]} filters */
async function runOn(name, filters) {
  try {
    const runtime = await prepareRuntime(root, name);
    const { version, temporal, only, without } = runtime;
    const args = [...vitestArguments({ isFast: false, filters: only.length > 0 ? only : filters }), ...without];
    const row = await runSuite(runtime, { root, args, mayBeEmpty: false });
    return { ...row, version, temporal, problem: null };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    console.log(`\nSuite on ${name}: did not run: ${problem}`);
    return rowWithoutRun(name, problem);
  }
}
