import { type ChildProcess, fork } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { stripVTControlCharacters } from "node:util";
import { startBackgroundTimer } from "../../core/background-timer.ts";
import { timerHost } from "../../core/timer-host.ts";
import { missingEntryAdvice } from "../remote/missing-entry.ts";
import type { ToWorker } from "../remote/remote-call.ts";
import type { ChannelListener, LostReason, WorkerChannel } from "../remote/worker-channel.ts";

/** How processes are started. */
export interface ProcessSettings {
  /** The URL of their program. */
  readonly entry: string;
  readonly env: Readonly<Record<string, string>> | undefined;
  readonly execArgv: readonly string[] | undefined;
  readonly cwd: string | undefined;
}

/** A child process, and the messages to it and from it. */
export class ProcessChannel implements WorkerChannel {
  readonly sharesMemory = false;
  readonly #child: ChildProcess;
  readonly #lastLines = new LastLines();
  readonly #listener: ChannelListener;
  /** Resolves when there is no process any more. */
  readonly #gone: Promise<void>;
  /** Whether the listener knows that the process has ended. */
  #isOver = false;
  /** Whether nobody wants to hear of the process any more. */
  #isKilled = false;

  constructor({ entry, env, execArgv, cwd }: ProcessSettings, listener: ChannelListener) {
    this.#listener = listener;
    this.#child = fork(new URL(entry), [], {
      serialization: SERIALIZATION,
      // The terminal's input stays with this program.
      stdio: ["ignore", "inherit", "pipe", "ipc"],
      ...(env === undefined ? {} : { env: { ...env } }),
      ...(execArgv === undefined ? {} : { execArgv: [...execArgv] }),
      ...(cwd === undefined ? {} : { cwd }),
    });
    this.#child.on("message", (data) => {
      if (!this.#isKilled) listener.onMessage(data);
    });
    this.#passOnErrors();
    this.#gone = new Promise((resolve) => {
      this.#child.once("exit", (code, signal) => {
        const how = signal === null ? `it exited with code ${code}` : `it was ended by ${signal}`;
        if (!this.#isOver) this.#lost(this.#reasonOf(how, signal, missingEntryAdvice(entry, existsSync)));
        resolve();
      });
      this.#child.on("error", (error) => {
        this.#lost({ message: `it failed: ${error.message}`, cause: error });
        // A process that was never started does not exit.
        if (this.#child.pid === undefined) resolve();
      });
    });
    // A process that cannot be spoken to is of no use. Mostly it is about to exit, which says more.
    this.#child.once("disconnect", () => startBackgroundTimer(() => this.#child.kill("SIGKILL"), DISCONNECTED_MS));
  }

  send(messages: readonly ToWorker[]): void {
    // That a process has ended, or was never started, is told by an event.
    if (!this.#isOver && this.#child.connected) this.#child.send({ escapement: messages }, ignore);
  }

  ref(): void {
    this.#child.ref();
    this.#child.channel?.ref?.();
  }

  unref(): void {
    this.#child.unref();
    this.#child.channel?.unref?.();
  }

  kill(): Promise<void> {
    this.#isOver = true;
    this.#isKilled = true;
    this.#child.kill("SIGKILL");
    return this.#gone;
  }

  /** What the process writes to its standard error goes where this program's goes, and the last of it is kept. The
   *  next part is read when this one has left, so that a process that writes much waits, and fills no memory here. */
  #passOnErrors(): void {
    const { stderr } = this.#child;
    if (stderr === null) return;
    stderr.setEncoding("utf8");
    stderr.on("data", (text: string) => {
      this.#lastLines.add(text);
      stderr.pause();
      writeError(text, () => stderr.resume());
    });
    // A pipe is a socket, which would keep this program alive.
    if ("unref" in stderr && typeof stderr.unref === "function") stderr.unref();
  }

  /** Resolves when all that the process said has arrived. Not much later than its end, because processes of its own may
   *  live on with its standard error. The timer keeps this program alive, because its calls are not settled yet. */
  #saidAll(): Promise<void> {
    return new Promise((resolve) => {
      const stop = timerHost.startTimer(resolve, LAST_WORDS_MS);
      this.#child.once("close", () => {
        stop();
        resolve();
      });
    });
  }

  async #reasonOf(how: string, signal: string | null, advice: string): Promise<LostReason> {
    await this.#saidAll();
    const isFull = this.#lastLines.tellsOfMemory;
    const why = isFull ? ", because it reached its memory limit" : signal === "SIGKILL" ? KILLED : "";
    const lines = String(this.#lastLines);
    const said = lines === "" ? "" : `; the last lines of its standard error: ${lines}`;
    return { message: `${how}${why}${advice}${said}` };
  }

  #lost(reason: LostReason | Promise<LostReason>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#child.kill("SIGKILL");
    this.#listener.onLost(reason);
  }
}

/** How the runtime copies messages: Node and Bun are several times as fast with JSON, and Deno is without it. */
const SERIALIZATION = process.versions.deno === undefined ? "json" : "advanced";

/** How long the last words of a process may take after its end, in milliseconds. */
const LAST_WORDS_MS = 200;

const KILLED = ", by somebody's kill -9, or by a system without memory";

/** How long a process may live after its connection. */
const DISCONNECTED_MS = 1000;

/** Writes to this program's standard error. @param done called when the text has left, or cannot leave */
function writeError(text: string, done: () => void): void {
  const { stderr } = process;
  stderr.write(text, (error) => {
    // Whoever read it may be gone (EPIPE). An event says so again, and would end this program.
    if (error && stderr.listenerCount("error") === 0) stderr.once("error", ignore);
    done();
  });
}

const ignore = (): void => {};

/** Most characters of an output that are remembered, most lines of them that are shown, and the length of a line and of
 *  all of them. */
const KEPT_MAX = 16_384;
const LINES_MAX = 10;
const LINE_LENGTH_MAX = 200;
const SHOWN_MAX = 800;

/** Lines that tell nobody what happened: stacks, of JavaScript and of the runtime itself, and its version. */
const NOISE = /^\s*$|^\s+at |^\s*\d+: 0x|^-----|^<---|^\[\d+:0x|^\s*\^+\s*$|^(Node\.js|Bun|Deno) v\d/;

/** What a process wrote last. */
export class LastLines {
  #text = "";

  add(text: string): void {
    this.#text = (this.#text + text).slice(-KEPT_MAX);
  }

  /** Whether the runtime said that it has no memory left. */
  get tellsOfMemory(): boolean {
    return /out of memory/i.test(this.#text);
  }

  /** The last lines that say something; empty for none. */
  toString(): string {
    // Deno colours what it says of an error, into a pipe too.
    const lines = stripVTControlCharacters(this.#text)
      .split(/\r?\n/)
      .filter((line) => !NOISE.test(line));
    const shown = lines.slice(-LINES_MAX).map((line) => line.slice(0, LINE_LENGTH_MAX));
    return shown.join("\n").slice(-SHOWN_MAX);
  }
}
