import { durationOrNull } from "../../core/duration.ts";
import { printAsJSON } from "../../core/inspect.ts";
import { instantOf, instantOrNull, type Temporal } from "../../core/temporal.ts";
import type { BlackoutRecord, MissedPolicy } from "../../records/blackout.ts";
import { BLACKOUT_FIELDS } from "../../records/fields/blackout.ts";
import type { Labels } from "../../records/policies.ts";
import { parseTrigger } from "../../triggers/parse-trigger.ts";
import type { Trigger } from "../../triggers/trigger.ts";
import { jsonOf } from "./json-of.ts";

/**
 * A time, once or recurring, in which fire times make no job, as it was when it was read. It never changes.
 *
 * @example
 * for (const { id, from, until } of await scheduler.getBlackouts()) console.log(`${id}: ${from} to ${until}`);
 */
export class Blackout {
  readonly #record: BlackoutRecord;

  static {
    printAsJSON(Blackout.prototype);
  }

  constructor(record: BlackoutRecord) {
    this.#record = record;
  }

  get id(): string {
    return this.#record.id;
  }
  /** When it begins; null for one that recurs. */
  get from(): Temporal.Instant | null {
    return instantOrNull(this.#record.from);
  }
  /** The first instant that is not part of it; null for one that recurs. */
  get until(): Temporal.Instant | null {
    return instantOrNull(this.#record.until);
  }
  /** Its fire times are the beginnings of a blackout that recurs; null for one that does not.
   *  @throws {DeserializationError} when this library does not know the trigger's kind */
  get trigger(): Trigger | null {
    return this.#record.trigger === null ? null : parseTrigger(this.#record.trigger);
  }
  /** How long it lasts each time, on the clock of the trigger's time zone; null for one that does not recur. */
  get duration(): Temporal.Duration | null {
    return durationOrNull(this.#record.durationMs);
  }
  /** The labels that a schedule must have, each with its value; null for any. */
  get labels(): Labels | null {
    return this.#record.labels;
  }
  /** The tasks whose schedules it is about; null for all. */
  get taskIds(): readonly string[] | null {
    return this.#record.taskIds;
  }
  /** What becomes of the fire times within it. */
  get missed(): MissedPolicy {
    return this.#record.missed;
  }
  get reason(): string | null {
    return this.#record.reason;
  }
  /** Who added it, or replaced it last: the identity of a scheduler, or the name that the caller gave. */
  get by(): string | null {
    return this.#record.by;
  }
  get createdAt(): Temporal.Instant {
    return instantOf(this.#record.createdAt);
  }

  toJSON(): Record<string, unknown> {
    return jsonOf<Blackout>(BLACKOUT_FIELDS, this, this.#record);
  }
}
