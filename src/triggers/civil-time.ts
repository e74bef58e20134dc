import { TemporalMissingError } from "../core/errors.ts";
import { mustBe, valueError } from "../core/option-errors.ts";
import { Temporal } from "../core/temporal.ts";

/** Text that has a date, and no offset, `Z` or annotation. */
const CIVIL_TEXT = /^\d{4}-\d\d-\d\d([t ]\d\d(:\d\d(:\d\d([.,]\d{1,9})?)?)?)?$/i;

/**
 * The instant, in epoch milliseconds, of a civil time in a zone: text without an offset, or a `Temporal.PlainDateTime`.
 * Null for everything else. Where clocks change it follows Temporal's rule `compatible`.
 *
 * @param timeZone null where there is none
 * @throws {OptionsError} for a civil time without a zone, or one that is on no calendar (30 February)
 */
export function civilTimeMs(value: unknown, timeZone: string | null): number | null {
  const civil = civilTimeOf(value);
  if (civil === null) return null;
  if (timeZone !== null) return civil.toZonedDateTime(timeZone, { disambiguation: "compatible" }).epochMilliseconds;
  const advice = `write new DateTrigger("${civil.toString().replace("T", " ")}", { timeZone: "Europe/Berlin" })`;
  const message = mustBe("an instant; or a civil time, together with its time zone", value, "", advice);
  throw valueError("", message);
}

/** The civil time that a value is; null for everything else. @throws {OptionsError} for one that is on no calendar */
export function civilTimeOf(value: unknown): Temporal.PlainDateTime | null {
  const isObject = /^\[object Temporal\.Plain(DateTime|Date)\]$/.test(Object.prototype.toString.call(value));
  // A native object is no instance of the polyfill's class, but its text always is readable.
  const text = typeof value === "string" && CIVIL_TEXT.test(value) ? value : isObject ? String(value) : null;
  if (text === null) return null;
  try {
    return Temporal.PlainDateTime.from(text);
  } catch (cause) {
    if (cause instanceof TemporalMissingError) throw cause;
    const message = mustBe("a date and a time that exist", value);
    throw valueError("", message, cause);
  }
}
