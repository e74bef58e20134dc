// Writes or counts many fire times of one spec.
import {
  EVEN,
  LAST_OF_DAY,
  LOCAL_LAST,
  SECONDS_PER_DAY,
  SEGMENT_HI,
  SEGMENT_LO,
  SEGMENT_OFFSET,
  STEP_INVERSE,
  STEP_MS,
  TIMES_PER_HOUR,
} from "./layout";
import { countDays, flagsOf, isMatchingDay, NO_DAY, nextDay } from "./days";
import { dayOf, nextLocal } from "./local";
import { nextInstant } from "./search";
import { countTimesBefore, hoursOf, nextInHour, timesPerDay } from "./times";

/** The instant (seconds, exclusive) up to which the last walk got. */
export let reached: f64 = 0;
/** Whether the last walk stopped because the zone's table ends: 1 at its upper end, -1 at its lower end, else 0. */
export let beyond: i32 = 0;

/** Walks over the fire times in [from, until] (seconds), at most `limit` of them. Writes them to `out` as
 *  milliseconds, or only counts them when `out` is 0. Returns their number. */
export function walk(spec: usize, from: f64, until: f64, out: usize, limit: f64): f64 {
  let count: f64 = 0;
  beyond = 0;
  until = min(until, LOCAL_LAST);
  while (count < limit && from <= until) {
    const segmentHi = load<f64>(spec, SEGMENT_HI);
    if (from >= load<f64>(spec, SEGMENT_LO) && from < segmentHi) {
      const offset = load<f64>(spec, SEGMENT_OFFSET);
      const last = min(until, segmentHi - 1);
      if (out == 0) {
        count += countLocal(spec, from + offset, last + offset);
      } else {
        count += <f64>fill(spec, from + offset, last + offset, offset, out + (<usize>count << 3), <i32>(limit - count));
      }
      if (count >= limit) {
        // The limit ended the walk, so it goes on behind the last fire time.
        from = load<f64>(out + (<usize>count << 3) - 8) / 1000 + 1;
        break;
      }
      from = last + 1;
      if (from > until) break;
    }
    const found = nextInstant(spec, from);
    if (!isFinite(found)) {
      beyond = found > 0 ? 1 : found < 0 ? -1 : 0;
      if (beyond == 0) from = Infinity;
      break;
    }
    from = found + 1;
    if (found > until) break;
    if (out != 0) store<f64>(out + (<usize>count << 3), found * 1000);
    count++;
  }
  reached = from;
  return count;
}

function countLocal(spec: usize, from: f64, to: f64): f64 {
  from = max(from, 0);
  to = min(to, LOCAL_LAST);
  if (from > to) return 0;
  if (flagsOf(spec) & EVEN) return countEven(spec, nextLocal(spec, from), to);
  const firstDay = dayOf(from);
  const lastDay = dayOf(to);
  // The fire times of whole days, minus those before `from` on the first day and those after `to` on the last.
  let count = <f64>countDays(spec, firstDay, lastDay) * <f64>timesPerDay(spec);
  if (isMatchingDay(spec, firstDay)) {
    count -= <f64>countTimesBefore(spec, <i32>(from - <f64>firstDay * SECONDS_PER_DAY));
  }
  if (isMatchingDay(spec, lastDay)) {
    const end = <i32>(to - <f64>lastDay * SECONDS_PER_DAY) + 1;
    count -= <f64>(timesPerDay(spec) - countTimesBefore(spec, end));
  }
  return count;
}

// The number of fire times from `first`, which is a fire time, to `to`.
function countEven(spec: usize, first: f64, to: f64): f64 {
  return first <= to ? floor((to - first + 0.5) * (load<f64>(spec, STEP_INVERSE) * 1000)) + 1 : 0;
}

// Writes the matches in [from, to], which are local seconds within one stretch.
function fill(spec: usize, from: f64, to: f64, offset: f64, out: usize, limit: i32): i32 {
  if (!(flagsOf(spec) & EVEN)) return fillDays(spec, max(from, 0), min(to, LOCAL_LAST), offset, out, limit);
  const first = nextLocal(spec, from);
  const count = <i32>min(<f64>limit, countEven(spec, first, to));
  fillEvenly((first - offset) * 1000, load<f64>(spec, STEP_MS), out, count);
  return count;
}

// Writes start, start + step, ... Each round writes four pairs, so that the processor can overlap the additions.
function fillEvenly(start: f64, step: f64, out: usize, count: i32): void {
  let a = f64x2.replace_lane(f64x2.splat(start), 1, start + step);
  const two = f64x2.splat(2 * step);
  let b = f64x2.add(a, two);
  let c = f64x2.add(b, two);
  let d = f64x2.add(c, two);
  const eight = f64x2.splat(8 * step);
  const end = out + (<usize>count << 3);
  while (out + 64 <= end) {
    v128.store(out, a);
    v128.store(out, b, 16);
    v128.store(out, c, 32);
    v128.store(out, d, 48);
    a = f64x2.add(a, eight);
    b = f64x2.add(b, eight);
    c = f64x2.add(c, eight);
    d = f64x2.add(d, eight);
    out += 64;
  }
  let value = f64x2.extract_lane(a, 0);
  for (; out < end; out += 8) {
    store<f64>(out, value);
    value += step;
  }
}

function fillDays(spec: usize, from: f64, to: f64, offset: f64, out: usize, limit: i32): i32 {
  if (!(from <= to)) return 0;
  const startDay = dayOf(from);
  const endDay = dayOf(to);
  const lastOfDay = load<i32>(spec, LAST_OF_DAY);
  const end = out + (<usize>limit << 3);
  let at = out;
  let second = <i32>(from - <f64>startDay * SECONDS_PER_DAY);
  let day = startDay;
  // Where the first whole hour of this run was written: the later hours are copies of that hour, moved in time.
  let pattern: usize = 0;
  let patternMs: f64 = 0;
  const hourBytes = <usize>load<u16>(spec, TIMES_PER_HOUR) << 3;
  while (true) {
    if (second > lastOfDay) {
      day++;
      second = 0;
    }
    if (day > endDay) break;
    const found = nextDay(spec, day);
    if (found == NO_DAY || found > endDay) break;
    if (found > day) second = 0;
    day = found;
    const dayMs = (<f64>day * SECONDS_PER_DAY - offset) * 1000;
    const endSecond = day == endDay ? <i32>(to - <f64>endDay * SECONDS_PER_DAY) : 86399;
    let hour = second / 3600;
    let hours = (hoursOf(spec) >> hour) << hour;
    for (; hours != 0; hours &= hours - 1) {
      hour = <i32>ctz(hours);
      const hourSecond = hour * 3600;
      if (hourSecond > endSecond) return <i32>((at - out) >> 3);
      const hourMs = dayMs + <f64>hourSecond * 1000;
      const isWhole = second <= hourSecond && hourSecond + 3599 <= endSecond && at + hourBytes <= end;
      if (isWhole && pattern != 0) {
        copyMoved(pattern, at, hourBytes, hourMs - patternMs);
        at += hourBytes;
        continue;
      }
      const start = at;
      for (let inHour = max(second - hourSecond, 0); inHour < 3600; inHour++) {
        inHour = nextInHour(spec, inHour);
        if (inHour < 0 || hourSecond + inHour > endSecond) break;
        if (at == end) return limit;
        store<f64>(at, hourMs + <f64>inHour * 1000);
        at += 8;
      }
      if (isWhole) {
        pattern = start;
        patternMs = hourMs;
      }
    }
    second = 86400;
    if (at == end) return limit;
  }
  return <i32>((at - out) >> 3);
}

// @ts-ignore: decorator
@inline
function copyMoved(source: usize, target: usize, bytes: usize, byMs: f64): void {
  const by = f64x2.splat(byMs);
  let at: usize = 0;
  for (; at + 16 <= bytes; at += 16) v128.store(target + at, f64x2.add(v128.load(source + at), by));
  if (at < bytes) store<f64>(target + at, load<f64>(source + at) + byMs);
}
