// How a program hands its values to the runner.
import { spawn } from "node:child_process";

/** Marks the line of a program's output that holds its answer. */
const MARK = "answer of the program: ";
const RUN_MS_MAX = 180_000;
const REASON_LENGTH_MAX = 400;

/**
 * The program's answer; ends the process. `computed` is what both checkouts must have computed alike, `values` are
 * `{ name, unit, value }`, of which less is better.
 */
export function answer(computed, values) {
  process.stdout.write(`${MARK}${JSON.stringify({ computed, values })}\n`, () => process.exit(0));
}

/** Runs a program in a process of its own; resolves with its answer, and rejects with the reason when it fails. */
export function ask(file, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: RUN_MS_MAX,
      // The host's time zone must not matter.
      env: { ...process.env, TZ: "UTC" },
    });
    let output = "";
    let errors = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      errors += text;
    });
    child.once("error", reject);
    child.once("close", (code, signal) => {
      const line = output.split("\n").find((text) => text.startsWith(MARK));
      if (line !== undefined) return resolve(JSON.parse(line.slice(MARK.length)));
      const how = signal === null ? `exit code ${code}` : `${signal}, after at most ${RUN_MS_MAX} ms`;
      const reason = errors.split("\n").find((text) => /Error\b.*:/.test(text)) ?? errors.trim();
      reject(new Error(`ended with ${how}: ${reason.slice(0, REASON_LENGTH_MAX)}`));
    });
  });
}
