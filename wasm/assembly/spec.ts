// Makes specs from the staging area: computes their derived fields, and shares date parts between specs.
import {
  DAYS_EVERY,
  DAYS_GENERAL,
  DAYS_MASK,
  DAYS_NEVER,
  DAYS_OF_MONTH,
  DAYS_OF_WEEK,
  DAYS_WEEKLY,
  EVEN,
  FIRST_MINUTE,
  FIRST_OF_DAY,
  FIRST_OF_HOUR,
  FLAGS,
  HALF_MINUTE_MS,
  ISO_WEEKS,
  LAST_MINUTE,
  LAST_OF_DAY,
  LAST_OF_HOUR,
  MINUTES,
  MONTHS,
  MONTH_FIRST,
  NTH_OF_WEEKDAY,
  ONE_SECOND,
  PART,
  PART_BYTES,
  PART_CHAIN,
  PART_EITHER,
  PART_FLAGS,
  PART_KEY_BYTES,
  PART_REFERENCES,
  ROUNDING,
  SECONDS,
  SECOND_LINE,
  SEGMENT_HI,
  SEGMENT_LO,
  SHIFT_MS,
  SLAB_BYTES,
  SLAB_SPECS,
  SPEC_LINE,
  STAGING_FLAGS,
  STAGING_HOURS,
  STAGING_MINUTES,
  STAGING_PART,
  STAGING_SECONDS,
  STAGING_ZONE,
  STEP_INVERSE,
  STEP_MS,
  TIMES_PER_HOUR,
  WEEK_MASK,
  YEAR_BITS,
  YEAR_FIRST,
  YEAR_LAST,
  ZONE,
} from "./layout";
import { freeBitmap } from "./bitmap";
import { flagsOf, NO_DAY, nextDay } from "./days";
import { acquire, release, STAGING } from "./memory";

/** So many that chains stay short, even when every spec in memory has a date part of its own. */
const CHAINS: i32 = 16384;
const chains: usize = memory.data(CHAINS * 4, 16);
const DAYS_OF_MONTH_ALL: u32 = 0xfffffffe;
const MONTHS_ALL: u32 = 0x1ffe;
const ISO_WEEKS_ALL: u64 = 0x3ffffffffffffe;

/** Head of the list of free specs. */
let freeSpecs: usize = 0;

/** A spec made from the staging area. */
export function allocSpec(): usize {
  const spec = takeSpec();
  const hours = load<u32>(STAGING, STAGING_HOURS);
  const minutes = load<u64>(STAGING, STAGING_MINUTES);
  const seconds = load<u64>(STAGING, STAGING_SECONDS);
  store<u64>(spec, seconds, SECONDS);
  store<usize>(spec, load<usize>(STAGING, STAGING_ZONE), ZONE);
  store<f64>(spec, Infinity, SEGMENT_LO);
  store<f64>(spec, -Infinity, SEGMENT_HI);
  store<i32>(spec, i32.MAX_VALUE, MONTH_FIRST);
  const part = shareDatePart();
  store<usize>(spec, part, PART);
  const hasTimes = hours != 0 && minutes != 0 && seconds != 0;
  const days = hasTimes ? kindOfDays(part) : DAYS_NEVER;
  let flags = days | load<u32>(STAGING, STAGING_FLAGS) | (popcnt(seconds) == 1 ? ONE_SECOND : 0);
  if (days < DAYS_GENERAL) {
    const week = load<u32>(part, DAYS_OF_WEEK);
    store<u32>(spec, days == DAYS_EVERY ? 0x3fff : week | (week << 7), WEEK_MASK);
  }
  store<u16>(spec, <u16>(popcnt(minutes) * popcnt(seconds)), TIMES_PER_HOUR);
  const firstOfHour = <i32>(ctz(minutes) * 60 + ctz(seconds));
  const lastOfHour = <i32>((63 - clz(minutes)) * 60 + (63 - clz(seconds)));
  const firstOfDay = <i32>ctz(hours) * 3600 + firstOfHour;
  const lastOfDay = (31 - <i32>clz(hours)) * 3600 + lastOfHour;
  store<u16>(spec, <u16>firstOfHour, FIRST_OF_HOUR);
  store<u16>(spec, <u16>lastOfHour, LAST_OF_HOUR);
  store<i32>(spec, firstOfDay, FIRST_OF_DAY);
  store<i32>(spec, lastOfDay, LAST_OF_DAY);
  const step = days == DAYS_EVERY ? evenStep(hours, minutes, seconds) : 0;
  if (step != 0) {
    flags |= EVEN;
    store<f64>(spec, HALF_MINUTE_MS, ROUNDING);
    store<f64>(spec, step * 1000, STEP_MS);
    store<f64>(spec, 0.001 / step, STEP_INVERSE);
  } else {
    const shiftMs = popcnt(seconds) == 1 ? <f64>ctz(seconds) * 1000 : 0;
    store<f64>(spec, shiftMs, SHIFT_MS);
    store<f64>(spec, HALF_MINUTE_MS + shiftMs, ROUNDING);
    store<u64>(spec, minutes, MINUTES);
    store<u16>(spec, <u16>(firstOfDay / 60), FIRST_MINUTE);
    store<u16>(spec, <u16>(lastOfDay / 60), LAST_MINUTE);
  }
  store<u32>(spec, flags | (hours << 8), FLAGS);
  return spec;
}

export function freeSpec(spec: usize): void {
  const part = load<usize>(spec, PART);
  const references = load<u32>(part, PART_REFERENCES) - 1;
  store<u32>(part, references, PART_REFERENCES);
  if (references == 0) freeDatePart(part);
  store<usize>(spec, freeSpecs);
  freeSpecs = spec;
}

// A free spec, zeroed.
function takeSpec(): usize {
  if (freeSpecs == 0) {
    const slab = acquire(SLAB_BYTES);
    for (let index = SLAB_SPECS; index > 0; index--) {
      const spec = slab + (index - 1) * SPEC_LINE;
      store<usize>(spec, freeSpecs);
      freeSpecs = spec;
    }
  }
  const spec = freeSpecs;
  freeSpecs = load<usize>(spec);
  memory.fill(spec, 0, SPEC_LINE);
  memory.fill(spec + SECOND_LINE, 0, SPEC_LINE);
  return spec;
}

/** Whether any date matches; searched once, within the 400 years after which the calendar repeats. */
export function canEverMatch(spec: usize): bool {
  const flags = flagsOf(spec);
  if ((flags & DAYS_MASK) == DAYS_NEVER) return false;
  if (nextDay(spec, 0) != NO_DAY) return true;
  store<u8>(spec, <u8>(flags | DAYS_NEVER), FLAGS);
  return false;
}

function kindOfDays(part: usize): u32 {
  if (load<u32>(part, MONTHS) != MONTHS_ALL || load<u64>(part, ISO_WEEKS) != ISO_WEEKS_ALL) return DAYS_GENERAL;
  if (load<usize>(part, YEAR_BITS) != 0) return DAYS_GENERAL;
  if (load<u16>(part, YEAR_FIRST) != 1970 || load<u16>(part, YEAR_LAST) != 9999) return DAYS_GENERAL;
  const hasEveryDay = load<u32>(part, DAYS_OF_MONTH) == DAYS_OF_MONTH_ALL;
  const week = load<u32>(part, DAYS_OF_WEEK);
  if (load<u32>(part, PART_FLAGS) & PART_EITHER) return hasEveryDay || week == 0x7f ? DAYS_EVERY : DAYS_GENERAL;
  if (!hasEveryDay) return DAYS_GENERAL;
  if (week == 0x7f) return DAYS_EVERY;
  return week != 0 && load<u64>(part, NTH_OF_WEEKDAY) == 0 ? DAYS_WEEKLY : DAYS_GENERAL;
}

// The seconds between fire times when these are spread evenly over the day, across midnight too, else 0. They are
// spread evenly when each of the three sets is, and when all sets of larger units than the smallest varying one are
// full.
function evenStep(hours: u32, minutes: u64, seconds: u64): f64 {
  const everyHours = evenSpacing(hours, 24);
  if (everyHours == 0) return 0;
  const everyMinutes = evenSpacing(minutes, 60);
  const everySeconds = evenSpacing(seconds, 60);
  if (everySeconds != 0 && everySeconds < 60) return everyMinutes == 1 && everyHours == 1 ? everySeconds : 0;
  if (everySeconds == 0) return 0;
  if (everyMinutes != 0 && everyMinutes < 60) return everyHours == 1 ? everyMinutes * 60 : 0;
  return everyMinutes != 0 ? everyHours * 3600 : 0;
}

// The distance n such that a set is {first, first + n, ...} all around a circle of `size`, or 0.
function evenSpacing(set: u64, size: i32): f64 {
  const count = <i32>popcnt(set);
  const every = size / count;
  if (every * count != size) return 0;
  let expected: u64 = 0;
  for (let value = <i32>ctz(set); value < size; value += every) expected |= <u64>1 << value;
  return expected == set ? <f64>every : 0;
}

// The staged date part, or an equal one that exists.
function shareDatePart(): usize {
  const key = STAGING + STAGING_PART;
  const chain = chainOf(key);
  let part = load<usize>(chain);
  while (part != 0) {
    if (memory.compare(part, key, PART_KEY_BYTES) == 0) {
      store<u32>(part, load<u32>(part, PART_REFERENCES) + 1, PART_REFERENCES);
      return part;
    }
    part = load<usize>(part, PART_CHAIN);
  }
  part = acquire(PART_BYTES);
  memory.copy(part, key, PART_KEY_BYTES);
  store<u32>(part, 1, PART_REFERENCES);
  store<usize>(part, load<usize>(chain), PART_CHAIN);
  store<usize>(chain, part);
  return part;
}

function freeDatePart(part: usize): void {
  let link = chainOf(part);
  while (load<usize>(link) != part) link = load<usize>(link) + PART_CHAIN;
  store<usize>(link, load<usize>(part, PART_CHAIN));
  // Its year bitmap belongs to JavaScript, which shares it between parts.
  freeBitmap(part);
  release(part, PART_BYTES);
}

// FNV-1a's multiplication over 64-bit words. The shift spreads the high bits, because those are the well mixed ones.
function chainOf(key: usize): usize {
  let hash: u64 = 0xcbf29ce484222325;
  for (let at: usize = 0; at < PART_KEY_BYTES; at += 8) {
    hash = (hash ^ load<u64>(key + at)) * 0x100000001b3;
    hash ^= hash >> 29;
  }
  return chains + (<usize>(hash % <u64>CHAINS) << 2);
}
