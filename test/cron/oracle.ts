// A slow, plain twin of the engine, to compare it with. It shares no code and no idea with it: where the engine thinks
// in stretches of constant offset, this walks over wall-clock times in order and asks for each at which instants it
// fires, which is how semantics are worded.
import { Temporal } from "../../src/core/temporal.ts";
import type { BitSet64, CronSpec } from "../../src/cron/spec.ts";

const DAY = 86_400;
/** The walk over dates gives up after so many days: longer than any leap day waits, and short enough to be fast. */
export const ORACLE_DAYS_MAX = 9 * 366;

interface Transition {
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

const transitionsByZone = new Map<string, Transition[]>();

/** All transitions of a zone from 1970 to 2112, in seconds. */
export function transitionsOf(timeZone: string): readonly Transition[] {
  let transitions = transitionsByZone.get(timeZone);
  if (transitions === undefined) {
    transitions = [];
    let cursor = new Temporal.ZonedDateTime(BigInt(-3 * DAY) * 1_000_000_000n, timeZone);
    while (cursor.year < 2112) {
      const next = cursor.getTimeZoneTransition("next");
      if (next === null) break;
      transitions.push({
        at: next.epochMilliseconds / 1000,
        before: cursor.offsetNanoseconds / 1e9,
        after: next.offsetNanoseconds / 1e9,
      });
      cursor = next;
    }
    if (transitions.length === 0) {
      const offset = cursor.offsetNanoseconds / 1e9;
      transitions.push({ at: Number.NEGATIVE_INFINITY, before: offset, after: offset });
    }
    transitionsByZone.set(timeZone, transitions);
  }
  return transitions;
}

/** The first fire time later than `afterMs`, or null: there is none within {@link ORACLE_DAYS_MAX}. */
export function oracleNext(spec: CronSpec, afterMs: number): number | null {
  const after = Math.max(afterMs / 1000, -2 * DAY);
  const around = transitionsNear(spec.timeZone, after);
  let best = Number.POSITIVE_INFINITY;
  // No wall-clock time past this one fires before the best so far.
  let lastWall = Number.POSITIVE_INFINITY;
  for (const wall of wallTimesFrom(spec, Math.floor(after + offsetAt(spec.timeZone, after)) - largestShift(around))) {
    if (wall > lastWall) break;
    for (const instant of instantsOf(spec, wall)) {
      if (instant <= after || instant >= best) continue;
      best = instant;
      lastWall = best + offsetAt(spec.timeZone, best) + largestShift(transitionsNear(spec.timeZone, best));
    }
  }
  return best < Number.POSITIVE_INFINITY ? best * 1000 : null;
}

/** The last fire time earlier than `beforeMs`, or null: there is none within {@link ORACLE_DAYS_MAX}. */
export function oraclePrevious(spec: CronSpec, beforeMs: number): number | null {
  const before = beforeMs / 1000;
  const around = transitionsNear(spec.timeZone, before);
  let best = Number.NEGATIVE_INFINITY;
  for (const wall of wallTimesDownFrom(
    spec,
    Math.ceil(before + offsetAt(spec.timeZone, before)) + largestShift(around),
  )) {
    if (best > Number.NEGATIVE_INFINITY) {
      const shift = largestShift(transitionsNear(spec.timeZone, best));
      if (wall < best + offsetAt(spec.timeZone, best) - shift) break;
    }
    for (const instant of instantsOf(spec, wall)) if (instant < before && instant > best) best = instant;
  }
  return best > Number.NEGATIVE_INFINITY ? best * 1000 : null;
}

/** The instants at which a matching wall-clock time fires. */
function instantsOf(spec: CronSpec, wall: number): number[] {
  const transitions = transitionsOf(spec.timeZone);
  const instants: number[] = [];
  for (const offset of offsetsNear(spec.timeZone, wall)) {
    if (offsetAt(spec.timeZone, wall - offset) === offset) instants.push(wall - offset);
  }
  instants.sort((a, b) => a - b);
  if (instants.length > 1) {
    if (spec.overlap === "first") return instants.slice(0, 1);
    return spec.overlap === "second" ? instants.slice(-1) : instants;
  }
  if (instants.length === 1 || spec.gap === "skip") return instants;
  const gap = transitions.find(({ at, before, after }) => wall >= at + before && wall < at + after);
  if (gap === undefined) return [];
  return [spec.gap === "advance" ? gap.at : wall - gap.before];
}

function* wallTimesFrom(spec: CronSpec, from: number): Generator<number> {
  const start = Math.max(from, 0);
  const startDay = Math.floor(start / DAY);
  for (let day = startDay; day < startDay + ORACLE_DAYS_MAX; day++) {
    if (!isMatchingDate(spec, day)) continue;
    for (let hour = 0; hour < 24; hour++) {
      if (((spec.hours >>> hour) & 1) === 0 || day * DAY + hour * 3600 + 3599 < start) continue;
      for (let minute = 0; minute < 60; minute++) {
        if (!has(spec.minutes, minute)) continue;
        for (let second = 0; second < 60; second++) {
          const wall = day * DAY + hour * 3600 + minute * 60 + second;
          if (wall >= start && has(spec.seconds, second)) yield wall;
        }
      }
    }
  }
}

function* wallTimesDownFrom(spec: CronSpec, from: number): Generator<number> {
  const startDay = Math.floor(from / DAY);
  for (let day = startDay; day >= 0 && day > startDay - ORACLE_DAYS_MAX; day--) {
    if (!isMatchingDate(spec, day)) continue;
    for (let hour = 23; hour >= 0; hour--) {
      if (((spec.hours >>> hour) & 1) === 0 || day * DAY + hour * 3600 > from) continue;
      for (let minute = 59; minute >= 0; minute--) {
        if (!has(spec.minutes, minute)) continue;
        for (let second = 59; second >= 0; second--) {
          const wall = day * DAY + hour * 3600 + minute * 60 + second;
          if (wall <= from && has(spec.seconds, second)) yield wall;
        }
      }
    }
  }
}

/** A date, by the calendar of `Date`. */
interface CivilDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly weekday: number;
  readonly monthLength: number;
  readonly isoWeek: number;
}

const dates = new Map<number, CivilDate>();

// Remembered, as walks come by the same dates again and again.
function civilDate(epochDay: number): CivilDate {
  let date = dates.get(epochDay);
  if (date === undefined) {
    const time = new Date(epochDay * DAY * 1000);
    const year = time.getUTCFullYear();
    const month = time.getUTCMonth() + 1;
    date = {
      year,
      month,
      day: time.getUTCDate(),
      weekday: time.getUTCDay(),
      monthLength: new Date(Date.UTC(year, month, 0)).getUTCDate(),
      isoWeek: isoWeekOf(time),
    };
    dates.set(epochDay, date);
  }
  return date;
}

/** Whether a date (days since 1970-01-01) matches. */
export function isMatchingDate(spec: CronSpec, epochDay: number): boolean {
  const date = civilDate(epochDay);
  const { year, month } = date;
  if (year < 1970 || year > 9999 || ((spec.months >>> month) & 1) === 0) return false;
  if (spec.years !== null && (((spec.years[(year - 1970) >>> 5] ?? 0) >>> ((year - 1970) & 31)) & 1) === 0)
    return false;
  if (!has(spec.isoWeeks, date.isoWeek)) return false;
  const inDayPart = isInDayPart(spec, date);
  const inWeekdayPart = ((spec.daysOfWeek >>> date.weekday) & 1) === 1 || isNth(spec.nthOfWeekday, date);
  return spec.dayMatch === "or" ? inDayPart || inWeekdayPart : inDayPart && inWeekdayPart;
}

function isInDayPart(spec: CronSpec, date: CivilDate): boolean {
  const { day, monthLength } = date;
  if (((spec.daysOfMonth >>> day) & 1) === 1) return true;
  if (((spec.lastDayOffsets >>> (monthLength - day)) & 1) === 1) return true;
  if (isNth(spec.nthOfDay, date)) return true;
  for (let named = 1; named <= monthLength; named++) {
    if (((spec.nearestWeekdays >>> named) & 1) === 1 && nearestWeekday(date, named) === day) return true;
  }
  if (!spec.hasLastWeekday) return false;
  let last = monthLength;
  while (!isWorkday(date, last)) last--;
  return day === last;
}

function nearestWeekday(date: CivilDate, named: number): number {
  const candidates = [0, -1, 1, -2, 2].map((by) => named + by);
  return candidates.find((day) => day >= 1 && day <= date.monthLength && isWorkday(date, day)) ?? 0;
}

function isNth(set: BitSet64, { day, weekday, monthLength }: CivilDate): boolean {
  const isLast = day + 7 > monthLength;
  return has(set, Math.floor((day - 1) / 7) * 7 + weekday) || (isLast && has(set, 35 + weekday));
}

// Whether another day of a date's month lies between Monday and Friday.
function isWorkday(date: CivilDate, day: number): boolean {
  const weekday = (date.weekday + day - date.day + 70) % 7;
  return weekday >= 1 && weekday <= 5;
}

function isoWeekOf(date: Date): number {
  // ISO 8601: week 1 is the one with 4 January; weeks start on Monday.
  const monday = (time: number): number => time - ((new Date(time).getUTCDay() + 6) % 7) * DAY * 1000;
  const year = date.getUTCFullYear();
  for (const candidate of [year + 1, year, year - 1]) {
    const firstMonday = monday(Date.UTC(candidate, 0, 4));
    if (date.getTime() >= firstMonday) return Math.floor((date.getTime() - firstMonday) / (7 * DAY * 1000)) + 1;
  }
  return 0;
}

function has(set: BitSet64, value: number): boolean {
  return ((value < 32 ? set.lo >>> value : set.hi >>> (value - 32)) & 1) === 1;
}

function offsetAt(timeZone: string, instant: number): number {
  const transitions = transitionsOf(timeZone);
  let low = 0;
  let high = transitions.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((transitions[middle]?.at ?? 0) <= instant) low = middle + 1;
    else high = middle;
  }
  return (low === 0 ? transitions[0]?.before : transitions[low - 1]?.after) ?? 0;
}

function transitionsNear(timeZone: string, instant: number): Transition[] {
  const transitions = transitionsOf(timeZone);
  let low = 0;
  let high = transitions.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((transitions[middle]?.at ?? 0) < instant - 3 * DAY) low = middle + 1;
    else high = middle;
  }
  const near: Transition[] = [];
  for (let index = low; index < transitions.length; index++) {
    const transition = transitions[index];
    if (transition === undefined || transition.at > instant + 3 * DAY) break;
    near.push(transition);
  }
  return near;
}

function offsetsNear(timeZone: string, wall: number): Set<number> {
  const offsets = new Set([offsetAt(timeZone, wall)]);
  for (const { before, after } of transitionsNear(timeZone, wall)) offsets.add(before).add(after);
  return offsets;
}

function largestShift(transitions: readonly Transition[]): number {
  return Math.max(0, ...transitions.map(({ before, after }) => Math.abs(after - before)));
}
