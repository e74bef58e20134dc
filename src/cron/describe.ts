import { nthWeekdaysOf, runsOf, stepOf, valuesOf, weekdaysOf, yearsOf } from "./bit-sets.ts";
import { YEAR } from "./fields.ts";
import type { BitSet64, CronSpec, GapPolicy, OverlapPolicy, ParsedCron } from "./spec.ts";

export const WEEKDAYS: readonly string[] = [
  "Sunday",
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
];
export const MONTHS: readonly string[] =
  "January February March April May June July August September October November December".split(" ");
const NTH = ["first", "second", "third", "fourth", "fifth", "last"];

/** Where a set of years has more runs than this, the description shows the field as it was written. */
const LISTED_MAX = 6;
/** Where so many values or fewer are equally far apart without filling their circle, all of them are named. */
const NAMED_MAX = 10;

/** A cron spec in English: `At 09:00, Monday to Friday, in Europe/Berlin`. */
export function describeCron(spec: ParsedCron): string {
  const clauses = [timeClause(spec), dateClause(spec), monthClause(spec), weekClause(spec.isoWeeks), yearClause(spec)];
  const dst = isAutoDst(spec) ? "" : dstText(spec.gap, spec.overlap);
  return `${clauses.filter((clause) => clause !== "").join(", ")}, in ${spec.timeZone}${dst}`;
}

/** Whether a spec does what `dst: "auto"` means for it when clocks change. */
export function isAutoDst({ gap, overlap, hours }: CronSpec): boolean {
  return hours === 0xffffff ? gap === "skip" && overlap === "both" : gap === "advance" && overlap === "first";
}

/** ` (skipped times do not fire, repeated times fire twice)`: what a rule does when clocks change. */
export function dstText(gap: GapPolicy, overlap: OverlapPolicy): string {
  return ` (skipped times ${GAP_TEXTS[gap]}, repeated times fire ${OVERLAP_TEXTS[overlap]})`;
}

const GAP_TEXTS = {
  advance: "fire when the gap ends",
  shift: "fire later by the gap",
  skip: "do not fire",
} as const satisfies Record<GapPolicy, string>;

const OVERLAP_TEXTS = {
  first: "the first time",
  second: "the second time",
  both: "twice",
} as const satisfies Record<OverlapPolicy, string>;

function timeClause(spec: ParsedCron): string {
  const seconds = valuesOf(spec.seconds.lo, spec.seconds.hi);
  const minutes = valuesOf(spec.minutes.lo, spec.minutes.hi);
  const hours = valuesOf(spec.hours, 0);
  const [second = 0] = seconds;
  const [minute = 0] = minutes;
  if (seconds.length === 1 && minutes.length === 1) return hourlyClause(hours, minute, second);
  const [run, ...otherRuns] = runsOf(hours, 0, 23);
  const isDay = hours.length === 24;
  const isRun = !isDay && run !== undefined && otherRuns.length === 0;
  const span = isRun ? ` from ${clock(run[0], 0, 0)} to ${clock(run[1], 59, 0)}` : "";
  // One rhythm says it all where the finer unit has one value and the hours are a run.
  const isBySecond = seconds.length > 1;
  const isByMinute = !isBySecond && isCircle(minutes, 60);
  if (isByMinute || (isBySecond && minutes.length === 60 && isCircle(seconds, 60))) {
    const rhythm = isByMinute ? rhythmText(minutes, "minute") : rhythmText(seconds, "second");
    const past = isByMinute && second > 0 ? `, at second ${second}` : "";
    return capital(`${rhythm}${isDay || isRun ? span : ` of ${scopeText(hours, 24, "hour")}`}${past}`);
  }
  const parts: string[] = [];
  if (isBySecond) parts.push(isCircle(seconds, 60) ? rhythmText(seconds, "second") : scopeText(seconds, 60, "second"));
  else if (second > 0) parts.push(`second ${second}`);
  parts.push(scopeText(minutes, 60, "minute"));
  // "Every minute" of every hour needs no hour.
  if (!isDay || minutes.length < 60) parts.push(scopeText(hours, 24, "hour"));
  const text = parts.join(" of ");
  return capital(text.startsWith("every") ? text : `at ${text}`);
}

/** The clause of a rule with one minute and one second. */
function hourlyClause(hours: readonly number[], minute: number, second: number): string {
  const [run, ...otherRuns] = runsOf(hours, 0, 23);
  const isRun = run !== undefined && otherRuns.length === 0;
  const step = isRun ? 1 : stepOf(hours);
  if (hours.length < 4 || step === 0) return `At ${list(hours.map((hour) => clock(hour, minute, second)))}`;
  const every = `Every ${step === 1 ? "hour" : `${step} hours`}`;
  if (hours.length * step === 24 && hours[0] === 0) {
    return minute + second === 0 ? every : `${every} at minute ${minute}${second === 0 ? "" : ` and second ${second}`}`;
  }
  const [first, last] = isRun ? run : [hours[0] ?? 0, hours.at(-1) ?? 0];
  return `${every} from ${clock(first, minute, second)} to ${clock(last, minute, second)}`;
}

/** Whether values are equally far apart all around a circle, as minutes 5, 20, 35 and 50 are. */
function isCircle(values: readonly number[], size: number): boolean {
  return values.length === size || (stepOf(values) * values.length === size && (values.length > 2 || values[0] === 0));
}

/** `every second`, `every 15 minutes`, `every 15 minutes from minute 5`: values that are a circle. */
function rhythmText(values: readonly number[], unit: string): string {
  const [first = 0] = values;
  const step = 60 / values.length;
  const name = step === 1 ? `every ${unit}` : `every ${step} ${unit}s`;
  return first === 0 ? name : `${name} from ${unit} ${first}`;
}

/** Which of a unit: `every minute`, `every 2nd hour from 0 to 22`, `minute 5`, `hours 9 to 17 and 20`. */
function scopeText(values: readonly number[], size: number, unit: string): string {
  if (values.length === size) return `every ${unit}`;
  if (values.length > NAMED_MAX && stepOf(values) > 0) return everyNth(values, unit);
  // Minutes 0 and 59 are neighbours, but nobody would read "59 and 0" so.
  const bounds = values.length > 2 ? [0, size - 1] : [];
  return `${unit}${values.length > 1 ? "s" : ""} ${list(runTexts(values, String, bounds))}`;
}

/** `every 2nd hour from 1 to 23`: values that are equally far apart. Both ends are named, because the step starts
 *  anew with every day, hour or month. */
function everyNth(values: readonly number[], unit: string): string {
  return `every ${ordinal(stepOf(values))} ${unit} from ${values[0]} to ${values.at(-1)}`;
}

function ordinal(count: number): string {
  const isTeen = count % 100 > 10 && count % 100 < 14;
  return `${count}${isTeen ? "th" : (["th", "st", "nd", "rd"][count % 10] ?? "th")}`;
}

function dateClause(spec: ParsedCron): string {
  const day = dayClause(spec);
  const weekday = weekdayClause(spec);
  if (day === "" || weekday === "") return day + weekday;
  return spec.dayMatch === "or" ? `${day} or ${weekday}` : `${day} if it is ${weekday}`;
}

function dayClause(spec: ParsedCron): string {
  const days = valuesOf(spec.daysOfMonth, 0);
  if (days.length === 31) return "";
  const parts: string[] = [];
  if (days.length > 0)
    parts.push(isOfOneMonth(spec) ? `${list(runTexts(days, String))} ${monthName(spec)}` : daysOf(days));
  for (const near of valuesOf(spec.nearestWeekdays, 0)) parts.push(`the weekday nearest to day ${near}`);
  for (const offset of valuesOf(spec.lastDayOffsets, 0)) {
    parts.push(offset === 0 ? "the last day" : `the day ${offset === 1 ? "" : `${offset} days `}before the last`);
  }
  if (spec.hasLastWeekday) parts.push("the last weekday (Monday to Friday)");
  parts.push(...nthTexts(spec.nthOfDay));
  return `on ${list(parts)}${isOfOneMonth(spec) ? "" : " of the month"}`;
}

function daysOf(days: readonly number[]): string {
  if (days.length > NAMED_MAX && stepOf(days) > 0) return everyNth(days, "day");
  return `day${days.length > 1 ? "s" : ""} ${list(runTexts(days, String))}`;
}

/** Whether the day clause reads `on 1 January` and so names the month. Then there is no month clause. */
function isOfOneMonth(spec: ParsedCron): boolean {
  const isPlain = spec.lastDayOffsets + spec.nearestWeekdays + spec.nthOfDay.lo + spec.nthOfDay.hi === 0;
  const isOneMonth = (spec.months & (spec.months - 1)) === 0;
  return (
    isOneMonth &&
    isPlain &&
    !spec.hasLastWeekday &&
    spec.dayMatch === "and" &&
    valuesOf(spec.daysOfMonth, 0).length < 31
  );
}

function weekdayClause(spec: ParsedCron): string {
  const days = weekdaysOf(spec.daysOfWeek);
  if (days.length === 7) return "";
  const nth = nthTexts(spec.nthOfWeekday);
  const names = runTexts(days, (day) => WEEKDAYS[day % 7] ?? "", [1, 7]);
  return list([...names, ...(nth.length === 0 ? [] : [`on ${list(nth)} of the month`])]);
}

function nthTexts(set: BitSet64): string[] {
  return nthWeekdaysOf(set).map(({ nth, weekday }) => `the ${NTH[nth - 1]} ${WEEKDAYS[weekday]}`);
}

function monthClause(spec: ParsedCron): string {
  const months = valuesOf(spec.months, 0);
  if (months.length === 12 || isOfOneMonth(spec)) return "";
  return within(runTexts(months, (month) => MONTHS[month - 1] ?? "", [1, 12]));
}

function monthName(spec: ParsedCron): string {
  return MONTHS[30 - Math.clz32(spec.months)] ?? "";
}

function weekClause({ lo, hi }: BitSet64): string {
  const weeks = valuesOf(lo, hi);
  if (weeks.length === 53) return "";
  if (weeks.length > NAMED_MAX && stepOf(weeks) > 0) return `in ${everyNth(weeks, "ISO week")}`;
  return `in ISO week${weeks.length > 1 ? "s" : ""} ${list(runTexts(weeks, String))}`;
}

function yearClause(spec: ParsedCron): string {
  if (spec.years === null) return "";
  const years = yearsOf(spec.years);
  const step = stepOf(years);
  if (step > 0 && years.length > NAMED_MAX) {
    const last = years.at(-1) ?? YEAR.max;
    return `every ${step} years from ${years[0]}${last + step > YEAR.max ? "" : ` to ${last}`}`;
  }
  const runs = runTexts(years, String);
  // No run at all: years before 1970.
  return runs.length > LISTED_MAX || runs.length === 0 ? `in the years ${spec.yearText}` : within(runs);
}

/** The names of values, where three or more neighbours become `Monday to Friday`. With bounds, a run may go on from the
 *  largest value to the smallest: `Saturday to Monday`. */
function runTexts(values: readonly number[], name: (value: number) => string, bounds: number[] = []): string[] {
  const [min, max] = bounds;
  return runsOf(values, ...bounds).flatMap(([first, last]) => {
    if (first === last) return name(first);
    const isPair = last === first + 1 || (first === max && last === min);
    return isPair ? [name(first), name(last)] : `${name(first)} to ${name(last)}`;
  });
}

/** `January to March`, `in January and March`. */
function within(items: readonly string[]): string {
  return `${items[0]?.includes(" to ") === true && items.length === 1 ? "" : "in "}${list(items)}`;
}

function list(items: readonly string[]): string {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

/** `09:05`, `09:05:30` */
function clock(hour: number, minute: number, second: number): string {
  return new Date(((hour * 60 + minute) * 60 + second) * 1000).toISOString().slice(11, second === 0 ? 16 : 19);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
