// The only file that names the polyfill. Where the runtime has its own Temporal, the polyfill gives that one.
import { Temporal } from "temporal-polyfill";
import { type OptionsError, TemporalMissingError } from "./errors.ts";
import { isPlain, mustBe, valueError } from "./option-errors.ts";

export { Temporal };

/** The runtime's own Temporal, or null where it has none. A polyfill that a program has put in its place is right as
 *  well, but slow. */
export const nativeTemporal: typeof Temporal | null = ownTemporal();

function ownTemporal(): typeof Temporal | null {
  const { Temporal: temporal } = globalThis as { readonly Temporal?: typeof Temporal };
  const text = typeof temporal?.Instant === "function" ? Function.prototype.toString.call(temporal.Instant) : "";
  return temporal !== undefined && text.includes("[native code]") ? temporal : null;
}

/** An instant as callers may write it: a Temporal object (native or polyfilled), a `Date`, or ISO 8601 text that has an
 *  offset or a `Z`. For example, `"2030-01-31T09:00:00+01:00"`. */
export type InstantLike = Temporal.Instant | Temporal.ZonedDateTime | Date | string;

/** The last instant that Temporal can represent, in epoch milliseconds. The first one is its negative. */
export const INSTANT_MS_MAX = 8.64e15;

/**
 * Epoch milliseconds of an {@link InstantLike}. Temporal objects are read through `epochMilliseconds`, so that native
 * and polyfilled objects both work. Digits below a millisecond are dropped.
 *
 * @param name the option, for the message of the error
 * @throws {OptionsError} when the value is no `InstantLike`: another type, an invalid date, or text without an offset
 */
export function toEpochMs(value: InstantLike, name = "instant"): number {
  const ms = Math.floor(readEpochMs(value, name));
  if (!Number.isFinite(ms) || Math.abs(ms) > INSTANT_MS_MAX) throw invalidInstant(name, "a valid date", value, null);
  return ms;
}

/**
 * Epoch milliseconds of the first millisecond that is not earlier than an {@link InstantLike}: {@link toEpochMs} drops
 * digits below a millisecond, and this function rounds them up.
 *
 * @throws {OptionsError} in the same cases as {@link toEpochMs}
 */
export function ceilEpochMs(value: InstantLike, name = "instant"): number {
  const ms = toEpochMs(value, name);
  return hasDigitsBelowMs(value) ? ms + 1 : ms;
}

/** Whether an instant has digits below a millisecond. @param value an instant that {@link toEpochMs} has accepted */
export function hasDigitsBelowMs(value: InstantLike): boolean {
  if (value instanceof Date || (typeof value === "string" && plainInstantMs(value) !== null)) return false;
  const { epochNanoseconds } = typeof value === "string" ? Temporal.Instant.from(value) : value;
  return epochNanoseconds % 1_000_000n !== 0n;
}

/** The text that stores and most programs write. Temporal takes more, and takes 100 times as long. */
const PLAIN_INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{3})?)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** Epoch milliseconds of text such as `2030-01-31T09:00:00Z`; null for other text, and for dates that do not exist. */
function plainInstantMs(text: string): number | null {
  const match = PLAIN_INSTANT.exec(text);
  if (match === null) return null;
  const [, year, month, day] = match.map(Number) as [number, number, number, number];
  const date = new Date(0);
  // Not all runtimes refuse 30 February.
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCDate() === day && month >= 1 && month <= 12 ? Date.parse(text) : null;
}

const FROM_NOW = "a time from now is new Date(Date.now() + milliseconds)";

/** What becomes of `09:00+01:00` in a URL where nobody encodes the plus sign. */
const SPACED_OFFSET = /:\d\d(\.\d+)? \d\d(:?\d\d)?$/;
const PLUS = 'the offset lacks its sign; in a URL, write "+" as %2B';

function readEpochMs(value: unknown, name: string): number {
  if (value instanceof Date) return value.getTime();
  if (typeof value === "string") {
    const plainMs = plainInstantMs(value);
    if (plainMs !== null) return plainMs;
    try {
      // Instant also reads the text of a ZonedDateTime, because that text contains an offset.
      return Temporal.Instant.from(value).epochMilliseconds;
    } catch (cause) {
      if (cause instanceof TemporalMissingError) throw cause;
      const what =
        'ISO 8601 text with an offset, such as "2030-01-31T09:00:00Z" or "2030-01-31T09:00:00+01:00[Europe/Berlin]"';
      const advice = /^(P|[\d.]+ ?(ms|[wdhms])\b)/i.test(value) ? FROM_NOW : SPACED_OFFSET.test(value) ? PLUS : null;
      throw invalidInstant(name, what, value, advice, cause);
    }
  }
  if (typeof value === "object" && value !== null && "epochMilliseconds" in value) {
    return Number(value.epochMilliseconds);
  }
  const advice =
    typeof value === "number" && Number.isFinite(value) ? `write new Date(${value})` : isPlain(value) ? FROM_NOW : null;
  const what = "a Temporal.Instant, a Temporal.ZonedDateTime, a Date or ISO 8601 text with an offset";
  throw invalidInstant(name, what, value, advice);
}

function invalidInstant(
  name: string,
  what: string,
  value: unknown,
  advice: string | null,
  cause?: unknown,
): OptionsError {
  return valueError(name, mustBe(what, value, name, advice), cause);
}

/** The `Temporal.Instant` of epoch milliseconds, or the nearest one. Rows that were edited by hand may hold any number,
 *  and what lists them must not fail for it. */
export function instantOf(epochMs: number): Temporal.Instant {
  return Temporal.Instant.fromEpochMilliseconds(nearestInstantMs(epochMs));
}

/** ISO 8601 text of epoch milliseconds, as {@link instantOf} would give it, for a tenth of its cost. */
export function instantText(epochMs: number): string {
  return new Date(nearestInstantMs(epochMs)).toISOString().replace(/\.?0+Z$/, "Z");
}

/** The same for null: null. */
export function instantTextOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : instantText(epochMs);
}

/** The nearest epoch milliseconds that are an instant; 0 for what is no number. */
export function nearestInstantMs(epochMs: number): number {
  if (Number.isInteger(epochMs) && Math.abs(epochMs) <= INSTANT_MS_MAX) return epochMs;
  return Math.trunc(Math.min(Math.max(Number(epochMs) || 0, -INSTANT_MS_MAX), INSTANT_MS_MAX));
}

/** The `Temporal.Instant` of epoch milliseconds; null for null. */
export function instantOrNull(epochMs: number | null | undefined): Temporal.Instant | null {
  return epochMs == null ? null : instantOf(epochMs);
}

/** The `Temporal.ZonedDateTime` of epoch milliseconds in a time zone. */
export function zonedOf(epochMs: number, timeZone: string): Temporal.ZonedDateTime {
  return new Temporal.ZonedDateTime(BigInt(epochMs) * 1_000_000n, timeZone);
}

/** The name of the host's time zone in the IANA database, such as `Europe/Berlin`. */
export function localTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
