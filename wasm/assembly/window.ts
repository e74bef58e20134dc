// The next fire time within a window: the part of a stretch that a zone's table holds ready, in which no DST policy has a
// say. There a search is arithmetic on minutes. Everything else is left to search.ts.
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

/** See minuteBits. */
const MINUTE_HEAD: u32 = 0x43380000;

/** The first fire time after an instant (both in milliseconds); NaN when exhausted, or beyond the table. */
// @ts-ignore: decorator
@inline
export function nextAfter(spec: usize, afterMs: f64): f64 {
  const found = nextInWindow(spec, afterMs);
  return isNaN(found) ? nextAnywhere(spec, afterMs) : found;
}

/** nextAfter where no clock change is near, all that it takes to answer is at hand, and nothing must be called: within a
 *  loop a call would put all variables on the stack. NaN otherwise. */
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
  // Pauses are of no use where windows change with every instant, nor to specs that fire on every day.
  let hasPauses = (flags & DAYS_MASK) != DAYS_EVERY;
  if (minute - load<u32>(spec, WINDOW_LO) < load<u32>(spec, WINDOW_SPAN)) {
    if (hasPauses && isPaused(spec, minute)) return timeOf(spec, load<u32>(spec, PAUSE_LO) + load<u32>(spec, PAUSE_SPAN));
  } else {
    const record = windowNear(load<usize>(spec, ZONE), minute);
    if (!isInWindow(record, minute)) return NaN;
    hasPauses = false;
    // Two words at once.
    store<u64>(spec, load<u64>(record, RECORD_LO), WINDOW_LO);
    midnight = load<u32>(record, RECORD_MIDNIGHT);
    if (flags & EVEN) {
      // A midnight before 1970, in UTC, is negative.
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
    // The half keeps the product clear of whole numbers, so that multiplying by the rounded inverse never lands on the
    // wrong side of one.
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
    // Found by the offset of here, it is the answer where it lies in a window of its own: no wall-clock time between is a
    // match, and none that comes twice lies before the end of this window. Local midnight less instant is the offset.
    const record = windowNear(load<usize>(spec, ZONE), foundMinute);
    const here = <u32>midnightDay * 1440 - midnight;
    const there = load<u32>(record, RECORD_DAY) * 1440 - load<u32>(record, RECORD_MIDNIGHT);
    foundMinute += here - there;
    if (!isInWindow(record, foundMinute)) return NaN;
  }
  if (hasPauses) {
    // Remembered where it lies on a later day, by a selection: at random instants that is a coin's toss, too.
    const isLater = found > day;
    store<u32>(spec, select(minute, load<u32>(spec, PAUSE_LO), isLater), PAUSE_LO);
    store<u32>(spec, select(foundMinute - minute, load<u32>(spec, PAUSE_SPAN), isLater), PAUSE_SPAN);
  }
  return timeOf(spec, foundMinute);
}

// The minute of an instant as the low half of what adding 1.5 * 2^52 makes of it, which rounds and shifts the whole number
// to the end of the mantissa. The high half is MINUTE_HEAD for all minutes from 1970 to 9999, and for nothing else: a
// conversion would check its range more dearly.
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

/** nextAfter where nextInWindow does not know: clocks change, tables or time end, specs have several seconds, day bitmaps
 *  are not yet built. */
export function nextAnywhere(spec: usize, afterMs: f64): f64 {
  const at = floor(afterMs);
  const instant = floor((at + 0.5) * 0.001) + 1;
  if (!(flagsOf(spec) & EVEN) && isInWindowOf(spec, minuteBits(spec, at))) {
    const offset = <f64>(load<i32>(spec, MIDNIGHT_DAY) * 1440 - load<i32>(spec, MIDNIGHT)) * 60;
    const found = (nextLocal(spec, instant + offset) - offset) * 1000;
    // No wall-clock time comes again that was before this window.
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
