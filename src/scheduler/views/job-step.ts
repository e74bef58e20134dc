import { printAsJSON } from "../../core/inspect.ts";
import { instantOf, instantOrNull, type Temporal } from "../../core/temporal.ts";
import { JOB_STEP_FIELDS } from "../../records/fields/job-step.ts";
import type { JobStepRecord } from "../../records/job-step.ts";
import type { Serializer } from "../../serializers/serializer.ts";
import { jsonOf } from "./json-of.ts";

/**
 * A recorded step of a job (`context.step`), as it was when it was read.
 *
 * @example
 * for (const { name, state } of await scheduler.getJobSteps(job.id)) console.log(name, state);
 */
export class JobStep {
  readonly #record: JobStepRecord;
  readonly #serializer: Serializer;

  static {
    printAsJSON(JobStep.prototype);
  }

  constructor(record: JobStepRecord, serializer: Serializer) {
    this.#record = record;
    this.#serializer = serializer;
  }

  get name(): string {
    return this.#record.name;
  }
  /** `"ended"`: its value is recorded, or its sleep is over. `"sleeping"`: until {@link wakeAt}. `"open"`: it has
   *  begun, and the job's next attempt goes on with it. */
  get state(): "open" | "sleeping" | "ended" {
    const { endedAt, wakeAt } = this.#record;
    return endedAt !== null ? "ended" : wakeAt === null ? "open" : "sleeping";
  }
  /** When it began for the first time. */
  get startedAt(): Temporal.Instant {
    return instantOf(this.#record.startedAt);
  }
  /** When it ended; null for one that has not. */
  get endedAt(): Temporal.Instant | null {
    return instantOrNull(this.#record.endedAt);
  }
  /** Until when a sleep lasts; null for a step that is none. */
  get wakeAt(): Temporal.Instant | null {
    return instantOrNull(this.#record.wakeAt);
  }
  /** How often its body began, as far as was recorded; 0 for a sleep. */
  get attempts(): number {
    return this.#record.attempts;
  }
  /** The version of the program that began it (`SchedulerOptions.version`); null for none. */
  get version(): number | null {
    return this.#record.version;
  }
  /** What it returned, deserialized; undefined for nothing. @throws {DeserializationError} */
  get value(): unknown {
    return this.#read(this.#record.value);
  }
  /** How far it is, deserialized; undefined for nothing. @throws {DeserializationError} */
  get cursor(): unknown {
    return this.#read(this.#record.cursor);
  }

  toJSON(): Record<string, unknown> {
    return jsonOf<JobStep>(JOB_STEP_FIELDS, this, this.#record);
  }

  #read(text: string | null): unknown {
    return text === null ? undefined : this.#serializer.deserialize(text);
  }
}
