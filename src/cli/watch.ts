import { type ChildProcess, spawn } from "node:child_process";
import { watch } from "node:fs";
import { dirname, resolve } from "node:path";
import process from "node:process";
import { sleepFor } from "../core/clock.ts";
import type { CommandCall } from "./command.ts";
import { EXIT } from "./failure.ts";
import { styled } from "./output.ts";

const SOURCES = /\.([cm]?[jt]sx?|json)$/;
/** Editors write a file in several steps. */
const SETTLE_MS = 100;

/**
 * Runs the same command without `--watch` in a process of its own, and once more whenever a source in the folder of the
 * file changes. The process that runs gets SIGTERM, so that its running jobs end first.
 */
export async function runWatched({ io, out, args }: CommandCall): Promise<number> {
  const words = process.argv.slice(2).filter((word) => word !== "--watch");
  // Deno's own arguments are not told.
  const runtime = "Deno" in globalThis ? ["run", "-A"] : process.execArgv;
  let child: ChildProcess | null = null;
  let wanted = false;
  let ending = false;
  let last: number = EXIT.fine;
  const begin = (): void => {
    wanted = false;
    // A group of its own, so that Ctrl-C in the terminal asks it once to end, and not twice.
    const options = { stdio: "inherit", cwd: io.cwd, detached: true } as const;
    child = spawn(process.execPath, [...runtime, process.argv[1] ?? "", ...words], options);
    child.once("exit", (code) => {
      child = null;
      last = code ?? EXIT.found;
      if (wanted && !ending) begin();
    });
  };
  const restart = (): void => {
    if (wanted || ending) return;
    wanted = true;
    out.error(styled("dim", "a source changed: starting anew when running jobs have ended"));
    void sleepFor(io.clock, SETTLE_MS).then(() => {
      if (child === null) begin();
      else child.kill("SIGTERM");
    });
  };
  const watcher = watch(dirname(resolve(io.cwd, args[0] ?? "")), (_, name) => {
    if (name === null || SOURCES.test(name)) restart();
  });
  begin();
  await new Promise<void>((ended) => {
    io.signals.first.addEventListener("abort", () => ended(), { once: true });
  });
  ending = true;
  watcher.close();
  await new Promise<void>((ended) => {
    if (child === null) ended();
    else {
      const running = child;
      running.once("exit", () => ended());
      running.kill("SIGTERM");
      // The second signal asks it to hurry.
      io.signals.second.addEventListener("abort", () => running.kill("SIGTERM"), { once: true });
    }
  });
  return last;
}
