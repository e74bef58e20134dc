// Lookup in a zone table. A stretch is a time of constant offset between two transitions.
import {
  BUCKETS,
  BUCKET_BASE,
  BUCKET_COUNT,
  BUCKET_SECONDS,
  CYCLE_SECONDS,
  FOLD_BASE,
  FOLD_FROM,
  RECORDS,
  RECORD_BYTES,
  RECORD_DELTA,
  RECORD_OFFSET,
  RECORD_START,
} from "./layout";

// The stretch that locate found: several results without an allocation.
export let stretchStart: f64 = 0;
export let stretchOffset: f64 = 0;
/** Its offset minus the one before. */
export let stretchDelta: f64 = 0;
export let nextStart: f64 = 0;
/** The next stretch's offset minus its own. */
export let nextDelta: f64 = 0;

/** Finds the stretch that an instant lies in. */
export function locate(zone: usize, instant: f64): void {
  let shift: f64 = 0;
  if (instant >= load<f64>(zone, FOLD_FROM)) {
    shift = floor((instant - FOLD_BASE) / CYCLE_SECONDS) * CYCLE_SECONDS;
    instant -= shift;
  }
  const records = load<usize>(zone, RECORDS);
  let record = records + <usize>load<u16>(load<usize>(zone, BUCKETS) + (bucketOf(zone, instant) << 1)) * RECORD_BYTES;
  // At most as often as there are transitions in a bucket; the record past the last starts at Infinity.
  while (load<f64>(record + RECORD_BYTES, RECORD_START) <= instant) record += RECORD_BYTES;
  stretchStart = load<f64>(record, RECORD_START) + shift;
  stretchOffset = <f64>load<i32>(record, RECORD_OFFSET);
  stretchDelta = <f64>load<i32>(record, RECORD_DELTA);
  nextStart = load<f64>(record + RECORD_BYTES, RECORD_START) + shift;
  nextDelta = <f64>load<i32>(record + RECORD_BYTES, RECORD_DELTA);
}

// @ts-ignore: decorator
@inline
function bucketOf(zone: usize, instant: f64): usize {
  const bucket = (instant - load<f64>(zone, BUCKET_BASE)) * (1 / BUCKET_SECONDS);
  return <usize>max(0, min(bucket, <f64>(load<i32>(zone, BUCKET_COUNT) - 1)));
}
