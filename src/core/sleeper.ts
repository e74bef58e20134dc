import type { TimerHost } from "./timer-host.ts";
import { nextWaitMs, TimerLag } from "./timer-lag.ts";
import { LAST_TURNS_MAX, LOOK_AHEAD_MS, PRECISE_SLEEPS_PER_SECOND_MAX, TIMER_STEP_MS_MAX } from "./timer-limits.ts";

/** Sleeps with the clock and the timers of a host, and learns on the way how late these timers are. */
export class Sleeper {
  readonly #host: TimerHost;
  readonly #lag = new TimerLag();
  /** When the last precise sleeps began their short timers, in milliseconds of `elapsed()`. A ring; the oldest instant
   *  is at `#oldest`. */
  readonly #approaches = new Float64Array(PRECISE_SLEEPS_PER_SECOND_MAX).fill(Number.NEGATIVE_INFINITY);
  #oldest = 0;

  constructor(host: TimerHost) {
    this.#host = host;
  }

  /** See `Clock.sleep`. */
  async sleep(untilMs: number, signal: AbortSignal | undefined): Promise<void> {
    let lastMs = Number.NEGATIVE_INFINITY;
    while (signal?.aborted !== true) {
      const nowMs = this.#host.now();
      const leftMs = untilMs - nowMs;
      if (leftMs <= 0 || nowMs < lastMs) return;
      lastMs = nowMs;
      await this.#timer(Math.min(leftMs, TIMER_STEP_MS_MAX), signal);
    }
  }

  /** See `Clock.sleepExactly`. */
  async sleepExactly(untilMs: number, signal: AbortSignal | undefined): Promise<void> {
    let lastMs = Number.NEGATIVE_INFINITY;
    let turnsLeft = LAST_TURNS_MAX;
    let isApproaching = false;
    while (signal?.aborted !== true) {
      const nowMs = this.#host.now();
      const leftMs = untilMs - nowMs;
      if (leftMs <= 0 || nowMs < lastMs) return;
      lastMs = nowMs;
      const waitMs = nextWaitMs(leftMs, this.#lag);
      if (!isApproaching && leftMs <= 2 * LOOK_AHEAD_MS) {
        if (!this.#hasRoom()) return this.sleep(untilMs, signal);
        // A sleep that ends before its short timers costs nearly nothing, and does not count.
        isApproaching = waitMs <= 1;
        if (isApproaching) this.#recordApproach();
      }
      if (waitMs === 0 && turnsLeft-- > 0) await new Promise<void>((resolve) => this.#host.nextTurn(resolve));
      else await this.#timer(Math.max(waitMs, 1), signal);
    }
  }

  /** Whether the last second had fewer precise sleeps than a second may have. */
  #hasRoom(): boolean {
    return this.#host.elapsed() - (this.#approaches[this.#oldest] ?? 0) >= 1000;
  }

  #recordApproach(): void {
    this.#approaches[this.#oldest] = this.#host.elapsed();
    this.#oldest = (this.#oldest + 1) % this.#approaches.length;
  }

  #timer(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    const startedAt = this.#host.elapsed();
    return new Promise((resolve) => {
      const abort = (): void => {
        stop();
        finish();
      };
      const finish = (): void => {
        signal?.removeEventListener("abort", abort);
        resolve();
      };
      const stop = this.#host.startTimer(() => {
        this.#lag.observe(delayMs, this.#host.elapsed() - startedAt);
        finish();
      }, delayMs);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }
}
