import {
  LAG_MS_MAX,
  LAG_SAMPLE_MS_MIN,
  LAST_TURNS_MS,
  LOOK_AHEAD_MS,
  SHORT_TIMERS_MS,
  TIMER_STEP_MS_MAX,
} from "./limits.ts";

/** Sizes of timers, each from a length to twice that: the lag grows with the length, but not in proportion. */
const SIZES = Math.floor(Math.log2(TIMER_STEP_MS_MAX / LAG_SAMPLE_MS_MIN)) + 1;

/** Weight of a new sample: the last eight sleeps or so count, so that a load that comes or goes is soon noticed. */
const WEIGHT = 1 / 8;

/** What is assumed of timers that have not been seen yet. */
const RATIO_AT_FIRST = 0.05;
const DEVIATION_AT_FIRST = 0.03;

/**
 * How late the timers of this event loop are, by their length: moving averages of the lag as a part of the time asked
 * for, and of how far single timers are off that average. (The estimator is that of TCP for round trips.)
 */
export class TimerLag {
  readonly #ratios = new Float64Array(SIZES).fill(RATIO_AT_FIRST);
  readonly #deviations = new Float64Array(SIZES).fill(DEVIATION_AT_FIRST);

  /** Takes note of a timer that ran to its end. Short ones say little: they may end with the turn they begin in. */
  observe(askedMs: number, tookMs: number): void {
    if (askedMs < LAG_SAMPLE_MS_MIN) return;
    const size = sizeOf(askedMs);
    // A suspended machine or a blocked event loop says nothing about the next timer.
    const sample = Math.min(Math.max(tookMs - askedMs, 0), LAG_MS_MAX) / askedMs;
    const error = sample - this.#ratioOf(size);
    this.#ratios[size] = this.#ratioOf(size) + WEIGHT * error;
    this.#deviations[size] = this.#deviationOf(size) + WEIGHT * (Math.abs(error) - this.#deviationOf(size));
  }

  /** What to ask for, so that the timer takes about `ms`; with a margin of some deviations, so that it hardly ever
   *  takes more. At least half of `ms`, so that those who ask again for what is left soon arrive. */
  toTake(ms: number, deviations: number): number {
    const size = sizeOf(ms);
    const ratio = Math.min(1, this.#ratioOf(size) + deviations * this.#deviationOf(size));
    return Math.max(ms / (1 + ratio), ms - LAG_MS_MAX);
  }

  #ratioOf(size: number): number {
    return this.#ratios[size] ?? RATIO_AT_FIRST;
  }

  #deviationOf(size: number): number {
    return this.#deviations[size] ?? DEVIATION_AT_FIRST;
  }
}

function sizeOf(ms: number): number {
  return Math.min(Math.max(31 - Math.clz32(ms / LAG_SAMPLE_MS_MIN), 0), SIZES - 1);
}

/**
 * How to wait on, when an instant is `leftMs` away and has to be met exactly: the milliseconds of the next timer, at
 * least 1, or 0 for one turn of the event loop. From afar the timer ends near the instant of a look ahead, and what it
 * was late costs nothing; the next one ends some deviations before the instant; short ones lead to the last turns.
 */
export function nextWaitMs(leftMs: number, lag: TimerLag): number {
  if (leftMs <= LAST_TURNS_MS) return 0;
  if (leftMs <= SHORT_TIMERS_MS) return 1;
  const askedMs =
    leftMs > 2 * LOOK_AHEAD_MS ? lag.toTake(leftMs - LOOK_AHEAD_MS, 0) : lag.toTake(leftMs - LAST_TURNS_MS, 2);
  return Math.min(Math.floor(askedMs), TIMER_STEP_MS_MAX);
}
