// @ts-check

import { spawn } from "node:child_process";

// Asks for its parent all the time, so that it ends with it, however that ends.
const LOOP = "const parent = process.ppid; while (process.ppid === parent);";

/**
 * Starts processes that only take time from others, as on a machine that is busy otherwise.
 *
 * @param {number} count
 * @returns {() => void} what ends them
 */
export function startBusyLoops(count) {
  const loops = Array.from({ length: count }, () => spawn(process.execPath, ["-e", LOOP], { stdio: "ignore" }));
  return () => {
    for (const loop of loops) loop.kill("SIGKILL");
  };
}
