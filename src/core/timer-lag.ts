import {
  LAG_MS_MAX,
  LAG_SAMPLE_MS_MIN,
  LAST_TURNS_MS,
  LOOK_AHEAD_MS,
  SHORT_TIMERS_MS,
  TIMER_STEP_MS_MAX,
} from "./timer-limits.ts";

/** How many sizes of timers there are. A size goes from one length to twice that length. Each size has averages of its
 *  own, because the lag grows with the length, but not in proportion. */
const SIZES = Math.floor(Math.log2(TIMER_STEP_MS_MAX / LAG_SAMPLE_MS_MIN)) + 1;

/** Weight of a new sample. About the last eight timers count, so that the averages soon follow a load that comes or
 *  goes. */
const WEIGHT = 1 / 8;

/** The lag that is assumed for a size before its first sample, and the deviation, both as a part of the length. */
const RATIO_AT_FIRST = 0.05;
const DEVIATION_AT_FIRST = 0.03;

/**
 * How late the timers of this event loop are, by their length. Two moving averages per size: the lag as a part of the
 * length that was asked for, and how far single timers differ from that average. (TCP estimates round trips in this
 * way, see RFC 6298.)
 */
export class TimerLag {
  readonly #ratios = new Float64Array(SIZES).fill(RATIO_AT_FIRST);
  readonly #deviations = new Float64Array(SIZES).fill(DEVIATION_AT_FIRST);

  /** Adds the sample of a timer that ran to its end. Short timers do not count, because they may end in the turn of the
   *  event loop in which they began. */
  observe(askedMs: number, tookMs: number): void {
    if (askedMs < LAG_SAMPLE_MS_MIN) return;
    const size = sizeOf(askedMs);
    // A longer lag comes from a suspended machine or a blocked event loop, and says nothing about the next timer.
    const sample = Math.min(Math.max(tookMs - askedMs, 0), LAG_MS_MAX) / askedMs;
    const error = sample - this.#ratioOf(size);
    this.#ratios[size] = this.#ratioOf(size) + WEIGHT * error;
    this.#deviations[size] = this.#deviationOf(size) + WEIGHT * (Math.abs(error) - this.#deviationOf(size));
  }

  /** The delay to ask for, in milliseconds, so that a timer takes about `ms`. With a margin of some `deviations` the
   *  timer hardly ever takes more. The delay is at least half of `ms`, so that a caller who waits for the rest with
   *  further timers needs only a few of them. */
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
 * How to go on waiting for an instant that is `leftMs` milliseconds away and has to be met exactly. Returns the
 * milliseconds of the next timer, at least 1, or 0 for one turn of the event loop. Far from the instant, the timer ends
 * near the instant of the look ahead, so that its lag costs nothing. The next timer ends some deviations before the
 * instant. Short timers and turns of the event loop fill the rest.
 */
export function nextWaitMs(leftMs: number, lag: TimerLag): number {
  if (leftMs <= LAST_TURNS_MS) return 0;
  if (leftMs <= SHORT_TIMERS_MS) return 1;
  const askedMs =
    leftMs > 2 * LOOK_AHEAD_MS ? lag.toTake(leftMs - LOOK_AHEAD_MS, 0) : lag.toTake(leftMs - LAST_TURNS_MS, 2);
  return Math.min(Math.floor(askedMs), TIMER_STEP_MS_MAX);
}
