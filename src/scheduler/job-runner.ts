import { JobCancelledError, LeaseLostError, SchedulerStateError, StoreUnavailableError } from "../core/errors.ts";
import type { JobExecutor } from "../executors/job-executor.ts";
import type { EventRecord } from "../records/events.ts";
import type { JobRecord } from "../records/job.ts";
import type { JobOutcome } from "../records/policies.ts";
import type { RecoveryReport, ReleaseStatus, TurnReport } from "../stores/data-store.ts";
import { JobAttempt } from "./job-attempt.ts";
import type { JobContext } from "./job-context.ts";
import { jobAcquired, jobReleased, jobRetried } from "./job-events.ts";
import { type EndedAttempt, ReleaseQueue } from "./release-queue.ts";
import type { TaskRegistry } from "./task-registry.ts";
import type { WorkerEnvironment } from "./worker-environment.ts";

export interface RunnerOptions {
  readonly env: WorkerEnvironment;
  readonly tasks: TaskRegistry;
  readonly executors: Readonly<Record<string, JobExecutor>>;
  readonly maxConcurrentJobs: number;
  readonly contextOf: (attempt: JobAttempt) => JobContext;
  /** Called when a job ended and waits for its release. */
  readonly onEnded: () => void;
}

export interface RunReport {
  readonly jobsStarted: number;
  /** When there may be something to acquire again (epoch milliseconds), or null. */
  readonly nextDueAt: number | null;
  /** Whether jobs are left that could be acquired as soon as there is room. */
  readonly hasMore: boolean;
}

/**
 * Acquires jobs, runs them, and records their outcomes. What ended is released together with the next acquisition, in
 * one commit, and never more than `maxConcurrentJobs` are held.
 */
export class JobRunner {
  readonly #options: RunnerOptions;
  readonly #running = new Map<string, JobAttempt>();
  /** Attempts whose job runs here again already, as their lease was lost; they have not noticed yet. */
  readonly #outdated = new Set<JobAttempt>();
  readonly #releases: ReleaseQueue;
  readonly #outcomes: Record<JobOutcome, number> = emptyOutcomes();
  #whenIdle: (() => void)[] = [];
  #whenEnded: (() => void)[] = [];
  /** Kept while the fate of an acquisition is unknown, so that its repetition finds what it leased. */
  #acquisitionId: string | null = null;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#releases = new ReleaseQueue(options.env);
  }

  /** Attempts that are under way, by job. */
  get running(): ReadonlyMap<string, JobAttempt> {
    return this.#running;
  }

  /** Whether outcomes wait to be recorded, or it is unknown what the last acquisition leased. */
  get isUnsettled(): boolean {
    return this.#releases.size > 0 || this.#acquisitionId !== null;
  }

  /** Outcomes recorded so far. */
  get outcomes(): Readonly<Record<JobOutcome, number>> {
    return this.#outcomes;
  }

  /**
   * One step: releases what ended, and starts what is due and fits.
   * @param jobsMax start at most so many; 0 only looks whether there are any, null does not even look
   * @throws {StoreUnavailableError} nothing is lost: the next step repeats what is unsettled
   */
  async runOnce(now: number, jobsMax: number | null = Number.POSITIVE_INFINITY): Promise<RunReport> {
    const { env, maxConcurrentJobs } = this.#options;
    const room = maxConcurrentJobs - this.#running.size - this.#outdated.size;
    const limit = jobsMax === null || this.#releases.isSuspect ? null : Math.max(0, Math.min(room, jobsMax));
    const isLook = limit !== null && (limit > 0 || jobsMax === 0);
    if (this.#releases.size === 0 && !isLook) return { jobsStarted: 0, nextDueAt: null, hasMore: false };
    const happened: EventRecord[] = [];
    const report = await this.#turn(now, isLook ? limit : null, happened);
    const attempts = report.acquired.map((job) => this.#admit(job, happened));
    env.events.publish(happened);
    for (const attempt of attempts) if (attempt !== null) void this.#run(attempt);
    return { jobsStarted: attempts.length, nextDueAt: report.nextDueAt, hasMore: report.hasMore };
  }

  /** For the stop: releases what ended, and gives back what the last acquisition may have leased.
   *  @throws {StoreUnavailableError} */
  async settle(now: number): Promise<void> {
    const happened: EventRecord[] = [];
    const report = await this.#turn(now, this.#acquisitionId === null ? null : 0, happened);
    for (const job of report.acquired) this.#giveBack(job);
    this.#options.env.events.publish(happened);
  }

  /** Ends attempts early. */
  abortAll(): void {
    for (const attempt of this.#running.values()) {
      attempt.abort(new SchedulerStateError(`the scheduler stops, and job ${attempt.job.id} goes back to the queue`));
    }
  }

  /** Somebody asked to cancel a job that may run here. */
  cancel(jobId: string): void {
    this.#running.get(jobId)?.abort(new JobCancelledError(`job ${jobId} was cancelled`));
  }

  /** Resolves when nothing runs any more. */
  async whenIdle(): Promise<void> {
    if (!this.isIdle) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  /** Resolves when an attempt has ended, or nothing runs. */
  async whenEnded(): Promise<void> {
    if (!this.isIdle && this.#releases.size === 0) await new Promise<void>((resolve) => this.#whenEnded.push(resolve));
  }

  /** Events of jobs that were taken back from a lost lease or ended without a run. Those that run here are aborted. */
  recordRecovery(report: RecoveryReport, now: number, happened: EventRecord[]): void {
    const { env } = this.#options;
    for (const { jobId, taskId, scheduleId, attempt } of report.recovered) {
      this.#lose(jobId);
      happened.push(jobRetried(env, { jobId, taskId, scheduleId, attempt, runAtMs: now, error: null }));
    }
    for (const result of report.ended) {
      this.#lose(result.jobId);
      this.#outcomes[result.outcome]++;
      happened.push(jobReleased(env, result, null));
    }
  }

  /** Whether no handler runs. */
  get isIdle(): boolean {
    return this.#running.size === 0 && this.#outdated.size === 0;
  }

  async #turn(now: number, limit: number | null, happened: EventRecord[]): Promise<TurnReport> {
    const { env, tasks, executors } = this.#options;
    const batch = this.#releases.next();
    const queues = limit === null ? [] : tasks.queues(Object.keys(executors));
    if (queues.length > 0) this.#acquisitionId ??= env.ids.next(now);
    const acquisition =
      this.#acquisitionId === null || limit === null || queues.length === 0
        ? null
        : { acquisitionId: this.#acquisitionId, until: now + env.leaseMs, limit, queues };
    const releases = batch.map(({ release }) => release);
    let report: TurnReport;
    try {
      report = await env.store.turn({ now, schedulerId: env.identity, releases, acquisition });
    } catch (error) {
      this.#releases.failed(batch, !(error instanceof StoreUnavailableError), acquisition === null);
      throw error;
    }
    if (acquisition !== null) this.#acquisitionId = null;
    const endedIds = report.ended.length === 0 ? null : new Set(report.ended.map(({ jobId }) => jobId));
    this.#releases.settled(batch, report.releases, (status, index) => {
      const ended = batch[index];
      // One that somebody asked to cancel ends instead of going back to the queue.
      if (ended !== undefined && endedIds?.has(ended.release.jobId) !== true) {
        this.#recordRelease(ended.attempt, ended.release, ended.error, status, happened);
      }
    });
    this.recordRecovery(report, now, happened);
    return report;
  }

  /** Null when it cannot run here after all. */
  #admit(job: JobRecord, happened: EventRecord[]): JobAttempt | null {
    this.#lose(job.id);
    const attempt = this.#newAttempt(job);
    if (attempt === null) {
      this.#options.env.logger.error(`escapement: the store gave out job ${job.id}, which cannot run here`);
      return null;
    }
    const before = this.#running.get(job.id);
    if (before !== undefined) this.#outdated.add(before);
    this.#running.set(job.id, attempt);
    happened.push(jobAcquired(this.#options.env, job, attempt.number));
    return attempt;
  }

  #newAttempt(job: JobRecord): JobAttempt | null {
    const { env, tasks, executors, contextOf } = this.#options;
    const task = tasks.get(job.taskId);
    const executor = executors[job.executor];
    if (task === undefined || executor === undefined) return null;
    const { clock, random } = env;
    return new JobAttempt(job, task, executor, { clock, random, serializer: env.store.serializer, contextOf });
  }

  #giveBack(job: JobRecord): void {
    const attempt = this.#newAttempt(job);
    const release = { jobId: job.id, fence: job.fence, kind: "giveUp" } as const;
    if (attempt !== null) this.#releases.add(attempt, release, null);
  }

  async #run(attempt: JobAttempt): Promise<void> {
    const { release, error } = await attempt.run();
    const { id } = attempt.job;
    if (this.#running.get(id) === attempt) this.#running.delete(id);
    else this.#outdated.delete(attempt);
    if (release !== null) this.#releases.add(attempt, release, error);
    this.#options.onEnded();
    for (const resolve of this.#whenEnded.splice(0)) resolve();
    if (this.#whenIdle.length > 0 && this.isIdle) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** The lease of a running job is somebody else's: what it does no longer counts. */
  #lose(jobId: string): void {
    const attempt = this.#running.get(jobId);
    if (attempt !== undefined) loseLease(attempt);
  }

  #recordRelease(
    attempt: JobAttempt,
    release: EndedAttempt["release"],
    error: EndedAttempt["error"],
    status: ReleaseStatus,
    happened: EventRecord[],
  ): void {
    const { env } = this.#options;
    const { id: jobId, taskId, scheduleId } = attempt.job;
    if (status !== "released") {
      env.logger.warn(`escapement: the outcome of job ${jobId} does not count, as its lease was lost`);
    } else if (release.kind === "finish") {
      this.#outcomes[release.result.outcome]++;
      happened.push(jobReleased(env, release.result, env.identity));
    } else if (release.kind === "retry") {
      const { runAt: runAtMs } = release;
      happened.push(jobRetried(env, { jobId, taskId, scheduleId, attempt: attempt.number, runAtMs, error }));
    }
  }
}

/** Aborts an attempt whose lease is not ours any more. */
export function loseLease(attempt: JobAttempt): void {
  attempt.abort(new LeaseLostError(`the lease of job ${attempt.job.id} was lost`));
}

export function emptyOutcomes(): Record<JobOutcome, number> {
  return { success: 0, error: 0, missedStartDeadline: 0, deserializationFailed: 0, cancelled: 0, abandoned: 0 };
}
