import type { ToWorker } from "./remote-call.ts";

/** A thread, a process or a Web Worker of an executor, as its pool sees it. */
export interface WorkerChannel {
  /** Whether a `SharedArrayBuffer` can be sent. */
  readonly sharesMemory: boolean;
  /** Sends messages, in their order. Does nothing once the worker has ended. */
  send(messages: readonly ToWorker[]): void;
  /** Keeps this program alive while the worker lives. A new channel does. */
  ref(): void;
  /** No longer keeps this program alive. */
  unref(): void;
  /** Ends the worker at once, whatever it does. Resolves when the worker is gone. Idempotent, and never rejects. */
  kill(): Promise<void>;
}

/** Who hears of a worker. */
export interface ChannelListener {
  /** The worker sent something. Whoever listens checks it. */
  onMessage(data: unknown): void;
  /** The worker has ended, or cannot be used any more. Called once at most, and not after `kill()`. Messages that it
   *  sent before may arrive until the reason is known. */
  onLost(reason: LostReason | Promise<LostReason>): void;
}

/** Why a worker has ended. */
export interface LostReason {
  /** The end of a sentence, such as `it exited with code 7`. */
  readonly message: string;
  /** What the runtime said, if it said something. */
  readonly cause?: unknown;
}

/** Starts a worker. @throws when the worker cannot even be started */
export type OpenChannel = (listener: ChannelListener) => WorkerChannel;
