import type { Environment } from "../environment.ts";
import { type JobRunner, loseLease } from "./job-runner.ts";

/** Extends the leases of running jobs, aborts work whose lease is lost, and passes on cancellations from elsewhere. */
export class LeaseKeeper {
  readonly #env: Environment;
  readonly #runner: JobRunner;
  /** When leases were last extended, in epoch milliseconds. */
  #lastRunAt: number;

  constructor(env: Environment, runner: JobRunner) {
    this.#env = env;
    this.#runner = runner;
    this.#lastRunAt = env.clock.now();
  }

  /** How often to run, in milliseconds: two tries may fail before a lease ends. */
  get periodMs(): number {
    return this.#env.leaseMs / 3;
  }

  /** Whether leases may be about to end: the event loop stood still, or the clock was set. */
  isOverdue(now: number): boolean {
    return now - this.#lastRunAt > 2 * this.periodMs;
  }

  /** One step. A store that cannot be reached is tried again at the next one; a lease that ran out meanwhile is lost.
   *  @throws {StoreUnavailableError} */
  async runOnce(): Promise<void> {
    const { store, clock, identity, leaseMs } = this.#env;
    const now = clock.now();
    const attempts = [...this.#runner.running.values()];
    if (attempts.length === 0) {
      this.#lastRunAt = now;
      return;
    }
    const until = now + leaseMs;
    try {
      const { lost, cancelRequested } = await store.extendLeases({
        schedulerId: identity,
        until,
        jobs: attempts.map(({ job }) => ({ jobId: job.id, fence: job.fence })),
      });
      this.#lastRunAt = now;
      const lostIds = new Set(lost);
      // The attempts that were asked about: a job may run here again already, under a newer lease.
      for (const attempt of attempts) {
        if (lostIds.has(attempt.job.id)) loseLease(attempt);
        else attempt.extendTo(until);
      }
      for (const jobId of cancelRequested) this.#runner.cancel(jobId);
    } catch (error) {
      for (const attempt of attempts) if (attempt.leaseEndsAt <= clock.now()) loseLease(attempt);
      throw error;
    }
  }
}
