#!/usr/bin/env node
import process from "node:process";
import { systemClock } from "../core/clock.ts";
import { codeOf, EXIT } from "./failure.ts";
import type { CliIo, CliSignals } from "./io.ts";
import { main } from "./main.ts";

const first = new AbortController();
const second = new AbortController();
let isAsked = false;
let isInterrupted = false;
/** Why the standard output cannot be written. */
let unwritable: string | null = null;

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    isInterrupted ||= signal === "SIGINT";
    (isAsked ? second : first).abort();
    isAsked = true;
  });
}

// Node warns of its own SQLite, which no reader of the output can do anything about.
process.removeAllListeners("warning");
process.on("warning", ({ name, message }) => {
  if (name !== "ExperimentalWarning") process.stderr.write(`${name}: ${message}\n`);
});

const signals: CliSignals = {
  first: first.signal,
  second: second.signal,
  get isInterrupted() {
    return isInterrupted;
  },
  onHangUp(listener) {
    process.on("SIGHUP", listener);
    return () => process.off("SIGHUP", listener);
  },
};

const { stdout, stderr, stdin } = process;
// Whoever reads the output may stop reading, as `head` does. Running commands and jobs end first, as after SIGTERM.
stdout.on("error", (error) => {
  unwritable ??= codeOf(error) ?? error.message;
  first.abort();
});
stderr.on("error", () => {});

const io: CliIo = {
  write: (text) => void stdout.write(text),
  drained: () =>
    stdout.writableNeedDrain ? new Promise((resolve) => stdout.once("drain", resolve)) : Promise.resolve(),
  writeError: (text) => void stderr.write(text),
  readInput: () => stdin,
  isTerminal: stdout.isTTY === true,
  isErrorTerminal: stderr.isTTY === true,
  columns: stdout.columns ?? stderr.columns ?? 80,
  env: process.env,
  cwd: process.cwd(),
  clock: systemClock,
  signals,
};

const code = await main(process.argv.slice(2), io);
// What a program left behind, such as a timer, must not keep the process.
await new Promise<void>((resolve) => stdout.write("", () => resolve()));
if (unwritable === null || unwritable === "EPIPE") process.exit(code);
stderr.write(`error: the output cannot be written: ${unwritable}\n`, () => process.exit(EXIT.found));
