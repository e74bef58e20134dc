import { mustBe, optionError, shown } from "../core/option-errors.ts";
import { daysInMonth, epochDayOf } from "../triggers/civil-date.ts";
import { resolveTimeZone } from "../triggers/options.ts";
import { type ContentLine, contentLines } from "./content-lines.ts";
import { RRULE_DATES_MAX, RRULE_TEXT_LENGTH_MAX } from "./limits.ts";
import {
  FREQUENCIES,
  type Frequency,
  type NthWeekday,
  type RecurrenceRule,
  type RuleText,
  type TextTime,
  WEEKDAY_NAMES,
} from "./rule.ts";

const WHERE = "RRuleTrigger";

/** Reads `DTSTART`, `RRULE`, `RDATE` and `EXDATE`. @throws {OptionsError} */
export function parseRuleText(text: unknown): RuleText {
  if (typeof text !== "string" || text.length > RRULE_TEXT_LENGTH_MAX) {
    const what = `text of RFC 5545 of at most ${RRULE_TEXT_LENGTH_MAX} characters`;
    throw refused("text", mustBe(what, typeof text === "string" ? text.slice(0, 80) : text, "text", EXAMPLE));
  }
  const lines = [...contentLines(text)];
  if (lines.includes(null) || lines.length === 0) throw refused("text", `must be lines NAME:value; ${EXAMPLE}`);
  return ruleTextOf(lines as ContentLine[]);
}

const EXAMPLE = 'write such as "DTSTART;TZID=Europe/Berlin:20300101T090000\\nRRULE:FREQ=WEEKLY;BYDAY=MO,FR"';

/** @throws {OptionsError} */
function ruleTextOf(lines: readonly ContentLine[]): RuleText {
  let start: TextTime | null = null;
  let rule: RecurrenceRule | null = null;
  const dates: Record<"RDATE" | "EXDATE", TextTime[]> = { RDATE: [], EXDATE: [] };
  for (const line of lines) {
    const { name, value } = line;
    if (name === "DTSTART") {
      if (start !== null) throw refused(name, "comes twice");
      start = timeOf(line, value);
    } else if (name === "RRULE") {
      if (rule !== null) throw refused(name, "comes twice; take an OrTrigger of two triggers");
      rule = parseRule(value);
    } else if (name === "RDATE" || name === "EXDATE") {
      for (const one of value.split(",")) dates[name].push(timeOf(line, one));
      if (dates[name].length > RRULE_DATES_MAX) throw refused(name, `must have at most ${RRULE_DATES_MAX} dates`);
    } else {
      const advice = name === "EXRULE" ? "; take an ExcludingTrigger" : "";
      throw refused("text", `has ${shown(name)}, which is none of DTSTART, RRULE, RDATE and EXDATE${advice}`);
    }
  }
  if (start === null) throw refused("DTSTART", `is missing; ${EXAMPLE}`);
  const { RDATE: added, EXDATE: excluded } = dates;
  if (rule === null && added.length === 0) throw refused("RRULE", `is missing; ${EXAMPLE}`);
  for (const [name, list] of Object.entries(dates)) {
    if (list.some(({ isDate }) => isDate !== start?.isDate)) throw refused(name, sameKind(start));
  }
  const until = rule?.until ?? null;
  if (until !== null && until.isDate !== start.isDate) throw refused("UNTIL", sameKind(start));
  return { start, rule, added, excluded };
}

function sameKind({ isDate }: TextTime): string {
  return isDate
    ? "must have dates without times, because DTSTART is one: such as 20301231"
    : "must have dates with times, because DTSTART is one: such as 20301231T235959Z";
}

const TIME = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/;

/** A date and a time of a line. @throws {OptionsError} */
export function timeOf({ name, parameters }: Pick<ContentLine, "name" | "parameters">, value: string): TextTime {
  const zone = parameters.get("TZID");
  const kind = (parameters.get("VALUE") ?? "").toUpperCase();
  if (kind === "PERIOD") throw refused(name, "must have dates; periods are not supported");
  const match = TIME.exec(value.trim().toUpperCase());
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = (match ?? []).slice(1, 7).map((part) => {
    return Number(part ?? 0);
  });
  const isTime = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month - 1) && year >= 1;
  if (match === null || !isTime || hour > 23 || minute > 59 || second > 60) {
    throw refused(name, mustBe("a date and a time such as 20300101T090000", value, name));
  }
  const isDate = match[4] === undefined;
  if (kind === "DATE" && !isDate)
    throw refused(name, mustBe("a date such as 20300101, as VALUE=DATE says", value, name));
  // A leap second is the second before it, as clocks of computers have it.
  const wall = epochDayOf(year, month - 1, day) * 86_400 + (hour * 60 + minute) * 60 + Math.min(second, 59);
  const isUtc = match[7] === "Z";
  if (isUtc && zone !== undefined) throw refused(name, "has a TZID and a Z, of which one has to go");
  return { wall, timeZone: isUtc ? "UTC" : zone === undefined || isDate ? null : zoneOf(name, zone), isDate };
}

function zoneOf(name: string, zone: string): string {
  try {
    return resolveTimeZone(zone);
  } catch (cause) {
    const message = mustBe("an IANA time zone such as Europe/Berlin", zone, "TZID");
    throw optionError(WHERE, `${name}.TZID`, message, { cause });
  }
}

const WEEKDAY = /^([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)$/;

/** Reads the value of an `RRULE`. @throws {OptionsError} */
export function parseRule(value: string): RecurrenceRule {
  const parts = new Map<string, string>();
  for (const part of value.trim().toUpperCase().split(";")) {
    if (part === "") continue;
    const [name = "", text, ...rest] = part.split("=");
    if (!NAMES.includes(name)) throw refused("RRULE", `has ${shown(name)}, which is none of ${NAMES.join(", ")}`);
    if (text === undefined || text === "" || rest.length > 0) throw refused(name, `must be ${name}=value`);
    if (parts.has(name)) throw refused(name, "comes twice");
    parts.set(name, text);
  }
  const frequency = FREQUENCIES.find((one) => one === parts.get("FREQ"));
  if (frequency === undefined) {
    throw refused("FREQ", mustBe(`one of ${FREQUENCIES.join(", ")}`, parts.get("FREQ"), "FREQ"));
  }
  const list = (name: string, max: number, isFromEnd = false): number[] => numbersOf(parts, name, max, isFromEnd);
  const until = parts.get("UNTIL");
  const rule: RecurrenceRule = {
    frequency,
    interval: numberOf(parts, "INTERVAL") ?? 1,
    count: numberOf(parts, "COUNT"),
    until: until === undefined ? null : timeOf({ name: "UNTIL", parameters: new Map() }, until),
    months: list("BYMONTH", 12),
    weeks: list("BYWEEKNO", 53, true),
    yearDays: list("BYYEARDAY", 366, true),
    monthDays: list("BYMONTHDAY", 31, true),
    weekdays: weekdaysOf(parts.get("BYDAY")),
    hours: list("BYHOUR", 23),
    minutes: list("BYMINUTE", 59),
    // A leap second is the second before it.
    seconds: list("BYSECOND", 60).map((second) => Math.min(second, 59)),
    positions: list("BYSETPOS", 366, true),
    weekStart: weekStartOf(parts.get("WKST")),
  };
  if (rule.count !== null && rule.until !== null) throw refused("COUNT", "and UNTIL do not go together");
  assertFitting(rule, frequency, parts);
  return rule;
}

const NAMES: readonly string[] = [
  ...["FREQ", "UNTIL", "COUNT", "INTERVAL", "BYSECOND", "BYMINUTE", "BYHOUR", "BYDAY", "BYMONTHDAY", "BYYEARDAY"],
  ...["BYWEEKNO", "BYMONTH", "BYSETPOS", "WKST"],
];

/** Refuses what RFC 5545 says must not be. */
function assertFitting(
  { weekdays, weeks, positions }: RecurrenceRule,
  frequency: Frequency,
  parts: ReadonlyMap<string, string>,
) {
  const only = (name: string, isFitting: boolean, where: string): void => {
    if (parts.has(name) && !isFitting) throw refused(name, `goes with ${where} alone; FREQ is ${frequency}`);
  };
  const isShort = FREQUENCIES.indexOf(frequency) > FREQUENCIES.indexOf("DAILY");
  only("BYWEEKNO", frequency === "YEARLY", "FREQ=YEARLY");
  only("BYYEARDAY", frequency === "YEARLY" || isShort, "FREQ=YEARLY, or with HOURLY and what is shorter,");
  only("BYMONTHDAY", frequency !== "WEEKLY", "another FREQ than WEEKLY");
  const isNumbered = weekdays.some(({ nth }) => nth !== 0);
  if (isNumbered && (!["YEARLY", "MONTHLY"].includes(frequency) || weeks.length > 0)) {
    throw refused("BYDAY", "has numbers with FREQ=MONTHLY, and with FREQ=YEARLY without BYWEEKNO, alone");
  }
  if (positions.length > 0 && ![...parts.keys()].some((name) => name.startsWith("BY") && name !== "BYSETPOS")) {
    throw refused("BYSETPOS", "takes some of what another part gives, such as BYDAY; there is none");
  }
}

function numberOf(parts: ReadonlyMap<string, string>, name: string): number | null {
  const text = parts.get(name);
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
  throw refused(name, mustBe("a whole number from 1 to 999999999", text, name));
}

function numbersOf(parts: ReadonlyMap<string, string>, name: string, max: number, isFromEnd: boolean): number[] {
  const text = parts.get(name);
  if (text === undefined) return [];
  const min = /^BY(HOUR|MINUTE|SECOND)$/.test(name) ? 0 : 1;
  return text.split(",").map((item) => {
    const number = /^[+-]?\d{1,3}$/.test(item) ? Number(item) : Number.NaN;
    const size = isFromEnd ? Math.abs(number) : number;
    if (size >= min && size <= max) return number;
    const what = `a number from ${min} to ${max}${isFromEnd ? `, or from -${max} to -1` : ""}`;
    throw refused(name, mustBe(what, item, name));
  });
}

function weekdaysOf(text: string | undefined): NthWeekday[] {
  if (text === undefined) return [];
  return text.split(",").map((item) => {
    const [, nth = "0", name = ""] = WEEKDAY.exec(item) ?? [];
    const weekday = (WEEKDAY_NAMES as readonly string[]).indexOf(name);
    const isNumber = item.length === 2 || (Number(nth) !== 0 && Math.abs(Number(nth)) <= 53);
    if (weekday !== -1 && isNumber) return { weekday, nth: Number(nth) };
    throw refused("BYDAY", mustBe("a weekday such as MO, 2TU or -1FR", item, "BYDAY"));
  });
}

function weekStartOf(text = "MO"): number {
  const weekday = (WEEKDAY_NAMES as readonly string[]).indexOf(text);
  if (weekday === -1) throw refused("WKST", mustBe(`one of ${WEEKDAY_NAMES.join(", ")}`, text, "WKST"));
  return weekday;
}

function refused(path: string, message: string): Error {
  return optionError(WHERE, path, message);
}
