// Matching seconds of a day, found by counting trailing and leading zeros.
import {
  EVEN,
  FIRST_OF_DAY,
  FIRST_OF_HOUR,
  HOURS,
  LAST_OF_HOUR,
  MINUTES,
  SECONDS,
  STEP_MS,
  TIMES_PER_HOUR,
} from "./layout";
import { flagsOf } from "./days";

// @ts-ignore: decorator
@inline
export function hoursOf(spec: usize): u32 {
  return load<u32>(spec, HOURS) >> 8;
}

/** The first matching minute of the day at or after one. Junk unless there is one: `minuteOfDay` <= LAST_MINUTE. */
// @ts-ignore: decorator
@inline
export function nextMinute(spec: usize, minuteOfDay: u32): u32 {
  const hours = hoursOf(spec);
  const minutes = load<u64>(spec, MINUTES);
  // A division by 60, as a multiplication: 34,953 is 2^21 / 60, rounded up. Exact up to 74,938.
  const hour = (minuteOfDay * 34953) >> 21;
  const rest = minutes >> (minuteOfDay - hour * 60);
  // Both answers are computed and one is selected, because no branch predictor can know which one it is.
  const inHour = minuteOfDay + <u32>ctz(rest);
  const later = (hour + 1 + ctz(hours >> (hour + 1))) * 60 + <u32>ctz(minutes);
  return select(inHour, later, ((hours >> hour) & <u32>(rest != 0)) != 0);
}

/** The first matching second at or after `second`. Junk unless there is one: `second` <= LAST_OF_DAY. */
export function nextTime(spec: usize, second: u32): u32 {
  const hours = hoursOf(spec);
  const hour = second / 3600;
  if ((hours >> hour) & 1) {
    const found = nextInHour(spec, second - hour * 3600);
    if (found >= 0) return hour * 3600 + found;
  }
  return (hour + 1 + ctz(hours >> (hour + 1))) * 3600 + load<u16>(spec, FIRST_OF_HOUR);
}

/** The first matching second of an hour at or after `second`, or -1. */
export function nextInHour(spec: usize, second: i32): i32 {
  const minutes = load<u64>(spec, MINUTES);
  const seconds = load<u64>(spec, SECONDS);
  const minute = second / 60;
  if ((minutes >> minute) & 1) {
    const start = second - minute * 60;
    const rest = seconds >> start;
    if (rest != 0) return second + <i32>ctz(rest);
  }
  const later = minutes >> (minute + 1);
  return later != 0 ? (minute + 1 + <i32>ctz(later)) * 60 + <i32>ctz(seconds) : -1;
}

/** The last matching second at or before `second`. The caller knows that there is one: `second` >= FIRST_OF_DAY. */
export function previousTime(spec: usize, second: i32): i32 {
  const hours = hoursOf(spec);
  const hour = second / 3600;
  if ((hours >> hour) & 1) {
    const minutes = load<u64>(spec, MINUTES);
    const seconds = load<u64>(spec, SECONDS);
    const inHour = second - hour * 3600;
    const minute = inHour / 60;
    if ((minutes >> minute) & 1) {
      const rest = seconds << (63 - (inHour - minute * 60));
      if (rest != 0) return second - <i32>clz(rest);
    }
    const earlier = minutes & ((<u64>1 << minute) - 1);
    if (earlier != 0) return hour * 3600 + (63 - <i32>clz(earlier)) * 60 + 63 - <i32>clz(seconds);
  }
  return (31 - <i32>clz(hours & ((<u32>1 << hour) - 1))) * 3600 + <i32>load<u16>(spec, LAST_OF_HOUR);
}

export function isMatchingTime(spec: usize, second: i32): bool {
  if (flagsOf(spec) & EVEN) {
    return (second - load<i32>(spec, FIRST_OF_DAY)) % (<i32>load<f64>(spec, STEP_MS) / 1000) == 0;
  }
  const minute = second / 60;
  const hour = minute / 60;
  return (
    ((hoursOf(spec) >> hour) & 1) != 0 &&
    ((load<u64>(spec, MINUTES) >> (minute - hour * 60)) & 1) != 0 &&
    ((load<u64>(spec, SECONDS) >> (second - minute * 60)) & 1) != 0
  );
}

/** Matching seconds of a day before `second` (0 to 86,400). */
export function countTimesBefore(spec: usize, second: i32): i32 {
  const hours = hoursOf(spec);
  const hour = second / 3600;
  let count = <i32>popcnt(hours & ((<u32>1 << hour) - 1)) * <i32>load<u16>(spec, TIMES_PER_HOUR);
  if (!((hours >> hour) & 1)) return count;
  const minutes = load<u64>(spec, MINUTES);
  const seconds = load<u64>(spec, SECONDS);
  const inHour = second - hour * 3600;
  const minute = inHour / 60;
  count += <i32>popcnt(minutes & ((<u64>1 << minute) - 1)) * <i32>popcnt(seconds);
  if ((minutes >> minute) & 1) count += <i32>popcnt(seconds & ((<u64>1 << (inHour - minute * 60)) - 1));
  return count;
}

export function timesPerDay(spec: usize): i32 {
  return <i32>popcnt(hoursOf(spec)) * <i32>load<u16>(spec, TIMES_PER_HOUR);
}
