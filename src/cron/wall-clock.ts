import type { GapPolicy, OverlapPolicy } from "./spec.ts";
import { type ZoneTable, zoneTable } from "./zone.ts";

// Wall-clock times and dates of time zones. From 1970 on they are looked up in the table of the zone, which takes some
// 100 nanoseconds. Older ones are rare, and the runtime is asked about them, which takes some microseconds.

const DAY = 86_400;
const DAY_MS = DAY * 1000;
/** The tables know the offsets from here on, whatever the zone: the first days of 1970 are left to the runtime. */
const TABLE_LO = 2 * DAY;
/** Temporal represents 100,000,000 days on either side of 1970. Instants near either end count as this far from 1970,
 *  because offsets lead beyond the end, and nothing fires there. */
const OLDEST = -99_999_990 * DAY;

/** The date on which an instant (epoch milliseconds) falls in a time zone, as days since 1970-01-01. */
export function dayAt(epochMs: number, timeZone: string): number {
  const instant = Math.max(Math.floor(epochMs / 1000), OLDEST);
  if (timeZone === "UTC") return Math.floor(instant / DAY);
  return Math.floor((instant + offsetOf(zoneTable(timeZone), instant)) / DAY);
}

/**
 * The instants, in epoch milliseconds and in order, at which a wall clock shows a time of a date. As a rule it is one.
 * Where clocks change, the policies decide: none, one or two.
 *
 * @param day days since 1970-01-01
 */
export function wallTimes(
  day: number,
  secondOfDay: number,
  timeZone: string,
  gap: GapPolicy,
  overlap: OverlapPolicy,
): readonly number[] {
  const local = Math.max(OLDEST, Math.min(day * DAY, -OLDEST)) + secondOfDay;
  if (timeZone === "UTC") return [local * 1000];
  const table = zoneTable(timeZone);
  // No offset reaches a day, and no two clock changes lie within two days.
  const before = offsetOf(table, local - DAY);
  const after = offsetOf(table, local + DAY);
  if (before === after) return [(local - before) * 1000];
  const earlier = local - before;
  const later = local - after;
  const isEarlier = offsetOf(table, earlier) === before;
  const isLater = offsetOf(table, later) === after;
  if (isEarlier && isLater) {
    // The clock was put back, so the time exists twice.
    return overlap === "both" ? [earlier * 1000, later * 1000] : [(overlap === "first" ? earlier : later) * 1000];
  }
  if (isEarlier || isLater) return [(isEarlier ? earlier : later) * 1000];
  if (gap === "skip") return [];
  // In the gap the time is read with the offset from before the change.
  if (gap === "shift") return [earlier * 1000];
  return [(changeAfter(table, later) ?? earlier) * 1000];
}

/** The first instant of a date, in epoch milliseconds. */
export function startOfDay(day: number, timeZone: string): number {
  return wallTimes(day, 0, timeZone, "advance", "first")[0] ?? day * DAY * 1000;
}

/** What a wall clock shows at an instant (epoch milliseconds), as the epoch milliseconds that it would be in UTC. */
export function wallAt(epochMs: number, timeZone: string): number {
  if (timeZone === "UTC") return epochMs;
  return epochMs + offsetOf(zoneTable(timeZone), Math.max(Math.floor(epochMs / 1000), OLDEST)) * 1000;
}

/** The first instant at which a wall clock shows a time, which is given as epoch milliseconds that it would be in UTC;
 *  for a time in a gap, the first instant after the gap. It never goes back while the time goes on. */
export function firstInstantOf(wallMs: number, timeZone: string): number {
  const [day, second] = [
    Math.floor(wallMs / DAY_MS),
    Math.floor((wallMs - Math.floor(wallMs / DAY_MS) * DAY_MS) / 1000),
  ];
  const [shown] = wallTimes(day, second, timeZone, "skip", "first");
  if (shown !== undefined) return shown + (wallMs - Math.floor(wallMs / 1000) * 1000);
  return wallTimes(day, second, timeZone, "advance", "first")[0] ?? wallMs;
}

/** The least time of a wall clock whose {@link firstInstantOf} is not before an instant. */
export function firstWallFrom(epochMs: number, timeZone: string): number {
  const wallMs = wallAt(epochMs - 1, timeZone) + 1;
  if (timeZone === "UTC") return wallMs;
  const table = zoneTable(timeZone);
  const before = Math.max(Math.floor((epochMs - 1) / 1000), OLDEST) - DAY;
  const offset = offsetOf(table, before);
  if (before === OLDEST - DAY || offset <= offsetOf(table, before + DAY)) return wallMs;
  // Clocks were put back not long before, so times up to the change were shown earlier.
  return Math.max(wallMs, ((changeAfter(table, before) ?? before) + offset) * 1000);
}

/** The stretches of instants, [from, until), in which a wall clock shows times of [fromWallMs, untilWallMs). The times
 *  lie at most two days apart. */
export function stretchesOf(
  fromWallMs: number,
  untilWallMs: number,
  timeZone: string,
): (readonly [fromMs: number, untilMs: number])[] {
  if (timeZone === "UTC") return [[fromWallMs, untilWallMs]];
  const table = zoneTable(timeZone);
  const stretches: (readonly [number, number])[] = [];
  // No offset is larger than 15 hours.
  const end = Math.ceil(untilWallMs / 1000) + 54_000;
  for (let at = Math.max(Math.floor(fromWallMs / 1000) - 54_000, OLDEST); at < end; ) {
    const until = changeAfter(table, at) ?? end;
    const offsetMs = offsetOf(table, at) * 1000;
    const from = Math.max(fromWallMs - offsetMs, at * 1000);
    const before = Math.min(untilWallMs - offsetMs, until * 1000);
    if (from < before) stretches.push([from, before]);
    at = until;
  }
  return stretches;
}

/** The part of a day around an instant in which clocks do not change. All in seconds. */
export interface ClockStretch {
  /** Its instants: [from, until). */
  readonly from: number;
  readonly until: number;
  /** The offset east of UTC. */
  readonly offset: number;
}

/** The stretch in which an instant lies, which is given in seconds. */
export function clockStretch(instant: number, timeZone: string): ClockStretch {
  const table = zoneTable(timeZone);
  const offset = offsetOf(table, instant);
  const from = Math.floor((instant + offset) / DAY) * DAY - offset;
  const until = from + DAY;
  // No two clock changes lie within two days.
  return {
    from: offsetOf(table, from) === offset ? from : (changeAfter(table, from) ?? from),
    until: offsetOf(table, until - 1) === offset ? until : (changeAfter(table, instant) ?? until),
    offset,
  };
}

function offsetOf(table: ZoneTable, instant: number): number {
  return instant >= TABLE_LO ? table.offsetAt(instant) : table.rules.offsetAt(instant);
}

// The first clock change after an instant. One is near.
function changeAfter(table: ZoneTable, instant: number): number | null {
  if (instant >= TABLE_LO) return table.changeAfter(instant);
  return table.rules.changes(instant + 1, instant + 3 * DAY)[0]?.instant ?? null;
}
