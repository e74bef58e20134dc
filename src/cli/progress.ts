import { sleepFor } from "../core/clock.ts";
import type { CliIo } from "./io.ts";

/** Work that takes less than this shows no bar, in milliseconds. */
const SHOWN_AFTER_MS = 1000;
/** How long a bar stays as it is, at the least, in milliseconds. */
const REDRAWN_AFTER_MS = 100;
const BAR_WIDTH = 24;

/**
 * How far long work has come, on the standard error where that is a terminal: a bar where the end is known, a count
 * where it is not, else how long it has taken. It is gone when the work is done.
 */
export class Progress {
  readonly #io: CliIo;
  readonly #what: string;
  readonly #startMs: number;
  readonly #ended = new AbortController();
  #drawnMs = Number.NEGATIVE_INFINITY;
  #width = 0;

  constructor(io: CliIo, what: string) {
    this.#io = io;
    this.#what = what;
    this.#startMs = io.clock.now();
    io.signals.first.addEventListener("abort", () => this.end(), { once: true });
  }

  /** So many are done. @param total null where nobody knows how many there are */
  at(done: number, total: number | null): void {
    if (!this.#isDue()) return;
    if (total === null) {
      this.#draw(`${numberText(done)} ${this.#what}`);
      return;
    }
    const filled = total === 0 ? BAR_WIDTH : Math.round((Math.min(done, total) / total) * BAR_WIDTH);
    const bar = `[${"#".repeat(filled)}${" ".repeat(BAR_WIDTH - filled)}]`;
    this.#draw(`${bar} ${numberText(done)}/${numberText(total)} ${this.#what}`);
  }

  /** Shows each second how long a promise has taken. Rejects as it does. */
  async during<T>(work: Promise<T>): Promise<T> {
    if (this.#io.isErrorTerminal) void this.#tick();
    try {
      return await work;
    } finally {
      this.end();
    }
  }

  /** Wipes the line. */
  end(): void {
    this.#ended.abort();
    if (this.#width > 0) this.#io.writeError(`\r${" ".repeat(this.#width)}\r`);
    this.#width = 0;
  }

  async #tick(): Promise<void> {
    const { clock } = this.#io;
    const { signal } = this.#ended;
    while (!signal.aborted) {
      await sleepFor(clock, SHOWN_AFTER_MS, signal);
      if (!signal.aborted && this.#isDue()) {
        this.#draw(`${this.#what}: ${Math.round((clock.now() - this.#startMs) / 1000)} s`);
      }
    }
  }

  #isDue(): boolean {
    if (!this.#io.isErrorTerminal || this.#ended.signal.aborted) return false;
    const now = this.#io.clock.now();
    return now - this.#startMs >= SHOWN_AFTER_MS && now - this.#drawnMs >= REDRAWN_AFTER_MS;
  }

  #draw(text: string): void {
    this.#drawnMs = this.#io.clock.now();
    const shown = text.slice(0, Math.max(0, this.#io.columns - 1));
    this.#io.writeError(`\r${shown.padEnd(this.#width)}`);
    this.#width = Math.max(this.#width, shown.length);
  }
}

function numberText(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}
