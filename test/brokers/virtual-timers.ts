import { type TimerHost, timerHost } from "../../src/core/timer-host.ts";

/** Timers that fire when a test says so. */
export class VirtualTimers implements TimerHost {
  readonly #timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  #nowMs = 0;

  now(): number {
    return this.#nowMs;
  }

  elapsed(): number {
    return this.#nowMs;
  }

  startTimer(run: () => void, delayMs: number): () => void {
    const timer = { atMs: this.#nowMs + delayMs, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  nextTurn(run: () => void): void {
    timerHost.nextTurn(run);
  }

  /** Fires what is due within a time, in order. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#nowMs = due.atMs;
      due.run();
    }
    this.#nowMs = endMs;
  }
}
