import { yieldToEventLoop } from "../../src/core/clock.ts";
import type { TimerHost } from "../../src/core/timer-host.ts";

interface Callback {
  readonly at: number;
  readonly run: () => void;
}

/** What an event loop has been asked for. */
interface Usage {
  /** The delays of its timers, in the order in which they were started. */
  readonly timers: number[];
  turns: number;
}

/**
 * An event loop whose time passes only while it waits: its timers are late by what `lagOf` says, and a turn takes
 * `turnMs`. Like a real one it shows the time on the wall in whole milliseconds. It starts within one.
 */
export class SimulatedHost implements TimerHost {
  readonly #callbacks: Callback[] = [];
  readonly #lagOf: (delayMs: number) => number;
  readonly #turnMs: number;
  /** What the clock on the wall shows at `elapsed() === 0`; set, it is a clock that is set. */
  wallStartMs = 1_900_000_000_000;
  /** A clock that stands still between inputs shows this. */
  frozenAtMs: number | null = null;
  usage: Usage = { timers: [], turns: 0 };
  #elapsedMs = 0.3;

  constructor(lagOf: (delayMs: number) => number = () => 0, turnMs = 0.01) {
    this.#lagOf = lagOf;
    this.#turnMs = turnMs;
  }

  readonly now = (): number => this.frozenAtMs ?? Math.floor(this.wallStartMs + this.#elapsedMs);
  readonly elapsed = (): number => this.#elapsedMs;

  /** By how much the present is past an instant, with fractions. */
  latenessMs(instantMs: number): number {
    return this.wallStartMs + this.#elapsedMs - instantMs;
  }

  startTimer(run: () => void, delayMs: number): () => void {
    this.usage.timers.push(delayMs);
    // Real ones count whole milliseconds, 1 at least, and some are a little early.
    return this.after(Math.max(1, Math.trunc(delayMs)) + this.#lagOf(delayMs), run);
  }

  nextTurn(run: () => void): void {
    this.usage.turns++;
    this.after(this.#turnMs, run);
  }

  /** Does something after a time, whoever sleeps meanwhile. */
  after(ms: number, run: () => void): () => void {
    const callback = { at: this.#elapsedMs + ms, run };
    this.#callbacks.push(callback);
    return () => {
      const index = this.#callbacks.indexOf(callback);
      if (index >= 0) this.#callbacks.splice(index, 1);
    };
  }

  /** Lets time pass until a promise is settled. Returns what the event loop was asked for meanwhile. */
  async until(promise: Promise<unknown>): Promise<Usage> {
    this.usage = { timers: this.usage.timers.splice(0), turns: this.usage.turns };
    const { usage } = this;
    let isSettled = false;
    void promise.finally(() => {
      isSettled = true;
    });
    for (;;) {
      await yieldToEventLoop();
      if (isSettled) break;
      const next = this.#callbacks.reduce((a, b) => (b.at < a.at ? b : a), { at: Number.POSITIVE_INFINITY, run() {} });
      if (next.at === Number.POSITIVE_INFINITY) throw new Error("nothing is left that could settle the promise");
      this.#callbacks.splice(this.#callbacks.indexOf(next), 1);
      this.#elapsedMs = Math.max(this.#elapsedMs, next.at);
      next.run();
    }
    this.usage = { timers: [], turns: 0 };
    return usage;
  }

  get pendingCount(): number {
    return this.#callbacks.length;
  }
}
