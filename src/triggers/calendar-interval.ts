import { CALENDAR_SEARCH_STEPS_MAX, FIRE_TIME_MS_MAX } from "../core/limits.ts";
import { optionsError } from "../core/option-errors.ts";
import type { DstPolicy } from "../cron/spec.ts";
import {
  type DateLike,
  dateText,
  daysInMonth,
  epochDayAt,
  epochDayOf,
  startOfDayMs,
  toEpochDay,
  wallTimeMs,
} from "./civil-date.ts";
import {
  type Checked,
  checkOptions,
  checkOrder,
  converted,
  dstPolicy,
  optional,
  resolveTimeZone,
  text,
  wholeNumber,
  withoutUndefined,
} from "./options.ts";
import { Trigger, type TriggerJSON } from "./trigger.ts";
import { boundsText, periodText } from "./words.ts";

/** The period of a {@link CalendarIntervalTrigger} and its time of day. The period is the sum of its units. */
export interface CalendarIntervalOptions {
  readonly years?: number | undefined;
  readonly months?: number | undefined;
  readonly weeks?: number | undefined;
  readonly days?: number | undefined;
  /** Time of day. Default: midnight. */
  readonly hour?: number | undefined;
  readonly minute?: number | undefined;
  readonly second?: number | undefined;
  /** The first date. Default: the date of the instant that the trigger is asked about, or anchored at. */
  readonly startDate?: DateLike | undefined;
  /** The last possible date, inclusive. Default: none. */
  readonly endDate?: DateLike | undefined;
  /** IANA name, or `"local"`. Default: `"UTC"`. */
  readonly timeZone?: string | undefined;
  /** Default: a date on which the time does not exist is skipped, and a time that exists twice fires the first time. */
  readonly dst?: DstPolicy | undefined;
}

const whole = (max: number) => optional(wholeNumber(0, max), 0);
/** Dates stay as they are, because the options are passed on when the trigger is anchored. */
const date = optional(
  converted((value: DateLike) => {
    toEpochDay(value, "");
    return value;
  }),
);
const rules = {
  years: whole(10_000),
  months: whole(120_000),
  weeks: whole(500_000),
  days: whole(4_000_000),
  hour: whole(23),
  minute: whole(59),
  second: whole(59),
  startDate: date,
  endDate: date,
  timeZone: optional(text, "UTC"),
  dst: optional(dstPolicy, "auto"),
};

/** Mean length of a Gregorian month, in days. */
const MONTH_DAYS = 30.436875;
/** A number of months differs from so many mean months by at most this, in days. */
const MONTHS_DRIFT_DAYS = 6;
const DAY_MS = 86_400_000;
/** 1 January of the year 1, in days since 1970: far enough back for every search, and within what Temporal
 *  represents. */
const FIRST_DAY = -719_162;
const DEFAULT_DST = { gap: "skip", overlap: "first" } as const;

/**
 * Fires at one time of day, on dates that are whole calendar units apart: the nth date is `startDate` plus n periods,
 * months first. Dates that do not exist (31 April) are left out, not moved.
 *
 * @example
 * const options = { months: 1, hour: 9, startDate: "2026-01-31", timeZone: "Europe/Berlin" };
 * const trigger = new CalendarIntervalTrigger(options);
 */
export class CalendarIntervalTrigger extends Trigger {
  readonly #options: Checked<typeof rules>;
  readonly #months: number;
  readonly #days: number;
  readonly #secondOfDay: number;
  readonly #startDay: number | null;
  readonly #endDay: number | null;
  readonly #isAnchor: boolean;
  readonly #timeZone: string;
  readonly #dst: Exclude<DstPolicy, "auto">;

  /**
   * @param options at least one of `years`, `months`, `weeks`, `days` above zero
   * @param anchorDay the start date that `startingAt` sets, in days since 1970-01-01: it is no part of the rule
   * @throws {OptionsError} for unknown or invalid options, a zero period, or an end before the start
   */
  constructor(options: CalendarIntervalOptions, anchorDay: number | null = null) {
    super();
    const checked = checkOptions(rules, options, "CalendarIntervalTrigger");
    this.#options = checked;
    this.#months = checked.years * 12 + checked.months;
    this.#days = checked.weeks * 7 + checked.days;
    if (this.#months + this.#days === 0) {
      const message = "needs an interval longer than zero, such as { months: 1 }";
      throw optionsError("CalendarIntervalTrigger", [{ path: "", message }]);
    }
    this.#secondOfDay = (checked.hour * 60 + checked.minute) * 60 + checked.second;
    this.#timeZone = resolveTimeZone(checked.timeZone);
    this.#dst = checked.dst === "auto" ? DEFAULT_DST : checked.dst;
    const startDay = checked.startDate === undefined ? null : toEpochDay(checked.startDate, "startDate");
    this.#endDay = checked.endDate === undefined ? null : toEpochDay(checked.endDate, "endDate");
    checkOrder("CalendarIntervalTrigger", startDay, this.#endDay, ["startDate", "endDate"]);
    this.#startDay = startDay ?? anchorDay;
    this.#isAnchor = startDay === null;
  }

  override get timeZone(): string {
    return this.#timeZone;
  }

  override get startMs(): number | null {
    return this.#isAnchor || this.#startDay === null ? null : startOfDayMs(this.#startDay, this.#timeZone);
  }

  nextMs(afterMs: number): number | null {
    if (!(afterMs < FIRE_TIME_MS_MAX)) return null;
    const afterDay = this.#dayAt(afterMs);
    const firstDay = this.#startDay ?? afterDay;
    const period = Math.max(this.#periodsUntil(afterDay - MONTHS_DRIFT_DAYS, firstDay), 0);
    for (let step = 0; step < CALENDAR_SEARCH_STEPS_MAX; step++) {
      const day = this.#dateOf(firstDay, period + step);
      // Earlier dates need no look, because a gap moves a time by less than a day.
      if (day === null || day < afterDay - 1) continue;
      if (day > (this.#endDay ?? day)) return null;
      for (const atMs of this.#fireTimesOn(day)) {
        if (atMs > FIRE_TIME_MS_MAX) return null;
        if (atMs > afterMs) return atMs;
      }
    }
    return null;
  }

  previousMs(beforeMs: number): number | null {
    const limitMs = Math.min(beforeMs, FIRE_TIME_MS_MAX + 1);
    const beforeDay = this.#dayAt(limitMs);
    const firstDay = this.#startDay ?? beforeDay;
    const lastDay = Math.min(beforeDay, this.#endDay ?? beforeDay);
    const period = this.#periodsUntil(lastDay + MONTHS_DRIFT_DAYS, firstDay) + 1;
    const periodMin = this.#startDay === null ? Number.NEGATIVE_INFINITY : 0;
    for (let step = 0; step < CALENDAR_SEARCH_STEPS_MAX && period - step >= periodMin; step++) {
      const day = this.#dateOf(firstDay, period - step);
      if (day === null || day > lastDay) continue;
      if (day < FIRST_DAY) return null;
      for (const atMs of this.#fireTimesOn(day).reverse()) if (atMs < limitMs) return atMs;
    }
    return null;
  }

  override startingAtMs(atMs: number): this {
    if (this.#startDay !== null) return this;
    // The cast is right for this class. A subclass with other fields overrides this method.
    return new CalendarIntervalTrigger(this.#options, this.#dayAt(atMs)) as this;
  }

  describe(): string {
    const period = periodText([
      [Math.floor(this.#months / 12), "year"],
      [this.#months % 12, "month"],
      [this.#days, "day"],
    ]);
    const time = new Date(this.#secondOfDay * 1000).toISOString().slice(11, this.#secondOfDay % 60 === 0 ? 16 : 19);
    const from = this.#isAnchor || this.#startDay === null ? null : dateText(this.#startDay);
    const until = this.#endDay === null ? null : dateText(this.#endDay);
    return `${period} at ${time}, in ${this.#timeZone}${boundsText(from, until)}`;
  }

  toJSON(): TriggerJSON {
    const { hour, minute, second } = this.#options;
    const { gap, overlap } = this.#dst;
    const startDate = this.#startDay === null ? undefined : dateText(this.#startDay);
    return withoutUndefined({
      type: "calendarInterval",
      version: 1,
      months: this.#months || undefined,
      days: this.#days || undefined,
      hour: hour || undefined,
      minute: minute || undefined,
      second: second || undefined,
      startDate: this.#isAnchor ? undefined : startDate,
      anchor: this.#isAnchor ? startDate : undefined,
      endDate: this.#endDay === null ? undefined : dateText(this.#endDay),
      timeZone: this.#timeZone,
      dst: gap === DEFAULT_DST.gap && overlap === DEFAULT_DST.overlap ? undefined : { gap, overlap },
    });
  }

  #dayAt(epochMs: number): number {
    return epochDayAt(Math.max(epochMs, FIRST_DAY * DAY_MS), this.#timeZone);
  }

  /** About how many periods lie between two dates. The error is at most the drift of months. */
  #periodsUntil(day: number, firstDay: number): number {
    return Math.floor((day - firstDay) / (this.#months * MONTH_DAYS + this.#days));
  }

  /** The date that lies so many periods after the first one, or null when there is no such date. */
  #dateOf(firstDay: number, periods: number): number | null {
    if (this.#months === 0) return firstDay + periods * this.#days;
    const first = new Date(firstDay * DAY_MS);
    const year = first.getUTCFullYear();
    const month = first.getUTCMonth() + periods * this.#months;
    const dayOfMonth = first.getUTCDate();
    if (dayOfMonth > 28 && dayOfMonth > daysInMonth(year, month)) return null;
    return epochDayOf(year, month, dayOfMonth) + periods * this.#days;
  }

  #fireTimesOn(day: number): number[] {
    return wallTimeMs(day, this.#secondOfDay, this.#timeZone, this.#dst.gap, this.#dst.overlap);
  }
}
