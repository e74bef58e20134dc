/** What a runtime offers to somebody who waits. Tests put a simulated one in its place. */
export interface TimerHost {
  /** The clock on the wall, in whole epoch milliseconds. It may be set at any time. */
  now(): number;
  /** Milliseconds since some instant, with fractions. Nobody sets it. */
  elapsed(): number;
  /** Calls `run` after `delayMs` or, as event loops are late, after more than that. Returns how to call it off. */
  startTimer(run: () => void, delayMs: number): () => void;
  /** Calls `run` in the next turn of the event loop. */
  nextTurn(run: () => void): void;
}

const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => unknown };

/** The clocks and timers of the runtime we run in. */
export const timerHost: TimerHost = Object.freeze({
  now: () => Date.now(),
  elapsed: () => performance.now(),
  startTimer(run: () => void, delayMs: number): () => void {
    const handle = setTimeout(run, delayMs);
    return () => clearTimeout(handle);
  },
  /** `setTimeout` would be held back to a millisecond or more. */
  nextTurn(run: () => void): void {
    if (setImmediate !== undefined) {
      setImmediate(run);
      return;
    }
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      run();
    };
    port2.postMessage(null);
  },
});
