// Next, previous and matches: local matches put on the time line by the zone and the DST policies.
//
// Within a stretch, local = instant + offset, so the matches of a stretch are those of one local search. Policies touch
// only the edges of a stretch. Where clocks go back by d, the wall-clock times of the last d seconds before the
// transition come again in the first d seconds after it: "first" takes away the latter, "second" the former. Where
// clocks go forward by d, d seconds of wall-clock time are missing: "shift" fires their matches in the first d seconds
// after the transition, among the regular matches; "advance" fires at the transition if there are any. Two that land on
// one instant are one, since a search looks for the nearest instant and not for each wall-clock time.
import {
  BITMAP_DAYS,
  COVER_HI,
  COVER_LO,
  DAYS_EVERY,
  DAYS_GENERAL,
  DAYS_MASK,
  DAY_BITS,
  DAY_MS,
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
  MINUTE_MS,
  OVERLAP_FIRST,
  OVERLAP_MASK,
  OVERLAP_SECOND,
  PAUSE_HI,
  PAUSE_LO,
  RECORD_BASE,
  RECORD_DAY,
  RECORD_HI,
  RECORD_LO,
  SEGMENT_HI,
  SEGMENT_LO,
  SEGMENT_OFFSET,
  STEP_INVERSE,
  STEP_MS,
  WEEK_MASK,
  WHOLE_MINUTES,
  WINDOW_BASE,
  WINDOW_DAY,
  WINDOW_HI,
  WINDOW_LO,
  ZONE,
} from "./layout";
import { bitmapNext } from "./bitmap";
import { weekdayOf } from "./calendar";
import { countStep, flagsOf } from "./days";
import { isMatchingLocal, nextLocal, previousLocal } from "./local";
import { nextMinute } from "./times";
import { locate, nextDelta, nextStart, windowNear, stretchDelta, stretchOffset, stretchStart, wholeOf } from "./zone";

/** Answers besides instants: NaN is exhausted, these are beyond the table of the zone. */
export const BEYOND_HI: f64 = Infinity;
export const BEYOND_LO: f64 = -Infinity;

/** No clock was ever put back or forward by more than a day. */
const SHIFT_MAX: f64 = 2 * 86400;
/** Offsets lie between -12 and +14 hours (and -24 to +24 in theory); twice that, and a clock change on top. */
const FAR: f64 = 4 * 86400;
/** Where a search resumes before a far match: everything between cannot match, whatever its offset. */
const MARGIN: f64 = 3 * 86400;

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
  const flags = flagsOf(spec);
  let base = load<f64>(spec, WINDOW_BASE);
  let hi = load<f64>(spec, WINDOW_HI);
  let windowDay = load<i32>(spec, WINDOW_DAY);
  // Pauses are of no use where windows change with every instant, nor to specs that fire on every day.
  let hasPauses = (flags & DAYS_MASK) != DAYS_EVERY;
  // At random instants each comparison is a coin's toss and both together are not: one branch for the two.
  if (<i32>(at >= load<f64>(spec, WINDOW_LO)) & <i32>(at < hi)) {
    if (hasPauses && isPaused(spec, at)) return load<f64>(spec, PAUSE_HI);
  } else {
    hasPauses = false;
    const record = windowNear(load<usize>(spec, ZONE), at);
    const lo = load<f64>(record, RECORD_LO);
    hi = load<f64>(record, RECORD_HI);
    if (!(<i32>(at >= lo) & <i32>(at < hi))) return NaN;
    base = load<f64>(record, RECORD_BASE);
    windowDay = load<i32>(record, RECORD_DAY);
    if (flags & EVEN) base += <f64>load<i32>(spec, FIRST_OF_DAY) * 1000;
    else store<i32>(spec, windowDay, WINDOW_DAY);
    store<f64>(spec, base, WINDOW_BASE);
    store<f64>(spec, lo, WINDOW_LO);
    store<f64>(spec, hi, WINDOW_HI);
  }
  const since = at - base;
  if (flags & EVEN) {
    const step = load<f64>(spec, STEP_MS);
    // The half keeps the product clear of whole numbers, so that multiplying by the rounded inverse never lands on the
    // wrong side of one.
    const found = base + (floor((since + 0.5) * load<f64>(spec, STEP_INVERSE)) + 1) * step;
    return found < hi ? found : NaN;
  }
  if (!(flags & WHOLE_MINUTES)) return NaN;
  // Whole minutes, rounded down: to the nearest, less a half.
  const minutes = <u32>wholeOf((since - (MINUTE_MS - 1) / 2) * (1 / MINUTE_MS));
  const days = minutes / 1440;
  const minute = minutes - days * 1440 + 1;
  const day = windowDay + <i32>days;
  const from = day + <i32>(minute > <u32>load<u16>(spec, LAST_MINUTE));
  let found = from;
  if ((flags & DAYS_MASK) >= DAYS_GENERAL) {
    const bitmap = load<usize>(spec, DAY_BITS);
    if (bitmap == 0 || from >= BITMAP_DAYS) return NaN;
    found = bitmapNext(bitmap, from);
    if (found == BITMAP_DAYS) return NaN;
  } else if ((flags & DAYS_MASK) != DAYS_EVERY) {
    found = from + <i32>ctz(load<u32>(spec, WEEK_MASK) >> weekdayOf(from));
  }
  const time = select<u32>(<u32>load<u16>(spec, FIRST_MINUTE), nextMinute(spec, minute), found > day);
  let foundMs = base + <f64>(<u32>(found - windowDay) * 1440 + time) * MINUTE_MS;
  if (foundMs >= hi) {
    // Found by the offset of here, it is the answer where it lies in a window of its own: no wall-clock time between is a
    // match, and none that comes twice lies before the end of this window. Local midnight less instant is the offset.
    const record = windowNear(load<usize>(spec, ZONE), foundMs);
    const there = load<f64>(record, RECORD_BASE);
    foundMs += (<f64>windowDay * DAY_MS - base) - (<f64>load<i32>(record, RECORD_DAY) * DAY_MS - there);
    if (!(<i32>(foundMs >= load<f64>(record, RECORD_LO)) & <i32>(foundMs < load<f64>(record, RECORD_HI)))) return NaN;
  }
  if (hasPauses) {
    // Remembered where it lies on a later day, by a selection: at random instants that is a coin's toss, too.
    const isLater = found > day;
    store<i64>(spec, select(reinterpret<i64>(at), load<i64>(spec, PAUSE_LO), isLater), PAUSE_LO);
    store<i64>(spec, select(reinterpret<i64>(foundMs), load<i64>(spec, PAUSE_HI), isLater), PAUSE_HI);
  }
  return foundMs;
}

// @ts-ignore: decorator
@inline
function isPaused(spec: usize, at: f64): bool {
  return <bool>(<i32>(at < load<f64>(spec, PAUSE_HI)) & <i32>(at >= load<f64>(spec, PAUSE_LO)));
}

/** nextAfter where nextInWindow does not know: clocks change, tables or time end, specs have seconds, day bitmaps are
 *  not yet built. */
export function nextAnywhere(spec: usize, afterMs: f64): f64 {
  const at = floor(afterMs);
  if (isPaused(spec, at)) return load<f64>(spec, PAUSE_HI);
  const instant = floor((at + 0.5) * 0.001) + 1;
  const hi = load<f64>(spec, WINDOW_HI);
  let found = hi;
  if (!(flagsOf(spec) & EVEN) && at >= load<f64>(spec, WINDOW_LO) && at < hi) {
    const offset = (<f64>load<i32>(spec, WINDOW_DAY) * DAY_MS - load<f64>(spec, WINDOW_BASE)) / 1000;
    found = (nextLocal(spec, instant + offset) - offset) * 1000;
    // No wall-clock time comes again that was before this window.
    if (found == Infinity) return NaN;
  }
  if (found >= hi) found = nextInstant(spec, instant) * 1000;
  if (found < Infinity) {
    store<f64>(spec, at, PAUSE_LO);
    store<f64>(spec, found, PAUSE_HI);
  }
  return found;
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
export function previousInstant(spec: usize, instant: f64): f64 {
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
