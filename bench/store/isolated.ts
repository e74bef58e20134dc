import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { installNode } from "../../scripts/lib/node-versions.mjs";
import type { BenchRuntime } from "./contestant.ts";

/** Marks the line of a child's output that holds its result. */
const RESULT_MARK = "result of the measurement: ";

/** Runs this bundle once more, in a process of its own, with these arguments; resolves with what it {@link answer}s. So
 *  no contestant works on the heap, the compiled code or the connections of another. */
export function runIsolated<T>(runtime: BenchRuntime, args: readonly string[], msMax: number): Promise<T> {
  const bundle = process.argv[1];
  if (bundle === undefined) throw new Error("the path of the bundle is unknown");
  const command = [...programOf(runtime), bundle];
  return new Promise((resolve, reject) => {
    const [program = "", ...first] = command;
    const child = spawn(program, [...first, ...args], { stdio: ["ignore", "pipe", "pipe"], timeout: msMax });
    let output = "";
    let errors = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors += text;
    });
    child.once("error", reject);
    child.once("close", (code, signal) => {
      const line = output.split("\n").find((text) => text.startsWith(RESULT_MARK));
      if (line !== undefined) return resolve(JSON.parse(line.slice(RESULT_MARK.length)) as T);
      const how = signal === null ? `exit code ${code}` : `${signal}, after at most ${msMax} ms`;
      // The failure and its causes.
      const lines = errors.split("\n").filter((text) => /Error\b.*:/.test(text));
      const reason = lines.slice(0, 3).join("; ") || errors.trim().slice(-400);
      reject(new Error(`ended with ${how}: ${reason}`));
    });
  });
}

function programOf(runtime: BenchRuntime): readonly string[] {
  // From the bundle, which lies in bench/node_modules/.cache.
  const root = fileURLToPath(new URL("../../../", import.meta.url));
  if (runtime === "bun") return [`${root}node_modules/.bin/bun`, "run"];
  return [runtime === "node 24" ? `${installNode(root, "24")}/node` : process.execPath];
}

/** The child's answer; ends the process, as some libraries keep timers. */
export function answer(result: unknown): void {
  process.stdout.write(`${RESULT_MARK}${JSON.stringify(result)}\n`, () => process.exit(0));
}
