import { durationOrNull, durationTextOrNull } from "../../core/duration.ts";
import { printAsJSON, readable } from "../../core/inspect.ts";
import { instantOf, instantOrNull, instantText, instantTextOrNull, type Temporal } from "../../core/temporal.ts";
import type { JSONOf, RecordOf } from "../../records/fields/field.ts";
import type { RUN_FIELDS } from "../../records/fields/run.ts";
import { givenPriority, type JobRecord } from "../../records/job.ts";
import type { JobResultRecord, KeptJob } from "../../records/job-result.ts";
import { type JobOutcome, type Labels, type Metadata, NO_LABELS } from "../../records/policies.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import { type Attempt, type AttemptFacts, attemptAsJSON, attemptOf } from "./attempt.ts";
import { errorFromRecord, reasonOf } from "./job-error.ts";
import { cellText, type TableRow, timeText } from "./table.ts";

/** What a {@link Run} shows; times in epoch milliseconds. */
export type RunFacts = Omit<RecordOf<typeof RUN_FIELDS>, "attemptHistory"> & {
  readonly attemptHistory: readonly AttemptFacts[];
};

/** An unfinished job as a run. Nobody knows when the attempt of its lease began. */
export function runOfJob(job: JobRecord): RunFacts {
  const { id, taskId, scheduleId, executor, payload, createdAt, runAt, scheduledFireTime, metadata } = job;
  const { labels = NO_LABELS } = job;
  const { failedAttempts, recoveries, attemptHistory = [], blockedBy = null, acquiredBy, cancelRequested } = job;
  const isRunning = acquiredBy !== null;
  return {
    ...{
      id,
      taskId,
      scheduleId,
      state: isRunning ? "running" : blockedBy === null ? "queued" : "blocked",
      outcome: null,
    },
    ...{ executor, payload, priority: givenPriority(job), createdAt, runAt, scheduledFireTime },
    ...{ startedAt: null, finishedAt: null, latenessMs: latenessOf(job, null), runMs: null },
    ...{ attempts: failedAttempts + recoveries + (isRunning ? 1 : 0), attemptHistory },
    ...{ blockedBy, acquiredBy, cancelRequested },
    ...{ progress: job.progress?.fraction ?? null, progressNote: job.progress?.note ?? null, metadata, labels },
    ...{ idempotencyKey: job.idempotencyKey, concurrencyKey: job.concurrencyKey ?? null },
    ...{ retryOf: job.retryOf ?? null, expiresAt: null, returnValue: null, error: null },
  };
}

/** A job that has ended as a run. Its result keeps no `runAt`: the fire time stands for it, or when it was added. */
export function runOfResult(result: JobResultRecord): RunFacts {
  const { jobId: id, taskId, scheduleId, outcome, startedAt, finishedAt, attempts, scheduledFireTime, error } = result;
  const kept: Partial<KeptJob> = result.job ?? {};
  const { createdAt = startedAt ?? finishedAt, executor = "inline", payload = null, metadata = {} } = kept;
  const earlier = result.attemptHistory ?? [];
  const ofAttempt = outcome === "skipped" ? null : error;
  const last = startedAt === null ? [] : [{ number: attempts, startedAt, finishedAt, error: ofAttempt }];
  return {
    ...{ id, taskId, scheduleId, state: "ended", outcome, executor, payload },
    ...{ priority: result.job === undefined ? 0 : givenPriority(result.job), createdAt },
    ...{ runAt: scheduledFireTime ?? createdAt, scheduledFireTime, startedAt, finishedAt },
    latenessMs: latenessOf(result, startedAt),
    runMs: startedAt === null ? null : Math.max(0, finishedAt - startedAt),
    ...{ attempts, attemptHistory: [...earlier, ...last] },
    ...{ blockedBy: null, acquiredBy: null, cancelRequested: outcome === "cancelled" },
    ...{ progress: result.progress?.fraction ?? null, progressNote: result.progress?.note ?? null, metadata },
    labels: kept.labels ?? NO_LABELS,
    ...{ idempotencyKey: kept.idempotencyKey ?? null, concurrencyKey: kept.concurrencyKey ?? null },
    ...{ retryOf: result.retryOf ?? null, expiresAt: result.expiresAt, returnValue: result.returnValue, error },
  };
}

/** From the fire time to the first start that is known. Clocks of several processes may differ, so that a difference
 *  below zero counts as none. */
function latenessOf(
  { scheduledFireTime, attemptHistory }: Pick<JobResultRecord, "scheduledFireTime" | "attemptHistory">,
  lastStart: number | null,
): number | null {
  const first = attemptHistory?.find(({ number }) => number === 1)?.startedAt ?? lastStart;
  return scheduledFireTime === null || first === null ? null : Math.max(0, first - scheduledFireTime);
}

/**
 * A job from its addition to its end, as it was when it was read: what `Job` and `JobResult` show of it, in one form.
 * Its fields never change. `refresh`, `cancel` and the like are verbs of the scheduler: `scheduler.cancelJob(run.id)`.
 *
 * @example
 * for await (const run of scheduler.getRuns({ taskId: "report" })) console.log(run.id, run.state, run.outcome);
 */
export class Run {
  readonly id: string;
  readonly taskId: string;
  /** The id of the schedule that made the job; null for a job that was added directly. */
  readonly scheduleId: string | null;
  /** `"queued"`, `"blocked"` (see {@link blockedBy}), `"running"` under the lease of a scheduler, or `"ended"`. */
  readonly state: "queued" | "blocked" | "running" | "ended";
  /** How the job ended; null while it is unfinished. */
  readonly outcome: JobOutcome | null;
  readonly #facts: RunFacts;
  readonly #serializer: Serializer;

  static {
    printAsJSON(Run.prototype);
  }

  constructor(facts: RunFacts, serializer: Serializer) {
    // Own properties, because `console.table` shows no others. The rest is made when it is read.
    this.id = facts.id;
    this.taskId = facts.taskId;
    this.scheduleId = facts.scheduleId;
    this.state = facts.state;
    this.outcome = facts.outcome;
    this.#facts = facts;
    this.#serializer = serializer;
  }

  /** Name of the executor that runs the job. */
  get executor(): string {
    return this.#facts.executor;
  }
  /** What the handler gets, deserialized; undefined when there is none, or when the result did not keep it.
   *  @throws {DeserializationError} when the stored text cannot be read */
  get payload(): unknown {
    return this.#facts.payload === null ? undefined : this.#serializer.deserialize(this.#facts.payload);
  }
  /** Jobs with a higher priority run first. */
  get priority(): number {
    return this.#facts.priority;
  }
  get createdAt(): Temporal.Instant {
    return instantOf(this.#facts.createdAt);
  }
  /** The job does not start before this instant. Of a job that has ended: its fire time, or when it was added. */
  get runAt(): Temporal.Instant {
    return instantOf(this.#facts.runAt);
  }
  /** The schedule's fire time, jitter included; null for a job that no fire time made. */
  get scheduledFireTime(): Temporal.Instant | null {
    return instantOrNull(this.#facts.scheduledFireTime);
  }
  /** When the last attempt started; null when it did not, and while the job is unfinished. */
  get startedAt(): Temporal.Instant | null {
    return instantOrNull(this.#facts.startedAt);
  }
  /** When the job ended; null while it is unfinished. */
  get finishedAt(): Temporal.Instant | null {
    return instantOrNull(this.#facts.finishedAt);
  }
  /** From the fire time (with jitter) to the first start that is known; null without either. */
  get lateness(): Temporal.Duration | null {
    return durationOrNull(this.#facts.latenessMs);
  }
  /** From the start of the last attempt to the end; null without either. */
  get runTime(): Temporal.Duration | null {
    return durationOrNull(this.#facts.runMs);
  }
  /** How many attempts were begun: those that failed or were lost, and the one that runs or was the last. */
  get attempts(): number {
    return this.#facts.attempts;
  }
  /** The attempts one by one, the oldest first: the last 20 that failed, and the last one of a job that has ended, if
   *  its handler was called. */
  get attemptHistory(): Attempt[] {
    return this.#facts.attemptHistory.map(attemptOf);
  }
  /** Why the job cannot start although it may be due, see `Job.blockedBy`; null for nothing. */
  get blockedBy(): "limit" | "parents" | null {
    return this.#facts.blockedBy;
  }
  /** Identity of the scheduler that runs the job; null unless it runs. */
  get acquiredBy(): string | null {
    return this.#facts.acquiredBy;
  }
  /** Whether somebody asked to cancel the job. */
  get cancelRequested(): boolean {
    return this.#facts.cancelRequested;
  }
  /** How much of the work is done, 0 to 1: what the handler last said with `progress()`; null when it said nothing. */
  get progress(): number | null {
    return this.#facts.progress;
  }
  /** The note of that progress; null for none. */
  get progressNote(): string | null {
    return this.#facts.progressNote;
  }
  get metadata(): Metadata {
    return this.#facts.metadata;
  }
  /** The labels of the job; empty for none. */
  get labels(): Labels {
    return this.#facts.labels;
  }
  get idempotencyKey(): string | null {
    return this.#facts.idempotencyKey;
  }
  get concurrencyKey(): string | null {
    return this.#facts.concurrencyKey;
  }
  /** The id of the job that this job repeats; null for none. */
  get retryOf(): string | null {
    return this.#facts.retryOf;
  }
  /** From when on the clean-up may remove the result; null while the job is unfinished. */
  get expiresAt(): Temporal.Instant | null {
    return instantOrNull(this.#facts.expiresAt);
  }
  /** The value that the handler returned, deserialized; undefined when there is none. @throws {DeserializationError}
   *  when the stored text cannot be read */
  get returnValue(): unknown {
    return this.#facts.returnValue === null ? undefined : this.#serializer.deserialize(this.#facts.returnValue);
  }
  /** The error that ended the job; null after a success, and while the job is unfinished. */
  get error(): Error | null {
    const { outcome } = this.#facts;
    if (outcome === null || outcome === "success") return null;
    return errorFromRecord({ ...this.#ended, outcome, jobId: this.id, taskId: this.taskId });
  }

  /** The run as one line of a table: `console.table(page.items.map((run) => run.toRow()))`. */
  toRow(): TableRow {
    const { outcome, attempts, latenessMs, runMs, runAt, finishedAt } = this.#facts;
    const error = outcome === null ? null : reasonOf({ ...this.#ended, outcome });
    return {
      id: this.id,
      taskId: this.taskId,
      scheduleId: this.scheduleId,
      state: outcome ?? this.state,
      attempts,
      time: timeText(finishedAt ?? runAt),
      lateMs: latenessMs,
      runMs: runMs,
      error: error === null ? null : cellText(`${error.name}: ${error.message}`),
    };
  }

  toJSON(): Record<string, unknown> {
    const { createdAt, runAt, scheduledFireTime, startedAt, finishedAt, latenessMs, runMs } = this.#facts;
    const { attemptHistory, expiresAt, error } = this.#facts;
    return {
      ...{ id: this.id, taskId: this.taskId, scheduleId: this.scheduleId, state: this.state, outcome: this.outcome },
      executor: this.executor,
      payload: readable(() => this.payload),
      priority: this.priority,
      createdAt: instantText(createdAt),
      runAt: instantText(runAt),
      scheduledFireTime: instantTextOrNull(scheduledFireTime),
      startedAt: instantTextOrNull(startedAt),
      finishedAt: instantTextOrNull(finishedAt),
      lateness: durationTextOrNull(latenessMs),
      runTime: durationTextOrNull(runMs),
      attempts: this.attempts,
      attemptHistory: attemptHistory.map(attemptAsJSON),
      blockedBy: this.blockedBy,
      acquiredBy: this.acquiredBy,
      cancelRequested: this.cancelRequested,
      progress: this.progress,
      progressNote: this.progressNote,
      metadata: this.metadata,
      labels: this.labels,
      idempotencyKey: this.idempotencyKey,
      concurrencyKey: this.concurrencyKey,
      retryOf: this.retryOf,
      expiresAt: instantTextOrNull(expiresAt),
      returnValue: readable(() => this.returnValue),
      error,
    } satisfies JSONOf<typeof RUN_FIELDS>;
  }

  /** What its error is made of: the failures before the last attempt, as a result has them. */
  get #ended(): Parameters<typeof reasonOf>[0] & { readonly attempts: number } {
    const { attempts, error, attemptHistory, startedAt } = this.#facts;
    const earlier = startedAt === null ? attemptHistory : attemptHistory.slice(0, -1);
    const failed = earlier.flatMap((attempt) => (attempt.error === null ? [] : { ...attempt, error: attempt.error }));
    return { outcome: this.#facts.outcome ?? "success", attempts, error, attemptHistory: failed };
  }
}
