import type { CronSyntaxError } from "../core/errors.ts";
import { nearest } from "../core/suggest.ts";
import { type CronField, DAY, DAY_OF_WEEK, WEEKDAY_NAMES } from "./fields.ts";
import { type ElementPlace, quote, syntaxError } from "./syntax.ts";

/** An element in which the reader found a mistake. */
export interface StoppedElement extends ElementPlace {
  readonly field: CronField;
  /** Where the reader stopped, in the text. */
  readonly at: number;
}

/** The error for an element. Without advice and suggestion, the message says what the field takes. */
export function elementError(
  element: StoppedElement,
  problem: string,
  suggestion: string | null = null,
  advice: string | null = null,
): CronSyntaxError {
  return syntaxError(element, problem, suggestion, advice ?? (suggestion === null ? takes(element.field) : null));
}

/** The error for a number that the field does not have. The reader stopped behind the number. */
export function outside(element: StoppedElement, value: number): CronSyntaxError {
  const { name, min, max, writtenMax, wraps } = element.field;
  let near: number | null = null;
  if (value === min - 1) near = min;
  else if (value === writtenMax + 1 && element.field !== DAY_OF_WEEK) near = wraps ? min : max;
  else if (name === "year" && value < 100) near = 2000 + value;
  // A number is suggested only where the whole element is a number.
  const isPlain = element.at === element.end && /^\d+$/.test(element.text.slice(element.start, element.end));
  return elementError(element, `is outside ${min}-${writtenMax}`, isPlain && near !== null ? String(near) : null);
}

/** The error for a step that is so large that only the first value would match. */
export function stepTooLarge(element: StoppedElement, first: number, span: number): CronSyntaxError {
  const only = element.field === DAY_OF_WEEK ? (WEEKDAY_NAMES[first % 7] ?? "") : String(first);
  // "fri/2" is likely meant as every second Friday, which no crontab can say.
  const isWeekly = element.field === DAY_OF_WEEK && !/[-*]/.test(element.text.slice(element.start, element.end));
  const other = "; every second week is new CalendarIntervalTrigger({ weeks: 2, startDate })";
  const advice = `write "${only}" for that value alone${isWeekly ? other : ""}`;
  return elementError(element, `has a step larger than its range of ${span}`, only, advice);
}

/** The error for letters that are no name. The reader stopped before the letters. */
export function unknownName(element: StoppedElement, names: readonly string[]): CronSyntaxError {
  const { text, start, end, at, field } = element;
  const [word = ""] = /^[a-z]+/i.exec(text.slice(at, end)) ?? [];
  if (field === DAY_OF_WEEK && word.toLowerCase() === "l") {
    return elementError(element, "has L alone, which means no certain weekday", "satL");
  }
  if (word.toLowerCase() === "h") return picked(element, word);
  const name = nearest(word, names);
  const suggestion = name === null ? null : text.slice(start, at) + name + text.slice(at + word.length, end);
  return elementError(element, `has an unknown name ${quote(word)}`, field === DAY ? null : suggestion);
}

/** The error for a character that cannot follow. The reader stopped before the character. */
export function unexpected(element: StoppedElement): CronSyntaxError {
  const { text, start, end, at } = element;
  if (start === end) return elementError(element, "is empty", null, "write a value, or remove the comma");
  if (at >= end) return elementError(element, "ends too early");
  const [sign = ""] = /^(?:~|h(?![a-z]))/i.exec(text.slice(at, end)) ?? [];
  if (sign !== "") return picked(element, sign);
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
  const advice = character === "+" ? "a + begins dayOfWeek, and nothing else" : null;
  return elementError(element, `has an unexpected ${quote(character)}`, null, advice);
}

/** The error for `H` (Jenkins) without a seed, and for `~` (OpenBSD), which picks a value at random. */
function picked(element: StoppedElement, sign: string): CronSyntaxError {
  if (sign === "~") {
    const advice = "write H, which a seed picks, or a value; to spread schedules over time, give them a maxJitter";
    return elementError(element, 'has a "~", which would pick a value at random', null, advice);
  }
  const advice = "give the schedule an id, or write CronTrigger.fromCrontab(text, { seed })";
  return elementError(element, `has a ${quote(sign)}, whose value follows from a seed`, null, advice);
}

function takes({ name, min, writtenMax, names }: CronField): string {
  if (name === "day") return "day takes 1-31, L, L-3, LW, 15W, fri#2, friL, and ranges, steps and lists of numbers";
  const last = names.at(-1);
  const named = last === undefined ? "" : ` or ${names[0]}-${last}`;
  return `${name} takes ${min}-${writtenMax}${named}, and ranges, steps and lists of them`;
}
