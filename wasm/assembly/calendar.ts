// Civil calendar arithmetic on epoch days, after Neri and Schneider, "Euclidean affine functions and their application
// to calendar algorithms" (2022): years start in March, and divisions become multiplications and shifts. Valid for all
// days of the years 1969-10000, and no others are asked for.

/** Days from 0000-03-01 to 1970-01-01. */
const EPOCH_SHIFT: u32 = 719468;

// The results of splitDay. They are globals, because a function returns one number, and an object would be an
// allocation.
export let civilYear: i32 = 0;
export let civilMonth: i32 = 0;
export let civilDay: i32 = 0;

export function splitDay(day: i32): void {
  const n1 = 4 * (<u32>day + EPOCH_SHIFT) + 3;
  const century = n1 / 146097;
  const n2 = ((n1 % 146097) & ~3) | 3;
  const p2 = <u64>2939745 * <u64>n2;
  const dayOfYear = <u32>p2 / 2939745 / 4;
  const n3 = 2141 * dayOfYear + 197913;
  const isAfterDecember = <u32>(dayOfYear >= 306);
  civilYear = <i32>(100 * century + <u32>(p2 >> 32) + isAfterDecember);
  civilMonth = <i32>((n3 >> 16) - 12 * isAfterDecember);
  civilDay = <i32>((n3 & 0xffff) / 2141 + 1);
}

/** Epoch day of the first of a month. */
export function firstOfMonth(year: i32, month: i32): i32 {
  const isBeforeMarch = <u32>(month <= 2);
  const y = <u32>year - isBeforeMarch;
  const m = <u32>month + 12 * isBeforeMarch;
  const century = y / 100;
  return <i32>(((1461 * y) >> 2) - century + (century >> 2) + (979 * m - 2919) / 32 - EPOCH_SHIFT);
}

export function monthLength(year: i32, month: i32): i32 {
  if (month == 2) return 28 + <i32>isLeapYear(year);
  return 30 | (month ^ (month >> 3));
}

// A leap year is a multiple of 4, and of 16 if it is one of 25. This is the same as the textbook rule.
function isLeapYear(year: i32): bool {
  return (year & (year % 25 == 0 ? 15 : 3)) == 0;
}

/** Sunday is 0. Epoch day 0 was a Thursday. */
// @ts-ignore: decorator
@inline
export function weekdayOf(day: i32): u32 {
  // A division by 7, as a multiplication: 613,566,757 is 2^32 / 7, rounded up. Exact up to 2^30.
  const shifted = <u32>day + 4;
  return shifted - <u32>((<u64>shifted * 613566757) >> 32) * 7;
}
