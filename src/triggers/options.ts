import { type Issue, OptionsError } from "../core/errors.ts";
import {
  canHoldOptions,
  isPlain,
  mustBe,
  mustBeOneOf,
  optionError,
  optionsError,
  readingError,
  shown,
  takes,
  unknownOption,
} from "../core/option-errors.ts";
import { localTimeZone, toEpochMs } from "../core/temporal.ts";
import type { DstPolicy } from "../cron/spec.ts";
import { canonicalTimeZone } from "../cron/zone.ts";

// Options of triggers are checked without valibot, which would be most of a bundle that has triggers alone.

/** Reads one option, which may be undefined: the value as it is used, or what is wrong with it. */
export type OptionRule<T> = (value: unknown) => T | Wrong;

/** What is wrong with a value, such as `must be a whole number; got "x"`. */
class Wrong {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** Options as their rules return them. */
export type Checked<Rules> = { readonly [Name in keyof Rules]: Rules[Name] extends OptionRule<infer T> ? T : never };

/**
 * A caller's options, read by a rule each.
 *
 * @param where the trigger's class, which begins the message
 * @param instead what to do about something that is no options object, or null
 * @param elsewhere what to do about a name that is no option here, or null
 * @throws {OptionsError} with one issue per problem; unknown names are problems
 */
export function checkOptions<Rules extends Readonly<Record<string, OptionRule<unknown>>>>(
  rules: Rules,
  value: unknown,
  where: string,
  instead: (value: unknown) => string | null = () => null,
  elsewhere: (name: string) => string | null = jitterAdvice,
): Checked<Rules> {
  const names = Object.keys(rules);
  try {
    return readOptions(rules, names, value, where, instead, elsewhere);
  } catch (error) {
    throw readingError(error, value, where, names);
  }
}

function readOptions<Rules extends Readonly<Record<string, OptionRule<unknown>>>>(
  rules: Rules,
  names: readonly string[],
  value: unknown,
  where: string,
  instead: (value: unknown) => string | null,
  elsewhere: (name: string) => string | null,
): Checked<Rules> {
  if (!canHoldOptions(value, names)) {
    throw optionError(where, "", takes("an object of options", value, instead(value)));
  }
  const issues: Issue[] = [];
  const checked: Record<string, unknown> = {};
  for (const name of names) {
    const read = rules[name]?.((value as Readonly<Record<string, unknown>>)[name]);
    if (read instanceof Wrong) issues.push({ path: name, message: read.message });
    else checked[name] = read;
  }
  for (const name in value) {
    const synonym = ZONE_NAMES.includes(name) && names.includes("timeZone") ? "timeZone" : null;
    if (!Object.hasOwn(rules, name)) issues.push(unknownOption(name, names, { synonym, advice: elsewhere(name) }));
  }
  if (issues.length > 0) throw optionsError(where, issues);
  return checked as Checked<Rules>;
}

const ZONE_NAMES: readonly string[] = ["tz", "zone"];

/** Refuses a second object of options: what stands in its place is the library's own.
 *  @throws {OptionsError} */
export function checkAnchor(where: string, anchor: unknown): void {
  if (anchor !== null && !Number.isFinite(anchor)) {
    throw optionError(where, "", takes("one object of options, and nothing behind it", anchor));
  }
}

/** What to do about the option `jitter`, which other schedulers' triggers have. */
export function jitterAdvice(name: string): string | null {
  return name === "jitter" ? "it belongs to the schedule: addSchedule(task, trigger, { maxJitter })" : null;
}

/** What to do about a time zone that stands in the place of the options. */
export function timeZoneAdvice(value: unknown): string | null {
  return typeof value === "string" ? `write { timeZone: ${shown(value)} }` : null;
}

/** An option that may be left out. */
export function optional<T>(rule: OptionRule<T>): OptionRule<T | undefined>;
export function optional<T>(rule: OptionRule<T>, unset: T): OptionRule<T>;
export function optional<T>(rule: OptionRule<T>, unset?: T): OptionRule<T | undefined> {
  return (value) => (value === undefined ? unset : rule(value));
}

/** What a value is converted to by a function that throws `OptionsError`. */
export function converted<T>(convert: (value: never) => T): OptionRule<T> {
  return (value) => {
    try {
      return convert(value as never);
    } catch (error) {
      if (error instanceof OptionsError) return new Wrong(error.issues[0]?.message ?? error.message);
      throw error;
    }
  };
}

export const text: OptionRule<string> = (value) =>
  typeof value === "string" ? value : new Wrong(mustBe("text", value));

export const trueOrFalse: OptionRule<boolean> = (value) =>
  typeof value === "boolean" ? value : new Wrong(mustBe("true or false", value));

/** An instant, as epoch milliseconds. */
export const instantMs: OptionRule<number> = converted((value: Parameters<typeof toEpochMs>[0]) =>
  toEpochMs(value, ""),
);

/** A finite number of 0 or more. */
export const amount: OptionRule<number> = (value) =>
  typeof value === "number" && value >= 0 && value < Number.POSITIVE_INFINITY
    ? value
    : new Wrong(mustBe("a number of 0 or more", value));

export function wholeNumber(min: number, max: number): OptionRule<number> {
  return (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= min && value <= max
      ? value
      : new Wrong(mustBe(`a whole number from ${min} to ${max}`, value));
}

export const countOrInfinity: OptionRule<number> = (value) =>
  typeof value === "number" && value >= 0 && (Number.isInteger(value) || value === Number.POSITIVE_INFINITY)
    ? value
    : new Wrong(mustBe("a whole number of 0 or more", value));

export function oneOf<const Words extends readonly string[]>(words: Words): OptionRule<Words[number]> {
  return (value) => words.find((word) => word === value) ?? new Wrong(mustBeOneOf(words, value));
}

/** An option of the policy that is left out is completed by the trigger. */
const GAPS: readonly unknown[] = ["advance", "shift", "skip", undefined];
const OVERLAPS: readonly unknown[] = ["first", "second", "both", undefined];
const DST_NAMES: readonly string[] = ["gap", "overlap"];

export const dstPolicy: OptionRule<DstPolicy> = (value) => {
  if (value === "auto") return value;
  if (isPlain(value) && GAPS.includes(value.gap) && OVERLAPS.includes(value.overlap)) {
    if (Object.keys(value).every((name) => DST_NAMES.includes(name))) return value;
  }
  const what = '"auto" or { gap?: "advance" | "shift" | "skip", overlap?: "first" | "second" | "both" }';
  return new Wrong(mustBe(what, value));
};

/** @throws {OptionsError} when the end is before the start, so that nothing would ever fire */
export function checkOrder(
  where: string,
  startMs: number | null,
  endMs: number | null,
  [start, end]: readonly [start: string, end: string],
): void {
  if (startMs === null || endMs === null || startMs <= endMs) return;
  throw optionError(where, end, `is before ${start}, so nothing would ever fire`);
}

const zones = new Map<string, string>();
/** A zone's name may be written in upper and lower case, so there is no end of spellings. */
const ZONE_SPELLINGS_MAX = 1000;

/**
 * The name of a time zone as Temporal spells it; `"local"` is the host's.
 *
 * @throws {OptionsError} when the runtime does not know it
 */
export function resolveTimeZone(name: string): string {
  const known = zones.get(name);
  if (known !== undefined) return known;
  // Not kept in the map, because a host's time zone can change while the program runs.
  if (name === "local") return localTimeZone();
  const id = canonicalTimeZone(name);
  if (zones.size >= ZONE_SPELLINGS_MAX) zones.clear();
  zones.set(name, id);
  return id;
}
