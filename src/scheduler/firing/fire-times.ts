import { BrokenTriggerError } from "../../core/errors.ts";
import { INSTANT_MS_MAX } from "../../core/temporal.ts";
import { brokenTrigger, type Trigger } from "../../triggers/trigger.ts";
import { MISSED_COUNT_STEPS_MAX } from "../events/limits.ts";

// What a planner asks a trigger. An answer that cannot be right is refused.

/** The first fire time after an instant. @throws {BrokenTriggerError} */
export function nextAfter(trigger: Trigger, after: number): number | null {
  const next = trigger.nextMs(after);
  if (next !== null && !(next > after && Number.isInteger(next) && next <= INSTANT_MS_MAX))
    throw brokenTrigger(trigger, after, next);
  return next;
}

/** The last fire time at or before an instant. @throws {BrokenTriggerError} */
export function lastUntil(trigger: Trigger, now: number): number | null {
  const last = trigger.previousMs(now + 1);
  if (last === null || (last <= now && Number.isInteger(last))) return last;
  throw new BrokenTriggerError(
    `the trigger (${trigger.toJSON().type}) answered ${last}, which is not earlier than ${now + 1}; ` +
      "previousMs() must return a strictly earlier instant or null",
  );
}

/** How many fire times lie in [first, end), or null when counting takes too long. `first` is one. */
export function countBetween(trigger: Trigger, first: number, end: number): number | null {
  let count = 0;
  for (let at: number | null = first; at !== null && at < end; at = nextAfter(trigger, at)) {
    if (++count > MISSED_COUNT_STEPS_MAX) return null;
  }
  return count;
}
