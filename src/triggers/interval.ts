import { optionError } from "../core/option-errors.ts";
import { INSTANT_MS_MAX, type InstantLike } from "../core/temporal.ts";
import { FIRE_TIME_MS_MAX } from "./limits.ts";
import {
  amount,
  type Checked,
  checkAnchor,
  checkOptions,
  checkOrder,
  instantMs,
  jitterAdvice,
  oneOf,
  optional,
  text,
} from "./options.ts";
import { seedHash } from "./seeded-crontab.ts";
import { checkMs, Trigger } from "./trigger.ts";
import type { TriggerJSON } from "./trigger-json.ts";
import { boundsText, isoOf, periodText } from "./words.ts";

const MS_PER_UNIT = {
  weeks: 604_800_000,
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1000,
  milliseconds: 1,
} as const;

type IntervalUnit = keyof typeof MS_PER_UNIT;
const UNITS: readonly IntervalUnit[] = ["weeks", "days", "hours", "minutes", "seconds", "milliseconds"];

/** The period of an {@link IntervalTrigger}: the sum of its `weeks`, `days`, `hours`, `minutes`, `seconds` and
 *  `milliseconds`, each 0 by default. `{ hours: 1, minutes: 30 }` is 90 minutes. A day is 24 hours of elapsed time,
 *  also on a date on which clocks change. */
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
  /** When a schedule that is added with this trigger first fires: at once (`"immediately"`), or one period later
   *  (`"afterInterval"`, as in APScheduler 3). Not together with `startTime`, which names the first fire time itself.
   *  Default: `"immediately"`. */
  readonly firstRun?: "immediately" | "afterInterval" | undefined;
  /** Any text, for example the id of the schedule: the fire times are whole periods since 1970, moved by a part of a
   *  period that follows from this text. So equal periods with different seeds fire at different times, and one seed
   *  fires at the same times everywhere, whenever its schedule was added. Not together with `startTime` or
   *  `firstRun`. `addSchedule(task, trigger, { id, spread: true })` gives the id. Default: none. */
  readonly seed?: string | undefined;
}

const rules = {
  weeks: optional(amount, 0),
  days: optional(amount, 0),
  hours: optional(amount, 0),
  minutes: optional(amount, 0),
  seconds: optional(amount, 0),
  milliseconds: optional(amount, 0),
  startTime: optional(instantMs),
  endTime: optional(instantMs, FIRE_TIME_MS_MAX),
  firstRun: optional(oneOf(["immediately", "afterInterval"]), "immediately"),
  seed: optional(text),
};

/** The period of a trigger, and its last fire time or later, for those who count its fire times. @internal */
export let periodOf: (trigger: IntervalTrigger) => { readonly intervalMs: number; readonly endMs: number };

/**
 * Fires on a period of elapsed time: at `startTime`, one period later, two periods later, and so on. Clock changes and
 * calendars have no effect on the period.
 *
 * A trigger without `startTime` counts from the instant that it is asked about, so `next(after)` is one period after
 * `after`. `addSchedule` gives such a trigger a start (an anchor), which is stored with the schedule: the schedule
 * fires at once, and then on its period. With `firstRun: "afterInterval"` it first fires one period later.
 *
 * @example
 * const trigger = new IntervalTrigger({ minutes: 90, startTime: "2030-01-01T00:00:00Z" });
 */
export class IntervalTrigger extends Trigger {
  static {
    periodOf = (trigger) => ({ intervalMs: trigger.#intervalMs, endMs: trigger.#endMs });
  }

  readonly #intervalMs: number;
  readonly #startMs: number | null;
  readonly #endMs: number;
  /** Whether the rule itself names no start: then the start, if there is one, comes from the anchor that `startingAt`
   *  set. */
  readonly #isAnchor: boolean;
  /** From the anchor to the first fire time. */
  readonly #firstDelayMs: number;
  readonly #seed: string | null;

  /**
   * @param options at least one unit above zero; the sum must be a whole number of milliseconds
   * @param anchorMs the start that `startingAt` sets, in epoch milliseconds: it is no part of the rule
   * @throws {OptionsError} for unknown or invalid options, a zero interval, or an end before the start
   */
  constructor(options: IntervalOptions, anchorMs: number | null = null) {
    super();
    const checked = checkOptions(rules, options, "IntervalTrigger", optionsAdvice, elsewhere);
    this.#intervalMs = sum(checked);
    checkAnchor("IntervalTrigger", anchorMs);
    this.#firstDelayMs = checked.firstRun === "afterInterval" ? this.#intervalMs : 0;
    const { startTime: startMs = null, endTime: endMs } = checked;
    checkOrder("IntervalTrigger", startMs, FIRE_TIME_MS_MAX, ["startTime", "the end of the year 9999"]);
    checkOrder("IntervalTrigger", startMs, endMs, ["startTime", "endTime"]);
    if (startMs !== null && this.#firstDelayMs > 0) {
      const message = 'cannot be "afterInterval" beside startTime, which names the first fire time itself';
      throw optionError("IntervalTrigger", "firstRun", message);
    }
    this.#seed = checked.seed ?? null;
    if (this.#seed !== null && (startMs !== null || this.#firstDelayMs > 0)) {
      throw optionError(
        "IntervalTrigger",
        "seed",
        "goes without startTime and firstRun, because it tells every fire time",
      );
    }
    this.#startMs =
      this.#seed === null
        ? (startMs ?? (anchorMs === null ? null : anchorMs + this.#firstDelayMs))
        : offsetOf(this.#seed, this.#intervalMs);
    this.#isAnchor = startMs === null;
    this.#endMs = Math.min(endMs, FIRE_TIME_MS_MAX);
  }

  override get startMs(): number | null {
    return this.#isAnchor ? null : this.#startMs;
  }

  nextMs(afterMs: number): number | null {
    checkMs(afterMs, "afterMs");
    // Fire times are whole milliseconds, within what Temporal can represent.
    const fromMs = Math.max(Math.floor(afterMs), -INSTANT_MS_MAX);
    const startMs = this.#startMs ?? fromMs;
    // Computed with a remainder, because a remainder is exact, while a quotient would be rounded.
    const nextMs = fromMs < startMs ? startMs : fromMs - ((fromMs - startMs) % this.#intervalMs) + this.#intervalMs;
    return nextMs <= this.#endMs ? nextMs : null;
  }

  previousMs(beforeMs: number): number | null {
    checkMs(beforeMs, "beforeMs");
    if (beforeMs < -INSTANT_MS_MAX) return null;
    const untilMs = Math.ceil(beforeMs);
    if (this.#startMs === null) {
      const lastMs = Math.min(untilMs - this.#intervalMs, this.#endMs);
      return lastMs < -INSTANT_MS_MAX ? null : lastMs;
    }
    const lastMs = Math.min(untilMs - 1, this.#endMs);
    return lastMs < this.#startMs ? null : lastMs - ((lastMs - this.#startMs) % this.#intervalMs);
  }

  override startingAtMs(atMs: number): this {
    checkMs(atMs, "atMs");
    if (this.#startMs !== null) return this;
    // The cast is right for this class. A subclass with other fields overrides this method.
    return new IntervalTrigger(this.#options(), Math.max(Math.floor(atMs), -INSTANT_MS_MAX)) as this;
  }

  describe(): string {
    let restMs = this.#intervalMs;
    // Whole weeks are weeks, but 10 days are not "1 week and 3 days".
    const units = restMs % MS_PER_UNIT.weeks === 0 ? UNITS : UNITS.slice(1);
    const amounts = units.map((unit) => {
      const count = Math.floor(restMs / MS_PER_UNIT[unit]);
      restMs %= MS_PER_UNIT[unit];
      return [count, unit.slice(0, -1)] as const;
    });
    const until = this.#endMs === FIRE_TIME_MS_MAX ? null : isoOf(this.#endMs);
    const isDelayed = this.#firstDelayMs > 0;
    const offset =
      this.#seed === null ? "" : `, ${(this.#startMs ?? 0) / 1000} s past whole periods (seed: ${this.#seed})`;
    return (
      periodText(amounts) +
      (isDelayed ? ", first after one period" : offset) +
      boundsText(this.startMs === null ? null : isoOf(this.startMs), until)
    );
  }

  toJSON(): TriggerJSON {
    return {
      type: "interval",
      version: 1,
      ...this.#options(),
      ...(this.#isAnchor && this.#startMs !== null && this.#seed === null
        ? { anchor: isoOf(this.#startMs - this.#firstDelayMs) }
        : {}),
    };
  }

  #options(): IntervalOptions {
    return {
      milliseconds: this.#intervalMs,
      ...(this.startMs === null ? {} : { startTime: isoOf(this.startMs) }),
      ...(this.#endMs === FIRE_TIME_MS_MAX ? {} : { endTime: isoOf(this.#endMs) }),
      ...(this.#firstDelayMs === 0 ? {} : { firstRun: "afterInterval" }),
      ...(this.#seed === null ? {} : { seed: this.#seed }),
    };
  }

  /**
   * The same period with a `seed`, as `spread` of a schedule makes it.
   * @throws {OptionsError} when the trigger has a `startTime` or a `firstRun`
   */
  spreadBy(seed: string): IntervalTrigger {
    return new IntervalTrigger({ ...this.#options(), seed });
  }
}

/** The part of a period, in ms, by which a seed moves its fire times: whole seconds where the period is of seconds. */
function offsetOf(seed: string, intervalMs: number): number {
  const grainMs = intervalMs % MS_PER_UNIT.seconds === 0 ? MS_PER_UNIT.seconds : 1;
  return Math.floor((seedHash(`interval ${seed}`) / 2 ** 32) * (intervalMs / grainMs)) * grainMs;
}

function sum(options: Checked<typeof rules>): number {
  let ms = 0;
  for (const unit of UNITS) ms += options[unit] * MS_PER_UNIT[unit];
  // 1.005 seconds are 1005 milliseconds, whatever binary fractions say.
  if (Math.abs(ms - Math.round(ms)) < 1e-6) ms = Math.round(ms);
  if (Number.isSafeInteger(ms) && ms > 0 && ms <= FIRE_TIME_MS_MAX) return ms;
  const message =
    ms === 0
      ? "needs an interval longer than zero, such as { minutes: 5 }"
      : ms > FIRE_TIME_MS_MAX
        ? "needs an interval shorter than 8,030 years"
        : "needs an interval of whole milliseconds";
  throw optionError("IntervalTrigger", "", message);
}

function elsewhere(name: string): string | null {
  if (name === "years" || name === "months") {
    return `it has no fixed length; write new CalendarIntervalTrigger({ ${name}: ... })`;
  }
  return name === "timeZone" || name === "timezone"
    ? "elapsed time is the same in every zone; new CalendarIntervalTrigger({ days, timeZone }) follows the wall clock"
    : jitterAdvice(name);
}

function optionsAdvice(value: unknown): string | null {
  if (typeof value === "number") return `write { seconds: ${value} } or { milliseconds: ${value} }`;
  return typeof value === "string" ? "write its units, such as { minutes: 5 }" : null;
}
