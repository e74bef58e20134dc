import type { Settings } from "./settings.ts";
import type { Plan } from "./world.ts";

/** What a plan makes of the schedule. */
export interface Planned {
  readonly fires: readonly number[];
  /** The first fire time that the plan takes care of. */
  readonly first: number;
  readonly nextFireTime: number;
  readonly lastFireTime: number;
  readonly isPaused: boolean;
  /** Whether it leaves some that are due to the next plan. */
  readonly isCut: boolean;
}

const FIRES_PER_PLAN_MAX = 2;
const NO_FIRES: readonly number[] = Object.freeze([]);

export function nextFire({ fires }: Settings, after: number): number {
  return after < fires ? after + 1 : 0;
}

/** What the scheduler's planning makes of what it saw. Pure. */
export function planOf(settings: Settings, { expected, last, asOf }: Plan): Planned {
  const { trigger, rules } = settings;
  const isBehind = rules.neverGoesBack && expected <= last;
  const first = isBehind ? nextFire(settings, last) : expected;
  if (first === 0 || first > asOf) {
    return { fires: NO_FIRES, first, nextFireTime: first, lastFireTime: last, isPaused: false, isCut: false };
  }
  if (trigger === "breaks" && first === 2) {
    return { fires: NO_FIRES, first, nextFireTime: expected, lastFireTime: last, isPaused: true, isCut: false };
  }
  const latest = Math.min(asOf, settings.fires);
  const fires: number[] = [];
  if (trigger === "all") {
    for (let fire = first; fire <= latest && fires.length < FIRES_PER_PLAN_MAX; fire++) fires.push(fire);
  } else fires.push(trigger === "breaks" ? first : latest);
  const lastFireTime = fires.at(-1) ?? last;
  const nextFireTime = nextFire(settings, lastFireTime);
  return { fires, first, nextFireTime, lastFireTime, isPaused: false, isCut: lastFireTime < latest };
}

/** Whether a plan that was made before may be sent now. */
export function isValid({ rules }: Settings, plan: Planned, now: number): boolean {
  if (rules.validity === "none") return true;
  const isPast = plan.fires.every((fire) => fire <= now);
  const isBeforeNext = plan.nextFireTime === 0 || now < plan.nextFireTime;
  if (rules.validity === "plain") return isPast && isBeforeNext;
  // A plan that was cut, pauses, or has no fires leaves the schedule due, and would be made anew for ever.
  if (plan.isCut || plan.isPaused || plan.fires.length === 0) return isPast;
  return isPast && isBeforeNext;
}
