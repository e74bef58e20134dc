import { DeserializationError } from "../../core/errors.ts";
import type { Mutable } from "../../core/mutable.ts";
import { REASON_LENGTH_MAX } from "../../records/limits.ts";
import { serializedError } from "../../records/serialized-error.ts";
import type { BlackoutList, LookedSchedule, PlannedJob, SchedulePlan } from "../../stores/data-store.ts";
import { FIRES_PER_COMMIT_MAX, PLANS_PER_COMMIT_MAX } from "../../stores/shared/limits.ts";
import { zoneRulesOf } from "../../triggers/stored-zone-rules.ts";
import type { Environment } from "../environment.ts";
import { KnownBlackouts, NO_BLACKOUTS } from "./known-blackouts.ts";
import { COMMIT_BYTES_MAX } from "./limits.ts";
import { planOpenFires } from "./plan-blackouts.ts";
import { type FirePlan, planFires } from "./plan-fires.ts";
import { plannedJob } from "./planned-job.ts";
import { StuckSchedules } from "./stuck-schedules.ts";
import { TriggerCache } from "./trigger-cache.ts";
import { UnreadableSchedules } from "./unreadable-schedules.ts";

/** A due schedule, and what a commit is to do with it. */
export interface ScheduleWithPlan {
  readonly schedule: LookedSchedule;
  readonly plan: SchedulePlan;
  /** Why the plan pauses the schedule, or null. */
  readonly failure: { readonly error: unknown } | null;
  /** Whether more fire times are due than the plan has. */
  readonly isCut: boolean;
  /** The version of the blackouts that the plan uses. */
  readonly blackouts: number;
}

/** A plan that was made ahead of the fire time. */
interface Prepared {
  readonly fence: number;
  readonly expected: number;
  readonly fires: ZonedFirePlan;
}

/** A plan, and the rules of the zones by which its next fire time was computed. */
interface ZonedFirePlan {
  readonly plan: FirePlan;
  readonly zoneRules: string | null;
}

/** Turns due schedules into plans, within the bounds of one commit. A trigger that fails pauses its own schedule. A
 *  schedule whose trigger cannot be read here is left to other schedulers. */
export class FirePlanner {
  readonly #env: Environment;
  readonly #isPreferred: (schedule: LookedSchedule) => boolean;
  readonly #unseenMs: (now: number) => number;
  readonly #triggers = new TriggerCache();
  readonly #unreadable: UnreadableSchedules;
  readonly #stuck = new StuckSchedules();
  #prepared = new Map<string, Prepared>();
  #blackouts = NO_BLACKOUTS;

  /** @param isPreferred whether this scheduler stays resident, and can run the schedule's jobs itself
   *  @param unseenMs for how long a due job may wait before each of the schedulers that are up has seen it */
  constructor(env: Environment, isPreferred: (schedule: LookedSchedule) => boolean, unseenMs: (now: number) => number) {
    this.#env = env;
    this.#unseenMs = unseenMs;
    this.#unreadable = new UnreadableSchedules(env);
    this.#isPreferred = isPreferred;
  }

  /** The version of the blackouts that plans use. */
  get blackoutsVersion(): number {
    return this.#blackouts.version;
  }

  /** Uses these blackouts from now on. */
  useBlackouts(blackouts: BlackoutList): void {
    this.#blackouts = new KnownBlackouts(blackouts);
    this.#prepared.clear();
  }

  /** The schedules whose triggers can be read here; the same list when that is all of them. */
  readable(due: readonly LookedSchedule[], now: number): readonly LookedSchedule[] {
    const unreadable: { schedule: LookedSchedule; error: unknown }[] = [];
    for (const schedule of due) {
      const problem =
        this.#triggers.problemOf(schedule.trigger, now) ??
        this.#blackouts.problemOf(schedule) ??
        this.#stuckProblem(schedule, now);
      if (problem !== null) unreadable.push({ schedule, error: problem.error });
    }
    if (unreadable.length === 0) return due;
    this.#unreadable.report(unreadable);
    const others = new Set(unreadable.map(({ schedule }) => schedule));
    return due.filter((schedule) => !others.has(schedule));
  }

  /** A plan of the schedule did not count. */
  notCommitted(schedule: LookedSchedule): void {
    this.#stuck.notCommitted(schedule, this.#env.clock.now());
  }

  #stuckProblem(schedule: LookedSchedule, now: number): { readonly error: unknown } | null {
    if (!this.#stuck.has(schedule, now)) return null;
    const error = new DeserializationError(
      `the store takes no plan of schedule "${schedule.id}", which stays as it is: its row was damaged; remove it`,
    );
    return { error };
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
   * Plans as many schedules that are due at `now` as fit into one commit, each with one fire. What room is left goes to
   * further fires of those that have much to catch up. Schedules and fires that do not fit stay due.
   */
  plan(due: readonly LookedSchedule[], now: number): ScheduleWithPlan[] {
    const fitting = fittingOf(due);
    const share = Math.max(1, Math.floor(FIRES_PER_COMMIT_MAX / Math.max(1, fitting.length)));
    let bytesLeft = COMMIT_BYTES_MAX - bytesOf(fitting);
    const planned = fitting.map((schedule) => {
      const further = Math.max(0, Math.floor(bytesLeft / Math.max(1, schedule.bytes)));
      const one = this.#plan(schedule, now, Math.min(share, 1 + further));
      bytesLeft -= Math.max(0, one.plan.fires.length - 1) * schedule.bytes;
      return one;
    });
    this.#prepared.clear();
    return planned;
  }

  #plan(schedule: LookedSchedule, now: number, firesMax: number): ScheduleWithPlan {
    const { id: scheduleId, fence, nextFireTime: expected } = schedule;
    try {
      if (typeof schedule.executor !== "string" || schedule.executor === "") throw damaged(scheduleId);
      const { plan: found, zoneRules } = this.#preparedFires(schedule, now, firesMax);
      const { nextFireTime, lastFireTime, isCut, passed, skips, paceUntil } = found;
      const fires = found.fires.map((fire) => plannedJob(schedule, fire, this.#env.ids.next(now), now));
      const isPreferred = this.#isPreferred(schedule);
      // Most plans have no other fields, and each spread would cost more than the plan.
      const plan: Mutable<SchedulePlan> = {
        scheduleId,
        fence,
        expected,
        fires,
        nextFireTime,
        lastFireTime,
        paused: false,
        isPreferred,
      };
      if (paceUntil !== undefined) plan.paceUntil = paceUntil;
      if (skips !== undefined) plan.skips = skips;
      if (nextFireTime !== expected && zoneRules !== (schedule.zoneRules ?? null)) plan.zoneRules = zoneRules;
      const policy = schedule.overlap;
      // A fire time that is due alone is not made up for, however late it is.
      if (policy === "queue" && (fires.length > 1 || isCut)) plan.isCatchUp = true;
      if (policy !== "queue" && fires.length > 0)
        plan.overlap = { policy, passed: passed?.count ?? 0, lastPassedTime: passed?.lastTime ?? null };
      // What a schedule that was taken back fires again takes the place of nothing.
      else if (this.#hasMissed(schedule, now) && isAhead(fires, schedule.lastFireTime))
        plan.overlap = { policy: schedule.coalesce as "latest" | "earliest", passed: 0, lastPassedTime: null };
      return { schedule, plan, failure: null, isCut, blackouts: this.#blackouts.version };
    } catch (error) {
      return pausedPlan(schedule, error, this.#blackouts.version);
    }
  }

  #hasMissed({ coalesce, missedSince }: LookedSchedule, now: number): boolean {
    return coalesce !== "all" && missedSince !== undefined && now - missedSince >= this.#unseenMs(now);
  }

  /** The fires of a schedule. A plan that was made ahead holds until the next fire time. */
  #preparedFires(schedule: LookedSchedule, now: number, firesMax: number): ZonedFirePlan {
    const { id, fence, nextFireTime: expected } = schedule;
    const prepared = this.#prepared.get(id);
    if (prepared === undefined || prepared.fence !== fence || prepared.expected !== expected) {
      return this.#fires(schedule, now, firesMax);
    }
    const { fires, nextFireTime } = prepared.fires.plan;
    const oldest = now - (schedule.catchUp?.maxAgeMs ?? Number.POSITIVE_INFINITY);
    const isValid =
      fires.length > 0 &&
      fires.every(({ fireTime }) => fireTime <= now && fireTime >= oldest) &&
      (nextFireTime === null || now < nextFireTime);
    return isValid ? prepared.fires : this.#fires(schedule, now, firesMax);
  }

  #fires(schedule: LookedSchedule, now: number, firesMax: number): ZonedFirePlan {
    const trigger = this.#triggers.get(schedule.trigger);
    const { random } = this.#env;
    const blackouts = this.#blackouts.of(schedule);
    if (blackouts === null) {
      const plan = planFires(schedule, trigger, now, random, firesMax);
      return { plan, zoneRules: plan.nextFireTime === null ? null : zoneRulesOf(trigger, now) };
    }
    const plan = planOpenFires(schedule, trigger, blackouts, now, random, firesMax);
    // No rule of the schedule made the end of a blackout.
    const isOfRule = plan.nextFireTime !== null && plan.isNextOfRule;
    return { plan, zoneRules: isOfRule ? zoneRulesOf(trigger, now) : null };
  }
}

function isAhead([fire]: readonly PlannedJob[], lastFireTime: number | null): boolean {
  return fire !== undefined && fire.fireTime > (lastFireTime ?? Number.NEGATIVE_INFINITY);
}

/** Jobs without an executor would wait for ever. */
function damaged(scheduleId: string): DeserializationError {
  return new DeserializationError(
    `the stored settings of schedule "${scheduleId}" are damaged; add the schedule again with conflictPolicy "replace"`,
  );
}

/** The first schedules that fit into one commit with one fire each; at least one. */
function fittingOf(due: readonly LookedSchedule[]): readonly LookedSchedule[] {
  let bytes = 0;
  const end = due.findIndex((schedule, place) => {
    bytes += schedule.bytes;
    return place === PLANS_PER_COMMIT_MAX || (place > 0 && bytes > COMMIT_BYTES_MAX);
  });
  return end === -1 ? due : due.slice(0, end);
}

function bytesOf(schedules: readonly LookedSchedule[]): number {
  return schedules.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** The message of an error, as much of it as a reason has room for. */
function reasonOf(error: unknown): string {
  const { message } = serializedError(error);
  return message.length > REASON_LENGTH_MAX ? `${message.slice(0, REASON_LENGTH_MAX - 3)}...` : message;
}

/** A plan that makes no jobs, and pauses the schedule without changing its fire times. */
export function pausedPlan(schedule: LookedSchedule, error: unknown, blackouts: number): ScheduleWithPlan {
  const { id: scheduleId, fence, nextFireTime, lastFireTime, paceUntil } = schedule;
  const plan = {
    scheduleId,
    fence,
    expected: nextFireTime,
    fires: [] satisfies PlannedJob[],
    nextFireTime,
    lastFireTime,
    paused: true,
    pauseReason: reasonOf(error),
    isPreferred: false,
    ...(paceUntil === null ? {} : { paceUntil }),
  };
  return { schedule, plan, failure: { error }, isCut: false, blackouts };
}
