import { spawn } from "node:child_process";
import { HANG_MS } from "../support/hang.ts";

/** How a command ended. `output` holds stdout and stderr as they came. */
export interface Ended {
  readonly exitCode: number | null;
  readonly output: string;
  readonly stdout: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Ends the command with SIGINT as soon as its output satisfies this. */
  readonly until?: (output: string) => boolean;
}

/** Runs a command without a shell or stdin. Never rejects for what the command does. */
export function run([file = "", ...args]: readonly string[], options: RunOptions): Promise<Ended> {
  const { cwd, env, until } = options;
  return new Promise((resolve, reject) => {
    // Vitest sets NODE_ENV and the like for its own process; a user's shell has none of that.
    const { NODE_ENV: _, VITEST: __, NODE_OPTIONS: ___, ...inherited } = process.env;
    const child = spawn(file, args, {
      cwd,
      env: { ...inherited, NO_COLOR: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let output = "";
    let isEnding = false;
    const collect = (text: string): void => {
      output += text;
      if (until === undefined || isEnding || !until(output)) return;
      isEnding = true;
      child.kill("SIGINT");
    };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      collect(text);
    });
    child.stderr.setEncoding("utf8").on("data", collect);
    const timer = setTimeout(() => {
      output += `\n(ended after ${HANG_MS / 1000} s)`;
      child.kill("SIGKILL");
    }, HANG_MS);
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.on("close", (exitCode) => {
      clearTimeout(timer);
      resolve({ exitCode, output, stdout });
    });
  });
}

/** Runs a command that must succeed, and answers with its stdout. */
export async function runOk(command: readonly string[], options: RunOptions): Promise<string> {
  const { exitCode, output, stdout } = await run(command, options);
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}:\n${output}`);
  return stdout;
}
