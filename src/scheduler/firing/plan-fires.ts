import { BrokenTriggerError } from "../../core/errors.ts";
import type { Skip } from "../../records/ledger.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import { CLOCK_TOLERANCE_MS } from "../../stores/shared/limits.ts";
import type { Trigger } from "../../triggers/trigger.ts";
import { type CatchingUp, catchUpStart, lastingPace, NO_PACE, paceOf, spread } from "./catch-up.ts";
import { countBetween, lastUntil, nextAfter } from "./fire-times.ts";
import { CATCH_UP_JOBS_PER_COMMIT_MAX, PASSED_FIRES_PER_PLAN_MAX } from "./limits.ts";

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
  /** The job does not run before this instant, because of `catchUp.pace`; absent where there is no pace to keep. */
  readonly pacedTime?: number;
}

export interface FirePlan {
  readonly fires: readonly PlannedFire[];
  readonly nextFireTime: number | null;
  readonly lastFireTime: number | null;
  /** Whether more fire times are due than there are fires. */
  readonly isCut: boolean;
  /** The due fire times that make no job whatever the store holds, because their runs would overlap with that of the
   *  one fire; absent for none. */
  readonly passed?: { readonly count: number; readonly lastTime: number };
  /** The due fire times up to `lastFireTime` that have no fire, each in one of these; absent for none. */
  readonly skips?: readonly Skip[];
  /** Until when the jobs of missed fire times are spread; absent for no pace that lasts. */
  readonly paceUntil?: number;
}

/** The part of a schedule that decides when it fires. */
export type FiringSchedule = CatchingUp & Pick<ScheduleRecord, "id" | "nextFireTime" | "lastFireTime" | "maxJitterMs">;

/**
 * Which jobs a due schedule makes, and its next fire time. Pure. `latest` and `earliest` make one job, however many
 * fire times were missed. `all` makes a bounded number of jobs, oldest first, and leaves the other fire times due. If
 * the runs may not overlap, `all` makes one job: of the oldest fire time with `skip`, else of the newest. What is left
 * out because of `catchUp` comes first: the rest is planned as if nothing else was due.
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
  if (lastFireTime !== null && lastFireTime > now + CLOCK_TOLERANCE_MS) {
    // A wrong clock went ahead, and the schedule was taken back. The ledger has what ran then: it makes no job again.
    const plan = planFires({ ...schedule, lastFireTime: null }, trigger, now, random, firesMax);
    return { ...plan, lastFireTime };
  }
  // A new trigger may start before the last fire time of the old trigger. A schedule never goes back, because the same
  // occurrence would then fire twice.
  const isBehind = lastFireTime !== null && nextFireTime <= lastFireTime;
  const first = isBehind ? nextAfter(trigger, lastFireTime) : nextFireTime;
  const pace = lastingPace(schedule, now);
  // The schedule is not due. For example, the clock was set back after the look.
  if (first === null || first > now) return { fires: [], nextFireTime: first, lastFireTime, isCut: false, ...pace };
  const { start, skips } = catchUpStart(schedule, trigger, first, now);
  if (start === null || start > now) {
    const last = skips.at(-1)?.until ?? first;
    return { fires: [], nextFireTime: start, lastFireTime: last, isCut: false, skips, ...pace };
  }
  const plan = planDue({ schedule, trigger, start, now, random }, firesMax);
  const paced = pace === NO_PACE ? plan : { ...pace, ...plan };
  return skips.length === 0 ? paced : { ...paced, skips: [...skips, ...(plan.skips ?? [])] };
}

/** The fire times of a schedule in [start, now]. */
interface Due {
  readonly schedule: FiringSchedule;
  readonly trigger: Trigger;
  readonly start: number;
  readonly now: number;
  readonly random: () => number;
}

function planDue(due: Due, firesMax: number): FirePlan {
  const { coalesce, overlap } = due.schedule;
  if (coalesce !== "all") return planOne(due);
  return overlap === "queue" ? planAll(due, Math.min(firesMax, CATCH_UP_JOBS_PER_COMMIT_MAX)) : planApart(due);
}

function planOne({ schedule, trigger, start: first, now, random }: Due): FirePlan {
  const last = Math.max(first, lastUntil(trigger, now) ?? first);
  const next = nextAfter(trigger, last);
  const isLatest = schedule.coalesce === "latest";
  if (last === first) {
    const scheduledFireTime = jittered(schedule, first, next, random);
    const fires = [fireAlone(first, scheduledFireTime)];
    return { fires, nextFireTime: next, lastFireTime: last, isCut: false };
  }
  const second = nextAfter(trigger, first);
  const from = isLatest ? first : (second ?? last);
  const until = isLatest ? Math.max(first, trigger.previousMs(last) ?? first) : last;
  const count = countBetween(trigger, first, last);
  const missed = { missedCount: count, firstMissedTime: from, lastMissedTime: until };
  const fireTime = isLatest ? last : first;
  const scheduledFireTime = jittered(schedule, fireTime, isLatest ? next : second, random);
  const fires = [{ fireTime, scheduledFireTime, ...missed }];
  const skips = [{ from, until, verdict: "coalesced", count, into: fireTime } as const];
  return { fires, nextFireTime: next, lastFireTime: last, isCut: false, skips };
}

function planAll({ schedule, trigger, start, now, random }: Due, firesMax: number): FirePlan {
  const fires: PlannedFire[] = [];
  const paceMs = paceOf(schedule);
  for (let fireTime = start; ; ) {
    const next = nextAfter(trigger, fireTime);
    fires.push(fireAlone(fireTime, jittered(schedule, fireTime, next, random)));
    const isOver = next === null || next > now;
    if (isOver || fires.length >= firesMax) {
      const plan = { fires, nextFireTime: next, lastFireTime: fireTime, isCut: !isOver };
      return paceMs === null ? plan : paced(plan, schedule, trigger, paceMs, now);
    }
    fireTime = next;
  }
}

/** The plan with its jobs spread. A fire time that is due alone is not made up for, and does not wait for others. */
function paced(plan: FirePlan, schedule: FiringSchedule, trigger: Trigger, paceMs: number, now: number): FirePlan {
  const { fires, nextFireTime, isCut } = plan;
  if (fires.length === 1 && !isCut) return plan;
  const [beforeLast, last] = fires.slice(-2);
  if (isCut && beforeLast !== undefined && last !== undefined && nextFireTime !== null) {
    const further = nextAfter(trigger, nextFireTime);
    // The last one of many would be due alone in the next plan. So this plan leaves two.
    if (further === null || further > now) {
      const { fireTime: nextTime } = last;
      const shorter = spread(fires.slice(0, -1), schedule, paceMs, now);
      return { ...shorter, nextFireTime: nextTime, lastFireTime: beforeLast.fireTime, isCut };
    }
  }
  return { ...plan, ...spread(fires, schedule, paceMs, now) };
}

/** One job for all due fire times, whose runs may not overlap. */
function planApart({ schedule, trigger, start, now, random }: Due): FirePlan {
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
  const plan = {
    fires: [fireAlone(fireTime, scheduledFireTime)],
    nextFireTime: next,
    lastFireTime: last,
    isCut: next !== null && next <= now,
  };
  if (count === 0) return plan;
  const skip: Skip = isOldest
    ? { from: afterStart ?? last, until: last, verdict: "overlapSkipped", count, into: null }
    : { from: start, until: previous, verdict: "replaced", count, into: fireTime };
  return { ...plan, passed: { count, lastTime: skip.until }, skips: [skip] };
}

/** A fire that stands for no other. */
function fireAlone(fireTime: number, scheduledFireTime: number): PlannedFire {
  return { fireTime, scheduledFireTime, missedCount: 0, firstMissedTime: null, lastMissedTime: null };
}

function jittered(schedule: FiringSchedule, fireTime: number, next: number | null, random: () => number): number {
  if (schedule.maxJitterMs === 0) return fireTime;
  const room = next === null ? schedule.maxJitterMs : Math.min(schedule.maxJitterMs, next - fireTime - 1);
  return fireTime + Math.floor(random() * (room + 1));
}
