// Next, previous and matches by search: local matches put on the time line by the zone and the DST policies.
//
// Within a stretch, local = instant + offset, so the matches of a stretch are those of one local search. Policies touch
// only the edges of a stretch. Where clocks go back by d, the wall-clock times of the last d seconds before the
// transition come again in the first d seconds after it: "first" takes away the latter, "second" the former. Where
// clocks go forward by d, d seconds of wall-clock time are missing: "shift" fires their matches in the first d seconds
// after the transition, among the regular matches; "advance" fires at the transition if there are any. Two that land on
// one instant are one, since a search looks for the nearest instant and not for each wall-clock time.
//
// This is the way that always works, stretch by stretch. Nearly always window.ts answers before it comes to that.
import {
  COVER_HI,
  COVER_LO,
  GAP_ADVANCE,
  GAP_MASK,
  GAP_SHIFT,
  GAP_SKIP,
  INSTANT_FIRST,
  LOCAL_LAST,
  OVERLAP_FIRST,
  OVERLAP_MASK,
  OVERLAP_SECOND,
  SEGMENT_HI,
  SEGMENT_LO,
  SEGMENT_OFFSET,
  ZONE,
} from "./layout";
import { flagsOf } from "./days";
import { isMatchingLocal, nextLocal, previousLocal } from "./local";
import { countStep } from "./years";
import { locate, nextDelta, nextStart, stretchDelta, stretchOffset, stretchStart } from "./zone";

/** Answers besides instants: NaN is exhausted, these are beyond the table of the zone. */
const BEYOND_HI: f64 = Infinity;
const BEYOND_LO: f64 = -Infinity;

/** No clock was ever put back or forward by more than a day. */
const SHIFT_MAX: f64 = 2 * 86400;
/** Offsets lie between -12 and +14 hours (and -24 to +24 in theory); twice that, and a clock change on top. */
const FAR: f64 = 4 * 86400;
/** Where a search resumes before a far match: everything between cannot match, whatever its offset. */
const MARGIN: f64 = 3 * 86400;

// The stretch under search: regular matches lie in [plainLo, plainHi).
let plainLo: f64 = 0;
let plainHi: f64 = 0;

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
