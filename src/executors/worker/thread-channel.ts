import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { missingEntryAdvice } from "../remote/missing-entry.ts";
import type { ToWorker } from "../remote/remote-call.ts";
import type { ChannelListener, LostReason, WorkerChannel } from "../remote/worker-channel.ts";

/** How threads are started. */
export interface ThreadSettings {
  /** The URL of their program. */
  readonly entry: string;
  readonly name: string;
  readonly resourceLimits: object | undefined;
  readonly env: Readonly<Record<string, string>> | undefined;
  readonly execArgv: readonly string[] | undefined;
}

/** A thread of `node:worker_threads`, which Node, Deno and Bun have. */
export class ThreadChannel implements WorkerChannel {
  readonly sharesMemory = true;
  readonly #worker: Worker;
  readonly #listener: ChannelListener;
  readonly #entry: string;
  #hasEnded = false;

  constructor({ entry, name, resourceLimits, env, execArgv }: ThreadSettings, listener: ChannelListener) {
    this.#listener = listener;
    this.#entry = entry;
    this.#worker = new Worker(new URL(entry), {
      name,
      ...(resourceLimits === undefined ? {} : { resourceLimits }),
      ...(env === undefined ? {} : { env: { ...env } }),
      ...(execArgv === undefined ? {} : { execArgv: [...execArgv] }),
    });
    this.#worker.on("message", (data) => listener.onMessage(data));
    this.#worker.on("messageerror", (error) => this.#lost({ message: "a message of it cannot be read", cause: error }));
    this.#worker.on("error", (error) => this.#failed(error));
    this.#worker.on("exit", (code) => this.#exited(code));
  }

  send(messages: readonly ToWorker[]): void {
    if (!this.#hasEnded) this.#worker.postMessage({ escapement: messages });
  }

  ref(): void {
    this.#worker.ref();
  }

  unref(): void {
    this.#worker.unref();
  }

  async kill(): Promise<void> {
    this.#hasEnded = true;
    try {
      await this.#worker.terminate();
    } catch {
      // It had ended before.
    }
  }

  #failed(cause: unknown): void {
    const said = cause instanceof Error ? cause.message : String(cause);
    this.#lost({ message: `it failed: ${said}${missingEntryAdvice(this.#entry, existsSync)}`, cause });
  }

  #exited(code: number): void {
    this.#lost({ message: `it exited with code ${code}${missingEntryAdvice(this.#entry, existsSync)}` });
  }

  #lost(reason: LostReason): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    // It may live on after an error, on some runtimes.
    void this.#worker.terminate();
    this.#listener.onLost(reason);
  }
}
