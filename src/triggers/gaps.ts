import type { ClockShift } from "./clock-changes.ts";
import type { Trigger } from "./trigger.ts";

/** A time of day that a rule names, and that clocks went over. */
export interface TimeInGap {
  /** What clocks would have shown, as the epoch milliseconds that they would be in UTC. */
  readonly wallMs: number;
  /** The fire time that takes its place; null for none. */
  readonly movedTo: number | null;
}

/**
 * What a rule names in a gap, in order. It fires at the end of the gap, or as much later as the gap is long, or never.
 * A fire time that the rule names itself was not moved.
 *
 * @param rule the rule on the clock of a wall, see `wallTrigger`
 * @param isFireTime whether the rule with its clock changes fires at an instant
 */
export function* timesInGap(
  rule: Trigger,
  change: ClockShift,
  isFireTime: (atMs: number) => boolean,
): Generator<TimeInGap, void, undefined> {
  const endMs = change.atMs + change.offsetMs;
  const startMs = endMs - change.shiftMs;
  for (let wallMs = rule.nextMs(startMs - 1); wallMs !== null && wallMs < endMs; wallMs = rule.nextMs(wallMs)) {
    yield { wallMs, movedTo: movedOutOfGap(rule, change, wallMs, isFireTime) };
  }
}

/** The fire time that takes the place of a time in a gap; null for none. The arguments are those of `timesInGap`. */
export function movedOutOfGap(
  rule: Trigger,
  { atMs, shiftMs, offsetMs }: ClockShift,
  wallMs: number,
  isFireTime: (atMs: number) => boolean,
): number | null {
  const isMovedTo = (at: number): boolean => isFireTime(at) && !rule.matchesMs(at + offsetMs);
  return [atMs, wallMs + shiftMs - offsetMs].find(isMovedTo) ?? null;
}
