// @ts-check

// What the matrix runs on: how each runtime is started, which version it is, and whether it has Temporal.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { RUNTIMES } from "../check-parts.mjs";
import { installNode } from "./node-versions.mjs";

const CHROMIUM = "/usr/bin/chromium";
const HAS_TEMPORAL = "typeof Temporal";
const BROWSER_TESTS = "test/browser/";
const PROBE_HANG_MS = 60_000;

/** The runtimes by their names in the matrix, in its order. */
export const MATRIX = ["node20", "node22", "node24", "node26", "deno", "bun", "workerd", "chromium"];

/**
 * A runtime that is ready to run the suite. `temporal` is what its `typeof Temporal` is. `only` and `without` say which
 * tests are its own, as vitest's arguments.
 *
 * @typedef {import("../check-parts.mjs").Runtime & { version: string, temporal: string, only: string[],
 *   without: string[] }} MatrixRuntime
 */

/**
 * Prepares a runtime: installs it if that is possible.
 *
 * @param {string} root the folder of the repository
 * @param {string} name
 * @returns {Promise<MatrixRuntime>}
 * @throws {Error} why it cannot run here
 */
export async function prepareRuntime(root, name) {
  if (name.startsWith("node")) return prepareNode(root, name, name.slice("node".length));
  if (name === "chromium") return prepareChromium();
  const runtime = RUNTIMES.find((candidate) => candidate.name === name);
  if (runtime === undefined) throw new Error(`there is no runtime ${name}`);
  const own = { ...runtime, only: [], without: [] };
  if (name === "workerd") return { ...own, ...(await askWorkerd(root)) };
  const program = join(root, "node_modules/.bin", name);
  const [, version = ""] = /(\d+\.\d+\.\d+)/.exec(ask([program, "--version"])) ?? [];
  const evaluation = name === "deno" ? ["eval", `console.log(${HAS_TEMPORAL})`] : ["-p", HAS_TEMPORAL];
  return { ...own, version, temporal: ask([program, ...evaluation]) };
}

/** @param {string} root @param {string} name @param {string} major @returns {MatrixRuntime} */
function prepareNode(root, name, major) {
  const isRunning = process.versions.node.startsWith(`${major}.`);
  // Tests start others by the name `node`.
  const folder = isRunning ? null : installNode(root, major);
  const program = folder === null ? process.execPath : join(folder, "node");
  return {
    name,
    run: (args) => [program, "node_modules/vitest/vitest.mjs", "run", ...args],
    ...(folder !== null && { env: { PATH: `${folder}${delimiter}${process.env.PATH}` } }),
    version: ask([program, "--version"]).replace("v", ""),
    temporal: ask([program, "-p", HAS_TEMPORAL]),
    only: [],
    // They are a row of their own.
    without: ["--exclude=test/**/*.browser.test.ts"],
  };
}

/** Tests on Node drive the browser. @returns {MatrixRuntime} */
function prepareChromium() {
  if (!existsSync(CHROMIUM)) throw new Error(`${CHROMIUM} is missing; install it with: apt-get install -y chromium`);
  const [, version = ""] = /(\d[\d.]*)/.exec(ask([CHROMIUM, "--version"])) ?? [];
  const page = `data:text/html,<script>document.write("is " + ${HAS_TEMPORAL})</script>`;
  const shown = ask([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page]);
  return {
    name: "chromium",
    run: (args) => ["node", "node_modules/vitest/vitest.mjs", "run", ...args],
    version,
    temporal: /<body>is (\w+)/.exec(shown)?.[1] ?? "unknown",
    only: [BROWSER_TESTS],
    without: [],
  };
}

/** @param {string} root */
async function askWorkerd(root) {
  const { Miniflare } = await import("miniflare");
  const { version } = JSON.parse(readFileSync(join(root, "node_modules/workerd/package.json"), "utf8"));
  const script = `export default { fetch: () => new Response(${HAS_TEMPORAL}) };`;
  const workerd = new Miniflare({ modules: true, script, compatibilityDate: "2026-04-26" });
  try {
    const response = await workerd.dispatchFetch("http://localhost/");
    return { version, temporal: await response.text() };
  } finally {
    await workerd.dispose();
  }
}

/** @param {string[]} command */
function ask([file = "", ...args]) {
  const { stdout, status, error } = spawnSync(file, args, { encoding: "utf8", timeout: PROBE_HANG_MS });
  if (status !== 0) throw new Error(`${file} does not run: ${error?.message ?? `exit code ${status}`}`);
  return stdout.trim();
}
