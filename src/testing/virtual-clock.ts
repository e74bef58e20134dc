import { type Clock, yieldToEventLoop } from "../core/clock.ts";
import { type Duration, toDurationMs } from "../core/duration.ts";
import { OptionsError } from "../core/errors.ts";
import { Heap, type HeapItem } from "../core/heap.ts";
import { type InstantLike, instantOf, type Temporal, toEpochMs } from "../core/temporal.ts";

interface Sleeper extends HeapItem {
  readonly until: number;
  readonly order: number;
  readonly wake: () => void;
}

/**
 * A clock that stands still until it is told to move. Whoever sleeps on it wakes in the order of the instants it
 * sleeps for, and everything that follows from one waking is done before the next.
 *
 * @example
 * const clock = new VirtualClock("2026-03-29T00:00:00Z");
 * const scheduler = new Scheduler({ clock });
 * await scheduler.start();
 * await clock.advance({ hours: 24 });
 */
export class VirtualClock implements Clock {
  readonly #sleepers = new Heap<Sleeper>((a, b) => a.until < b.until || (a.until === b.until && a.order < b.order));
  readonly #yielding: (() => void)[] = [];
  #isPumping = false;
  #now: number;
  #order = 0;

  /** @param start the first present; default: 2030-01-01T00:00:00Z */
  constructor(start: InstantLike = "2030-01-01T00:00:00Z") {
    this.#now = toEpochMs(start, "start");
  }

  now(): number {
    return this.#now;
  }

  /** The present. */
  get instant(): Temporal.Instant {
    return instantOf(this.#now);
  }

  /** How many sleep on this clock. */
  get sleeperCount(): number {
    return this.#sleepers.size;
  }

  /** The earliest instant that somebody sleeps for, in epoch milliseconds, or null. */
  get nextWakeMs(): number | null {
    return this.#sleepers.peek()?.until ?? null;
  }

  sleep(untilMs: number, signal?: AbortSignal): Promise<void> {
    if (untilMs <= this.#now || signal?.aborted === true) return Promise.resolve();
    // Its present is a whole number of milliseconds, like the host's.
    const until = Math.ceil(untilMs);
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#sleepers.remove(sleeper);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const sleeper: Sleeper = { until, order: this.#order++, wake, heapIndex: -1 };
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", wake, { once: true });
    });
  }

  /** First come, first served, one at a time: so the order of events depends on nothing but the program. */
  yield(): Promise<void> {
    return new Promise((resolve) => {
      this.#yielding.push(resolve);
      if (!this.#isPumping) void this.#pump();
    });
  }

  /** Moves the clock on, waking sleepers on the way, each at its instant. */
  async advance(duration: Duration): Promise<void> {
    await this.advanceTo(instantOf(this.#now + toDurationMs(duration, "duration")));
  }

  /** Moves the clock on to an instant. @throws {OptionsError} when that is past */
  async advanceTo(instant: InstantLike): Promise<void> {
    const target = toEpochMs(instant, "instant");
    if (target < this.#now) {
      throw new OptionsError(`advanceTo() cannot go back, to ${instantOf(target)}; use jumpTo()`, [
        { path: "instant", message: "is past" },
      ]);
    }
    await this.settle();
    for (let next = this.#sleepers.peek(); next !== undefined && next.until <= target; next = this.#sleepers.peek()) {
      this.#now = Math.max(this.#now, next.until);
      next.wake();
      await this.settle();
    }
    this.#now = target;
  }

  /** Sets the clock, forward or back, as a clock on the wall is set. Sleepers whose instant has passed all wake at
   *  once. When the clock is set back, all sleepers wake, because the time that they were to sleep has nothing to do
   *  with the new present. */
  async jumpTo(instant: InstantLike): Promise<void> {
    const before = this.#now;
    this.#now = toEpochMs(instant, "instant");
    const wokenUntil = this.#now < before ? Number.POSITIVE_INFINITY : this.#now;
    const woken: Sleeper[] = [];
    for (
      let next = this.#sleepers.peek();
      next !== undefined && next.until <= wokenUntil;
      next = this.#sleepers.peek()
    ) {
      this.#sleepers.remove(next);
      woken.push(next);
    }
    for (const { wake } of woken) wake();
    await this.settle();
  }

  /** Resolves when everything that is ready has been done, at the present instant. */
  async settle(): Promise<void> {
    do await yieldToEventLoop();
    while (this.#isPumping);
  }

  async #pump(): Promise<void> {
    this.#isPumping = true;
    for (;;) {
      await yieldToEventLoop();
      const resolve = this.#yielding.shift();
      if (resolve === undefined) break;
      resolve();
    }
    this.#isPumping = false;
  }
}
