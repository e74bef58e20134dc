// @ts-check

import { spawn } from "node:child_process";

// The output of a part is shown when it fails; more than this is never read.
const OUTPUT_LENGTH_MAX = 2_000_000;
const GRACE_MS = 2_000;
const SIGNAL_GRACE_MS = 500;

/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();

/**
 * Runs a command in a process group of its own and waits for it, at most `timeoutMs`.
 *
 * @param {string[]} command
 * @param {{ cwd: string, timeoutMs: number, env?: Record<string, string> }} options
 * @returns {Promise<{ exitCode: number | null, output: string, problem: string | null }>}
 */
export function runCommand([file = "", ...args], { cwd, timeoutMs, env }) {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd,
      // Colours would only garble the output of a part that is shown in one piece later.
      env: { ...withoutColours(process.env), NO_COLOR: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    running.add(child);
    let output = "";
    /** @type {string | null} */
    let problem = null;
    const collect = (/** @type {Buffer} */ chunk) => {
      if (output.length < OUTPUT_LENGTH_MAX) output += chunk.toString();
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.on("error", (error) => {
      problem = `cannot start ${file}: ${error.message}`;
      if (child.pid === undefined) finish(null);
    });
    const timer = setTimeout(() => {
      problem = `was ended after ${timeoutMs / 1000} s without a result`;
      endGroup(child, "SIGKILL");
    }, timeoutMs);
    const finish = (/** @type {number | null} */ exitCode) => {
      clearTimeout(timer);
      // What the command left behind in its group would hold ports and files that later parts need.
      endGroup(child, "SIGKILL");
      running.delete(child);
      child.stdout.destroy();
      child.stderr.destroy();
      resolve({ exitCode, output, problem });
    };
    child.on("exit", (exitCode, signal) => {
      if (signal !== null) problem ??= `was ended by ${signal}`;
      // A stray grandchild may hold the pipes open for ever, so "close" is waited for only so long.
      const fallback = setTimeout(() => finish(exitCode), GRACE_MS);
      child.once("close", () => {
        clearTimeout(fallback);
        finish(exitCode);
      });
    });
  });
}

/** Ends every running command with its children when this process is told to end. */
export function endCommandsOnSignal() {
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.once(signal, () => {
      for (const child of running) endGroup(child, "SIGTERM");
      setTimeout(() => {
        for (const child of running) endGroup(child, "SIGKILL");
        process.exit(signal === "SIGINT" ? 130 : 143);
      }, SIGNAL_GRACE_MS);
    });
  }
}

/** @param {import("node:child_process").ChildProcess} child @param {NodeJS.Signals} signal */
function endGroup(child, signal) {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is gone already.
  }
}

/** @param {NodeJS.ProcessEnv} env */
function withoutColours({ FORCE_COLOR: _force, ...env }) {
  return env;
}
