import { CronSyntaxError, DateTrigger, type Trigger } from "../../cron.ts";
import { atClockChanges } from "./foreign-cron.ts";

/** Words for whole expressions, as in systemd.time(7), and those that are taken besides. */
const WORDS: Readonly<Record<string, string>> = {
  minutely: "*:*:00",
  hourly: "*:00:00",
  daily: "00:00:00",
  weekly: "Mon *-*-*",
  monthly: "*-*-01",
  yearly: "*-01-01",
  annually: "*-01-01",
  anually: "*-01-01",
  quarterly: "*-01,04,07,10-01",
  semiannually: "*-01,07-01",
  "semi-annually": "*-01,07-01",
  biannually: "*-01,07-01",
  "bi-annually": "*-01,07-01",
};
const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/** The years that a calendar of systemd can name. */
const YEAR_MIN = 1970;
const YEAR_MAX = 2199;

/**
 * A calendar expression of systemd as a trigger: `Mon..Fri *-*-* 09:00:00 Europe/Berlin`. A weekday and a date must
 * both match.
 * @throws {CronSyntaxError} for what systemd does not take, and for parts of seconds, which do not map
 * @throws {OptionsError} for a zone that nobody knows
 */
export function onCalendar(text: string, timeZone: string, nowMs: number): Trigger {
  const { words, zone } = wordsOf(text);
  const [only = ""] = words;
  const epoch = /^@(\d{1,12})$/.exec(only)?.[1];
  if (epoch !== undefined && words.length === 1) return new DateTrigger(new Date(Number(epoch) * 1000));
  const weekdays = /^[a-z]/i.test(only) ? weekdaysOf(only, text) : "*";
  const rest = weekdays === "*" ? words : words.slice(1);
  const date = rest[0]?.includes(":") ? undefined : rest[0];
  const time = date === undefined ? rest[0] : rest[1];
  if (words.length === 0 || rest.length > (date === undefined ? 1 : 2))
    throw notMapped(text, "is no calendar expression");
  const [year, month, day] = dateOf(date ?? "*-*-*", text);
  const last = lastOfMonth(date, weekdays);
  const fields = [...timeOf(time ?? "00:00", text), last === null ? day : "*", month, last ?? weekdays, year];
  const options = { timeZone: zone ?? timeZone, dayMatch: "and" } as const;
  return atClockChanges(fields, options, { gap: "skip", overlap: "first" }, nowMs);
}

/** The words of an expression, without the zone that may be the last one. */
function wordsOf(text: string): { readonly words: readonly string[]; readonly zone: string | undefined } {
  const words = text.trim().split(/ +/);
  const last = words.at(-1) ?? "";
  const hasZone = words.length > 1 && /^[a-z][\w+/-]*$/i.test(last);
  const rest = hasZone ? words.slice(0, -1) : words;
  const [first = ""] = rest;
  const isWord = rest.length === 1 && Object.hasOwn(WORDS, first.toLowerCase());
  const written = isWord ? (WORDS[first.toLowerCase()] ?? "").split(" ") : rest;
  return { words: written.filter((word) => word !== ""), zone: hasZone ? last : undefined };
}

function weekdaysOf(word: string, text: string): string {
  const days = word
    .replace(/,$/, "")
    .split(",")
    .flatMap((part) => {
      const [first = -1, last = first, ...more] = part.split(/\.\.|-/).map(weekdayOf);
      if (first < 0 || last < first || more.length > 0) throw notMapped(text, `has no weekday ${JSON.stringify(part)}`);
      return WEEKDAYS.slice(first, last + 1).map((name) => name.slice(0, 3));
    });
  return [...new Set(days)].join();
}

function weekdayOf(name: string): number {
  const lower = name.toLowerCase();
  return WEEKDAYS.findIndex((weekday) => weekday === lower || weekday.slice(0, 3) === lower);
}

/** Year, month and day. */
function dateOf(date: string, text: string): readonly [year: string, month: string, day: string] {
  const [head = "", tail, ...more] = date.split("~");
  const parts = [...head.split("-"), ...(tail === undefined ? [] : [tail])];
  // `10-15` has a month and a day.
  const [year = "", month = "", day = "", ...rest] = parts.length === 2 ? ["*", ...parts] : parts;
  if (parts.length < 2 || rest.length > 0 || more.length > 0) throw notMapped(text, "has a date that does not map");
  // `26` is 2026, and `99` is 1999.
  const years = year.replace(/(?<![\d/])\d\d?(?!\d)/g, (two) => `${Number(two) + (Number(two) < 70 ? 2000 : 1900)}`);
  const fromEnd = tail !== undefined;
  const days = fromEnd ? daysBeforeEnd(day, text) : numbersOf(day, 1, 31, text);
  return [yearsOf(years, text), numbersOf(month, 1, 12, text), days];
}

/** Years are ranges, because a list of them would be long. */
function yearsOf(field: string, text: string): string {
  if (field === "*") return "*";
  const parts = partsOf(field, YEAR_MIN, YEAR_MAX, text);
  return parts.map(({ first, last, step }) => (first === last ? first : `${first}-${last}/${step}`)).join();
}

function numbersOf(field: string, min: number, max: number, text: string): string {
  return field === "*" ? "*" : [...new Set(partsOf(field, min, max, text).flatMap(valuesOf))].join();
}

/** `~3` is the third day from the end, and `~7/2` every second one from the seventh to the last. */
function daysBeforeEnd(field: string, text: string): string {
  if (field === "*") return "*";
  const days = partsOf(field, 1, 31, text, true).flatMap(valuesOf);
  return [...new Set(days)].map((day) => (day === 1 ? "L" : `L-${day - 1}`)).join();
}

/** `Mon *-05~07/1` is a Monday of the last seven days, which is the last Monday. */
function lastOfMonth(date: string | undefined, weekdays: string): string | null {
  return /~0*7\/0*1$/.test(date ?? "") && /^[a-z]{3}$/.test(weekdays) ? `${weekdays}L` : null;
}

function timeOf(time: string, text: string): readonly [second: string, minute: string, hour: string] {
  const [hour = "", minute, second = "00", ...more] = time.split(":");
  if (minute === undefined || more.length > 0) throw notMapped(text, "has a time that does not map");
  if (/\.0*[1-9]/.test(second.replaceAll("..", " "))) throw notMapped(text, "has parts of a second, which do not map");
  const seconds = second.replace(/(?<=\d)\.0+(?!\d)/g, "");
  return [numbersOf(seconds, 0, 59, text), numbersOf(minute, 0, 59, text), numbersOf(hour, 0, 23, text)];
}

interface FieldRange {
  readonly first: number;
  readonly last: number;
  readonly step: number;
}

/** `1..5`, `8/2`, `0,30`. A step without an end leads to the end of the field: of days before the end, to the last. */
function partsOf(field: string, min: number, max: number, text: string, isFromEnd = false): FieldRange[] {
  return field.split(",").map((item) => {
    const [, from = "", until, every] = /^(\d{1,4})(?:\.\.(\d{1,4}))?(?:\/(\d{1,4}))?$/.exec(item) ?? [];
    const [first, last, step] = [Number(from), Number(until ?? from), Number(every ?? 1)];
    const isOpen = every !== undefined && until === undefined;
    // systemd takes no step that leads nowhere.
    const isAny = !isOpen || (isFromEnd ? first - step >= min : first + step <= max);
    if (from === "" || first < min || last > max || first > last || step === 0 || !isAny) {
      throw notMapped(text, `has ${JSON.stringify(item)}, which is nothing of ${min} to ${max}`);
    }
    if (isOpen && isFromEnd) return { first: min + ((first - min) % step), last: first, step };
    return { first, last: isOpen ? max : last, step };
  });
}

function valuesOf({ first, last, step }: FieldRange): number[] {
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, index) => first + index * step);
}

function notMapped(text: string, problem: string): CronSyntaxError {
  return new CronSyntaxError(`${JSON.stringify(text)} ${problem}`, { field: null, element: text, position: 0 });
}
