import { CronSyntaxError } from "../core/errors.ts";
import { optionError } from "../core/option-errors.ts";
import { nearest } from "../core/suggest.ts";
import { type CronField, type CronFields, DAY, FIELDS_BY_SIGNIFICANCE, NICKNAMES } from "./fields.ts";
import { CRON_TEXT_LENGTH_MAX } from "./limits.ts";
import type { CronDialect } from "./spec.ts";
import { quote, syntaxError } from "./syntax.ts";

// Checks of an expression as a whole, and the errors for what is wrong with it.

const FIELD_NAMES = FIELDS_BY_SIGNIFICANCE.map((field) => field.name);
const NOWHERE = { field: null, element: "", position: 0 };

/** The error for fields of which none is set. */
export function noFieldSet(): CronSyntaxError {
  return new CronSyntaxError("no field is set; give at least one, such as { hour: 9 }", NOWHERE);
}

/** The error for an expression whose dates never come: 30 February, or years and weeks that exclude each other. */
export function impossibleDate(source: CronFields | string): CronSyntaxError {
  const problem = "never comes";
  const { text, start, day } = dayOf(source);
  if (/^[*?]|^$/.test(day)) {
    const whole = typeof source === "string" ? source : JSON.stringify(source);
    const place = { text: whole, field: null, start: 0, end: whole.length };
    return syntaxError(place, problem, null, "no date matches its months, weeks, weekdays and years together");
  }
  const suggestion = /^(29|30|31)$/.test(day) ? "L" : null;
  const advice = suggestion === null ? "no date" : 'write "L" for the last day of the month, because no date';
  return syntaxError(
    { text, field: DAY, start, end: start + day.length },
    problem,
    suggestion,
    `${advice} matches it and the months, weeks, weekdays and years`,
  );
}

function dayOf(source: CronFields | string): { text: string; start: number; day: string } {
  if (typeof source !== "string") {
    const day = String(source.day ?? "");
    return { text: day, start: 0, day };
  }
  const words = [...source.matchAll(/\S+/g)];
  const word = words[words.length === 5 ? 2 : 3];
  return { text: source, start: word?.index ?? 0, day: word?.[0] ?? "" };
}

/**
 * Text that may be crontab: a string of a sensible length.
 *
 * @throws {CronSyntaxError}
 */
export function checkCrontab(text: unknown): string {
  return checkText(text, null, CRON_TEXT_LENGTH_MAX);
}

/**
 * A field's value as text.
 *
 * @throws {CronSyntaxError}
 */
export function checkText(value: unknown, field: CronField | null, lengthMax: number): string {
  const text = typeof value === "number" ? String(value) : value;
  const name = field?.name ?? "crontab text";
  if (typeof text !== "string" || (field === null && typeof value === "number")) {
    const kind = value === null ? "null" : Array.isArray(value) ? "an array" : typeof value;
    throw new CronSyntaxError(`${name} must be ${field === null ? "text" : "a number or text"}; got ${kind}`, {
      ...NOWHERE,
      field: field?.name ?? null,
    });
  }
  if (text.length > lengthMax) {
    const place = { text, field, start: 0, end: text.length };
    throw syntaxError(place, `has ${text.length} characters, which is more than ${lengthMax}`);
  }
  if (text.length === 0) throw emptyText(name, field);
  return text;
}

function emptyText(name: string, field: CronField | null): CronSyntaxError {
  const advice = field === null ? 'write five fields, such as "0 9 * * mon-fri"' : 'leave it out, or write "*"';
  return new CronSyntaxError(`${name} is empty; ${advice}`, { ...NOWHERE, field: field?.name ?? null });
}

/** @throws {CronSyntaxError} for a name that is no field's */
export function checkFieldNames(fields: CronFields): void {
  if (typeof fields !== "object" || fields === null) {
    throw new CronSyntaxError("cron fields must be an object, such as { hour: 9 }", NOWHERE);
  }
  for (const name of Object.keys(fields)) {
    const names: readonly string[] = FIELD_NAMES;
    if (names.includes(name)) continue;
    const option = OPTION_NAMES.find((known) => known.toLowerCase() === name.toLowerCase());
    if (option !== undefined) {
      throw new CronSyntaxError(
        `${quote(name)} is not a cron field; it is an option and comes second: new CronTrigger(fields, { ${option} })`,
        { field: null, element: name, position: 0, suggestion: null },
      );
    }
    const suggestion = /^(weekday|dow|day_?of_?week)s?$/i.test(name) ? "dayOfWeek" : nearest(name, names);
    const advice = suggestion === null ? null : `did you mean ${quote(suggestion)}?`;
    throw new CronSyntaxError(
      `${quote(name)} is not a cron field; ${advice ?? `the fields are ${FIELD_NAMES.join(", ")}`}`,
      { field: null, element: name, position: 0, suggestion },
    );
  }
}

/** Options of a cron trigger, which callers write among its fields. */
const OPTION_NAMES: readonly string[] = ["timeZone", "startTime", "endTime", "dst", "dayMatch", "dialect"];

/** The crontab text that a nickname stands for. Other dialects than our own have them in lower case.
 *  @throws {CronSyntaxError} */
export function expandNickname(text: string, dialect: CronDialect | undefined): string {
  const nickname = dialect === undefined ? text.trim().toLowerCase() : text.trim();
  const crontab = Object.hasOwn(NICKNAMES, nickname) ? NICKNAMES[nickname] : undefined;
  if (crontab !== undefined) return crontab;
  const place = { text: text.trim(), field: null, start: 0, end: text.length };
  if (nickname === "@reboot") {
    const advice = "call the task when your program starts, or add a job";
    // OCPS has it: it may be refused, but not as an error of syntax.
    if (dialect === "ocps") throw optionError("CronTrigger", "", `${nickname} names no time; ${advice}`);
    throw syntaxError(place, "names no time", null, advice);
  }
  if (nickname.startsWith("@every")) {
    throw syntaxError(place, "is not a nickname", null, "use an IntervalTrigger");
  }
  const known = Object.keys(NICKNAMES);
  const suggestion = nearest(nickname, known);
  throw syntaxError(
    place,
    "is not a nickname",
    suggestion,
    suggestion === null ? `known are ${known.join(" ")}` : null,
  );
}

/** The error for text of too few or too many fields. */
export function wrongFieldCount(text: string, count: number): CronSyntaxError {
  if (count === 0) return emptyText("crontab text", null);
  const place = { text, field: null, start: 0, end: text.length };
  const problem = `has ${count} field${count === 1 ? "" : "s"}, not 5, 6 or 7`;
  if (count === 4) return syntaxError(place, problem, `${text.trim()} *`);
  const advice = /, | ,|\/ | \/|- | -/.test(text)
    ? "a field has no spaces in it"
    : "5 are minute hour day month weekday; 6 have seconds first; 7 have the year last besides";
  return syntaxError(place, problem, null, advice);
}

/** The error for `CRON_TZ=Europe/Berlin` or `TZ=...` before the fields; null for text without such a prefix. */
export function timeZonePrefix(text: string): CronSyntaxError | null {
  const match = /^\s*(?:CRON_)?TZ=(\S*)/i.exec(text);
  if (match === null) return null;
  const [prefix, zone = ""] = match;
  const start = prefix.length - prefix.trimStart().length;
  return syntaxError(
    { text, field: null, start, end: prefix.length },
    "is no field",
    null,
    `leave it out, and give the time zone as an option: { timeZone: ${quote(zone || "Europe/Berlin")} }`,
  );
}

/** Text with `2nd fri` and `last fri`, whose space would end a field, as `fri#2` and `friL`. */
export function joinNthWeekdays(text: string): string {
  return text.replace(/\b([1-5])(?:st|nd|rd|th)\s+([a-z]{3})\b/gi, "$2#$1").replace(/\blast\s+([a-z]{3})\b/gi, "$1L");
}
