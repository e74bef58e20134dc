import { OptionsError } from "../core/errors.ts";
import { mustBe } from "../core/option-errors.ts";
import { Temporal, zonedOf } from "../core/temporal.ts";
import type { GapPolicy, OverlapPolicy } from "../cron/spec.ts";

/** A date as callers may write it: `"2026-12-25"` or a `Temporal.PlainDate`, native or polyfilled. */
export type DateLike = Temporal.PlainDate | string;

const DAY_MS = 86_400_000;
/** Temporal represents 100,000,000 days on either side of 1970. A few of them are left out here, because time zone
 *  offsets and the day after a date need them. */
const DAYS_MAX = 99_999_990;

/**
 * Days since 1970-01-01 of a date. Objects are read through their ISO 8601 text, so that native and polyfilled objects
 * mix.
 *
 * @throws {OptionsError}
 */
export function toEpochDay(value: DateLike, path: string): number {
  try {
    if (typeof value !== "string" && !("monthCode" in value)) throw new TypeError("not a date");
    const { year, month, day } = Temporal.PlainDate.from(String(value)).withCalendar("iso8601");
    return epochDayOf(year, month - 1, day);
  } catch (cause) {
    const message = mustBe('a date such as "2026-12-25" or a Temporal.PlainDate', value, path);
    throw new OptionsError(`${path} ${message}`, [{ path, message }], { cause });
  }
}

/** Days since 1970-01-01. The month counts from 0 and may lie outside the year. */
export function epochDayOf(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day) / DAY_MS;
}

/** Days of a month that counts from 0 and may lie outside the year. */
export function daysInMonth(year: number, month: number): number {
  return new Date(new Date(0).setUTCFullYear(year, month + 1, 0)).getUTCDate();
}

/** `2026-12-25`; years beyond 9999 have a sign and six digits. */
export function dateText(epochDay: number): string {
  const text = new Date(epochDay * DAY_MS).toISOString();
  return text.slice(0, text.indexOf("T"));
}

/** The date on which an instant falls in a time zone, as days since 1970-01-01. */
export function epochDayAt(epochMs: number, timeZone: string): number {
  if (timeZone === "UTC") return Math.floor(epochMs / DAY_MS);
  const { year, month, day } = zonedOf(Math.floor(epochMs), timeZone);
  return epochDayOf(year, month - 1, day);
}

/** The first instant of a date, in epoch milliseconds. A date at the far ends of what Temporal represents is moved a
 *  little nearer, which makes no difference, because nothing fires there. */
export function startOfDayMs(epochDay: number, timeZone: string): number {
  const day = Math.max(-DAYS_MAX, Math.min(epochDay, DAYS_MAX));
  if (timeZone === "UTC") return day * DAY_MS;
  return plainDateTime(day, 0).toPlainDate().toZonedDateTime(timeZone).epochMilliseconds;
}

/**
 * The instants, in epoch milliseconds and in order, at which a trigger fires for a time of day on a date. As a rule it
 * is one. Where clocks change, the policies decide: none, one or two.
 */
export function wallTimeMs(
  epochDay: number,
  secondOfDay: number,
  timeZone: string,
  gap: GapPolicy,
  overlap: OverlapPolicy,
): number[] {
  if (timeZone === "UTC") return [epochDay * DAY_MS + secondOfDay * 1000];
  const wall = plainDateTime(epochDay, secondOfDay);
  const earlier = wall.toZonedDateTime(timeZone, { disambiguation: "earlier" });
  const later = wall.toZonedDateTime(timeZone, { disambiguation: "later" });
  const earlierMs = earlier.epochMilliseconds;
  const laterMs = later.epochMilliseconds;
  if (earlierMs === laterMs) return [earlierMs];
  if (earlier.toPlainDateTime().equals(wall)) {
    return overlap === "both" ? [earlierMs, laterMs] : [overlap === "first" ? earlierMs : laterMs];
  }
  if (gap === "skip") return [];
  if (gap === "shift") return [laterMs];
  // In a gap, Temporal's earlier reading lies before the clock change, so the next transition is that change.
  return [earlier.getTimeZoneTransition("next")?.epochMilliseconds ?? laterMs];
}

function plainDateTime(epochDay: number, secondOfDay: number): Temporal.PlainDateTime {
  const date = new Date(epochDay * DAY_MS + secondOfDay * 1000);
  return new Temporal.PlainDateTime(
    date.getUTCFullYear(),
    date.getUTCMonth() + 1,
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
  );
}
