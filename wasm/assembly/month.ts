// Which days of a month a date part names, as a bit mask. It is made without a loop over days: a set of weekdays is
// rotated to the weekday of the month's first day, and then repeated by one multiplication.
import {
  DAYS_OF_MONTH,
  DAYS_OF_WEEK,
  ISO_WEEKS,
  LAST_DAY_OFFSETS,
  NEAREST_WEEKDAYS,
  NTH_OF_DAY,
  NTH_OF_WEEKDAY,
  PART_EITHER,
  PART_FLAGS,
  PART_LAST_WEEKDAY,
} from "./layout";
import { firstOfMonth, weekdayOf } from "./calendar";

/** One bit every 7, five times: a multiplication by it repeats a week. */
const WEEKS: u64 = 0x10204081;
const WORKDAYS: u32 = 0x3e;
const SATURDAY: u32 = 0x40;
const SUNDAY: u32 = 0x01;
const ISO_WEEKS_ALL: u64 = 0x3ffffffffffffe;

/** Matching days of a month, bit 0 is the first. `first` is its first day as epoch day. */
export function monthMask(part: usize, year: i32, first: i32, length: i32): u32 {
  const days = <u32>-1 >> (32 - length);
  const weekday = weekdayOf(first);
  const byDay = dayPart(part, weekday, length, days);
  const nthOfWeekday = nthWeekdays(load<u64>(part, NTH_OF_WEEKDAY), weekday, length);
  const byWeekday = repeatWeek(load<u32>(part, DAYS_OF_WEEK), weekday) | nthOfWeekday;
  let mask = (load<u32>(part, PART_FLAGS) & PART_EITHER ? byDay | byWeekday : byDay & byWeekday) & days;
  const weeks = load<u64>(part, ISO_WEEKS);
  if (weeks != ISO_WEEKS_ALL && mask != 0) mask &= weekMask(weeks, year, first, weekday);
  return mask;
}

function dayPart(part: usize, weekday: u32, length: i32, days: u32): u32 {
  let mask = load<u32>(part, DAYS_OF_MONTH) >> 1;
  let offsets = load<u32>(part, LAST_DAY_OFFSETS);
  while (offsets != 0) {
    const index = length - 1 - <i32>ctz(offsets);
    if (index >= 0) mask |= 1 << index;
    offsets &= offsets - 1;
  }
  const nth = load<u64>(part, NTH_OF_DAY);
  if (nth != 0) mask |= nthWeekdays(nth, weekday, length);
  const nearest = (load<u32>(part, NEAREST_WEEKDAYS) >> 1) & days;
  if (nearest != 0) mask |= nearestWeekdays(nearest, weekday, length);
  if (load<u32>(part, PART_FLAGS) & PART_LAST_WEEKDAY) mask |= 1 << (31 - clz(repeatWeek(WORKDAYS, weekday) & days));
  return mask;
}

/** A set of weekdays as days of a month that starts on `weekday`; bits past the month's end are junk. */
// @ts-ignore: decorator
@inline
function repeatWeek(week: u32, weekday: u32): u32 {
  return <u32>(<u64>rotateWeek(week, weekday) * WEEKS);
}

// @ts-ignore: decorator
@inline
function rotateWeek(week: u32, weekday: u32): u32 {
  return ((week >> weekday) | (week << (7 - weekday))) & 0x7f;
}

// Bit (n-1)*7 + weekday stands for the nth weekday, n from 1 to 5: each group of 7 bits is rotated like a week, all
// five at once. Bit 35 + weekday stands for the last such weekday, which lies in the month's last 7 days.
function nthWeekdays(nth: u64, weekday: u32, length: i32): u32 {
  if (nth == 0) return 0;
  const lower = <u64>(0x7f >> weekday) * WEEKS;
  const upper = (<u64>0x7f * WEEKS) & ~lower;
  const counted = ((nth >> weekday) & lower) | ((nth << (7 - weekday)) & upper);
  const last = <u32>(nth >> 35) & 0x7f;
  const tail = rotateWeek(last, (weekday + <u32>length) % 7);
  return <u32>counted | (tail << (length - 7));
}

// A Saturday moves to the Friday before, a Sunday to the Monday after, unless that would leave the month.
function nearestWeekdays(nearest: u32, weekday: u32, length: i32): u32 {
  const end: u32 = 1 << (length - 1);
  const saturdays = nearest & repeatWeek(SATURDAY, weekday);
  const sundays = nearest & repeatWeek(SUNDAY, weekday);
  return (
    (nearest & repeatWeek(WORKDAYS, weekday)) |
    ((saturdays & ~1) >> 1) |
    ((saturdays & 1) << 2) |
    ((sundays & ~end) << 1) |
    ((sundays & end) >> 2)
  );
}

// The ISO week of a day is the week of its Thursday: count the Thursdays of that Thursday's year, up to it.
function weekMask(weeks: u64, year: i32, first: i32, weekday: u32): u32 {
  const newYear = firstOfMonth(year, 1);
  const nextNewYear = firstOfMonth(year + 1, 1);
  let index = -(<i32>((weekday + 6) % 7));
  let mask: u32 = 0;
  for (; index < 31; index += 7) {
    const thursday = first + index + 3;
    let start = newYear;
    if (thursday < newYear) start = firstOfMonth(year - 1, 1);
    else if (thursday >= nextNewYear) start = nextNewYear;
    const week = (thursday - start) / 7 + 1;
    if ((weeks >> week) & 1) mask |= index < 0 ? 0x7f >> -index : 0x7f << index;
  }
  return mask;
}
