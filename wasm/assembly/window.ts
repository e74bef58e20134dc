// The next fire time within a window. A window is the part of a stretch of constant offset in which no DST policy has
// any effect; the zone's table holds the windows ready. Within a window a search is arithmetic on minutes. All other
// cases are left to search.ts.
import {
  BITMAP_DAYS,
  DAYS_EVERY,
  DAYS_GENERAL,
  DAYS_MASK,
  DAY_BITS,
  EVEN,
  FIRST_MINUTE,
  FIRST_OF_DAY,
  LAST_MINUTE,
  MIDNIGHT,
  MIDNIGHT_DAY,
  MINUTE_MS,
  ONE_SECOND,
  PAUSE_LO,
  PAUSE_SPAN,
  RECORD_DAY,
  RECORD_LO,
  RECORD_MIDNIGHT,
  RECORD_SPAN,
  ROUNDING,
  SHIFT_MS,
  STEP_INVERSE,
  STEP_MS,
  WEEK_MASK,
  WINDOW_BASE,
  WINDOW_HI,
  WINDOW_LO,
  WINDOW_SPAN,
  ZONE,
} from "./layout";
import { bitmapNext } from "./bitmap";
import { weekdayOf } from "./calendar";
import { flagsOf } from "./days";
import { nextLocal } from "./local";
import { nextInstant } from "./search";
import { nextMinute } from "./times";
import { isInWindow, windowNear } from "./zone";

/** The high half of what minuteBits returns for a minute from 1970 to 9999. */
const MINUTE_HEAD: u32 = 0x43380000;

/** The first fire time after an instant, both in milliseconds. NaN when nothing fires any more; an infinity when the
 *  zone's table ends before the search does. */
// @ts-ignore: decorator
@inline
export function nextAfter(spec: usize, afterMs: f64): f64 {
  const found = nextInWindow(spec, afterMs);
  return isNaN(found) ? nextAnywhere(spec, afterMs) : found;
}

/** The answer of nextAfter, or NaN where this function does not know it: near clock changes, and where a day bitmap
 *  is not yet built. It calls no function that is not inlined, because a call within a loop would move all variables
 *  of the loop to the stack. */
// @ts-ignore: decorator
@inline
export function nextInWindow(spec: usize, afterMs: f64): f64 {
  const at = floor(afterMs);
  const bits = minuteBits(spec, at);
  if (<u32>(bits >> 32) != MINUTE_HEAD) return NaN;
  const minute = <u32>bits;
  const flags = flagsOf(spec);
  let midnight = load<u32>(spec, MIDNIGHT);
  let midnightDay = load<i32>(spec, MIDNIGHT_DAY);
  // A pause saves nothing for a spec that fires on every day, nor when the window has just changed.
  let hasPauses = (flags & DAYS_MASK) != DAYS_EVERY;
  if (minute - load<u32>(spec, WINDOW_LO) < load<u32>(spec, WINDOW_SPAN)) {
    if (hasPauses && isPaused(spec, minute)) {
      return timeOf(spec, load<u32>(spec, PAUSE_LO) + load<u32>(spec, PAUSE_SPAN));
    }
  } else {
    const record = windowNear(load<usize>(spec, ZONE), minute);
    if (!isInWindow(record, minute)) return NaN;
    hasPauses = false;
    // WINDOW_LO and WINDOW_SPAN are copied at once, because they lie side by side.
    store<u64>(spec, load<u64>(record, RECORD_LO), WINDOW_LO);
    midnight = load<u32>(record, RECORD_MIDNIGHT);
    if (flags & EVEN) {
      // Signed, because a local midnight can lie before 1970 in UTC.
      const phaseMs = <f64>load<i32>(spec, FIRST_OF_DAY) * 1000;
      store<f64>(spec, <f64>(<i32>midnight) * MINUTE_MS + phaseMs, WINDOW_BASE);
      store<f64>(spec, <f64>(load<u32>(record, RECORD_LO) + load<u32>(record, RECORD_SPAN)) * MINUTE_MS, WINDOW_HI);
    } else {
      midnightDay = load<i32>(record, RECORD_DAY);
      store<u64>(spec, load<u64>(record, RECORD_MIDNIGHT), MIDNIGHT);
    }
  }
  if (flags & EVEN) {
    const base = load<f64>(spec, WINDOW_BASE);
    // The half moves the product away from whole numbers, because the inverse is rounded, and the product could
    // otherwise lie on the wrong side of a whole number.
    const found = base + (floor((at - base + 0.5) * load<f64>(spec, STEP_INVERSE)) + 1) * load<f64>(spec, STEP_MS);
    return found < load<f64>(spec, WINDOW_HI) ? found : NaN;
  }
  if (!(flags & ONE_SECOND)) return NaN;
  const since = minute - midnight;
  const days = since / 1440;
  const minuteOfDay = since - days * 1440 + 1;
  const day = midnightDay + <i32>days;
  const from = day + <i32>(minuteOfDay > <u32>load<u16>(spec, LAST_MINUTE));
  let found = from;
  if ((flags & DAYS_MASK) >= DAYS_GENERAL) {
    const bitmap = load<usize>(spec, DAY_BITS);
    if (bitmap == 0 || from >= BITMAP_DAYS) return NaN;
    found = bitmapNext(bitmap, from);
    if (found == BITMAP_DAYS) return NaN;
  } else if ((flags & DAYS_MASK) != DAYS_EVERY) {
    found = from + <i32>ctz(load<u32>(spec, WEEK_MASK) >> weekdayOf(from));
  }
  const time = select<u32>(<u32>load<u16>(spec, FIRST_MINUTE), nextMinute(spec, minuteOfDay), found > day);
  let foundMinute = midnight + <u32>(found - midnightDay) * 1440 + time;
  if (foundMinute - load<u32>(spec, WINDOW_LO) >= load<u32>(spec, WINDOW_SPAN)) {
    // The time was found with the offset of this window, but it lies in another one, whose offset may differ. It is
    // still the answer when it lies within a window after it is moved by the difference of the offsets: no wall-clock
    // time in between matches, and no wall-clock time of this window comes again. An offset is a local midnight (in
    // UTC) minus the instant of that midnight.
    const record = windowNear(load<usize>(spec, ZONE), foundMinute);
    const here = <u32>midnightDay * 1440 - midnight;
    const there = load<u32>(record, RECORD_DAY) * 1440 - load<u32>(record, RECORD_MIDNIGHT);
    foundMinute += here - there;
    if (!isInWindow(record, foundMinute)) return NaN;
  }
  if (hasPauses) {
    // The pause is remembered only when the answer lies on a later day. It is selected, not branched on, because at
    // random instants no branch predictor can know which case comes next.
    const isLater = found > day;
    store<u32>(spec, select(minute, load<u32>(spec, PAUSE_LO), isLater), PAUSE_LO);
    store<u32>(spec, select(foundMinute - minute, load<u32>(spec, PAUSE_SPAN), isLater), PAUSE_SPAN);
  }
  return timeOf(spec, foundMinute);
}

// The minute of an instant, in the low half of the result. Adding 1.5 * 2^52 to a number rounds it, and leaves the
// whole number in the last bits of the mantissa. The high half of the result is MINUTE_HEAD for all minutes from 1970
// to 9999 and for nothing else, so one comparison checks the range. A conversion to an integer would be slower, because
// it checks its range itself.
// @ts-ignore: decorator
@inline
function minuteBits(spec: usize, at: f64): i64 {
  return reinterpret<i64>((at - load<f64>(spec, ROUNDING)) * (1 / MINUTE_MS) + 6755399441055744);
}

// @ts-ignore: decorator
@inline
function isPaused(spec: usize, minute: u32): bool {
  return minute - load<u32>(spec, PAUSE_LO) < load<u32>(spec, PAUSE_SPAN);
}

// @ts-ignore: decorator
@inline
function timeOf(spec: usize, minute: u32): f64 {
  return <f64>minute * MINUTE_MS + load<f64>(spec, SHIFT_MS);
}

/** The answer of nextAfter for all cases that nextInWindow does not know: a clock change is near, the table or time
 *  ends, the spec has several seconds, or its day bitmap is not yet built. */
export function nextAnywhere(spec: usize, afterMs: f64): f64 {
  const at = floor(afterMs);
  const instant = floor((at + 0.5) * 0.001) + 1;
  if (!(flagsOf(spec) & EVEN) && isInWindowOf(spec, minuteBits(spec, at))) {
    const offset = <f64>(load<i32>(spec, MIDNIGHT_DAY) * 1440 - load<i32>(spec, MIDNIGHT)) * 60;
    const found = (nextLocal(spec, instant + offset) - offset) * 1000;
    // Nothing fires later either, because no wall-clock time from before this window comes again.
    if (found == Infinity) return NaN;
    if (isInWindowOf(spec, minuteBits(spec, found))) return found;
  }
  return nextInstant(spec, instant) * 1000;
}

// @ts-ignore: decorator
@inline
function isInWindowOf(spec: usize, bits: i64): bool {
  if (<u32>(bits >> 32) != MINUTE_HEAD) return false;
  return <u32>bits - load<u32>(spec, WINDOW_LO) < load<u32>(spec, WINDOW_SPAN);
}
