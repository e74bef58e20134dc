import type { Clock } from "./clock.ts";

const WOKEN = "woken";

/** Lets a loop sleep until an instant, or until an earlier instant for which somebody calls the loop. A call that comes
 *  while the loop is busy is not lost: it counts for the next wait. */
export class Wakeup {
  readonly #clock: Clock;
  #calledFor = Number.POSITIVE_INFINITY;
  #sleepsUntil = Number.NEGATIVE_INFINITY;
  #wake: (() => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Wakes the loop at `atMs` (epoch milliseconds; default: at once), because there is something to do then. What is no
   *  number is passed over, because a loop that takes it for an instant would never sleep again. */
  call(atMs: number = Number.NEGATIVE_INFINITY): void {
    if (!isInstant(atMs) || atMs >= this.#calledFor) return;
    this.#calledFor = atMs;
    if (atMs < this.#sleepsUntil) this.#wake?.();
  }

  /** Resolves at `untilMs` (epoch milliseconds), at the earliest instant for which somebody called, or when the signal
   *  is aborted. Also when the clock was set back, because `untilMs` was computed from the old time. */
  wait(untilMs: number, signal?: AbortSignal): Promise<void> {
    return this.#wait(untilMs, false, signal);
  }

  /** Does the same as `wait`, but as punctually as the clock can. For instants at which something is known to happen,
   *  because it costs more CPU than `wait`. */
  waitExactly(untilMs: number, signal?: AbortSignal): Promise<void> {
    return this.#wait(untilMs, true, signal);
  }

  async #wait(untilMs: number, isExact: boolean, signal: AbortSignal | undefined): Promise<void> {
    const startedAt = this.#clock.now();
    while (signal?.aborted !== true) {
      const now = this.#clock.now();
      const until = Math.min(untilMs, this.#calledFor);
      if (!(until > now) || now < startedAt) break;
      await this.#sleep(until, isExact, signal);
    }
    this.#calledFor = Number.POSITIVE_INFINITY;
  }

  async #sleep(until: number, isExact: boolean, signal: AbortSignal | undefined): Promise<void> {
    const sleeper = new AbortController();
    const wake = (): void => {
      try {
        // The reason is a constant, because the default reason is an exception with a stack, which costs more than the
        // sleep.
        sleeper.abort(WOKEN);
      } catch {
        // In Workers, a request may not end what another request waits for. The call counts when the sleep is over.
      }
    };
    this.#wake = wake;
    this.#sleepsUntil = until;
    signal?.addEventListener("abort", wake);
    if (isExact && this.#clock.sleepExactly !== undefined) await this.#clock.sleepExactly(until, sleeper.signal);
    else await this.#clock.sleep(until, sleeper.signal);
    signal?.removeEventListener("abort", wake);
    this.#sleepsUntil = Number.NEGATIVE_INFINITY;
    this.#wake = null;
  }
}

/** Whether a value can be compared with instants. It may come from a message. */
export function isInstant(value: unknown): value is number {
  return typeof value === "number" && !Number.isNaN(value);
}
