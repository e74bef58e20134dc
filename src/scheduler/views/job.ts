import { printAsJSON, readable } from "../../core/inspect.ts";
import { instantOf, instantOrNull, type Temporal } from "../../core/temporal.ts";
import type { JobRecord } from "../../records/job.ts";
import type { Metadata } from "../../records/policies.ts";
import type { Serializer } from "../../serializers/serializer.ts";

/** An unfinished job as it was when it was read. Instants and the payload are made when they are looked at. */
export class Job {
  readonly #record: JobRecord;
  readonly #serializer: Serializer;

  static {
    printAsJSON(Job.prototype);
  }

  constructor(record: JobRecord, serializer: Serializer) {
    this.#record = record;
    this.#serializer = serializer;
  }

  get id(): string {
    return this.#record.id;
  }
  get taskId(): string {
    return this.#record.taskId;
  }
  /** The schedule that made it; null for a job that was added directly. */
  get scheduleId(): string | null {
    return this.#record.scheduleId;
  }
  /** Name of the executor. */
  get executor(): string {
    return this.#record.executor;
  }
  /** What the handler gets, deserialized; undefined for none. @throws {DeserializationError} */
  get payload(): unknown {
    return this.#record.payload === null ? undefined : this.#serializer.deserialize(this.#record.payload);
  }
  /** Higher runs first. */
  get priority(): number {
    return this.#record.priority;
  }
  /** Not to be started before this. */
  get runAt(): Temporal.Instant {
    return instantOf(this.#record.runAt);
  }
  get createdAt(): Temporal.Instant {
    return instantOf(this.#record.createdAt);
  }
  /** The schedule's fire time, jitter included; null for a job that was added directly. */
  get scheduledFireTime(): Temporal.Instant | null {
    return instantOrNull(this.#record.scheduledFireTime);
  }
  /** The schedule's fire time without jitter. */
  get fireTime(): Temporal.Instant | null {
    return instantOrNull(this.#record.fireTime);
  }
  /** Not to be started after this; null is unlimited. */
  get startDeadline(): Temporal.Instant | null {
    return instantOrNull(this.#record.startDeadline);
  }
  /** How many other fire times this job stands for; null when they are too many to have been counted. */
  get missedCount(): number | null {
    return this.#record.missedCount;
  }
  get firstMissedTime(): Temporal.Instant | null {
    return instantOrNull(this.#record.firstMissedTime);
  }
  get lastMissedTime(): Temporal.Instant | null {
    return instantOrNull(this.#record.lastMissedTime);
  }
  get metadata(): Metadata {
    return this.#record.metadata;
  }
  get idempotencyKey(): string | null {
    return this.#record.idempotencyKey;
  }
  /** Attempts that an error of the handler ended so far. */
  get failedAttempts(): number {
    return this.#record.failedAttempts;
  }
  /** Times it was lost with its process so far. */
  get recoveries(): number {
    return this.#record.recoveries;
  }
  /** Identity of the scheduler that runs it; null while it waits. */
  get acquiredBy(): string | null {
    return this.#record.acquiredBy;
  }
  /** When that scheduler's lease ends. */
  get acquiredUntil(): Temporal.Instant | null {
    return instantOrNull(this.#record.acquiredUntil);
  }
  get cancelRequested(): boolean {
    return this.#record.cancelRequested;
  }

  toJSON(): Record<string, unknown> {
    return {
      id: this.id,
      taskId: this.taskId,
      scheduleId: this.scheduleId,
      executor: this.executor,
      payload: readable(() => this.payload),
      priority: this.priority,
      runAt: this.runAt.toString(),
      createdAt: this.createdAt.toString(),
      scheduledFireTime: this.scheduledFireTime?.toString() ?? null,
      fireTime: this.fireTime?.toString() ?? null,
      startDeadline: this.startDeadline?.toString() ?? null,
      missedCount: this.missedCount,
      firstMissedTime: this.firstMissedTime?.toString() ?? null,
      lastMissedTime: this.lastMissedTime?.toString() ?? null,
      metadata: this.metadata,
      idempotencyKey: this.idempotencyKey,
      failedAttempts: this.failedAttempts,
      recoveries: this.recoveries,
      acquiredBy: this.acquiredBy,
      acquiredUntil: this.acquiredUntil?.toString() ?? null,
      cancelRequested: this.cancelRequested,
    };
  }
}
