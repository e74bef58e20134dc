import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { HANG_MS } from "./hang.ts";

export const ROOT: string = fileURLToPath(new URL("../..", import.meta.url));

/** Deno's binary itself: the package's command is a process around it, which would get the signals in its place. */
export function denoBinary(): string {
  const packages = readdirSync(join(ROOT, "node_modules/@deno"));
  const file = packages.map((name) => join(ROOT, "node_modules/@deno", name, "deno")).find(existsSync);
  if (file === undefined) throw new Error("Deno is missing: run `npm ci`");
  return file;
}

export const BUN_BINARY: string = join(ROOT, "node_modules/.bin/bun");

/** A process, with what it printed so far. */
export class Child {
  readonly process: ChildProcess;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  output = "";
  #onOutput = (): void => {};

  /** @param variables what its environment has beside this one's */
  constructor([command = "", ...args]: readonly string[], variables: Readonly<Record<string, string>> = {}) {
    this.process = spawn(command, args, { cwd: ROOT, env: { ...process.env, ...variables } });
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream?.on("data", (data: Buffer) => {
        this.output += data.toString();
        this.#onOutput();
      });
    }
    // When its output has ended too, so that nothing of it is missing.
    this.ended = new Promise((resolve) => this.process.once("close", (code, signal) => resolve(signal ?? code)));
  }

  /** Waits until it has printed what matches. */
  async prints(pattern: RegExp): Promise<void> {
    const deadline = AbortSignal.timeout(HANG_MS);
    while (!pattern.test(this.output)) {
      if (deadline.aborted) throw new Error(`nothing matched ${pattern} within ${HANG_MS} ms:\n${this.output}`);
      await new Promise<void>((resolve) => {
        this.#onOutput = resolve;
        deadline.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  }
}
