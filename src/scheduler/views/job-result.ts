import { printAsJSON, readable } from "../../core/inspect.ts";
import { instantOf, instantOrNull, instantText, instantTextOrNull, type Temporal } from "../../core/temporal.ts";
import type { JSONOf } from "../../records/fields/field.ts";
import type { JOB_RESULT_FIELDS } from "../../records/fields/job.ts";
import type { JobResultRecord, KeptJob } from "../../records/job-result.ts";
import { type JobOutcome, type Labels, type Metadata, NO_LABELS } from "../../records/policies.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import { type Attempt, type AttemptFacts, attemptAsJSON, attemptOf } from "./attempt.ts";
import { errorFromRecord, reasonOf } from "./job-error.ts";
import { cellText, type TableRow, timeText } from "./table.ts";

/** What a {@link JobResult} shows of its record. */
export interface JobResultFacts extends Omit<JobResultRecord, "job"> {
  readonly job?: Pick<KeptJob, "payload" | "metadata" | "labels" | "concurrencyKey">;
}

/**
 * How a job ended. `R` is the type of the value that its handler returned.
 *
 * @example
 * const result = await scheduler.getJobResult(job.id, { wait: true });
 * console.log(result?.outcome, result?.error?.message);
 */
export class JobResult<R = unknown> {
  readonly jobId: string;
  readonly taskId: string;
  readonly scheduleId: string | null;
  readonly outcome: JobOutcome;
  readonly #record: JobResultFacts;
  readonly #serializer: Serializer;

  static {
    printAsJSON(JobResult.prototype);
  }

  constructor(record: JobResultFacts, serializer: Serializer) {
    // Own properties, because `console.table` shows no others. The rest is made when it is read.
    this.jobId = record.jobId;
    this.taskId = record.taskId;
    this.scheduleId = record.scheduleId;
    this.outcome = record.outcome;
    this.#record = record;
    this.#serializer = serializer;
  }

  /** The schedule's fire time, jitter included; null for a job that no fire time made. */
  get scheduledFireTime(): Temporal.Instant | null {
    return instantOrNull(this.#record.scheduledFireTime);
  }
  /** When the last attempt started; null when that attempt never started, or when the job ended without its scheduler
   *  (`abandoned`, or `cancelled` while the job was queued). */
  get startedAt(): Temporal.Instant | null {
    return instantOrNull(this.#record.startedAt);
  }
  /** When the job ended. */
  get finishedAt(): Temporal.Instant {
    return instantOf(this.#record.finishedAt);
  }
  /** From when on the clean-up may remove this result. */
  get expiresAt(): Temporal.Instant {
    return instantOf(this.#record.expiresAt);
  }
  /** How many attempts the job had, the last one included if its handler was called. */
  get attempts(): number {
    return this.#record.attempts;
  }
  /** The attempts one by one, the oldest first: the last 20 that failed before the last attempt, and the last attempt
   *  if its handler was called. An attempt that was lost with its thread or process is among those that
   *  failed; one that was lost with its scheduler's process is not among them. */
  get attemptHistory(): Attempt[] {
    return this.#attempts.map(attemptOf);
  }
  /** What the handler got, deserialized; undefined when there was no payload. Large payloads may be left out when the
   *  store does not take them together with the result. @throws {DeserializationError} when the stored text cannot be
   *  read */
  get payload(): unknown {
    const payload = this.#record.job?.payload ?? null;
    return payload === null ? undefined : this.#serializer.deserialize(payload);
  }
  get metadata(): Metadata {
    return this.#record.job?.metadata ?? {};
  }
  /** The labels of the job; empty for none. */
  get labels(): Labels {
    return this.#record.job?.labels ?? NO_LABELS;
  }
  /** The job's concurrency key; null for none. */
  get concurrencyKey(): string | null {
    return this.#record.job?.concurrencyKey ?? null;
  }
  /** How much of the work was done, 0 to 1: what the handler last said with `progress()`; null when it said nothing. */
  get progress(): number | null {
    return this.#record.progress?.fraction ?? null;
  }
  /** The note of that progress; null for none. */
  get progressNote(): string | null {
    return this.#record.progress?.note ?? null;
  }
  /** The id of the job that this job repeated (see `retryJob`); null for none. */
  get retryOf(): string | null {
    return this.#record.retryOf ?? null;
  }
  /** The value that the handler returned, deserialized; undefined when it returned none. @throws
   *  {DeserializationError} when the stored text cannot be read */
  get returnValue(): R | undefined {
    const { returnValue } = this.#record;
    return returnValue === null ? undefined : (this.#serializer.deserialize(returnValue) as R);
  }
  /** The error that ended the job, with its name, message, stack and causes; null after a success. Of a job that its
   *  handler skipped it is a `JobSkippedError`, which is no failure: the message of its `cause` is the reason. */
  get error(): Error | null {
    return this.#record.outcome === "success" ? null : errorFromRecord(this.#record);
  }

  /** The return value of a success. @throws the job's error, or the error class of its outcome */
  unwrap(): R {
    const { error } = this;
    if (error !== null) throw error;
    // A handler that returned nothing has a type `R` that includes undefined.
    return this.returnValue as R;
  }

  /** The result as one line of a table: `console.table(page.items.map((result) => result.toRow()))`. */
  toRow(): TableRow {
    const { startedAt, finishedAt } = this.#record;
    const error = reasonOf(this.#record);
    return {
      jobId: this.jobId,
      taskId: this.taskId,
      scheduleId: this.scheduleId,
      outcome: this.outcome,
      attempts: this.attempts,
      finishedAt: timeText(finishedAt),
      seconds: startedAt === null ? null : (finishedAt - startedAt) / 1000,
      error: error === null ? null : cellText(`${error.name}: ${error.message}`),
    };
  }

  toJSON(): Record<string, unknown> {
    return {
      jobId: this.jobId,
      taskId: this.taskId,
      scheduleId: this.scheduleId,
      scheduledFireTime: instantTextOrNull(this.#record.scheduledFireTime),
      outcome: this.outcome,
      startedAt: instantTextOrNull(this.#record.startedAt),
      finishedAt: instantText(this.#record.finishedAt),
      expiresAt: instantText(this.#record.expiresAt),
      attempts: this.attempts,
      attemptHistory: this.#attempts.map(attemptAsJSON),
      payload: readable(() => this.payload),
      metadata: this.metadata,
      labels: this.labels,
      concurrencyKey: this.concurrencyKey,
      progress: this.progress,
      progressNote: this.progressNote,
      retryOf: this.retryOf,
      returnValue: readable(() => this.returnValue),
      error: this.#record.error,
    } satisfies JSONOf<typeof JOB_RESULT_FIELDS>;
  }

  get #attempts(): AttemptFacts[] {
    const { attemptHistory = [], startedAt, finishedAt, attempts: number, error } = this.#record;
    if (startedAt === null) return [...attemptHistory];
    return [...attemptHistory, { number, startedAt, finishedAt, error: this.outcome === "skipped" ? null : error }];
  }
}
