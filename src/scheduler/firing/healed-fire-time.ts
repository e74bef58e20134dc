import type { ScheduleRecord } from "../../records/schedule.ts";
import type { Trigger } from "../../triggers/trigger.ts";
import { nextAfter } from "./fire-times.ts";
import { CLOCK_STEADY_MS, EARLIEST_NOW_MS } from "./limits.ts";

/** What speaks for the clock of a host, and against it. */
export interface HostClock {
  /** What it shows, in epoch milliseconds. */
  readonly now: number;
  /** How far clocks may differ, in milliseconds: a lease. */
  readonly toleranceMs: number;
  /** For how long it has gone on evenly, in milliseconds. */
  readonly steadyMs: number;
  /** Whether a scheduler is alive whose clock differs by more than that. */
  readonly isDisputed: boolean;
}

/** The part of a schedule that a wrong clock moves. */
export type MovedSchedule = Pick<ScheduleRecord, "nextFireTime" | "lastFireTime" | "createdAt">;

/** Whether a host may take back what a wrong clock has moved. */
export function mayHeal({ now, steadyMs, isDisputed }: HostClock): boolean {
  return now >= EARLIEST_NOW_MS && steadyMs >= CLOCK_STEADY_MS && !isDisputed;
}

/**
 * The next fire time of a schedule that has fired, or was added, in the future, because the clock of a scheduler was
 * wrong. Pure. Its last fire time stays: what has run up to it does not run again.
 *
 * A fire time that somebody chose, or that a rule has far ahead, is left alone, as nothing in the future goes with it.
 *
 * @returns null for a schedule that stays as it is
 * @throws {BrokenTriggerError} when the trigger does not advance
 */
export function healedFireTime(
  { nextFireTime, lastFireTime, createdAt }: MovedSchedule,
  trigger: Trigger,
  { now, toleranceMs }: Pick<HostClock, "now" | "toleranceMs">,
): number | null {
  if (Math.max(lastFireTime ?? 0, createdAt) <= now + toleranceMs) return null;
  const next = nextAfter(trigger, now);
  // That clock has run the last one of the rule, which does not run again.
  if (next !== null && next === lastFireTime && nextAfter(trigger, next) === null) return null;
  return next === null || (nextFireTime !== null && nextFireTime <= next) ? null : next;
}
