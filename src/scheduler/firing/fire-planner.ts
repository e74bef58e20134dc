import { FIRES_PER_STEP_MAX, PLANS_PER_STEP_MAX, STEP_BYTES_MAX } from "../../core/limits.ts";
import type { LookedSchedule, PlannedJob, SchedulePlan } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import { type FirePlan, planFires } from "./plan-fires.ts";
import { plannedJob } from "./planned-job.ts";
import { TriggerCache } from "./trigger-cache.ts";
import { UnreadableSchedules } from "./unreadable-schedules.ts";

/** A due schedule, and what a step is to do with it. */
export interface PlannedSchedule {
  readonly schedule: LookedSchedule;
  readonly plan: SchedulePlan;
  /** Why the plan pauses the schedule, or null. */
  readonly failure: { readonly error: unknown } | null;
  /** Whether more fire times are due than the plan has. */
  readonly isCut: boolean;
}

/** A plan that was made ahead of the fire time. */
interface Prepared {
  readonly fence: number;
  readonly expected: number;
  readonly fires: FirePlan;
}

/** Turns due schedules into plans, within the bounds of one step. A trigger that fails pauses its own schedule. A
 *  schedule whose trigger cannot be read here is left to other schedulers. */
export class FirePlanner {
  readonly #env: Environment;
  readonly #isFavourite: (schedule: LookedSchedule) => boolean;
  readonly #triggers = new TriggerCache();
  readonly #unreadable: UnreadableSchedules;
  #prepared = new Map<string, Prepared>();

  /** @param isFavourite whether this scheduler stays resident, and can run the schedule's jobs itself */
  constructor(env: Environment, isFavourite: (schedule: LookedSchedule) => boolean) {
    this.#env = env;
    this.#unreadable = new UnreadableSchedules(env);
    this.#isFavourite = isFavourite;
  }

  /** The schedules whose triggers can be read here; the same list when that is all of them. */
  readable(due: readonly LookedSchedule[], now: number): readonly LookedSchedule[] {
    const unreadable = due.flatMap((schedule) => {
      const problem = this.#triggers.problemOf(schedule.trigger, now);
      return problem === null ? [] : [{ schedule, error: problem.error }];
    });
    if (unreadable.length === 0) return due;
    this.#unreadable.tell(unreadable);
    const others = new Set(unreadable.map(({ schedule }) => schedule));
    return due.filter((schedule) => !others.has(schedule));
  }

  /** Plans schedules that fire soon ahead of time, so that nothing is left to compute at the fire time. */
  prepare(soon: readonly LookedSchedule[]): void {
    const prepared = new Map<string, Prepared>();
    for (const schedule of soon) {
      const { id, fence, nextFireTime: expected } = schedule;
      const known = this.#prepared.get(id);
      if (known !== undefined && known.fence === fence && known.expected === expected) {
        prepared.set(id, known);
        continue;
      }
      try {
        prepared.set(id, { fence, expected, fires: this.#fires(schedule, expected, 1) });
      } catch {
        // The plan fails again at the fire time, and only then does the failure count.
      }
    }
    this.#prepared = prepared;
  }

  /**
   * Plans as many schedules that are due at `now` as fit into one step, each with one fire. What room is left goes to
   * further fires of those that have much to catch up. Schedules and fires that do not fit stay due.
   */
  plan(due: readonly LookedSchedule[], now: number): PlannedSchedule[] {
    const fitting = fittingOf(due);
    const share = Math.max(1, Math.floor(FIRES_PER_STEP_MAX / Math.max(1, fitting.length)));
    let bytesLeft = STEP_BYTES_MAX - bytesOf(fitting);
    const planned = fitting.map((schedule) => {
      const further = Math.max(0, Math.floor(bytesLeft / Math.max(1, schedule.bytes)));
      const one = this.#plan(schedule, now, Math.min(share, 1 + further));
      bytesLeft -= Math.max(0, one.plan.fires.length - 1) * schedule.bytes;
      return one;
    });
    this.#prepared.clear();
    return planned;
  }

  #plan(schedule: LookedSchedule, now: number, firesMax: number): PlannedSchedule {
    const { id: scheduleId, fence, nextFireTime: expected } = schedule;
    try {
      const { fires, nextFireTime, lastFireTime, isCut, passed } = this.#preparedFires(schedule, now, firesMax);
      const jobs = fires.map((fire): PlannedJob => plannedJob(schedule, fire, this.#env.ids.next(now), now));
      const isFavourite = this.#isFavourite(schedule);
      const plan = { scheduleId, fence, expected, fires: jobs, nextFireTime, lastFireTime, paused: false, isFavourite };
      const policy = schedule.overlap;
      if (policy === "queue" || fires.length === 0) return { schedule, plan, failure: null, isCut };
      const overlap = { policy, passed: passed?.count ?? 0, lastPassedTime: passed?.lastTime ?? null };
      return { schedule, plan: { ...plan, overlap }, failure: null, isCut };
    } catch (error) {
      return pausedPlan(schedule, error);
    }
  }

  /** The fires of a schedule. A plan that was made ahead holds until the next fire time. */
  #preparedFires(schedule: LookedSchedule, now: number, firesMax: number): FirePlan {
    const { id, fence, nextFireTime: expected } = schedule;
    const prepared = this.#prepared.get(id);
    if (prepared === undefined || prepared.fence !== fence || prepared.expected !== expected) {
      return this.#fires(schedule, now, firesMax);
    }
    const { fires, nextFireTime } = prepared.fires;
    const isValid =
      fires.length > 0 &&
      fires.every(({ fireTime }) => fireTime <= now) &&
      (nextFireTime === null || now < nextFireTime);
    return isValid ? prepared.fires : this.#fires(schedule, now, firesMax);
  }

  #fires(schedule: LookedSchedule, now: number, firesMax: number): FirePlan {
    return planFires(schedule, this.#triggers.get(schedule.trigger), now, this.#env.random, firesMax);
  }
}

/** The first schedules that fit into one step with one fire each; at least one. */
function fittingOf(due: readonly LookedSchedule[]): readonly LookedSchedule[] {
  let bytes = 0;
  const end = due.findIndex((schedule, place) => {
    bytes += schedule.bytes;
    return place === PLANS_PER_STEP_MAX || (place > 0 && bytes > STEP_BYTES_MAX);
  });
  return end === -1 ? due : due.slice(0, end);
}

function bytesOf(schedules: readonly LookedSchedule[]): number {
  return schedules.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** A plan that makes no jobs, and pauses the schedule without changing its fire times. */
export function pausedPlan(schedule: LookedSchedule, error: unknown): PlannedSchedule {
  const { id: scheduleId, fence, nextFireTime, lastFireTime } = schedule;
  const plan = {
    scheduleId,
    fence,
    expected: nextFireTime,
    fires: [] satisfies PlannedJob[],
    nextFireTime,
    lastFireTime,
    paused: true,
    isFavourite: false,
  };
  return { schedule, plan, failure: { error }, isCut: false };
}
