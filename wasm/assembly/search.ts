// Next, previous and matches by search: the zone and the DST policies turn local matches into instants.
//
// Within a stretch of constant offset, local = instant + offset, so one local search finds the matches of the stretch.
// The policies change only the edges of a stretch. Where clocks go back by d seconds, the wall-clock times of the last
// d seconds before the transition come again in the first d seconds after it. The policy "first" leaves out the matches
// after the transition, and "second" leaves out those before it. Where clocks go forward by d seconds, d seconds of
// wall-clock time are missing. The policy "shift" fires their matches in the first d seconds after the transition,
// among the regular matches; "advance" fires at the transition if there are any. Two matches that land on one instant
// fire once, because a search looks for the nearest instant, not for each wall-clock time.
//
// This way always works, stretch by stretch. It is rarely needed, because window.ts answers most questions.
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

/** Answers that are no instants. NaN means that nothing fires any more. These two mean that the zone's table ends. */
const BEYOND_HI: f64 = Infinity;
const BEYOND_LO: f64 = -Infinity;

/** No clock was ever put back or forward by more than a day. */
const SHIFT_MAX: f64 = 2 * 86400;
/** Offsets lie between -12 and +14 hours (in theory, between -24 and +24). This is twice as much, and a clock change
 *  more. */
const FAR: f64 = 4 * 86400;
/** A search may go on this far before a distant match, because nothing in between matches, whatever the offset
 *  there. */
const MARGIN: f64 = 3 * 86400;

// The stretch under search: regular matches lie in [plainLo, plainHi).
let plainLo: f64 = 0;
let plainHi: f64 = 0;

/** The last fire time before an instant, both in milliseconds. NaN when nothing fired before; an infinity when the
 *  zone's table ends before the search does. */
export function previousBefore(spec: usize, beforeMs: f64): f64 {
  const instant = floor((ceil(beforeMs) - 0.5) * 0.001);
  if (instant >= load<f64>(spec, SEGMENT_LO) && instant < load<f64>(spec, SEGMENT_HI)) {
    const offset = load<f64>(spec, SEGMENT_OFFSET);
    const found = previousLocal(spec, instant + offset) - offset;
    if (found >= load<f64>(spec, SEGMENT_LO)) return found * 1000;
  }
  return previousInstant(spec, instant) * 1000;
}

/** The first matching instant at or after `instant`, in seconds. The search is bounded, because every round moves on
 *  to the next stretch, or close to the next local match. */
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
    // No local match is left. A wall-clock time from before `instant` can come again, but only at a clock change
    // nearby.
    if (local == Infinity && !isNearEnd) return NaN;
    if (!isNearEnd && regular - nextStart > FAR && regular < Infinity) instant = regular - MARGIN;
    else instant = min(nextStart, load<f64>(zone, COVER_HI));
  }
  return NaN;
}

/** The last matching instant at or before `instant`, in seconds. Bounded like nextInstant. */
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

// Finds the stretch, sets its plain bounds, and remembers in the spec the part of the stretch that no policy changes.
// Whether the clocks went forward or back is selected, not branched on, because no branch predictor can know it at
// random instants.
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

// The first instant at or after `instant` at which a match in the gap before this stretch fires.
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
