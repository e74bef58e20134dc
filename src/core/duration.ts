import { type OptionsError, TemporalMissingError } from "./errors.ts";
import { isPlain, mustBe, valueError } from "./option-errors.ts";
import { nearest } from "./suggest.ts";
import { Temporal } from "./temporal.ts";

/** The name of a duration that is a number of milliseconds: `expectStartMs` for `expectStartWithin`. */
export function msName(name: string): string {
  return `${name.replace(/Time$|Within$/, "")}Ms`;
}

/** What {@link msName} gives; a name that has the unit keeps it. */
export type MsName<Name> = Name extends `${string}Ms`
  ? Name
  : Name extends `${infer N}Time` | `${infer N}Within`
    ? `${N}Ms`
    : `${Name & string}Ms`;

/** A length of time: short text (`"5m"`, `"1h 30m"`), an object (`{ minutes: 5 }`), ISO 8601 text (`"PT5M"`) or a
 *  `Temporal.Duration`. The units of short text are `w`, `d`, `h`, `m`, `s` and `ms`, the longest first. Not a bare
 *  number, because its unit would be a guess. A day counts 24 hours, and a week counts seven such days. Months and
 *  years are refused, because they have no fixed length. */
export type Duration = Temporal.Duration | Temporal.DurationLike | string;

const MS_PER_UNIT = {
  weeks: 604_800_000,
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1000,
  milliseconds: 1,
  microseconds: 1e-3,
  nanoseconds: 1e-6,
} as const;

/** The units of short text, the longest first, with their milliseconds and the other words that callers write. */
const SHORT_UNITS: readonly (readonly [unit: string, ms: number, words: RegExp])[] = [
  ["w", MS_PER_UNIT.weeks, /^w(ks?|eeks?)?$/i],
  ["d", MS_PER_UNIT.days, /^d(ays?)?$/i],
  ["h", MS_PER_UNIT.hours, /^h(rs?|ours?)?$/i],
  ["m", MS_PER_UNIT.minutes, /^m(ins?|inutes?)?$/i],
  ["s", MS_PER_UNIT.seconds, /^s(ecs?|econds?)?$/i],
  ["ms", MS_PER_UNIT.milliseconds, /^(ms(ecs?)?|millis?|milliseconds?)$/i],
];
/** One group for each unit. At most one space between, because more of them would be costly to match. */
const SHORT_TEXT = new RegExp(`^${SHORT_UNITS.map(([unit]) => `(?:(\\d+(?:\\.\\d+)?)${unit})?`).join(" ?")}$`);
/** The ISO 8601 text that most programs write. What else there is of it, Temporal reads. */
const ISO_TIME = /^PT(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?$/;
/** Longer text is no short duration. */
const SHORT_LENGTH_MAX = 60;
const NO_FIXED_LENGTH = "years and months have no fixed length; use days or smaller units";

/**
 * Whole milliseconds of a {@link Duration}, which must not be negative.
 *
 * @throws {OptionsError} naming the option when the value is a number, is malformed, is negative, or has months or
 *   years
 */
export function toDurationMs(value: Duration, name: string): number {
  const simpleMs = typeof value === "string" ? shortTextMs(value) : unitsMs(value);
  if (simpleMs !== null) return Math.round(simpleMs);
  let duration: Temporal.Duration;
  try {
    // A native Duration is no instance of the polyfill's class, but its text always is readable.
    duration = Temporal.Duration.from(isForeignDuration(value) ? String(value) : value);
  } catch (cause) {
    if (cause instanceof TemporalMissingError) throw cause;
    throw invalidDuration(name, value, problemOf(value), cause);
  }
  if (duration.years !== 0 || duration.months !== 0) {
    throw invalidDuration(name, value, NO_FIXED_LENGTH);
  }
  let ms = 0;
  for (const unit of Object.keys(MS_PER_UNIT) as (keyof typeof MS_PER_UNIT)[]) ms += duration[unit] * MS_PER_UNIT[unit];
  if (ms < 0) throw invalidDuration(name, value, "must not be negative");
  return Math.round(ms);
}

/** Milliseconds of an object such as `{ minutes: 5 }`; null for what Temporal has to judge. */
function unitsMs(value: unknown): number | null {
  if (!isPlain(value)) return null;
  let ms: number | null = null;
  for (const [unit, amount] of Object.entries(value)) {
    if (!Object.hasOwn(MS_PER_UNIT, unit) || !Number.isSafeInteger(amount) || Number(amount) < 0) return null;
    ms = (ms ?? 0) + Number(amount) * MS_PER_UNIT[unit as keyof typeof MS_PER_UNIT];
  }
  // Temporal refuses what is longer than 2^53 seconds.
  return ms === null || ms > Number.MAX_SAFE_INTEGER ? null : ms;
}

/** Milliseconds of text such as `1h 30m` or `PT1H30M`; null for other text. */
function shortTextMs(text: string): number | null {
  const iso = ISO_TIME.exec(text);
  if (iso !== null) {
    return [3_600_000, 60_000, 1000].reduce((sum, ms, index) => sum + Number(iso[index + 1] ?? 0) * ms, 0);
  }
  if (text.length > SHORT_LENGTH_MAX || text.trim() === "") return null;
  const match = SHORT_TEXT.exec(text);
  if (match === null) return null;
  return SHORT_UNITS.reduce((sum, [, ms], index) => sum + Number(match[index + 1] ?? 0) * ms, 0);
}

function isForeignDuration(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.prototype.toString.call(value) === "[object Temporal.Duration]"
  );
}

/** Why something is no duration, and what was likely meant. */
function problemOf(value: unknown): string {
  if (typeof value === "number" && value < 0) return "must not be negative";
  if (typeof value === "number" && Number.isFinite(value)) {
    return `a bare number has no unit; write { seconds: ${value} } or { milliseconds: ${value} }`;
  }
  if (typeof value === "string") return problemOfText(value);
  if (typeof value === "object" && value !== null) {
    const units = Object.keys(MS_PER_UNIT);
    for (const name of Object.keys(value)) {
      const unit = units.includes(name) ? null : nearest(name, units);
      if (unit !== null) return `not a duration; did you mean "${unit}"?`;
    }
  }
  return "not a duration";
}

function problemOfText(text: string): string {
  if (text.length > SHORT_LENGTH_MAX) return "not a duration";
  if (/^\s*\d+(\.\d+)?\s*$/.test(text)) return `it has no unit; write "${text.trim()}s" or "${text.trim()}ms"`;
  // Numbers, each with a word, such as "5 minutes" or "1 hour and 30 min".
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)\s?([a-z]+)/gi)];
  const isNegative = text.trimStart().startsWith("-");
  if (isNegative || parts.length === 0 || text.replaceAll(/\d+(?:\.\d+)?\s?[a-z]+|and|[\s,]/gi, "") !== "") {
    return isNegative ? "must not be negative" : "not a duration";
  }
  if (parts.some(([, , word = ""]) => /^(mo|months?|y|yrs?|years?)$/i.test(word))) return NO_FIXED_LENGTH;
  const amounts = SHORT_UNITS.flatMap(([unit, , words]) =>
    parts.filter(([, , word = ""]) => words.test(word)).map(([, amount = ""]) => ({ unit, amount })),
  );
  const isClear = amounts.length === parts.length && new Set(amounts.map(({ unit }) => unit)).size === parts.length;
  return isClear ? `write "${amounts.map(({ unit, amount }) => amount + unit).join(" ")}"` : "not a duration";
}

function invalidDuration(name: string, value: unknown, problem: string, cause?: unknown): OptionsError {
  const message = mustBe('a duration such as "5m" or { minutes: 5 }', value, name, problem);
  return valueError(name, message, cause);
}

/** ISO 8601 text of so many milliseconds, as {@link durationOf} would give it: `PT1H30M`. */
export function durationText(ms: number): string {
  const [hours, minutes, seconds] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, (ms % 60_000) / 1000];
  const text = `${hours > 0 ? `${hours}H` : ""}${minutes > 0 ? `${minutes}M` : ""}${seconds > 0 ? `${seconds}S` : ""}`;
  return `PT${text === "" ? "0S" : text}`;
}

/** The same for null: null. */
export function durationTextOrNull(ms: number | null): string | null {
  return ms === null ? null : durationText(ms);
}

/** A duration of so many milliseconds, in hours and smaller units, because days may differ in length. */
export function durationOf(ms: number): Temporal.Duration {
  return Temporal.Duration.from({ milliseconds: ms }).round({ largestUnit: "hours" });
}

/** The same for null: null. */
export function durationOrNull(ms: number | null | undefined): Temporal.Duration | null {
  return ms == null ? null : durationOf(ms);
}
