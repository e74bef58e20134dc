import { ceilEpochMs, type InstantLike } from "../core/temporal.ts";
import { timerHost } from "../core/timer-host.ts";
import { FIRE_TIME_MS_MAX } from "./limits.ts";
import { checkOptions, converted, countOrInfinity, instantMs, optional } from "./options.ts";

/** Which fire times {@link Trigger.fireTimes} yields. Without `until` and `limit`, the fire times of an unending
 *  rule do not end. */
export interface FireTimesOptions {
  /** Yield fire times at or after this instant. Default: the present. */
  from?: InstantLike | undefined;
  /** Yield fire times at or before this instant. */
  until?: InstantLike | undefined;
  /** Yield at most so many: a whole number. */
  limit?: number | undefined;
}

const rules = {
  from: optional(converted((value: InstantLike) => ceilEpochMs(value, ""))),
  until: optional(instantMs, FIRE_TIME_MS_MAX),
  limit: optional(countOrInfinity),
};

/**
 * The bounds of {@link FireTimesOptions}, in epoch milliseconds.
 *
 * @param where the call, which begins the message
 * @throws {OptionsError} for an unknown name, a limit that is no whole number of 0 or more, or something that is no
 * instant
 */
export function rangeOf(
  options: FireTimesOptions,
  limitDefault: number,
  where: string,
): { fromMs: number; untilMs: number; limit: number } {
  const { from, until, limit = limitDefault } = checkOptions(rules, options, where);
  return { fromMs: from ?? timerHost.now(), untilMs: until, limit };
}
