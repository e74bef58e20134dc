// Runs a program for two checkouts, a process each, which work in turns.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { ANSWER_MARK, TURN_MARK } from "./program.mjs";

const RUN_MS_MAX = 600_000;
const REASON_LENGTH_MAX = 400;

/**
 * @param file the program
 * @param sides in the order in which they begin: `{ name, args }`
 * @returns the answers by the sides' names
 * @throws {Error} when a program fails: which side, and why
 */
export async function runPair(file, sides) {
  const runs = sides.map(({ name, args }) => new Run(name, file, args));
  try {
    // Who went second goes first in the next turn: A B, B A, A B, ...
    for (let order = runs; runs.some((run) => run.answer === null); order = order.toReversed()) {
      for (const run of order) await run.goOn();
    }
  } finally {
    for (const run of runs) run.end();
  }
  return Object.fromEntries(runs.map(({ name, answer }) => [name, answer]));
}

class Run {
  answer = null;
  #child = null;
  #errors = "";
  #stopped = () => {};
  #failed = () => {};

  constructor(name, file, args) {
    this.name = name;
    this.command = [file, ...args];
  }

  /** Starts the program or gives it its turn; resolves when it waits for the next one, or has answered. */
  goOn() {
    if (this.answer !== null) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#stopped = resolve;
      this.#failed = (reason) => reject(new Error(`${this.name} ${reason}`));
      if (this.#child === null) this.#start();
      else this.#child.stdin.write("\n");
    });
  }

  end() {
    this.#child?.kill("SIGKILL");
  }

  #start() {
    // The host's time zone must not matter.
    const child = spawn(process.execPath, this.command, { timeout: RUN_MS_MAX, env: { ...process.env, TZ: "UTC" } });
    this.#child = child;
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.startsWith(TURN_MARK)) this.#stopped();
      if (line.startsWith(ANSWER_MARK)) this.answer = JSON.parse(line.slice(ANSWER_MARK.length));
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      this.#errors += text;
    });
    // Who ends too early does not read.
    child.stdin.on("error", () => {});
    child.once("error", ({ message }) => this.#failed(message));
    child.once("close", (code, signal) => {
      if (this.answer !== null) return this.#stopped();
      const how = signal === null ? `exit code ${code}` : `${signal}, after at most ${RUN_MS_MAX} ms`;
      const reason = this.#errors.split("\n").find((text) => /Error\b.*:/.test(text)) ?? this.#errors.trim();
      this.#failed(`ended with ${how}: ${reason.slice(0, REASON_LENGTH_MAX)}`);
    });
  }
}
