import { type Clock, sleepFor } from "../../core/clock.ts";
import { ABORT_GRACE_MS } from "../../executors/remote/limits.ts";
import { STOP_SETTLE_MS } from "./limits.ts";

/**
 * How long a stop may take, from its beginning on: running jobs may end while it drains, what still runs then is
 * aborted and has a grace, and at last outcomes are recorded and parts are closed. Whatever hangs, a stop is over after
 * the three together.
 */
export class StopLimits {
  /** Resolves when running jobs have had their time. */
  readonly drained: Promise<void>;
  /** Resolves when somebody is in a hurry. */
  readonly hurried: Promise<void>;
  /** How long running jobs may take at most, in milliseconds. */
  readonly drainMs: number;
  readonly #over: Promise<void>;
  readonly #timers = new AbortController();
  #graceMs: number;
  #isOver = false;
  #isHurried = false;
  #resolveHurried: () => void = () => {};

  constructor(clock: Clock, drainMs: number) {
    const { signal } = this.#timers;
    this.drainMs = drainMs;
    this.#graceMs = drainMs === 0 ? 0 : ABORT_GRACE_MS;
    this.hurried = new Promise((resolve) => {
      this.#resolveHurried = resolve;
    });
    this.drained = Promise.race([sleepFor(clock, drainMs, signal), this.hurried]);
    const settled = this.hurried.then(() => sleepFor(clock, STOP_SETTLE_MS, signal));
    const late = sleepFor(clock, drainMs + this.#graceMs + STOP_SETTLE_MS, signal);
    this.#over = Promise.race([late, settled]).then(() => {
      this.#isOver = true;
    });
  }

  /** How long a handler whose signal was aborted may take, in milliseconds: nothing where nothing drains. */
  get graceMs(): number {
    return this.#graceMs;
  }

  /** Running jobs have no more time, and their handlers no grace. Idempotent. */
  hurry(): void {
    if (this.#isHurried) return;
    this.#isHurried = true;
    this.#graceMs = 0;
    this.#resolveHurried();
  }

  /** Whether the time is up, or the stop has ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Waits for some work, but no longer than the stop may take. What happens to the work later, nobody is told.
   *  @throws what the work rejects with */
  async within(work: Promise<unknown>): Promise<void> {
    work.catch(() => {});
    await Promise.race([work, this.#over]);
  }

  /** The stop has ended: nobody sleeps any more. */
  end(): void {
    this.#timers.abort();
  }
}
