import type { AbortSignal } from "../../core/abort-signal.ts";
import { JobLookupError } from "../../core/errors.ts";
import { printAsJSON, readable } from "../../core/inspect.ts";
import { instantOf, instantOrNull, instantText, instantTextOrNull, type Temporal } from "../../core/temporal.ts";
import { backfillIdOf } from "../../records/backfill.ts";
import type { JSONOf } from "../../records/fields/field.ts";
import type { JOB_FIELDS } from "../../records/fields/job.ts";
import { givenPriority, type JobRecord } from "../../records/job.ts";
import { type Labels, type Metadata, NO_LABELS, type ParentFailurePolicy } from "../../records/policies.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import { type Attempt, attemptAsJSON, attemptOf } from "./attempt.ts";
import type { JobResult } from "./job-result.ts";
import type { JobStep } from "./job-step.ts";
import { retryAsJSON, retryOf, type TaskRetry } from "./retry.ts";
import { type TableRow, timeText } from "./table.ts";

/**
 * What a request to cancel a job came to. `delivered`: the job has ended, or the `signal` of its handler, which runs
 * here, is aborted. `asked`: the job runs in another process, which hears of it within moments over an event broker,
 * on a file and on PostgreSQL, else when the job's lease is next extended (every third of `leaseDuration`).
 * `tooLate`: there is no unfinished job with this id.
 */
export type Cancellation = "delivered" | "asked" | "tooLate";

/** What the verbs of a {@link Job} need of the scheduler that made it. Every `SchedulerClient` has it. */
export interface JobClient {
  getJob(id: string): Promise<Job>;
  cancelJob(id: string): Promise<Cancellation>;
  getJobSteps(id: string): Promise<JobStep[]>;
  getJobResult(
    id: string,
    options?: { wait?: boolean | undefined; signal?: AbortSignal | undefined },
  ): Promise<JobResult | null>;
}

/** What a {@link Job} shows of its record. */
export type JobFacts = Omit<
  JobRecord,
  "resultExpirationMs" | "failureExpirationMs" | "maxRecoveries" | "startedFence" | "fence"
>;

/**
 * A job as it was when it was read, with what can be done to it. Its fields never change; {@link refresh}
 * reads the job again. `R` is the type of the value that its handler returns.
 * @example
 * const job = await scheduler.addJob(report);
 * console.log(await job.wait({ signal: AbortSignal.timeout(60_000) }));
 */
export class Job<R = unknown> {
  readonly id: string;
  readonly taskId: string;
  /** The id of the schedule that made the job; null for a job that was added directly. */
  readonly scheduleId: string | null;
  readonly #record: JobFacts;
  readonly #serializer: Serializer;
  readonly #client: JobClient;
  readonly #hasEnded: boolean;

  static {
    printAsJSON(Job.prototype);
  }

  /** @param hasEnded whether the job stands for an addition, and had ended before it */
  constructor(record: JobFacts, serializer: Serializer, client: JobClient, hasEnded = false) {
    // Own properties, because `console.table` shows no others. The rest is made when it is read.
    this.id = record.id;
    this.taskId = record.taskId;
    this.scheduleId = record.scheduleId;
    this.#record = record;
    this.#serializer = serializer;
    this.#client = client;
    this.#hasEnded = hasEnded;
  }

  /** Name of the executor that runs the job. */
  get executor(): string {
    return this.#record.executor;
  }
  /** What the handler gets, deserialized; undefined when there is no payload. @throws {DeserializationError} when the
   *  stored text cannot be read */
  get payload(): unknown {
    return this.#record.payload === null ? undefined : this.#serializer.deserialize(this.#record.payload);
  }
  /** Jobs with a higher priority run first. */
  get priority(): number {
    return givenPriority(this.#record);
  }
  /** The job does not start before this instant. */
  get runAt(): Temporal.Instant {
    return instantOf(this.#record.runAt);
  }
  get createdAt(): Temporal.Instant {
    return instantOf(this.#record.createdAt);
  }
  /** The schedule's fire time, jitter included; null for a job that no fire time made (`addJob`, `runScheduleNow`). */
  get scheduledFireTime(): Temporal.Instant | null {
    return instantOrNull(this.#record.scheduledFireTime);
  }
  /** The schedule's fire time without jitter; null for a job that no fire time made. */
  get fireTime(): Temporal.Instant | null {
    return instantOrNull(this.#record.fireTime);
  }
  /** The job does not start after this instant; null is unlimited. */
  get startDeadline(): Temporal.Instant | null {
    return instantOrNull(this.#record.startDeadline);
  }
  /** How many other fire times this job stands for (see `coalesce`); null when there are too many to count, and for a
   *  job that no fire time made. */
  get missedCount(): number | null {
    return this.#record.missedCount;
  }
  /** The first of the other fire times that this job stands for; null when there are none. */
  get firstMissedTime(): Temporal.Instant | null {
    return instantOrNull(this.#record.firstMissedTime);
  }
  /** The last of the other fire times that this job stands for; null when there are none. */
  get lastMissedTime(): Temporal.Instant | null {
    return instantOrNull(this.#record.lastMissedTime);
  }
  get metadata(): Metadata {
    return this.#record.metadata;
  }
  /** Empty for none. */
  get labels(): Labels {
    return this.#record.labels ?? NO_LABELS;
  }
  get idempotencyKey(): string | null {
    return this.#record.idempotencyKey;
  }
  /** Limits of the task count per key (see `concurrencyKey` of the task); null for none. */
  get concurrencyKey(): string | null {
    return this.#record.concurrencyKey ?? null;
  }
  /** Why the job cannot start although it may be due: a limit of its task or a pause (`"limit"`), or parents that have
   *  not ended (`"parents"`). Null for a job that is not blocked. Where the task has limits, `"limit"` also stands for
   *  a job that no scheduler has let in yet. A paused task without limits leaves its jobs queued. */
  get blockedBy(): "limit" | "parents" | null {
    return this.#record.blockedBy ?? null;
  }
  /** `"running"` under the lease of a scheduler, `"blocked"` (see {@link blockedBy}), or `"queued"`: it starts when it
   *  is due and a scheduler has room. `"ended"` for a job that has ended: read by `getJob`, its fields are what its
   *  result keeps (`runAt` is its fire time, or when it was added). Returned in the place of a new job, because of
   *  `throttle` or `uniqueFor`, {@link result} and {@link wait} are about it, and the other fields are those of the new
   *  one. */
  get state(): "queued" | "blocked" | "running" | "ended" {
    if (this.#hasEnded) return "ended";
    if (this.#record.acquiredBy !== null) return "running";
    return this.blockedBy === null ? "queued" : "blocked";
  }
  /** The ids of the jobs that this job comes after, each once; empty for none. It is blocked until they have ended. */
  get after(): readonly string[] {
    return this.#record.after ?? [];
  }
  /** What becomes of the job when one of those jobs does not succeed; null for a job that comes after none. */
  get onParentFailure(): ParentFailurePolicy | null {
    return this.after.length === 0 ? null : (this.#record.onParentFailure ?? "cancel");
  }
  /** How often the job runs again if its handler fails, where its addition said so; null for what the task says. */
  get retry(): TaskRetry | null {
    return this.#record.retry === undefined ? null : retryOf(this.#record.retry);
  }
  /** How many attempts have failed so far, because the handler threw or ran longer than the task's `timeout`. */
  get failedAttempts(): number {
    return this.#record.failedAttempts;
  }
  /** How many times the job was lost with its process so far. */
  get recoveries(): number {
    return this.#record.recoveries;
  }
  /** Identity of the scheduler that runs the job; null while the job waits. */
  get acquiredBy(): string | null {
    return this.#record.acquiredBy;
  }
  /** When the lease of the scheduler that runs the job ends; null while the job waits. */
  get acquiredUntil(): Temporal.Instant | null {
    return instantOrNull(this.#record.acquiredUntil);
  }
  /** Whether somebody asked to cancel the job while it runs. */
  get cancelRequested(): boolean {
    return this.#record.cancelRequested;
  }

  /** The id of the job that this job repeats (see `retryJob`); null for none. */
  get retryOf(): string | null {
    return this.#record.retryOf ?? null;
  }
  /** The id of the backfill that added the job, or the job that this job repeats (see `backfill`); null for none. */
  get backfillId(): string | null {
    return backfillIdOf(this.#record.id);
  }
  /** The attempts that failed so far, the oldest first: the last 20. */
  get attemptHistory(): Attempt[] {
    return (this.#record.attemptHistory ?? []).map(attemptOf);
  }
  /** The step in which the job sleeps until `runAt` (`step.sleep`); null for a job that does not. */
  get sleepsIn(): string | null {
    const { sleep, acquiredBy } = this.#record;
    return acquiredBy === null && !this.#hasEnded ? (sleep?.step ?? null) : null;
  }
  /** How many attempts of the job ended with a `RetryAfter` so far. */
  get snoozes(): number {
    return this.#record.sleep?.snoozes ?? 0;
  }
  /** How much of the work is done, 0 to 1: what the handler last said with `progress()`. The process that runs
   *  the job knows it at once, the store every third of `leaseDuration`. Null when the handler has said nothing. */
  get progress(): number | null {
    return this.#record.progress?.fraction ?? null;
  }
  /** The note of that progress; null for none. */
  get progressNote(): string | null {
    return this.#record.progress?.note ?? null;
  }

  /**
   * Cancels the job: a queued job ends, and the `signal` of a running job is aborted, in whichever process it runs.
   * @returns whether that has come about, is asked of another process, or comes too late
   */
  cancel(): Promise<Cancellation> {
    return this.#client.cancelJob(this.#record.id);
  }

  /** How the job ended. Null while it is unfinished, and when its result has expired or is not kept. */
  async result(): Promise<JobResult<R> | null> {
    return (await this.#client.getJobResult(this.#record.id)) as JobResult<R> | null;
  }

  /**
   * Waits until the job has ended, and returns the value that its handler returned. Like `runJob`, it needs a scheduler
   * that runs the job: without one it waits until the signal is aborted. Of a job that keeps no result
   * (`resultExpirationTime: 0`), the value is undefined.
   * @param options.signal ends the wait; the job goes on
   * @throws what the handler threw, with its name, message, stack and cause; or `JobCancelledError`,
   *   `JobDeadlineMissedError`, `JobTimeoutError`, `JobAbandonedError`, `DeserializationError`; or the signal's reason
   * @throws {JobLookupError} when the job had ended before the wait began, and its result is not kept any more
   * @throws {SchedulerStateError} when the scheduler stops before the job ends
   * @example
   * const value = await job.wait({ signal: AbortSignal.timeout(60_000) });
   */
  async wait(options: { signal?: AbortSignal | undefined } = {}): Promise<R> {
    const { id } = this.#record;
    const result = await this.#client.getJobResult(id, { ...options, wait: true });
    if (result === null) throw new JobLookupError(`there is no result of job "${id}"`, id);
    return (result as JobResult<R>).unwrap();
  }

  /** The recorded steps of the job (`context.step`), by their beginning; empty for none.
   *  @throws {JobLookupError} when the job has ended and its result is not kept */
  steps(): Promise<JobStep[]> {
    return this.#client.getJobSteps(this.#record.id);
  }

  /** The job as it is now. @throws {JobLookupError} when the job has ended and its result is not kept */
  async refresh(): Promise<Job<R>> {
    return (await this.#client.getJob(this.#record.id)) as Job<R>;
  }

  /** The job as one line of a table: `console.table(page.items.map((job) => job.toRow()))`. */
  toRow(): TableRow {
    return {
      id: this.id,
      taskId: this.taskId,
      scheduleId: this.scheduleId,
      priority: this.priority,
      runAt: timeText(this.#record.runAt),
      state: this.state,
      concurrencyKey: this.concurrencyKey,
      failedAttempts: this.failedAttempts,
      acquiredBy: this.acquiredBy,
    };
  }

  toJSON(): Record<string, unknown> {
    return {
      id: this.id,
      taskId: this.taskId,
      scheduleId: this.scheduleId,
      executor: this.executor,
      payload: readable(() => this.payload),
      priority: this.priority,
      runAt: instantText(this.#record.runAt),
      createdAt: instantText(this.#record.createdAt),
      scheduledFireTime: instantTextOrNull(this.#record.scheduledFireTime),
      fireTime: instantTextOrNull(this.#record.fireTime),
      startDeadline: instantTextOrNull(this.#record.startDeadline),
      missedCount: this.missedCount,
      firstMissedTime: instantTextOrNull(this.#record.firstMissedTime),
      lastMissedTime: instantTextOrNull(this.#record.lastMissedTime),
      metadata: this.metadata,
      labels: this.labels,
      idempotencyKey: this.idempotencyKey,
      concurrencyKey: this.concurrencyKey,
      after: this.after,
      onParentFailure: this.onParentFailure,
      blockedBy: this.blockedBy,
      state: this.state,
      retry: this.#record.retry === undefined ? null : retryAsJSON(this.#record.retry),
      failedAttempts: this.failedAttempts,
      recoveries: this.recoveries,
      acquiredBy: this.acquiredBy,
      acquiredUntil: instantTextOrNull(this.#record.acquiredUntil),
      cancelRequested: this.cancelRequested,
      retryOf: this.retryOf,
      backfillId: this.backfillId,
      attemptHistory: (this.#record.attemptHistory ?? []).map(attemptAsJSON),
      sleepsIn: this.sleepsIn,
      snoozes: this.snoozes,
      progress: this.progress,
      progressNote: this.progressNote,
    } satisfies JSONOf<typeof JOB_FIELDS>;
  }
}
