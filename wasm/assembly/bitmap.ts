// The day bitmap of a date part: a bit for each day of 1970-2099, and for each word of bits the first marked day after
// that word. So the next day is found with two loads, even for a spec that fires once in four years. A bitmap is built
// when its date part has been searched often enough. All specs with the same date part share it.
import { BITMAPS_MAX, BITMAP_AFTER, BITMAP_BYTES, BITMAP_DAYS, BITMAP_WORDS, PART_DAY_BITS } from "./layout";
import { monthLength } from "./calendar";
import { acquire, release } from "./memory";
import { namedMonthMask } from "./years";

let bitmaps: i32 = 0;

/** Builds the bitmap of a date part; 0 when there are too many already. */
export function buildBitmap(part: usize): usize {
  if (bitmaps >= BITMAPS_MAX) return 0;
  bitmaps++;
  const bitmap = acquire(BITMAP_BYTES);
  let year = 1970;
  let month = 1;
  for (let first = 0; first < BITMAP_DAYS; ) {
    setDays(bitmap, first, namedMonthMask(part, year, month, first));
    first += monthLength(year, month);
    if (++month > 12) {
      month = 1;
      year++;
    }
  }
  let after = BITMAP_DAYS;
  for (let index = BITMAP_WORDS - 1; index >= 0; index--) {
    store<u16>(bitmap + (<usize>index << 1), <u16>after, BITMAP_AFTER);
    const word = wordAt(bitmap, index);
    if (word != 0) after = (index << 6) + <i32>ctz(word);
  }
  store<usize>(part, bitmap, PART_DAY_BITS);
  return bitmap;
}

export function freeBitmap(part: usize): void {
  const bitmap = load<usize>(part, PART_DAY_BITS);
  if (bitmap == 0) return;
  release(bitmap, BITMAP_BYTES);
  bitmaps--;
}

/** The first marked day at or after `day`; BITMAP_DAYS when there is none. */
// @ts-ignore: decorator
@inline
export function bitmapNext(bitmap: usize, day: i32): i32 {
  const rest = wordAt(bitmap, day >> 6) >> (day & 63);
  const after = <i32>load<u16>(bitmap + (<usize>(day >> 6) << 1), BITMAP_AFTER);
  return select(day + <i32>ctz(rest), after, rest != 0);
}

/** The last marked day at or before `day`, or a negative number (NO_DAY). */
export function bitmapPrevious(bitmap: usize, day: i32): i32 {
  let index = day >> 6;
  let rest = wordAt(bitmap, index) << (63 - (day & 63));
  if (rest != 0) return day - <i32>clz(rest);
  while (--index >= 0) {
    rest = wordAt(bitmap, index);
    if (rest != 0) return (index << 6) + 63 - <i32>clz(rest);
  }
  return i32.MIN_VALUE;
}

// @ts-ignore: decorator
@inline
function wordAt(bitmap: usize, index: i32): u64 {
  return load<u64>(bitmap + (<usize>index << 3));
}

// A month's 31 bits lie in one 64-bit word or across two.
function setDays(bitmap: usize, first: i32, mask: u32): void {
  const at = bitmap + ((<usize>first >> 6) << 3);
  const shift = first & 63;
  store<u64>(at, load<u64>(at) | (<u64>mask << shift));
  if (shift > 33) store<u64>(at + 8, load<u64>(at + 8) | (<u64>mask >> (64 - shift)));
}
