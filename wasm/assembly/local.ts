// Matching local seconds: the date and the time of day, without a time zone. Local seconds count from 1970-01-01 00:00
// of the wall clock, as if every day had 86,400 seconds.
import { EVEN, FIRST_OF_DAY, LAST_OF_DAY, LOCAL_LAST, SECONDS_PER_DAY, STEP_INVERSE, STEP_MS } from "./layout";
import { flagsOf, isMatchingDay, NO_DAY, nextDay, previousDay } from "./days";
import { isMatchingTime, nextTime, previousTime } from "./times";

/** The epoch day of a local second. The half second moves the product away from whole numbers, because the inverse
 *  is rounded, and the product could otherwise lie on the wrong side of a whole number. */
// @ts-ignore: decorator
@inline
export function dayOf(local: f64): i32 {
  return <i32>floor((local + 0.5) * (1 / SECONDS_PER_DAY));
}

/** The first match at or after `local`; Infinity when there is none up to the end of 9999. */
export function nextLocal(spec: usize, local: f64): f64 {
  if (!(local <= LOCAL_LAST)) return Infinity;
  if (local < 0) local = 0;
  if (flagsOf(spec) & EVEN) {
    const phase = <f64>load<i32>(spec, FIRST_OF_DAY);
    const step = load<f64>(spec, STEP_MS) / 1000;
    const found = floor((local - phase + step - 0.5) * (load<f64>(spec, STEP_INVERSE) * 1000)) * step + phase;
    return found <= LOCAL_LAST ? found : Infinity;
  }
  const day = dayOf(local);
  const second = <i32>(local - <f64>day * SECONDS_PER_DAY);
  const found = nextDay(spec, day + <i32>(second > load<i32>(spec, LAST_OF_DAY)));
  if (found == NO_DAY) return Infinity;
  const time: u32 = found > day ? load<u32>(spec, FIRST_OF_DAY) : nextTime(spec, second);
  return <f64>found * SECONDS_PER_DAY + <f64>time;
}

/** The last match at or before `local`; -Infinity when there is none since the start of 1970. */
export function previousLocal(spec: usize, local: f64): f64 {
  if (!(local >= 0)) return -Infinity;
  local = min(local, LOCAL_LAST);
  if (flagsOf(spec) & EVEN) {
    const step = load<f64>(spec, STEP_MS) / 1000;
    const phase = <f64>load<i32>(spec, FIRST_OF_DAY);
    const found = floor((local - phase + 0.5) * (load<f64>(spec, STEP_INVERSE) * 1000)) * step + phase;
    return found >= 0 ? found : -Infinity;
  }
  const day = dayOf(local);
  const second = <i32>(local - <f64>day * SECONDS_PER_DAY);
  const found = previousDay(spec, day - <i32>(second < load<i32>(spec, FIRST_OF_DAY)));
  if (found == NO_DAY) return -Infinity;
  const time = found < day ? load<i32>(spec, LAST_OF_DAY) : previousTime(spec, second);
  return <f64>found * SECONDS_PER_DAY + <f64>time;
}

export function isMatchingLocal(spec: usize, local: f64): bool {
  if (!(local >= 0 && local <= LOCAL_LAST)) return false;
  const day = dayOf(local);
  return isMatchingTime(spec, <i32>(local - <f64>day * SECONDS_PER_DAY)) && isMatchingDay(spec, day);
}
