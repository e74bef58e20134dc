// Next, previous and matches: local matches put on the time line by the zone and the DST policies.
//
// Within a stretch, local = instant + offset, so the matches of a stretch are those of one local search. Policies touch
// only the edges of a stretch. Where clocks go back by d, the wall-clock times of the last d seconds before the
// transition come again in the first d seconds after it: "first" takes away the latter, "second" the former. Where
// clocks go forward by d, d seconds of wall-clock time are missing: "shift" fires their matches in the first d seconds
// after the transition, among the regular matches; "advance" fires at the transition if there are any. Two that land on
// one instant are one, since a search looks for the nearest instant and not for each wall-clock time.
import {
  COVER_HI,
  COVER_LO,
  DAYS_EVERY,
  DAYS_MASK,
  FLAGS,
  GAP_ADVANCE,
  GAP_MASK,
  GAP_SHIFT,
  GAP_SKIP,
  INSTANT_FIRST,
  LAST_OF_DAY,
  LOCAL_LAST,
  OVERLAP_FIRST,
  OVERLAP_MASK,
  OVERLAP_SECOND,
  PAUSE_HI,
  PAUSE_LO,
  SECONDS_PER_DAY,
  SEGMENT_HI,
  SEGMENT_LO,
  SEGMENT_OFFSET,
  STEP_INVERSE,
  STEP_MS,
  WINDOW_BASE,
  WINDOW_SPAN,
  ZONE,
} from "./layout";
import { countStep } from "./days";
import { dayOf, isMatchingLocal, nextListed, nextLocal, previousLocal } from "./local";
import { nextInDay } from "./times";
import { locate, nextDelta, nextStart, stretchDelta, stretchOffset, stretchStart } from "./zone";

/** Answers besides instants: NaN is exhausted, these are beyond the table of the zone. */
export const BEYOND_HI: f64 = Infinity;
export const BEYOND_LO: f64 = -Infinity;

/** No clock was ever put back or forward by more than a day. */
const SHIFT_MAX: f64 = 2 * 86400;
/** Offsets lie between -12 and +14 hours (and -24 to +24 in theory); twice that, and a clock change on top. */
const FAR: f64 = 4 * 86400;
/** Where a search resumes before a far match: everything between cannot match, whatever its offset. */
const MARGIN: f64 = 3 * 86400;

/** Days of a window on either side: in milliseconds all of it must fit 32 bits. */
const WINDOW_DAYS: f64 = 24;

// The stretch under search: regular matches lie in [plainLo, plainHi).
let plainLo: f64 = 0;
let plainHi: f64 = 0;

/** The first fire time after an instant (both in milliseconds); NaN when exhausted, or beyond the table. */
// @ts-ignore: decorator
@inline
export function nextAfter(spec: usize, afterMs: f64): f64 {
  const base = load<f64>(spec, WINDOW_BASE);
  const since = afterMs - base;
  // At random instants each comparison is a coin's toss and both together are not: one branch for the two.
  if (<i32>(since >= 0) & <i32>(since < load<f64>(spec, WINDOW_SPAN))) {
    const step = load<f64>(spec, STEP_MS);
    if (step == 0) {
      const second = <u32>since / 1000;
      const dayStart = second - (second % 86400);
      return base + 1000 + <f64>(dayStart + nextInDay(spec, second - dayStart)) * 1000;
    }
    // The product is rounded, so it can fall on the other side of a whole number: by one, and that shows.
    let found = base + (floor(since * load<f64>(spec, STEP_INVERSE)) + 1) * step;
    found = select(found + step, found, found <= afterMs);
    return select(found - step, found, found - step > afterMs);
  }
  const pauseHi = load<f64>(spec, PAUSE_HI);
  const isPaused = <i32>(afterMs < pauseHi) & <i32>(afterMs >= load<f64>(spec, PAUSE_LO));
  return isPaused ? pauseHi : nextInSegment(spec, afterMs);
}

// The same without what was remembered; remembers a window or a pause for the next time.
function nextInSegment(spec: usize, afterMs: f64): f64 {
  const instant = floor((floor(afterMs) + 0.5) * 0.001) + 1;
  const segmentHi = load<f64>(spec, SEGMENT_HI);
  if (<i32>(instant >= load<f64>(spec, SEGMENT_LO)) & <i32>(instant < segmentHi)) {
    const offset = load<f64>(spec, SEGMENT_OFFSET);
    const local = instant + offset;
    if (load<f64>(spec, STEP_MS) != 0) {
      openSegmentWindow(spec, offset);
      const found = nextLocal(spec, local) - offset;
      if (found < segmentHi) return found * 1000;
    } else if (local >= 0 && local <= LOCAL_LAST) {
      const day = dayOf(local);
      const found = nextListed(spec, local, day) - offset;
      if (found < segmentHi) {
        const dayStart = <f64>day * SECONDS_PER_DAY - offset;
        if (found >= dayStart + SECONDS_PER_DAY) {
          rememberPause(spec, afterMs, found * 1000);
        } else if (load<f64>(spec, WINDOW_BASE) == dayStart * 1000 - 1000) {
          openDayWindow(spec, dayStart);
        } else {
          store<f64>(spec, dayStart * 1000 - 1000, WINDOW_BASE);
          store<f64>(spec, 0, WINDOW_SPAN);
        }
        return found * 1000;
      }
    }
  }
  const found = nextInstant(spec, instant) * 1000;
  if (found < Infinity) rememberPause(spec, afterMs, found);
  return found;
}

// From the first to the last fire time of the segment.
function openSegmentWindow(spec: usize, offset: f64): void {
  const first = nextLocal(spec, load<f64>(spec, SEGMENT_LO) + offset);
  const last = previousLocal(spec, load<f64>(spec, SEGMENT_HI) - 1 + offset);
  store<f64>(spec, (first - offset) * 1000, WINDOW_BASE);
  store<f64>(spec, (last - first) * 1000, WINDOW_SPAN);
}

// The second time in a row that an answer lies on the day it was asked on, a window is opened: that day, and for specs of
// every day also the days around it, as far as the segment reaches and milliseconds fit 32 bits.
function openDayWindow(spec: usize, dayStart: f64): void {
  const before = floor((dayStart - load<f64>(spec, SEGMENT_LO)) / SECONDS_PER_DAY);
  const after = floor((load<f64>(spec, SEGMENT_HI) - dayStart) / SECONDS_PER_DAY) - 1;
  if (before < 0 || after < 0) return;
  let days: f64 = 0;
  if ((load<u32>(spec, FLAGS) & DAYS_MASK) == DAYS_EVERY) {
    const back = min(before, WINDOW_DAYS);
    days = back + min(after, WINDOW_DAYS);
    store<f64>(spec, (dayStart - back * SECONDS_PER_DAY) * 1000 - 1000, WINDOW_BASE);
  }
  store<f64>(spec, (days * SECONDS_PER_DAY + <f64>load<i32>(spec, LAST_OF_DAY) + 1) * 1000, WINDOW_SPAN);
}

// @ts-ignore: decorator
@inline
function rememberPause(spec: usize, afterMs: f64, foundMs: f64): void {
  if (foundMs == load<f64>(spec, PAUSE_HI)) afterMs = min(afterMs, load<f64>(spec, PAUSE_LO));
  store<f64>(spec, afterMs, PAUSE_LO);
  store<f64>(spec, foundMs, PAUSE_HI);
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
  const gap = load<u32>(spec, FLAGS) & GAP_MASK;
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
  const gap = load<u32>(spec, FLAGS) & GAP_MASK;
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
  const gap = load<u32>(spec, FLAGS) & GAP_MASK;
  enterStretch(spec, zone, instant, gap);
  if (instant >= plainLo && instant < plainHi && isMatchingLocal(spec, instant + stretchOffset)) return 1;
  return <i32>(instant < stretchStart + stretchDelta && nextFromGap(spec, instant, gap) == instant);
}

// Locates the stretch, sets its plain bounds, and remembers in the spec the part of it that no policy touches. Which way
// the clocks went is a coin's toss at random instants, so it is selected, not branched on.
function enterStretch(spec: usize, zone: usize, instant: f64, gap: u32): void {
  countStep();
  locate(zone, instant);
  const overlap = load<u32>(spec, FLAGS) & OVERLAP_MASK;
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
