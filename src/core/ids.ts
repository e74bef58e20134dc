/** A source of uniform numbers in [0, 1), like `Math.random`. */
export type RandomSource = () => number;

/** The default {@link RandomSource}: `Math.random`. */
export const systemRandom: RandomSource = () => Math.random();

/**
 * Wraps a caller's source. When the source throws, or answers with anything but a number in [0, 1), this draw comes
 * from {@link systemRandom} instead. So a faulty source ends no loop, and makes no invalid id or instant.
 *
 * @param onFault called at the first fault only, with the error or the wrong answer
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
 * Makes UUIDs of version 7 (RFC 9562, section 5.7): 48 bits of epoch milliseconds, then random bits. Such ids sort by
 * their time of creation, so that index pages fill in order. Within a millisecond the 12 bits of `rand_a` count up
 * (method 1 of section 6.2), so that the ids of one generator are strictly increasing.
 */
export class IdGenerator {
  readonly #random: RandomSource;
  #lastMs = -1;
  #counter = 0;
  /** The first 14 characters of all ids of the millisecond `#lastMs`. */
  #prefix = "";

  constructor(random: RandomSource = systemRandom) {
    this.#random = random;
  }

  /** The next id; `nowMs` is the present in epoch milliseconds. */
  next(nowMs: number): string {
    if (nowMs > this.#lastMs) {
      this.#startAt(nowMs);
      // Starts in the lower half, so that at least 2,048 ids fit into a millisecond. Further ids use the next one.
      this.#counter = Math.floor(this.#random() * 0x800);
    } else if (++this.#counter > 0xfff) {
      this.#startAt(this.#lastMs + 1);
      this.#counter = 0;
    }
    // 14 bits after the variant `10`, then 48 bits. These come from two draws, because the lowest bits of some sources
    // are not very random.
    const version = 0x7000 | this.#counter;
    const variant = 0x8000 | Math.floor(this.#random() * 0x4000);
    const tail = hexOf3Bytes(this.#random() * 0x1000000) + hexOf3Bytes(this.#random() * 0x1000000);
    return `${this.#prefix}${hexOf2Bytes(version)}-${hexOf2Bytes(variant)}-${tail}`;
  }

  #startAt(ms: number): void {
    this.#lastMs = ms;
    const time = Math.floor(ms).toString(16).padStart(12, "0");
    this.#prefix = `${time.slice(0, 8)}-${time.slice(8)}-`;
  }
}

/** The bytes in hexadecimal. Each job has an id, and the engine's own conversion takes twice as long. */
const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

function hexOf2Bytes(value: number): string {
  return `${HEX[value >> 8]}${HEX[value & 255]}`;
}

function hexOf3Bytes(value: number): string {
  return `${HEX[value >> 16]}${hexOf2Bytes(value & 0xffff)}`;
}

/** The first fence of a new record: a random integer below 2^40. So a record that is removed and added again does not
 *  repeat the fences of the old record. An injected source is not used, because a test's constant would repeat them. */
export function firstFence(): number {
  return Math.floor(systemRandom() * 2 ** 40);
}
