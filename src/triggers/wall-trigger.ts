import { triggerFromJSON } from "./codec.ts";
import type { Trigger } from "./trigger.ts";

/** A rule on the clock of a wall, without any change: its epoch milliseconds are times of day. Null for a trigger whose
 *  rule names no times of day. */
export function wallTrigger(trigger: Trigger, nearMs: number): Trigger | null {
  const { dst: _dst, ...rule } = trigger.startingAtMs(nearMs).toJSON();
  if (rule.type === "cron") {
    // The bounds of a rule are instants. Of what lies beyond them nothing fires, moved or not.
    const { startTime: _startTime, endTime: _endTime, ...fields } = rule;
    return triggerFromJSON({ ...fields, timeZone: "UTC" });
  }
  return rule.type === "calendarInterval" ? triggerFromJSON({ ...rule, timeZone: "UTC" }) : null;
}
