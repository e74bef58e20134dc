// Looks up instants in a zone table. A stretch is the time between two transitions, in which the offset is constant.
import {
  BUCKETS,
  BUCKET_LAST,
  BUCKET_SHIFT,
  CYCLE_SECONDS,
  FOLD_BASE,
  FOLD_FROM,
  RECORDS,
  RECORD_BYTES,
  RECORD_LO,
  RECORD_OFFSET,
  RECORD_SHIFT,
  RECORD_SPAN,
  RECORD_START,
} from "./layout";

// The results of locate. They are globals, because a function returns one number, and an object would be an allocation.
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
  let record = recordOf(zone, <u32>floor(max(instant, 0) / 60));
  // As many rounds at most as the bucket has transitions. The record behind the last one starts at Infinity.
  while (load<f64>(record + RECORD_BYTES, RECORD_START) <= instant) record += RECORD_BYTES;
  const offset = load<i32>(record, RECORD_OFFSET);
  stretchStart = load<f64>(record, RECORD_START) + shift;
  stretchOffset = <f64>offset;
  stretchDelta = <f64>(offset - load<i32>(record - RECORD_BYTES, RECORD_OFFSET));
  nextStart = load<f64>(record + RECORD_BYTES, RECORD_START) + shift;
  nextDelta = <f64>(load<i32>(record + RECORD_BYTES, RECORD_OFFSET) - offset);
}

/** The record whose window a minute lies in. Where it lies in no window, any record. */
// @ts-ignore: decorator
@inline
export function windowNear(zone: usize, minute: u32): usize {
  const record = recordOf(zone, minute);
  return select(record, record + RECORD_BYTES, isInWindow(record, minute));
}

// @ts-ignore: decorator
@inline
export function isInWindow(record: usize, minute: u32): bool {
  return minute - load<u32>(record, RECORD_LO) < load<u32>(record, RECORD_SPAN);
}

// The record that the first instant of a minute's bucket lies in. The last bucket begins after the last transition.
// @ts-ignore: decorator
@inline
function recordOf(zone: usize, minute: u32): usize {
  const bucket = min<u32>(minute >> BUCKET_SHIFT, load<u32>(zone, BUCKET_LAST));
  return load<usize>(zone, RECORDS) + (<usize>load<u16>(load<usize>(zone, BUCKETS) + (bucket << 1)) << RECORD_SHIFT);
}
