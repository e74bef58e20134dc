import type { AbortSignal } from "./abort-signal.ts";
import { startBackgroundInterval } from "./background-timer.ts";
import { Sleeper } from "./sleeper.ts";
import { timerHost } from "./timer-host.ts";

/** Where a scheduler gets the time from, and how the scheduler waits. Tests put a `VirtualClock` in its place. */
export interface Clock {
  /** The present, in epoch milliseconds. */
  now(): number;
  /** Resolves at `untilMs` (epoch milliseconds), at once when that instant is past, or as soon as `signal` is aborted.
   *  When the clock is set back during the sleep, the promise resolves too early rather than too late: a sleep never
   *  takes longer than it was to take when it began. Never rejects: after the sleep, a caller looks at the clock and at
   *  the signal. */
  sleep(untilMs: number, signal?: AbortSignal): Promise<void>;
  /** Resolves when everything that is ready now has had its turn. */
  yield(): Promise<void>;
  /** Does the same as `sleep`, but wakes as close to `untilMs` as possible, and costs some more CPU. A scheduler calls
   *  this method for known fire times, never for pauses and time limits. Optional: where a clock lacks it, the
   *  scheduler calls `sleep`. */
  sleepExactly?(untilMs: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` about every `periodMs` milliseconds, until the returned function is called, without keeping the
   *  process alive. A scheduler uses this method to look for what other processes have written. Optional: a scheduler
   *  whose clock lacks it does not look for that between its usual looks. So a virtual clock has no such method,
   *  because other processes do not keep to its time. */
  every?(periodMs: number, run: () => void): () => void;
}

const sleeper = new Sleeper(timerHost);

/** The host's clock and timers, without `sleepExactly`. Its sleeps are as late as the host's timers (on some hosts 1 to
 *  25 ms), and cost none of the CPU that precision costs. Long sleeps are taken in steps of at most an hour. So a sleep
 *  notices that the clock was set, or that a laptop was suspended, and no timer overflows (timers do at 2^31 ms, which
 *  is 24.8 days).
 *
 *  @example
 *  const scheduler = new Scheduler({ clock: coarseClock });
 */
export const coarseClock: Clock & Required<Pick<Clock, "every">> = Object.freeze({
  now: timerHost.now,
  sleep: (untilMs: number, signal?: AbortSignal) => sleeper.sleep(untilMs, signal),
  yield: yieldToEventLoop,
  every: startBackgroundInterval,
});

/** The host's clock and timers; the default of `SchedulerOptions.clock`. `sleepExactly` learns how late the timers of
 *  this process are, and sets its timer earlier by that lag. Short timers cover the rest of the time, and turns of the
 *  event loop cover the last millisecond. `sleepExactly` is never early, unless the clock is set back. At most 20
 *  sleeps a second are precise; further ones are plain sleeps.
 *
 *  @example
 *  await systemClock.sleep(systemClock.now() + 1000, AbortSignal.timeout(500));
 */
export const systemClock: Required<Clock> = Object.freeze({
  ...coarseClock,
  sleepExactly: (untilMs: number, signal?: AbortSignal) => sleeper.sleepExactly(untilMs, signal),
});

/** Sleeps for a length of time, in milliseconds, or until the signal is aborted. When the clock is set back, the count
 *  starts anew, so that the sleep ends even then. */
export async function sleepFor(clock: Clock, durationMs: number, signal?: AbortSignal): Promise<void> {
  let startedAt = clock.now();
  while (signal?.aborted !== true && clock.now() < startedAt + durationMs) {
    await clock.sleep(startedAt + durationMs, signal);
    startedAt = Math.min(startedAt, clock.now());
  }
}

/** Lets the event loop take one turn, so that timers, I/O and messages are served. A chain of microtasks alone would
 *  keep them waiting. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise(timerHost.nextTurn);
}
