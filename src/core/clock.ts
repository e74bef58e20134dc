import { TIMER_STEP_MS_MAX } from "./limits.ts";

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
}

/** The host's clock and timers. Long sleeps are taken in steps of at most an hour, so that a clock that is set or a
 *  laptop that was suspended is noticed, and no timer overflows (they do at 2^31 ms, 24.8 days). */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  async sleep(untilMs: number, signal?: AbortSignal): Promise<void> {
    let lastMs = Number.NEGATIVE_INFINITY;
    while (signal?.aborted !== true) {
      const nowMs = Date.now();
      const leftMs = untilMs - nowMs;
      if (leftMs <= 0 || nowMs < lastMs) return;
      lastMs = nowMs;
      await timer(Math.min(leftMs, TIMER_STEP_MS_MAX), signal);
    }
  },
  yield: yieldToEventLoop,
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

function timer(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(handle);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const handle = setTimeout(finish, delayMs);
    signal?.addEventListener("abort", finish, { once: true });
  });
}

/** Lets the event loop take one turn: timers, I/O and messages get their chance, which a chain of microtasks denies
 *  them. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise(nextTurn);
}

const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => unknown };

/** `setTimeout` would be held back to a millisecond or more. */
function nextTurn(resolve: () => void): void {
  if (setImmediate !== undefined) {
    setImmediate(resolve);
    return;
  }
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    resolve();
  };
  port2.postMessage(null);
}
