import type { ZonedSchedule } from "../../stores/contract/zone-rules-types.ts";
import { CLOCK_TOLERANCE_MS } from "../../stores/shared/limits.ts";
import type { Trigger } from "../../triggers/trigger.ts";
import { nextAfter } from "./fire-times.ts";

/** No zone has moved by more than this since 2011, and clocks that move by a whole day strike the same hours. */
const SHIFT_MS_MAX = 12 * 3_600_000;

/**
 * The next fire time of a schedule by the rules of today, where it was computed by other rules of its time zones. Pure.
 *
 * The next fire time keeps its place among the fire times, so that none is lost or fires twice:
 * - If it has moved into the past, it is due at once, and fires late, because nobody could see it in time.
 * - If the last fire time has moved into the future, it does not fire again.
 * - Otherwise, the first fire time from now on is the next one. Those that the former rules did not know, before now,
 *   are not made up for.
 *
 * @param now epoch milliseconds
 * @returns the same instant when nothing has moved, and for a schedule that is due or has no fire time left
 * @throws {BrokenTriggerError} when the trigger does not advance
 */
export function movedFireTime(
  schedule: Omit<ZonedSchedule, "id" | "trigger" | "fence">,
  trigger: Trigger,
  now: number,
): number | null {
  const { nextFireTime, lastFireTime, createdAt } = schedule;
  if (nextFireTime === null || nextFireTime <= now) return nextFireTime;
  // A wrong clock went ahead, and the schedule was taken back.
  if (lastFireTime !== null && lastFireTime > now + CLOCK_TOLERANCE_MS && nextFireTime <= lastFireTime)
    return nextAfter(trigger, now);
  const last = lastFireTime ?? createdAt - 1;
  const place = placeOf(trigger, nextFireTime);
  if (place !== null && place <= now && place > last) return place;
  // The place of the last fire time, which may lie in the future now. A rule that is new may fire there for the first
  // time; then this is the place of the next one.
  const lastPlace = (lastFireTime === null ? null : placeOf(trigger, lastFireTime)) ?? last;
  const passed = Math.max(last, Math.min(lastPlace, (place ?? nextFireTime) - 1));
  return nextAfter(trigger, Math.max(now, passed));
}

/** The fire time of today's rules that stands where other rules had one: the nearest, if it is near. */
function placeOf(trigger: Trigger, fireTime: number): number | null {
  const later = nextAfter(trigger, fireTime - 1);
  if (later === fireTime) return fireTime;
  const earlier = trigger.previousMs(fireTime);
  const isEarlier = earlier !== null && (later === null || fireTime - earlier < later - fireTime);
  const nearest = isEarlier ? earlier : later;
  return nearest !== null && Math.abs(nearest - fireTime) <= SHIFT_MS_MAX ? nearest : null;
}
