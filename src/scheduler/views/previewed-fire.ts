import { printAsJSON } from "../../core/inspect.ts";
import { instantText, instantTextOrNull, type Temporal, zonedOf } from "../../core/temporal.ts";
import type { Trigger } from "../../triggers/trigger.ts";

/** What a {@link PreviewedFire} shows; times in epoch milliseconds. */
export interface PreviewedFireFacts {
  readonly timeZone: string;
  readonly fireTime: number;
  readonly shiftedFrom: number | null;
  readonly blackout: string | null;
}

/**
 * A fire time to come. As text, it is the fire time in the time zone of the rule. It never changes.
 *
 * @example
 * for (const next of await scheduler.previewSchedule("report", { limit: 3 })) console.log(String(next));
 */
export class PreviewedFire {
  readonly #facts: PreviewedFireFacts;

  static {
    printAsJSON(PreviewedFire.prototype);
  }

  constructor(facts: PreviewedFireFacts) {
    this.#facts = facts;
    Object.freeze(this);
  }

  /** In the time zone of the rule; in JSON, an instant. */
  get fireTime(): Temporal.ZonedDateTime {
    return zonedOf(this.#facts.fireTime, this.#facts.timeZone);
  }
  /** The fire time on an excluded date that was moved here (`shift` of an `ExcludingTrigger`), in the same zone; null
   *  for a fire time that was not moved. */
  get shiftedFrom(): Temporal.ZonedDateTime | null {
    const { shiftedFrom, timeZone } = this.#facts;
    return shiftedFrom === null ? null : zonedOf(shiftedFrom, timeZone);
  }

  /** The id of a blackout within which the fire time makes no job; null for none. Where all such blackouts say
   *  `missed: "runOnce"`, one job for all of them runs at their end, which is in no preview. */
  get blackout(): string | null {
    return this.#facts.blackout;
  }

  /** {@link fireTime} as text: `2030-01-01T09:00:00+01:00[Europe/Berlin]`. */
  toString(): string {
    return this.fireTime.toString();
  }

  toJSON(): Record<string, unknown> {
    const { timeZone, fireTime, shiftedFrom, blackout } = this.#facts;
    return { timeZone, fireTime: instantText(fireTime), shiftedFrom: instantTextOrNull(shiftedFrom), blackout };
  }
}

/** A fire time of a trigger. @param blackout the id of the blackout that it is within, or null */
export function previewedFire(trigger: Trigger, fireTime: number, blackout: string | null): PreviewedFire {
  return new PreviewedFire({
    timeZone: trigger.timeZone,
    fireTime,
    shiftedFrom: trigger.shiftedFromMs(fireTime),
    blackout,
  });
}
