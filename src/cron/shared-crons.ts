import { CompiledCron } from "./compiled-cron.ts";
import type { BitSet64, CronSpec } from "./spec.ts";

// Equal specs share one compiled spec. The specs that were compiled last are kept in a table, each in the row that its
// content says. A row has a few places, and a new spec takes the place of the oldest. So the table has a bound, and
// sharing costs some comparisons.

const ROWS = 1024;
const PLACES = 8;
const rows: CompiledCron[][] = Array.from({ length: ROWS }, () => []);

/** The compiled form of a spec: the one that an equal spec got lately, or a new one.
 *  @throws {OptionsError} when the spec's time zone is unknown */
export function sharedCron(spec: CronSpec): CompiledCron {
  const row = rows[rowOf(spec)] ?? [];
  for (const known of row) if (isSameSpec(known.spec, spec)) return known;
  const made = new CompiledCron(spec);
  if (row.length === PLACES) row.shift();
  row.push(made);
  return made;
}

function rowOf(spec: CronSpec): number {
  let hash = mixed(spec.minutes.lo, spec.minutes.hi);
  hash = mixed(hash, spec.hours);
  hash = mixed(hash, spec.daysOfMonth);
  hash = mixed(hash, spec.daysOfWeek);
  hash = mixed(hash, spec.months);
  hash = mixed(hash, spec.seconds.lo);
  hash = mixed(hash, spec.seconds.hi + spec.isoWeeks.lo + spec.isoWeeks.hi);
  hash = mixed(hash, spec.nthOfDay.lo + spec.nthOfWeekday.lo + spec.lastDayOffsets + spec.nearestWeekdays);
  hash = mixed(hash, spec.timeZone.length);
  if (spec.years !== null) for (const word of spec.years) hash = mixed(hash, word);
  return (hash ^ (hash >>> 16)) & (ROWS - 1);
}

function mixed(hash: number, value: number): number {
  const product = Math.imul(hash ^ value, 0x9e3779b1);
  return product ^ (product >>> 15);
}

function isSameSpec(a: CronSpec, b: CronSpec): boolean {
  return (
    isSameSet(a.minutes, b.minutes) &&
    a.hours === b.hours &&
    a.daysOfMonth === b.daysOfMonth &&
    a.daysOfWeek === b.daysOfWeek &&
    a.months === b.months &&
    a.timeZone === b.timeZone &&
    isSameSet(a.seconds, b.seconds) &&
    a.lastDayOffsets === b.lastDayOffsets &&
    a.nearestWeekdays === b.nearestWeekdays &&
    a.hasLastWeekday === b.hasLastWeekday &&
    isSameSet(a.nthOfDay, b.nthOfDay) &&
    isSameSet(a.nthOfWeekday, b.nthOfWeekday) &&
    isSameSet(a.isoWeeks, b.isoWeeks) &&
    a.dayMatch === b.dayMatch &&
    a.gap === b.gap &&
    a.overlap === b.overlap &&
    isSameYears(a.years, b.years)
  );
}

function isSameSet(a: BitSet64, b: BitSet64): boolean {
  return a.lo === b.lo && a.hi === b.hi;
}

function isSameYears(a: Uint32Array | null, b: Uint32Array | null): boolean {
  if (a === null || b === null) return a === b;
  return a.every((word, index) => word === b[index]);
}
