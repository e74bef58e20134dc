import { MONTHS, WEEKDAYS } from "../cron/describe.ts";
import { boundsText, periodText } from "../triggers/words.ts";
import type { Frequency, RecurrenceRule, RuleText, TextTime } from "./rule.ts";

const UNITS: Readonly<Record<Frequency, string>> = {
  YEARLY: "year",
  MONTHLY: "month",
  WEEKLY: "week",
  DAILY: "day",
  HOURLY: "hour",
  MINUTELY: "minute",
  SECONDLY: "second",
};

/** Most items of a list that a description names. */
const NAMED_MAX = 8;

/** A rule in English. */
export function describeRule({ start, rule, added, excluded }: RuleText, timeZone: string, dst: string): string {
  const dates = (list: readonly TextTime[], what: string) =>
    list.length === 0 ? "" : `, ${what} ${list.length} ${list.length === 1 ? "date" : "dates"}`;
  const from = wallText(start);
  const main = rule === null ? "On given dates" : ruleText(rule, start);
  const until = rule?.until
    ? wallText(rule.until) + (rule.until.timeZone === "UTC" && timeZone !== "UTC" ? " UTC" : "")
    : null;
  const times = rule === null || rule.count === null ? "" : `, ${rule.count === 1 ? "once" : `${rule.count} times`}`;
  const others = dates(added, "and on") + dates(excluded, "but not on");
  return `${main}, in ${timeZone}${dst}${boundsText(from, until)}${times}${others}`;
}

function ruleText(rule: RecurrenceRule, start: TextTime): string {
  const { months, weeks, yearDays, monthDays, weekdays, positions } = rule;
  const parts = [
    periodText([[rule.interval, UNITS[rule.frequency]]]),
    months.length === 0 ? "" : ` in ${listText(months.map((month) => MONTHS[month - 1] ?? ""))}`,
    weeks.length === 0
      ? ""
      : ` in ${listText(weeks.map((week) => (week < 0 ? fromEnd(week, "week") : `week ${week}`)))}`,
    yearDays.length === 0 ? "" : ` on ${listText(yearDays.map((day) => place(day, "day")))} of the year`,
    monthDays.length === 0 ? "" : ` on ${listText(monthDays.map((day) => place(day, "day")))} of the month`,
    weekdays.length === 0
      ? ""
      : ` on ${listText(weekdays.map(({ weekday, nth }) => (nth === 0 ? name(weekday) : place(nth, name(weekday)))))}`,
    timesText(rule, start),
    positions.length === 0
      ? ""
      : ` (of each ${UNITS[rule.frequency]}, ${listText(positions.map((at) => place(at, "")))} only)`,
  ];
  return parts.join("");
}

function timesText({ frequency, hours, minutes, seconds }: RecurrenceRule, { wall, isDate }: TextTime): string {
  if (isDate && hours.length + minutes.length + seconds.length === 0) return "";
  const isShort = ["HOURLY", "MINUTELY", "SECONDLY"].includes(frequency);
  const second = ((wall % 86_400) + 86_400) % 86_400;
  const all = hours.length > 0 ? hours : isShort ? [] : [Math.floor(second / 3600)];
  const allMinutes = minutes.length > 0 ? minutes : [Math.floor(second / 60) % 60];
  const allSeconds = seconds.length > 0 ? seconds : [second % 60];
  if (!isShort && all.length * allMinutes.length * allSeconds.length <= NAMED_MAX) {
    const pad = (value: number): string => String(value).padStart(2, "0");
    const times = all.flatMap((hour) =>
      allMinutes.flatMap((minute) =>
        allSeconds.map((one) => `${pad(hour)}:${pad(minute)}${one === 0 ? "" : `:${pad(one)}`}`),
      ),
    );
    return ` at ${listText(times)}`;
  }
  const given = [
    hours.length === 0 ? "" : ` in hour ${listText(hours)}`,
    minutes.length === 0 ? "" : ` at minute ${listText(minutes)}`,
    seconds.length === 0 ? "" : ` at second ${listText(seconds)}`,
  ];
  return given.join("");
}

function name(weekday: number): string {
  return WEEKDAYS[(weekday + 1) % 7] ?? "";
}

/** `the 2nd Tuesday`, `the last day`, `the 2nd-last Friday`. */
function place(nth: number, what: string): string {
  return nth < 0 ? fromEnd(nth, what) : `the ${ordinal(nth)} ${what}`.trimEnd();
}

function fromEnd(nth: number, what: string): string {
  return `the ${nth === -1 ? "last" : `${ordinal(-nth)}-last`} ${what}`.trimEnd();
}

function ordinal(nth: number): string {
  const isTeen = Math.floor(nth / 10) % 10 === 1;
  return `${nth}${(isTeen ? undefined : ["th", "st", "nd", "rd"][nth % 10]) ?? "th"}`;
}

function listText(items: readonly (string | number)[]): string {
  const more = items.length - NAMED_MAX;
  const named = more > 1 ? [...items.slice(0, NAMED_MAX), `${more} others`] : items;
  return named.length === 1 ? String(named[0]) : `${named.slice(0, -1).join(", ")} and ${named.at(-1)}`;
}

function wallText({ wall, isDate }: TextTime): string {
  const text = new Date(wall * 1000).toISOString();
  return isDate ? text.slice(0, 10) : text.slice(0, text.slice(17, 19) === "00" ? 16 : 19).replace("T", " ");
}
