import { Sleeper } from "./sleeper.ts";
import { timerHost } from "./timer-host.ts";

/** Where a scheduler gets the time from and how it waits. Tests put a `VirtualClock` in its place. */
export interface Clock {
  /** The present, in epoch milliseconds. */
  now(): number;
  /** Resolves at `untilMs` (epoch milliseconds), at once when that is past, or as soon as `signal` is aborted. When the
   *  clock is set back meanwhile it resolves too early rather than too late: no sleep outlasts the time it was to take.
   *  Never rejects: whoever waits looks at the clock and at the signal when it wakes. */
  sleep(untilMs: number, signal?: AbortSignal): Promise<void>;
  /** Lets everything that is ready go first. */
  yield(): Promise<void>;
  /** As `sleep`, but as close to `untilMs` as it can be, at the price of some more CPU. Asked for where a fire time is
   *  known, never for pauses and time limits. Optional: a clock without it is asked to `sleep`. */
  sleepExactly?(untilMs: number, signal?: AbortSignal): Promise<void>;
}

const sleeper = new Sleeper(timerHost);

/** The host's clock and timers, without `sleepExactly`: as late as timers are, which on some hosts is 1 to 25 ms, and
 *  without the CPU that precision costs. Long sleeps are taken in steps of at most an hour, so that a clock that is set
 *  or a laptop that was suspended is noticed, and no timer overflows (they do at 2^31 ms, 24.8 days).
 *
 *  @example
 *  const scheduler = new Scheduler({ clock: coarseClock });
 */
export const coarseClock: Clock = Object.freeze({
  now: timerHost.now,
  sleep: (untilMs: number, signal?: AbortSignal) => sleeper.sleep(untilMs, signal),
  yield: yieldToEventLoop,
});

/** The host's clock and timers. `sleepExactly` arms its timer ahead, by the lag that the timers of this process were
 *  seen to have, and covers what is left with short timers and, in the last millisecond, with turns of the event loop.
 *  It is never early. Above 20 precise sleeps a second, the others are plain ones. */
export const systemClock: Required<Clock> = Object.freeze({
  ...coarseClock,
  sleepExactly: (untilMs: number, signal?: AbortSignal) => sleeper.sleepExactly(untilMs, signal),
});

/** Sleeps for a time that passes, whatever happens to the clock on the wall: the count starts anew when it is set
 *  back. */
export async function sleepFor(clock: Clock, durationMs: number, signal?: AbortSignal): Promise<void> {
  let startedAt = clock.now();
  while (signal?.aborted !== true && clock.now() < startedAt + durationMs) {
    await clock.sleep(startedAt + durationMs, signal);
    startedAt = Math.min(startedAt, clock.now());
  }
}

/** Lets the event loop take one turn: timers, I/O and messages get their chance, which a chain of microtasks denies
 *  them. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise(timerHost.nextTurn);
}
