// The functions that JavaScript calls. They take and return numbers: instants are epoch milliseconds, specs and zones
// are addresses.
import { BATCH_ITEMS, DAYS_GENERAL, DAYS_MASK, DAY_BITS, PART, PART_DAY_BITS } from "./layout";
import { buildBitmap } from "./bitmap";
import { flagsOf } from "./days";
import { beyond, reached, walk } from "./expand";
import { acquire, INPUT, OUTPUT, release, SPECS, STAGING } from "./memory";
import { matchesAt, previousBefore } from "./search";
import { allocSpec, canEverMatch, freeSpec } from "./spec";
import { nextAfter, nextAnywhere, nextInWindow } from "./window";
import { steps } from "./years";

export { acquire, release };
export { allocSpec as alloc, freeSpec as free, canEverMatch, matchesAt as matches };

export function staging(): usize {
  return STAGING;
}
export function input(): usize {
  return INPUT;
}
export function output(): usize {
  return OUTPUT;
}
export function slots(): usize {
  return SPECS;
}
export function stepCount(): i32 {
  return steps;
}

export function next(spec: usize, afterMs: f64): f64 {
  return nextAfter(spec, afterMs);
}

export function previous(spec: usize, beforeMs: f64): f64 {
  return previousBefore(spec, beforeMs);
}

/** A batch is answered in blocks of this many items: first by nextInWindow alone, and then, if that left items of
 *  the block unanswered, by nextAnywhere. */
const BLOCK: i32 = 16;

/** Next fire times of `count` pairs of a spec (slot buffer) and an instant (input buffer) into the output buffer. The
 *  instants lie 8 bytes apart; a stride of 0 takes the first instant for all specs. Returns how many items are done:
 *  fewer than `count` when the table of a zone must be extended first. */
export function nextMany(count: i32, instantStride: usize): i32 {
  for (let start = 0; start < count; start += BLOCK) {
    const end = min(start + BLOCK, count);
    // NaN as soon as one of the answers is NaN.
    let sum: f64 = 0;
    for (let index = start; index < end; index++) {
      const found = nextInWindow(specAt(index), instantAt(index, instantStride));
      store<f64>(OUTPUT + (<usize>index << 3), found);
      sum += found;
    }
    if (!isNaN(sum)) continue;
    for (let index = start; index < end; index++) {
      const out = OUTPUT + (<usize>index << 3);
      if (!isNaN(load<f64>(out))) continue;
      const found = nextAnywhere(specAt(index), instantAt(index, instantStride));
      if (abs(found) == Infinity) return index;
      store<f64>(out, found);
    }
  }
  return count;
}

// @ts-ignore: decorator
@inline
function specAt(index: i32): usize {
  return load<usize>(SPECS + (<usize>index << 2));
}

// @ts-ignore: decorator
@inline
function instantAt(index: i32, stride: usize): f64 {
  return load<f64>(INPUT + <usize>index * stride);
}

/** Writes the fire times in [fromMs, untilMs] to the output buffer, at most `limit`. See reachedMs and beyondTable. */
export function expand(spec: usize, fromMs: f64, untilMs: f64, limit: f64): f64 {
  return walk(spec, ceil(fromMs / 1000), floor(untilMs / 1000), OUTPUT, min(limit, <f64>BATCH_ITEMS));
}

export function count(spec: usize, fromMs: f64, untilMs: f64): f64 {
  return walk(spec, ceil(fromMs / 1000), floor(untilMs / 1000), 0, Infinity);
}

/** Where the last expand or count got to. */
export function reachedMs(): f64 {
  return reached * 1000;
}

/** Whether the last expand or count stopped at the end of the zone's table: 1 above, -1 below. */
export function beyondTable(): i32 {
  return beyond;
}

/** Builds the day bitmap of a spec now, instead of after many searches. Returns 0 when the spec needs no bitmap. */
export function buildDays(spec: usize): i32 {
  const part = load<usize>(spec, PART);
  if ((flagsOf(spec) & DAYS_MASK) != DAYS_GENERAL) return 0;
  if (load<usize>(part, PART_DAY_BITS) == 0) buildBitmap(part);
  store<usize>(spec, load<usize>(part, PART_DAY_BITS), DAY_BITS);
  return <i32>(load<usize>(spec, DAY_BITS) != 0);
}
