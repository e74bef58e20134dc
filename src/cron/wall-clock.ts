import { Temporal } from "../core/temporal.ts";
import type { GapPolicy, OverlapPolicy } from "./spec.ts";
import { zoneTable } from "./zone.ts";

// Wall-clock times and dates of time zones. From 1970 on they are looked up in the table of the zone, which takes some
// 100 nanoseconds, where Temporal takes some 100 microseconds. Older ones are rare, and Temporal is asked about them.

const DAY = 86_400;
/** The tables know the offsets from here on, whatever the zone: the first days of 1970 are left to Temporal. */
const TABLE_LO = 2 * DAY;
/** Temporal represents 100,000,000 days on either side of 1970. Instants near either end count as this far from 1970,
 *  because offsets lead beyond the end, and nothing fires there. */
const OLDEST = -99_999_990 * DAY;

/** The date on which an instant (epoch milliseconds) falls in a time zone, as days since 1970-01-01. */
export function dayAt(epochMs: number, timeZone: string): number {
  const instant = Math.max(Math.floor(epochMs / 1000), OLDEST);
  if (timeZone === "UTC") return Math.floor(instant / DAY);
  if (instant >= TABLE_LO) return Math.floor((instant + zoneTable(timeZone).offsetAt(instant)) / DAY);
  const zoned = new Temporal.ZonedDateTime(BigInt(instant) * 1_000_000_000n, timeZone);
  return Math.floor((instant + zoned.offsetNanoseconds / 1e9) / DAY);
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
  if (local < TABLE_LO + DAY) return oldWallTimes(local, timeZone, gap, overlap);
  const table = zoneTable(timeZone);
  // No offset reaches a day, and no two clock changes lie within two days.
  const before = table.offsetAt(local - DAY);
  const after = table.offsetAt(local + DAY);
  if (before === after) return [(local - before) * 1000];
  const earlier = local - before;
  const later = local - after;
  const isEarlier = table.offsetAt(earlier) === before;
  const isLater = table.offsetAt(later) === after;
  if (isEarlier && isLater) {
    // The clock was put back, so the time exists twice.
    return overlap === "both" ? [earlier * 1000, later * 1000] : [(overlap === "first" ? earlier : later) * 1000];
  }
  if (isEarlier || isLater) return [(isEarlier ? earlier : later) * 1000];
  if (gap === "skip") return [];
  // In the gap the time is read with the offset from before the change.
  if (gap === "shift") return [earlier * 1000];
  return [(table.changeAfter(later) ?? earlier) * 1000];
}

/** The first instant of a date, in epoch milliseconds. */
export function startOfDay(day: number, timeZone: string): number {
  return wallTimes(day, 0, timeZone, "advance", "first")[0] ?? day * DAY * 1000;
}

function oldWallTimes(local: number, timeZone: string, gap: GapPolicy, overlap: OverlapPolicy): readonly number[] {
  const wall = new Temporal.PlainDateTime(1970, 1, 1).add({ seconds: local });
  const earlier = wall.toZonedDateTime(timeZone, { disambiguation: "earlier" });
  const later = wall.toZonedDateTime(timeZone, { disambiguation: "later" });
  const earlierMs = earlier.epochMilliseconds;
  const laterMs = later.epochMilliseconds;
  if (earlierMs === laterMs) return [earlierMs];
  if (earlier.toPlainDateTime().equals(wall)) {
    return overlap === "both" ? [earlierMs, laterMs] : [overlap === "first" ? earlierMs : laterMs];
  }
  if (gap === "skip") return [];
  if (gap === "shift") return [laterMs];
  // Temporal's earlier reading of a time in a gap lies before the clock change, so the next transition is that change.
  return [earlier.getTimeZoneTransition("next")?.epochMilliseconds ?? laterMs];
}
