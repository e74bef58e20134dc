// @ts-check

import { fileURLToPath } from "node:url";
import { endCommandsOnSignal } from "../check-process.mjs";

/** The folder of the repository. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Runs a script in the folder of the repository. A mistake of its user is told with how the script is used.
 *
 * @param {() => Promise<number>} main answers with the exit code
 * @param {string} usage
 */
export async function runMain(main, usage) {
  process.chdir(ROOT);
  endCommandsOnSignal();
  try {
    process.exitCode = await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.error(`\n${usage}`);
    process.exitCode = 2;
  }
}
