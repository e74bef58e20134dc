import type { EventRecord } from "../../records/events.ts";
import type { SchedulerProfile } from "../../records/scheduler.ts";
import type { Environment } from "../environment.ts";
import { jobLogged } from "../events/event-records.ts";
import type { JobRunner } from "./job-runner.ts";
import type { Peers } from "./peers.ts";

/** How old the progress that other processes see may be, in milliseconds. */
const PROGRESS_AGE_MS = 1000;

/** What a {@link LeaseKeeper} works with. */
export interface LeaseKeeperOptions {
  readonly env: Environment;
  readonly runner: JobRunner;
  /** Learn of the heartbeats of others with each of ours. */
  readonly peers: Peers;
  /** What others see of this scheduler. A resident one says that it is alive even while it holds no job. */
  readonly profile: () => SchedulerProfile;
  /** The id of the last step whose answer is known; null before the first step. */
  readonly settledStepId: () => string | null;
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
  #signal: AbortSignal | null = null;

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
    const { env, runner, peers, settledStepId } = this.#options;
    const { store, clock, identity, instanceId, leaseMs } = env;
    const now = clock.now();
    const attempts = [...runner.running.values()];
    const jobs = runner.held;
    const progress = attempts.map((attempt) => attempt.unsavedProgress);
    const logs = new Map(jobs.map(({ jobId, fence, log }) => [`${fence} ${jobId}`, log]));
    const profile = this.#options.profile();
    if (jobs.length === 0 && !profile.isResident && !signsOn) {
      this.#lastRunAt = now;
      return;
    }
    const until = now + leaseMs;
    try {
      const {
        lost,
        cancelRequested,
        heartbeats = [],
      } = await store.extendLeases({
        now,
        schedulerId: identity,
        instanceId,
        settledStepId: settledStepId(),
        until,
        jobs,
        aliveUntil: until,
        profile,
      });
      this.#lastRunAt = now;
      const lostIds = new Set(lost);
      const logged: EventRecord[] = [];
      // Only the attempts from before the call: a job of theirs may run here again by now, under a newer lease.
      for (const [index, attempt] of attempts.entries()) {
        if (lostIds.has(attempt.job.id)) {
          attempt.loseLease();
          continue;
        }
        attempt.extendTo(until);
        attempt.progressSaved(progress[index] ?? null);
        const log = attempt.log === null ? undefined : logs.get(`${attempt.job.fence} ${attempt.job.id}`);
        if (log === undefined) continue;
        attempt.log?.saved(log);
        logged.push(jobLogged(env, attempt.job, log));
      }
      env.events.publish(logged);
      for (const jobId of cancelRequested) runner.cancel(jobId);
      peers.observed(heartbeats, now);
    } catch (error) {
      for (const attempt of attempts) if (attempt.leaseEndsAt <= clock.now()) attempt.loseLease();
      throw error;
    }
  }

  /** Saves progress soon after it is reported, until the signal is aborted. */
  start(signal: AbortSignal): void {
    this.#signal = signal;
  }

  /** A handler reported its progress: the store learns of it within a second, with what others report till then. */
  progressed(): void {
    const signal = this.#signal;
    if (signal === null || signal.aborted) return;
    this.#savingProgress ??= this.#saveProgress(signal).finally(() => {
      this.#savingProgress = null;
    });
  }

  async #saveProgress(signal: AbortSignal): Promise<void> {
    const { env, runner } = this.#options;
    const { store, clock, identity, instanceId, leaseMs, logger } = env;
    const unsaved = () => [...runner.running.values()].filter((attempt) => attempt.unsavedProgress !== null);
    do {
      await clock.sleep(clock.now() + PROGRESS_AGE_MS, signal);
      const attempts = unsaved();
      if (signal.aborted || attempts.length === 0) return;
      const now = clock.now();
      const until = now + leaseMs;
      const jobs = attempts.map(({ job, unsavedProgress }) => ({
        ...{ jobId: job.id, fence: job.fence },
        ...(unsavedProgress === null ? {} : { progress: unsavedProgress }),
      }));
      try {
        // Without a settled step, the leases that are not named are left alone.
        const ours = { schedulerId: identity, instanceId, settledStepId: null, aliveUntil: null };
        const { lost } = await store.extendLeases({ ...ours, now, until, jobs });
        for (const [index, attempt] of attempts.entries()) {
          if (lost.includes(attempt.job.id)) continue;
          attempt.extendTo(until);
          attempt.progressSaved(jobs[index]?.progress ?? null);
        }
      } catch (error) {
        logger.debug("escapement: progress is saved when leases are next extended", error);
        return;
      }
    } while (unsaved().length > 0);
  }

  /** An event says that somebody asked to cancel a job. If the job runs here, the store is asked whether that is so,
   *  because anybody may send events. */
  cancellationHeard(jobId: string): void {
    if (this.#options.runner.running.get(jobId)?.isAborted === false) this.#askSoon();
  }

  /** Events may have been missed: the store is asked whether somebody asked to cancel a job that runs here. */
  gapHeard(): void {
    if (this.#options.runner.running.size > 0) this.#askSoon();
  }

  #askSoon(): void {
    this.#isToAsk = true;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
  }

  /** Resolves when the store has been asked about cancellations. */
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
