import type { RateLimit } from "../../records/policies.ts";
import { CLOCK_TOLERANCE_MS } from "../shared/limits.ts";

// What a key limiter counts with: the *tokens* of a `rateLimit`, and the *virtual times* of a fair task.

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
  followClock(now: number, { limit, perMs, burst }: RateLimit): void {
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

/** The jobs of a fair task that have one priority. */
interface FairQueue {
  /** The virtual time of the job that was acquired last. */
  now: number;
  /** The virtual time of each key's job that was acquired last. */
  readonly lastByKey: Map<string, number>;
}

/**
 * The virtual times of a fair task: start-time fair queueing, with jobs of equal weight. Each admitted job gets a
 * virtual time, which stands in the place of its `runAt`: one after the last one of its key, and one after the present
 * of its priority. So a key that was idle has nothing to catch up. No clock is in virtual times.
 */
export class FairQueues {
  readonly #byPriority = new Map<number, FairQueue>();

  /** The virtual time of a job that is admitted.
   *  @param others those of the admitted jobs of its key and priority. They are read from the jobs, so that a job that
   *    is blocked again gives its virtual time back to its key */
  give(key: string, priority: number, others: readonly number[]): number {
    const { now, lastByKey } = this.#queueOf(priority);
    return Math.max(now, lastByKey.get(key) ?? now, ...others) + 1;
  }

  /** A job was acquired. */
  take(key: string, priority: number, virtualTime: number): void {
    const queue = this.#queueOf(priority);
    queue.now = Math.max(queue.now, virtualTime);
    queue.lastByKey.set(key, Math.max(virtualTime, queue.lastByKey.get(key) ?? virtualTime));
  }

  /** Forgets a key that has no jobs. */
  forget(key: string): void {
    for (const { lastByKey } of this.#byPriority.values()) lastByKey.delete(key);
  }

  #queueOf(priority: number): FairQueue {
    let queue = this.#byPriority.get(priority);
    if (queue === undefined) {
      queue = { now: 0, lastByKey: new Map() };
      this.#byPriority.set(priority, queue);
    }
    return queue;
  }
}
