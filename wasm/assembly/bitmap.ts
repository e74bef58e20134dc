// The day bitmap of a date part: 1970-2099, two levels, so that the next day of even the sparsest spec is a few loads
// away. Built when a date part has been searched often enough, shared by all its specs.
import { BITMAPS_MAX, BITMAP_BYTES, BITMAP_DAYS, BITMAP_WORDS, PART_DAY_BITS, SUMMARY_BYTES, SUMMARY_WORDS } from "./layout";
import { monthLength } from "./calendar";
import { namedMonthMask } from "./days";
import { acquire, release } from "./memory";

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
  for (let index = 0; index < BITMAP_WORDS; index++) {
    if (wordAt(bitmap, index) == 0) continue;
    const summary = bitmap + ((<usize>index >> 6) << 3);
    store<u64>(summary, load<u64>(summary) | (<u64>1 << (index & 63)));
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

/** The first marked day at or after `day`, or -1. */
export function bitmapNext(bitmap: usize, day: i32): i32 {
  const rest = wordAt(bitmap, day >> 6) >> (day & 63);
  if (rest != 0) return day + <i32>ctz(rest);
  const index = (day >> 6) + 1;
  let group = index >> 6;
  if (group >= SUMMARY_WORDS) return -1;
  let words = (load<u64>(bitmap + (<usize>group << 3)) >> (index & 63)) << (index & 63);
  while (words == 0) {
    if (++group >= SUMMARY_WORDS) return -1;
    words = load<u64>(bitmap + (<usize>group << 3));
  }
  const word = (group << 6) + <i32>ctz(words);
  return (word << 6) + <i32>ctz(wordAt(bitmap, word));
}

/** The last marked day at or before `day`, or a negative number (NO_DAY). */
export function bitmapPrevious(bitmap: usize, day: i32): i32 {
  const rest = wordAt(bitmap, day >> 6) << (63 - (day & 63));
  if (rest != 0) return day - <i32>clz(rest);
  const index = (day >> 6) - 1;
  if (index < 0) return i32.MIN_VALUE;
  let group = index >> 6;
  let words = load<u64>(bitmap + (<usize>group << 3)) & (<u64>-1 >> (63 - (index & 63)));
  while (words == 0) {
    if (--group < 0) return i32.MIN_VALUE;
    words = load<u64>(bitmap + (<usize>group << 3));
  }
  const word = (group << 6) + 63 - <i32>clz(words);
  return (word << 6) + 63 - <i32>clz(wordAt(bitmap, word));
}

// @ts-ignore: decorator
@inline
function wordAt(bitmap: usize, index: i32): u64 {
  return load<u64>(bitmap + SUMMARY_BYTES + (<usize>index << 3));
}

// A month's 31 bits lie in one 64-bit word or across two.
function setDays(bitmap: usize, first: i32, mask: u32): void {
  const at = bitmap + SUMMARY_BYTES + ((<usize>first >> 6) << 3);
  const shift = first & 63;
  store<u64>(at, load<u64>(at) | (<u64>mask << shift));
  if (shift > 33) store<u64>(at + 8, load<u64>(at + 8) | (<u64>mask >> (64 - shift)));
}
