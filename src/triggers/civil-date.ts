import { TemporalMissingError } from "../core/errors.ts";
import { mustBe, valueError } from "../core/option-errors.ts";
import { Temporal } from "../core/temporal.ts";

/** A date as callers may write it: `"2026-12-25"` or a `Temporal.PlainDate`, native or polyfilled. */
export type DateLike = Temporal.PlainDate | string;

/**
 * Days since 1970-01-01 of a date. Objects are read through their ISO 8601 text, so that native and polyfilled objects
 * mix.
 *
 * @throws {OptionsError}
 */
export function toEpochDay(value: DateLike, path: string): number {
  const plain = typeof value === "string" ? /^(\d{4})-(\d\d)-(\d\d)$/.exec(value) : null;
  if (plain !== null) {
    const [, year, month, day] = plain.map(Number) as [number, number, number, number];
    if (month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month - 1)) {
      return epochDayOf(year, month - 1, day);
    }
  }
  try {
    if (typeof value !== "string" && !("monthCode" in value)) throw new TypeError("not a date");
    // Temporal would drop a time of day in silence.
    if (TIME_OF_DAY.test(String(value))) throw new TypeError("more than a date");
    const { year, month, day } = Temporal.PlainDate.from(String(value)).withCalendar("iso8601");
    return epochDayOf(year, month - 1, day);
  } catch (cause) {
    if (cause instanceof TemporalMissingError) throw cause;
    const message = mustBe('a date such as "2026-12-25" or a Temporal.PlainDate', value, path, dateAdvice(value));
    throw valueError(path, message, cause);
  }
}

const TIME_OF_DAY = /^[+-]?\d+-\d\d-\d\d[t ]/i;

function dateAdvice(value: unknown): string | null {
  if (value instanceof Date)
    return "a Date is an instant, and its date depends on the time zone; write the date as text";
  const text = typeof value === "string" || Object(value) === value ? String(value) : "";
  return TIME_OF_DAY.test(text) ? `a date has no time of day; write "${text.slice(0, text.search(/[t ]/i))}"` : null;
}

/** A day of the Gregorian calendar. The month counts from 0. */
export interface CivilDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

// Calendar arithmetic after Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years begin in March, and
// come in eras of 400 years, which have 146,097 days.
const ERA_DAYS = 146_097;
/** Days from 0000-03-01 to 1970-01-01. */
const EPOCH_SHIFT = 719_468;

/** Days since 1970-01-01. The month counts from 0 and may lie outside the year. */
export function epochDayOf(year: number, month: number, day: number): number {
  const marchYear = year + Math.floor((month - 2) / 12);
  const marchMonth = (((month - 2) % 12) + 12) % 12;
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  return 365 * marchYear + leapDays + Math.floor((153 * marchMonth + 2) / 5) + day - 1 - EPOCH_SHIFT;
}

/** The date of a day that is counted since 1970-01-01. */
export function civilDayOf(epochDay: number): CivilDay {
  const shifted = epochDay + EPOCH_SHIFT;
  const era = Math.floor(shifted / ERA_DAYS);
  const dayOfEra = shifted - era * ERA_DAYS;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 2 : marchMonth - 10;
  return {
    year: era * 400 + yearOfEra + (month < 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1,
  };
}

/** Days of a month that counts from 0 and may lie outside the year. */
export function daysInMonth(year: number, month: number): number {
  return epochDayOf(year, month + 1, 1) - epochDayOf(year, month, 1);
}

/** `2026-12-25`; years beyond 9999 have a sign and six digits. */
export function dateText(epochDay: number): string {
  const { year, month, day } = civilDayOf(epochDay);
  const isShort = year >= 0 && year <= 9999;
  const digits = String(Math.abs(year)).padStart(isShort ? 4 : 6, "0");
  const rest = [month + 1, day].map((part) => String(part).padStart(2, "0")).join("-");
  return `${isShort ? "" : year < 0 ? "-" : "+"}${digits}-${rest}`;
}
