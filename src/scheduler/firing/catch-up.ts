import { DURATION_MS_MAX } from "../../core/check-limits.ts";
import type { Skip } from "../../records/ledger.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { Trigger } from "../../triggers/trigger.ts";
import { countBetween, lastUntil, nextAfter } from "./fire-times.ts";

/** The part of a schedule that decides what is made up for. */
export type CatchingUp = Pick<ScheduleRecord, "coalesce" | "overlap" | "catchUp" | "paceUntil">;

/** Where a schedule begins to make up, and what it leaves out before. */
interface CatchUpStart {
  /** The first fire time that makes a job, or one that is not due yet; null when the trigger has no more of them. */
  readonly start: number | null;
  readonly skips: readonly Skip[];
}

/** Leaves out the due fire times that are too old (which takes one search, however many they are), and then, with
 *  `coalesce: "all"`, those that are too many. @param first the first that is due */
export function catchUpStart(
  { catchUp, coalesce }: CatchingUp,
  trigger: Trigger,
  first: number,
  now: number,
): CatchUpStart {
  const skips: Skip[] = [];
  let start: number | null = first;
  if (catchUp === null) return { start, skips };
  const { maxAgeMs, maxCount } = catchUp;
  if (maxAgeMs !== null && first < now - maxAgeMs) {
    start = nextAfter(trigger, now - maxAgeMs - 1);
    skips.push(leftOut("tooOld", trigger, first, Math.min(start ?? now + 1, now + 1)));
  }
  if (maxCount !== null && coalesce === "all" && start !== null && start <= now) {
    const newestStart = newest(trigger, start, now, maxCount);
    if (newestStart > start) skips.push(leftOut("overCount", trigger, start, newestStart));
    start = newestStart;
  }
  return { start, skips };
}

/** The fire times in [from, end), of which no job is made. */
function leftOut(verdict: Skip["verdict"], trigger: Trigger, from: number, end: number): Skip {
  const until = Math.max(from, lastUntil(trigger, end - 1) ?? from);
  return { from, until, verdict, count: countBetween(trigger, from, end), into: null };
}

/** The earliest of the newest `count` fire times in [first, now]. */
function newest(trigger: Trigger, first: number, now: number, count: number): number {
  let start = now + 1;
  for (let left = count; left > 0; left--) {
    const previous = trigger.previousMs(start);
    if (previous === null || previous <= first) return first;
    start = previous;
  }
  return start;
}

/** The pace of a schedule, in milliseconds; null for none. */
export function paceOf({ catchUp, coalesce, overlap }: CatchingUp): number | null {
  return coalesce === "all" && overlap === "queue" ? (catchUp?.paceMs ?? null) : null;
}

export const NO_PACE: { readonly paceUntil?: number } = Object.freeze({});

/** The pace that lasts: `paceUntil` of a schedule whose plan spreads nothing. */
export function lastingPace(schedule: CatchingUp, now: number): { readonly paceUntil?: number } {
  const { paceUntil } = schedule;
  return paceUntil === null || paceUntil <= now || paceOf(schedule) === null ? NO_PACE : { paceUntil };
}

/** Spreads the jobs of fire times that are due together, after those that were spread before. A line of such jobs ends
 *  within a thousand years, so that every instant in it can be represented. */
export function spread<Fire extends object>(
  fires: readonly Fire[],
  { paceUntil }: CatchingUp,
  paceMs: number,
  now: number,
): { readonly fires: readonly (Fire & { readonly pacedTime: number })[]; readonly paceUntil: number } {
  let next = Math.max(now, paceUntil ?? now);
  const paced = fires.map((fire) => {
    const pacedTime = Math.min(next, now + DURATION_MS_MAX);
    next = pacedTime + paceMs;
    return { ...fire, pacedTime };
  });
  return { fires: paced, paceUntil: next };
}
