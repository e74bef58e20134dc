import { sleepFor } from "../../core/clock.ts";
import type { Environment } from "../environment.ts";

/** What is looked after in the store again and again, while there is a reason to, until a signal is aborted. */
export abstract class Watch {
  protected readonly env: Environment;
  readonly #what: string;
  readonly #periodMs: number;
  #signal: AbortSignal | null = null;
  #running: Promise<void> | null = null;

  /** @param what is looked after, for messages @param periodMs from a reason, or from a look, to the next look */
  constructor(env: Environment, what: string, periodMs: number) {
    this.env = env;
    this.#what = what;
    this.#periodMs = periodMs;
  }

  /** Whether there is a reason for another look. */
  protected abstract goesOn(): boolean;

  /** @throws {StoreUnavailableError} */
  protected abstract check(): Promise<void>;

  /** Looks by itself from now on. */
  start(signal: AbortSignal): void {
    this.#signal = signal;
  }

  /** There is a reason to look. @param first comes before the looks, and does not fail */
  protected begin(first?: () => Promise<void>): void {
    const signal = this.#signal;
    if (signal === null || signal.aborted) return;
    this.#running ??= this.#lookAgain(signal, first);
  }

  /** Resolves when it has ended what it was doing, after the signal was aborted. */
  async stopped(): Promise<void> {
    await this.#running;
  }

  /** Looks once. A failure is told. */
  async look(): Promise<void> {
    try {
      await this.check();
    } catch (error) {
      this.env.logger.warn(`escapement: ${this.#what} could not be looked after; tried again later`, error);
    }
  }

  async #lookAgain(signal: AbortSignal, first?: () => Promise<void>): Promise<void> {
    try {
      await first?.();
      while (this.goesOn()) {
        await sleepFor(this.env.clock, this.#periodMs, signal);
        if (signal.aborted) return;
        await this.look();
      }
    } finally {
      // In the turn in which there was no reason any more: none that comes then is missed.
      this.#running = null;
    }
  }
}
