// @ts-check

// Runs the suite on other versions of Node, each installed once, from npm, into node_modules/.cache:
//
//   node scripts/test-nodes.mjs [--nodes 22,24,26] [options and file filters of npm test]

import { spawn, spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { installNode } from "./lib/node-versions.mjs";

const NODES = "22,24,26";

const root = fileURLToPath(new URL("..", import.meta.url));

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}

/** @param {string[]} args */
async function main(args) {
  const at = args.indexOf("--nodes");
  const nodes = (at === -1 ? NODES : (args[at + 1] ?? "")).split(",");
  const passedOn = at === -1 ? args : [...args.slice(0, at), ...args.slice(at + 2)];
  if (!nodes.every((node) => /^\d+(\.\d+)*$/.test(node))) throw new Error(`--nodes takes versions such as ${NODES}`);
  const summary = [];
  for (const node of nodes) {
    const folder = installNode(root, node);
    const { version, line, exitCode } = await runSuite(folder, passedOn);
    summary.push({ text: `${version.padEnd(9)} ${line}`, exitCode });
  }
  console.log("\nAll versions");
  for (const { text } of summary) console.log(text);
  return Math.max(...summary.map(({ exitCode }) => exitCode));
}

/**
 * @param {string} programs a folder
 * @param {string[]} args
 * @returns {Promise<{ version: string, line: string, exitCode: number }>} `line` is the last one that was printed
 */
function runSuite(programs, args) {
  const program = join(programs, "node");
  const version = spawnSync(program, ["--version"], { encoding: "utf8" }).stdout.trim();
  console.log(`\nNode ${version}`);
  return new Promise((resolve, reject) => {
    const child = spawn(program, ["scripts/test.mjs", "--only", "node", ...args], {
      cwd: root,
      // Tests start others by the name `node`.
      env: { ...process.env, PATH: `${programs}${delimiter}${process.env.PATH}` },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
      process.stdout.write(text);
      printed += text;
    });
    child.once("error", reject);
    child.once("close", (exitCode) => {
      resolve({ version, line: printed.trimEnd().split("\n").at(-1) ?? "", exitCode: exitCode ?? 1 });
    });
  });
}
