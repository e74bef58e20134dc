// @ts-check

const BIN = "node_modules/.bin";
const REPORTER = "./scripts/check-reporter.mjs";

// What packs the package takes what the build has just made, and asks no registry.
const OF_THE_BUILD = { npm_config_ignore_scripts: "true", npm_config_offline: "true" };

/**
 * A command that passes or fails as a whole.
 *
 * @typedef {{ name: string, command: string[], isSlow?: boolean, env?: Record<string, string> }} Check
 */

/** @type {Check[]} */
export const CHECKS = [
  { name: "wasm/dist is fresh", command: ["node", "scripts/build-wasm.mjs", "--check"] },
  { name: "the OpenAPI document is fresh", command: ["node", "scripts/build-openapi.mjs", "--check"] },
  { name: "the page is fresh", command: ["node", "scripts/build-dashboard.mjs", "--check"] },
  { name: "types of the page", command: [`${BIN}/tsc`, "-p", "src/dashboard/page/tsconfig.json"] },
  { name: "types of tests and examples", command: [`${BIN}/tsc`, "-p", "test/tsconfig.json"] },
  { name: "types of examples on Bun", command: [`${BIN}/tsc`, "-p", "examples/bun/tsconfig.json"] },
  {
    name: "types of the example of a Durable Object",
    command: [`${BIN}/tsc`, "-p", "examples/cloudflare/durable-object/tsconfig.json"],
  },
  { name: "format and lint", command: [`${BIN}/biome`, "ci", "--colors=off"] },
  { name: "unused files, exports and dependencies", command: [`${BIN}/knip`, "--no-progress"] },
  // It emits declarations, and fails at any wrong type of src.
  { name: "types of src, and build", command: ["node", "scripts/build.mjs"] },
  { name: "package (publint)", command: [`${BIN}/publint`, "--strict"], isSlow: true, env: OF_THE_BUILD },
  {
    name: "package types (attw)",
    command: [`${BIN}/attw`, "--pack", ".", "--profile", "esm-only", "--no-color", "--no-emoji"],
    isSlow: true,
    env: OF_THE_BUILD,
  },
  {
    // The tests are run on Deno, and their types are checked above.
    name: "types on Deno",
    command: [`${BIN}/deno`, "check", "--quiet", "src", "examples/deno", "examples/http/deno.ts"],
    isSlow: true,
  },
  { name: "lint on Deno", command: [`${BIN}/deno`, "lint", "--quiet", "src"] },
  {
    name: "package on JSR (dry run)",
    // The types were checked above; slow types are still found.
    command: [`${BIN}/deno`, "publish", "--quiet", "--dry-run", "--allow-dirty", "--no-check"],
    isSlow: true,
  },
];

/**
 * A runtime that the suite runs on. `run` gets vitest's own arguments.
 *
 * @typedef {{ name: string, run: (args: string[]) => string[], env?: Record<string, string> }} Runtime
 */

/** @type {Runtime[]} */
export const RUNTIMES = [
  { name: "node", run: (args) => ["node", "node_modules/vitest/vitest.mjs", "run", ...args] },
  {
    name: "deno",
    run: (args) => [`${BIN}/deno`, "run", "-A", "--cached-only", "node_modules/vitest/vitest.mjs", "run", ...args],
    env: { DENO_NO_UPDATE_CHECK: "1" },
  },
  { name: "bun", run: (args) => [`${BIN}/bun`, "--bun", "node_modules/vitest/vitest.mjs", "run", ...args] },
  {
    name: "workerd",
    run: (args) => ["node", "node_modules/vitest/vitest.mjs", "run", "-c", "vitest.workerd.config.ts", ...args],
    env: { WRANGLER_SEND_METRICS: "false" },
  },
];

/** The parts, longest first: what waits for the end of a long one alone leaves processors idle. */
export const STARTING_ORDER = ["node", "deno", "workerd", "checks", "bun"];

/**
 * Vitest's arguments for one run.
 *
 * @param {{ filters: string[], isFast: boolean }} options
 */
export function vitestArguments({ filters, isFast }) {
  const excluded = isFast ? ["--exclude=test/**/package*.node.test.ts", "--exclude=test/**/*.browser.test.ts"] : [];
  // A forgotten `.only` would skip everything beside it.
  return [
    "--reporter=default",
    `--reporter=${REPORTER}`,
    "--passWithNoTests",
    "--allowOnly=false",
    ...excluded,
    ...filters,
  ];
}
