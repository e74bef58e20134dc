import type { JobRecord } from "../../src/records/job.ts";
import type { ScheduleRecord } from "../../src/records/schedule.ts";
import type {
  CleanupReport,
  PlanCommit,
  PlanCommitReport,
  ScheduleAcquisition,
  ScheduleAcquisitionReport,
  ScheduleAddition,
  ScheduleAdditionReport,
  ScheduleChanges,
  SchedulePlan,
} from "../../src/stores/data-store.ts";
import { triggerFromJSON } from "../../src/triggers/codec.ts";
import type { Trigger } from "../../src/triggers/trigger.ts";
import type { Caller, History } from "./history.ts";
import type { JobModel } from "./job-model.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface ModelSchedule {
  readonly record: Mutable<ScheduleRecord>;
  acquisitionId: string | null;
  /** The `now` that its last acquisition was made with. */
  acquiredNow: number;
}

/** More occurrences than one plan may pass over in a run. */
const OCCURRENCES_MAX = 5000;

/** The same for schedules, and for what plans have to contain. */
export class ScheduleModel {
  readonly #history: History;
  readonly #jobs: JobModel;
  readonly #byId = new Map<string, ModelSchedule>();
  /** Every occurrence that became a job, by schedule; one that is removed and added again starts anew. */
  readonly #enqueued = new Map<string, Set<number>>();
  readonly #triggers = new Map<string, Trigger>();

  constructor(history: History, jobs: JobModel) {
    this.#history = history;
    this.#jobs = jobs;
  }

  get(id: string): ScheduleRecord | undefined {
    return this.#byId.get(id)?.record;
  }

  onAdd(additions: readonly ScheduleAddition[], report: ScheduleAdditionReport): void {
    if (report.conflictId !== null) return;
    additions.forEach(({ schedule, conflictPolicy }, index) => {
      const existing = this.#byId.get(schedule.id);
      const change = existing === undefined ? "added" : conflictPolicy === "replace" ? "replaced" : "kept";
      const result = report.results[index];
      if (result?.change !== change)
        this.#history.violate(`schedule ${schedule.id} was ${result?.change}, not ${change}`);
      if (existing === undefined) {
        this.#enqueued.delete(schedule.id);
        this.#history.trace("store", `schedule ${schedule.id} added, due at ${schedule.nextFireTime}`);
        this.#byId.set(schedule.id, { record: { ...schedule }, acquisitionId: null, acquiredNow: 0 });
      } else if (change === "replaced") {
        const { record } = existing;
        const kept = record.triggerRule === schedule.triggerRule ? record : schedule;
        const { trigger, nextFireTime } = kept;
        const { createdAt, lastFireTime, fence } = record;
        Object.assign(record, schedule, { trigger, nextFireTime, createdAt, lastFireTime, fence: fence + 1 });
        this.#endLease(existing);
      }
    });
  }

  onUpdate(
    id: string,
    changes: ScheduleChanges,
    expectedFence: number | undefined,
    updated: ScheduleRecord | null,
  ): void {
    const schedule = this.#byId.get(id);
    const mayChange =
      schedule !== undefined && (expectedFence === undefined || schedule.record.fence === expectedFence);
    if (mayChange !== (updated !== null))
      this.#history.violate(`the update of schedule ${id} was ${updated === null ? "refused" : "made"}`);
    if (schedule === undefined || updated === null) return;
    this.#history.trace("store", `schedule ${id} changed: ${JSON.stringify(changes)}`);
    Object.assign(schedule.record, changes);
    schedule.record.fence++;
    this.#endLease(schedule);
    if (updated.fence !== schedule.record.fence)
      this.#history.violate(`the update of schedule ${id} did not end its lease`);
  }

  onRemove(id: string, wasThere: boolean): void {
    if (this.#byId.delete(id) !== wasThere) this.#history.violate(`the removal of schedule ${id} answered ${wasThere}`);
  }

  onAcquire(request: ScheduleAcquisition, report: ScheduleAcquisitionReport, caller: Caller): void {
    const { now, acquisitionId, limit, until } = request;
    const held: string[] = [];
    const due: ModelSchedule[] = [];
    for (const schedule of this.#byId.values()) {
      const { record } = schedule;
      if (record.acquiredUntil !== null && record.acquiredUntil <= now) this.#endLease(schedule);
      if (record.acquiredBy === caller.identity && schedule.acquisitionId === acquisitionId) held.push(record.id);
      if (record.acquiredBy === null && !record.paused && record.nextFireTime !== null && record.nextFireTime <= now) {
        due.push(schedule);
      }
    }
    due.sort(byDueTime);
    const taken = due.slice(0, Math.max(0, limit - held.length)).map(({ record }) => record.id);
    const ids = report.schedules.map(({ id }) => id);
    const expected = [...held.sort(), ...taken];
    const actual = [...ids.slice(0, held.length).sort(), ...ids.slice(held.length)];
    if (expected.join(" ") !== actual.join(" ")) {
      this.#history.violate(`${caller.name} acquired the schedules [${actual}], not [${expected}]`);
    }
    for (const acquired of report.schedules) {
      const schedule = this.#byId.get(acquired.id);
      if (schedule === undefined) continue;
      const { record } = schedule;
      const isRepeated = held.includes(acquired.id);
      if (acquired.fence !== record.fence + (isRepeated ? 0 : 1)) {
        this.#history.violate(
          `schedule ${acquired.id} was acquired with fence ${acquired.fence} after ${record.fence}`,
        );
      }
      schedule.acquiredNow = Math.max(schedule.acquiredNow, now);
      if (isRepeated) continue;
      record.fence++;
      record.acquiredBy = caller.identity;
      record.acquiredUntil = until;
      schedule.acquisitionId = acquisitionId;
    }
    this.#checkNextDue(report, now);
  }

  onCommit(commit: PlanCommit, report: PlanCommitReport, caller: Caller): void {
    commit.plans.forEach((plan, index) => {
      const schedule = this.#byId.get(plan.scheduleId);
      const counts = schedule?.record.fence === plan.fence && schedule.record.acquiredBy === commit.schedulerId;
      const result = report.plans[index];
      const text = `the plan of ${caller.name} for schedule ${plan.scheduleId} with fence ${plan.fence}`;
      if (result?.committed !== counts) this.#history.violate(`${text} was ${counts ? "refused" : "committed"}`);
      const added = plan.jobs.filter((job) => result?.addedJobIds.includes(job.id) === true);
      if (added.length !== (result?.committed === true ? plan.jobs.length : 0)) {
        this.#history.violate(`${text} added ${added.length} of ${plan.jobs.length} jobs`);
      }
      if (schedule === undefined || result?.committed !== true) return;
      this.#history.trace(
        caller.name,
        `${text}: fires ${plan.jobs.map(({ fireTime }) => fireTime)}, next ${plan.nextFireTime}`,
      );
      for (const job of added) this.onEnqueued(job, text);
      this.#checkPlan(schedule, plan, text);
      Object.assign(schedule.record, {
        nextFireTime: plan.nextFireTime,
        lastFireTime: plan.lastFireTime,
        paused: plan.paused,
      });
      this.#endLease(schedule);
    });
  }

  /** A job of a schedule was added, by whatever way. */
  onEnqueued(job: JobRecord, text: string): void {
    if (job.fireTime !== null && job.scheduleId !== null) {
      const fired = this.#enqueued.get(job.scheduleId) ?? new Set();
      this.#enqueued.set(job.scheduleId, fired);
      if (fired.has(job.fireTime))
        this.#history.violate(`${text}: ${job.scheduleId} at ${job.fireTime} was enqueued twice`);
      fired.add(job.fireTime);
      this.#history.count("enqueued");
    }
    this.#jobs.insert(job);
  }

  onGiveUp(schedulerId: string): void {
    for (const schedule of this.#byId.values())
      if (schedule.record.acquiredBy === schedulerId) this.#endLease(schedule);
  }

  onCleanup(report: CleanupReport, now: number): void {
    for (const schedule of this.#byId.values()) {
      if ((schedule.record.acquiredUntil ?? Number.POSITIVE_INFINITY) <= now) this.#endLease(schedule);
    }
    for (const id of report.removedScheduleIds) {
      const record = this.#byId.get(id)?.record;
      const isLeased = record?.acquiredUntil != null && record.acquiredUntil > now;
      if (record === undefined || record.nextFireTime !== null || isLeased || this.#jobs.hasJobsOf(id)) {
        this.#history.violate(`the clean-up removed schedule ${id}, which is in use`);
      }
      this.#byId.delete(id);
    }
  }

  /** Whether there is nothing left to fire, not even after a pause. */
  isAtRest(): boolean {
    for (const { record } of this.#byId.values()) if (record.nextFireTime !== null) return false;
    return true;
  }

  checkAtRest(now: number): void {
    for (const { record } of this.#byId.values()) {
      if (!record.paused && record.nextFireTime !== null && record.nextFireTime <= now) {
        this.#history.violate(`schedule ${record.id} is due since ${record.nextFireTime} and was never processed`);
      }
    }
  }

  /** Nothing between the old and the new next fire time is passed over, but by the schedule's own policy. */
  #checkPlan(schedule: ModelSchedule, plan: SchedulePlan, text: string): void {
    const { record, acquiredNow } = schedule;
    const { nextFireTime, lastFireTime } = record;
    if (plan.paused || nextFireTime === null) {
      this.#history.violate(`${text} pauses a sound schedule`);
      return;
    }
    const trigger = this.#triggerOf(record.trigger);
    const occurrences: number[] = [];
    // A schedule whose trigger changed does not go back behind what it has fired.
    const first = lastFireTime === null || nextFireTime > lastFireTime ? nextFireTime : trigger.nextMs(lastFireTime);
    let at: number | null = first;
    for (; at !== null && (plan.nextFireTime === null || at < plan.nextFireTime); at = trigger.nextMs(at)) {
      occurrences.push(at);
      if (occurrences.length > OCCURRENCES_MAX) {
        this.#history.violate(`${text} passes over too much`);
        return;
      }
    }
    if (at !== plan.nextFireTime) this.#history.violate(`${text} goes on at ${plan.nextFireTime}, not at ${at}`);
    const { coalesce, maxCatchUp } = record;
    const expected =
      coalesce === "latest"
        ? occurrences.slice(-1)
        : coalesce === "earliest"
          ? occurrences.slice(0, 1)
          : occurrences.slice(-(maxCatchUp ?? occurrences.length));
    const actual = plan.jobs.map(({ fireTime }) => fireTime);
    if (expected.join(" ") !== actual.join(" ")) this.#history.violate(`${text} fires [${actual}], not [${expected}]`);
    const last = occurrences.at(-1);
    if (last !== undefined && last > acquiredNow)
      this.#history.violate(`${text} fires ${last}, which is not due at ${acquiredNow}`);
    const missed = plan.jobs.reduce((sum, job) => sum + (job.missedCount ?? 0), 0);
    if (missed + actual.length !== occurrences.length) {
      this.#history.violate(`${text} tells of ${missed} missed fire times of ${occurrences.length - actual.length}`);
    }
    for (const job of plan.jobs) this.#checkFire(record, job, trigger, text);
  }

  #checkFire(record: ScheduleRecord, job: JobRecord, trigger: Trigger, text: string): void {
    const { fireTime, scheduledFireTime } = job;
    if (fireTime === null || scheduledFireTime === null) {
      this.#history.violate(`${text} makes a job without a fire time`);
      return;
    }
    const next = trigger.nextMs(fireTime);
    const latest = Math.min(fireTime + record.maxJitterMs, next === null ? Number.POSITIVE_INFINITY : next - 1);
    if (scheduledFireTime < fireTime || scheduledFireTime > latest || job.runAt !== scheduledFireTime) {
      this.#history.violate(`${text}: the jitter put ${fireTime} off to ${scheduledFireTime}`);
    }
    const deadline = record.misfireGraceMs === null ? null : scheduledFireTime + record.misfireGraceMs;
    if (job.startDeadline !== deadline)
      this.#history.violate(`${text}: the deadline of ${fireTime} is ${job.startDeadline}`);
  }

  #checkNextDue(report: ScheduleAcquisitionReport, now: number): void {
    const acquired = new Set(report.schedules.map(({ id }) => id));
    let expected = Number.POSITIVE_INFINITY;
    for (const { record } of this.#byId.values()) {
      if (acquired.has(record.id) || record.paused || record.nextFireTime === null) continue;
      expected = Math.min(
        expected,
        record.acquiredUntil === null ? record.nextFireTime : Math.max(record.acquiredUntil, record.nextFireTime),
      );
    }
    const answer = report.nextDueAt ?? Number.POSITIVE_INFINITY;
    if (answer > expected) {
      this.#history.violate(
        `at ${now} no schedule is said to be due before ${report.nextDueAt}, but one is at ${expected}`,
      );
    }
  }

  #triggerOf(text: string): Trigger {
    const known = this.#triggers.get(text);
    if (known !== undefined) return known;
    const trigger = triggerFromJSON(JSON.parse(text));
    this.#triggers.set(text, trigger);
    return trigger;
  }

  #endLease(schedule: ModelSchedule): void {
    schedule.record.acquiredBy = null;
    schedule.record.acquiredUntil = null;
    schedule.acquisitionId = null;
  }
}

function byDueTime({ record: a }: ModelSchedule, { record: b }: ModelSchedule): number {
  return (a.nextFireTime ?? 0) - (b.nextFireTime ?? 0) || (a.id < b.id ? -1 : 1);
}
