/** How often a rule repeats, the longest period first. */
export const FREQUENCIES = ["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"] as const;
export type Frequency = (typeof FREQUENCIES)[number];

/** The weekdays of RFC 5545; a weekday is its place in this list. */
export const WEEKDAY_NAMES = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"] as const;

/** A weekday, or the nth of a month or a year: from its end if the number is negative, and each of them if it is 0. */
export interface NthWeekday {
  readonly weekday: number;
  readonly nth: number;
}

/** What a date and a time of a text say. */
export interface TextTime {
  /** Seconds since 1970 as a clock shows them. */
  readonly wall: number;
  /** `"UTC"` for a time that ends in `Z`, an IANA name for one with a `TZID`, null for one without either. */
  readonly timeZone: string | null;
  /** A date without a time. */
  readonly isDate: boolean;
}

/** The parts of an `RRULE`. Lists are empty where a part is not there. */
export interface RecurrenceRule {
  readonly frequency: Frequency;
  readonly interval: number;
  readonly count: number | null;
  readonly until: TextTime | null;
  readonly months: readonly number[];
  readonly weeks: readonly number[];
  readonly yearDays: readonly number[];
  readonly monthDays: readonly number[];
  readonly weekdays: readonly NthWeekday[];
  readonly hours: readonly number[];
  readonly minutes: readonly number[];
  readonly seconds: readonly number[];
  readonly positions: readonly number[];
  /** The first day of a week. */
  readonly weekStart: number;
}

/** A text with its rule and its dates. */
export interface RuleText {
  readonly start: TextTime;
  /** Null where there are dates alone. */
  readonly rule: RecurrenceRule | null;
  readonly added: readonly TextTime[];
  readonly excluded: readonly TextTime[];
}
