import { StoreUnavailableError } from "../../core/errors.ts";
import { SCHEDULES_PER_COMMIT_MAX } from "../../core/limits.ts";
import type { EventRecord } from "../../records/events.ts";
import type { JobRecord } from "../../records/job.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import { serializedError } from "../../records/serialized-error.ts";
import type { SchedulePlan } from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import { jobAdded, scheduleFailed, scheduleSaved } from "../events/event-records.ts";
import { planFires } from "./plan-fires.ts";
import { jobOfFire } from "./planned-job.ts";
import { TriggerCache } from "./trigger-cache.ts";

export interface ProcessReport {
  readonly schedulesProcessed: number;
  readonly jobsAdded: number;
  /** When there may be something due again (epoch milliseconds), or null. In the past when there is more now. */
  readonly nextDueAt: number | null;
}

interface Planned {
  readonly schedule: ScheduleRecord;
  readonly plan: SchedulePlan;
  /** Why the schedule is paused by this plan, or null. */
  readonly failure: { readonly error: unknown } | null;
}

/** Turns due schedules into jobs: lease, plan, commit, one atomic commit for the jobs and the next fire time. */
export class ScheduleProcessor {
  readonly #env: Environment;
  readonly #triggers = new TriggerCache();
  /** Kept while the fate of an acquisition is unknown, so that its repetition finds what it leased. */
  #acquisitionId: string | null = null;
  /** Plans whose commit failed: their leases are ours still, and a commit is safe to repeat. */
  #uncommitted: readonly Planned[] = [];

  constructor(env: Environment) {
    this.#env = env;
  }

  /** Whether it is unknown what the last commit or acquisition did. */
  get isUnsettled(): boolean {
    return this.#acquisitionId !== null || this.#uncommitted.length > 0;
  }

  /** One step: processes at most {@link SCHEDULES_PER_COMMIT_MAX} due schedules.
   *  @throws {StoreUnavailableError} nothing is lost: the next step repeats what is unsettled */
  async runOnce(now: number): Promise<ProcessReport> {
    let jobsAdded = this.#uncommitted.length > 0 ? await this.#commit(this.#uncommitted) : 0;
    this.#acquisitionId ??= this.#env.ids.next(now);
    const { schedules, nextDueAt } = await this.#env.store.acquireSchedules({
      now,
      schedulerId: this.#env.identity,
      acquisitionId: this.#acquisitionId,
      until: now + this.#env.leaseMs,
      limit: SCHEDULES_PER_COMMIT_MAX,
    });
    this.#acquisitionId = null;
    if (schedules.length === 0) return { schedulesProcessed: 0, jobsAdded, nextDueAt };
    const planned = schedules.map((schedule) => this.#plan(schedule, now));
    jobsAdded += await this.#commit(planned);
    let earliest = nextDueAt ?? Number.POSITIVE_INFINITY;
    for (const { plan } of planned) {
      if (plan.nextFireTime !== null && !plan.paused) earliest = Math.min(earliest, plan.nextFireTime);
    }
    return {
      schedulesProcessed: schedules.length,
      jobsAdded,
      nextDueAt: Number.isFinite(earliest) ? earliest : null,
    };
  }

  /** A trigger that fails pauses its own schedule and spares the others. */
  #plan(schedule: ScheduleRecord, now: number): Planned {
    const { id: scheduleId, fence } = schedule;
    try {
      const { fires, nextFireTime, lastFireTime } = planFires(
        schedule,
        this.#triggers.get(schedule.trigger),
        now,
        this.#env.random,
      );
      const jobs = fires.map((fire) => jobOfFire(schedule, fire, this.#env.ids.next(now), now));
      return { schedule, plan: { scheduleId, fence, jobs, nextFireTime, lastFireTime, paused: false }, failure: null };
    } catch (error) {
      return paused(schedule, error);
    }
  }

  async #commit(planned: readonly Planned[]): Promise<number> {
    this.#uncommitted = planned;
    try {
      return await this.#commitOnce(planned);
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error;
      return this.#commitSingly(planned);
    }
  }

  /** One of the plans is something that the store cannot take: that one's schedule is paused, the others go through. */
  async #commitSingly(planned: readonly Planned[]): Promise<number> {
    let jobsAdded = 0;
    for (const [index, one] of planned.entries()) {
      this.#uncommitted = planned.slice(index);
      try {
        jobsAdded += await this.#commitOnce([one]);
      } catch (error) {
        if (error instanceof StoreUnavailableError) throw error;
        await this.#commitOnce([paused(one.schedule, error)]).catch((failure: unknown) => {
          if (failure instanceof StoreUnavailableError) throw failure;
          this.#env.logger.error(`escapement: schedule "${one.schedule.id}" cannot be processed`, failure);
        });
      }
    }
    this.#uncommitted = [];
    return jobsAdded;
  }

  async #commitOnce(planned: readonly Planned[]): Promise<number> {
    const { store, identity, events } = this.#env;
    const report = await store.commitPlans({ schedulerId: identity, plans: planned.map(({ plan }) => plan) });
    this.#uncommitted = [];
    const happened: EventRecord[] = [];
    let jobsAdded = 0;
    planned.forEach((one, index) => {
      const result = report.plans[index];
      if (result === undefined || !result.committed) return;
      const addedIds = result.addedJobIds.length === one.plan.jobs.length ? null : new Set(result.addedJobIds);
      for (const job of one.plan.jobs) {
        if (addedIds !== null && !addedIds.has(job.id)) continue;
        jobsAdded++;
        happened.push(jobAdded(this.#env, job));
      }
      this.#recordUpdate(one, happened);
    });
    events.publish(happened);
    return jobsAdded;
  }

  #recordUpdate({ schedule, plan, failure }: Planned, happened: EventRecord[]): void {
    if (failure !== null) {
      happened.push(scheduleFailed(this.#env, schedule, serializedError(failure.error)));
      this.#env.logger.error(`escapement: schedule "${schedule.id}" was paused because it failed`, failure.error);
    }
    const { id, taskId } = schedule;
    const { paused, nextFireTime } = plan;
    happened.push(scheduleSaved(this.#env, { id, taskId, paused, nextFireTime }, "updated"));
  }
}

/** A plan that makes no jobs and pauses the schedule where it stands. */
function paused(schedule: ScheduleRecord, error: unknown): Planned {
  const { id: scheduleId, fence, nextFireTime, lastFireTime } = schedule;
  const plan = { scheduleId, fence, jobs: [] satisfies JobRecord[], nextFireTime, lastFireTime, paused: true };
  return { schedule, plan, failure: { error } };
}
