import { printAsJSON, readable } from "../../core/inspect.ts";
import { instantOf, instantOrNull, type Temporal } from "../../core/temporal.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { JobOutcome } from "../../records/policies.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import { errorFromRecord } from "./job-error.ts";

/** How a job ended. */
export class JobResult {
  readonly #record: JobResultRecord;
  readonly #serializer: Serializer;

  static {
    printAsJSON(JobResult.prototype);
  }

  constructor(record: JobResultRecord, serializer: Serializer) {
    this.#record = record;
    this.#serializer = serializer;
  }

  get jobId(): string {
    return this.#record.jobId;
  }
  get taskId(): string {
    return this.#record.taskId;
  }
  get scheduleId(): string | null {
    return this.#record.scheduleId;
  }
  /** The schedule's fire time, jitter included; null for a job that no fire time made. */
  get scheduledFireTime(): Temporal.Instant | null {
    return instantOrNull(this.#record.scheduledFireTime);
  }
  get outcome(): JobOutcome {
    return this.#record.outcome;
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
  /** How many attempts the job had, the last one included. */
  get attempts(): number {
    return this.#record.attempts;
  }
  /** The value that the handler returned, deserialized; undefined when it returned none. @throws
   *  {DeserializationError} when the stored text cannot be read */
  get returnValue(): unknown {
    return this.#record.returnValue === null ? undefined : this.#serializer.deserialize(this.#record.returnValue);
  }
  /** The error that ended the job, with its name, message, stack and causes; null after a success. */
  get error(): Error | null {
    return this.#record.outcome === "success" ? null : errorFromRecord(this.#record);
  }

  /** The return value of a success. @throws the job's error, or the error class of its outcome */
  unwrap(): unknown {
    const { error } = this;
    if (error !== null) throw error;
    return this.returnValue;
  }

  toJSON(): Record<string, unknown> {
    return {
      jobId: this.jobId,
      taskId: this.taskId,
      scheduleId: this.scheduleId,
      scheduledFireTime: this.scheduledFireTime?.toString() ?? null,
      outcome: this.outcome,
      startedAt: this.startedAt?.toString() ?? null,
      finishedAt: this.finishedAt.toString(),
      expiresAt: this.expiresAt.toString(),
      attempts: this.attempts,
      returnValue: readable(() => this.returnValue),
      error: this.#record.error,
    };
  }
}
