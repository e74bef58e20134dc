import { durationOf } from "../../core/duration.ts";
import { printAsJSON, readable } from "../../core/inspect.ts";
import { instantOf, instantOrNull, type Temporal } from "../../core/temporal.ts";
import type { CoalescePolicy, Metadata } from "../../records/policies.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import { parseTrigger } from "../../triggers/parse-trigger.ts";
import type { Trigger } from "../../triggers/trigger.ts";

/** A schedule as it was when it was read. Its instants, trigger and payload are made when a caller reads them. */
export class Schedule {
  readonly #record: ScheduleRecord;
  readonly #serializer: Serializer;

  static {
    printAsJSON(Schedule.prototype);
  }

  constructor(record: ScheduleRecord, serializer: Serializer) {
    this.#record = record;
    this.#serializer = serializer;
  }

  get id(): string {
    return this.#record.id;
  }
  /** A name for people; null for none. */
  get name(): string | null {
    return this.#record.name;
  }
  get taskId(): string {
    return this.#record.taskId;
  }
  /** The trigger, with its start. @throws {DeserializationError} when this library does not know the trigger's kind */
  get trigger(): Trigger {
    return parseTrigger(this.#record.trigger);
  }
  /** What the handler gets, deserialized; undefined when there is no payload. @throws {DeserializationError} when the
   *  stored text cannot be read */
  get payload(): unknown {
    return this.#record.payload === null ? undefined : this.#serializer.deserialize(this.#record.payload);
  }
  /** Name of the executor that runs the schedule's jobs. */
  get executor(): string {
    return this.#record.executor;
  }
  /** Jobs with a higher priority run first. */
  get priority(): number {
    return this.#record.priority;
  }
  /** What becomes of several fire times that are due at once. */
  get coalesce(): CoalescePolicy {
    return this.#record.coalesce;
  }
  /** How late a job may start; null is unlimited. */
  get misfireGraceTime(): Temporal.Duration | null {
    const ms = this.#record.misfireGraceMs;
    return ms === null ? null : durationOf(ms);
  }
  /** Longest random delay of a fire; zero for none. */
  get maxJitter(): Temporal.Duration {
    return durationOf(this.#record.maxJitterMs);
  }
  /** With `coalesce: "all"`: for how many missed fire times jobs are made at most; null is unlimited. */
  get maxCatchUp(): number | null {
    return this.#record.maxCatchUp;
  }
  /** How long results of the schedule's jobs are kept; zero keeps none. */
  get resultExpirationTime(): Temporal.Duration {
    return durationOf(this.#record.resultExpirationMs);
  }
  get metadata(): Metadata {
    return this.#record.metadata;
  }
  get paused(): boolean {
    return this.#record.paused;
  }
  get createdAt(): Temporal.Instant {
    return instantOf(this.#record.createdAt);
  }
  /** The next fire time; null when the trigger has none left. */
  get nextFireTime(): Temporal.Instant | null {
    return instantOrNull(this.#record.nextFireTime);
  }
  /** The last fire time that was processed; null before the first fire. */
  get lastFireTime(): Temporal.Instant | null {
    return instantOrNull(this.#record.lastFireTime);
  }

  toJSON(): Record<string, unknown> {
    return {
      id: this.id,
      name: this.name,
      taskId: this.taskId,
      trigger: readable(() => JSON.parse(this.#record.trigger)),
      payload: readable(() => this.payload),
      executor: this.executor,
      priority: this.priority,
      coalesce: this.coalesce,
      misfireGraceTime: this.misfireGraceTime?.toString() ?? null,
      maxJitter: this.maxJitter.toString(),
      maxCatchUp: this.maxCatchUp,
      resultExpirationTime: this.resultExpirationTime.toString(),
      metadata: this.metadata,
      paused: this.paused,
      createdAt: this.createdAt.toString(),
      nextFireTime: this.nextFireTime?.toString() ?? null,
      lastFireTime: this.lastFireTime?.toString() ?? null,
    };
  }
}
