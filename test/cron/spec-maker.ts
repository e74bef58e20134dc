import type { BitSet64, CronSpec } from "../../src/cron/spec.ts";

/** A set of numbers from 0 to 63. */
export function bits(...values: number[]): BitSet64 {
  let lo = 0;
  let hi = 0;
  for (const value of values) {
    if (value < 32) lo |= 1 << value;
    else hi |= 1 << (value - 32);
  }
  return { lo: lo >>> 0, hi: hi >>> 0 };
}

/** A set of numbers from 0 to 31. */
export function bits32(...values: number[]): number {
  return bits(...values).lo;
}

/** Numbers from `first` to `last`, every `step`th. */
export function range(first: number, last: number, step = 1): number[] {
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, index) => first + index * step);
}

/** A bitmap of years for `CronSpec.years`. */
export function years(...values: number[]): Uint32Array {
  const words = new Uint32Array(251);
  for (const value of values) {
    const index = value - 1970;
    words[index >>> 5] = (words[index >>> 5] ?? 0) | (1 << (index & 31));
  }
  return words;
}

/** The bit of an nth weekday (n 1-5, or "last"), for `nthOfDay` and `nthOfWeekday`. Sunday is 0. */
export function nth(n: number | "last", weekday: number): number {
  return n === "last" ? 35 + weekday : (n - 1) * 7 + weekday;
}

export const EVERY_60: BitSet64 = bits(...range(0, 59));
export const EVERY_HOUR: number = bits32(...range(0, 23));
export const EVERY_DAY: number = bits32(...range(1, 31));
export const EVERY_MONTH: number = bits32(...range(1, 12));
export const EVERY_ISO_WEEK: BitSet64 = bits(...range(1, 53));
export const EVERY_WEEKDAY = 0x7f;
const NONE: BitSet64 = { lo: 0, hi: 0 };

/** A spec that fires daily at midnight UTC, with changes. */
export function specOf(changes: Partial<CronSpec> = {}): CronSpec {
  return {
    seconds: bits(0),
    minutes: bits(0),
    hours: bits32(0),
    daysOfMonth: EVERY_DAY,
    lastDayOffsets: 0,
    nearestWeekdays: 0,
    hasLastWeekday: false,
    nthOfDay: NONE,
    nthOfWeekday: NONE,
    daysOfWeek: EVERY_WEEKDAY,
    months: EVERY_MONTH,
    isoWeeks: EVERY_ISO_WEEK,
    years: null,
    dayMatch: "and",
    gap: "skip",
    overlap: "both",
    timeZone: "UTC",
    ...changes,
  };
}

/** Changes for a daily time `h:mm` or `h:mm:ss`. */
export function at(time: string): Partial<CronSpec> {
  const [hour = 0, minute = 0, second = 0] = time.split(":").map(Number);
  return { hours: bits32(hour), minutes: bits(minute), seconds: bits(second) };
}
