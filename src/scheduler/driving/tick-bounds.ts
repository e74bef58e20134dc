import type { Clock } from "../../core/clock.ts";
import type { DataStore } from "../../stores/data-store.ts";

const FRESH_PART = 1 / 10;

export interface TickLimits {
  /** Longest time that the tick may take, in milliseconds. */
  readonly durationMs: number;
  /** Most attempts to start. */
  readonly jobsMax: number;
  /** Most requests to the database. */
  readonly tripsMax: number;
  /** Whether somebody asked to end the tick. */
  readonly isAborted: () => boolean;
}

/** How far a tick may go: until when, with how many jobs, and with how many requests to the database. */
export class TickBounds {
  /** When the tick began, in epoch milliseconds. It takes what was due then. */
  readonly begunAt: number;
  /** The instant at which the tick is to be over, in epoch milliseconds. */
  readonly deadline: number;
  readonly limits: TickLimits;
  readonly #store: DataStore;
  readonly #tripsBefore: number;
  #isEnded = false;

  constructor(store: DataStore, clock: Clock, limits: TickLimits) {
    this.limits = limits;
    this.begunAt = clock.now();
    this.deadline = this.begunAt + limits.durationMs;
    this.#store = store;
    this.#tripsBefore = store.roundTrips ?? 0;
  }

  /** How many requests the store has sent since the tick began. Those of other work on the same store count too,
   *  because the platform counts them. */
  get trips(): number {
    return (this.#store.roundTrips ?? 0) - this.#tripsBefore;
  }

  /** How many requests are left; infinity where they are not bounded. */
  get tripsLeft(): number {
    return Math.max(0, this.limits.tripsMax - this.trips);
  }

  /** Whether the tick has just begun. Then a job may start whose `timeout` is as long as the tick. Otherwise the time
   *  of the first request would keep such a job from starting in any tick. */
  isFresh(now: number): boolean {
    return now - this.begunAt <= this.limits.durationMs * FRESH_PART;
  }

  /** The time of the tick has passed, whatever the clock shows: it may have been set back. */
  end(): void {
    this.#isEnded = true;
  }

  /** Whether no new work is to be begun at `now` (epoch milliseconds). */
  isOver(now: number): boolean {
    return this.#isEnded || now >= this.deadline || this.limits.isAborted();
  }
}
