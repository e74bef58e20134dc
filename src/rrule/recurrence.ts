import { civilDayOf, epochDayOf } from "../triggers/civil-date.ts";
import type { StepShare } from "../triggers/step-budget.ts";
import type { Frequency, RecurrenceRule } from "./rule.ts";

// Everything here is on the clock of a wall: seconds since 1970 as a clock shows them, and days since 1970-01-01. What
// clock changes do to it comes later.

const DAY = 86_400;
/** After the last day of the year 9999. */
const END_DAY = epochDayOf(10_000, 0, 1);
/** How many days are matched in the time of one step of a budget. */
const DAYS_A_STEP = 2;
/** What a look at a period takes that is shorter than a day. */
const PERIOD_STEPS = 0.5;

/** How long a period is that is shorter than a day, in seconds. */
const SHORT: Readonly<Partial<Record<Frequency, number>>> = { HOURLY: 3600, MINUTELY: 60, SECONDLY: 1 };

/** Whether the periods of a rule are shorter than a day. */
export function isShort({ frequency }: RecurrenceRule): boolean {
  return SHORT[frequency] !== undefined;
}

/** A search that used up its budget. */
export class Exhausted extends Error {}

/** A period of a rule: the days that match, and the times of each. */
interface Period {
  readonly days: readonly number[];
  readonly times: readonly number[];
  /** Of a rule with `BYSETPOS`: what it takes, in order. */
  readonly taken: readonly number[] | null;
}

/** What a rule gives from its start on, without `COUNT` and `UNTIL`. */
export class Recurrence {
  readonly #rule: RecurrenceRule;
  /** The start, in seconds and as a date. */
  readonly #start: number;
  readonly #startDay: number;
  readonly #months: ReadonlySet<number>;
  readonly #weeks: ReadonlySet<number>;
  readonly #yearDays: ReadonlySet<number>;
  readonly #monthDays: ReadonlySet<number>;
  readonly #hours: ReadonlySet<number>;
  readonly #minutes: ReadonlySet<number>;
  readonly #seconds: ReadonlySet<number>;
  /** Whether the nth weekday is that of a month, and not that of a year. */
  readonly #countsInMonth: boolean;
  /** Seconds of a day; of a rule with short periods, seconds of a period. */
  readonly #times: readonly number[];
  /** Of a rule with short periods: they begin at whole hours, whole minutes, or with the start to the second. */
  readonly #grain: number;
  /** The period that was looked at last: a schedule asks for one fire time after the other. */
  #last: { readonly key: number; readonly period: Period } | null = null;

  constructor(given: RecurrenceRule, start: number) {
    const rule = withDefaults(given, start);
    this.#rule = rule;
    this.#start = start;
    this.#startDay = Math.floor(start / DAY);
    this.#months = new Set(rule.months);
    this.#weeks = new Set(rule.weeks);
    this.#yearDays = new Set(rule.yearDays);
    this.#monthDays = new Set(rule.monthDays);
    this.#hours = new Set(rule.hours);
    this.#minutes = new Set(rule.minutes);
    this.#seconds = new Set(rule.seconds);
    this.#countsInMonth = rule.frequency === "MONTHLY" || rule.months.length > 0;
    this.#times = timesOf(rule, given);
    this.#grain = grainOf(given);
  }

  /** The first time that is not before a time; null for none. @throws {Exhausted} */
  from(second: number, share: StepShare): number | null {
    const least = Math.max(second, this.#start);
    for (let key: number | null = this.#keyFrom(least); key !== null; key = this.#keyAfter(key, share)) {
      const found = this.#isShort
        ? this.shortFrom(Math.max(key * DAY, least), (key + 1) * DAY, this.#start, share)
        : firstOf(this.#periodOf(key, share), least);
      if (found !== null) return found;
    }
    return null;
  }

  /** The last time that is not after a time; null for none. @throws {Exhausted} */
  until(second: number, share: StepShare): number | null {
    if (second < this.#start) return null;
    const most = Math.min(second, END_DAY * DAY - 1);
    for (let key: number | null = this.#keyUntil(most); key !== null; key = this.#keyBefore(key, share)) {
      const found = this.#isShort
        ? this.shortUntil(key * DAY, Math.min((key + 1) * DAY - 1, most), this.#start, share)
        : lastOf(this.#periodOf(key, share), most);
      if (found !== null) return found >= this.#start ? found : null;
    }
    return null;
  }

  // A period is found by its key: a year, a month, a week since that of the start, or a day.

  get #isShort(): boolean {
    return isShort(this.#rule);
  }

  #keyOf(second: number): number {
    const day = Math.floor(second / DAY);
    const { frequency } = this.#rule;
    if (frequency === "WEEKLY") return (this.#weekOf(day) - this.#weekOf(this.#startDay)) / 7;
    if (frequency !== "YEARLY" && frequency !== "MONTHLY") return day;
    const { year, month } = civilDayOf(day);
    return frequency === "YEARLY" ? year : year * 12 + month;
  }

  /** How many keys lie between two periods. */
  get #stride(): number {
    return this.#isShort ? 1 : this.#rule.interval;
  }

  #keyFrom(second: number): number | null {
    const [first, key] = [this.#keyOf(this.#start), this.#keyOf(second)];
    return this.#bounded(first + Math.ceil((key - first) / this.#stride) * this.#stride);
  }

  #keyUntil(second: number): number | null {
    const [first, key] = [this.#keyOf(this.#start), this.#keyOf(second)];
    return this.#bounded(first + Math.floor((key - first) / this.#stride) * this.#stride);
  }

  #keyAfter(key: number, share: StepShare): number | null {
    spend(share, 1);
    if (!this.#isShort) return this.#bounded(key + this.#stride);
    // Days that no period begins on are left out.
    return this.#bounded(Math.max(key + 1, Math.floor(this.leastAfter((key + 1) * DAY, this.#start) / DAY)));
  }

  #keyBefore(key: number, share: StepShare): number | null {
    spend(share, 1);
    if (!this.#isShort) return this.#bounded(key - this.#stride);
    return this.#bounded(Math.min(key - 1, Math.floor(this.mostBefore(key * DAY, this.#start) / DAY)));
  }

  #bounded(key: number): number | null {
    return key < this.#keyOf(this.#start) || key > this.#keyOf(END_DAY * DAY - 1) ? null : key;
  }

  #periodOf(key: number, share: StepShare): Period {
    if (this.#last?.key === key) return this.#last.period;
    const period = this.#periodAnew(key, share);
    this.#last = { key, period };
    return period;
  }

  #periodAnew(key: number, share: StepShare): Period {
    const days = this.#daysOf(key, share);
    const { positions } = this.#rule;
    const times = this.#times;
    if (positions.length === 0) return { days, times, taken: null };
    const count = days.length * times.length;
    const taken = positions
      .map((position) => (position > 0 ? position - 1 : count + position))
      .filter((place) => place >= 0 && place < count)
      .map((place) => (days[Math.floor(place / times.length)] ?? 0) * DAY + (times[place % times.length] ?? 0));
    return { days, times, taken: sorted(taken) };
  }

  #daysOf(key: number, share: StepShare): number[] {
    const { frequency } = this.#rule;
    if (frequency === "DAILY") return this.#matches(key) ? [key] : [];
    if (frequency === "WEEKLY") {
      const first = this.#weekOf(this.#startDay) + key * 7;
      return this.#matching(first, first + 7, share);
    }
    if (frequency === "MONTHLY") {
      const [year, month] = [Math.floor(key / 12), key % 12];
      if (this.#months.size > 0 && !this.#months.has(month + 1)) return [];
      return this.#matching(epochDayOf(year, month, 1), epochDayOf(year, month + 1, 1), share);
    }
    if (this.#months.size === 0) return this.#matching(epochDayOf(key, 0, 1), epochDayOf(key + 1, 0, 1), share);
    return sorted([...this.#months]).flatMap((month) =>
      this.#matching(epochDayOf(key, month - 1, 1), epochDayOf(key, month, 1), share),
    );
  }

  #matching(from: number, until: number, share: StepShare): number[] {
    spend(share, (until - from) / DAYS_A_STEP);
    const days: number[] = [];
    for (let day = from; day < until; day++) if (this.#matches(day)) days.push(day);
    return days;
  }

  #matches(day: number): boolean {
    const { year, month, day: dayOfMonth } = civilDayOf(day);
    if (this.#months.size > 0 && !this.#months.has(month + 1)) return false;
    if (this.#monthDays.size > 0) {
      const fromEnd = dayOfMonth - 1 - (epochDayOf(year, month + 1, 1) - epochDayOf(year, month, 1));
      if (!this.#monthDays.has(dayOfMonth) && !this.#monthDays.has(fromEnd)) return false;
    }
    const dayOfYear = day - epochDayOf(year, 0, 1) + 1;
    if (this.#yearDays.size > 0) {
      const fromEnd = day - epochDayOf(year + 1, 0, 1);
      if (!this.#yearDays.has(dayOfYear) && !this.#yearDays.has(fromEnd)) return false;
    }
    if (this.#weeks.size > 0 && !this.#isInWeeks(day)) return false;
    const { weekdays } = this.#rule;
    if (weekdays.length === 0) return true;
    const [place, end] = this.#countsInMonth
      ? [dayOfMonth, epochDayOf(year, month + 1, 1)]
      : [dayOfYear, epochDayOf(year + 1, 0, 1)];
    const nth = Math.ceil(place / 7);
    const fromEnd = -Math.ceil((end - day) / 7);
    return weekdays.some((one) => {
      return one.weekday === weekdayOf(day) && (one.nth === 0 || one.nth === nth || one.nth === fromEnd);
    });
  }

  /** Whether a day lies in the weeks of `BYWEEKNO`. The first week of a year has four days of it at least. */
  #isInWeeks(day: number): boolean {
    const week = this.#weekOf(day);
    const { year } = civilDayOf(week + 3);
    const first = this.#weekOf(epochDayOf(year, 0, 4));
    const number = (week - first) / 7 + 1;
    const count = (this.#weekOf(epochDayOf(year + 1, 0, 4)) - first) / 7;
    return this.#weeks.has(number) || this.#weeks.has(number - count - 1);
  }

  /** The first day of the week of a day. */
  #weekOf(day: number): number {
    return day - ((weekdayOf(day) - this.#rule.weekStart + 7) % 7);
  }

  // ---- periods that are shorter than a day, and follow each other from an anchor on, which is the start

  get #short(): number {
    return SHORT[this.#rule.frequency] ?? DAY;
  }

  /** The first time of [least, until), which lies within one day; null for none. */
  shortFrom(least: number, until: number, anchor: number, share: StepShare): number | null {
    if (!this.#matches(Math.floor(least / DAY))) return null;
    // The period that the time lies in began before it.
    let begin = this.#periodFrom(least - this.#short + 1, anchor);
    while (begin < until) {
      spend(share, PERIOD_STEPS);
      const next = this.#nextMatch(begin);
      if (next === begin) {
        const time = this.#times.find((one) => begin + one >= least);
        if (time !== undefined) return begin + time < until ? begin + time : null;
      }
      begin = this.#periodFrom(Math.max(next, begin + 1), anchor);
    }
    return null;
  }

  /** The last time of [least, most], which lies within one day; null for none. */
  shortUntil(least: number, most: number, anchor: number, share: StepShare): number | null {
    if (!this.#matches(Math.floor(most / DAY))) return null;
    const step = this.#short * this.#rule.interval;
    let begin = this.#periodFrom(most + 1, anchor) - step;
    while (begin > least - this.#short) {
      spend(share, PERIOD_STEPS);
      const before = this.#matchBefore(begin);
      if (before === begin) {
        const time = this.#times.findLast((one) => begin + one <= most);
        if (time !== undefined) return begin + time >= least ? begin + time : null;
      }
      begin = this.#periodFrom(Math.min(before, begin - 1) + 1, anchor) - step;
    }
    return null;
  }

  // Where clocks change between the time that is asked about and the answer, the grain may fall elsewhere.

  /** No time from one on, up to which there was none, is before this one. */
  leastAfter(second: number, anchor: number): number {
    return this.#periodFrom(second - this.#short - this.#grain + 2, anchor) - this.#grain + 1;
  }

  /** No time before one, down to which there was none, is after this one. */
  mostBefore(second: number, anchor: number): number {
    const step = this.#short * this.#rule.interval;
    return this.#periodFrom(second + this.#grain - 1, anchor) - step + this.#short + this.#grain - 2;
  }

  /** When the first period begins that does not begin before a time. */
  #periodFrom(second: number, anchor: number): number {
    const base = Math.floor(anchor / this.#grain) * this.#grain;
    const step = this.#short * this.#rule.interval;
    return base + Math.ceil((second - base) / step) * step;
  }

  /** A time itself, if its hour, minute and second match; else the beginning of the next ones. */
  #nextMatch(time: number): number {
    const [hour, minute, second] = this.#mismatch(time);
    const unit = hour ? 3600 : minute ? 60 : second ? 1 : 0;
    return unit === 0 ? time : (Math.floor(time / unit) + 1) * unit;
  }

  /** A time itself, if its hour, minute and second match; else the end of those before. */
  #matchBefore(time: number): number {
    const [hour, minute, second] = this.#mismatch(time);
    const unit = hour ? 3600 : minute ? 60 : second ? 1 : 0;
    return unit === 0 ? time : Math.floor(time / unit) * unit - 1;
  }

  /** Whether its hour, its minute and its second are other ones than those of the rule. */
  #mismatch(time: number): readonly [boolean, boolean, boolean] {
    const second = time - Math.floor(time / DAY) * DAY;
    const isOther = (set: ReadonlySet<number>, value: number): boolean => set.size > 0 && !set.has(value);
    return [
      isOther(this.#hours, Math.floor(second / 3600)),
      this.#short < 3600 && isOther(this.#minutes, Math.floor(second / 60) % 60),
      this.#short === 1 && isOther(this.#seconds, second % 60),
    ];
  }
}

export function spend(share: StepShare, steps: number): void {
  if (!share.take(steps)) throw new Exhausted();
}

/** What follows from the start, where the rule does not say it. */
function withDefaults(rule: RecurrenceRule, start: number): RecurrenceRule {
  const startDay = Math.floor(start / DAY);
  const { month, day } = civilDayOf(startDay);
  const second = start - startDay * DAY;
  const { frequency, months, weeks, yearDays, monthDays, weekdays, hours, minutes, seconds } = rule;
  const hasDays = weeks.length + yearDays.length + monthDays.length + weekdays.length > 0;
  const isLong = !isShort(rule);
  const or = (list: readonly number[], value: number, isDue: boolean) => (list.length > 0 || !isDue ? list : [value]);
  const isByDate = (frequency === "YEARLY" || frequency === "MONTHLY") && !hasDays;
  return {
    ...rule,
    months: or(months, month + 1, frequency === "YEARLY" && !hasDays),
    monthDays: or(monthDays, day, isByDate),
    weekdays: frequency === "WEEKLY" && !hasDays ? [{ weekday: weekdayOf(startDay), nth: 0 }] : weekdays,
    hours: or(hours, Math.floor(second / 3600), isLong),
    minutes: or(minutes, Math.floor(second / 60) % 60, isLong || frequency === "HOURLY"),
    seconds: or(seconds, second % 60, frequency !== "SECONDLY"),
  };
}

/** Where short periods begin: at whole hours where minutes are given, at whole minutes where seconds are. */
function grainOf({ frequency, minutes, seconds }: RecurrenceRule): number {
  if (frequency === "HOURLY" && minutes.length > 0) return 3600;
  return frequency !== "SECONDLY" && seconds.length > 0 ? 60 : 1;
}

/** The times of a day, or of a short period. */
function timesOf(rule: RecurrenceRule, given: RecurrenceRule): number[] {
  const grain = isShort(rule) ? grainOf(given) : DAY;
  const times: number[] = [];
  for (const hour of grain < DAY ? [0] : sorted(rule.hours)) {
    for (const minute of grain < 3600 ? [0] : sorted(rule.minutes)) {
      for (const second of grain < 60 ? [0] : sorted(rule.seconds)) times.push((hour * 60 + minute) * 60 + second);
    }
  }
  if (grain === DAY || rule.positions.length === 0) return times;
  const taken = rule.positions.map((position) => times.at(position > 0 ? position - 1 : position));
  return sorted(taken.filter((time) => time !== undefined));
}

/** In order, each once. */
function sorted(list: readonly number[]): number[] {
  return [...new Set(list)].sort((a, b) => a - b);
}

/** Monday is 0. 1 January 1970 was a Thursday. */
function weekdayOf(day: number): number {
  return (((day + 3) % 7) + 7) % 7;
}

function firstOf({ days, times, taken }: Period, least: number): number | null {
  if (taken !== null) return taken.find((time) => time >= least) ?? null;
  const [first] = times;
  if (first === undefined) return null;
  const leastDay = Math.floor(least / DAY);
  for (const day of days) {
    if (day > leastDay) return day * DAY + first;
    if (day < leastDay) continue;
    const found = times[placeOf(times, least - day * DAY)];
    if (found !== undefined) return day * DAY + found;
  }
  return null;
}

function lastOf({ days, times, taken }: Period, most: number): number | null {
  if (taken !== null) return taken.findLast((time) => time <= most) ?? null;
  const last = times.at(-1);
  if (last === undefined) return null;
  const mostDay = Math.floor(most / DAY);
  for (const day of days.toReversed()) {
    if (day < mostDay) return day * DAY + last;
    if (day > mostDay) continue;
    const found = times[placeOf(times, most - day * DAY + 1) - 1];
    if (found !== undefined) return day * DAY + found;
  }
  return null;
}

/** The place of the first time that is not before a second. */
function placeOf(times: readonly number[], second: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < second) low = middle + 1;
    else high = middle;
  }
  return low;
}
