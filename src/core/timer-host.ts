/** The clocks and timers of a runtime. Tests put simulated ones in their place. */
export interface TimerHost {
  /** The clock on the wall, in whole epoch milliseconds. Somebody may set this clock at any time. */
  now(): number;
  /** Milliseconds that have passed after some fixed instant, with fractions. Nobody can set this clock. */
  elapsed(): number;
  /** Calls `run` after `delayMs` milliseconds or later, because event loops are late. Returns a function that stops the
   *  timer. */
  startTimer(run: () => void, delayMs: number): () => void;
  /** Calls `run` in the next turn of the event loop. */
  nextTurn(run: () => void): void;
}

const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => unknown };
/** Whether they are there and work: those of the edge runtime of Next.js throw. Found out at the first call. */
let hasImmediate = setImmediate !== undefined;
let hasChannels = typeof MessageChannel !== "undefined";

/** The clocks and timers of the present runtime. */
export const timerHost: TimerHost = Object.freeze({
  now: () => Date.now(),
  elapsed: () => performance.now(),
  startTimer(run: () => void, delayMs: number): () => void {
    const handle = setTimeout(run, delayMs);
    return () => clearTimeout(handle);
  },
  /** Without `setTimeout` where there is something else, because runtimes delay it by a millisecond or more. Workers
   *  have neither `setImmediate` without Node's compatibility, nor `MessageChannel` before its date. */
  nextTurn(run: () => void): void {
    if (hasImmediate) {
      try {
        setImmediate?.(run);
        return;
      } catch {
        hasImmediate = false;
      }
    }
    if (hasChannels) {
      try {
        postTo(run);
        return;
      } catch {
        hasChannels = false;
      }
    }
    setTimeout(run, 0);
  },
});

function postTo(run: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    run();
  };
  port2.postMessage(null);
}
