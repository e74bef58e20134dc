import { spawn } from "node:child_process";
import process from "node:process";
import { yieldToEventLoop } from "../core/clock.ts";

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
/** How long the pipes of a command have to close after its shell has ended, in milliseconds. Who still holds them then
 *  is a daemon that the command left behind. */
const PIPE_GRACE_MS = 2000;
/** A line is cut here, as a log keeps no more of it. */
const LINE_LENGTH_MAX = 4096;

/**
 * Runs a command, and hands each line of its output on. It ends with its shell: what that leaves behind in the
 * background has a moment for the rest of its output, and is not waited for. Its later lines are handed on, too,
 * because a pipe that nobody reads would end it. The signal ends the command with what it started: by SIGTERM, then by
 * SIGKILL.
 * @returns how it ended: its exit code, or the signal that ended it
 * @throws the error of a shell that cannot be started
 */
export function runShell(
  { command, input, shell, cwd, env }: ShellCommand,
  onLine: (line: string, channel: "stdout" | "stderr") => void,
  { signal, sleep }: { readonly signal: AbortSignal; sleep(ms: number, signal?: AbortSignal): Promise<void> },
): Promise<number | NodeJS.Signals | null> {
  return new Promise((resolve, reject) => {
    // A group of its own, so that what the shell started ends with it, and Ctrl-C in the terminal lets it end in peace.
    const child = spawn(shell, ["-c", command], { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    /** @returns whether the group has a process */
    const kill = (name: NodeJS.Signals | 0): boolean => {
      try {
        return child.pid !== undefined && process.kill(-child.pid, name);
      } catch {
        // It has ended.
        return false;
      }
    };
    let hasGroup = true;
    const onAbort = (): void => {
      kill("SIGTERM");
      void sleep(KILL_AFTER_MS).then(() => {
        if (hasGroup) kill("SIGKILL");
      });
    };
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const channels = (["stdout", "stderr"] as const).map((channel) => {
      const lines = new Lines((line) => onLine(line, channel));
      child[channel].setEncoding("utf8").on("data", (text: string) => lines.push(text));
      child[channel].on("end", () => lines.end());
      return lines;
    });
    // A command that does not read its input closes it.
    child.stdin.on("error", () => {});
    child.stdin.end(input ?? "");
    const closed = new AbortController();
    child.once("close", () => closed.abort());
    child.once("error", reject);
    child.once("exit", async (code, name) => {
      // What is left has survived its shell on purpose, and a later signal is not about it.
      signal.removeEventListener("abort", onAbort);
      // An empty group is never signalled again, because its number may be given to another.
      hasGroup = kill(0);
      if (!closed.signal.aborted) {
        if (!signal.aborted) await sleep(PIPE_GRACE_MS, AbortSignal.any([closed.signal, signal]));
        else if (hasGroup) await sleep(KILL_AFTER_MS + PIPE_GRACE_MS, closed.signal);
        // The time may be up before what came meanwhile was read.
        if (!closed.signal.aborted) await yieldToEventLoop();
        hasGroup = hasGroup && kill(0);
      }
      for (const lines of channels) lines.end();
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
