import type { CronDialect } from "../cron/spec.ts";
import { CronTrigger } from "../triggers/cron.ts";
import type { Lint } from "./finding.ts";

/** A field that a crontab has, and what comes after its last value. */
interface FieldUnit {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  text(value: number): string;
}

const two = (value: number): string => String(value).padStart(2, "0");
const MINUTE: FieldUnit = { name: "minute", min: 0, max: 59, text: (value) => `:${two(value)}` };
const HOUR: FieldUnit = { name: "hour", min: 0, max: 23, text: (value) => `${two(value)}:00` };
const DAY: FieldUnit = { name: "day", min: 1, max: 31, text: (value) => `day ${value}` };
const MONTH: FieldUnit = { name: "month", min: 1, max: 12, text: (value) => `month ${value}` };
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const WEEKDAY: FieldUnit = { name: "day", min: 0, max: 6, text: (value) => DAYS[value] ?? "" };
const UNITS = [MINUTE, HOUR, DAY, MONTH, WEEKDAY];

/** What five fields, which can be read, say that they may not mean. */
export function fieldLints(expression: string, dialect?: CronDialect | undefined): Lint[] {
  const fields = expression.split(/\s+/);
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = fields;
  if (fields.length !== 5) return [];
  return [
    ...dayLints(day, weekday, dialect),
    ...fields.flatMap((field, index) => unevenLint(field, UNITS[index] ?? MINUTE)),
    ...everyMinuteLints(minute, hour),
    ...monthLints(day, month, weekday),
  ];
}

function dayLints(day: string, weekday: string, dialect: CronDialect | undefined): Lint[] {
  // In OCPS, a step of a star is a restriction, too.
  const isFree = (field: string): boolean => (dialect === "ocps" ? /^([*?]$|\+)/ : /^[*?+]/).test(field);
  if (isFree(day) || isFree(weekday)) return [];
  const days = clauseOf(`0 0 ${day} * *`, dialect)
    .replace(/^on /, "")
    .replace(/ of the month$/, "");
  const message = `fires on ${days} OR ${clauseOf(`0 0 * * ${weekday}`, dialect)} (crontab's rule)`;
  return [{ severity: "warning", rule: "dayOrWeekday", message, suggestion: null }];
}

/** The days of a rule in words: `Friday`, `on day 13 of the month`. */
function clauseOf(expression: string, dialect: CronDialect | undefined): string {
  return new CronTrigger(expression, { dialect, dst: "auto" })
    .describe()
    .replace(/^At 00:00, /, "")
    .replace(/, in UTC.*$/, "");
}

/** A step that does not go into the length of its circle begins anew with each hour, day, month or year. */
function unevenLint(field: string, { min, max, name, text }: FieldUnit): Lint[] {
  const match = /^(\*|\d+)\/(\d+)$/.exec(field);
  if (match === null) return [];
  const step = Number(match[2]);
  const first = match[1] === "*" ? min : Number(match[1]);
  const size = max - min + 1;
  const last = first + Math.floor((max - first) / step) * step;
  const gap = size - last + first;
  if (gap === step || last === first) return [];
  // Months have 28 to 31 days: the step begins anew with each of them.
  const rest = name === "day" && max === 31 ? "begins anew with each month, so" : "";
  const count = `${gap} ${name}${gap === 1 ? "" : "s"}`;
  const problem = `${count} between ${text(last)} and ${text(first)}`;
  const message = rest === "" ? `uneven: ${problem}` : `uneven: ${rest} ${text(last)} is followed by ${text(first)}`;
  return [{ severity: "warning", rule: "uneven", message, suggestion: null }];
}

function everyMinuteLints(minute: string, hour: string): Lint[] {
  if (minute !== "*" || !/^\d+$/.test(hour)) return [];
  const message = `fires 60 times, each minute from ${two(Number(hour))}:00 on; write 0 as the minute for once`;
  return [{ severity: "warning", rule: "everyMinute", message, suggestion: `0 ${hour}` }];
}

function monthLints(day: string, month: string, weekday: string): Lint[] {
  if (!/^[*?]$/.test(weekday)) return [];
  if (day === "29" && /^(2|feb)$/i.test(month)) {
    return [{ severity: "note", rule: "leapYears", message: "fires in leap years alone", suggestion: null }];
  }
  if (!/^(29|30|31)$/.test(day) || month !== "*") return [];
  const skipped = day === "31" ? "5 months" : "February";
  const except = day === "29" ? " except in leap years" : "";
  const message = `does not fire in ${skipped}${except}; write L for the last day of each month`;
  return [{ severity: "note", rule: "shortMonths", message, suggestion: "L" }];
}
