import { BrokenTriggerError } from "../../core/errors.ts";
import { CATCH_UP_JOBS_PER_COMMIT_MAX, MISSED_COUNT_STEPS_MAX, PASSED_FIRES_PER_PLAN_MAX } from "../../core/limits.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import { brokenTrigger, type Trigger } from "../../triggers/trigger.ts";

/** The other fire times that one job stands for, besides its own; instants in epoch milliseconds. */
interface MissedFires {
  /** How many there are; null when there are too many to count. */
  readonly missedCount: number | null;
  readonly firstMissedTime: number | null;
  readonly lastMissedTime: number | null;
}

/** One job that a due schedule makes; instants in epoch milliseconds. */
export interface PlannedFire extends MissedFires {
  readonly fireTime: number;
  /** The fire time with jitter. */
  readonly scheduledFireTime: number;
}

const NONE_MISSED: MissedFires = Object.freeze({ missedCount: 0, firstMissedTime: null, lastMissedTime: null });

export interface FirePlan {
  readonly fires: readonly PlannedFire[];
  readonly nextFireTime: number | null;
  readonly lastFireTime: number | null;
  /** Whether more fire times are due than there are fires. */
  readonly isCut: boolean;
  /** The due fire times that make no job whatever the store holds, because their runs would overlap with that of the
   *  one fire; absent for none. */
  readonly passed?: { readonly count: number; readonly lastTime: number };
}

/** The part of a schedule that decides when it fires. */
export type FiringSchedule = Pick<
  ScheduleRecord,
  "id" | "nextFireTime" | "lastFireTime" | "coalesce" | "maxCatchUp" | "maxJitterMs" | "overlap"
>;

/**
 * Which jobs a due schedule makes, and its next fire time. Pure. `latest` and `earliest` make one job, however many
 * fire times were missed. `all` makes a bounded number of jobs, oldest first, and leaves the other fire times due. If
 * the runs may not overlap, `all` makes one job: of the oldest fire time with `skip`, else of the newest.
 *
 * @param random uniform in [0, 1), for the jitter
 * @param firesMax most fires that the plan may have; at least 1
 * @throws {BrokenTriggerError} when the trigger does not advance
 */
export function planFires(
  schedule: FiringSchedule,
  trigger: Trigger,
  now: number,
  random: () => number,
  firesMax: number = CATCH_UP_JOBS_PER_COMMIT_MAX,
): FirePlan {
  const { nextFireTime, lastFireTime } = schedule;
  if (nextFireTime === null) throw new BrokenTriggerError(`schedule "${schedule.id}" has no fire time`);
  // A new trigger may start before the last fire time of the old trigger. A schedule never goes back, because the same
  // occurrence would then fire twice.
  const isBehind = lastFireTime !== null && nextFireTime <= lastFireTime;
  const first = isBehind ? nextAfter(trigger, lastFireTime) : nextFireTime;
  // The schedule is not due. For example, the clock was set back after the look.
  if (first === null || first > now) return { fires: [], nextFireTime: first, lastFireTime, isCut: false };
  if (schedule.coalesce === "all" && schedule.overlap !== "queue") {
    return planApart(schedule, trigger, first, now, random);
  }
  return schedule.coalesce === "all"
    ? planAll(schedule, trigger, first, now, random, firesMax)
    : planOne(schedule, trigger, first, now, random);
}

function planOne(
  schedule: FiringSchedule,
  trigger: Trigger,
  first: number,
  now: number,
  random: () => number,
): FirePlan {
  const last = Math.max(first, lastUntil(trigger, now) ?? first);
  const next = nextAfter(trigger, last);
  const isLatest = schedule.coalesce === "latest";
  if (last === first) {
    const scheduledFireTime = jittered(schedule, first, next, random);
    const fires = [{ fireTime: first, scheduledFireTime, ...NONE_MISSED }];
    return { fires, nextFireTime: next, lastFireTime: last, isCut: false };
  }
  const second = nextAfter(trigger, first);
  const missed = {
    missedCount: countBetween(trigger, first, last),
    firstMissedTime: isLatest ? first : second,
    lastMissedTime: isLatest ? (trigger.previousMs(last) ?? first) : last,
  };
  const fireTime = isLatest ? last : first;
  const scheduledFireTime = jittered(schedule, fireTime, isLatest ? next : second, random);
  const fires = [{ fireTime, scheduledFireTime, ...missed }];
  return { fires, nextFireTime: next, lastFireTime: last, isCut: false };
}

function planAll(
  schedule: FiringSchedule,
  trigger: Trigger,
  first: number,
  now: number,
  random: () => number,
  firesMax: number,
): FirePlan {
  const fires: PlannedFire[] = [];
  const [start, missedBefore] = catchUpStart(schedule, trigger, first, now);
  let missed = missedBefore;
  let fireTime = start;
  for (;;) {
    const next = nextAfter(trigger, fireTime);
    fires.push({ fireTime, scheduledFireTime: jittered(schedule, fireTime, next, random), ...missed });
    const isOver = next === null || next > now;
    if (isOver || fires.length >= Math.min(firesMax, CATCH_UP_JOBS_PER_COMMIT_MAX)) {
      return { fires, nextFireTime: next, lastFireTime: fireTime, isCut: !isOver };
    }
    missed = NONE_MISSED;
    fireTime = next;
  }
}

/** One job for all due fire times, whose runs may not overlap. */
function planApart(
  schedule: FiringSchedule,
  trigger: Trigger,
  first: number,
  now: number,
  random: () => number,
): FirePlan {
  const [start, missed] = catchUpStart(schedule, trigger, first, now);
  const afterStart = nextAfter(trigger, start);
  let last = start;
  let previous = start;
  let next = afterStart;
  let count = 0;
  for (; next !== null && next <= now && count < PASSED_FIRES_PER_PLAN_MAX; count++) {
    previous = last;
    last = next;
    next = nextAfter(trigger, last);
  }
  const isOldest = schedule.overlap === "skip";
  const fireTime = isOldest ? start : last;
  const scheduledFireTime = jittered(schedule, fireTime, isOldest ? afterStart : next, random);
  return {
    fires: [{ fireTime, scheduledFireTime, ...missed }],
    nextFireTime: next,
    lastFireTime: last,
    isCut: next !== null && next <= now,
    ...(count === 0 ? {} : { passed: { count, lastTime: isOldest ? last : previous } }),
  };
}

/** The first fire time in [first, now] that `maxCatchUp` leaves, and those that it leaves out. */
function catchUpStart(
  { maxCatchUp }: FiringSchedule,
  trigger: Trigger,
  first: number,
  now: number,
): [start: number, missed: MissedFires] {
  const start = maxCatchUp === null ? first : newest(trigger, first, now, maxCatchUp);
  if (start === first) return [start, NONE_MISSED];
  return [
    start,
    {
      missedCount: countBetween(trigger, first, start),
      firstMissedTime: first,
      lastMissedTime: trigger.previousMs(start) ?? first,
    },
  ];
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

function nextAfter(trigger: Trigger, after: number): number | null {
  const next = trigger.nextMs(after);
  if (next !== null && !(next > after && Number.isInteger(next))) throw brokenTrigger(trigger, after, next);
  return next;
}

/** The last fire time at or before an instant. */
function lastUntil(trigger: Trigger, now: number): number | null {
  const last = trigger.previousMs(now + 1);
  if (last === null || (last <= now && Number.isInteger(last))) return last;
  throw new BrokenTriggerError(
    `the trigger (${trigger.toJSON().type}) answered ${last}, which is not earlier than ${now + 1}; ` +
      "previousMs() must return a strictly earlier instant or null",
  );
}

/** How many fire times lie in [first, last), or null when counting takes too long. */
function countBetween(trigger: Trigger, first: number, last: number): number | null {
  let count = 0;
  for (let at: number | null = first; at !== null && at < last; at = nextAfter(trigger, at)) {
    if (++count > MISSED_COUNT_STEPS_MAX) return null;
  }
  return count;
}

function jittered(schedule: FiringSchedule, fireTime: number, next: number | null, random: () => number): number {
  if (schedule.maxJitterMs === 0) return fireTime;
  const room = next === null ? schedule.maxJitterMs : Math.min(schedule.maxJitterMs, next - fireTime - 1);
  return fireTime + Math.floor(random() * (room + 1));
}
