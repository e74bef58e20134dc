import type { Environment } from "../environment.ts";
import { type JobRunner, loseLease } from "./job-runner.ts";

/** What a {@link LeaseKeeper} works with. */
export interface LeaseKeeperOptions {
  readonly env: Environment;
  readonly runner: JobRunner;
  /** Whether other schedulers may see this scheduler as alive. True for a scheduler that stays resident, on a store
   *  that other processes may use too. */
  readonly isSeen: () => boolean;
  /** The id of the last step whose answer is known; null before the first step. */
  readonly settledStepId: () => string | null;
}

/** Extends the leases of running jobs, aborts work whose lease is lost, and passes on cancellations from elsewhere. */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  /** When leases were last extended, in epoch milliseconds. */
  #lastRunAt: number;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#lastRunAt = options.env.clock.now();
  }

  /** The time between two runs, in milliseconds. It is a third of a lease, so that two runs may fail before a lease
   *  ends. */
  get periodMs(): number {
    return this.#options.env.leaseMs / 3;
  }

  /** Whether leases may be about to end, because the event loop stood still or the clock was set. */
  isOverdue(now: number): boolean {
    return now - this.#lastRunAt > 2 * this.periodMs;
  }

  /** Extends the leases once. If the store cannot be reached, the next run tries again; an attempt whose lease ended in
   *  the meantime is aborted. @throws {StoreUnavailableError} */
  async runOnce(): Promise<void> {
    const { env, runner, isSeen, settledStepId } = this.#options;
    const { store, clock, identity, incarnation, leaseMs } = env;
    const now = clock.now();
    const attempts = [...runner.running.values()];
    const jobs = runner.held;
    if (jobs.length === 0 && !isSeen()) {
      this.#lastRunAt = now;
      return;
    }
    const until = now + leaseMs;
    try {
      const { lost, cancelRequested } = await store.extendLeases({
        now,
        schedulerId: identity,
        incarnation,
        settledStepId: settledStepId(),
        until,
        jobs,
        aliveUntil: isSeen() ? until : null,
      });
      this.#lastRunAt = now;
      const lostIds = new Set(lost);
      // Only the attempts from before the call: a job of theirs may run here again by now, under a newer lease.
      for (const attempt of attempts) {
        if (lostIds.has(attempt.job.id)) loseLease(attempt);
        else attempt.extendTo(until);
      }
      for (const jobId of cancelRequested) runner.cancel(jobId);
    } catch (error) {
      for (const attempt of attempts) if (attempt.leaseEndsAt <= clock.now()) loseLease(attempt);
      throw error;
    }
  }
}
