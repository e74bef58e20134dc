// What JavaScript calls. Numbers only: instants are epoch milliseconds, specs and zones are addresses.
import { BATCH_ITEMS, DAYS_GENERAL, DAYS_MASK, FLAGS, PART, PART_DAY_BITS } from "./layout";
import { buildBitmap } from "./bitmap";
import { steps } from "./days";
import { beyond, reached, walk } from "./expand";
import { acquire, INPUT, OUTPUT, release, SPECS, STAGING } from "./memory";
import { matchesAt, nextAfter, previousBefore } from "./search";
import { allocSpec, canEverMatch, freeSpec } from "./spec";

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

/** Next fire times of `count` pairs of a spec (slot buffer) and an instant (input buffer) into the output buffer. A
 *  stride of 0 takes the first of a buffer for all. Returns how many are done: fewer when the table of a zone must be
 *  extended first. */
export function nextMany(count: i32, specStride: usize, instantStride: usize): i32 {
  let specAt = SPECS;
  let instantAt = INPUT;
  for (let index = 0; index < count; index++) {
    const found = nextAfter(load<usize>(specAt), load<f64>(instantAt));
    if (abs(found) == Infinity) return index;
    store<f64>(OUTPUT + (<usize>index << 3), found);
    specAt += specStride;
    instantAt += instantStride;
  }
  return count;
}

/** Fire times in [fromMs, untilMs] into the output buffer, at most `limit`; see reachedMs and beyondTable. */
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

/** Builds the day bitmap of a spec at once rather than when its searches have paid for it; 0 when it needs none. */
export function buildDays(spec: usize): i32 {
  const part = load<usize>(spec, PART);
  if ((load<u32>(spec, FLAGS) & DAYS_MASK) != DAYS_GENERAL) return 0;
  return <i32>(load<usize>(part, PART_DAY_BITS) != 0 || buildBitmap(part) != 0);
}
