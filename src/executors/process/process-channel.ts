import { type ChildProcess, fork } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { startBackgroundTimer } from "../../core/background-timer.ts";
import { missingEntryAdvice } from "../remote/missing-entry.ts";
import type { ToWorker } from "../remote/remote-call.ts";
import type { ChannelListener, WorkerChannel } from "../remote/worker-channel.ts";

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
  readonly #listener: ChannelListener;
  /** Resolves when there is no process any more. */
  readonly #gone: Promise<void>;
  /** Whether the process has ended or is to end: nobody wants to hear of it any more. */
  #isOver = false;

  constructor({ entry, env, execArgv, cwd }: ProcessSettings, listener: ChannelListener) {
    this.#listener = listener;
    this.#child = fork(new URL(entry), [], {
      serialization: SERIALIZATION,
      // The terminal's input stays with this program.
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      ...(env === undefined ? {} : { env: { ...env } }),
      ...(execArgv === undefined ? {} : { execArgv: [...execArgv] }),
      ...(cwd === undefined ? {} : { cwd }),
    });
    this.#child.on("message", (data) => {
      if (!this.#isOver) listener.onMessage(data);
    });
    this.#gone = new Promise((resolve) => {
      this.#child.once("exit", (code, signal) => {
        const how = signal === null ? `it exited with code ${code}` : `it was ended by ${signal}`;
        this.#lost(`${how}${missingEntryAdvice(entry, existsSync)}`);
        resolve();
      });
      this.#child.on("error", (error) => {
        this.#lost(`it failed: ${error.message}`, error);
        // A process that was never started does not exit.
        if (this.#child.pid === undefined) resolve();
      });
    });
    // A process that cannot be spoken to is of no use. Mostly it is about to exit, which says more.
    this.#child.once("disconnect", () => startBackgroundTimer(() => this.#child.kill("SIGKILL"), DISCONNECTED_MS));
  }

  send(messages: readonly ToWorker[]): void {
    // That a process has ended, or was never started, is told by an event.
    if (!this.#isOver && this.#child.connected) this.#child.send({ escapement: [...messages] }, ignore);
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
    this.#child.kill("SIGKILL");
    return this.#gone;
  }

  #lost(message: string, cause?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#child.kill("SIGKILL");
    this.#listener.onLost(cause === undefined ? { message } : { message, cause });
  }
}

/** How the runtime copies messages: Node and Bun are several times as fast with JSON, and Deno is without it. */
const SERIALIZATION = process.versions.deno === undefined ? "json" : "advanced";

/** How long a process may live after its connection. */
const DISCONNECTED_MS = 1000;

const ignore = (): void => {};
