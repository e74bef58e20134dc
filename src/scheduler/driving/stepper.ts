import { StoreUnavailableError } from "../../core/errors.ts";
import { FRESH_MS, PLANS_PER_STEP_MAX, STEP_BYTES_MAX } from "../../core/limits.ts";
import type { EventRecord } from "../../records/events.ts";
import { serializedError } from "../../records/serialized-error.ts";
import type {
  JobRelease,
  LookedSchedule,
  LookReport,
  ScheduleWindow,
  Seen,
  StepReport,
  StepRequest,
  View,
} from "../../stores/data-store.ts";
import type { Environment } from "../environment.ts";
import { jobAdded, scheduleFailed, scheduleSaved, taskSaved } from "../events/event-records.ts";
import { type FirePlanner, type PlannedSchedule, pausedPlan } from "../firing/fire-planner.ts";
import type { JobAttempt } from "../running/job-attempt.ts";
import type { JobRunner } from "../running/job-runner.ts";
import type { EndedAttempt } from "../running/release-queue.ts";
import type { TaskRegistry } from "../tasks/task-registry.ts";
import type { AdditionLine, WaitingAddition } from "./addition-line.ts";

export interface StepperParts {
  readonly env: Environment;
  readonly tasks: TaskRegistry;
  readonly planner: FirePlanner;
  readonly runner: JobRunner;
  readonly additions: AdditionLine;
  readonly hasScheduleRole: boolean;
  readonly hasJobRole: boolean;
}

/** What a driver allows a step. */
export interface StepBounds {
  /** Due schedules to plan. */
  readonly due: readonly LookedSchedule[];
  /** Most jobs to start; null does not even look whether there are any. */
  readonly jobsMax: number | null;
  /** Which schedules the look at the end of the step shows, in epoch milliseconds; null shows none. */
  readonly dueBy: number | null;
}

export interface StepResult {
  readonly schedulesProcessed: number;
  readonly jobsAdded: number;
  readonly jobsStarted: number;
}

/** What a step carries to the store. */
interface Cargo {
  readonly releases: readonly EndedAttempt[];
  readonly additions: readonly WaitingAddition[];
  readonly planned: readonly PlannedSchedule[];
}

/** A step whose fate is unknown. */
interface PendingStep {
  readonly stepId: string;
  readonly releases: readonly EndedAttempt[];
  readonly planned: readonly PlannedSchedule[];
}

const NOTHING_DONE: StepResult = Object.freeze({ schedulesProcessed: 0, jobsAdded: 0, jobsStarted: 0 });

/** Looks into the store, and takes steps: outcomes, additions, plans and acquisition in one commit. What a step does is
 *  told to listeners after the commit, and what it leased runs. */
export class Stepper {
  readonly #parts: StepperParts;
  #seen: Seen | null = null;
  #pending: PendingStep | null = null;
  #stepCount = 0;
  #settledStepId: string | null = null;
  /** Whether nothing is begun any more. */
  #isClosed = false;
  /** Where the page of due schedules begins. */
  #after: ScheduleWindow["after"] = null;

  constructor(parts: StepperParts) {
    this.#parts = parts;
  }

  /** What the last look or step showed; null before the first. */
  get seen(): Seen | null {
    return this.#seen;
  }

  /** The last step whose answer is known; null before the first. */
  get settledStepId(): string | null {
    return this.#settledStepId;
  }

  /** Whether it is unknown what a step did, or outcomes wait. */
  get isUnsettled(): boolean {
    return this.#pending !== null || this.#parts.runner.hasWaiting;
  }

  /** Whether a step has something to carry besides plans. */
  get hasCargo(): boolean {
    return this.isUnsettled || !this.#parts.additions.isEmpty;
  }

  /** Schedules are shown from the beginning again: one of them was changed. */
  lookFromStart(): void {
    this.#after = null;
  }

  /** Whether the first page of due schedules is shown next. */
  get looksFromStart(): boolean {
    return this.#after === null;
  }

  /** The page of due schedules that begins behind this one is shown next. */
  lookBeyond(schedule: LookedSchedule | undefined): void {
    this.#after = schedule === undefined ? null : [schedule.nextFireTime, schedule.id];
  }

  /**
   * Every other page begins behind what the last one showed of `due`, of which there is more, so that schedules with
   * much to catch up starve nobody. It begins a moment ago at the earliest: the schedules of the first page are planned
   * a few fires on, and would be most of the second page, too.
   */
  turnPage(due: readonly LookedSchedule[], now: number): void {
    const last = due.at(-1);
    if (last === undefined || !this.looksFromStart) this.lookFromStart();
    else if (last.nextFireTime < now - FRESH_MS) this.#after = [now - FRESH_MS, ""];
    else this.lookBeyond(last);
  }

  /** What is leased from here on is given back; the answer to a step may be late. */
  close(): void {
    this.#isClosed = true;
  }

  /** No step takes what waits to be added: whoever adds is told, and decides. The jobs were not sent. */
  refuseAdditions(error: unknown): void {
    this.#parts.additions.rejectAll(error);
  }

  /** One read, which also compares tasks that the store may not have. Those that it lacks are written first, because a
   *  step without them knows no limits, and then it looks again. @throws {StoreUnavailableError} */
  async look(now: number, dueBy: number, asksForExpired = false): Promise<LookReport> {
    const { env, runner, tasks, hasJobRole } = this.#parts;
    const view = this.#view(now, hasJobRole ? runner.room : null, dueBy);
    const unsaved = tasks.unsaved;
    let report = await env.store.look({ ...view, tasks: unsaved, asksForExpired });
    if (unsaved !== null) {
      tasks.compared(unsaved, report.staleTaskIds);
      if (report.staleTaskIds.length > 0) {
        await this.#saveTasks();
        report = await env.store.look({ ...view, tasks: null, asksForExpired });
      }
    }
    this.#seen = report;
    return report;
  }

  async #saveTasks(): Promise<void> {
    const { env, tasks } = this.#parts;
    const changes = await tasks.save();
    env.events.publish(changes.map(({ id, change }) => taskSaved(env, id, change)));
  }

  /**
   * One write: everything that is at hand, in one commit. A step of unknown fate is repeated first, by itself.
   * @throws {StoreUnavailableError} nothing is lost: the next step repeats what is unsettled
   */
  async step(now: number, bounds: StepBounds): Promise<StepResult> {
    if (this.#pending !== null) return this.#repeat(now, bounds);
    const { planner, runner, additions } = this.#parts;
    const cargo: Cargo = {
      releases: runner.nextReleases,
      additions: additions.take(),
      planned: bounds.due.length === 0 ? [] : planner.plan(bounds.due, now),
    };
    return this.#send(this.#nextStepId(), false, now, cargo, bounds);
  }

  /** For the stop: tells the store of outcomes, and gives back what a step of unknown fate may have leased.
   *  @throws {StoreUnavailableError} */
  async settle(now: number): Promise<void> {
    const bounds = { due: [], jobsMax: this.#pending === null ? null : 0, dueBy: null };
    await this.step(now, bounds);
  }

  /** Plans and outcomes are sent again as they were; only the times are fresh. */
  async #repeat(now: number, bounds: StepBounds): Promise<StepResult> {
    const { stepId, releases, planned } = this.#pending as PendingStep;
    return this.#send(stepId, true, now, { releases, additions: [], planned }, bounds);
  }

  async #send(
    stepId: string,
    isRepetition: boolean,
    now: number,
    cargo: Cargo,
    bounds: StepBounds,
  ): Promise<StepResult> {
    const request = this.#request(stepId, isRepetition, now, cargo, bounds);
    let report: StepReport;
    try {
      report = await this.#parts.env.store.step(request);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) return this.#isolate(stepId, isRepetition, cargo, bounds, error);
      this.#pending = { stepId, releases: cargo.releases, planned: cargo.planned };
      this.#parts.runner.releasesUnknown(cargo.releases);
      // Whoever adds is told at once, and decides; the jobs are not sent again.
      for (const { reject } of cargo.additions) reject(error);
      throw error;
    }
    this.#pending = null;
    this.#settledStepId = stepId;
    return this.#finish(now, request, cargo, report, bounds);
  }

  /** Something in the step is what the store will never take: each part goes by itself, so that only that one fails. */
  async #isolate(
    stepId: string,
    isRepetition: boolean,
    cargo: Cargo,
    bounds: StepBounds,
    error: unknown,
  ): Promise<StepResult> {
    this.#pending = null;
    const parts = splitCargo(cargo);
    if (parts.length === 0) throw error;
    const [only] = parts;
    // Each try is of the present: the last one may have been slow, or the clock was set.
    const { clock } = this.#parts.env;
    if (parts.length === 1 && only !== undefined && isSingle(only)) {
      const instead = this.#refuse(only, error);
      return instead === null
        ? this.#send(stepId, isRepetition, clock.now(), NO_CARGO, bounds)
        : this.#sendInstead(stepId, clock.now(), instead, bounds);
    }
    let total = NOTHING_DONE;
    const alone: StepBounds = { due: [], jobsMax: null, dueBy: null };
    const settledStepId = this.#settledStepId;
    for (const [index, part] of parts.entries()) {
      try {
        total = sum(total, await this.#send(stepId, isRepetition, clock.now(), part, alone));
      } catch (failure) {
        // Whoever added what was not sent is told as well. Outcomes still wait, and schedules are still due.
        for (const { additions } of parts.slice(index + 1)) for (const { reject } of additions) reject(failure);
        throw failure;
      } finally {
        // The step is settled with its last part: one that is repeated may lease.
        this.#settledStepId = settledStepId;
      }
    }
    // Acquisition comes last, under an id of its own.
    return sum(total, await this.#send(this.#nextStepId(), false, clock.now(), NO_CARGO, bounds));
  }

  /** A plan that pauses the schedule, in place of one that the store refuses. */
  async #sendInstead(stepId: string, now: number, instead: PlannedSchedule, bounds: StepBounds): Promise<StepResult> {
    const request = this.#request(stepId, false, now, { ...NO_CARGO, planned: [instead] }, bounds);
    try {
      const report = await this.#parts.env.store.step(request);
      return this.#finish(now, request, { ...NO_CARGO, planned: [instead] }, report, bounds);
    } catch (error) {
      if (error instanceof StoreUnavailableError) throw error;
      const { id } = instead.schedule;
      this.#parts.env.logger.error(`escapement: schedule "${id}" cannot be processed`, error);
      this.lookBeyond(instead.schedule);
      return NOTHING_DONE;
    }
  }

  /** Returns what takes the place of the refused part, or null. */
  #refuse({ releases, additions, planned }: Cargo, error: unknown): PlannedSchedule | null {
    for (const ended of releases) this.#parts.runner.releaseRefused(ended, error);
    for (const { reject } of additions) reject(error);
    const [one] = planned;
    return one === undefined ? null : pausedPlan(one.schedule, error);
  }

  #request(
    stepId: string,
    isRepetition: boolean,
    now: number,
    { releases, additions, planned }: Cargo,
    { jobsMax, dueBy }: StepBounds,
  ): StepRequest {
    const { env, runner } = this.#parts;
    const leaseEndsAt = this.#seen?.leaseEndsAt ?? null;
    return {
      ...this.#view(now, jobsMax === null ? null : Math.min(jobsMax, runner.room), dueBy),
      stepId,
      isRepetition,
      until: now + env.leaseMs,
      releases: releases.map(({ release }) => release),
      additions: additions.flatMap(({ jobs }) => jobs),
      recover: isPutBack(releases) || (leaseEndsAt !== null && leaseEndsAt <= now),
      plans: planned.map(({ plan }) => plan),
    };
  }

  #view(now: number, jobsMax: number | null, dueBy: number | null): View {
    const { env, runner, hasScheduleRole, hasJobRole } = this.#parts;
    const isFiring = hasScheduleRole && dueBy !== null;
    return {
      now,
      schedulerId: env.identity,
      jobs: hasJobRole && jobsMax !== null ? { queues: runner.queues, limit: jobsMax } : null,
      schedules: isFiring ? { dueBy, limit: PLANS_PER_STEP_MAX, bytesMax: STEP_BYTES_MAX, after: this.#after } : null,
    };
  }

  #finish(
    now: number,
    request: StepRequest,
    { releases, additions, planned }: Cargo,
    report: StepReport,
    bounds: StepBounds,
  ): StepResult {
    const { env, runner } = this.#parts;
    if (request.jobs !== null || request.schedules !== null) this.#seen = report;
    const happened: EventRecord[] = [];
    const endedIds = report.ended.length === 0 ? null : new Set(report.ended.map(({ jobId }) => jobId));
    runner.recordReleases(releases, report.releases, endedIds, happened);
    runner.recordRecovery(report, now, happened);
    const acquired = new Set(report.acquired.map(({ id }) => id));
    this.#recordAdditions(additions, report, acquired, happened);
    const jobsAdded = this.#recordPlans(planned, report, acquired, happened);
    let attempts: JobAttempt[] = [];
    if (bounds.jobsMax === 0 || this.#isClosed) runner.giveBack(report.acquired);
    else attempts = runner.admit(report.acquired, happened);
    env.events.publish(happened);
    runner.run(attempts);
    const schedulesProcessed = report.plans.filter(({ committed }) => committed).length;
    return { schedulesProcessed, jobsAdded, jobsStarted: attempts.length };
  }

  #recordAdditions(
    calls: readonly WaitingAddition[],
    { additions }: StepReport,
    acquired: ReadonlySet<string>,
    happened: EventRecord[],
  ): void {
    let start = 0;
    for (const { jobs, resolve } of calls) {
      const own = additions.slice(start, start + jobs.length);
      start += jobs.length;
      for (const { job, isNew } of own) {
        if (isNew) happened.push(jobAdded(this.#parts.env, job, acquired.has(job.id)));
      }
      resolve(own);
    }
  }

  /** Returns how many jobs the plans added. */
  #recordPlans(
    planned: readonly PlannedSchedule[],
    { plans }: StepReport,
    acquired: ReadonlySet<string>,
    happened: EventRecord[],
  ): number {
    const { env } = this.#parts;
    let jobsAdded = 0;
    planned.forEach(({ schedule, plan, failure }, index) => {
      const result = plans[index];
      if (result === undefined) return;
      const { id, taskId } = schedule;
      const addedIds = result.addedJobIds.length === plan.fires.length ? null : new Set(result.addedJobIds);
      for (const { jobId, runAt } of plan.fires) {
        if (addedIds !== null && !addedIds.has(jobId)) continue;
        jobsAdded++;
        happened.push(jobAdded(env, { id: jobId, taskId, scheduleId: id, runAt }, acquired.has(jobId)));
      }
      if (!result.committed) return;
      if (failure !== null) {
        happened.push(scheduleFailed(env, schedule, serializedError(failure.error)));
        env.logger.error(`escapement: schedule "${id}" was paused because it failed`, failure.error);
      }
      const { paused, nextFireTime } = plan;
      happened.push(scheduleSaved(env, { id, taskId, paused, nextFireTime }, "updated"));
    });
    return jobsAdded;
  }

  #nextStepId(): string {
    return `${this.#parts.env.incarnation}/${String(++this.#stepCount).padStart(10, "0")}`;
  }
}

const NO_CARGO: Cargo = Object.freeze({ releases: [], additions: [], planned: [] });

/** Whether a job goes back to the queue, which recovery ends if somebody asked to cancel it. */
function isPutBack(releases: readonly EndedAttempt[]): boolean {
  return releases.some(({ release }: { readonly release: JobRelease }) => release.kind !== "finish");
}

function isSingle({ releases, additions, planned }: Cargo): boolean {
  return releases.length + additions.length + planned.length === 1;
}

/** The kinds of a cargo apart; where there is one kind, its halves. */
function splitCargo(cargo: Cargo): Cargo[] {
  const { releases, additions, planned } = cargo;
  const kinds = [
    { ...NO_CARGO, releases },
    { ...NO_CARGO, additions },
    { ...NO_CARGO, planned },
  ].filter((kind) => kind.releases.length + kind.additions.length + kind.planned.length > 0);
  if (kinds.length !== 1 || isSingle(cargo)) return kinds;
  const half = Math.ceil((releases.length + additions.length + planned.length) / 2);
  return [
    { releases: releases.slice(0, half), additions: additions.slice(0, half), planned: planned.slice(0, half) },
    { releases: releases.slice(half), additions: additions.slice(half), planned: planned.slice(half) },
  ];
}

function sum(a: StepResult, b: StepResult): StepResult {
  return {
    schedulesProcessed: a.schedulesProcessed + b.schedulesProcessed,
    jobsAdded: a.jobsAdded + b.jobsAdded,
    jobsStarted: a.jobsStarted + b.jobsStarted,
  };
}
