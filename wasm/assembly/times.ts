// Matching seconds of a day, found by counting trailing and leading zeros.
import { FIRST_OF_DAY, FIRST_OF_HOUR, FLAGS, HOURS, LAST_OF_DAY, LAST_OF_HOUR, MINUTES, SECONDS, TIMES_PER_HOUR, WHOLE_MINUTES } from "./layout";

/** The first matching second at or after `second`, or that of the next day, beyond 86,400. */
// @ts-ignore: decorator
@inline
export function nextInDay(spec: usize, second: u32): u32 {
  return second <= load<u32>(spec, LAST_OF_DAY) ? nextTime(spec, second) : 86400 + load<u32>(spec, FIRST_OF_DAY);
}

/** The first matching second at or after `second`. The caller knows that there is one: `second` <= LAST_OF_DAY. */
// @ts-ignore: decorator
@inline
export function nextTime(spec: usize, second: u32): u32 {
  const hours = load<u32>(spec, HOURS);
  if (load<u32>(spec, FLAGS) & WHOLE_MINUTES) {
    // Most specs: a search over minutes, within the first cache line of the spec.
    const minutes = load<u64>(spec, MINUTES);
    const minuteOfDay = (second + 59) / 60;
    const hour = minuteOfDay / 60;
    const rest = minutes >> (minuteOfDay - hour * 60);
    // Both answers and a selection: which of them it is, no branch predictor can know.
    const inHour = (minuteOfDay + <u32>ctz(rest)) * 60;
    const later = (hour + 1 + ctz(hours >> (hour + 1))) * 3600 + <u32>ctz(minutes) * 60;
    return select(inHour, later, ((hours >> hour) & <u32>(rest != 0)) != 0);
  }
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
  const hours = load<u32>(spec, HOURS);
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
  const minute = second / 60;
  const hour = minute / 60;
  return (
    ((load<u32>(spec, HOURS) >> hour) & 1) != 0 &&
    ((load<u64>(spec, MINUTES) >> (minute - hour * 60)) & 1) != 0 &&
    ((load<u64>(spec, SECONDS) >> (second - minute * 60)) & 1) != 0
  );
}

/** Matching seconds of a day before `second` (0 to 86,400). */
export function countTimesBefore(spec: usize, second: i32): i32 {
  const hours = load<u32>(spec, HOURS);
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
  return <i32>popcnt(load<u32>(spec, HOURS)) * <i32>load<u16>(spec, TIMES_PER_HOUR);
}
