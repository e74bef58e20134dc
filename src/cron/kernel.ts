// The WebAssembly instance and its linear memory. Offsets are those of wasm/assembly/layout.ts: change both together.
import wasmModule from "#cron-wasm";
import type { CronSpec } from "./spec.ts";

/** What the WebAssembly module exports. Specs and zones are addresses, instants are epoch milliseconds. As an
 *  answer, NaN means that nothing fires any more, and an infinity means that the zone's table ends before the search
 *  does. */
interface Kernel {
  readonly memory: WebAssembly.Memory;
  staging(): number;
  input(): number;
  output(): number;
  slots(): number;
  acquire(bytes: number): number;
  release(address: number, bytes: number): void;
  alloc(): number;
  free(spec: number): void;
  canEverMatch(spec: number): number;
  next(spec: number, afterMs: number): number;
  previous(spec: number, beforeMs: number): number;
  matches(spec: number, ms: number): number;
  nextMany(count: number, instantStride: number): number;
  expand(spec: number, fromMs: number, untilMs: number, limit: number): number;
  count(spec: number, fromMs: number, untilMs: number): number;
  reachedMs(): number;
  beyondTable(): number;
  buildDays(spec: number): number;
  stepCount(): number;
}

/** The engine. One instance serves the whole process. It holds no references to JavaScript objects. */
export const kernel: Kernel = new WebAssembly.Instance(wasmModule).exports as unknown as Kernel;

/** Items of the input, output and slot buffers: the most that one batch call takes. */
export const BATCH_ITEMS = 4096;

/** Views on linear memory. When the memory grows, its old buffer is detached and its views become empty; then new
 *  views are made. */
export interface Views {
  readonly u32: Uint32Array;
  readonly f64: Float64Array;
  /** {@link BATCH_ITEMS} items each, as named in the kernel. */
  readonly input: Float64Array;
  readonly output: Float64Array;
  readonly slots: Uint32Array;
}

let current: Views = createViews();

/** Views that are valid until the next call that may allocate. */
export function views(): Views {
  if (current.u32.length === 0) current = createViews();
  return current;
}

function createViews(): Views {
  const { buffer } = kernel.memory;
  return {
    u32: new Uint32Array(buffer),
    f64: new Float64Array(buffer),
    input: new Float64Array(buffer, kernel.input(), BATCH_ITEMS),
    output: new Float64Array(buffer, kernel.output(), BATCH_ITEMS),
    slots: new Uint32Array(buffer, kernel.slots(), BATCH_ITEMS),
  };
}

const STAGING_WORD = kernel.staging() >>> 2;
const PART_WORD = STAGING_WORD + 8;
/** The first and the last year of a rule in one word, as the kernel takes them. */
const YEAR_MIN_TO_MAX = 1970 | (9999 << 16);
/** The first year after the last, so that none matches. */
const NO_YEAR = 1970 | (1969 << 16);
const GAP_FLAGS = { skip: 0, advance: 4, shift: 8 } as const;
const OVERLAP_FLAGS = { both: 0, first: 16, second: 32 } as const;
const PART_EITHER = 1;
const PART_LAST_WEEKDAY = 2;

/** Copies a spec into linear memory. Returns its address, for `kernel.free`.
 *  @param yearsAddress where its year bitmap lies; 0 where it needs none, see {@link isYearRange} */
export function upload(spec: CronSpec, zoneAddress: number, yearsAddress: number): number {
  const years = spec.years === null ? YEAR_MIN_TO_MAX : yearRange(spec.years);
  const { u32 } = views();
  u32[STAGING_WORD] = spec.seconds.lo;
  u32[STAGING_WORD + 1] = spec.seconds.hi;
  u32[STAGING_WORD + 2] = spec.minutes.lo;
  u32[STAGING_WORD + 3] = spec.minutes.hi;
  u32[STAGING_WORD + 4] = spec.hours;
  u32[STAGING_WORD + 5] = GAP_FLAGS[spec.gap] | OVERLAP_FLAGS[spec.overlap];
  u32[STAGING_WORD + 6] = zoneAddress;
  u32[PART_WORD] = spec.nthOfDay.lo;
  u32[PART_WORD + 1] = spec.nthOfDay.hi;
  u32[PART_WORD + 2] = spec.nthOfWeekday.lo;
  u32[PART_WORD + 3] = spec.nthOfWeekday.hi;
  u32[PART_WORD + 4] = spec.isoWeeks.lo;
  u32[PART_WORD + 5] = spec.isoWeeks.hi;
  u32[PART_WORD + 6] = spec.daysOfMonth;
  u32[PART_WORD + 7] = spec.lastDayOffsets;
  u32[PART_WORD + 8] = spec.nearestWeekdays;
  u32[PART_WORD + 9] = spec.daysOfWeek;
  u32[PART_WORD + 10] = spec.months;
  u32[PART_WORD + 11] = years;
  u32[PART_WORD + 12] = yearsAddress;
  u32[PART_WORD + 13] = (spec.dayMatch === "or" ? PART_EITHER : 0) | (spec.hasLastWeekday ? PART_LAST_WEEKDAY : 0);
  return kernel.alloc();
}

// First year in the low half, last in the high half.
function yearRange(bits: Uint32Array): number {
  const first = bits.findIndex((word) => word !== 0);
  if (first < 0) return NO_YEAR;
  const last = bits.findLastIndex((word) => word !== 0);
  const firstWord = bits[first] ?? 0;
  const firstYear = 1970 + first * 32 + 31 - Math.clz32(firstWord & -firstWord);
  return firstYear | ((1970 + last * 32 + 31 - Math.clz32(bits[last] ?? 0)) << 16);
}

/** Whether a year bitmap is empty or without holes, so that its first and last year say it all. */
export function isYearRange(bits: Uint32Array): boolean {
  const range = yearRange(bits);
  let count = 0;
  for (let word of bits) for (; word !== 0; word &= word - 1) count++;
  return count === (range >>> 16) - (range & 0xffff) + 1;
}
