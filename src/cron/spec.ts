/** A set of small numbers, 0 to 63, as two 32-bit halves (bit n of the pair stands for n). */
export interface BitSet64 {
  readonly lo: number;
  readonly hi: number;
}

/** What a wall-clock time does that does not exist on a day (clocks go forward). See `DstPolicy`. */
export type GapPolicy = "advance" | "shift" | "skip";

/** What a wall-clock time does that exists twice on a day (clocks go back). See `DstPolicy`. */
export type OverlapPolicy = "first" | "second" | "both";

/**
 * Whose rules crontab text follows, where they are not our own.
 *
 * - `"ocps"`: the [Open Cron Pattern Specification](https://github.com/open-source-cron/ocps), up to 1.4.
 * - `"quartz"`: Quartz, for
 *   [Java](https://www.quartz-scheduler.org/documentation/quartz-2.3.0/tutorials/crontrigger.html) and .NET.
 * - `"vixie"`: [Vixie cron](https://github.com/vixie/cron) and cronie, which most Linux systems have.
 */
export type CronDialect = "ocps" | "quartz" | "vixie";

/**
 * What fire times do when clocks change. `"auto"`: a rule that matches every hour is elapsed time (`skip`, `both`), and
 * any other is wall-clock time (`advance`, `first`). A half that is left out is as `"auto"` says for the rule: `{
 * overlap: "second" }` changes repeated times alone.
 */
export type DstPolicy = "auto" | { readonly gap?: GapPolicy | undefined; readonly overlap?: OverlapPolicy | undefined };

/**
 * What a cron expression means, compiled: the parser's result and the engine's input. Frozen; sets are bit sets.
 *
 * A date matches when its year, month and ISO week match and its day does. The *day part* is the union of
 * `daysOfMonth`, `lastDayOffsets`, `nearestWeekdays`, `hasLastWeekday` and `nthOfDay`; the *weekday part* is the union
 * of `daysOfWeek` and `nthOfWeekday`. A date's day matches when both parts match, or with `dayMatch: "or"` when either
 * does.
 */
export interface CronSpec {
  /** Bits 0-59. */
  readonly seconds: BitSet64;
  /** Bits 0-59. */
  readonly minutes: BitSet64;
  /** Bits 0-23. */
  readonly hours: number;
  /** Bits 1-31. */
  readonly daysOfMonth: number;
  /** Bit n: n days before the month's last day (bit 0 is `L`). */
  readonly lastDayOffsets: number;
  /** Bit n: the weekday (Monday to Friday) nearest to day n, within the month (`nW`). Bits 1-31. */
  readonly nearestWeekdays: number;
  /** The month's last weekday, Monday to Friday (`LW`). */
  readonly hasLastWeekday: boolean;
  /** Nth weekdays named in the day field (`2nd fri`): bit (n-1)*7 + weekday for n 1-5, bit 35 + weekday for the last;
   *  Sunday is 0. */
  readonly nthOfDay: BitSet64;
  /** Nth weekdays named in the weekday field (`fri#2`, `friL`), coded as `nthOfDay`. */
  readonly nthOfWeekday: BitSet64;
  /** Bits 0-6, Sunday is 0. */
  readonly daysOfWeek: number;
  /** Bits 1-12. */
  readonly months: number;
  /** ISO 8601 weeks, bits 1-53. */
  readonly isoWeeks: BitSet64;
  /** Bitmap of years, bit (year - 1970) of 32-bit words, or null for every year of 1970-9999. */
  readonly years: Uint32Array | null;
  /** How the day part and the weekday part combine. */
  readonly dayMatch: "and" | "or";
  /** Resolved: never "auto". */
  readonly gap: GapPolicy;
  /** Resolved: never "auto". */
  readonly overlap: OverlapPolicy;
  /** IANA name as Temporal spells it (never "local"). */
  readonly timeZone: string;
}

/** A compiled expression, and what is needed to write it as text again. */
export interface ParsedCron extends CronSpec {
  /** The year field as it was written, because a set of years may have no short text of its own. */
  readonly yearText: string;
}
