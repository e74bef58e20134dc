import { sleepFor } from "../../core/clock.ts";
import type { EventRecord } from "../../records/events.ts";
import type { SchedulerProfile } from "../../records/scheduler.ts";
import type { Heartbeat, LeaseExtension } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import { jobLogged } from "../events/event-records.ts";
import type { JobAttempt } from "./job-attempt.ts";
import { heldJob, type JobRunner } from "./job-runner.ts";
import type { Peers } from "./peers.ts";

/** How old the progress may be that other processes see. */
const PROGRESS_AGE_MS = 1000;

/** What a {@link LeaseKeeper} works with. */
export interface LeaseKeeperOptions {
  readonly env: Environment;
  readonly runner: JobRunner;
  /** Learn of the heartbeats of others with each of ours. */
  readonly peers: Peers;
  /** What others see of this scheduler. A resident one says that it is alive even while it holds no job. */
  readonly profile: () => SchedulerProfile;
  /** The id of the last commit whose answer is known; null before the first commit. */
  readonly settledCommitId: () => string | null;
}

/** Extends the leases of running jobs, aborts work whose lease is lost, and passes on cancellations from elsewhere. */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  /** When leases were last extended, in epoch milliseconds. */
  #lastRunAt: number;
  /** Whether somebody is said to have asked to cancel a job since the store was last asked. */
  #isToAsk = false;
  #asking: Promise<void> | null = null;
  #savingProgress: Promise<void> | null = null;

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
    const sinceMs = now - this.#lastRunAt;
    return sinceMs < 0 || sinceMs > 2 * this.periodMs;
  }

  /** Extends the leases once. If the store cannot be reached, the next run tries again; an attempt whose lease ended in
   *  the meantime is aborted.
   *  @param signsOn whether to give a heartbeat in any case. Default: one that ticks gives none while it holds no job
   *  @throws {StoreUnavailableError} */
  async runOnce(signsOn = false): Promise<void> {
    const { env, runner, peers, settledCommitId } = this.#options;
    const now = env.clock.now();
    const jobs = runner.held;
    const profile = this.#options.profile();
    if (jobs.length === 0 && !profile.isResident && !signsOn) {
      this.#lastRunAt = now;
      return;
    }
    const attempts = [...runner.running.values()];
    const sent = { jobs, settledCommitId: settledCommitId(), aliveUntil: now + env.leaseMs, profile };
    const heartbeats = await this.#extend(now, attempts, sent);
    this.#lastRunAt = now;
    peers.observed(heartbeats, now);
  }

  /** @param sent whose jobs begin with those of the attempts */
  async #extend(
    now: number,
    attempts: readonly JobAttempt[],
    sent: Pick<LeaseExtension, "jobs" | "settledCommitId" | "aliveUntil" | "profile">,
  ): Promise<readonly Heartbeat[]> {
    const { env, runner } = this.#options;
    const { store, clock, identity: schedulerId, instanceId, leaseMs } = env;
    const until = now + leaseMs;
    try {
      const report = await store.extendLeases({ now, schedulerId, instanceId, until, ...sent });
      const lostIds = new Set(report.lost);
      const logged: EventRecord[] = [];
      // Only the attempts from before the call: a job of theirs may run here again by now, under a newer lease.
      for (const [index, attempt] of attempts.entries()) {
        if (lostIds.has(attempt.job.id)) {
          attempt.loseLease();
          continue;
        }
        attempt.extendTo(until);
        const { progress, log } = sent.jobs[index] ?? {};
        attempt.progressSaved(progress);
        if (log === undefined) continue;
        attempt.log?.saved(log);
        logged.push(jobLogged(env, attempt.job, log));
      }
      env.events.publish(logged);
      for (const jobId of report.cancelRequested) runner.cancel(jobId);
      return report.heartbeats ?? [];
    } catch (error) {
      for (const attempt of attempts) if (attempt.leaseEndsAt <= clock.now()) attempt.loseLease();
      throw error;
    }
  }

  /** A handler reported its progress: the store learns of it in a second, with what others report till then.
   *  @param signal ends the wait. It is aborted when no job runs any more */
  progressed(signal: AbortSignal): void {
    this.#savingProgress ??= this.#saveProgress(signal);
  }

  async #saveProgress(signal: AbortSignal): Promise<void> {
    const { env, runner } = this.#options;
    try {
      for (;;) {
        await sleepFor(env.clock, PROGRESS_AGE_MS, signal);
        const attempts = [...runner.running.values()].filter((attempt) => attempt.unsavedProgress !== null);
        if (attempts.length === 0) return;
        // Without a settled commit, leases that are not named are left alone.
        const sent = { jobs: attempts.map(heldJob), settledCommitId: null, aliveUntil: null };
        await this.#extend(env.clock.now(), attempts, sent);
      }
    } catch {
      // The next extension of all leases carries the progress, and tells of a store that cannot be reached.
    } finally {
      this.#savingProgress = null;
    }
  }

  /** An event says that somebody asked to cancel a job. If the job runs here, the store is asked whether that is so,
   *  because anybody may send events. */
  cancellationHeard(jobId: string): void {
    if (this.#options.runner.running.get(jobId)?.isAborted === false) this.#askSoon();
  }

  get runsJobs(): boolean {
    return this.#options.runner.running.size > 0;
  }

  /** Events may have been missed: the store is asked whether somebody asked to cancel a job that runs here. */
  gapHeard(): void {
    if (this.runsJobs) this.#askSoon();
  }

  #askSoon(): void {
    this.#isToAsk = true;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
  }

  /** Resolves when the store has been asked about cancellations, and no progress is being saved. */
  async settled(): Promise<void> {
    await Promise.all([this.#asking, this.#savingProgress]);
  }

  async #ask(): Promise<void> {
    while (this.#isToAsk) {
      this.#isToAsk = false;
      try {
        await this.runOnce();
      } catch (error) {
        const { logger } = this.#options.env;
        logger.warn("escapement: a job that may be cancelled hears of it when its lease is next extended", error);
      }
    }
  }
}
