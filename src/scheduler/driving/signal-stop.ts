import { type HostSignal, onSignal } from "../../core/host.ts";
import type { Logger } from "../../core/logger.ts";

/** What signals do to a scheduler. */
export interface SignalStopParts {
  readonly logger: Logger;
  /** Begins a stop, unless one is under way. */
  readonly stop: () => void;
  /** Ends what still runs at once. */
  readonly hurry: () => void;
}

const SIGNALS: readonly HostSignal[] = ["SIGINT", "SIGTERM"];

/**
 * Lets SIGINT (Ctrl-C) and SIGTERM stop a scheduler: the first lets running jobs end, the second aborts them at once.
 * The process is not ended: its listeners are gone when the scheduler has stopped, so that the process ends by itself
 * when nothing else keeps it, with the exit code 0 or the one that the program sets. Where a program is still stuck, a
 * further signal ends it as usual.
 */
export class SignalStop {
  readonly #parts: SignalStopParts;
  #remove: (() => void) | null = null;
  #count = 0;

  constructor(parts: SignalStopParts) {
    this.#parts = parts;
  }

  /** Listens until `end` is called. Idempotent. Does nothing where the runtime has no signals. */
  listen(): void {
    if (this.#remove !== null) return;
    this.#count = 0;
    this.#remove = onSignal(SIGNALS, (signal) => this.#heard(signal));
  }

  /** The scheduler has stopped. Idempotent. */
  end(): void {
    this.#remove?.();
    this.#remove = null;
  }

  #heard(signal: HostSignal): void {
    const { logger, stop, hurry } = this.#parts;
    this.#count++;
    if (this.#count === 1) {
      logger.info(`escapement: ${signal}: stops when running jobs have ended; a second signal aborts them at once`);
      stop();
    } else if (this.#count === 2) {
      logger.warn(`escapement: ${signal} again: aborts running jobs, which go back to the queue`);
      hurry();
    }
  }
}
