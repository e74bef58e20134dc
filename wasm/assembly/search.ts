// Next, previous and matches: local matches put on the time line by the zone and the DST policies.
//
// Within a stretch, local = instant + offset, so the matches of a stretch are those of one local search. Policies touch
// only the edges of a stretch. Where clocks go back by d, the wall-clock times of the last d seconds before the
// transition come again in the first d seconds after it: "first" takes away the latter, "second" the former. Where
// clocks go forward by d, d seconds of wall-clock time are missing: "shift" fires their matches in the first d seconds
// after the transition, among the regular matches; "advance" fires at the transition if there are any. Two that land on
// one instant are one, since a search looks for the nearest instant and not for each wall-clock time.
//
// Nearly always no edge is near: then the answer is found within the window that the zone's table holds ready for the
// stretch, whatever the policies (nextInWindow). All else is searched stretch by stretch (nextInstant).
import {
  BITMAP_DAYS,
  COVER_HI,
  COVER_LO,
  DAYS_EVERY,
  DAYS_GENERAL,
  DAYS_MASK,
  DAY_BITS,
  EVEN,
  FIRST_MINUTE,
  FIRST_OF_DAY,
  GAP_ADVANCE,
  GAP_MASK,
  GAP_SHIFT,
  GAP_SKIP,
  INSTANT_FIRST,
  LAST_MINUTE,
  LOCAL_LAST,
  MIDNIGHT,
  MIDNIGHT_DAY,
  MINUTE_MS,
  ONE_SECOND,
  OVERLAP_FIRST,
  OVERLAP_MASK,
  OVERLAP_SECOND,
  PAUSE_LO,
  PAUSE_SPAN,
  RECORD_DAY,
  RECORD_LO,
  RECORD_MIDNIGHT,
  RECORD_SPAN,
  ROUNDING,
  SEGMENT_HI,
  SEGMENT_LO,
  SEGMENT_OFFSET,
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
import { countStep, flagsOf } from "./days";
import { isMatchingLocal, nextLocal, previousLocal } from "./local";
import { nextMinute } from "./times";
import {
  isInWindow,
  locate,
  nextDelta,
  nextStart,
  stretchDelta,
  stretchOffset,
  stretchStart,
  windowNear,
} from "./zone";

/** Answers besides instants: NaN is exhausted, these are beyond the table of the zone. */
const BEYOND_HI: f64 = Infinity;
const BEYOND_LO: f64 = -Infinity;

/** No clock was ever put back or forward by more than a day. */
const SHIFT_MAX: f64 = 2 * 86400;
/** Offsets lie between -12 and +14 hours (and -24 to +24 in theory); twice that, and a clock change on top. */
const FAR: f64 = 4 * 86400;
/** Where a search resumes before a far match: everything between cannot match, whatever its offset. */
const MARGIN: f64 = 3 * 86400;

/** See minuteBits. */
const MINUTE_HEAD: u32 = 0x43380000;

// The stretch under search: regular matches lie in [plainLo, plainHi).
let plainLo: f64 = 0;
let plainHi: f64 = 0;

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

/** The last fire time before an instant (both in milliseconds); NaN when exhausted, or beyond the table. */
export function previousBefore(spec: usize, beforeMs: f64): f64 {
  const instant = floor((ceil(beforeMs) - 0.5) * 0.001);
  if (instant >= load<f64>(spec, SEGMENT_LO) && instant < load<f64>(spec, SEGMENT_HI)) {
    const offset = load<f64>(spec, SEGMENT_OFFSET);
    const found = previousLocal(spec, instant + offset) - offset;
    if (found >= load<f64>(spec, SEGMENT_LO)) return found * 1000;
  }
  return previousInstant(spec, instant) * 1000;
}

/** The first matching instant at or after one, in seconds. Bounded: every round moves on to the next stretch, or to
 *  the neighbourhood of the next local match. */
export function nextInstant(spec: usize, instant: f64): f64 {
  if (isNaN(instant)) return NaN;
  const zone = load<usize>(spec, ZONE);
  const gap = flagsOf(spec) & GAP_MASK;
  instant = max(instant, INSTANT_FIRST);
  while (instant <= LOCAL_LAST) {
    if (instant >= load<f64>(zone, COVER_HI)) return BEYOND_HI;
    if (instant < load<f64>(zone, COVER_LO)) return BEYOND_LO;
    enterStretch(spec, zone, instant, gap);
    const local = nextLocal(spec, max(instant, plainLo) + stretchOffset);
    const regular = local - stretchOffset;
    let best = regular < plainHi ? regular : Infinity;
    if (instant < stretchStart + stretchDelta) best = min(best, nextFromGap(spec, instant, gap));
    if (best < Infinity) return best;
    const isNearEnd = nextStart - instant <= SHIFT_MAX;
    // Only times of the wall clock that were before `instant` can come again, and only soon.
    if (local == Infinity && !isNearEnd) return NaN;
    if (!isNearEnd && regular - nextStart > FAR && regular < Infinity) instant = regular - MARGIN;
    else instant = min(nextStart, load<f64>(zone, COVER_HI));
  }
  return NaN;
}

/** The last matching instant at or before one, in seconds. Bounded like nextInstant. */
function previousInstant(spec: usize, instant: f64): f64 {
  if (isNaN(instant)) return NaN;
  const zone = load<usize>(spec, ZONE);
  const gap = flagsOf(spec) & GAP_MASK;
  instant = min(instant, LOCAL_LAST);
  while (instant >= INSTANT_FIRST) {
    if (instant >= load<f64>(zone, COVER_HI)) return BEYOND_HI;
    if (instant < load<f64>(zone, COVER_LO)) return BEYOND_LO;
    enterStretch(spec, zone, instant, gap);
    const local = previousLocal(spec, min(instant, plainHi - 1) + stretchOffset);
    const regular = local - stretchOffset;
    let best = regular >= plainLo ? regular : -Infinity;
    if (stretchDelta > 0) best = max(best, previousFromGap(spec, instant, gap));
    if (best > -Infinity) return best;
    const isNearStart = instant - stretchStart <= SHIFT_MAX;
    if (local == -Infinity && !isNearStart) return NaN;
    if (!isNearStart && stretchStart - regular > FAR && regular > -Infinity) instant = regular + MARGIN;
    else instant = max(stretchStart, load<f64>(zone, COVER_LO)) - 1;
  }
  return NaN;
}

/** 1 or 0, or 2 beyond the upper end of the table, 3 beyond the lower. */
export function matchesAt(spec: usize, ms: f64): i32 {
  const instant = ms / 1000;
  if (instant != floor(instant) || !(instant >= INSTANT_FIRST && instant <= LOCAL_LAST)) return 0;
  if (instant >= load<f64>(spec, SEGMENT_LO) && instant < load<f64>(spec, SEGMENT_HI)) {
    return <i32>isMatchingLocal(spec, instant + load<f64>(spec, SEGMENT_OFFSET));
  }
  const zone = load<usize>(spec, ZONE);
  if (instant >= load<f64>(zone, COVER_HI)) return 2;
  if (instant < load<f64>(zone, COVER_LO)) return 3;
  const gap = flagsOf(spec) & GAP_MASK;
  enterStretch(spec, zone, instant, gap);
  if (instant >= plainLo && instant < plainHi && isMatchingLocal(spec, instant + stretchOffset)) return 1;
  return <i32>(instant < stretchStart + stretchDelta && nextFromGap(spec, instant, gap) == instant);
}

// Locates the stretch, sets its plain bounds, and remembers in the spec the part of it that no policy touches. Which way
// the clocks went is a coin's toss at random instants, so it is selected, not branched on.
function enterStretch(spec: usize, zone: usize, instant: f64, gap: u32): void {
  countStep();
  locate(zone, instant);
  const overlap = flagsOf(spec) & OVERLAP_MASK;
  const coverLo = max(load<f64>(zone, COVER_LO), INSTANT_FIRST);
  plainLo = max(stretchStart - select<f64>(min(stretchDelta, 0), 0, overlap == OVERLAP_FIRST), coverLo);
  plainHi = nextStart + select<f64>(min(nextDelta, 0), 0, overlap == OVERLAP_SECOND);
  plainHi = min(plainHi, min(load<f64>(zone, COVER_HI), LOCAL_LAST + 1));
  store<f64>(spec, max(plainLo, stretchStart + select<f64>(0, max(stretchDelta, 0), gap == GAP_SKIP)), SEGMENT_LO);
  store<f64>(spec, plainHi, SEGMENT_HI);
  store<f64>(spec, stretchOffset, SEGMENT_OFFSET);
}

// The first instant at or after `instant` that a match in the gap before this stretch fires at.
function nextFromGap(spec: usize, instant: f64, gap: u32): f64 {
  const before = stretchOffset - stretchDelta;
  if (gap == GAP_SHIFT) {
    const found = nextLocal(spec, max(instant, stretchStart) + before) - before;
    return found < stretchStart + stretchDelta ? found : Infinity;
  }
  if (gap == GAP_ADVANCE && instant <= stretchStart && hasMatchInGap(spec)) return stretchStart;
  return Infinity;
}

function previousFromGap(spec: usize, instant: f64, gap: u32): f64 {
  const before = stretchOffset - stretchDelta;
  if (gap == GAP_SHIFT) {
    const found = previousLocal(spec, min(instant, stretchStart + stretchDelta - 1) + before) - before;
    return found >= stretchStart ? found : -Infinity;
  }
  if (gap == GAP_ADVANCE && hasMatchInGap(spec)) return stretchStart;
  return -Infinity;
}

// @ts-ignore: decorator
@inline
function hasMatchInGap(spec: usize): bool {
  return nextLocal(spec, stretchStart + stretchOffset - stretchDelta) < stretchStart + stretchOffset;
}
