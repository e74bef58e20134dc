import { instantText, instantTextOrNull } from "../core/temporal.ts";
import { type ClockShift, clockChanges } from "../triggers/clock-changes.ts";
import { timesInGap } from "../triggers/gaps.ts";
import type { Trigger } from "../triggers/trigger.ts";
import { wallTrigger } from "../triggers/wall-trigger.ts";
import { isoIn } from "../triggers/words.ts";
import type { Preview } from "./api.ts";

/** Most times of one gap that are listed. A rule that fires every second has 3,600 of them. */
const SKIPPED_PER_GAP_MAX = 10;
/** How far a preview looks for gaps when the rule has fewer fire times than were asked for. */
const YEAR_MS = 366 * 86_400_000;

/**
 * Fire times of a trigger, with what changes of the clocks do to them.
 * @param times in epoch milliseconds and in order
 * @param fromMs the instant from which on the trigger was asked
 * @param isWhole whether the trigger has no later fire time
 * @param blackouts the id of the blackout of each fire time that is within one
 */
export function previewOf(
  trigger: Trigger,
  times: readonly number[],
  fromMs: number,
  isWhole: boolean,
  blackouts: ReadonlyMap<number, string | null> = new Map(),
): Preview {
  const { timeZone } = trigger;
  const lastMs = times.at(-1) ?? fromMs;
  const marks = new Map<number, "moved" | "first" | "second">();
  const skipped: string[] = [];
  const untilMs = isWhole ? lastMs + YEAR_MS : lastMs;
  for (const change of clockChanges(timeZone, fromMs, untilMs)) {
    const { atMs, shiftMs } = change;
    if (shiftMs < 0) markRepeated(change, times, marks);
    else if (atMs >= fromMs - shiftMs && atMs <= untilMs) lookIntoGap(trigger, change, times, marks, skipped);
  }
  return {
    description: trigger.describe(),
    timeZone,
    items: times.map((at) => ({
      at: instantText(at),
      local: isoIn(at, timeZone),
      clockChange: marks.get(at) ?? null,
      shiftedFrom: instantTextOrNull(trigger.shiftedFromMs(at)),
      blackout: blackouts.get(at) ?? null,
    })),
    skipped,
  };
}

type Marks = Map<number, "moved" | "first" | "second">;

/** Clocks go back: the times of day before the change come once more after it. */
function markRepeated({ atMs, shiftMs }: ClockShift, times: readonly number[], marks: Marks): void {
  for (const time of times) {
    if (time >= atMs + shiftMs && time < atMs) marks.set(time, "first");
    if (time >= atMs && time < atMs - shiftMs) marks.set(time, "second");
  }
}

/** Clocks go forward: what the rule names in the gap is moved or skipped. */
function lookIntoGap(
  trigger: Trigger,
  change: ClockShift,
  times: readonly number[],
  marks: Marks,
  skipped: string[],
): void {
  const rule = wallTrigger(trigger, change.atMs);
  if (rule === null) return;
  let count = 0;
  for (const { wallMs, movedTo } of timesInGap(rule, change, (at) => times.includes(at))) {
    if (movedTo !== null) marks.set(movedTo, "moved");
    else skipped.push(instantText(wallMs).replace("Z", ""));
    count++;
    if (count >= SKIPPED_PER_GAP_MAX) return;
  }
}
