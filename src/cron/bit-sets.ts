import { YEAR } from "./fields.ts";
import type { BitSet64 } from "./spec.ts";

// What the bit sets of a CronSpec hold, as numbers.

/** The numbers of a bit set, in order. */
export function valuesOf(lo: number, hi: number): number[] {
  const values: number[] = [];
  for (let value = 0; value < 64; value++) {
    if (((value < 32 ? lo >>> value : hi >>> (value - 32)) & 1) === 1) values.push(value);
  }
  return values;
}

/** The years of a bitmap. */
export function yearsOf(bits: Uint32Array): number[] {
  const years: number[] = [];
  bits.forEach((word, index) => {
    for (const bit of valuesOf(word, 0)) years.push(YEAR.min + index * 32 + bit);
  });
  return years;
}

/** Nth weekdays of a month from their bit set: `nth` is 1 to 5, or 6 for the last. */
export function nthWeekdaysOf(set: BitSet64): { nth: number; weekday: number }[] {
  return valuesOf(set.lo, set.hi).map((bit) => ({ nth: Math.floor(bit / 7) + 1, weekday: bit % 7 }));
}

/** Weekdays from Monday (1) to Sunday (7). */
export function weekdaysOf(daysOfWeek: number): number[] {
  return valuesOf(daysOfWeek, 0)
    .map((day) => (day === 0 ? 7 : day))
    .sort((a, b) => a - b);
}

/** Runs of neighbours, as pairs of the first and the last value. `[1, 2, 3, 7]` gives `[[1, 3], [7, 7]]`. With
 *  bounds, a run that ends at `max` is joined with one that begins at `min`. */
export function runsOf(
  values: readonly number[],
  min: number = Number.NaN,
  max: number = Number.NaN,
): [first: number, last: number][] {
  const runs: [number, number][] = [];
  for (const value of values) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === value - 1) run[1] = value;
    else runs.push([value, value]);
  }
  const [first] = runs;
  const last = runs.at(-1);
  if (first !== undefined && last !== undefined && first !== last && first[0] === min && last[1] === max) {
    last[1] = first[1];
    runs.shift();
  }
  return runs;
}

/** The distance between neighbours when all are equally far apart and at least 2, else 0. */
export function stepOf(values: readonly number[]): number {
  const [first = 0, second = 0] = values;
  const step = second - first;
  return values.length > 1 && step > 1 && values.every((value, index) => value === first + index * step) ? step : 0;
}
