import { MaxIterationsReachedError } from "../core/errors.ts";
import { optionError } from "../core/option-errors.ts";
import { withoutUndefined } from "../core/without-undefined.ts";
import { dstText, MONTHS, WEEKDAYS } from "../cron/describe.ts";
import type { DstPolicy, GapPolicy, OverlapPolicy } from "../cron/spec.ts";
import { dayAt, startOfDay, wallTimes } from "../cron/wall-clock.ts";
import { civilDayOf, type DateLike, dateText, toEpochDay } from "./civil-date.ts";
import { FIRE_TIME_MS_MAX, QUESTION_STEPS_MAX } from "./limits.ts";
import {
  type Checked,
  checkAnchor,
  checkOptions,
  checkOrder,
  converted,
  dstPolicy,
  jitterAdvice,
  optional,
  resolveTimeZone,
  text,
  wholeNumber,
} from "./options.ts";
import { FIRST_DAY, type PeriodDates, periodDates } from "./period-dates.ts";
import { type StepShare, withinBudget } from "./step-budget.ts";
import { checkMs, Trigger } from "./trigger.ts";
import type { TriggerJSON } from "./trigger-json.ts";
import { boundsText, isoOf, periodText } from "./words.ts";

/** The period of a {@link CalendarIntervalTrigger} and its time of day. The period is the sum of its `years`, `months`,
 *  `weeks` and `days`; the time is `hour`, `minute` and `second`. Each is 0 by default. */
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
  /** What happens when clocks change. Default: `"auto"`, which is `advance` and `first`: a time that does not exist on
   *  a date fires when the gap ends, and a time that exists twice fires the first time. `{ gap: "skip" }` leaves such a
   *  date out, as APScheduler does. */
  readonly dst?: DstPolicy | undefined;
}

/** The longest period: 10,000 years, in months and in days. */
const MONTHS_MAX = 120_000;
const DAYS_MAX = 4_000_000;

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
  months: whole(MONTHS_MAX),
  weeks: whole(500_000),
  days: whole(DAYS_MAX),
  hour: whole(23),
  minute: whole(59),
  second: whole(59),
  startDate: date,
  endDate: date,
  timeZone: optional(text, "UTC"),
  dst: optional(dstPolicy, "auto"),
};

const DAY_MS = 86_400_000;
/** What a look at the wall clock takes from the budget of a question: times before 1970 are not in the tables of
 *  zones. */
const STEPS_A_LOOK = 2;
const STEPS_AN_OLD_LOOK = 1000;
const DEFAULT_DST = { gap: "advance", overlap: "first" } as const;

/**
 * Fires at one time of day, on dates that are whole calendar units apart. Dates that do not exist (31 April) are left
 * out, not moved. A time of day that clocks go over on a date fires when the gap ends; see `dst`.
 *
 * Without weeks and days, the dates are the same day of every nth month, counted from `startDate`. Where years or
 * months come together with weeks or days, each date is stepped from the one before, as in APScheduler: first the years
 * and months, again until the month has that day, then the weeks and days. So `{ months: 1, weeks: 1, startDate:
 * "2021-01-30" }` gives 30 January, 6 April (30 March and a week) and 13 May.
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
  readonly #gap: GapPolicy;
  readonly #overlap: OverlapPolicy;
  /** The dates from the start or the anchor on, where there is one. */
  readonly #dates: PeriodDates | null;

  /**
   * @param options at least one of `years`, `months`, `weeks`, `days` above zero
   * @param anchorDay the start date that `startingAt` sets, in days since 1970-01-01: it is no part of the rule
   * @throws {OptionsError} for unknown or invalid options, a zero period, or an end before the start
   */
  constructor(options: CalendarIntervalOptions, anchorDay: number | null = null) {
    super();
    const checked = checkOptions(rules, options, "CalendarIntervalTrigger", () => null, dayAdvice);
    checkAnchor("CalendarIntervalTrigger", anchorDay);
    this.#options = checked;
    this.#months = checked.years * 12 + checked.months;
    this.#days = checked.weeks * 7 + checked.days;
    if (this.#months + this.#days === 0 || this.#months > MONTHS_MAX || this.#days > DAYS_MAX) {
      const isZero = this.#months + this.#days === 0;
      const needed = isZero ? "longer than zero, such as { months: 1 }" : "of at most 10,000 years";
      throw optionError("CalendarIntervalTrigger", "", `needs an interval ${needed}`);
    }
    this.#secondOfDay = (checked.hour * 60 + checked.minute) * 60 + checked.second;
    this.#timeZone = resolveTimeZone(checked.timeZone);
    const { gap = DEFAULT_DST.gap, overlap = DEFAULT_DST.overlap } = checked.dst === "auto" ? DEFAULT_DST : checked.dst;
    this.#gap = gap;
    this.#overlap = overlap;
    const startDay = checked.startDate === undefined ? null : toEpochDay(checked.startDate, "startDate");
    this.#endDay = checked.endDate === undefined ? null : toEpochDay(checked.endDate, "endDate");
    checkOrder("CalendarIntervalTrigger", startDay, this.#endDay, ["startDate", "endDate"]);
    this.#startDay = startDay ?? anchorDay;
    this.#isAnchor = startDay === null;
    this.#dates = this.#startDay === null ? null : periodDates(this.#months, this.#days, this.#startDay, false);
  }

  override get timeZone(): string {
    return this.#timeZone;
  }

  override get startMs(): number | null {
    if (this.#isAnchor || this.#startDay === null) return null;
    return startOfDay(this.#startDay, this.#timeZone);
  }

  nextMs(afterMs: number): number | null {
    checkMs(afterMs, "afterMs");
    return withinBudget((share) => this.#next(afterMs, share));
  }

  previousMs(beforeMs: number): number | null {
    checkMs(beforeMs, "beforeMs");
    return withinBudget((share) => this.#previous(beforeMs, share));
  }

  #next(afterMs: number, share: StepShare): number | null {
    if (afterMs >= FIRE_TIME_MS_MAX) return null;
    this.#look(afterMs, share);
    const afterDay = this.#dayAt(afterMs);
    const dates = this.#dates ?? periodDates(this.#months, this.#days, afterDay, false);
    // Earlier dates need no look, because a gap moves a time by less than a day.
    let day = dates.from(afterDay - 1, share);
    while (day !== null && day <= (this.#endDay ?? day)) {
      for (const atMs of this.#fireTimesOn(day, share)) {
        if (atMs > FIRE_TIME_MS_MAX) return null;
        if (atMs > afterMs) return atMs;
      }
      day = dates.from(day + 1, share);
    }
    return this.#none("after", afterMs, share);
  }

  #previous(beforeMs: number, share: StepShare): number | null {
    const limitMs = Math.min(beforeMs, FIRE_TIME_MS_MAX + 1);
    this.#look(limitMs, share);
    const beforeDay = this.#dayAt(limitMs);
    const dates = this.#dates ?? periodDates(this.#months, this.#days, beforeDay, true);
    let day = dates.until(Math.min(beforeDay, this.#endDay ?? beforeDay), share);
    while (day !== null && day >= FIRST_DAY) {
      const times = this.#fireTimesOn(day, share);
      for (let index = times.length - 1; index >= 0; index--) {
        const atMs = times[index] ?? limitMs;
        if (atMs < limitMs) return atMs;
      }
      day = dates.until(day - 1, share);
    }
    return this.#none("before", beforeMs, share);
  }

  override startingAtMs(atMs: number): this {
    checkMs(atMs, "atMs");
    if (this.#startDay !== null) return this;
    // The cast is right for this class. A subclass with other fields overrides this method.
    return new CalendarIntervalTrigger(this.#options, this.#dayAt(atMs)) as this;
  }

  describe(): string {
    const period = periodText([
      [Math.floor(this.#months / 12), "year"],
      [this.#months % 12, "month"],
      this.#days % 7 === 0 ? [this.#days / 7, "week"] : [this.#days, "day"],
    ]);
    const time = new Date(this.#secondOfDay * 1000).toISOString().slice(11, this.#secondOfDay % 60 === 0 ? 16 : 19);
    const from = this.#isAnchor || this.#startDay === null ? null : dateText(this.#startDay);
    const until = this.#endDay === null ? null : dateText(this.#endDay);
    const dst = this.#isDefaultDst ? "" : dstText(this.#gap, this.#overlap);
    return `${period}${this.#dayText()} at ${time}, in ${this.#timeZone}${dst}${boundsText(from, until)}`;
  }

  /** ` on Monday`, ` on the 31st (shorter months are left out)`: the day that follows from the start, where all dates
   *  have it. */
  #dayText(): string {
    if (this.#months > 0 && this.#days > 0) return " (over months that lack the day)";
    if (this.#startDay === null) return "";
    const isWeekly = this.#months === 0 && this.#days % 7 === 0;
    // 1 January 1970 was a Thursday.
    if (isWeekly) return ` on ${WEEKDAYS[(((this.#startDay + 4) % 7) + 7) % 7]}`;
    if (this.#months === 0) return "";
    const { month, day } = civilDayOf(this.#startDay);
    if (this.#months % 12 > 0) return ` on the ${ordinal(day)}${day > 28 ? " (shorter months are left out)" : ""}`;
    const isLeapDay = month === 1 && day === 29;
    return ` on ${day} ${MONTHS[month]}${isLeapDay ? " (other years are left out)" : ""}`;
  }

  toJSON(): TriggerJSON {
    const { hour, minute, second } = this.#options;
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
      dst: this.#isDefaultDst ? undefined : { gap: this.#gap, overlap: this.#overlap },
    });
  }

  get #isDefaultDst(): boolean {
    return this.#gap === DEFAULT_DST.gap && this.#overlap === DEFAULT_DST.overlap;
  }

  #dayAt(epochMs: number): number {
    return dayAt(Math.max(epochMs, FIRST_DAY * DAY_MS), this.#timeZone);
  }

  #fireTimesOn(day: number, share: StepShare): readonly number[] {
    this.#look(day * DAY_MS, share);
    return wallTimes(day, this.#secondOfDay, this.#timeZone, this.#gap, this.#overlap);
  }

  #look(atMs: number, share: StepShare): void {
    const isOld = atMs < 0 && this.#timeZone !== "UTC";
    if (!share.take(isOld ? STEPS_AN_OLD_LOOK : STEPS_A_LOOK)) throw this.#exhausted("near", atMs);
  }

  /** There is no date, unless the budget ended the search. */
  #none(side: string, atMs: number, share: StepShare): null {
    if (share.take(0)) return null;
    throw this.#exhausted(side, atMs);
  }

  #exhausted(side: string, atMs: number): MaxIterationsReachedError {
    return new MaxIterationsReachedError(
      `the dates of the calendar interval ${side} ${isoOf(atMs)} were not found within the ` +
        `${QUESTION_STEPS_MAX} steps of one question; give it a later startDate or a longer period, ` +
        "or take it out of the triggers that ask it so often",
    );
  }
}

/** What to do about a day, which the start tells. */
function dayAdvice(name: string): string | null {
  return /^(day|dayOf(Month|Week)|weekday)$/.test(name) ? "it is the day of startDate" : jitterAdvice(name);
}

/** `1st`, `22nd`, `13th`: the day of a month. */
function ordinal(day: number): string {
  const isTeen = day > 10 && day < 14;
  return `${day}${(isTeen ? undefined : ["th", "st", "nd", "rd"][day % 10]) ?? "th"}`;
}
