import { systemClock } from "../core/clock.ts";
import { OptionsError } from "../core/errors.ts";
import { FIRE_TIME_MS_MAX } from "../core/limits.ts";
import { ceilEpochMs, type InstantLike, toEpochMs } from "../core/temporal.ts";
import { unknownOption } from "./options.ts";

/** Which fire times {@link Trigger.fireTimes} yields. Without `until` and `limit`, the fire times of an unending
 *  rule do not end. */
export interface FireTimesOptions {
  /** Yield fire times at or after this instant. Default: the present. */
  from?: InstantLike;
  /** Yield fire times at or before this instant. */
  until?: InstantLike;
  /** Yield at most so many: a whole number. */
  limit?: number;
}

const NAMES = ["from", "until", "limit"];

/**
 * The bounds of {@link FireTimesOptions}, in epoch milliseconds.
 *
 * @throws {OptionsError} for an unknown name, a limit that is no whole number of 0 or more, or something that is no
 * instant
 */
export function rangeOf(
  options: FireTimesOptions,
  limitDefault: number,
): { fromMs: number; untilMs: number; limit: number } {
  if (typeof options !== "object" || options === null) throw wrong("", `expected an object; got ${String(options)}`);
  // Checked by hand, because a schema takes longer than a thousand fire times.
  for (const name in options) if (!NAMES.includes(name)) throw wrong(name, unknownOption(name, NAMES));
  const { from, until, limit = limitDefault } = options;
  if (!(limit >= 0) || (!Number.isInteger(limit) && limit !== Number.POSITIVE_INFINITY)) {
    throw wrong("limit", `expected a whole number of 0 or more; got ${String(limit)}`);
  }
  return {
    fromMs: from === undefined ? systemClock.now() : ceilEpochMs(from, "from"),
    untilMs: until === undefined ? FIRE_TIME_MS_MAX : toEpochMs(until, "until"),
    limit,
  };
}

function wrong(path: string, message: string): OptionsError {
  return new OptionsError(`invalid options of fireTimes: ${path === "" ? "" : `${path}: `}${message}`, [
    { path, message },
  ]);
}
