import { JobCancelledError, SchedulerStateError, SerializationError } from "../../core/errors.ts";
import { capacityOf } from "../../executors/capacity.ts";
import type { JobExecutor } from "../../executors/job-executor.ts";
import type { LeaseExtender } from "../../executors/lease-extender.ts";
import type { EventRecord } from "../../records/events.ts";
import type { JobRecord } from "../../records/job.ts";
import { type JobResultRecord, keptJobOf } from "../../records/job-result.ts";
import { type JobOutcome, keptMsOf } from "../../records/policies.ts";
import { type SerializedError, serializedError } from "../../records/serialized-error.ts";
import type { HeldJob, JobCapacity, JobQueue, RecoveryReport, ReleaseStatus } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import { jobAcquired, jobReleased, jobRetried, jobSleeps } from "../events/event-records.ts";
import type { JobContext } from "../scheduler-client.ts";
import { currentJob } from "../tasks/current-job.ts";
import type { TaskRegistry } from "../tasks/task-registry.ts";
import type { AttemptOutcome } from "./attempt-outcome.ts";
import { AttemptSteps } from "./attempt-steps.ts";
import { type AttemptEnvironment, JobAttempt } from "./job-attempt.ts";
import { JobLogger } from "./job-log.ts";
import { LagWatch } from "./lag-watch.ts";
import { LongRuns } from "./long-runs.ts";
import { parentResults } from "./parent-results.ts";
import { Quarantine } from "./quarantine.ts";
import { type EndedAttempt, ReleaseQueue } from "./release-queue.ts";
import { lastRunOf, previousFireTimeOf } from "./schedule-facts.ts";
import { type Wait, Waits } from "./waits.ts";

export interface RunnerOptions {
  readonly env: Environment;
  readonly tasks: TaskRegistry;
  readonly executors: Readonly<Record<string, JobExecutor>>;
  readonly maxConcurrentJobs: number;
  /** Keeps the leases while the event loop is blocked. */
  readonly leaseExtender: LeaseExtender | undefined;
  readonly contextOf: (attempt: JobAttempt) => JobContext;
  /** Called when a handler reported its progress. */
  readonly onProgress: () => void;
  /** Called when a job ended and waits for its release. */
  readonly onEnded: () => void;
}

/** Runs leased jobs, never more than `maxConcurrentJobs` at once, and keeps their outcomes until a commit has told the
 *  store. */
export class JobRunner {
  readonly log: JobLogger;
  /** Tells when the event loop stands still while jobs run. */
  readonly lag: LagWatch;
  /** Tells of runs that may hang. */
  readonly longRuns: LongRuns;
  readonly #options: RunnerOptions;
  readonly #running = new Map<string, JobAttempt>();
  /** Attempts that lost their lease and still run, while a newer attempt of the same job runs here too. */
  readonly #outdated = new Set<JobAttempt>();
  readonly #releases = new ReleaseQueue();
  readonly #outcomes: Record<JobOutcome, number> = emptyOutcomes();
  readonly #waits = new Waits(() => this.#awaitedJobAdded());
  /** Whether a handler waits for a job that was added since somebody asked. */
  #hasNewWait = false;
  #isStuckTold = false;
  #whenIdle: (() => void)[] = [];
  #whenEnded: (() => void)[] = [];
  /** How attempts were lost that the present commit gave up, by job. */
  readonly #losses = new Map<string, SerializedError>();
  /** Jobs that the present commit gave back, so that their recovery is no loss of a process, with whether the log was
   *  told why. */
  readonly #givenBack = new Map<string, boolean>();

  readonly #executors: readonly (readonly [name: string, executor: JobExecutor])[];
  /** Executors whose capacity is no number, as the log knows. */
  readonly #wrongCapacities = new Set<string>();
  readonly #quarantine: Quarantine;
  readonly #attemptEnv: AttemptEnvironment;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#executors = Object.entries(options.executors);
    this.log = new JobLogger(options.env);
    this.lag = new LagWatch(options.env, () => this.#running.values(), options.leaseExtender !== undefined);
    const { env, contextOf, leaseExtender, onProgress } = options;
    this.longRuns = new LongRuns(
      env,
      () => this.#running.values(),
      () => this.#isFull,
      (queue) => this.canRun(queue),
    );
    const { clock, random, store, leaseMs } = env;
    const { serializer, capabilities } = store;
    this.#attemptEnv = {
      clock,
      random,
      serializer,
      isShared: capabilities.sharedByProcesses,
      contextOf,
      parentsOf: (job) => parentResults(env, job),
      lastRunOf: (job) => lastRunOf(env, job),
      previousFireTimeOf: (job) => previousFireTimeOf(env, job),
      leaseExtender,
      leaseMs,
      onProgress,
      stepsOf: (attempt) => new AttemptSteps(attempt, env),
      onEnded: (attempt, outcome) => this.#ended(attempt, outcome),
    };
    this.#quarantine = new Quarantine(options.env.clock, {
      announce: (attempt) => this.#announce(attempt),
      run: (attempt) => this.#run(attempt),
    });
  }

  /** Attempts that are under way, by the id of their job. */
  get running(): ReadonlyMap<string, JobAttempt> {
    return this.#running;
  }

  /** The leases that are ours: of jobs that run, in the order of `running`, and of jobs that ended but whose
   *  outcome the store does not know yet. */
  get held(): readonly HeldJob[] {
    const running = [...this.#running.values()].map(heldJob);
    // One that is about to start is running, too.
    const ended = this.#releases.waiting().filter(({ release }) => release.kind !== "start");
    return [...running, ...ended.map(({ attempt }) => heldJob(attempt))];
  }

  /** How many more jobs fit: one, even above `maxConcurrentJobs`, when all that run wait for other jobs, which may wait
   *  for this room. */
  get room(): number {
    if (this.#isStuck) return 1;
    return Math.max(0, this.#options.maxConcurrentJobs - this.#running.size - this.#outdated.size);
  }

  get #isFull(): boolean {
    return this.#running.size + this.#outdated.size >= this.#options.maxConcurrentJobs;
  }

  /** The jobs that this scheduler could run now, when `limit` more may run at all. An executor with less room than that
   *  has a bound, and one without room takes no part.
   *  @param timeoutMsMax as in {@link queuesWithin} @param tasks only these take part. Default: all */
  capacityFor(limit: number, timeoutMsMax?: number, tasks?: ReadonlySet<string>): JobCapacity {
    const all = this.queuesWithin(timeoutMsMax);
    const queues = tasks === undefined ? all : all.filter(({ taskId }) => tasks.has(taskId));
    const bounds = new Map<string, number>();
    for (const [name, executor] of this.#executors) {
      const free = this.#freeOf(name, executor);
      if (free < limit) bounds.set(name, free);
    }
    if (bounds.size === 0) return { queues, limit };
    const open = queues.filter(({ executor }) => bounds.get(executor) !== 0);
    if (!open.some(({ executor }) => bounds.has(executor))) return { queues: open, limit };
    // Fewer jobs are read.
    const sum = open.every(({ executor }) => bounds.has(executor)) ? total(bounds.values()) : limit;
    return { queues: open, limit: Math.min(limit, sum), bounds };
  }

  /** Whether there is an executor that can begin nothing now. */
  get isExecutorFull(): boolean {
    return this.#executors.some(([name, executor]) => this.#freeOf(name, executor) === 0);
  }

  /** Calls a function each time an executor can begin more. @returns a function that ends the listening */
  onCapacity(listener: () => void): () => void {
    const ends = this.#executors.map(([, executor]) => executor.onCapacity?.(listener));
    return () => {
      for (const end of ends) end?.();
    };
  }

  /** Those of leased jobs that their executors can begin: one may have lost a worker since the lease. */
  beginnable(jobs: readonly JobRecord[]): readonly JobRecord[] {
    const free = new Map(this.#executors.map(([name, executor]) => [name, this.#freeOf(name, executor)]));
    if (Math.min(...free.values()) >= jobs.length) return jobs;
    return jobs.filter(({ executor }) => {
      const left = free.get(executor) ?? Number.POSITIVE_INFINITY;
      free.set(executor, left - 1);
      return left > 0;
    });
  }

  /** How many more jobs an executor could begin, besides those that it is about to get. */
  #freeOf(name: string, executor: JobExecutor): number {
    const capacity = capacityOf(executor, (what, cause) => this.#tellWrongCapacity(name, what, cause));
    if (capacity === undefined) return Number.POSITIVE_INFINITY;
    let free = capacity;
    for (const { isHanded, job } of this.#running.values()) if (!isHanded && job.executor === name) free--;
    return Math.max(0, free);
  }

  #tellWrongCapacity(name: string, what: string, cause: unknown): void {
    if (this.#wrongCapacities.has(name)) return;
    this.#wrongCapacities.add(name);
    const text =
      `escapement: the capacity of executor "${name}" ${what}, so that its jobs wait; it must be a number from 0 up, ` +
      "how many more jobs the executor could begin now, or undefined for no bound";
    this.#options.env.logger.error(text, ...(cause === undefined ? [] : [cause]));
  }

  get #isStuck(): boolean {
    return this.#running.size >= this.#options.maxConcurrentJobs && this.#waits.size === this.#running.size;
  }

  /** A wait for another job begins. Null unless the handler of a job that runs here waits. */
  beginWait(): Wait | null {
    const context = currentJob();
    const attempt = context === null ? undefined : this.#running.get(context.job.id);
    if (attempt === undefined || attempt.job.fence !== context?.fence) return null;
    const wait = this.#waits.begin(attempt);
    if (this.#isStuck) this.#tellStuck();
    return wait;
  }

  #tellStuck(): void {
    const { env, maxConcurrentJobs, onEnded } = this.#options;
    onEnded();
    if (this.#isStuckTold) return;
    this.#isStuckTold = true;
    env.logger.warn(
      `escapement: every job that runs here waits for another, and maxConcurrentJobs is ${maxConcurrentJobs}; one ` +
        "more runs beyond that, so that they go on; raise maxConcurrentJobs above the number of jobs that wait at once",
    );
  }

  /** A handler waits for a job that is in the store now. */
  #awaitedJobAdded(): void {
    this.#hasNewWait = true;
    this.#resolveEnded();
  }

  /** Whether handlers wait for jobs that were added since the last call. */
  takeNewWait(): boolean {
    const hasNewWait = this.#hasNewWait;
    this.#hasNewWait = false;
    return hasNewWait;
  }

  /** The queues whose jobs this scheduler can run. */
  get queues(): readonly JobQueue[] {
    return this.#options.tasks.queues;
  }

  /** The queues of tasks whose `timeout` is not longer, in milliseconds. Default: no bound. */
  queuesWithin(timeoutMsMax: number = Number.POSITIVE_INFINITY): readonly JobQueue[] {
    const { queues } = this;
    const fits = ({ taskId }: JobQueue): boolean => this.timeoutMsOf(taskId) <= timeoutMsMax;
    return queues.every(fits) ? queues : queues.filter(fits);
  }

  /** The longest `timeout` of a task that is not longer than `msMax`, in milliseconds; 0 when there is none. */
  longestTimeoutMs(msMax: number): number {
    return this.queues.reduce((longest, { taskId }) => {
      const timeoutMs = this.timeoutMsOf(taskId);
      return timeoutMs <= msMax ? Math.max(longest, timeoutMs) : longest;
    }, 0);
  }

  /** The `timeout` of a task, in milliseconds; 0 for none. */
  timeoutMsOf(taskId: string): number {
    return this.#options.tasks.get(taskId)?.record.timeoutMs ?? 0;
  }

  canRun(queue: JobQueue): boolean {
    return this.#options.tasks.missing(queue) === null;
  }

  /** Outcomes that the store does not know yet, as many as fit into one commit, the oldest first. */
  get nextReleases(): readonly EndedAttempt[] {
    return this.#releases.next();
  }

  get hasWaiting(): boolean {
    return this.#releases.size > 0;
  }

  /** How many jobs have ended so far, by outcome. */
  get outcomes(): Readonly<Record<JobOutcome, number>> {
    return this.#outcomes;
  }

  /** Takes in the jobs that a commit leased. Run the returned attempts after their events have been published. */
  admit(jobs: readonly JobRecord[], happened: EventRecord[]): JobAttempt[] {
    return jobs.flatMap((job) => this.#admit(job, happened) ?? []);
  }

  /** Runs attempts in the background. Those of jobs that were lost before start one after the other. */
  run(attempts: readonly JobAttempt[]): void {
    for (const attempt of attempts) {
      if (attempt.job.recoveries === 0) this.#run(attempt);
      else this.#quarantine.add(attempt);
    }
    this.#endUnstarted();
  }

  /** Gives back jobs that were leased and are not to run. */
  giveBack(jobs: readonly JobRecord[]): void {
    for (const job of jobs) {
      const attempt = this.#newAttempt(job);
      const release = { jobId: job.id, fence: job.fence, kind: "giveUp" } as const;
      if (attempt !== null) this.#releases.add(attempt, release, null);
    }
  }

  /** A commit told the store of outcomes. `endedIds` are the jobs that recovery ended instead of putting them back. */
  recordReleases(
    batch: readonly EndedAttempt[],
    statuses: readonly ReleaseStatus[],
    endedIds: ReadonlySet<string> | null,
    happened: EventRecord[],
  ): void {
    this.#releases.settled(batch, statuses, ({ attempt, release, error }, status) => {
      if (release.kind !== "start") this.#letGo(attempt);
      if (release.kind === "giveUp" && error !== null) this.#losses.set(release.jobId, error);
      if (endedIds?.has(release.jobId) !== true) this.#recordRelease(attempt, release, error, status, happened);
    });
  }

  /** A commit carried these outcomes to the store, and it is unknown whether the commit took effect. */
  releasesUnknown(batch: readonly EndedAttempt[]): void {
    this.#releases.unknown(batch);
  }

  /** The store refused a commit that carried these outcomes, and with it the earlier tries of the commit. */
  releasesNotTaken(batch: readonly EndedAttempt[]): void {
    this.#releases.notTaken(batch);
  }

  /** The store will never take this outcome. It may without the payload, which it has taken once, but not with a
   *  result. It may without the return value: then the job ends as an error, because its handler has done its work. It
   *  may without both. Otherwise the job counts as lost with its process. */
  releaseRefused(ended: EndedAttempt, error: unknown): void {
    const { release } = ended;
    if (release.kind === "finish") {
      const result = smallerResult(release.result, ended.attempt.job, error);
      if (result !== null) {
        this.#releases.replaced(ended, { ...release, result }, result.error);
        return;
      }
    }
    this.#releases.refused(ended);
    this.#letGo(ended.attempt);
    const { jobId, fence, kind } = ended.release;
    if (kind === "start") this.#notStarted(ended.attempt);
    // What no extension names is given up without being counted, and would run for ever.
    if (kind === "finish" || kind === "retry") {
      this.#releases.add(ended.attempt, { jobId, fence, kind: "giveUp", hasStarted: true }, null);
    }
    this.#options.env.logger.error(
      `escapement: the store refuses the outcome of job ${jobId}, which counts as a recovery of it`,
      error,
    );
  }

  /** Gives back the jobs that wait for their turn to start, because the scheduler begins nothing new. */
  giveBackWaiting(): void {
    this.#stop(this.#quarantine.waiting);
  }

  /** Gives back all jobs that have not started, because no commit follows that could tell the store of their start. */
  giveBackUnstarted(): void {
    this.#stop(this.#quarantine.unstarted);
  }

  /** Ends all running attempts early. Their handlers may take `graceMs` milliseconds.
   *  @param why the beginning of the reason. Default: the scheduler stops */
  abortAll(graceMs: number, why?: string): void {
    this.#stop([...this.#running.values(), ...this.#outdated], graceMs, why);
  }

  /** Whether a job runs here, or has run and its outcome waits. */
  holds(jobId: string): boolean {
    return this.#running.has(jobId) || this.#releases.waiting().some(({ release }) => release.jobId === jobId);
  }

  /** Somebody asked to cancel a job that may run here. */
  cancel(jobId: string): void {
    const attempt = this.#running.get(jobId);
    attempt?.abort(new JobCancelledError(`job ${jobId} was cancelled`), attempt.patienceMs);
    this.#endUnstarted();
  }

  /** Resolves when no attempt runs any more. */
  async whenIdle(): Promise<void> {
    if (!this.isIdle) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  /** Resolves when an attempt has ended and its outcome waits, when a handler waits for a job that was added, or when
   *  no attempt runs. */
  async whenEnded(): Promise<void> {
    if (!this.isIdle && this.#releases.size === 0 && !this.#hasNewWait)
      await new Promise<void>((resolve) => this.#whenEnded.push(resolve));
  }

  /** Adds the events of jobs that recovery put back or ended. An attempt of such a job that runs here is aborted. */
  recordRecovery(report: RecoveryReport, now: number, happened: EventRecord[]): void {
    const { env } = this.#options;
    for (const { jobId, taskId, scheduleId, attempt } of report.recovered) {
      this.#lose(jobId);
      const isLogged = this.#givenBack.get(jobId);
      if (isLogged !== true) this.log.recovered({ jobId, taskId, scheduleId }, attempt, isLogged !== undefined);
      const error = this.#losses.get(jobId) ?? null;
      happened.push(jobRetried(env, { jobId, taskId, scheduleId, attempt, runAtMs: now, error }));
    }
    this.#givenBack.clear();
    this.recordEnds(report.ended, happened);
    this.#losses.clear();
  }

  /** Adds the events of jobs that the store ended by itself.
   *  @param cancelledId the job that somebody cancelled, which no parent ended */
  recordEnds(results: readonly JobResultRecord[], happened: EventRecord[], cancelledId: string | null = null): void {
    this.log.endedByParents(results.filter((result) => isEndedByParent(result) && result.jobId !== cancelledId));
    for (const ended of results) {
      const loss = ended.outcome === "abandoned" ? this.#losses.get(ended.jobId) : undefined;
      const result = loss === undefined ? ended : { ...ended, error: loss };
      this.#lose(result.jobId);
      this.#outcomes[result.outcome]++;
      this.log.ended(result);
      happened.push(jobReleased(this.#options.env, result, null));
    }
  }

  /** Whether no handler runs. */
  get isIdle(): boolean {
    return this.#running.size === 0 && this.#outdated.size === 0;
  }

  /** The attempt that runs a leased job; null when the job cannot run here after all. */
  #admit(job: JobRecord, happened: EventRecord[]): JobAttempt | null {
    this.#lose(job.id);
    const attempt = this.#newAttempt(job);
    if (attempt === null) {
      this.#options.env.logger.error(`escapement: the store gave out job ${job.id}, which cannot run here`);
      return null;
    }
    const before = this.#running.get(job.id);
    if (before !== undefined) {
      this.#outdated.add(before);
      this.#waits.forget(before);
    }
    this.#running.set(job.id, attempt);
    this.#options.leaseExtender?.hold(job.id, job.fence, job.taskId);
    this.log.begins(job, attempt.number);
    happened.push(jobAcquired(this.#options.env, job, attempt.number));
    return attempt;
  }

  /** The lease is no longer ours. */
  #letGo({ job }: JobAttempt): void {
    this.#options.leaseExtender?.drop(job.id, job.fence);
  }

  #newAttempt(job: JobRecord): JobAttempt | null {
    const { tasks, executors } = this.#options;
    const task = tasks.get(job.taskId);
    const executor = executors[job.executor];
    if (task === undefined || executor === undefined) return null;
    return new JobAttempt(job, task, executor, this.#attemptEnv);
  }

  #run(attempt: JobAttempt): void {
    this.lag.begins(attempt);
    this.longRuns.begins();
    attempt.run();
  }

  #ended(attempt: JobAttempt, { release, error }: AttemptOutcome): void {
    const { id } = attempt.job;
    if (attempt.abandonedAfterMs !== null) this.log.handlerAbandoned(attempt.job, attempt.abandonedAfterMs);
    if (attempt.workerLoss?.hasStarted === true) this.log.workerLost(attempt.job, attempt.number, attempt.workerLoss);
    if (this.#running.get(id) === attempt) this.#running.delete(id);
    else this.#outdated.delete(attempt);
    this.#waits.forget(attempt);
    if (release?.kind === "finish") this.#waits.ended(id);
    const log = attempt.log?.unsaved ?? null;
    if (release !== null) this.#releases.add(attempt, log === null ? release : { ...release, log }, error);
    else this.#letGo(attempt);
    this.#quarantine.ended(attempt);
    this.#tellWaiting();
    if (this.#whenIdle.length > 0 && this.isIdle) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #stop(attempts: Iterable<JobAttempt>, graceMs?: number, why = "the scheduler stops"): void {
    for (const attempt of attempts) {
      const reason = `${why}, and job ${attempt.job.id} goes back to the queue`;
      attempt.abort(new SchedulerStateError(reason), graceMs);
    }
    this.#endUnstarted();
  }

  #tellWaiting(): void {
    this.#options.onEnded();
    this.#resolveEnded();
  }

  /** The next commit tells the store that the attempt starts. */
  #announce(attempt: JobAttempt): void {
    const { id: jobId, fence } = attempt.job;
    this.#releases.add(attempt, { jobId, fence, kind: "start" }, null);
    this.#tellWaiting();
  }

  /** The store does not know the attempt as started, so that it must not start. */
  #notStarted(attempt: JobAttempt): void {
    attempt.loseLease();
    this.#quarantine.announced(attempt, false);
  }

  /** Ends the attempts that were aborted before they started. */
  #endUnstarted(): void {
    for (const attempt of this.#quarantine.flush()) this.#releases.withdrawStart(attempt);
  }

  #resolveEnded(): void {
    if (this.#whenEnded.length > 0) for (const resolve of this.#whenEnded.splice(0)) resolve();
  }

  /** The lease of a running job is no longer ours, so that its outcome does not count: aborts the attempt. */
  #lose(jobId: string): void {
    this.#running.get(jobId)?.loseLease();
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
    if (release.kind === "start") {
      if (status === "released") this.#quarantine.announced(attempt, true);
      else this.#notStarted(attempt);
    } else if (status !== "released") {
      env.logger.warn(`escapement: the outcome of job ${jobId} does not count, because its lease was lost`);
    } else if (release.kind === "finish") {
      this.#outcomes[release.result.outcome]++;
      this.log.ended(release.result, attempt.job.fence, attempt.thrown);
      happened.push(jobReleased(env, release.result, env.identity));
    } else if (release.kind === "retry") {
      const { runAt: runAtMs, sleep } = release;
      if (sleep !== undefined && error === null) {
        this.log.sleeps(attempt.job, runAtMs, sleep.step);
        happened.push(jobSleeps(env, attempt.job, runAtMs, sleep.step));
        return;
      }
      this.log.retried(attempt.job, attempt.number, release, { thrown: attempt.thrown, error });
      happened.push(jobRetried(env, { jobId, taskId, scheduleId, attempt: attempt.number, runAtMs, error }));
    } else {
      this.#givenBack.set(jobId, attempt.workerLoss !== null);
    }
  }
}

function total(numbers: Iterable<number>): number {
  let sum = 0;
  for (const number of numbers) sum += number;
  return sum;
}

export function heldJob({ job, hasStarted, unsavedProgress, hasEnded, log }: JobAttempt): HeldJob {
  const held: HeldJob = { jobId: job.id, fence: job.fence, hasStarted };
  // The log of an attempt that has ended goes with its outcome.
  const unsavedLog = hasEnded ? null : (log?.unsaved ?? null);
  if (unsavedProgress === null && unsavedLog === null) return held;
  return {
    ...held,
    ...(unsavedProgress === null ? {} : { progress: unsavedProgress }),
    ...(unsavedLog === null ? {} : { log: unsavedLog }),
  };
}

/** What to try next when a store refuses a result; null when nothing is left to try. */
function smallerResult(result: JobResultRecord, job: JobRecord, error: unknown): JobResultRecord | null {
  const hasPayload = (result.job?.payload ?? null) !== null;
  if (hasPayload && result.returnValue !== null) return withoutPayload(result);
  if (result.returnValue !== null) {
    const failure = serializedError(resultRefused(result.jobId, error));
    const { resultExpirationMs } = job;
    const ended = { ...result, outcome: "error", returnValue: null, error: failure } as const;
    const expiresAt = result.finishedAt + keptMsOf(job, "error");
    return { ...ended, job: { ...keptJobOf(job), resultExpirationMs }, expiresAt };
  }
  return hasPayload ? withoutPayload(result) : null;
}

function withoutPayload(result: JobResultRecord): JobResultRecord {
  const { job } = result;
  return job === undefined ? result : { ...result, job: { ...job, payload: null, omitsPayload: true } };
}

function resultRefused(jobId: string, cause: unknown): SerializationError {
  return new SerializationError(
    `the store refuses the result of job ${jobId}: store it elsewhere and return a reference`,
    { cause },
  );
}

/** Whether a job that the store ended never began: then a parent that did not succeed is the reason, unless somebody
 *  cancelled the job itself. */
function isEndedByParent({ outcome, attempts }: JobResultRecord): boolean {
  return outcome === "cancelled" && attempts === 0;
}

export function emptyOutcomes(): Record<JobOutcome, number> {
  const none = { success: 0, error: 0, missedStartDeadline: 0, deserializationFailed: 0, cancelled: 0 };
  return { ...none, abandoned: 0, skipped: 0 };
}
