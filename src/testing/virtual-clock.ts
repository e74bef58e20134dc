import type { AbortSignal } from "../core/abort-signal.ts";
import { type Clock, yieldToEventLoop } from "../core/clock.ts";
import { type Duration, toDurationMs } from "../core/duration.ts";
import { OptionsError } from "../core/errors.ts";
import { Heap, type HeapItem } from "../core/heap.ts";
import { type InstantLike, instantOf, type Temporal, toEpochMs } from "../core/temporal.ts";

interface VirtualSleep extends HeapItem {
  readonly until: number;
  readonly order: number;
  readonly wake: () => void;
}

/**
 * A clock that stands still until a test moves it. Sleepers wake in the order of their instants. Everything that
 * follows from one waking is done before the next sleeper wakes.
 *
 * @example
 * const clock = new VirtualClock("2026-03-29T00:00:00Z");
 * const scheduler = new Scheduler({ clock });
 * await scheduler.start();
 * await clock.advance({ hours: 24 });
 */
export class VirtualClock implements Clock {
  readonly #sleepers = new Heap<VirtualSleep>(
    (a, b) => a.until < b.until || (a.until === b.until && a.order < b.order),
  );
  readonly #yielding: (() => void)[] = [];
  #isPumping = false;
  #now: number;
  #order = 0;

  /** @param start the instant that the clock shows first. Default: 2030-01-01T00:00:00Z. @throws {OptionsError} when it
   *  is no instant */
  constructor(start: InstantLike = "2030-01-01T00:00:00Z") {
    this.#now = toEpochMs(start, "start");
  }

  now(): number {
    return this.#now;
  }

  /** The instant that the clock shows. */
  get instant(): Temporal.Instant {
    return instantOf(this.#now);
  }

  /** How many sleeps on this clock have not ended. */
  get sleeperCount(): number {
    return this.#sleepers.size;
  }

  /** The earliest instant at which a sleeper wakes, in epoch milliseconds; null when nobody sleeps. */
  get nextWakeMs(): number | null {
    return this.#sleepers.peek()?.until ?? null;
  }

  sleep(untilMs: number, signal?: AbortSignal): Promise<void> {
    if (untilMs <= this.#now || signal?.aborted === true) return Promise.resolve();
    // The clock shows whole milliseconds, like the host's clock.
    const until = Math.ceil(untilMs);
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#sleepers.remove(sleeper);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const sleeper: VirtualSleep = { until, order: this.#order++, wake, heapIndex: -1 };
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", wake, { once: true });
    });
  }

  /** Callers go on one at a time, in the order of their calls. So the order of events depends on the program alone. */
  yield(): Promise<void> {
    return new Promise((resolve) => {
      this.#yielding.push(resolve);
      if (!this.#isPumping) void this.#pump();
    });
  }

  /** Moves the clock on by a duration. Sleepers on the way wake, each at its own instant. @throws {OptionsError} when
   *  the duration is not valid, or negative */
  async advance(duration: Duration): Promise<void> {
    await this.advanceTo(instantOf(this.#now + toDurationMs(duration, "duration")));
  }

  /** Moves the clock on to an instant. Sleepers on the way wake, each at its own instant. @throws {OptionsError} when
   *  the instant is past, or not valid */
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

  /** Sets the clock, forward or back, like a clock on the wall. Sleepers whose instants have passed all wake at once.
   *  When the clock is set back, all sleepers wake, because their instants were computed from the old time. @throws
   *  {OptionsError} when the instant is not valid */
  async jumpTo(instant: InstantLike): Promise<void> {
    const before = this.#now;
    this.#now = toEpochMs(instant, "instant");
    const wokenUntil = this.#now < before ? Number.POSITIVE_INFINITY : this.#now;
    const woken: VirtualSleep[] = [];
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

  /** Resolves when everything that is ready has been done. The clock does not move. */
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
