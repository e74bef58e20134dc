// Finding matching days, forwards and backwards.
import {
  BITMAP_DAYS,
  CYCLE_YEARS,
  DAYS_EVERY,
  DAYS_GENERAL,
  DAYS_MASK,
  DAYS_WEEKLY,
  DAY_BITS,
  DAY_LAST,
  FLAGS,
  MONTHS,
  MONTH_FIRST,
  MONTH_MASK,
  PART,
  PART_DAY_BITS,
  PART_SEARCHES,
  WEEK_MASK,
  YEAR_BITS,
  YEAR_FIRST,
  YEAR_LAST,
} from "./layout";
import { civilDay, civilMonth, civilYear, firstOfMonth, monthLength, splitDay, weekdayOf } from "./calendar";
import { bitmapNext, bitmapPrevious, buildBitmap } from "./bitmap";
import { monthMask } from "./month";
import { countStep, namedMonthMask, nextYear, previousYear } from "./years";

/** What the searches answer when there is no such day. */
export const NO_DAY: i32 = i32.MIN_VALUE;

/** The bitmap of a date part is built after this many month searches. Building costs as much as some 1,600 month
 *  masks. */
const SEARCHES_BEFORE_BITMAP: u32 = 32;

// @ts-ignore: decorator
@inline
export function flagsOf(spec: usize): u32 {
  return <u32>load<u8>(spec, FLAGS);
}

/** The first matching day at or after `day` (0 or later), or NO_DAY. */
export function nextDay(spec: usize, day: i32): i32 {
  const kind = flagsOf(spec) & DAYS_MASK;
  if (kind == DAYS_WEEKLY) {
    const found = day + <i32>ctz(load<u32>(spec, WEEK_MASK) >> weekdayOf(day));
    return found <= DAY_LAST ? found : NO_DAY;
  }
  if (kind == DAYS_GENERAL) {
    const index = day - load<i32>(spec, MONTH_FIRST);
    if (<u32>index < 32) {
      const rest = load<u32>(spec, MONTH_MASK) >> index;
      if (rest != 0) return day + <i32>ctz(rest);
    }
    return nextGeneral(spec, day);
  }
  return kind == DAYS_EVERY && day <= DAY_LAST ? day : NO_DAY;
}

/** The last matching day at or before `day`, or NO_DAY. */
export function previousDay(spec: usize, day: i32): i32 {
  if (day < 0) return NO_DAY;
  const kind = flagsOf(spec) & DAYS_MASK;
  if (kind == DAYS_EVERY) return day;
  if (kind == DAYS_WEEKLY) {
    const found = day - <i32>clz(load<u32>(spec, WEEK_MASK) << (24 - weekdayOf(day)));
    return found >= 0 ? found : NO_DAY;
  }
  if (kind != DAYS_GENERAL) return NO_DAY;
  const index = day - load<i32>(spec, MONTH_FIRST);
  // Only the first 28 days are looked up in the cached month, because a later day may belong to the next month already.
  if (<u32>index < 28) {
    const rest = load<u32>(spec, MONTH_MASK) << (31 - index);
    if (rest != 0) return day - <i32>clz(rest);
  }
  return previousGeneral(spec, day);
}

export function isMatchingDay(spec: usize, day: i32): bool {
  return day >= 0 && countDays(spec, day, day) != 0;
}

/** Matching days from `from` to `to`, both included. */
export function countDays(spec: usize, from: i32, to: i32): i32 {
  from = max(from, 0);
  to = min(to, DAY_LAST);
  if (from > to) return 0;
  const kind = flagsOf(spec) & DAYS_MASK;
  if (kind == DAYS_EVERY) return to - from + 1;
  if (kind == DAYS_WEEKLY) {
    const week = load<u32>(spec, WEEK_MASK);
    const length = to - from + 1;
    const rest: u32 = (1 << (length % 7)) - 1;
    return (length / 7) * <i32>popcnt(week & 0x7f) + <i32>popcnt((week >> weekdayOf(from)) & rest);
  }
  return kind == DAYS_GENERAL ? countGeneral(load<usize>(spec, PART), from, to) : 0;
}

function countGeneral(part: usize, from: i32, to: i32): i32 {
  splitDay(from);
  let year = civilYear;
  let month = civilMonth;
  let first = from - civilDay + 1;
  let count = 0;
  while (first <= to) {
    let mask = namedMonthMask(part, year, month, first);
    if (first < from) mask &= <u32>-1 << (from - first);
    if (to - first < 31) mask &= <u32>-1 >> (31 - (to - first));
    count += <i32>popcnt(mask);
    first += monthLength(year, month);
    if (++month > 12) {
      month = 1;
      year++;
    }
  }
  return count;
}

function nextGeneral(spec: usize, day: i32): i32 {
  const part = load<usize>(spec, PART);
  if (day < BITMAP_DAYS) {
    const bitmap = bitmapOf(part);
    if (bitmap != 0) {
      store<usize>(spec, bitmap, DAY_BITS);
      const found = bitmapNext(bitmap, day);
      if (found < BITMAP_DAYS) return found;
      day = BITMAP_DAYS;
    }
  }
  if (day > DAY_LAST) return NO_DAY;
  splitDay(day);
  let year = civilYear;
  let month = civilMonth;
  const startMonth = month;
  const startYear = year;
  const startDay = civilDay;
  const bitsYear = load<usize>(part, YEAR_BITS);
  // A date part without a year bitmap that matches nothing within one cycle of the calendar never matches.
  let lastYear = <i32>load<u16>(part, YEAR_LAST);
  if (bitsYear == 0) lastYear = min(lastYear, max(year, <i32>load<u16>(part, YEAR_FIRST)) + CYCLE_YEARS);
  const months = load<u32>(part, MONTHS);
  while (true) {
    const named = nextYear(part, year);
    if (named != year) {
      year = named;
      month = 1;
    }
    if (year > lastYear) return NO_DAY;
    const rest = months >> month;
    if (rest == 0) {
      year++;
      month = 1;
      continue;
    }
    month += <i32>ctz(rest);
    const first = firstOfMonth(year, month);
    const mask = monthMask(part, year, first, monthLength(year, month));
    countStep();
    let ahead = mask;
    if (month == startMonth && year == startYear) ahead &= <u32>-1 << (startDay - 1);
    if (ahead != 0) {
      store<i32>(spec, first, MONTH_FIRST);
      store<u32>(spec, mask, MONTH_MASK);
      return first + <i32>ctz(ahead);
    }
    month++;
  }
}

function previousGeneral(spec: usize, day: i32): i32 {
  const part = load<usize>(spec, PART);
  if (day < BITMAP_DAYS) {
    const bitmap = bitmapOf(part);
    if (bitmap != 0) return bitmapPrevious(bitmap, day);
  }
  splitDay(day);
  let year = civilYear;
  let month = civilMonth;
  const startMonth = month;
  const startYear = year;
  const startDay = civilDay;
  let firstYear = <i32>load<u16>(part, YEAR_FIRST);
  if (load<usize>(part, YEAR_BITS) == 0) {
    firstYear = max(firstYear, min(year, <i32>load<u16>(part, YEAR_LAST)) - CYCLE_YEARS);
  }
  const months = load<u32>(part, MONTHS);
  while (true) {
    const named = previousYear(part, year);
    if (named != year) {
      year = named;
      month = 12;
    }
    if (year < firstYear) return NO_DAY;
    const rest = months << (31 - month);
    if (rest == 0) {
      year--;
      month = 12;
      continue;
    }
    month -= <i32>clz(rest);
    const first = firstOfMonth(year, month);
    const mask = monthMask(part, year, first, monthLength(year, month));
    countStep();
    let behind = mask;
    if (month == startMonth && year == startYear) behind &= <u32>-1 >> (32 - startDay);
    if (behind != 0) {
      store<i32>(spec, first, MONTH_FIRST);
      store<u32>(spec, mask, MONTH_MASK);
      return first + 31 - <i32>clz(behind);
    }
    month--;
    if (month == 0) {
      month = 12;
      year--;
    }
  }
}

function bitmapOf(part: usize): usize {
  const bitmap = load<usize>(part, PART_DAY_BITS);
  if (bitmap != 0) return bitmap;
  const searches = load<u32>(part, PART_SEARCHES) + 1;
  store<u32>(part, searches, PART_SEARCHES);
  return searches % SEARCHES_BEFORE_BITMAP == 0 ? buildBitmap(part) : 0;
}
