import type { JobRecord } from "../../src/records/job.ts";
import type { JobResultRecord } from "../../src/records/job-result.ts";
import type { TaskRecord } from "../../src/records/task.ts";
import type {
  CancelReport,
  JobAddition,
  JobRelease,
  LeaseExtension,
  LeaseExtensionReport,
  LeaseSurrender,
  OverlapReport,
  PlannedOverlap,
  RecoveryReport,
  ReleaseStatus,
  Seen,
  StepReport,
  StepRequest,
  View,
} from "../../src/stores/data-store.ts";
import { type Attempts, isCancelled, isTimedOut } from "./attempts.ts";
import type { Caller, History } from "./history.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** More than any clock is ahead in a run. */
const RESULT_SLACK_MS = 3_600_000;

interface Lease {
  readonly holder: Caller;
  readonly stepId: string;
  /** Its place among the leases of all times. */
  readonly order: number;
  readonly takenAtMs: number;
  extendedAtMs: number;
  /** Whether an answer of the store has reached the holder that tells of it. */
  isKnown: boolean;
}

/** What recovery has to end or to take back. */
interface Losses {
  /** What the step itself gave up. */
  readonly givenUp: readonly ModelJob[];
  readonly stepId: string | null;
  /** Which leases are taken from their holders. */
  readonly isLost: (job: ModelJob) => boolean;
}

export interface ModelJob {
  readonly record: Mutable<JobRecord>;
  readonly seq: number;
  readonly addedAtMs: number;
  lease: Lease | null;
  /** Whether a look or a step has found it due: clocks that are behind, or requests that were slow, do not take that
   *  back. */
  isReady: boolean;
  /** The step that put it back, until somebody leases it. */
  putBackBy: string | null;
  result: JobResultRecord | null;
}

/** What the contract of `DataStore` says about jobs, told a second time and in the plainest way: each answer of the
 *  store is compared with it. */
export class JobModel {
  readonly #history: History;
  readonly #attempts: Attempts;
  readonly #tasks: ReadonlyMap<string, TaskRecord>;
  readonly #all = new Map<string, ModelJob>();
  readonly #unfinished = new Map<string, ModelJob>();
  #seq = 0;
  #leaseCount = 0;

  constructor(history: History, attempts: Attempts, tasks: ReadonlyMap<string, TaskRecord>) {
    this.#history = history;
    this.#attempts = attempts;
    this.#tasks = tasks;
  }

  get(id: string): ModelJob | undefined {
    return this.#all.get(id);
  }

  get all(): Iterable<ModelJob> {
    return this.#all.values();
  }

  get unfinished(): ReadonlyMap<string, ModelJob> {
    return this.#unfinished;
  }

  hasJobsOf(scheduleId: string): boolean {
    for (const { record } of this.#unfinished.values()) if (record.scheduleId === scheduleId) return true;
    return false;
  }

  /** How many jobs a process holds, of those that it took since something last went wrong for it. */
  leasesOf(caller: Caller): number {
    let count = 0;
    for (const { lease } of this.#unfinished.values()) {
      if (lease?.holder === caller && lease.takenAtMs > caller.lastTroubleMs) count++;
    }
    return count;
  }

  /** Whether an unfinished job stands for a fire time of a schedule. */
  hasJobAt(scheduleId: string, fireTime: number): boolean {
    for (const { record } of this.#unfinished.values()) {
      if (record.scheduleId === scheduleId && record.fireTime === fireTime) return true;
    }
    return false;
  }

  /** What a plan does to the unfinished jobs of its schedule before its fire. */
  makeWay(scheduleId: string, policy: PlannedOverlap["policy"]): OverlapReport {
    const fired = [...this.#unfinished.values()]
      .filter(({ record }) => record.scheduleId === scheduleId && record.fireTime !== null)
      .sort((a, b) => (a.record.fireTime ?? 0) - (b.record.fireTime ?? 0));
    if (policy === "skip") return { isSkipped: fired.length > 0, replaced: [], cancelRequested: [] };
    const waiting = fired.filter(({ lease }) => lease === null);
    const running = fired.filter(({ lease, record }) => lease !== null && !record.cancelRequested);
    const cancelled = policy === "cancelRunning" ? running : [];
    for (const { record } of waiting) {
      this.#history.count("replaced");
      this.#history.trace("store", `job ${record.id} is replaced`);
      this.#unfinished.delete(record.id);
    }
    for (const { record } of cancelled) {
      this.#history.count("overlaps cancelled");
      record.cancelRequested = true;
    }
    return {
      isSkipped: false,
      replaced: waiting.map(({ record }) => ({ jobId: record.id, fireTime: record.fireTime ?? 0 })),
      cancelRequested: cancelled.map(({ record }) => record.id),
    };
  }

  /** Since when a lease that has ended could be known to have, in epoch milliseconds; null without leases. A clock that
   *  is behind makes leases that have ended at once. */
  get leaseEndsAt(): number | null {
    let endsAt: number | null = null;
    for (const { lease, record } of this.#unfinished.values()) {
      if (lease === null) continue;
      const until = Math.max(record.acquiredUntil ?? 0, lease.extendedAtMs);
      endsAt = Math.min(endsAt ?? until, until);
    }
    return endsAt;
  }

  /** @param isReady by the adder's clock; a clock that is behind does not take that back */
  insert(record: JobRecord, isReady: boolean): void {
    if (this.#all.has(record.id)) {
      this.#history.violate(`job ${record.id} was added twice`);
      return;
    }
    const job: ModelJob = {
      record: { ...record },
      seq: this.#seq++,
      addedAtMs: this.#history.nowMs,
      lease: null,
      isReady,
      putBackBy: null,
      result: null,
    };
    this.#all.set(record.id, job);
    this.#unfinished.set(record.id, job);
  }

  onAdd(jobs: readonly JobRecord[], report: readonly JobAddition[]): void {
    jobs.forEach((record, index) => {
      const addition = report[index];
      const holder = record.idempotencyKey === null ? undefined : this.#holderOf(record.taskId, record.idempotencyKey);
      const expected = this.#all.has(record.id) || holder === undefined ? record.id : holder.record.id;
      if (addition?.job.id !== expected || addition.isNew !== (expected === record.id)) {
        this.#history.violate(`adding job ${record.id} answered ${addition?.job.id}, not ${expected}`);
      }
      if (expected === record.id && !this.#all.has(record.id)) this.insert(record, record.runAt <= record.createdAt);
    });
  }

  /** What comes before the plans of a step: outcomes, recovery, additions. */
  beforePlans(request: StepRequest, report: StepReport, caller: Caller): void {
    const { now, releases, recover } = request;
    const givenUp: ModelJob[] = [];
    releases.forEach((release, index) => {
      const job = this.#onRelease(release, report.releases[index], request, caller);
      if (job !== null) givenUp.push(job);
    });
    const { stepId } = request;
    const isLost = (job: ModelJob): boolean => recover && (job.record.acquiredUntil ?? 0) <= now;
    this.#onRecovery(report, caller, { givenUp, stepId, isLost });
    this.onAdd(request.additions, report.additions);
  }

  /** What comes after them: acquisition. */
  afterPlans(request: StepRequest, report: StepReport, caller: Caller): void {
    if (request.jobs !== null) this.#onAcquisition(request, report, caller);
    else if (report.acquired.length > 0) {
      this.#history.violate(`${caller.name} acquired jobs that it did not ask for`);
    }
  }

  /** An answer reached the scheduler that asked. */
  onAnswer(report: StepReport): void {
    for (const { id, fence } of report.acquired) {
      const job = this.#unfinished.get(id);
      if (job?.lease != null && job.record.fence === fence) job.lease.isKnown = true;
    }
  }

  /** @param settledStepId the last step whose answer the caller had when it sent this */
  onExtend(
    extension: LeaseExtension,
    report: LeaseExtensionReport,
    caller: Caller,
    settledStepId: string | null,
  ): void {
    const { now, schedulerId, until } = extension;
    const lost: string[] = [];
    const cancelRequested: string[] = [];
    const named = new Set<ModelJob>();
    for (const { jobId, fence, hasStarted } of extension.jobs) {
      const job = this.#unfinished.get(jobId);
      if (job?.lease == null || job.record.fence !== fence || job.record.acquiredBy !== schedulerId) {
        lost.push(jobId);
        continue;
      }
      named.add(job);
      if (hasStarted === true) job.record.startedFence = fence;
      job.record.acquiredUntil = Math.max(job.record.acquiredUntil ?? 0, until);
      job.lease.extendedAtMs = this.#history.nowMs;
      if (!job.lease.isKnown) this.#history.violate(`${caller.name} extends job ${jobId}, which it cannot know of`);
      if (job.record.cancelRequested) cancelRequested.push(jobId);
    }
    this.#same(`leases lost of ${caller.name}`, lost, report.lost);
    this.#same(`cancellations for ${caller.name}`, cancelRequested, report.cancelRequested);
    for (const job of this.#unfinished.values()) if (!named.has(job)) this.#giveUpOrphan(job, extension, caller);
    for (const { record, lease } of this.#unfinished.values()) {
      const isOwn = lease?.holder === caller && settledStepId !== null && lease.stepId <= settledStepId;
      if (isOwn && !extension.jobs.some(({ jobId }) => jobId === record.id) && (record.acquiredUntil ?? 0) > now) {
        this.#history.violate(`${caller.name} keeps the lease of job ${record.id}, which it does not run`);
      }
    }
  }

  /** What a step of this run leased whose answer is known, and that is not named, runs nowhere. */
  #giveUpOrphan(job: ModelJob, { now, schedulerId, incarnation, settledStepId }: LeaseExtension, caller: Caller): void {
    const { record, lease } = job;
    if (lease === null || settledStepId === null || record.acquiredBy !== schedulerId) return;
    if (lease.stepId > settledStepId || !lease.stepId.startsWith(incarnation)) return;
    this.#history.count("orphans given up");
    this.#history.trace(caller.name, `gives up job ${record.id} with fence ${record.fence}, which it does not run`);
    const attempt = this.#attempts.get(record.id, record.fence);
    if (attempt !== undefined && attempt.endedAtMs === null && !attempt.signal.aborted && attempt.caller.isAlive) {
      this.#history.violate(`${caller.name} gives up job ${record.id}, which runs`);
    }
    this.#attempts.leaseEnded(record.id, record.fence);
    if (record.cancelRequested) {
      record.acquiredUntil = now;
      lease.extendedAtMs = this.#history.nowMs;
    } else this.#putBack(job, null, true);
  }

  onGiveUp(
    request: LeaseSurrender,
    report: RecoveryReport,
    caller: Caller,
    isSpared: (stepId: string) => boolean,
  ): void {
    const { schedulerId, incarnation } = request;
    this.#onRecovery(report, caller, {
      givenUp: [],
      stepId: null,
      isLost: ({ record, lease }) =>
        lease !== null &&
        record.acquiredBy === schedulerId &&
        !lease.stepId.startsWith(incarnation) &&
        !isSpared(lease.stepId),
    });
  }

  onCancel(id: string, report: CancelReport): void {
    const job = this.#unfinished.get(id);
    const expected = job === undefined ? "missing" : job.lease === null ? "cancelled" : "requested";
    if (report.status !== expected) {
      this.#history.violate(`cancelling job ${id} answered ${report.status}, not ${expected}`);
    }
    if (job === undefined) return;
    if (report.status === "cancelled") this.#finish(job, report.result);
    else job.record.cancelRequested = true;
  }

  /** Whether everything has ended, and the results are there to be read. */
  async checkAtRest(readResult: (id: string) => Promise<JobResultRecord | null>, now: number): Promise<void> {
    for (const { record } of this.#unfinished.values()) {
      this.#history.violate(
        `job ${record.id} of ${record.taskId} never ended (runAt ${record.runAt}, fence ${record.fence})`,
      );
    }
    for (const { record, result } of this.#all.values()) {
      // A clean-up by a clock that is ahead may take the others.
      if (result === null || result.expiresAt <= now + RESULT_SLACK_MS) continue;
      const kept = await readResult(record.id);
      if (kept?.outcome !== result.outcome || kept.finishedAt !== result.finishedAt) {
        this.#history.violate(`the result of job ${record.id} (${result.outcome}) cannot be read`);
        continue;
      }
      const { attemptHistory } = record;
      if (kept.job?.omitsPayload !== true && kept.job?.payload !== record.payload) {
        this.#history.violate(`the result of job ${record.id} has the payload ${kept.job?.payload}`);
      }
      if (numbersOf(kept.attemptHistory) !== numbersOf(attemptHistory)) {
        this.#history.violate(
          `the result of job ${record.id} has the attempts ${numbersOf(kept.attemptHistory)}, ` +
            `not ${numbersOf(attemptHistory)}`,
        );
      }
    }
  }

  // ---- releases

  /** Returns the job when recovery ends it or takes it back: somebody asked to cancel it while it ran, or it was given
   *  up after it had started. */
  #onRelease(
    release: JobRelease,
    status: ReleaseStatus | undefined,
    { now, stepId, isRepetition }: StepRequest,
    caller: Caller,
  ): ModelJob | null {
    const job = this.#unfinished.get(release.jobId);
    const isHeld = job?.record.fence === release.fence && job.record.acquiredBy === caller.identity;
    const text = `${release.kind} of job ${release.jobId} with fence ${release.fence} by ${caller.name}`;
    this.#attempts.reported(caller, release);
    const isPutBack = release.kind === "retry" || release.kind === "giveUp";
    // A repetition tells of what an earlier try did for as long as that can be seen. That a job is gone can be seen by
    // its result alone, whoever ended it.
    const isDone = isRepetition && isPutBack && (job?.putBackBy === stepId || job?.lease?.stepId === stepId);
    const expected = isHeld || isDone ? "released" : job === undefined ? "missing" : "fenced";
    const isResultSeen =
      isRepetition &&
      release.kind !== "start" &&
      job === undefined &&
      status === "released" &&
      this.#all.has(release.jobId);
    if (status !== expected && !isResultSeen) {
      this.#history.violate(`${text} was answered with ${status}, not ${expected}`);
    }
    if (job === undefined || !isHeld || status !== "released") return null;
    this.#history.trace(caller.name, `${text}: ${status}`);
    this.#checkTruth(job, release, caller, now, text);
    if (release.kind === "finish") this.#finish(job, release.result);
    else if (release.kind === "start") job.record.startedFence = job.record.fence;
    else if (job.record.cancelRequested) return job;
    else if (release.kind === "giveUp" && release.hasStarted === true) {
      job.record.startedFence = job.record.fence;
      return job;
    } else {
      if (release.kind === "retry") {
        job.record.runAt = release.runAt;
        job.record.failedAttempts = release.failedAttempts;
        if (release.attemptHistory !== undefined) job.record.attemptHistory = release.attemptHistory;
      }
      this.#putBack(job, stepId, release.kind === "giveUp" || job.record.runAt <= now);
    }
    return null;
  }

  /** Whether what is recorded is what the handler did. */
  #checkTruth(job: ModelJob, release: JobRelease, caller: Caller, now: number, text: string): void {
    const { record } = job;
    const attempt = this.#attempts.get(record.id, release.fence);
    const task = this.#tasks.get(record.taskId);
    if (attempt !== undefined && attempt.caller !== caller)
      this.#history.violate(`${text}: it ran on ${attempt.caller.name}`);
    const hasFailed = attempt !== undefined && (attempt.ending?.startsWith("threw") === true || isTimedOut(attempt));
    const failures = record.failedAttempts + 1;
    const isForGood = attempt?.ending === "threwForGood" && !isTimedOut(attempt);
    const mayRetry = failures < (task?.retry.attemptsMax ?? 1) && !isForGood;
    if (release.kind === "retry") {
      const { retry } = task ?? {};
      const pauseMax =
        retry === undefined ? 0 : Math.min(retry.maxMs, retry.initialMs * retry.factor ** (failures - 1));
      if (!hasFailed) this.#history.violate(`${text}: its handler did not fail`);
      if (!mayRetry || release.failedAttempts !== failures) this.#history.violate(`${text}: it has no attempt left`);
      if (caller.lastTroubleMs < job.addedAtMs && release.runAt > now + pauseMax + 1) {
        this.#history.violate(`${text}: the pause before it is too long`);
      }
      return;
    }
    if (release.kind === "giveUp") {
      const hasStarted = release.hasStarted === true;
      if (hasStarted !== (attempt !== undefined)) this.#history.violate(`${text}: whether it started is not true`);
      return;
    }
    if (release.kind === "start") {
      // A try may arrive after its repetition.
      const isKnown = record.startedFence === release.fence;
      if (attempt !== undefined && !isKnown) this.#history.violate(`${text}: it had started before the store knew`);
      return;
    }
    const { outcome } = release.result;
    this.#history.count(outcome);
    const isTrue = {
      success:
        attempt?.ending === "returned" ||
        // Where no result is kept, no value is sent that a store could refuse.
        (attempt?.ending === "returnedTooMuch" && record.resultExpirationMs === 0),
      error: (hasFailed && !mayRetry) || (attempt?.ending === "returnedTooMuch" && release.result.returnValue === null),
      cancelled: record.cancelRequested && (attempt === undefined || isCancelled(attempt)),
      missedStartDeadline:
        attempt === undefined && record.startDeadline !== null && caller.clock.now() > record.startDeadline,
      deserializationFailed: false,
      abandoned: false,
    }[outcome];
    // The clock that found it too late may have been set back since.
    const isSure = outcome !== "missedStartDeadline" || caller.lastTroubleMs < (job.lease?.takenAtMs ?? 0);
    if (!isTrue && isSure) this.#history.violate(`${text}: its outcome ${outcome} is not what happened`);
  }

  // ---- recovery

  #onRecovery(report: RecoveryReport, caller: Caller, { givenUp, stepId, isLost }: Losses): void {
    const lost = [...this.#unfinished.values()].filter(
      (job) => job.lease !== null && isLost(job) && !givenUp.includes(job),
    );
    const all = [...givenUp, ...lost];
    const mayGoBack = all.filter(
      ({ record }) => !record.cancelRequested && (record.recoveries < record.maxRecoveries || !mayHaveStarted(record)),
    );
    const mustEnd = all.filter((job) => !mayGoBack.includes(job));
    this.#same("jobs recovered", idsOf(mayGoBack), report.recovered.map(({ jobId }) => jobId).sort());
    this.#same("jobs ended by recovery", idsOf(mustEnd), report.ended.map(({ jobId }) => jobId).sort());
    for (const job of lost) {
      this.#checkLoss(job, caller);
      this.#attempts.leaseEnded(job.record.id, job.record.fence);
    }
    for (const { jobId } of report.recovered) {
      const job = this.#unfinished.get(jobId);
      if (job === undefined) continue;
      this.#history.count("recovered");
      this.#history.trace(caller.name, `recovers job ${jobId} with fence ${job.record.fence}`);
      const attempt = this.#attempts.get(jobId, job.record.fence);
      if (mayHaveStarted(job.record)) job.record.recoveries++;
      else if (attempt !== undefined) this.#history.violate(`job ${jobId} had started, which its loss did not count`);
      this.#putBack(job, givenUp.includes(job) ? stepId : null, true);
    }
    for (const result of report.ended) {
      const job = this.#unfinished.get(result.jobId);
      if (job === undefined) continue;
      const expected = job.record.cancelRequested ? "cancelled" : "abandoned";
      if (result.outcome !== expected)
        this.#history.violate(`job ${result.jobId} ended as ${result.outcome}, not ${expected}`);
      this.#history.count(result.outcome);
      this.#finish(job, result);
    }
  }

  /** A lease is lost for a reason, and a process that got an answer since knows what it holds. */
  #checkLoss({ record, lease }: ModelJob, caller: Caller): void {
    if (lease === null || !lease.holder.isAlive) return;
    const { holder, takenAtMs } = lease;
    const text = `the lease of job ${record.id} with fence ${record.fence} on ${holder.name}`;
    const isCalm = Math.max(holder.lastTroubleMs, caller.lastTroubleMs) < takenAtMs;
    if (isCalm && holder.offsetMs === caller.offsetMs) {
      this.#history.violate(`${text} was lost though nothing happened to it`);
    }
  }

  // ---- acquisition

  #onAcquisition(request: StepRequest, report: StepReport, caller: Caller): void {
    const { now, stepId, jobs: room } = request;
    if (room === null) return;
    const held: ModelJob[] = [];
    const slots = this.#slots();
    let isBlocked = false;
    for (const job of this.#unfinished.values()) {
      if (job.lease === null) continue;
      if (job.lease.stepId === stepId && job.record.acquiredBy === caller.identity) held.push(job);
      // Nothing while a lease waits for recovery: the lost job may have to come first.
      if ((job.record.acquiredUntil ?? 0) <= now) isBlocked = true;
    }
    for (const [taskId, left] of slots) if (left < 0) this.#history.violate(`task ${taskId} is beyond maxRunningJobs`);
    if (!isBlocked) this.#promote(now);
    const queues = new Set(room.queues.map(({ executor, taskId }) => `${executor} ${taskId}`));
    const eligible: ModelJob[] = [];
    for (const job of this.#unfinished.values()) {
      const { executor, taskId } = job.record;
      if (job.isReady && queues.has(`${executor} ${taskId}`)) eligible.push(job);
    }
    eligible.sort(byRank);
    const taken: ModelJob[] = [];
    for (const job of eligible) {
      const left = this.#slotsOf(job.record.taskId, slots);
      if (left <= 0) continue;
      if (isBlocked || held.length + taken.length >= room.limit) break;
      slots.set(job.record.taskId, left - 1);
      taken.push(job);
    }
    held.sort((a, b) => (a.lease?.order ?? 0) - (b.lease?.order ?? 0));
    const heldIds = new Set(held.map(({ record }) => record.id));
    const fresh = report.acquired.filter(({ id }) => !heldIds.has(id));
    const repeated = report.acquired.filter(({ id }) => heldIds.has(id));
    this.#same(`jobs that ${caller.name} holds already`, idsOf(held), repeated.map(({ id }) => id).sort());
    this.#same(
      `jobs that ${caller.name} acquired`,
      taken.map(({ record }) => record.id),
      fresh.map(({ id }) => id),
    );
    for (const record of report.acquired) this.#onAcquired(record, request, heldIds.has(record.id), caller);
  }

  #onAcquired(record: JobRecord, { stepId, until }: StepRequest, isRepeated: boolean, caller: Caller): void {
    const job = this.#unfinished.get(record.id);
    if (job === undefined) {
      this.#history.violate(`${caller.name} acquired job ${record.id}, which has ended`);
      return;
    }
    const fence = isRepeated ? job.record.fence : job.record.fence + 1;
    if (record.fence !== fence)
      this.#history.violate(`job ${record.id} was acquired with fence ${record.fence}, not ${fence}`);
    if (record.recoveries !== job.record.recoveries || record.failedAttempts !== job.record.failedAttempts) {
      this.#history.violate(`job ${record.id} was acquired with other counts than it has`);
    }
    if (isRepeated) return;
    this.#history.trace(caller.name, `acquires job ${record.id} of ${record.taskId} with fence ${record.fence}`);
    job.isReady = false;
    job.record.fence = fence;
    job.record.acquiredBy = caller.identity;
    job.record.acquiredUntil = until;
    job.putBackBy = null;
    job.lease = {
      holder: caller,
      stepId,
      order: this.#leaseCount++,
      takenAtMs: this.#history.nowMs,
      extendedAtMs: this.#history.nowMs,
      isKnown: false,
    };
  }

  #slotsOf(taskId: string, slots: ReadonlyMap<string, number>): number {
    return slots.get(taskId) ?? this.#tasks.get(taskId)?.maxRunningJobs ?? Number.POSITIVE_INFINITY;
  }

  /** How many more jobs of each task may run that is limited or runs. */
  #slots(): Map<string, number> {
    const slots = new Map<string, number>();
    for (const { record, lease } of this.#unfinished.values()) {
      if (lease !== null) slots.set(record.taskId, this.#slotsOf(record.taskId, slots) - 1);
    }
    return slots;
  }

  /** What a look, or the look at the end of a step, shows of the jobs. */
  checkSeen({ now, jobs: room }: View, seen: Seen, caller: Caller): void {
    let nextRunAt: number | null = null;
    let leaseEndsAt: number | null = null;
    let hasReady = false;
    if (room !== null) {
      this.#promote(now);
      const slots = this.#slots();
      for (const { record, lease, isReady } of this.#unfinished.values()) {
        const { executor, taskId, runAt, acquiredUntil } = record;
        const isRunnable = room.queues.some((queue) => queue.executor === executor && queue.taskId === taskId);
        if (lease !== null) leaseEndsAt = Math.min(leaseEndsAt ?? Number.POSITIVE_INFINITY, acquiredUntil ?? 0);
        else if (!isReady) nextRunAt = Math.min(nextRunAt ?? runAt, runAt);
        else if (isRunnable && this.#slotsOf(taskId, slots) > 0) hasReady = true;
      }
    }
    const expected = `ready ${hasReady}, next run ${nextRunAt}, next end of a lease ${leaseEndsAt}`;
    const actual = `ready ${seen.hasReady}, next run ${seen.nextRunAt}, next end of a lease ${seen.leaseEndsAt}`;
    if (expected !== actual) this.#history.violate(`${caller.name} sees "${actual}", not "${expected}"`);
  }

  // ---- helpers

  #holderOf(taskId: string, idempotencyKey: string): ModelJob | undefined {
    for (const job of this.#unfinished.values()) {
      if (job.record.taskId === taskId && job.record.idempotencyKey === idempotencyKey) return job;
    }
    return undefined;
  }

  #finish(job: ModelJob, result: JobResultRecord): void {
    this.#history.trace("store", `job ${job.record.id} ended: ${result.outcome}`);
    this.#endLease(job);
    this.#unfinished.delete(job.record.id);
    job.result = result;
  }

  #promote(now: number): void {
    for (const job of this.#unfinished.values()) if (job.lease === null && job.record.runAt <= now) job.isReady = true;
  }

  #putBack(job: ModelJob, stepId: string | null, isReady: boolean): void {
    this.#endLease(job);
    job.isReady = isReady;
    job.putBackBy = stepId;
  }

  #endLease(job: ModelJob): void {
    job.lease = null;
    job.record.acquiredBy = null;
    job.record.acquiredUntil = null;
  }

  #same(what: string, expected: readonly string[], actual: readonly string[]): void {
    if (expected.length === actual.length && expected.every((id, index) => id === actual[index])) return;
    this.#history.violate(`${what}: [${actual}], not [${expected}]`);
  }
}

/** A job that was lost before starts only after the store was told so. */
function mayHaveStarted({ recoveries, startedFence, fence }: JobRecord): boolean {
  return recoveries === 0 || startedFence === fence;
}

function numbersOf(attempts: JobRecord["attemptHistory"]): string {
  return `[${(attempts ?? []).map(({ number }) => number)}]`;
}

function idsOf(jobs: readonly ModelJob[]): string[] {
  return jobs.map(({ record }) => record.id).sort();
}

function byRank(a: ModelJob, b: ModelJob): number {
  return b.record.priority - a.record.priority || a.record.runAt - b.record.runAt || a.seq - b.seq;
}
