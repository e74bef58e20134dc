// Lookup in a zone table. A stretch is a time of constant offset between two transitions.
import {
  BUCKETS,
  BUCKET_BASE,
  BUCKET_LAST,
  BUCKET_MS,
  CYCLE_SECONDS,
  FOLD_BASE,
  FOLD_FROM,
  RECORDS,
  RECORD_BYTES,
  RECORD_HI,
  RECORD_OFFSET,
  RECORD_START,
} from "./layout";

// The stretch that locate found: several results without an allocation.
export let stretchStart: f64 = 0;
export let stretchOffset: f64 = 0;
/** Its offset minus the one before: negative when clocks went back. */
export let stretchDelta: f64 = 0;
export let nextStart: f64 = 0;
/** The next stretch's offset minus its own. */
export let nextDelta: f64 = 0;

/** Finds the stretch that an instant lies in. All in seconds. */
export function locate(zone: usize, instant: f64): void {
  let shift: f64 = 0;
  if (instant >= load<f64>(zone, FOLD_FROM)) {
    shift = floor((instant - FOLD_BASE) / CYCLE_SECONDS) * CYCLE_SECONDS;
    instant -= shift;
  }
  const ms = instant * 1000;
  let record = recordOf(zone, ms < load<f64>(zone, BUCKET_BASE) ? 0 : bucketOf(zone, ms));
  // At most as often as there are transitions in a bucket; the record past the last starts at Infinity.
  while (load<f64>(record + RECORD_BYTES, RECORD_START) <= ms) record += RECORD_BYTES;
  const offset = load<i32>(record, RECORD_OFFSET);
  stretchStart = load<f64>(record, RECORD_START) / 1000 + shift;
  stretchOffset = <f64>offset;
  stretchDelta = <f64>(offset - load<i32>(record - RECORD_BYTES, RECORD_OFFSET));
  nextStart = load<f64>(record + RECORD_BYTES, RECORD_START) / 1000 + shift;
  nextDelta = <f64>(load<i32>(record + RECORD_BYTES, RECORD_OFFSET) - offset);
}

/** The record whose window an instant (milliseconds) lies in; junk where it lies in none. */
// @ts-ignore: decorator
@inline
export function windowNear(zone: usize, ms: f64): usize {
  const record = recordOf(zone, bucketOf(zone, ms));
  return ms < load<f64>(record, RECORD_HI) ? record : record + RECORD_BYTES;
}

// The bucket of an instant, rounded down: to the nearest, as BUCKET_BASE is half a bucket later than the first begins.
// @ts-ignore: decorator
@inline
function bucketOf(zone: usize, ms: f64): u32 {
  return <u32>wholeOf((ms - load<f64>(zone, BUCKET_BASE)) * (1 / BUCKET_MS));
}

// The record that a bucket begins with.
// @ts-ignore: decorator
@inline
function recordOf(zone: usize, bucket: u32): usize {
  const index = load<u16>(load<usize>(zone, BUCKETS) + (min<u32>(bucket, load<u32>(zone, BUCKET_LAST)) << 1));
  return load<usize>(zone, RECORDS) + <usize>index * RECORD_BYTES;
}

/** The low 32 bits of the nearest whole number to one below 2^51: adding 1.5 * 2^52 shifts them to the end of the
 *  mantissa. A conversion would check its range first. */
// @ts-ignore: decorator
@inline
export function wholeOf(value: f64): i32 {
  return <i32>reinterpret<i64>(value + 6755399441055744);
}
