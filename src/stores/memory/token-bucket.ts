import { CLOCK_TOLERANCE_MS } from "../../core/limits.ts";
import type { RateLimit } from "../../records/policies.ts";

/**
 * The generic cell rate algorithm (GCRA): a bucket of at most `burst` tokens, which gets a token every `perMs / limit`
 * milliseconds. It is kept as one instant, the *theoretical arrival time*, at which the bucket is full again. The
 * instant is exact: whole milliseconds, and parts of a millisecond in units of 1 / `limit`.
 */
export class TokenBucket {
  #fullMs = Number.NEGATIVE_INFINITY;
  #parts = 0;

  /** From when on the bucket is full; it then is as good as a new one. */
  get fullAt(): number {
    return this.#parts > 0 ? this.#fullMs + 1 : this.#fullMs;
  }

  /** The first millisecond in which the bucket has so many tokens; infinite for more tokens than the bucket holds. */
  timeOf(tokens: number, { limit, perMs, burst }: RateLimit): number {
    if (tokens > burst) return Number.POSITIVE_INFINITY;
    return this.#fullMs + Math.ceil((this.#parts - (burst - tokens) * perMs) / limit);
  }

  take(now: number, { limit, perMs }: RateLimit): void {
    // A token that is taken in the first millisecond that has one counts as taken on time. Otherwise each token would
    // lose a part of a millisecond.
    if (this.fullAt < now) {
      this.#fullMs = now;
      this.#parts = 0;
    }
    const parts = this.#parts + perMs;
    this.#fullMs += Math.floor(parts / limit);
    this.#parts = parts % limit;
  }

  /** Empties a bucket that would be full later than a burst can owe: a wrong clock took its last token. */
  clamp(now: number, { limit, perMs, burst }: RateLimit): void {
    const owed = (burst * perMs) / limit;
    if (this.#fullMs <= now + CLOCK_TOLERANCE_MS + owed) return;
    this.#fullMs = now + Math.floor(owed);
    this.#parts = (burst * perMs) % limit;
  }

  fill(): void {
    this.#fullMs = Number.NEGATIVE_INFINITY;
    this.#parts = 0;
  }
}
