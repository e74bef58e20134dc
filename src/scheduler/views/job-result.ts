import { printAsJSON, readable } from "../../core/inspect.ts";
import { instantOf, instantOrNull, type Temporal } from "../../core/temporal.ts";
import type { JobResultRecord } from "../../records/job-result.ts";
import type { JobOutcome } from "../../records/policies.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import { errorFromRecord } from "./job-error.ts";
import { cellText, type TableRow, timeText } from "./table.ts";

/** How a job ended. `R` is the type of the value that its handler returned. */
export class JobResult<R = unknown> {
  readonly jobId: string;
  readonly taskId: string;
  readonly scheduleId: string | null;
  readonly outcome: JobOutcome;
  readonly #record: JobResultRecord;
  readonly #serializer: Serializer;

  static {
    printAsJSON(JobResult.prototype);
  }

  constructor(record: JobResultRecord, serializer: Serializer) {
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
  /** How many attempts the job had, the last one included. */
  get attempts(): number {
    return this.#record.attempts;
  }
  /** The value that the handler returned, deserialized; undefined when it returned none. @throws
   *  {DeserializationError} when the stored text cannot be read */
  get returnValue(): R | undefined {
    const { returnValue } = this.#record;
    return returnValue === null ? undefined : (this.#serializer.deserialize(returnValue) as R);
  }
  /** The error that ended the job, with its name, message, stack and causes; null after a success. */
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
    const { startedAt, finishedAt, error } = this.#record;
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
