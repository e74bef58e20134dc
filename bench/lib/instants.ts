// The instants that cron expressions are asked about: the same in every run.
import { sequence } from "./expressions.ts";

/** How many there are of each kind. */
export const INSTANTS = 1024;
/** A time on a Monday in summer: the present of the benches. */
export const NOW: number = Date.UTC(2026, 5, 15, 12);
const DAY_MS = 86_400_000;

/** Within one day from NOW. */
export function instantsNear(): Float64Array {
  return instants(7, NOW, DAY_MS);
}

/** Anywhere in 1990-2089. */
export function instantsOfACentury(): Float64Array {
  return instants(11, Date.UTC(1990, 0, 1), 100 * 365.25 * DAY_MS);
}

function instants(seed: number, start: number, span: number): Float64Array {
  const random = sequence(seed);
  return Float64Array.from({ length: INSTANTS }, () => Math.floor(start + random() * span));
}
