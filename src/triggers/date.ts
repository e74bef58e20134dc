import { type InstantLike, type Temporal, toEpochMs } from "../core/temporal.ts";
import { withoutUndefined } from "../core/without-undefined.ts";
import { civilTimeMs } from "./civil-time.ts";
import { FIRE_TIME_MS_MAX } from "./limits.ts";
import { checkOptions, checkOrder, converted, optional, resolveTimeZone, text, timeZoneAdvice } from "./options.ts";
import { checkMs, Trigger } from "./trigger.ts";
import type { TriggerJSON } from "./trigger-json.ts";
import { isoIn, isoOf } from "./words.ts";

/** What applies to a {@link DateTrigger} besides its time. */
export interface DateOptions {
  /** The zone of a time that has none, and of `describe()`: an IANA name, or `"local"` for the host's. Default: none,
   *  so that the time must be an instant. */
  readonly timeZone?: string | undefined;
}

const rules = { timeZone: optional(text) };

/**
 * Fires once.
 *
 * A civil time (`"2030-01-31 09:00"`) is read in the option `timeZone`. Where clocks are put forward over this time, it
 * fires as long after the change as the time lies in the gap (02:30 is 03:30). Where the time exists twice, it fires
 * the first time. Temporal calls this rule `compatible`.
 *
 * @example
 * const trigger = new DateTrigger("2030-01-31T09:00:00+01:00[Europe/Berlin]");
 * const same = new DateTrigger("2030-01-31 09:00", { timeZone: "Europe/Berlin" });
 */
export class DateTrigger extends Trigger {
  readonly #runMs: number;
  readonly #timeZone: string | null;

  /**
   * @param runTime when it fires: an instant, or with `timeZone` also a civil time: text without an offset, or a
   *   `Temporal.PlainDateTime`. A date alone is its midnight
   * @throws {OptionsError} when it is no such time, or after the year 9999
   */
  constructor(runTime: InstantLike | Temporal.PlainDateTime, options: DateOptions = {}) {
    super();
    const { timeZone } = checkOptions(rules, options, "DateTrigger", timeZoneAdvice);
    this.#timeZone = timeZone === undefined ? null : resolveTimeZone(timeZone);
    const zone = this.#timeZone;
    const read = converted((value: InstantLike) => civilTimeMs(value, zone) ?? toEpochMs(value, ""));
    this.#runMs = checkOptions({ runTime: read }, { runTime }, "DateTrigger").runTime;
    checkOrder("DateTrigger", this.#runMs, FIRE_TIME_MS_MAX, ["runTime", "the end of the year 9999"]);
  }

  override get timeZone(): string {
    return this.#timeZone ?? super.timeZone;
  }

  /** None, because the instant stays what it is. */
  override get ruleZones(): readonly string[] {
    return [];
  }

  override get startMs(): number {
    return this.#runMs;
  }

  nextMs(afterMs: number): number | null {
    checkMs(afterMs, "afterMs");
    return afterMs < this.#runMs ? this.#runMs : null;
  }

  previousMs(beforeMs: number): number | null {
    checkMs(beforeMs, "beforeMs");
    return beforeMs > this.#runMs ? this.#runMs : null;
  }

  describe(): string {
    return `Once, at ${isoIn(this.#runMs, this.timeZone)}`;
  }

  toJSON(): TriggerJSON {
    const timeZone = this.#timeZone ?? undefined;
    return withoutUndefined({ type: "date", version: 1, runTime: isoOf(this.#runMs), timeZone });
  }
}
