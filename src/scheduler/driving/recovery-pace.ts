import { RECOVERY_PAUSE_MS_MAX, RECOVERY_PAUSE_MS_MIN } from "./limits.ts";

/**
 * When this scheduler may recover jobs again. Usually at once. But schedulers whose clocks differ by more than a lease
 * take each other's leases for ended, and would hand a job that waits for its start round and round as fast as the
 * store answers. So who recovers a job twice in a row waits before the next recovery, each time twice as long.
 */
export class RecoveryPace {
  readonly #leaseMs: number;
  #lastIds: ReadonlySet<string> = new Set();
  #lastAt = Number.NEGATIVE_INFINITY;
  #pauseMs = 0;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /** A commit recovered these jobs at `now` (epoch milliseconds). */
  recovered(jobIds: readonly string[], now: number): void {
    if (jobIds.length === 0) return;
    const isSoon = Math.abs(now - this.#lastAt) <= this.#leaseMs;
    const isAgain = isSoon && jobIds.some((id) => this.#lastIds.has(id));
    this.#pauseMs = isAgain ? Math.min(Math.max(2 * this.#pauseMs, RECOVERY_PAUSE_MS_MIN), RECOVERY_PAUSE_MS_MAX) : 0;
    this.#lastIds = new Set(jobIds);
    this.#lastAt = now;
  }

  /** From when on a lease that ends at `leaseEndsAt` is to be recovered; both are epoch milliseconds, or null for
   *  none. */
  dueAt(leaseEndsAt: number | null, now: number): number | null {
    // The clock may have been set back.
    if (leaseEndsAt === null || this.#pauseMs === 0 || this.#lastAt > now) return leaseEndsAt;
    return Math.max(leaseEndsAt, this.#lastAt + this.#pauseMs);
  }
}
