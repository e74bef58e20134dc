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
  FLAGS,
  GAP_ADVANCE,
  GAP_MASK,
  GAP_SHIFT,
  GAP_SKIP,
  INSTANT_FIRST,
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
import { dayOf, isMatchingLocal, nextLocal, previousLocal } from "./local";
import { nextTime } from "./times";
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

// The stretch under search: regular matches lie in [plainLo, plainHi).
let plainLo: f64 = 0;
let plainHi: f64 = 0;

/** The first fire time after an instant (both in milliseconds); NaN when exhausted, or beyond the table. */
// @ts-ignore: decorator
@inline
export function nextAfter(spec: usize, afterMs: f64): f64 {
  const base = load<f64>(spec, WINDOW_BASE);
  const since = afterMs - base;
  if (since >= 0 && since < load<f64>(spec, WINDOW_SPAN)) {
    const step = load<f64>(spec, STEP_MS);
    if (step == 0) return base + <f64>(nextTime(spec, <u32>since / 1000) * 1000 + 1000);
    // The product is rounded, so it can fall on the other side of a whole number: by one, and that shows.
    let found = base + (floor(since * load<f64>(spec, STEP_INVERSE)) + 1) * step;
    found = select(found + step, found, found <= afterMs);
    return select(found - step, found, found - step > afterMs);
  }
  const pauseHi = load<f64>(spec, PAUSE_HI);
  return afterMs < pauseHi && afterMs >= load<f64>(spec, PAUSE_LO) ? pauseHi : nextInSegment(spec, afterMs);
}

// The same without what was remembered; remembers a window or a pause for the next time.
function nextInSegment(spec: usize, afterMs: f64): f64 {
  const instant = floor((floor(afterMs) + 0.5) * 0.001) + 1;
  const segmentHi = load<f64>(spec, SEGMENT_HI);
  if (instant >= load<f64>(spec, SEGMENT_LO) && instant < segmentHi) {
    const offset = load<f64>(spec, SEGMENT_OFFSET);
    const local = instant + offset;
    const found = nextLocal(spec, local);
    if (found - offset < segmentHi) {
      if (load<f64>(spec, STEP_MS) != 0) openSegmentWindow(spec, offset);
      else if (!openDayWindow(spec, local, found, offset)) rememberPause(spec, afterMs, (found - offset) * 1000);
      return (found - offset) * 1000;
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

// Where the match is on the same day, and that lies in the segment as a whole.
function openDayWindow(spec: usize, local: f64, found: f64, offset: f64): bool {
  const start = <f64>dayOf(local) * SECONDS_PER_DAY - offset;
  if (found - offset >= start + SECONDS_PER_DAY) return false;
  if (start >= load<f64>(spec, SEGMENT_LO) && start + SECONDS_PER_DAY <= load<f64>(spec, SEGMENT_HI)) {
    store<f64>(spec, start * 1000 - 1000, WINDOW_BASE);
  }
  return true;
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
    if (stretchDelta > 0 && instant < stretchStart + stretchDelta) best = min(best, nextFromGap(spec, instant, gap));
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
  return <i32>(stretchDelta > 0 && instant < stretchStart + stretchDelta && nextFromGap(spec, instant, gap) == instant);
}

// Locates the stretch, sets its plain bounds, and remembers in the spec the part of it that no policy touches.
function enterStretch(spec: usize, zone: usize, instant: f64, gap: u32): void {
  countStep();
  locate(zone, instant);
  const overlap = load<u32>(spec, FLAGS) & OVERLAP_MASK;
  plainLo = stretchStart;
  plainHi = nextStart;
  if (stretchDelta < 0 && overlap == OVERLAP_FIRST) plainLo -= stretchDelta;
  if (nextDelta < 0 && overlap == OVERLAP_SECOND) plainHi += nextDelta;
  plainLo = max(plainLo, max(load<f64>(zone, COVER_LO), INSTANT_FIRST));
  plainHi = min(plainHi, min(load<f64>(zone, COVER_HI), LOCAL_LAST + 1));
  store<f64>(spec, stretchDelta > 0 && gap != GAP_SKIP ? max(plainLo, stretchStart + stretchDelta) : plainLo, SEGMENT_LO);
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
