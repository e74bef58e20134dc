import { OptionsError } from "./errors.ts";
import { mustBe } from "./option-errors.ts";
import { nearest } from "./suggest.ts";
import { Temporal } from "./temporal.ts";

/** A length of time: ISO 8601 text (`"PT5M"`), an object (`{ minutes: 5 }`) or a `Temporal.Duration`. Not a bare
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

/**
 * Whole milliseconds of a {@link Duration}, which must not be negative.
 *
 * @throws {OptionsError} naming the option when the value is a number, is malformed, is negative, or has months or
 *   years
 */
export function toDurationMs(value: Duration, name: string): number {
  let duration: Temporal.Duration;
  try {
    // A native Duration is no instance of the polyfill's class, but its text always is readable.
    duration = Temporal.Duration.from(isForeignDuration(value) ? String(value) : value);
  } catch (cause) {
    throw invalidDuration(name, value, problemOf(value), cause);
  }
  if (duration.years !== 0 || duration.months !== 0) {
    throw invalidDuration(name, value, "years and months have no fixed length; use days or smaller units");
  }
  let ms = 0;
  for (const unit of Object.keys(MS_PER_UNIT) as (keyof typeof MS_PER_UNIT)[]) ms += duration[unit] * MS_PER_UNIT[unit];
  if (ms < 0) throw invalidDuration(name, value, "must not be negative");
  return Math.round(ms);
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
  if (typeof value === "number" && Number.isFinite(value)) {
    return `a bare number has no unit; write { seconds: ${value} } or { milliseconds: ${value} }`;
  }
  if (typeof value === "object" && value !== null) {
    const units = Object.keys(MS_PER_UNIT);
    for (const name of Object.keys(value)) {
      const unit = units.includes(name) ? null : nearest(name, units);
      if (unit !== null) return `not a duration; did you mean "${unit}"?`;
    }
  }
  return "not a duration";
}

function invalidDuration(name: string, value: unknown, problem: string, cause?: unknown): OptionsError {
  const message = mustBe('a duration such as "PT5M" or { minutes: 5 }', value, name, problem);
  return new OptionsError(`${name} ${message}`, [{ path: name, message }], { cause });
}

/** A duration of so many milliseconds, in hours and smaller units, because days may differ in length. */
export function durationOf(ms: number): Temporal.Duration {
  return Temporal.Duration.from({ milliseconds: ms }).round({ largestUnit: "hours" });
}
