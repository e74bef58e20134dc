import * as v from "valibot";
import { OptionsError } from "../core/errors.ts";
import { FIRE_TIME_MS_MAX } from "../core/limits.ts";
import type { InstantLike } from "../core/temporal.ts";
import { checkOptions, checkOrder, instantSchema, msOr } from "./options.ts";
import { Trigger, type TriggerJSON } from "./trigger.ts";
import { boundsText, isoOf, periodText } from "./words.ts";

const MS_PER_UNIT = {
  weeks: 604_800_000,
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1000,
  milliseconds: 1,
} as const;

type Unit = keyof typeof MS_PER_UNIT;
const UNITS: readonly Unit[] = ["weeks", "days", "hours", "minutes", "seconds", "milliseconds"];
const DESCRIBED_UNITS = UNITS.slice(1);

/** The period of an {@link IntervalTrigger}: the sum of its units. `{ hours: 1, minutes: 30 }` is 90 minutes. A day is
 *  24 hours of elapsed time, also on a date on which clocks change. */
export interface IntervalOptions {
  readonly weeks?: number | undefined;
  readonly days?: number | undefined;
  readonly hours?: number | undefined;
  readonly minutes?: number | undefined;
  readonly seconds?: number | undefined;
  readonly milliseconds?: number | undefined;
  /** The first fire time. Default: the instant that the trigger is asked about, or anchored at. */
  readonly startTime?: InstantLike | undefined;
  /** The last possible fire time, inclusive. Default: none. */
  readonly endTime?: InstantLike | undefined;
}

const amount = v.optional(v.pipe(v.number(), v.finite(), v.minValue(0)));
const schema = v.strictObject({
  weeks: amount,
  days: amount,
  hours: amount,
  minutes: amount,
  seconds: amount,
  milliseconds: amount,
  startTime: v.optional(instantSchema),
  endTime: v.optional(instantSchema),
});

/**
 * Fires on a period of elapsed time: at `startTime`, one period later, two periods later, and so on. Clock changes and
 * calendars have no effect on the period.
 *
 * A trigger without `startTime` counts from the instant that it is asked about, so `next(after)` is one period after
 * `after`. `addSchedule` gives such a trigger a start (an anchor), which is stored with the schedule.
 *
 * @example
 * const trigger = new IntervalTrigger({ minutes: 90, startTime: "2030-01-01T00:00:00Z" });
 */
export class IntervalTrigger extends Trigger {
  readonly #intervalMs: number;
  readonly #startMs: number | null;
  readonly #endMs: number;
  /** Whether the rule itself names no start: then the start, if there is one, is the anchor that `startingAt` set. */
  readonly #isAnchor: boolean;

  /**
   * @param options at least one unit above zero; the sum must be a whole number of milliseconds
   * @param anchorMs the start that `startingAt` sets, in epoch milliseconds: it is no part of the rule
   * @throws {OptionsError} for unknown or invalid options, a zero interval, or an end before the start
   */
  constructor(options: IntervalOptions, anchorMs: number | null = null) {
    super();
    const checked = checkOptions(schema, options, "IntervalTrigger");
    this.#intervalMs = sum(checked);
    const startMs = msOr(checked.startTime, "startTime", null);
    const endMs = msOr(checked.endTime, "endTime", null);
    checkOrder(startMs, endMs, "startTime", "endTime");
    this.#startMs = startMs ?? anchorMs;
    this.#isAnchor = startMs === null;
    this.#endMs = Math.min(endMs ?? FIRE_TIME_MS_MAX, FIRE_TIME_MS_MAX);
  }

  override get startMs(): number | null {
    return this.#isAnchor ? null : this.#startMs;
  }

  nextMs(afterMs: number): number | null {
    const startMs = this.#startMs ?? afterMs;
    // Computed with a remainder, because a remainder is exact, while a quotient would be rounded.
    const nextMs = afterMs < startMs ? startMs : afterMs - ((afterMs - startMs) % this.#intervalMs) + this.#intervalMs;
    return nextMs <= this.#endMs ? nextMs : null;
  }

  previousMs(beforeMs: number): number | null {
    if (this.#startMs === null) return Math.min(beforeMs - this.#intervalMs, this.#endMs);
    const lastMs = Math.min(Math.ceil(beforeMs) - 1, this.#endMs);
    return lastMs < this.#startMs ? null : lastMs - ((lastMs - this.#startMs) % this.#intervalMs);
  }

  override startingAtMs(atMs: number): this {
    if (this.#startMs !== null) return this;
    // The cast is right for this class. A subclass with other fields overrides this method.
    return new IntervalTrigger(this.#options(), atMs) as this;
  }

  describe(): string {
    let restMs = this.#intervalMs;
    const amounts = DESCRIBED_UNITS.map((unit) => {
      const count = Math.floor(restMs / MS_PER_UNIT[unit]);
      restMs %= MS_PER_UNIT[unit];
      return [count, unit.slice(0, -1)] as const;
    });
    const until = this.#endMs === FIRE_TIME_MS_MAX ? null : isoOf(this.#endMs);
    return periodText(amounts) + boundsText(this.startMs === null ? null : isoOf(this.startMs), until);
  }

  toJSON(): TriggerJSON {
    return {
      type: "interval",
      version: 1,
      ...this.#options(),
      ...(this.#isAnchor && this.#startMs !== null ? { anchor: isoOf(this.#startMs) } : {}),
    };
  }

  #options(): IntervalOptions {
    return {
      milliseconds: this.#intervalMs,
      ...(this.startMs === null ? {} : { startTime: isoOf(this.startMs) }),
      ...(this.#endMs === FIRE_TIME_MS_MAX ? {} : { endTime: isoOf(this.#endMs) }),
    };
  }
}

function sum(options: v.InferOutput<typeof schema>): number {
  let ms = 0;
  for (const unit of UNITS) ms += (options[unit] ?? 0) * MS_PER_UNIT[unit];
  // 1.005 seconds are 1005 milliseconds, although the binary product is 1004.9999999999999.
  if (Math.abs(ms - Math.round(ms)) < 1e-6) ms = Math.round(ms);
  if (Number.isSafeInteger(ms) && ms > 0 && ms <= FIRE_TIME_MS_MAX) return ms;
  const message =
    ms === 0
      ? "must be longer than zero, such as { minutes: 5 }"
      : ms > FIRE_TIME_MS_MAX
        ? "must be shorter than 8,030 years"
        : "must be a whole number of milliseconds";
  throw new OptionsError(`the interval ${message}`, [{ path: "", message }]);
}
