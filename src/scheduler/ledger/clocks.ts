import { type ClockShift, clockChanges } from "../../triggers/clock-changes.ts";
import { movedOutOfGap } from "../../triggers/gaps.ts";
import { leavesOf } from "../../triggers/leaves.ts";
import type { Trigger } from "../../triggers/trigger.ts";
import { wallTrigger } from "../../triggers/wall-trigger.ts";
import { dayOf } from "./asked.ts";

/** A change of the clocks of one zone. */
export interface ZoneChange extends ClockShift {
  readonly timeZone: string;
}

/** What a change of the clocks has to do with a fire time. */
export interface Effect {
  /** The fire time was moved out of a gap; it is one of a time that exists twice. */
  readonly kind: "moved" | "first" | "second";
  readonly change: ZoneChange;
  /** `moved`: what clocks would have shown, as epoch milliseconds that they would be in UTC. */
  readonly wall: number | null;
}

/** What the clocks of a trigger's zones do on the day of an instant. */
export function changesOnDayOf(trigger: Trigger, at: number): ZoneChange[] {
  const zones = new Set(leavesOf(trigger).map(({ timeZone }) => timeZone));
  return [...zones].flatMap((timeZone) => {
    const [from, until] = dayOf(at, timeZone);
    return changesIn(timeZone, from, until);
  });
}

function changesIn(timeZone: string, from: number, until: number): ZoneChange[] {
  const changes = [...clockChanges(timeZone, from, until)].filter(({ atMs }) => atMs >= from && atMs < until);
  return changes.map((change) => ({ ...change, timeZone }));
}

/** What a change of the clocks did to a fire time of the trigger; null for nothing. */
export function effectOn(trigger: Trigger, fireTime: number): Effect | null {
  for (const leaf of leavesOf(trigger)) {
    for (const change of changesIn(leaf.timeZone, ...around(fireTime))) {
      const { atMs, shiftMs } = change;
      if (shiftMs > 0) {
        const wall = wallBefore(leaf, change, fireTime, (at) => trigger.matchesMs(at));
        if (wall !== null) return { kind: "moved", change, wall };
      } else if (leaf.matchesMs(fireTime) && wallTrigger(leaf, fireTime) !== null) {
        if (fireTime >= atMs + shiftMs && fireTime < atMs) return { kind: "first", change, wall: null };
        if (fireTime >= atMs && fireTime < atMs - shiftMs) return { kind: "second", change, wall: null };
      }
    }
  }
  return null;
}

/** The first time of a gap that was moved to a fire time. */
function wallBefore(
  leaf: Trigger,
  change: ZoneChange,
  fireTime: number,
  isFireTime: (at: number) => boolean,
): number | null {
  const { atMs, shiftMs, offsetMs } = change;
  const rule = fireTime >= atMs && fireTime <= atMs + shiftMs ? wallTrigger(leaf, atMs) : null;
  if (rule === null || rule.matchesMs(fireTime + offsetMs)) return null;
  const wall = fireTime === atMs ? rule.nextMs(atMs + offsetMs - shiftMs - 1) : fireTime + offsetMs - shiftMs;
  if (wall === null || wall >= atMs + offsetMs || !rule.matchesMs(wall)) return null;
  return isFireTime(fireTime) ? wall : null;
}

/** What became of a time that clocks went over. */
export type GapTime =
  /** The trigger names the time; the fire time that took its place, null for none. */
  | { readonly isNamed: true; readonly change: ZoneChange; readonly movedTo: number | null }
  | { readonly isNamed: false; readonly change: ZoneChange | null };

/**
 * What became of a time that clocks of a zone went over, or would have shown before the change.
 * @param wall the epoch milliseconds that it would be in UTC
 * @param span how long the question is
 */
export function gapTimeOf(trigger: Trigger, timeZone: string, wall: number, span: number, near: number): GapTime {
  const [change = null] = changesIn(timeZone, ...around(near)).filter(
    ({ atMs, shiftMs, offsetMs }) => wall >= atMs + offsetMs - shiftMs && wall < atMs + offsetMs,
  );
  if (change === null) return { isNamed: false, change };
  for (const leaf of leavesOf(trigger)) {
    if (leaf.timeZone !== timeZone) continue;
    const rule = wallTrigger(leaf, change.atMs);
    const named = rule?.nextMs(wall - 1) ?? null;
    if (rule === null || named === null || named >= wall + span) continue;
    const movedTo = movedOutOfGap(rule, change, named, (at) => trigger.matchesMs(at));
    return { isNamed: true, change, movedTo };
  }
  return { isNamed: false, change };
}

/** What clocks of a zone would have shown at an instant, had they not just gone forward; null where they had not. */
export function wallBeforeChange(trigger: Trigger, timeZone: string, at: number): number | null {
  const change = changesOnDayOf(trigger, at).find(
    (one) => one.timeZone === timeZone && at >= one.atMs && at < one.atMs + one.shiftMs,
  );
  return change === undefined ? null : at + change.offsetMs - change.shiftMs;
}

const DAY_MS = 86_400_000;

function around(at: number): readonly [from: number, until: number] {
  return [at - DAY_MS, at + DAY_MS];
}
