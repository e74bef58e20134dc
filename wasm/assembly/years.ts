// Which years and months a date part names.
import { MONTHS, YEAR_BITS, YEAR_FIRST, YEAR_LAST } from "./layout";
import { monthLength } from "./calendar";
import { monthMask } from "./month";

/** Months and zone stretches looked at since the start. Tests hold the bounds of searches by it. */
export let steps: i32 = 0;

// @ts-ignore: decorator
@inline
export function countStep(): void {
  steps++;
}

/** The mask of one month, 0 where its year or month is not named. */
export function namedMonthMask(part: usize, year: i32, month: i32, first: i32): u32 {
  countStep();
  if (!((load<u32>(part, MONTHS) >> month) & 1)) return 0;
  if (nextYear(part, year) != year || year > <i32>load<u16>(part, YEAR_LAST)) return 0;
  return monthMask(part, year, first, monthLength(year, month));
}

/** The first named year at or after `year`; past YEAR_LAST when there is none. */
export function nextYear(part: usize, year: i32): i32 {
  year = max(year, <i32>load<u16>(part, YEAR_FIRST));
  const bits = load<usize>(part, YEAR_BITS);
  if (bits == 0) return year;
  const last = <i32>load<u16>(part, YEAR_LAST);
  while (year <= last) {
    const index = year - 1970;
    const rest = load<u32>(bits + ((<usize>index >> 5) << 2)) >> (index & 31);
    if (rest != 0) return year + <i32>ctz(rest);
    year += 32 - (index & 31);
  }
  return last + 1;
}

/** The last named year at or before `year`; before YEAR_FIRST when there is none. */
export function previousYear(part: usize, year: i32): i32 {
  year = min(year, <i32>load<u16>(part, YEAR_LAST));
  const bits = load<usize>(part, YEAR_BITS);
  if (bits == 0) return year;
  const first = <i32>load<u16>(part, YEAR_FIRST);
  while (year >= first) {
    const index = year - 1970;
    const rest = load<u32>(bits + ((<usize>index >> 5) << 2)) << (31 - (index & 31));
    if (rest != 0) return year - <i32>clz(rest);
    year -= (index & 31) + 1;
  }
  return first - 1;
}
