import { StoreUnavailableError } from "../../core/errors.ts";
import type { EventRecord } from "../../records/events.ts";
import type { JobRecord } from "../../records/job.ts";
import type { SchedulerProfile } from "../../records/scheduler.ts";
import { serializedError } from "../../records/serialized-error.ts";
import type {
  CleanupReport,
  CommitReport,
  CommitRequest,
  EndedPauses,
  LookedSchedule,
  LookReport,
  PausedSchedule,
  ScheduleWindow,
  Seen,
  View,
} from "../../stores/data-store.ts";
import { PLANS_PER_COMMIT_MAX } from "../../stores/shared/limits.ts";
import { pauseFacts } from "../../stores/shared/pauses.ts";
import type { Environment } from "../environment.ts";
import {
  jobAdded,
  jobCancelRequested,
  overdueEvents,
  scheduleFailed,
  schedulePauseEvents,
  scheduleSaved,
  skipEvents,
} from "../events/event-records.ts";
import { additionEvents, jobAdmitted, taskPauseChanged } from "../events/flow-events.ts";
import { type FirePlanner, pausedPlan, type ScheduleWithPlan } from "../firing/fire-planner.ts";
import { COMMIT_BYTES_MAX } from "../firing/limits.ts";
import { CLEANUP_BATCH } from "../options/limits.ts";
import type { JobRunner } from "../running/job-runner.ts";
import type { Peers } from "../running/peers.ts";
import type { EndedAttempt } from "../running/release-queue.ts";
import { asksForNow, type StoreClock } from "../running/store-clock.ts";
import { saveTasks } from "../tasks/announce-tasks.ts";
import type { TaskRegistry } from "../tasks/task-registry.ts";
import type { AdditionLine, WaitingAddition } from "./addition-line.ts";
import { type CommitBatch, EMPTY_BATCH, isSingle, splitBatch } from "./commit-batch.ts";
import { FRESH_MS } from "./limits.ts";
import { RecoveryPace } from "./recovery-pace.ts";
import type { ZoneCheck } from "./zone-check.ts";

export interface CommitterParts {
  readonly env: Environment;
  readonly tasks: TaskRegistry;
  readonly planner: FirePlanner;
  readonly runner: JobRunner;
  readonly additions: AdditionLine;
  readonly hasScheduleRole: boolean;
  readonly hasJobRole: boolean;
  readonly zoneCheck: ZoneCheck;
  readonly storeClock: StoreClock;
  /** What others see of a scheduler that ticks; null for a resident one, which says by itself that it is alive. */
  readonly profileOfTicks: () => SchedulerProfile | null;
  /** What the heartbeats of others tell a scheduler that stays. Null while it only ticks: it judges by instants. */
  readonly peers: () => Peers | null;
  /** How long schedules that cannot be read here are passed by without another look, in milliseconds. */
  readonly maxIdleMs: number;
}

/** What a driver allows a commit. */
export interface CommitBounds {
  /** Due schedules to plan. */
  readonly due: readonly LookedSchedule[];
  /** Most jobs to start. With 0, jobs are shown but not started; with null, the commit shows nothing of jobs. */
  readonly jobsMax: number | null;
  /** How far ahead of the commit's time the look at its end shows schedules, in milliseconds; null shows none. Below
   *  zero, it shows those that were due so long ago. It is no instant, because the parts of a refused commit are sent
   *  later, and a clock may be set back meanwhile. */
  readonly aheadMs: number | null;
  /** The tasks whose jobs are leased, and of which the commit shows whether jobs are ready. Default: all. */
  readonly tasks?: ReadonlySet<string>;
  /** Jobs of tasks whose `timeout` is longer are left alone, in milliseconds. Default: no bound. */
  readonly timeoutMsMax?: number;
  /** Whether a job that the commit has leased may still start. Otherwise it is given back. Default: it may. */
  readonly mayStart?: (job: JobRecord) => boolean;
  /** Whether outcomes wait for a later commit. Default: false. */
  readonly leavesOutcomes?: boolean;
  /** Whether the commit cleans up too. Default: false. */
  readonly cleansUp?: boolean;
  /** Whether the commit must not take a second request, see `CommitRequest.inOneTrip`. Default: false. */
  readonly inOneTrip?: boolean;
}

/** What a driver wants a look to show. */
export interface LookBounds {
  /** Both as in {@link CommitBounds}. */
  readonly aheadMs: number;
  readonly timeoutMsMax?: number;
  /** Finds out whether results have been expired for so long, in milliseconds; null does not. Default: null. */
  readonly expiredForMs?: number | null;
  /** See `LookRequest.uptimeAfter`. */
  readonly uptimeAfter?: number;
}

export interface CommitResult {
  readonly schedulesProcessed: number;
  readonly jobsAdded: number;
  readonly jobsStarted: number;
  /** The lowest priority of the jobs that were leased; infinity for none. */
  readonly lowestPriority: number;
  /** What a clean-up removed; null when the commit did not clean up. */
  readonly cleanup: CleanupReport | null;
}

/** A commit whose fate is unknown. */
interface PendingCommit {
  readonly commitId: string;
  readonly releases: readonly EndedAttempt[];
  readonly planned: readonly ScheduleWithPlan[];
}

const NOTHING_DONE: CommitResult = Object.freeze({
  schedulesProcessed: 0,
  jobsAdded: 0,
  jobsStarted: 0,
  lowestPriority: Number.POSITIVE_INFINITY,
  cleanup: null,
});

/** Looks into the store, and takes commits: outcomes, additions, plans and acquisition in one commit. After the commit,
 *  listeners hear of the changes, and the leased jobs run. */
export class Committer {
  readonly #parts: CommitterParts;
  #seen: Seen | null = null;
  #pending: PendingCommit | null = null;
  #commitCount = 0;
  #settledCommitId: string | null = null;
  /** How many refused commits are being sent in parts. All parts share the id of their commit, and a part that is
   *  repeated may still lease: so the commit is not settled before its last part. */
  #isolations = 0;
  /** Whether nothing is begun any more. */
  #isClosed = false;
  /** The place after which the next page of due schedules begins; null for the first page. */
  #after: ScheduleWindow["after"] = null;
  /** Schedules up to this one cannot be read here, so that the first page begins behind it for a while. */
  #passed: { readonly last: LookedSchedule; readonly until: number } | null = null;

  readonly #recoveries: RecoveryPace;

  constructor(parts: CommitterParts) {
    this.#parts = parts;
    this.#recoveries = new RecoveryPace(parts.env.leaseMs);
  }

  /** What the last look or commit showed; null before the first look. */
  get seen(): Seen | null {
    return this.#seen;
  }

  /** More jobs are ready than the last commit was asked for. */
  showReady(): void {
    if (this.#seen !== null) this.#seen = { ...this.#seen, hasReady: true };
  }

  /** The id of the last commit whose answer is known; null before the first commit. */
  get settledCommitId(): string | null {
    return this.#settledCommitId;
  }

  /** Whether the fate of a commit is unknown, or outcomes wait to be recorded. */
  get isUnsettled(): boolean {
    return this.#pending !== null || this.#parts.runner.hasWaiting;
  }

  /** Whether a commit has something to carry besides plans. */
  get hasUnsent(): boolean {
    return this.isUnsettled || !this.#parts.additions.isEmpty;
  }

  /** When schedules that are passed by are looked at again, in epoch milliseconds; infinity when there are none. */
  get passesUntil(): number {
    return this.#passed?.until ?? Number.POSITIVE_INFINITY;
  }

  /** The next look or commit shows the first page of due schedules. */
  lookFromStart(): void {
    this.#after = null;
  }

  /** A schedule was changed, and its next fire time is `atMs`; undefined when that is unknown. The next look or commit
   *  shows the first page. This page begins with the earliest schedule if the changed one may come before those that
   *  are passed by. */
  lookAnew(atMs?: number): void {
    this.lookFromStart();
    const isInFront = atMs === undefined || (this.#passed !== null && atMs <= this.#passed.last.nextFireTime);
    if (isInFront) this.#passed = null;
  }

  /** Whether the next look or commit shows the first page of due schedules. */
  get looksFromStart(): boolean {
    return this.#after === null;
  }

  /** The next look or commit shows the page of due schedules that begins after this schedule. */
  lookBeyond(schedule: LookedSchedule | undefined): void {
    this.#after = schedule === undefined ? null : positionOf(schedule);
  }

  /**
   * Chooses the page that the next commit shows, so that schedules with much to catch up do not starve the others.
   * Every second page begins after the last schedule of the page before it. It holds only schedules that came due a
   * moment ago (`FRESH_MS`) or later, because the schedules of the first page move on by a few fires only, and would
   * fill most of the second page too.
   *
   * @param due the page that was shown; empty when no more schedules are due
   * @param now epoch milliseconds
   */
  turnPage(due: readonly LookedSchedule[], now: number): void {
    const last = due.at(-1);
    if (last === undefined || !this.looksFromStart) this.lookFromStart();
    else if (last.nextFireTime < now - FRESH_MS) this.#after = [now - FRESH_MS, ""];
    else this.lookBeyond(last);
  }

  /** Gives back what is leased from here on, because the answer to a commit may be late. */
  close(): void {
    this.#isClosed = true;
  }

  /** Rejects the calls that wait to add jobs, because no commit can take them now. Their jobs were not sent; the
   *  callers decide whether to try again. */
  refuseAdditions(error: unknown): void {
    this.#parts.additions.rejectAll(error);
  }

  /** Looks into the store, with one read. `now` is in epoch milliseconds. The look also compares the tasks that the
   *  store may not have as they are. If there are such tasks, they are written, because a
   *  commit without them knows no limits; then a second look follows. While the clock here is wrong, nothing
   *  of this is done, and what is seen stays as it was. @throws {StoreUnavailableError} */
  async look(now: number, bounds: LookBounds): Promise<LookReport> {
    const { aheadMs, timeoutMsMax, expiredForMs = null, uptimeAfter } = bounds;
    const { env, runner, tasks, hasScheduleRole, hasJobRole, zoneCheck, storeClock } = this.#parts;
    const view = this.#view(now, hasJobRole ? runner.room : null, aheadMs, timeoutMsMax);
    const unsaved = tasks.toCompare(now);
    const zoneRules = view.schedules === null ? undefined : zoneCheck.asksFor(now);
    const asked = {
      ...asksForNow(env),
      ...(expiredForMs === null ? {} : { asksForExpired: true, expiredForMs }),
      ...(zoneRules === undefined ? {} : { zoneRules }),
      ...(uptimeAfter === undefined || !hasScheduleRole ? {} : { uptimeAfter }),
    };
    let report = await env.store.look({ ...view, ...asked, tasks: unsaved });
    storeClock.compare(report.storeNow, now);
    if (storeClock.fault !== null) return report;
    if (unsaved !== null) {
      tasks.compared(unsaved, report.staleTaskIds);
      if (report.staleTaskIds.length > 0) {
        await this.#saveTasks();
        report = await env.store.look({ ...view, ...asked, tasks: null });
      }
    }
    await this.#readBlackouts(report);
    if (report.zoneRules !== undefined) zoneCheck.heard(report.zoneRules, now);
    return this.#show(view, report);
  }

  /** Reads the blackouts if the planner uses those of another version. */
  async #readBlackouts({ blackouts = 0 }: Seen): Promise<void> {
    const { env, planner } = this.#parts;
    if (blackouts !== planner.blackoutsVersion) planner.useBlackouts(await env.store.getBlackouts());
  }

  /** When there is something to do, as one read finds out; null for never, in epoch milliseconds. Changes nothing here,
   *  so that it may be called at any time. @throws {StoreUnavailableError} */
  async nextDueAt(now: number): Promise<number | null> {
    const { env, runner, planner, hasJobRole } = this.#parts;
    // What waits for room here waits all the same.
    const jobs = hasJobRole ? { queues: runner.queues, limit: 1 } : null;
    const report = await env.store.look({ ...this.#view(now, null, 0), jobs, tasks: null });
    const leaseEndsAt = this.#recoveries.dueAt(report.leaseEndsAt, now);
    const dueAt = earliestDueAt({ ...report, due: planner.readable(report.due, now), leaseEndsAt });
    return report.hasReady ? Math.min(now, dueAt ?? now) : dueAt;
  }

  /** Takes up what a look saw, at the pace of recoveries. Leaves out schedules that cannot be read here. A page of
   *  nothing else is turned: the next look shows the page behind it, and begins there for a while, so that schedules
   *  for others cost neither a write nor a busy loop. */
  #show<T extends Seen>({ now, schedules }: View, seen: T): T {
    const leaseEndsAt = this.#leaseEndsAt(seen.leaseEndsAt, now);
    const report = leaseEndsAt === seen.leaseEndsAt ? seen : { ...seen, leaseEndsAt };
    this.#seen = report;
    if (schedules === null) return report;
    const due = this.#parts.planner.readable(report.due, now);
    if (due.length === report.due.length) return report;
    const [first] = due;
    const passed = first === undefined ? report.due : report.due.slice(0, report.due.indexOf(first));
    const last = passed.at(-1);
    if (last !== undefined && this.looksFromStart)
      this.#passed = { last, until: this.#passed?.until ?? now + this.#parts.maxIdleMs };
    else if (last !== undefined && due.length === 0) this.lookBeyond(last);
    const shown = { ...report, due };
    this.#seen = shown;
    return shown;
  }

  /** From when on recovery has something to do, in epoch milliseconds; null for never. */
  #leaseEndsAt(endsAt: number | null, now: number): number | null {
    const peers = this.#parts.peers();
    if (endsAt === null) peers?.ended(now);
    const isEnded = endsAt !== null && peers?.hasLeasesToEnd(now) === true;
    return this.#recoveries.dueAt(isEnded ? Math.min(endsAt, now) : endsAt, now);
  }

  async #saveTasks(): Promise<void> {
    const { env, tasks } = this.#parts;
    await saveTasks(env, tasks);
  }

  /**
   * Makes a commit: one write that commits all outcomes, additions and plans that are at hand. If the fate of the
   * commit before is unknown, this call repeats that commit instead.
   * @throws {StoreUnavailableError} nothing is lost: the next call repeats what is unsettled
   */
  async commit(now: number, bounds: CommitBounds): Promise<CommitResult> {
    if (this.#pending !== null) return this.#repeat(now, bounds);
    const { planner, runner, additions } = this.#parts;
    if (bounds.due.length > 0 && this.#seen !== null) await this.#readBlackouts(this.#seen);
    const batch: CommitBatch = {
      releases: bounds.leavesOutcomes === true ? [] : runner.nextReleases,
      additions: additions.take(),
      planned: bounds.due.length === 0 ? [] : planner.plan(planner.readable(bounds.due, now), now),
    };
    return this.#send(this.#nextCommitId(), false, now, batch, bounds);
  }

  /** For the stop: tells the store of outcomes, and gives back the jobs that a commit of unknown fate may have leased.
   *  @throws {StoreUnavailableError} */
  async settle(now: number): Promise<void> {
    const bounds = { due: [], jobsMax: this.#pending === null ? null : 0, aheadMs: null };
    await this.commit(now, bounds);
  }

  /** Sends the plans and outcomes of the pending commit again as they were. Only the times are new. */
  async #repeat(now: number, bounds: CommitBounds): Promise<CommitResult> {
    const { commitId, releases, planned } = this.#pending as PendingCommit;
    return this.#send(commitId, true, now, { releases, additions: [], planned }, bounds);
  }

  async #send(
    commitId: string,
    isRepetition: boolean,
    now: number,
    batch: CommitBatch,
    bounds: CommitBounds,
  ): Promise<CommitResult> {
    const request = this.#request(commitId, isRepetition, now, batch, bounds);
    let report: CommitReport;
    try {
      report = await this.#parts.env.store.commit(request);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) return this.#bisect(commitId, isRepetition, batch, bounds, error);
      this.#pending = { commitId, releases: batch.releases, planned: batch.planned };
      this.#parts.runner.releasesUnknown(batch.releases);
      // The callers that add jobs hear of the failure at once, and decide; the commit does not send their jobs again.
      for (const { reject } of batch.additions) reject(error);
      throw error;
    }
    this.#pending = null;
    if (this.#isolations === 0) this.#settledCommitId = commitId;
    return this.#finish(now, request, batch, report, bounds);
  }

  /** The store refuses something in the commit for good. Sends the parts of the commit one by one, so that only the
   *  refused part fails. */
  async #bisect(
    commitId: string,
    isRepetition: boolean,
    batch: CommitBatch,
    bounds: CommitBounds,
    error: unknown,
  ): Promise<CommitResult> {
    this.#pending = null;
    this.#parts.runner.releasesNotTaken(batch.releases);
    const parts = splitBatch(batch);
    if (parts.length === 0) throw error;
    const [only] = parts;
    // Each try takes the time anew, because the try before may have been slow, or the clock was set.
    const { clock } = this.#parts.env;
    if (parts.length === 1 && only !== undefined && isSingle(only)) {
      const instead = this.#refuse(only, error);
      if (instead !== null) return this.#sendInstead(commitId, clock.now(), instead, bounds);
      return this.#isolations > 0 ? NOTHING_DONE : this.#send(commitId, isRepetition, clock.now(), EMPTY_BATCH, bounds);
    }
    let total = NOTHING_DONE;
    const alone: CommitBounds = { due: [], jobsMax: null, aheadMs: null };
    for (const [index, part] of parts.entries()) {
      this.#isolations++;
      try {
        total = sum(total, await this.#send(commitId, isRepetition, clock.now(), part, alone));
      } catch (failure) {
        // The callers whose additions were not sent hear of the failure too. Outcomes still wait, and schedules are
        // still due.
        for (const { additions } of parts.slice(index + 1)) for (const { reject } of additions) reject(failure);
        throw failure;
      } finally {
        this.#isolations--;
      }
    }
    if (this.#isolations > 0) return total;
    // Acquisition comes last, under an id of its own.
    return sum(total, await this.#send(this.#nextCommitId(), false, clock.now(), EMPTY_BATCH, bounds));
  }

  /** Sends a plan that pauses the schedule, instead of the plan that the store refused.
   *  @throws {StoreUnavailableError} the next commit repeats this one */
  async #sendInstead(
    commitId: string,
    now: number,
    instead: ScheduleWithPlan,
    bounds: CommitBounds,
  ): Promise<CommitResult> {
    const request = this.#request(commitId, false, now, { ...EMPTY_BATCH, planned: [instead] }, bounds);
    try {
      const report = await this.#parts.env.store.commit(request);
      return this.#finish(now, request, { ...EMPTY_BATCH, planned: [instead] }, report, bounds);
    } catch (error) {
      if (error instanceof StoreUnavailableError) {
        this.#pending = { commitId, releases: [], planned: [instead] };
        throw error;
      }
      const { id } = instead.schedule;
      this.#parts.env.logger.error(`escapement: schedule "${id}" cannot be processed`, error);
      this.lookBeyond(instead.schedule);
      return NOTHING_DONE;
    }
  }

  /** Reports that the store refused a part. Returns the plan that takes the place of a refused plan, or null. */
  #refuse({ releases, additions, planned }: CommitBatch, error: unknown): ScheduleWithPlan | null {
    for (const ended of releases) this.#parts.runner.releaseRefused(ended, error);
    for (const { reject } of additions) reject(error);
    const [one] = planned;
    return one === undefined ? null : pausedPlan(one.schedule, error, one.blackouts);
  }

  #request(
    commitId: string,
    isRepetition: boolean,
    now: number,
    { releases, additions, planned }: CommitBatch,
    { jobsMax, aheadMs, timeoutMsMax, tasks, cleansUp = false, inOneTrip = false }: CommitBounds,
  ): CommitRequest {
    const { env, runner } = this.#parts;
    const leaseEndsAt = this.#seen?.leaseEndsAt ?? null;
    // Whoever stops leaves it to others.
    const recover = aheadMs !== null && leaseEndsAt !== null && leaseEndsAt <= now;
    const leaseEnds = recover ? (this.#parts.peers()?.leaseEnds(now) ?? []) : [];
    // The parts of a refused commit have one id, by which a store knows what the commit did to overdue occurrences.
    const isWhole = jobsMax !== null || aheadMs !== null;
    const until = now + env.leaseMs;
    // What it leases is not to be taken for what a dead process of its identity left.
    const profile = jobsMax === null ? null : this.#parts.profileOfTicks();
    return {
      ...(profile === null ? {} : { heartbeat: { instanceId: env.instanceId, aliveUntil: until, profile } }),
      ...(cleansUp ? { cleanup: { limit: CLEANUP_BATCH } } : {}),
      ...(inOneTrip ? { inOneTrip } : {}),
      ...(jobsMax !== null && hasMissed(this.#seen, now) ? { endsMissed: true } : {}),
      ...(isWhole && hasEndedPause(this.#seen, now) ? { endsPauses: true } : {}),
      ...(isWhole && (this.#seen?.overdue?.isOpen === true || isOverdue(this.#seen, now)) ? { overdue: true } : {}),
      ...this.#view(now, jobsMax === null ? null : Math.min(jobsMax, runner.room), aheadMs, timeoutMsMax, tasks),
      commitId,
      isRepetition,
      until,
      releases: releases.map(({ release }) => release),
      additions: additions.flatMap(({ jobs }) => jobs),
      recover,
      ...(leaseEnds.length === 0 ? {} : { leaseEnds }),
      plans: planned.map(({ plan }) => plan),
      ...((planned[0]?.blackouts ?? 0) === 0 ? {} : { blackouts: planned[0]?.blackouts ?? 0 }),
    };
  }

  #view(
    now: number,
    jobsMax: number | null,
    aheadMs: number | null,
    timeoutMsMax?: number,
    tasks?: ReadonlySet<string>,
  ): View {
    const { env, runner, hasScheduleRole, hasJobRole } = this.#parts;
    const window = {
      limit: PLANS_PER_COMMIT_MAX,
      bytesMax: COMMIT_BYTES_MAX,
      after: this.#after ?? this.#passedBy(now),
    };
    return {
      now,
      schedulerId: env.identity,
      jobs: hasJobRole && jobsMax !== null ? runner.capacityFor(jobsMax, timeoutMsMax, tasks) : null,
      schedules: hasScheduleRole && aheadMs !== null ? { dueBy: now + aheadMs, ...window } : null,
    };
  }

  /** Where the first page begins. */
  #passedBy(now: number): ScheduleWindow["after"] {
    // The clock may have been set back.
    const isOver =
      this.#passed !== null && !(now < this.#passed.until && this.#passed.until <= now + this.#parts.maxIdleMs);
    if (isOver) this.#passed = null;
    return this.#passed === null ? null : positionOf(this.#passed.last);
  }

  #finish(
    now: number,
    request: CommitRequest,
    { releases, additions, planned }: CommitBatch,
    report: CommitReport,
    bounds: CommitBounds,
  ): CommitResult {
    const { env, runner } = this.#parts;
    if (request.recover) this.#parts.peers()?.ended(now);
    this.#recoveries.recovered(
      report.recovered.map(({ jobId }) => jobId),
      now,
    );
    if (request.jobs !== null || request.schedules !== null) this.#show(request, report);
    const happened: EventRecord[] = [];
    const endedIds = report.ended.length === 0 ? null : new Set(report.ended.map(({ jobId }) => jobId));
    runner.recordReleases(releases, report.releases, endedIds, happened);
    runner.recordRecovery(report, now, happened);
    const { admitted = [] } = report;
    // Only events of these tell what is leased.
    const hasEvents = additions.length + planned.length + admitted.length > 0;
    const acquired = new Set(hasEvents ? report.acquired.map(({ id }) => id) : []);
    runner.log.added(report.additions);
    this.#recordAdditions(additions, report, acquired, happened);
    const jobsAdded = this.#recordPlans(planned, report, acquired, happened);
    for (const paused of report.pausedSchedules ?? []) this.#recordFailurePause(paused, happened);
    if (report.endedPauses !== undefined) this.#recordPauseEnds(report.endedPauses, happened);
    if (report.changedOverdue !== undefined) happened.push(...overdueEvents(env, report.changedOverdue));
    runner.log.admitted(admitted);
    for (const job of admitted) happened.push(jobAdmitted(env, job, acquired.has(job.jobId)));
    const starting = this.#startable(report.acquired, bounds);
    const attempts = starting.length === 0 ? [] : runner.admit(starting, happened);
    env.events.publish(happened);
    runner.run(attempts);
    const schedulesProcessed = report.plans.filter(({ committed }) => committed).length;
    const jobsStarted = attempts.length;
    const lowestPriority = Math.min(...report.acquired.map(({ priority }) => priority));
    return { schedulesProcessed, jobsAdded, jobsStarted, lowestPriority, cleanup: report.cleanup ?? null };
  }

  /** The leased jobs that may start. Gives back the others. */
  #startable(jobs: readonly JobRecord[], { jobsMax, mayStart }: CommitBounds): readonly JobRecord[] {
    const { runner } = this.#parts;
    if (jobsMax === 0 || this.#isClosed) {
      runner.giveBack(jobs);
      return [];
    }
    const beginnable = runner.beginnable(jobs);
    if (mayStart === undefined && beginnable.length === jobs.length) return jobs;
    const starting = mayStart === undefined ? beginnable : beginnable.filter(mayStart);
    runner.giveBack(jobs.filter((job) => !starting.includes(job)));
    return starting;
  }

  #recordAdditions(
    calls: readonly WaitingAddition[],
    { additions }: CommitReport,
    acquired: ReadonlySet<string>,
    happened: EventRecord[],
  ): void {
    let start = 0;
    for (const { jobs, resolve } of calls) {
      const own = additions.slice(start, start + jobs.length);
      start += jobs.length;
      own.forEach((addition, index) => {
        const added = jobs[index];
        if (added !== undefined)
          happened.push(...additionEvents(this.#parts.env, addition, added, acquired.has(addition.job.id)));
      });
      resolve(own);
    }
  }

  /** Adds the events of the plans. Returns how many jobs the plans added. */
  #recordPlans(
    planned: readonly ScheduleWithPlan[],
    { plans, blackouts = 0 }: CommitReport,
    acquired: ReadonlySet<string>,
    happened: EventRecord[],
  ): number {
    const { env, planner } = this.#parts;
    let jobsAdded = 0;
    planned.forEach(({ schedule, plan, failure, blackouts: used }, index) => {
      const result = plans[index];
      if (result === undefined) return;
      const { id, taskId, executor } = schedule;
      const addedIds = result.addedJobIds.length === plan.fires.length ? null : new Set(result.addedJobIds);
      for (const { jobId, runAt } of plan.fires) {
        if (addedIds !== null && !addedIds.has(jobId)) continue;
        jobsAdded++;
        happened.push(jobAdded(env, { id: jobId, taskId, scheduleId: id, executor, runAt }, acquired.has(jobId)));
      }
      if (!result.committed) {
        // A plan that uses outdated blackouts is made anew.
        if (used === blackouts) planner.notCommitted(schedule);
        return;
      }
      if (failure !== null) {
        happened.push(scheduleFailed(env, schedule, serializedError(failure.error)));
        const paused = { id, taskId, paused: true, ...pauseFacts({ pauseReason: plan.pauseReason }) };
        happened.push(...schedulePauseEvents(env, paused, env.identity));
        env.logger.error(`escapement: schedule "${id}" was paused because it failed`, failure.error);
      }
      if (plan.skips !== undefined || plan.overlap !== undefined)
        happened.push(...skipEvents(env, schedule, plan, result.overlap));
      if (result.overlap !== undefined) this.#cancel(result.overlap.cancelRequested, happened);
      const { paused, nextFireTime } = plan;
      happened.push(scheduleSaved(env, { id, taskId, paused, nextFireTime }, "updated"));
    });
    return jobsAdded;
  }

  #recordFailurePause(schedule: PausedSchedule, happened: EventRecord[]): void {
    const { env } = this.#parts;
    const paused = { ...schedule, paused: true };
    happened.push(...schedulePauseEvents(env, paused, env.identity), scheduleSaved(env, paused, "updated"));
    env.logger.error(`escapement: schedule "${schedule.id}" was paused: ${schedule.pauseReason}`);
  }

  #recordPauseEnds({ schedules, tasks }: EndedPauses, happened: EventRecord[]): void {
    const { env } = this.#parts;
    for (const schedule of schedules) {
      happened.push(...schedulePauseEvents(env, { ...schedule, paused: false }, null));
      happened.push(scheduleSaved(env, { ...schedule, paused: false }, "updated"));
    }
    for (const pause of tasks) happened.push(taskPauseChanged(env, pause, false, null));
  }

  #cancel(jobIds: readonly string[], happened: EventRecord[]): void {
    const { env, runner } = this.#parts;
    for (const jobId of jobIds) {
      if (runner.running.has(jobId)) runner.cancel(jobId);
      else happened.push(jobCancelRequested(env, jobId));
    }
  }

  #nextCommitId(): string {
    return `${this.#parts.env.instanceId}/${String(++this.#commitCount).padStart(10, "0")}`;
  }
}

function positionOf({ nextFireTime, id }: LookedSchedule): ScheduleWindow["after"] {
  return [nextFireTime, id];
}

function sum(a: CommitResult, b: CommitResult): CommitResult {
  return {
    schedulesProcessed: a.schedulesProcessed + b.schedulesProcessed,
    jobsAdded: a.jobsAdded + b.jobsAdded,
    jobsStarted: a.jobsStarted + b.jobsStarted,
    lowestPriority: Math.min(a.lowestPriority, b.lowestPriority),
    cleanup: a.cleanup ?? b.cleanup,
  };
}

/** Whether a commit may have an overdue occurrence to raise. */
export function isOverdue(seen: Seen | null, now: number): boolean {
  const nextAt = seen?.overdue?.nextAt ?? null;
  return nextAt !== null && nextAt <= now;
}

/** Whether a pause has come to its end, for a commit to end it. */
export function hasEndedPause(seen: Seen | null, now: number): boolean {
  const endsAt = seen?.pauseEndsAt ?? null;
  return endsAt !== null && endsAt <= now;
}

/** Whether jobs wait that have missed their start, for a commit to end. */
export function hasMissed(seen: Seen | null, now: number): boolean {
  const nextAt = seen?.nextMissAt ?? null;
  return nextAt !== null && nextAt <= now;
}

/** The earliest instant from `fromMs` on at which something of what was seen is due; null for never. All are epoch
 *  milliseconds. */
export function earliestDueAt(
  { due, nextFireAt, nextRunAt, nextMissAt, leaseEndsAt, pauseEndsAt, overdue }: Seen,
  fromMs: number = Number.NEGATIVE_INFINITY,
): number | null {
  const first = due[0]?.nextFireTime ?? null;
  const all = [first, nextFireAt, nextRunAt, nextMissAt, leaseEndsAt, pauseEndsAt ?? null, overdue?.nextAt ?? null];
  const instants = all.filter((at) => at !== null).filter((at) => at >= fromMs);
  return instants.length === 0 ? null : Math.min(...instants);
}
