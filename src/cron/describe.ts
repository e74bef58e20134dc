import { nthWeekdaysOf, runsOf, stepOf, valuesOf, weekdaysOf, yearsOf } from "./bit-sets.ts";
import { YEAR } from "./fields.ts";
import type { BitSet64, ParsedCron } from "./spec.ts";

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = "January February March April May June July August September October November December".split(" ");
const NTH = ["first", "second", "third", "fourth", "fifth", "last"];

/** Where a set of years has more runs than this, the description shows the field as it was written. */
const LISTED_MAX = 6;

/** A cron spec in English: `At 09:00, Monday to Friday, in Europe/Berlin`. */
export function describeCron(spec: ParsedCron): string {
  const clauses = [timeClause(spec), dateClause(spec), monthClause(spec), weekClause(spec.isoWeeks), yearClause(spec)];
  return `${clauses.filter((clause) => clause !== "").join(", ")}, in ${spec.timeZone}`;
}

function timeClause(spec: ParsedCron): string {
  const seconds = valuesOf(spec.seconds.lo, spec.seconds.hi);
  const minutes = valuesOf(spec.minutes.lo, spec.minutes.hi);
  const hours = valuesOf(spec.hours, 0);
  const [second = 0] = seconds;
  const [minute = 0] = minutes;
  const hourRuns = runsOf(hours, 0, 23);
  const isHourRun = hourRuns.length === 1;
  const [firstHour, lastHour] =
    isHourRun && hourRuns[0] !== undefined ? hourRuns[0] : [hours[0] ?? 0, hours.at(-1) ?? 0];
  if (seconds.length === 1 && minutes.length === 1) {
    const step = isHourRun ? 1 : stepOf(hours);
    if (hours.length < 4 || step === 0) return `At ${list(hours.map((hour) => clock(hour, minute, second)))}`;
    const isToEnd = firstHour === 0 && lastHour + step >= 24;
    const past = minute + second === 0 ? "" : ` at minute ${minute}${second === 0 ? "" : ` and second ${second}`}`;
    const range = ` from ${clock(firstHour, minute, second)} to ${clock(lastHour, minute, second)}`;
    return `Every ${step === 1 ? "hour" : `${step} hours`}${isToEnd ? past : range}`;
  }
  const parts: string[] = [];
  if (seconds.length > 1 || second > 0) parts.push(every(seconds, 60, "second"));
  if (parts.length === 0 || minutes.length < 60) parts.push(every(minutes, 60, "minute"));
  const isPlain = parts.length === 1 && parts[0]?.startsWith("every") === true;
  if (hours.length < 24) {
    parts.push(isPlain && isHourRun ? "" : every(hours, 24, "hour"));
  } else if (!isPlain && minutes.length < 60) {
    parts.push("every hour");
  }
  const text = parts.filter((part) => part !== "").join(" of ");
  const range = parts.at(-1) === "" ? ` from ${clock(firstHour, 0, 0)} to ${clock(lastHour, 59, 0)}` : "";
  return capital(text.startsWith("every") ? text + range : `at ${text}`);
}

/** `every second`, `every 15 minutes`, `every 15 minutes from 5`, `minute 5`, `hours 9 to 17 and 20`. */
function every(values: readonly number[], size: number, unit: string): string {
  const [first = 0] = values;
  const last = values.at(-1) ?? first;
  if (values.length === size) return `every ${unit}`;
  const step = stepOf(values);
  const isToEnd = last + step >= size;
  if (step > 0 && (values.length > 2 || (isToEnd && first === 0))) {
    const name = `every ${step} ${unit}s`;
    return first === 0 && isToEnd ? name : `${name} from ${unit} ${first}${isToEnd ? "" : ` to ${last}`}`;
  }
  const bounds = size === 60 || size === 24 ? [0, size - 1] : [];
  return `${unit}${values.length > 1 ? "s" : ""} ${list(runTexts(values, String, bounds))}`;
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
  const text = `${list(parts)}${isOfOneMonth(spec) ? "" : " of the month"}`;
  return text.startsWith("every") ? text : `on ${text}`;
}

function daysOf(days: readonly number[]): string {
  const step = stepOf(days);
  return step > 0 && days.length > 2
    ? every(days, 32, "day")
    : `day${days.length > 1 ? "s" : ""} ${list(runTexts(days, String))}`;
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
  const step = stepOf(weeks);
  if (step > 0 && weeks.length > 2) return every(weeks, 54, "ISO week");
  return `in ISO week${weeks.length > 1 ? "s" : ""} ${list(runTexts(weeks, String))}`;
}

function yearClause(spec: ParsedCron): string {
  if (spec.years === null) return "";
  const years = yearsOf(spec.years);
  // "from 2024", not "from year 2024".
  if (stepOf(years) > 0 && years.length > 2) return every(years, YEAR.max + 1, "year").replace("year ", "");
  const runs = runTexts(years, String);
  return runs.length > LISTED_MAX ? `in the years ${spec.yearText}` : within(runs);
}

/** The names of values, where three or more neighbours become `Monday to Friday`. With bounds, a run may go on from the
 *  largest value to the smallest: `Saturday to Monday`. */
function runTexts(values: readonly number[], name: (value: number) => string, bounds: number[] = []): string[] {
  return runsOf(values, ...bounds).flatMap(([first, last]) =>
    first === last ? name(first) : last === first + 1 ? [name(first), name(last)] : `${name(first)} to ${name(last)}`,
  );
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
