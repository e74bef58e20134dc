import type { Clock } from "../../core/clock.ts";
import type { DataStore } from "../../stores/data-store.ts";

const FRESH_PART = 1 / 10;

export interface TickLimits {
  /** Longest time for one job, and for the tick beyond its stay, in milliseconds. */
  readonly durationMs: number;
  /** How long after its beginning the tick takes what comes due, in milliseconds. */
  readonly stayMs: number;
  /** Whether the tick also waits while none of its jobs runs. Otherwise its stay is part of `durationMs`. */
  readonly staysIdle: boolean;
  /** Most attempts to start. */
  readonly jobsMax: number;
  /** Most requests to the database. */
  readonly tripsMax: number;
  /** Whether somebody asked to end the tick. */
  readonly isAborted: () => boolean;
  /** Ends an idle wait. */
  readonly signal: AbortSignal | undefined;
}

/** How far a tick may go: until when, with how many jobs, and with how many requests to the database. */
export class TickBounds {
  /** The tick takes what is due until then, in epoch milliseconds: when it began, or the end of its stay. */
  readonly takesUntil: number;
  /** The instant at which the tick is to be over, in epoch milliseconds. */
  readonly deadline: number;
  readonly limits: TickLimits;
  readonly #store: DataStore;
  readonly #tripsBefore: number;
  #isEnded = false;

  constructor(store: DataStore, clock: Clock, limits: TickLimits) {
    this.limits = limits;
    const { durationMs, stayMs, staysIdle } = limits;
    const begunAt = clock.now();
    this.takesUntil = begunAt + stayMs;
    this.deadline = begunAt + durationMs + (staysIdle ? stayMs : 0);
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

  /** The longest `timeout` of a job that may start at `now`, in milliseconds: what is left. When the tick has just
   *  begun, or its stay has just ended, that is all of `maxDuration`: otherwise the time of the first request would
   *  keep such a job from starting in any tick. */
  timeoutMsMax(now: number): number {
    const { durationMs } = this.limits;
    const leftMs = this.deadline - now;
    return leftMs >= durationMs * (1 - FRESH_PART) ? durationMs : leftMs;
  }

  /** The time of the tick has passed, whatever the clock shows: it may have been set back. */
  end(): void {
    this.#isEnded = true;
  }

  /** Until when the tick waits for what comes due, now that nothing is due, in epoch milliseconds; null when it does
   *  not wait. What comes due takes a look, a commit that starts it, and one that records its end. */
  waitsUntil(now: number, jobsStarted: number): number | null {
    return this.limits.staysIdle && this.mayWait(now, jobsStarted) ? this.takesUntil : null;
  }

  /** Whether the tick still takes what comes due. */
  mayWait(now: number, jobsStarted: number): boolean {
    const { stayMs, jobsMax } = this.limits;
    // Without a stay, it may be earlier than the beginning only because the clock was set back.
    const isStaying = stayMs > 0 && now < this.takesUntil;
    return isStaying && this.tripsLeft > 3 && jobsStarted < jobsMax && !this.isOver(now);
  }

  /** Whether no new work is to be begun at `now` (epoch milliseconds). */
  isOver(now: number): boolean {
    return this.#isEnded || now >= this.deadline || this.limits.isAborted();
  }
}
