import { AndTrigger, OrTrigger } from "./combining.ts";
import { ExcludingTrigger } from "./excluding.ts";
import type { Trigger } from "./trigger.ts";

/** The triggers that name the fire times of a trigger: itself, or those that it combines or leaves something out of. */
export function leavesOf(trigger: Trigger): readonly Trigger[] {
  if (trigger instanceof ExcludingTrigger) return leavesOf(trigger.trigger);
  return trigger instanceof OrTrigger || trigger instanceof AndTrigger ? trigger.triggers.flatMap(leavesOf) : [trigger];
}

/** A fire time in [fromMs, untilMs) that a trigger within the trigger moves from an excluded date, and where it goes;
 *  null for none. */
export function shiftIn(trigger: Trigger, fromMs: number, untilMs: number): { fromMs: number; toMs: number } | null {
  if (trigger instanceof ExcludingTrigger) {
    const inner = shiftIn(trigger.trigger, fromMs, untilMs);
    const atMs = inner?.toMs ?? trigger.trigger.nextMs(fromMs - 1);
    if (atMs === null || (inner === null && atMs >= untilMs)) return null;
    const toMs = trigger.shiftedToMs(atMs) ?? inner?.toMs;
    return toMs === undefined ? null : { fromMs: inner?.fromMs ?? atMs, toMs };
  }
  if (!(trigger instanceof OrTrigger || trigger instanceof AndTrigger)) return null;
  return trigger.triggers.reduce<ReturnType<typeof shiftIn>>(
    (found, child) => found ?? shiftIn(child, fromMs, untilMs),
    null,
  );
}

/** A fire time in [fromMs, untilMs) that a trigger within the trigger leaves out; null for none. */
export function exclusionIn(trigger: Trigger, fromMs: number, untilMs: number): number | null {
  if (trigger instanceof ExcludingTrigger) {
    const atMs = trigger.trigger.nextMs(fromMs - 1);
    if (atMs !== null && atMs < untilMs && trigger.nextMs(atMs - 1) !== atMs) return atMs;
    return exclusionIn(trigger.trigger, fromMs, untilMs);
  }
  if (!(trigger instanceof OrTrigger || trigger instanceof AndTrigger)) return null;
  return trigger.triggers.reduce<number | null>((found, child) => found ?? exclusionIn(child, fromMs, untilMs), null);
}
