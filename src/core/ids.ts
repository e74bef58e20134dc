/** A source of uniform numbers in [0, 1), like `Math.random`. */
export type RandomSource = () => number;

/** The default {@link RandomSource}. */
export const systemRandom: RandomSource = () => Math.random();

/**
 * Wraps a caller's source: one that throws, or answers with anything but a number in [0, 1), is replaced by
 * {@link systemRandom} for that draw, so that it ends no loop and makes no invalid id or instant.
 *
 * @param onFault called at the first such fault
 */
export function guardedRandom(random: RandomSource, onFault: (fault: unknown) => void): RandomSource {
  let hasFailed = false;
  return () => {
    let fault: unknown;
    try {
      const value = random();
      if (typeof value === "number" && value >= 0 && value < 1) return value;
      fault = value;
    } catch (error) {
      fault = error;
    }
    if (!hasFailed) onFault(fault);
    hasFailed = true;
    return systemRandom();
  };
}

/**
 * A UUID of version 7 (RFC 9562, section 5.7): 48 bits of epoch milliseconds, then random bits, so that ids sort by
 * their creation and index pages fill in order. Within a millisecond the 12 bits of `rand_a` count up (method 1 of
 * section 6.2), so ids of one generator are strictly increasing.
 */
export class IdGenerator {
  readonly #random: RandomSource;
  #lastMs = -1;
  #counter = 0;
  /** The first 15 characters of the ids of `#lastMs`. */
  #prefix = "";

  constructor(random: RandomSource = systemRandom) {
    this.#random = random;
  }

  /** The next id; `nowMs` is the present in epoch milliseconds. */
  next(nowMs: number): string {
    if (nowMs > this.#lastMs) {
      this.#startAt(nowMs);
      // Starts in the lower half, so that at least 2,048 ids fit before the clock is pushed on.
      this.#counter = Math.floor(this.#random() * 0x800);
    } else if (++this.#counter > 0xfff) {
      this.#startAt(this.#lastMs + 1);
      this.#counter = 0;
    }
    // 14 bits behind the variant `10`, then 48 bits in two draws: sources differ in how good their lowest bits are.
    const variant = (0x8000 | Math.floor(this.#random() * 0x4000)).toString(16);
    const tail = hex(this.#random() * 0x1000000, 6) + hex(this.#random() * 0x1000000, 6);
    return `${this.#prefix}${hex(this.#counter, 3)}-${variant}-${tail}`;
  }

  #startAt(ms: number): void {
    this.#lastMs = ms;
    const time = hex(ms, 12);
    this.#prefix = `${time.slice(0, 8)}-${time.slice(8)}-7`;
  }
}

function hex(value: number, length: number): string {
  return Math.floor(value).toString(16).padStart(length, "0");
}

/** The first fence of a new record: an integer below 2^40, so that a record that is removed and added again does not
 *  repeat the fences of the old one. Not from an injected source, because a test's constant would repeat them. */
export function firstFence(): number {
  return Math.floor(systemRandom() * 2 ** 40);
}
