import { spawn } from "node:child_process";
import process from "node:process";

/** A command of the shell, as a crontab has it. */
export interface ShellCommand {
  readonly command: string;
  /** What it reads from its standard input; null for nothing. */
  readonly input: string | null;
  readonly shell: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** How long a command has to end after SIGTERM, in milliseconds. */
const KILL_AFTER_MS = 5000;
/** A line is cut here, as a log keeps no more of it. */
const LINE_LENGTH_MAX = 4096;

/**
 * Runs a command, and hands each line of its output on. The signal ends the command with what it started: by SIGTERM,
 * then by SIGKILL.
 * @returns how it ended: its exit code, or the signal that ended it
 * @throws the error of a shell that cannot be started
 */
export function runShell(
  { command, input, shell, cwd, env }: ShellCommand,
  onLine: (line: string, channel: "stdout" | "stderr") => void,
  { signal, sleep }: { readonly signal: AbortSignal; sleep(ms: number): Promise<void> },
): Promise<number | NodeJS.Signals | null> {
  return new Promise((resolve, reject) => {
    // A group of its own, so that what the shell started ends with it, and Ctrl-C in the terminal lets it end in peace.
    const child = spawn(shell, ["-c", command], { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    const kill = (name: NodeJS.Signals): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, name);
      } catch {
        // It has ended.
      }
    };
    let hasEnded = false;
    const onAbort = (): void => {
      kill("SIGTERM");
      void sleep(KILL_AFTER_MS).then(() => {
        if (!hasEnded) kill("SIGKILL");
      });
    };
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    for (const channel of ["stdout", "stderr"] as const) {
      const lines = new Lines((line) => onLine(line, channel));
      child[channel].setEncoding("utf8").on("data", (text: string) => lines.push(text));
      child[channel].on("end", () => lines.end());
    }
    // A command that does not read its input closes it.
    child.stdin.on("error", () => {});
    child.stdin.end(input ?? "");
    child.once("error", reject);
    child.once("close", (code, name) => {
      hasEnded = true;
      signal.removeEventListener("abort", onAbort);
      resolve(name ?? code);
    });
  });
}

/** Text in pieces as lines. */
class Lines {
  readonly #onLine: (line: string) => void;
  #rest = "";

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  push(text: string): void {
    const lines = `${this.#rest}${text}`.split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#tell(line);
    // A command that never ends its line must not fill the memory.
    while (this.#rest.length > LINE_LENGTH_MAX) {
      this.#tell(this.#rest.slice(0, LINE_LENGTH_MAX));
      this.#rest = this.#rest.slice(LINE_LENGTH_MAX);
    }
  }

  end(): void {
    if (this.#rest !== "") this.#tell(this.#rest);
    this.#rest = "";
  }

  #tell(line: string): void {
    this.#onLine(line.replace(/\r$/, "").slice(0, LINE_LENGTH_MAX));
  }
}
