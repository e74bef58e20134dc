import { type ClockShift, clockChanges } from "../triggers/clock-changes.ts";
import { timesInGap } from "../triggers/gaps.ts";
import type { Trigger } from "../triggers/trigger.ts";
import { wallTrigger } from "../triggers/wall-trigger.ts";

/** Most times of one gap that are listed. A rule that fires every second has 3,600 of them. */
const SKIPPED_PER_GAP_MAX = 10;
/** How far an answer looks for gaps when the rule has fewer fire times than were asked for. */
const YEAR_MS = 366 * 86_400_000;

/** What a change of the clocks does to a fire time. */
type ClockMark =
  /** It takes the place of a time that does not exist, which a UTC clock shows at `wallMs`. */
  { readonly kind: "moved"; readonly wallMs: number } | { readonly kind: "first" | "second" };

/** What changes of the clocks do to fire times. */
export interface ClockMarks {
  /** By the fire time, in epoch milliseconds. */
  readonly marks: ReadonlyMap<number, ClockMark>;
  /** Times that do not exist, and for which nothing fires, as the epoch milliseconds of a UTC clock that shows them. */
  readonly skipped: readonly number[];
}

/**
 * What changes of the clocks do to fire times of a trigger.
 * @param times in epoch milliseconds and in order
 * @param fromMs the instant from which on the trigger was asked
 * @param isWhole whether the trigger has no later fire time
 */
export function clockMarks(trigger: Trigger, times: readonly number[], fromMs: number, isWhole: boolean): ClockMarks {
  const lastMs = times.at(-1) ?? fromMs;
  const untilMs = isWhole ? lastMs + YEAR_MS : lastMs;
  const marks = new Map<number, ClockMark>();
  const skipped: number[] = [];
  for (const change of clockChanges(trigger.timeZone, fromMs, untilMs)) {
    const { atMs, shiftMs } = change;
    if (shiftMs < 0) markRepeated(change, times, marks);
    else if (atMs >= fromMs - shiftMs && atMs <= untilMs) lookIntoGap(trigger, change, times, marks, skipped);
  }
  return { marks, skipped };
}

/** Clocks go back: the times of day before the change come once more after it. */
function markRepeated({ atMs, shiftMs }: ClockShift, times: readonly number[], marks: Map<number, ClockMark>): void {
  for (const time of times) {
    if (time >= atMs + shiftMs && time < atMs) marks.set(time, { kind: "first" });
    if (time >= atMs && time < atMs - shiftMs) marks.set(time, { kind: "second" });
  }
}

/** Clocks go forward: what the rule names in the gap is moved or skipped. */
function lookIntoGap(
  trigger: Trigger,
  change: ClockShift,
  times: readonly number[],
  marks: Map<number, ClockMark>,
  skipped: number[],
): void {
  const rule = wallTrigger(trigger, change.atMs);
  if (rule === null) return;
  let count = 0;
  for (const { wallMs, movedTo } of timesInGap(rule, change, (at) => times.includes(at))) {
    if (movedTo !== null) marks.set(movedTo, { kind: "moved", wallMs });
    else skipped.push(wallMs);
    count++;
    if (count >= SKIPPED_PER_GAP_MAX) return;
  }
}
