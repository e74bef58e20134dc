import { nthWeekdaysOf, runsOf, stepOf, valuesOf, weekdaysOf, yearsOf } from "./bit-sets.ts";
import { type CronField, DAY, DAY_OF_WEEK, HOUR, MINUTE, MONTH, SECOND, WEEK, WEEKDAY_NAMES, YEAR } from "./fields.ts";
import type { BitSet64, ParsedCron } from "./spec.ts";

/** Where the list of years would be longer than this, the text has the year field as it was written. */
const YEAR_TEXT_LENGTH_MAX = 100;

/**
 * Canonical crontab text: one text for all spellings of a rule, which compiles to the same rule again. Five fields,
 * six where the second is not 0, seven where the year is restricted, then `week=` where the ISO week is. A `+` before
 * the weekday says that the day must match, too.
 */
export function cronText(spec: ParsedCron): string {
  const years = yearField(spec);
  const day = dayField(spec);
  const weekday = weekdayField(spec);
  const second = valuesText(spec.seconds.lo, spec.seconds.hi, SECOND);
  const fields = [
    valuesText(spec.minutes.lo, spec.minutes.hi, MINUTE),
    valuesText(spec.hours, 0, HOUR),
    day,
    valuesText(spec.months, 0, MONTH),
    spec.dayMatch === "or" || day.startsWith("*") || weekday === "*" ? weekday : `+${weekday}`,
  ];
  if (second !== "0" || years !== "*") fields.unshift(second);
  if (years !== "*") fields.push(years);
  const week = valuesText(spec.isoWeeks.lo, spec.isoWeeks.hi, WEEK);
  if (week !== "*") fields.push(`week=${week}`);
  return fields.join(" ");
}

function valuesText(lo: number, hi: number, field: CronField): string {
  return listText(valuesOf(lo, hi), field, true);
}

/** @param mayStar whether the text may start with `*`. With `dayMatch: "or"` it may not, because such a field counts as
 *  unrestricted. */
function listText(values: readonly number[], { min, max, wraps }: CronField, mayStar: boolean): string {
  const [first = min] = values;
  const last = values.at(-1) ?? min;
  const step = stepOf(values);
  if (step > 0) {
    const isToEnd = last + step > max;
    if (isToEnd && first === min && mayStar) return `*/${step}`;
    if (values.length > 2) return isToEnd ? `${first}/${step}` : `${first}-${last}/${step}`;
  }
  if (mayStar && values.length === max - min + 1) return "*";
  return (wraps ? runsOf(values, min, max) : runsOf(values))
    .map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`))
    .join(",");
}

function yearField({ years, yearText }: ParsedCron): string {
  return years === null ? "*" : (shortYears(years) ?? yearText);
}

/** The text of a set of years; null for a long one. */
export function shortYears(years: Uint32Array): string | null {
  const text = listText(yearsOf(years), YEAR, true);
  return text.length > YEAR_TEXT_LENGTH_MAX ? null : text;
}

function dayField(spec: ParsedCron): string {
  const parts: string[] = [];
  const days = valuesOf(spec.daysOfMonth, 0);
  if (days.length > 0) parts.push(listText(days, DAY, spec.dayMatch === "and"));
  for (const day of valuesOf(spec.nearestWeekdays, 0)) parts.push(`${day}W`);
  for (const offset of valuesOf(spec.lastDayOffsets, 0)) parts.push(offset === 0 ? "L" : `L-${offset}`);
  if (spec.hasLastWeekday) parts.push("LW");
  return parts.concat(nthText(spec.nthOfDay)).join(",");
}

function weekdayField(spec: ParsedCron): string {
  const days = weekdaysOf(spec.daysOfWeek);
  if (days.length > DAY_OF_WEEK.max) return "*";
  const runs = runsOf(days, 1, 7).map(([from, to]) =>
    from === to ? weekdayName(from) : `${weekdayName(from)}-${weekdayName(to)}`,
  );
  return runs.concat(nthText(spec.nthOfWeekday)).join(",");
}

function nthText(set: BitSet64): string[] {
  return nthWeekdaysOf(set).map(({ nth, weekday }) => weekdayName(weekday) + (nth > 5 ? "L" : `#${nth}`));
}

function weekdayName(day: number): string {
  return WEEKDAY_NAMES[day % 7] ?? "";
}
