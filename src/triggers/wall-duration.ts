import { clockChanges } from "./clock-changes.ts";
import { timesInGap } from "./gaps.ts";
import type { Trigger } from "./trigger.ts";
import { wallTrigger } from "./wall-trigger.ts";

/**
 * When a duration ends that begins at a fire time, on the clock of the trigger's zone: two hours from 02:00 end when
 * clocks show 04:00, also on days on which they change. If clocks go over the end, it is the instant of the change; an
 * hour that comes twice is within it twice. A fire time that was moved out of a gap counts as the time that the rule
 * names.
 *
 * @returns epoch milliseconds, not before `fromMs`
 */
export function endOnClock(trigger: Trigger, fromMs: number, durationMs: number): number {
  let endMs = fromMs + durationMs;
  for (const change of clockChanges(trigger.timeZone, fromMs, endMs)) {
    const { atMs, shiftMs, offsetMs } = change;
    if (shiftMs > 0 && fromMs >= atMs && fromMs <= atMs + shiftMs) {
      const rule = wallTrigger(trigger, atMs);
      if (rule === null) continue;
      for (const { wallMs, movedTo } of timesInGap(rule, change, (at) => trigger.matchesMs(at))) {
        if (movedTo !== fromMs) continue;
        endMs -= fromMs + offsetMs - wallMs;
        break;
      }
    } else if (atMs > fromMs && atMs <= endMs) {
      endMs = shiftMs > 0 ? Math.max(atMs, endMs - shiftMs) : endMs - shiftMs;
    }
  }
  return Math.max(endMs, fromMs);
}
