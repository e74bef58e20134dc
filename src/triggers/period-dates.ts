import { civilDayOf, daysInMonth, epochDayOf } from "./civil-date.ts";
import type { StepShare } from "./step-budget.ts";

/** 1 January of the year 1, in days since 1970: far enough back for every search, and within what Temporal
 *  represents. */
export const FIRST_DAY = -719_162;
/** 31 December 9999. */
const LAST_DAY = 2_932_896;
const YEAR_END = 10_000;

/** Mean length of a Gregorian month, in days. */
const MONTH_DAYS = 30.436875;
/** A number of months differs from so many mean months by at most this, in days. */
const MONTHS_DRIFT_DAYS = 6;
/** Every so many dates one is kept, so that a search begins near its answer. */
const CHECKPOINT_DATES = 32;
/** What looking at one date takes from the budget of a question. */
const STEPS_A_DATE = 1;

/** The dates that a calendar period steps through, as days since 1970-01-01. An answer is null when there is no such
 *  date up to the year 9999, or when the budget of the question is used up. */
export interface PeriodDates {
  /** The first date at or after a day. */
  from(day: number, share: StepShare): number | null;
  /** The last date at or before a day. */
  until(day: number, share: StepShare): number | null;
}

/**
 * @param firstDay the first date
 * @param isOpen whether dates before the first one count as well, as they do for a rule without a start
 */
export function periodDates(months: number, days: number, firstDay: number, isOpen: boolean): PeriodDates {
  if (months > 0 && days > 0) return new MixedDates(months, days, firstDay, isOpen);
  return months > 0 ? new MonthlyDates(months, firstDay, isOpen) : new DailyDates(days, firstDay, isOpen);
}

class DailyDates implements PeriodDates {
  readonly #days: number;
  readonly #firstDay: number;
  readonly #isOpen: boolean;

  constructor(days: number, firstDay: number, isOpen: boolean) {
    this.#days = days;
    this.#firstDay = firstDay;
    this.#isOpen = isOpen;
  }

  from(day: number): number | null {
    if (day <= this.#firstDay && !this.#isOpen) return this.#firstDay;
    return this.#firstDay + Math.ceil((day - this.#firstDay) / this.#days) * this.#days;
  }

  until(day: number): number | null {
    if (day < this.#firstDay && !this.#isOpen) return null;
    return this.#firstDay + Math.floor((day - this.#firstDay) / this.#days) * this.#days;
  }
}

/** The same day of every nth month. Months without that day are left out. */
class MonthlyDates implements PeriodDates {
  readonly #months: number;
  readonly #firstDay: number;
  readonly #isOpen: boolean;

  constructor(months: number, firstDay: number, isOpen: boolean) {
    this.#months = months;
    this.#firstDay = firstDay;
    this.#isOpen = isOpen;
  }

  from(day: number, share: StepShare): number | null {
    const estimate = this.#periodsUntil(day - MONTHS_DRIFT_DAYS);
    for (let period = this.#isOpen ? estimate : Math.max(estimate, 0); share.take(STEPS_A_DATE); period++) {
      const found = this.#dateAfter(period);
      if (found === "none") continue;
      if (found > LAST_DAY) return null;
      if (found >= day) return found;
    }
    return null;
  }

  until(day: number, share: StepShare): number | null {
    const periodMin = this.#isOpen ? Number.NEGATIVE_INFINITY : 0;
    let period = this.#periodsUntil(day + MONTHS_DRIFT_DAYS) + 1;
    for (; period >= periodMin && share.take(STEPS_A_DATE); period--) {
      const found = this.#dateAfter(period);
      if (found === "none") continue;
      if (found < FIRST_DAY) return null;
      if (found <= day) return found;
    }
    return null;
  }

  /** About how many periods lie between the first date and a day. The error is at most the drift of months. */
  #periodsUntil(day: number): number {
    return Math.floor((day - this.#firstDay) / (this.#months * MONTH_DAYS));
  }

  #dateAfter(periods: number): number | "none" {
    const { year, month, day } = civilDayOf(this.#firstDay);
    return dateIn(year, month + periods * this.#months, day);
  }
}

/**
 * Dates that are stepped each from the one before, as APScheduler does: months first, over months that lack the day,
 * and then days. Where both are above zero no formula gives the nth date: 31 January and a month and a day is 1 April,
 * which steps on as a 1st. So some of the dates are kept, as far as anybody has asked.
 */
class MixedDates implements PeriodDates {
  readonly #months: number;
  readonly #days: number;
  readonly #firstDay: number;
  readonly #isOpen: boolean;
  /** Every 32nd date. */
  readonly #checkpoints: number[];
  /** The pair that was found last, because questions often follow each other. */
  #lastBefore: number;
  #lastAfter: number | null = null;

  constructor(months: number, days: number, firstDay: number, isOpen: boolean) {
    this.#months = months;
    this.#days = days;
    this.#firstDay = firstDay;
    this.#isOpen = isOpen;
    this.#checkpoints = [firstDay];
    this.#lastBefore = firstDay;
  }

  from(day: number, share: StepShare): number | null {
    const [before, after] = this.#around(day - 1, share);
    if (before === null && this.#isOpen) return this.#firstOfPast(day, share);
    return before === null ? this.#firstDay : after;
  }

  until(day: number, share: StepShare): number | null {
    const [before] = this.#around(day, share);
    if (before !== null || !this.#isOpen) return before;
    for (let date: number | null = this.#firstDay; date !== null; date = this.#dateBefore(date, share)) {
      if (date <= day) return date;
    }
    return null;
  }

  /** The last date at or before a day, and the one after it. */
  #around(day: number, share: StepShare): [before: number | null, after: number | null] {
    if (day < this.#firstDay) return [null, this.#firstDay];
    if (this.#lastAfter !== null && day >= this.#lastBefore) {
      if (day < this.#lastAfter) return [this.#lastBefore, this.#lastAfter];
      const after = this.#dateAfter(this.#lastAfter, share);
      if (after !== null && day < after) return this.#found(this.#lastAfter, after);
    }
    const checkpoints = this.#checkpoints;
    let low = 0;
    let high = checkpoints.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((checkpoints[middle] ?? 0) <= day) low = middle;
      else high = middle - 1;
    }
    let before = checkpoints[low] ?? this.#firstDay;
    for (let index = low * CHECKPOINT_DATES + 1; share.take(STEPS_A_DATE); index++) {
      const after = this.#dateAfter(before, share);
      if (after === null || after > day) return this.#found(before, after);
      before = after;
      if (index === checkpoints.length * CHECKPOINT_DATES) checkpoints.push(before);
    }
    return [null, null];
  }

  #found(before: number, after: number | null): [before: number, after: number | null] {
    this.#lastBefore = before;
    this.#lastAfter = after;
    return [before, after];
  }

  /** The first date at or after a day that lies before the first date of an open rule. */
  #firstOfPast(day: number, share: StepShare): number {
    let found = this.#firstDay;
    for (let date = this.#dateBefore(found, share); date !== null && date >= day; date = this.#dateBefore(found, share))
      found = date;
    return found;
  }

  #dateAfter(date: number, share: StepShare): number | null {
    const { year, month, day } = civilDayOf(date);
    for (let periods = 1; share.take(STEPS_A_DATE); periods++) {
      const found = dateIn(year, month + periods * this.#months, day);
      if (found === "none") continue;
      return found + this.#days > LAST_DAY ? null : found + this.#days;
    }
    return null;
  }

  // The date from which a step leads to this one.
  #dateBefore(date: number, share: StepShare): number | null {
    const { year, month, day } = civilDayOf(date - this.#days);
    for (let periods = 1; share.take(STEPS_A_DATE); periods++) {
      const found = dateIn(year, month - periods * this.#months, day);
      if (found === "none") continue;
      return found < FIRST_DAY ? null : found;
    }
    return null;
  }
}

/** The day of a month that counts from 0 and may lie outside the year. "none" where the month lacks that day,
 *  Infinity after the year 9999. */
function dateIn(year: number, month: number, day: number): number | "none" {
  if (year + month / 12 >= YEAR_END) return Number.POSITIVE_INFINITY;
  return day > 28 && day > daysInMonth(year, month) ? "none" : epochDayOf(year, month, day);
}
