import type { JobRecord, NewJobRecord } from "../../src/records/job.ts";
import type { JobResultRecord } from "../../src/records/job-result.ts";
import type { JobOutcome } from "../../src/records/policies.ts";
import type { TaskRecord } from "../../src/records/task.ts";
import type {
  CancelReport,
  CommitReport,
  CommitRequest,
  JobAddition,
  JobCapacity,
  JobRelease,
  LeaseEnd,
  LeaseExtension,
  LeaseExtensionReport,
  LeaseSurrender,
  OverlapReport,
  PlannedJob,
  PlannedOverlap,
  RecoveryReport,
  ReleaseStatus,
  Seen,
  View,
} from "../../src/stores/data-store.ts";
import { CLOCK_TOLERANCE_MS } from "../../src/stores/shared/limits.ts";
import { type Attempts, isCancelled, isTimedOut } from "./attempts.ts";
import type { BookModel } from "./book-model.ts";
import type { GateModel } from "./gate-model.ts";
import type { Caller, History } from "./history.ts";
import { LinkModel } from "./link-model.ts";
import type { StatsModel } from "./stats-model.ts";
import { TurnModel } from "./turn-model.ts";
import { WindowModel } from "./window-model.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** More than any clock is ahead in a run. */
const RESULT_SLACK_MS = 3_600_000;

interface Lease {
  readonly holder: Caller;
  readonly commitId: string;
  /** Its place among the leases of all times. */
  readonly order: number;
  readonly takenAtMs: number;
  extendedAtMs: number;
  /** Whether an answer of the store has reached the holder that tells of it. */
  isKnown: boolean;
  /** Whether the holder gave it up, and it waits for recovery. */
  isOrphan: boolean;
}

/** What recovery has to end or to take back. */
interface Losses {
  /** What the commit itself gave up. */
  readonly givenUp: readonly ModelJob[];
  readonly commitId: string | null;
  /** Which leases are taken from their holders. */
  readonly isLost: (job: ModelJob) => boolean;
}

export interface ModelJob {
  readonly record: Mutable<JobRecord>;
  readonly seq: number;
  /** The commit whose plan made it; null for other jobs. */
  readonly plannedIn: number | null;
  /** When it was added or, if that was later, debounced, in milliseconds of true time. */
  addedAtMs: number;
  /** Since when it has no lease, in the same time. */
  waitsSinceMs: number;
  /** Whether another job has its idempotency key, because it had missed its start. */
  hasLostKey: boolean;
  lease: Lease | null;
  /** Whether a look or a commit has found it due: clocks that are behind, or requests that were slow, do not take that
   *  back. */
  isReady: boolean;
  /** The place of the commit that found it due, or that put it back, among all commits. */
  readySince: number;
  /** The commit that put it back, until somebody leases it. */
  putBackBy: string | null;
  /** The last addition that debounced it, until it is acquired; null for none. */
  debounce: { readonly key: string; readonly createdAt: number; readonly id: string } | null;
  outcome: JobOutcome | null;
  /** As the store told it; null when it did not tell. */
  result: JobResultRecord | null;
}

/** What one commit does besides what was asked of it. */
interface Ends {
  /** The results that the answer tells of, by job. */
  readonly told: ReadonlyMap<string, JobResultRecord>;
  /** The jobs that have to be among them, and those that may be. */
  readonly due: string[];
  readonly possible: Set<string>;
}

const NO_ENDS: Ends = { told: new Map(), due: [], possible: new Set() };

/** What became of the jobs that missed their turn. */
export interface Coalesced {
  readonly report: OverlapReport;
  /** The fire time that stands for the others, and what its job tells of them. */
  readonly into: number;
  readonly facts: Pick<JobRecord, "missedCount" | "firstMissedTime" | "lastMissedTime">;
}

/** What the contract of `DataStore` says about jobs, told a second time and in the plainest way: each answer of the
 *  store is compared with it. */
/** More fires than a plan of a simulation has. */
const FIRES_MAX = 1_000_000;

export class JobModel {
  readonly #history: History;
  readonly #attempts: Attempts;
  readonly #tasks: ReadonlyMap<string, TaskRecord>;
  readonly #all = new Map<string, ModelJob>();
  readonly #unfinished = new Map<string, ModelJob>();
  readonly #gates: GateModel;
  readonly #books: BookModel;
  readonly #stats: StatsModel;
  readonly #links = new LinkModel();
  readonly #turns: TurnModel;
  readonly windows = new WindowModel();
  /** Jobs whose results a clean-up has removed, or nobody kept: by the clock that said so, they had expired. */
  readonly #withoutResult = new Set<string>();
  /** Jobs that a limit blocked once, which may have changed since. */
  readonly #gated = new Set<string>();
  #ends: Ends = NO_ENDS;
  #commits = 0;
  /** The first of the commits that the present call counts as. */
  #began = 0;
  /** The present of that call. */
  #now = 0;
  /** The latest instant that a clock of a commit has shown. */
  #latest = Number.NEGATIVE_INFINITY;
  #seq = 0;
  /** The last commit with plans, and the place of their first fires. */
  #plansIn = -1;
  #firstFire = 0;
  #leaseCount = 0;

  constructor(
    history: History,
    attempts: Attempts,
    tasks: ReadonlyMap<string, TaskRecord>,
    gates: GateModel,
    { books, stats }: { readonly books: BookModel; readonly stats: StatsModel },
  ) {
    this.#history = history;
    this.#attempts = attempts;
    this.#tasks = tasks;
    this.#gates = gates;
    this.#books = books;
    this.#stats = stats;
    this.#turns = new TurnModel(history);
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

  /** Whether a limit of a key, a pause or parents may hold a job, or has blocked it. */
  mayBeBlocked({ record }: ModelJob): boolean {
    const isGated = this.#gated.has(record.id) || this.#gates.gateOf(record) !== null;
    return isGated || record.after !== undefined;
  }

  /** The limits or the pauses of tasks are about to change. */
  beforeLimits(): void {
    for (const { record } of this.#all.values()) {
      if (this.#gates.gateOf(record) !== null || this.#gates.isPaused(record)) this.#gated.add(record.id);
    }
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

  /** What a plan does to the unfinished jobs of its schedule before its fire. @param into that fire */
  makeWay(scheduleId: string, policy: PlannedOverlap["policy"], into: number | null): OverlapReport {
    const fired = [...this.#unfinished.values()]
      .filter(
        ({ record }) => record.scheduleId === scheduleId && record.fireTime !== null && record.retryOf === undefined,
      )
      .filter((job) => !hasMissedStart(job, this.#now))
      .sort((a, b) => (a.record.fireTime ?? 0) - (b.record.fireTime ?? 0));
    if (policy === "skip") return { isSkipped: fired.length > 0, replaced: [], cancelRequested: [] };
    const waiting = fired.filter(({ lease }) => lease === null);
    const running = fired.filter(({ lease, record }) => lease !== null && !record.cancelRequested);
    const cancelled = policy === "cancelRunning" ? running : [];
    for (const job of waiting) {
      this.#history.count("replaced");
      this.#history.trace("store", `job ${job.record.id} is replaced`);
      this.#books.onReplaced(job.record, into);
      this.#endAs(job, "cancelled", null);
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

  /** The jobs of a schedule that miss their turn: made for fire times up to one, due, and never begun, while no job of
   *  the schedule runs. */
  missedTurns(scheduleId: string, until: number, now: number): ModelJob[] {
    const fired = [...this.#unfinished.values()].filter(
      ({ record }) => record.scheduleId === scheduleId && record.fireTime !== null && record.retryOf === undefined,
    );
    if (fired.some(({ lease }) => lease !== null)) return [];
    const hasBegun = ({ failedAttempts, recoveries, startedFence }: JobRecord): boolean =>
      failedAttempts > 0 || recoveries > 0 || startedFence > 0;
    return fired
      .filter(({ record }) => record.runAt <= now && (record.fireTime ?? 0) <= until && !hasBegun(record))
      .filter((job) => !hasMissedStart(job, now))
      .sort((a, b) => (a.record.fireTime ?? 0) - (b.record.fireTime ?? 0));
  }

  /** What a plan does to the jobs that miss their turn, before its fire. */
  coalesce(scheduleId: string, policy: "latest" | "earliest", fire: PlannedJob): Coalesced | null {
    const missed = this.missedTurns(scheduleId, fire.fireTime, this.#now);
    const isOldest = policy === "earliest";
    const isMember = missed.length > 0 && (isOldest || fire.runAt <= this.#now);
    const all = [...missed.map(({ record }) => record), ...(isMember ? [fire] : [])];
    if (all.length < 2) return null;
    const into = (isOldest ? all[0] : all.at(-1))?.fireTime ?? 0;
    // A fire takes the place of its own job, of before the schedule was removed and added again.
    const isFirst = isMember && into === fire.fireTime;
    const ended = missed.filter(({ record }) => record.fireTime !== into || isFirst);
    const times = all
      .flatMap(({ fireTime, firstMissedTime, lastMissedTime }) => [fireTime, firstMissedTime, lastMissedTime])
      .filter((at) => at !== null && at !== into) as number[];
    if (times.length === 0) return null;
    const stoodFor = all.map(({ fireTime, firstMissedTime, lastMissedTime }) => {
      const at = fireTime ?? 0;
      return { from: Math.min(at, firstMissedTime ?? at), until: Math.max(at, lastMissedTime ?? at) };
    });
    const isTwice = stoodFor.some(({ from }, index) => stoodFor.slice(0, index).some(({ until }) => until >= from));
    const missedCount =
      isTwice || all.some((one) => one.missedCount === null)
        ? null
        : all.reduce((sum, one) => sum + (one.missedCount ?? 0), all.length - 1);
    const facts = { missedCount, firstMissedTime: Math.min(...times), lastMissedTime: Math.max(...times) };
    this.#books.onCoalesced(
      scheduleId,
      ended.map(({ record }) => record),
      all,
      into,
    );
    for (const job of ended) {
      this.#history.count("coalesced");
      this.#history.trace("store", `job ${job.record.id} is coalesced into ${into}`);
      this.#endAs(job, "cancelled", null);
    }
    this.standsFor(scheduleId, into, facts);
    const replaced = ended.map(({ record }) => ({ jobId: record.id, fireTime: record.fireTime ?? 0 }));
    return { report: { isSkipped: isOldest && !isFirst, replaced, cancelRequested: [] }, into, facts };
  }

  /** A job of an earlier life of the schedule has the fire time that stands for others. */
  standsFor(scheduleId: string, fireTime: number, facts: Coalesced["facts"]): void {
    for (const { record } of this.#unfinished.values()) {
      if (record.scheduleId === scheduleId && record.fireTime === fireTime) Object.assign(record, facts);
    }
  }

  /** Since when a lease that has ended could be known to have, in epoch milliseconds; null without leases. Where a clock
   *  is wrong, that is known by the heartbeats: a lease after the last one was seen, and found out with the next one of
   *  the observer. The heartbeat of a tick goes with the next clean-up: then only the instant that its lease carries
   *  says that the lease has ended, whichever clock wrote that instant.
   *  @param observesSinceMs since when the observer sees heartbeats, and nothing has troubled it */
  leaseEndsAt(observesSinceMs: number, areClocksRight: boolean): number | null {
    let endsAt: number | null = null;
    for (const { lease, record } of this.#unfinished.values()) {
      if (lease === null) continue;
      const { holder, extendedAtMs } = lease;
      const beatMs = holder.leaseMs / 3;
      const carriedMs = record.acquiredUntil ?? 0;
      const seenMs = Math.max(holder.lastBeatMs, extendedAtMs, observesSinceMs) + beatMs;
      const until =
        areClocksRight && !holder.isAlive
          ? Math.max(carriedMs, extendedAtMs, observesSinceMs + 1.1 * beatMs)
          : Math.max(holder.isResident ? 0 : carriedMs, seenMs + holder.leaseMs + 2 * beatMs);
      endsAt = Math.min(endsAt ?? until, until);
    }
    return endsAt;
  }

  /** The jobs of a plan come in the order of its fires; those of the other plans of a commit come in any order. */
  insertFire(job: NewJobRecord, place: number): void {
    if (this.#plansIn !== this.#commits) {
      this.#plansIn = this.#commits;
      this.#firstFire = this.#seq;
      this.#seq += FIRES_MAX;
    }
    this.insert(job, job.runAt <= job.createdAt, { seq: this.#firstFire + place, plannedIn: this.#firstFire });
  }

  /** @param isReady by the adder's clock; a clock that is behind does not take that back */
  insert(
    { debounce, once: _, blockedBy: __, ...record }: NewJobRecord,
    isReady: boolean,
    place: Pick<ModelJob, "seq" | "plannedIn"> = { seq: this.#seq++, plannedIn: null },
  ): void {
    if (this.#all.has(record.id)) {
      this.#history.violate(`job ${record.id} was added twice`);
      return;
    }
    const job: ModelJob = {
      record: { ...record },
      ...place,
      addedAtMs: this.#history.nowMs,
      waitsSinceMs: this.#history.nowMs,
      hasLostKey: false,
      lease: null,
      isReady,
      readySince: this.#commits,
      putBackBy: null,
      debounce: debounce === undefined ? null : { key: debounce.key, createdAt: record.createdAt, id: record.id },
      outcome: null,
      result: null,
    };
    const { taskId, idempotencyKey } = record;
    const before = idempotencyKey === null ? undefined : this.#holderOf(taskId, idempotencyKey);
    if (before !== undefined) before.hasLostKey = true;
    this.#all.set(record.id, job);
    this.#unfinished.set(record.id, job);
  }

  onAdd(jobs: readonly NewJobRecord[], report: readonly JobAddition[]): void {
    const added: NewJobRecord[] = [];
    const standIns = new Map<string, string>();
    jobs.forEach((record, index) => {
      const addition = report[index];
      if (addition?.isOutdated === true) {
        this.#checkOutdated(record);
        return;
      }
      this.#forgetExpired(record);
      const isRepeated = this.#all.has(record.id);
      const standIn = isRepeated ? null : this.#standInFor(record, addition);
      const expected = standIn?.record.id ?? record.id;
      standIns.set(record.id, expected);
      if (addition?.job.id !== expected || addition.isNew !== (standIn === null)) {
        this.#history.violate(`adding job ${record.id} answered ${addition?.job.id}, not ${expected}`);
      }
      if (standIn !== null && addition?.hasEnded === true && this.#unfinished.has(expected)) {
        this.#history.violate(`job ${expected}, which stands for job ${record.id}, is said to have ended`);
      }
      if (standIn !== null || isRepeated) return;
      this.windows.open(record);
      this.insert(record, record.runAt <= record.createdAt);
      added.push(record);
    });
    // A job may wait for one that comes after it in the call.
    for (const record of added) this.#link(record, standIns);
    jobs.forEach(({ id }, index) => {
      const isBlocked = report[index]?.job.id === id && this.#links.isBlocked(id);
      if (isBlocked && report[index]?.job.blockedBy !== "parents") {
        this.#history.violate(`job ${id} waits for others, and its addition answered ${report[index]?.job.blockedBy}`);
      }
    });
  }

  /** Additions on their own, in a commit of their own. */
  onAddAlone(jobs: readonly NewJobRecord[], report: readonly JobAddition[]): void {
    this.#begin([], Math.max(...jobs.map(({ createdAt }) => createdAt)));
    this.onAdd(jobs, report);
    this.#settle();
  }

  /** A job whose result is gone may be retried under the same id again: by a host with another clock, for instance, while
   *  the result of the job that it repeats is kept. A repetition of the same addition has the same `createdAt`. */
  #forgetExpired({ id, retryOf, createdAt }: NewJobRecord): void {
    const before = this.#all.get(id);
    if (retryOf === undefined || before === undefined || before.record.createdAt === createdAt) return;
    if (!this.#withoutResult.has(id)) return;
    this.#history.count("retried again");
    this.#all.delete(id);
    this.#withoutResult.delete(id);
    this.#attempts.forget(id);
  }

  /** A job was not added, because the job that it repeats is said to have no result any more. */
  #checkOutdated({ id, retryOf = "", createdAt }: NewJobRecord): void {
    const isGone = (job: ModelJob | undefined): boolean =>
      job !== undefined && !this.#unfinished.has(job.record.id) && this.#mayBeGone(job, createdAt);
    const itself = this.#all.get(id);
    if (isGone(this.#all.get(retryOf)) && (itself === undefined || isGone(itself))) this.#history.count("outdated");
    else this.#history.violate(`job ${id} was not added, because job ${retryOf} is said to have no result`);
  }

  /** Whether somebody may have removed the result of a job that has ended. @param now by the clock of who asks */
  #mayBeGone({ result }: ModelJob, now: number): boolean {
    return (result?.expiresAt ?? 0) <= Math.max(this.#gates.latestMs, now);
  }

  onCleanup(now: number): void {
    this.windows.onCleanup(now);
    for (const { record, outcome, result } of this.#all.values()) {
      if (outcome !== null && (result?.expiresAt ?? 0) <= now) this.#withoutResult.add(record.id);
    }
  }

  /** Whether the result of a job has expired, by the clock of who asks, of who kept it, or of a clean-up. */
  hasResultExpired(id: string, now: number): boolean {
    const { outcome = null, result = null } = this.#all.get(id) ?? {};
    return outcome !== null && (this.#withoutResult.has(id) || (result?.expiresAt ?? 0) <= now);
  }

  /** The store refused additions, which it may for the sake of parents alone. @param released jobs that the same commit
   *  releases: they may have ended first, and left nothing */
  onRefused(jobs: readonly NewJobRecord[], released: readonly string[]): void {
    const ids = new Set(jobs.map(({ id }) => id));
    const now = Math.max(...jobs.map(({ createdAt }) => createdAt));
    const isLost = (id: string): boolean => {
      if (ids.has(id)) return false;
      if (released.includes(id)) return true;
      const job = this.#all.get(id);
      if (job === undefined) return true;
      return !this.#unfinished.has(id) && this.#mayBeGone(job, now);
    };
    if (jobs.some(({ after }) => after?.some(isLost))) this.#history.count("refused parents");
    else this.#history.violate(`jobs [${[...ids]}] were refused, whose parents are known`);
  }

  /** The job that stands for an addition; null if it becomes a job of its own. */
  #standInFor(record: NewJobRecord, addition: JobAddition | undefined): ModelJob | null {
    const { taskId, idempotencyKey, createdAt } = record;
    const before = idempotencyKey === null ? undefined : this.#holderOf(taskId, idempotencyKey);
    const isOver = before !== undefined && hasMissedStart(before, createdAt);
    if (isOver) this.#history.count("keys of missed starts");
    const holder = (isOver ? undefined : before) ?? this.#rivalOf(record);
    const opener = this.windows.openerOf(record);
    if (opener !== null && (opener.isSure || addition?.job.id === opener.jobId)) {
      this.#history.count("windows kept");
      if (holder === undefined) this.windows.kept(record);
      // Where two stand for it, either may answer.
      if (holder === undefined || addition?.job.id === opener.jobId) return this.#all.get(opener.jobId) ?? null;
    }
    if (holder !== undefined) return holder;
    return this.#debounce(record);
  }

  /** What a clock put off that was ahead waits as long from this instant. */
  onTakenBack(instant: number): void {
    for (const { record, lease, isReady } of this.#unfinished.values()) {
      const { createdAt, runAt, attemptHistory } = record;
      if (lease !== null || isReady || runAt <= instant || this.#links.isBlocked(record.id)) continue;
      const putOffAt = Math.max(createdAt, attemptHistory?.at(-1)?.finishedAt ?? 0);
      if (putOffAt <= instant || runAt < putOffAt) continue;
      record.runAt = instant + runAt - putOffAt;
      this.#history.count("taken back");
    }
  }

  /** The job that an addition debounces, as it is then; null for none. */
  #debounce(record: NewJobRecord): ModelJob | null {
    const { debounce, taskId, createdAt } = record;
    if (debounce === undefined) return null;
    for (const job of this.#unfinished.values()) {
      if (job.record.taskId !== taskId || job.debounce?.key !== debounce.key) continue;
      this.#history.count("debounced");
      const { createdAt: lastAt, id: lastId } = job.debounce;
      // In one millisecond, the ids tell the order.
      const isEarlier = createdAt < lastAt || (createdAt === lastAt && record.id < lastId);
      // A clock that was far ahead made the last one.
      if (isEarlier && lastAt <= createdAt + CLOCK_TOLERANCE_MS) return job;
      if (isEarlier) this.#history.count("bursts of wrong clocks");
      job.record.createdAt = Math.min(job.record.createdAt, createdAt);
      const { payload, metadata, priority, startDeadline, resultExpirationMs, maxRecoveries, concurrencyKey } = record;
      Object.assign(job.record, { payload, metadata, priority, startDeadline, resultExpirationMs, maxRecoveries });
      if (concurrencyKey === undefined) delete job.record.concurrencyKey;
      else job.record.concurrencyKey = concurrencyKey;
      const latest = job.record.createdAt + (debounce.maxWaitMs ?? Number.POSITIVE_INFINITY);
      job.record.runAt = Math.min(record.runAt, latest);
      job.debounce = { key: debounce.key, createdAt, id: record.id };
      job.addedAtMs = this.#history.nowMs;
      job.waitsSinceMs = this.#history.nowMs;
      job.isReady = job.record.runAt <= createdAt;
      job.readySince = this.#commits;
      return job;
    }
    return null;
  }

  /** @param standIns the jobs that stand for those of the same call */
  #link({ id: ownId, after }: NewJobRecord, standIns: ReadonlyMap<string, string>): void {
    const job = this.#unfinished.get(ownId);
    if (job === undefined || after === undefined) return;
    const record = Object.assign(job.record, { after: after.map((id) => standIns.get(id) ?? id) });
    const mustEnd = this.#links.add(record, (id) => {
      const parent = this.#all.get(id);
      if (parent === undefined) this.#history.violate(`job ${record.id} was added after job ${id}, which never was`);
      return parent === undefined || this.#unfinished.has(id) ? null : parent.outcome === "success";
    });
    if (!mustEnd) return;
    this.#history.count("cancelled at once");
    this.#ends.possible.add(record.id);
    this.#end(job, "cancelled", this.#ends.told.get(record.id) ?? null);
  }

  /** What comes before the plans of a commit: outcomes, recovery, additions. */
  beforePlans(request: CommitRequest, report: CommitReport, caller: Caller): void {
    const { now, releases, recover } = request;
    this.#gates.sawClock(now);
    this.#begin(report.ended, now);
    const givenUp: ModelJob[] = [];
    releases.forEach((release, index) => {
      const job = this.#onRelease(release, report.releases[index], request, caller);
      if (job !== null) givenUp.push(job);
    });
    if (recover) for (const leaseEnd of request.leaseEnds ?? []) this.#moveLeases(leaseEnd, now, caller);
    const { commitId } = request;
    const isLost = (job: ModelJob): boolean => recover && (job.record.acquiredUntil ?? 0) <= now;
    this.#onRecovery(report, caller, { givenUp, commitId, isLost });
    if (request.endsMissed === true) this.#endMissed(caller);
    this.onAdd(request.additions, report.additions);
  }

  /** What comes after them: acquisition. */
  afterPlans(request: CommitRequest, report: CommitReport, caller: Caller): void {
    this.#settle();
    if (request.jobs !== null) this.#onAcquisition(request, report, caller);
    else if (report.acquired.length > 0) {
      this.#history.violate(`${caller.name} acquired jobs that it did not ask for`);
    }
  }

  /** An answer reached the scheduler that asked. */
  onAnswer(report: CommitReport): void {
    for (const { id, fence } of report.acquired) {
      const job = this.#unfinished.get(id);
      if (job?.lease != null && job.record.fence === fence) job.lease.isKnown = true;
    }
  }

  /** @param settledCommitId the last commit whose answer the caller had when it sent this */
  onExtend(
    extension: LeaseExtension,
    report: LeaseExtensionReport,
    caller: Caller,
    settledCommitId: string | null,
  ): void {
    const { now, schedulerId, until } = extension;
    this.#gates.sawClock(now);
    this.#commits++;
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
    // What goes without a heartbeat carries the progress of some jobs, and leaves the others to the next heartbeat.
    if (extension.aliveUntil === null) return;
    for (const { record, lease } of this.#unfinished.values()) {
      const isOwn =
        lease?.holder === caller && !lease.isOrphan && settledCommitId !== null && lease.commitId <= settledCommitId;
      if (isOwn && !extension.jobs.some(({ jobId }) => jobId === record.id) && (record.acquiredUntil ?? 0) > now) {
        this.#history.violate(`${caller.name} keeps the lease of job ${record.id}, which it does not run`);
      }
    }
  }

  /** What a commit of this run leased whose answer is known, and that is not named, runs nowhere. */
  #giveUpOrphan(
    job: ModelJob,
    { now, schedulerId, instanceId, settledCommitId }: LeaseExtension,
    caller: Caller,
  ): void {
    const { record, lease } = job;
    if (lease === null || lease.isOrphan || settledCommitId === null || record.acquiredBy !== schedulerId) return;
    if (lease.commitId > settledCommitId || !lease.commitId.startsWith(instanceId)) return;
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
      lease.isOrphan = true;
    } else this.#putBack(job, null, true);
  }

  onGiveUp(
    request: LeaseSurrender,
    report: RecoveryReport,
    caller: Caller,
    isSpared: (commitId: string) => boolean,
  ): void {
    const { schedulerId, instanceId } = request;
    this.#gates.sawClock(request.now);
    this.#begin(report.ended, request.now);
    this.#onRecovery(report, caller, {
      givenUp: [],
      commitId: null,
      isLost: ({ record, lease }) =>
        lease !== null &&
        record.acquiredBy === schedulerId &&
        (lease.isOrphan || (!lease.commitId.startsWith(instanceId) && !isSpared(lease.commitId))),
    });
    this.#settle();
  }

  onCancel(ids: readonly string[], now: number, report: CancelReport): void {
    this.#gates.sawClock(now);
    this.#begin(report.ended, now);
    for (const [place, id] of ids.entries()) {
      const job = this.#unfinished.get(id);
      const expected = job === undefined ? "missing" : job.lease === null ? "cancelled" : "requested";
      const answer = report.jobs[place];
      if (answer?.status !== expected) {
        this.#history.violate(`cancelling job ${id} answered ${answer?.status}, not ${expected}`);
      }
      if (job === undefined) continue;
      if (answer?.status === "cancelled") this.#end(job, answer.result.outcome, answer.result);
      else job.record.cancelRequested = true;
    }
    this.#settle();
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
    { now, commitId, isRepetition, releases }: CommitRequest,
    caller: Caller,
  ): ModelJob | null {
    const job = this.#unfinished.get(release.jobId);
    const isBlocked = job?.record.fence === release.fence && job.record.acquiredBy === caller.identity;
    const text = `${release.kind} of job ${release.jobId} with fence ${release.fence} by ${caller.name}`;
    this.#attempts.reported(caller, release);
    const isPutBack = release.kind === "retry" || release.kind === "giveUp";
    // A repetition tells of what an earlier try did for as long as that can be seen. That a job is gone can be seen by
    // its result alone, whoever ended it.
    const isDone = isRepetition && isPutBack && (job?.putBackBy === commitId || job?.lease?.commitId === commitId);
    const expected = isBlocked || isDone ? "released" : job === undefined ? "missing" : "fenced";
    const isResultSeen =
      isRepetition &&
      release.kind !== "start" &&
      job === undefined &&
      status === "released" &&
      this.#all.has(release.jobId);
    // Another release of the same commit, with a later fence, may have ended the job.
    const isGivenUp = releases.some(({ jobId, kind, fence }) => {
      return jobId === release.jobId && kind === "giveUp" && fence > release.fence;
    });
    const isEnded = expected === "fenced" && status === "missing" && isGivenUp;
    if (status !== expected && !isResultSeen && !isEnded) {
      this.#history.violate(`${text} was answered with ${status}, not ${expected}`);
    }
    if (job === undefined || !isBlocked || status !== "released") return null;
    this.#history.trace(caller.name, `${text}: ${status}`);
    this.#checkTruth(job, release, caller, now, text);
    if (release.kind === "finish") this.#end(job, release.result.outcome, release.result, release.result);
    else if (release.kind === "start") job.record.startedFence = job.record.fence;
    else if (job.record.cancelRequested) {
      if (release.attemptHistory !== undefined) job.record.attemptHistory = release.attemptHistory;
      return job;
    } else if (release.kind === "giveUp" && release.hasStarted === true) {
      job.record.startedFence = job.record.fence;
      return job;
    } else {
      if (release.kind === "retry") {
        job.record.runAt = release.runAt;
        job.record.failedAttempts = release.failedAttempts;
        if (release.attemptHistory !== undefined) job.record.attemptHistory = release.attemptHistory;
      }
      this.#putBack(job, commitId, release.kind === "giveUp" || job.record.runAt <= now);
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
    const mayRetry = failures < (task?.retry.maxAttempts ?? 1) && !isForGood;
    if (release.kind === "retry") {
      const { backoff } = task?.retry ?? {};
      const pauseMax =
        backoff === undefined ? 0 : Math.min(backoff.maxMs, backoff.initialMs * backoff.factor ** (failures - 1));
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
      // No handler here skips a run.
      skipped: false,
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

  #onRecovery(report: RecoveryReport, caller: Caller, { givenUp, commitId, isLost }: Losses): void {
    const lost = [...this.#unfinished.values()].filter(
      (job) => job.lease !== null && isLost(job) && !givenUp.includes(job),
    );
    const all = [...givenUp, ...lost];
    const mayGoBack = all.filter(
      ({ record }) => !record.cancelRequested && (record.recoveries < record.maxRecoveries || !mayHaveStarted(record)),
    );
    const mustEnd = all.filter((job) => !mayGoBack.includes(job));
    this.#same("jobs recovered", idsOf(mayGoBack), report.recovered.map(({ jobId }) => jobId).sort());
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
      this.#putBack(job, givenUp.includes(job) ? commitId : null, true);
    }
    for (const job of mustEnd) {
      const { id, cancelRequested } = job.record;
      const expected = cancelRequested ? "cancelled" : "abandoned";
      this.#ends.due.push(id);
      const result = this.#ends.told.get(id) ?? null;
      if (result !== null && result.outcome !== expected) {
        this.#history.violate(`job ${id} ended as ${result.outcome}, not ${expected}`);
      }
      this.#history.count(expected);
      this.#end(job, expected, result);
    }
  }

  // ---- missed starts

  /** Jobs that have missed their start end. No run has so many that a commit leaves some. */
  #endMissed(caller: Caller): void {
    const missed = new Set([...this.#unfinished.values()].filter((job) => hasMissedStart(job, this.#now)));
    // Those after it first: the end of a job cancels none that has missed its own start.
    const endAfter = (id: string): void => {
      for (const job of this.#unfinished.values()) {
        if (job.record.after?.includes(id) !== true) continue;
        endAfter(job.record.id);
        if (missed.has(job)) end(job);
      }
    };
    const end = (job: ModelJob): void => {
      const { id } = job.record;
      endAfter(id);
      missed.delete(job);
      this.#history.count("missed starts");
      this.#history.trace(caller.name, `ends job ${id}, which missed its start`);
      this.#ends.due.push(id);
      const result = this.#ends.told.get(id) ?? null;
      if (result !== null && result.outcome !== "missedStartDeadline") {
        this.#history.violate(`job ${id} ended as ${result.outcome}, and missed its start`);
      }
      this.#end(job, "missedStartDeadline", result);
    };
    for (const job of missed) if (missed.has(job)) end(job);
  }

  /** Since when a job waits that has missed its start, in epoch milliseconds; null for none. */
  get missedSince(): number | null {
    let since: number | null = null;
    for (const { record, lease, waitsSinceMs } of this.#unfinished.values()) {
      if (lease !== null || !mayMissStart(record)) continue;
      const at = Math.max(waitsSinceMs, (record.startDeadline ?? 0) + 1);
      since = Math.min(since ?? at, at);
    }
    return since;
  }

  #moveLeases({ instanceId, until }: LeaseEnd, now: number, caller: Caller): void {
    for (const { record, lease } of this.#unfinished.values()) {
      if (lease === null || lease.isOrphan || !lease.commitId.startsWith(instanceId)) continue;
      if ((record.acquiredUntil ?? 0) > now !== until <= now) continue;
      this.#history.count(until > now ? "leases spared" : "leases ended");
      this.#history.trace(caller.name, `the lease of job ${record.id} on ${lease.holder.name} ends at ${until}`);
      record.acquiredUntil = until;
    }
  }

  /** A lease is lost for a reason, and a process that got an answer since knows what it holds. */
  #checkLoss({ record, lease }: ModelJob, caller: Caller): void {
    if (lease === null || !lease.holder.isAlive) return;
    const { holder, takenAtMs } = lease;
    const text = `the lease of job ${record.id} with fence ${record.fence} on ${holder.name}`;
    const { nowMs } = this.#history;
    const beatMs = holder.leaseMs / 3;
    const isBeating = holder.isResident && !holder.isBeatStale && nowMs - holder.lastBeatMs < beatMs;
    if (
      isBeating &&
      holder !== caller &&
      !lease.isOrphan &&
      caller.isResident &&
      caller.lastTroubleMs < nowMs - 2 * beatMs
    ) {
      this.#history.violate(`${text} was lost to ${caller.name} while it gives heartbeats`);
    }
    const isCalm = Math.max(holder.lastTroubleMs, caller.lastTroubleMs) < takenAtMs;
    if (isCalm && holder.offsetMs === caller.offsetMs && !holder.hasHiddenStandstill) {
      this.#history.violate(`${text} was lost though nothing happened to it`);
    }
  }

  // ---- acquisition

  #onAcquisition(request: CommitRequest, report: CommitReport, caller: Caller): void {
    const { now, commitId, jobs: room } = request;
    if (room === null) return;
    const blocked: ModelJob[] = [];
    let isBlocked = false;
    for (const job of this.#unfinished.values()) {
      if (job.lease === null) continue;
      const { isOrphan, commitId: by } = job.lease;
      // One that was given up is no commit's any more.
      if (by === commitId && !isOrphan && job.record.acquiredBy === caller.identity) blocked.push(job);
      // Nothing while a lease waits for recovery: the lost job may have to come first.
      if ((job.record.acquiredUntil ?? 0) <= now) isBlocked = true;
    }
    const running = this.#running();
    for (const [taskId, left] of running.slots) {
      if (left < 0) this.#history.violate(`task ${taskId} is beyond maxRunningJobs`);
    }
    if (!isBlocked) this.#admit(now);
    blocked.sort((a, b) => (a.lease?.order ?? 0) - (b.lease?.order ?? 0));
    const blockedIds = new Set(blocked.map(({ record }) => record.id));
    const fresh = report.acquired.filter(({ id }) => !blockedIds.has(id));
    const repeated = report.acquired.filter(({ id }) => blockedIds.has(id));
    // A repetition need not tell of a lease that has ended meanwhile.
    const live = idsOf(blocked.filter(({ record }) => (record.acquiredUntil ?? 0) > now));
    const told = repeated.map(({ id }) => id).filter((id) => live.includes(id));
    this.#same(`jobs that ${caller.name} holds already`, live, told.sort());
    if (isBlocked && fresh.length > 0)
      this.#history.violate(`${caller.name} acquires while a lease waits for recovery`);
    if (blocked.length + fresh.length > Math.max(room.limit, blocked.length)) {
      this.#history.violate(`${caller.name} acquired ${report.acquired.length} jobs, and asked for ${room.limit}`);
    }
    for (const record of repeated) {
      this.#onAcquired(record, request, true, caller);
      const gate = this.#gates.gateOf(record);
      const isOfKey = (other: JobRecord): boolean => this.#gates.gateOf(other) === gate;
      if (gate !== null) this.#gates.takeAgain(record, gate, repeated.filter(isOfKey).length, now);
    }
    const left = leftOf(room, repeated);
    const isMine = isOneOf(room, left);
    let last: ModelJob | null = null;
    for (const record of fresh) {
      const job = this.#unfinished.get(record.id);
      if (job !== undefined) {
        this.#checkTurn(job, last, isMine, running, now, caller);
        if (!this.#gates.isFair(job.record)) last = job;
      }
      this.#onAcquired(record, request, false, caller);
      if (job !== undefined) this.#count(job, running);
      left.set(record.executor, (left.get(record.executor) ?? Number.POSITIVE_INFINITY) - 1);
    }
    if (isBlocked || report.acquired.length >= room.limit) return;
    for (const job of this.#unfinished.values()) {
      if (this.#isWaiting(job)) this.#gates.clampBucket(this.#gates.gateOf(job.record), now);
    }
    const next = this.#next(isMine, running, now);
    if (next !== null)
      this.#history.violate(`${caller.name} leaves job ${next.record.id}, which it could have acquired`);
  }

  /** Whether a job may be acquired, and now. */
  #checkTurn(
    job: ModelJob,
    last: ModelJob | null,
    isMine: (job: ModelJob) => boolean,
    running: Running,
    now: number,
    caller: Caller,
  ): void {
    const { record } = job;
    const gate = this.#gates.gateOf(record);
    const text = `${caller.name} acquires job ${record.id}`;
    if (job.lease !== null) this.#history.violate(`${text}, which is leased`);
    // A commit that comes late acquires what became due by the clock of a commit before it.
    const isDue = job.isReady || job.record.runAt <= this.#latest;
    if (!isDue || !isMine(job)) this.#history.violate(`${text}, which is not due there`);
    if (this.#links.isBlocked(record.id)) this.#history.violate(`${text}, whose parents have not ended`);
    if (this.#slotsOf(record.taskId, running.slots) <= 0) this.#history.violate(`${text}, whose task is at its limit`);
    const reason = this.#gates.whyNot(record, gate, running.byGate.get(gate ?? "") ?? 0, now);
    if (reason !== null) this.#history.violate(`${text}, which ${reason}`);
    if (last !== null && !this.#gates.isFair(record) && byRank(last, job) > 0) {
      this.#history.violate(`${text} after job ${last.record.id}, which it comes before`);
    }
    if (gate === null) {
      const first = this.#firstPlain(isMine, running, now);
      if (first !== null && byRank(first, job) < 0)
        this.#history.violate(`${text}, and job ${first.record.id} comes before it`);
      return;
    }
    this.#history.count("acquired by key");
    this.#checkOrderInKey(job, gate, isMine, text);
    if (this.#gates.isFair(record)) {
      const waiting = this.#waitingKeys(job, running, now);
      this.#turns.onAcquired(gate, record.taskId, waiting);
    }
  }

  /** Blocked jobs of one key are admitted in their order, so that a later one comes first only if it was admitted before
   *  the earlier one was due, or came back from a lost lease, and no less urgent. A commit that acquires nothing may
   *  admit, too. */
  #checkOrderInKey(job: ModelJob, gate: string, isMine: (job: ModelJob) => boolean, text: string): void {
    for (const other of this.#unfinished.values()) {
      if (other === job || !this.#isWaiting(other) || this.#gates.gateOf(other.record) !== gate) continue;
      const isMoreUrgent = other.record.priority > job.record.priority && isMine(other);
      const waitsLonger = other.readySince <= job.readySince && other.waitsSinceMs <= job.record.runAt;
      if (isMoreUrgent || (byRank(other, job) < 0 && waitsLonger)) {
        this.#history.violate(`${text}, and job ${other.record.id} of its key comes before it`);
      }
    }
  }

  /** The keys of a job's task that have waited for their turn since an earlier commit, with jobs as urgent. */
  #waitingKeys({ record }: ModelJob, running: Running, now: number): ReadonlySet<string> {
    const gates = new Set<string>();
    for (const other of this.#unfinished.values()) {
      if (other.record.taskId !== record.taskId || !this.#isWaiting(other)) continue;
      const gate = this.#gates.gateOf(other.record);
      if (other.record.priority < record.priority || other.readySince >= this.#began) continue;
      if (gate === null || !this.#gates.isOpen(other.record, gate, running.byGate.get(gate) ?? 0, now)) continue;
      gates.add(gate);
    }
    return gates;
  }

  /** The job without a gate that comes first. */
  #firstPlain(isMine: (job: ModelJob) => boolean, { slots }: Running, now: number): ModelJob | null {
    let first: ModelJob | null = null;
    for (const job of this.#unfinished.values()) {
      if (!this.#isDue(job, now) || !isMine(job) || this.#gates.gateOf(job.record) !== null) continue;
      if (this.#gates.isPaused(job.record) || this.#slotsOf(job.record.taskId, slots) <= 0) continue;
      if (first === null || byRank(job, first) < 0) first = job;
    }
    return first;
  }

  /** A job that could be acquired, if there is one. */
  #next(isMine: (job: ModelJob) => boolean, { slots, byGate }: Running, now: number): ModelJob | null {
    for (const job of this.#unfinished.values()) {
      if (!this.#isDue(job, now) || !isMine(job) || this.#slotsOf(job.record.taskId, slots) <= 0) continue;
      const gate = this.#gates.gateOf(job.record);
      if (this.#gates.isOpen(job.record, gate, byGate.get(gate ?? "") ?? 0, now)) return job;
    }
    return null;
  }

  /** Whether a job waits, and is due by the caller's clock. Another clock may have said that the job is due; whether that
   *  counts here is up to the store. */
  #isDue(job: ModelJob, now: number): boolean {
    return job.record.runAt <= now && this.#isWaiting(job);
  }

  #isWaiting({ record, lease, isReady }: ModelJob): boolean {
    return lease === null && isReady && !this.#links.isBlocked(record.id);
  }

  #onAcquired(record: JobRecord, { commitId, until, now }: CommitRequest, isRepeated: boolean, caller: Caller): void {
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
    const { payload, runAt } = job.record;
    if (record.payload !== payload || record.runAt !== runAt) {
      this.#history.violate(`job ${record.id} has ${record.payload} at ${record.runAt}, not ${payload} at ${runAt}`);
    }
    if (record.blockedBy !== undefined) this.#history.violate(`job ${record.id} was acquired and is blocked`);
    if (isRepeated) return;
    const place = this.#gates.gateOf(job.record) ?? record.taskId;
    this.#history.trace(caller.name, `acquires job ${record.id} of ${place} with fence ${record.fence}`);
    job.isReady = false;
    job.debounce = null;
    const gate = this.#gates.gateOf(job.record);
    if (gate !== null) this.#gates.take(job.record, gate, now);
    job.record.fence = fence;
    job.record.acquiredBy = caller.identity;
    job.record.acquiredUntil = until;
    job.putBackBy = null;
    job.lease = {
      holder: caller,
      commitId,
      order: this.#leaseCount++,
      takenAtMs: this.#history.nowMs,
      extendedAtMs: this.#history.nowMs,
      isKnown: false,
      isOrphan: false,
    };
  }

  #slotsOf(taskId: string, slots: ReadonlyMap<string, number>): number {
    return slots.get(taskId) ?? this.#tasks.get(taskId)?.maxRunningJobs ?? Number.POSITIVE_INFINITY;
  }

  /** How many more jobs of each task may run that is limited or runs, and how many of each key run. */
  #running(): Running {
    const running: Running = { slots: new Map(), byGate: new Map() };
    for (const job of this.#unfinished.values()) if (job.lease !== null) this.#count(job, running);
    return running;
  }

  #count({ record }: ModelJob, { slots, byGate }: Running): void {
    slots.set(record.taskId, this.#slotsOf(record.taskId, slots) - 1);
    const gate = this.#gates.gateOf(record);
    if (gate !== null) byGate.set(gate, (byGate.get(gate) ?? 0) + 1);
  }

  /** What a look, or the look at the end of a commit, shows of the jobs. */
  checkSeen({ now, jobs: room }: View, seen: Seen & Partial<CommitReport>, caller: Caller): void {
    this.#gates.sawClock(now);
    let nextRunAt = Number.POSITIVE_INFINITY;
    let mustRunAt = Number.POSITIVE_INFINITY;
    // Another clock may have said that a job is due; whether that counts here is up to the store.
    let mayRunAt = Number.POSITIVE_INFINITY;
    let nextMissAt: number | null = null;
    let leaseEndsAt: number | null = null;
    let tokenAt = Number.POSITIVE_INFINITY;
    let mayHaveReady = false;
    let next: ModelJob | null = null;
    if (room !== null) {
      this.#admit(now);
      const running = this.#running();
      const isMine = isOneOf(room, leftOf(room, seen.acquired ?? []));
      next = this.#next(isMine, running, now);
      for (const job of this.#unfinished.values()) {
        const { record, lease, isReady } = job;
        const gate = this.#gates.gateOf(record);
        if (lease === null && mayMissStart(record)) {
          nextMissAt = Math.min(nextMissAt ?? Number.POSITIVE_INFINITY, (record.startDeadline ?? 0) + 1);
        }
        if (lease !== null) {
          leaseEndsAt = Math.min(leaseEndsAt ?? Number.POSITIVE_INFINITY, record.acquiredUntil ?? 0);
          // Until the lease is recovered, the answer means nothing (rule V8).
          if ((record.acquiredUntil ?? 0) <= now) mayHaveReady = true;
        } else if (!isReady && !this.#links.isBlocked(record.id)) {
          nextRunAt = Math.min(nextRunAt, record.runAt);
          // Any commit may have found a job that is due by its clock.
          if (record.runAt > this.#gates.latestMs) mustRunAt = Math.min(mustRunAt, record.runAt);
        }
        if (lease === null && record.runAt > now) mayRunAt = Math.min(mayRunAt, record.runAt);
        if (!this.#isWaiting(job)) continue;
        const count = running.byGate.get(gate ?? "") ?? 0;
        // Blocked jobs may be admitted by whoever looks, and be acquired by others.
        const isReachable = gate !== null || (isMine(job) && this.#slotsOf(record.taskId, running.slots) > 0);
        if (isReachable && this.#gates.whyNot(record, gate, count, now) === null) mayHaveReady = true;
        if (gate === null || !this.#gates.isRated(record)) continue;
        // The end of another job wakes those whose task is at its limit.
        const isFull = this.#slotsOf(record.taskId, running.slots) <= 0;
        // Who can run the job sees it when it is due; a store may leave it to that one to find out that it needs a token.
        if (isMine(job) && !isFull && this.#gates.lacksToken(record, gate, count, now)) {
          tokenAt = Math.min(tokenAt, this.#gates.tokenAt(record, gate));
        }
      }
    }
    // A look may leave it to the next commit to find out whether a limiter admits a job, of which the last one may have
    // been cancelled.
    const isLook = seen.acquired === undefined;
    if (isLook && [...this.#all.values()].some(({ record }) => this.#gates.gateOf(record) !== null)) {
      mayHaveReady = true;
    }
    if (seen.nextMissAt !== nextMissAt) {
      this.#history.violate(
        `${caller.name} is told that a start is missed at ${seen.nextMissAt}, not at ${nextMissAt}`,
      );
    }
    if (seen.leaseEndsAt !== leaseEndsAt) {
      this.#history.violate(`${caller.name} is told that a lease ends at ${seen.leaseEndsAt}, not at ${leaseEndsAt}`);
    }
    const seenRunAt = seen.nextRunAt ?? Number.POSITIVE_INFINITY;
    // An earlier instant than needed costs a look, and nothing else.
    // Where jobs are ready, the store is asked again before that.
    const mustBe = seen.hasReady ? mustRunAt : Math.min(mustRunAt, tokenAt);
    if (seenRunAt > mustBe || (seenRunAt < Math.min(nextRunAt, mayRunAt) && !this.#gates.hasBuckets)) {
      this.#history.violate(
        `${caller.name} is told that a job comes at ${seen.nextRunAt}, not at ${nextRunAt} or with a token at ${tokenAt}`,
      );
    }
    const isRight = seen.hasReady ? mayHaveReady || next !== null : next === null;
    if (!isRight) {
      this.#history.violate(
        `${caller.name} is told that jobs are ${seen.hasReady ? "" : "not "}ready: ${next?.record.id}`,
      );
    }
  }

  /** Whether a handler of a job may run as far as its parents are concerned. */
  checkParents({ id, after = [], onParentFailure }: JobRecord): void {
    for (const parentId of after) {
      const outcome = this.#all.get(parentId)?.outcome ?? null;
      if (outcome === null) this.#history.violate(`job ${id} runs before job ${parentId} has ended`);
      else if (outcome !== "success" && onParentFailure !== "run") {
        this.#history.violate(`job ${id} runs though job ${parentId} ended as ${outcome}`);
      }
    }
  }

  // ---- helpers

  /** The unfinished job of the same fire time. */
  #rivalOf({ scheduleId, fireTime }: JobRecord): ModelJob | undefined {
    if (scheduleId === null || fireTime === null) return undefined;
    for (const job of this.#unfinished.values()) {
      if (job.record.scheduleId === scheduleId && job.record.fireTime === fireTime) return job;
    }
    return undefined;
  }

  #holderOf(taskId: string, idempotencyKey: string): ModelJob | undefined {
    for (const job of this.#unfinished.values()) {
      const { record, hasLostKey } = job;
      if (record.taskId === taskId && record.idempotencyKey === idempotencyKey && !hasLostKey) return job;
    }
    return undefined;
  }

  /** Ends a job. @param told how its last attempt ended, for one that was run; null for one that the store ends */
  #end(job: ModelJob, outcome: JobOutcome, result: JobResultRecord | null, told: JobResultRecord | null = null): void {
    const { record, lease } = job;
    this.#books.onEnded(record, {
      outcome,
      startedAt: told?.startedAt ?? null,
      finishedAt: told?.finishedAt ?? this.#now,
      attempts: told?.attempts ?? record.failedAttempts + record.recoveries + (lease === null ? 0 : 1),
      isKeyed: this.#gates.gateOf(record) !== null,
    });
    this.#stats.onEnded(record, outcome, told);
    this.#endAs(job, outcome, result);
  }

  /** Ends a job, and does what that does to those that wait for it. */
  #endAs(job: ModelJob, outcome: JobOutcome, result: JobResultRecord | null): void {
    const { id } = job.record;
    this.#history.trace("store", `job ${id} ended: ${outcome}`);
    const gate = this.#gates.gateOf(job.record);
    if (gate !== null && job.isReady && job.lease === null) this.#turns.onTurnLost(gate);
    this.#endLease(job);
    this.#unfinished.delete(id);
    job.outcome = outcome;
    job.result = result;
    if ((result?.expiresAt ?? 0) <= this.#now) this.#withoutResult.add(id);
    const { cancelled, freed } = this.#links.onEnd(id, outcome === "success");
    for (const childId of freed) {
      const child = this.#unfinished.get(childId);
      this.#history.count("freed by parents");
      if (child === undefined) continue;
      child.readySince = this.#commits;
      child.isReady = child.record.runAt <= this.#now;
    }
    for (const childId of cancelled) {
      const child = this.#unfinished.get(childId);
      if (child === undefined) continue;
      this.#history.count("cancelled by parents");
      const told = this.#ends.told.get(childId) ?? null;
      if (told !== null && told.outcome !== "cancelled") {
        this.#history.violate(`job ${childId}, whose parent failed, ended as ${told.outcome}`);
      }
      // Whoever adds is not told what else ended.
      if (!this.#ends.possible.has(id)) this.#ends.due.push(childId);
      else this.#ends.possible.add(childId);
      this.#end(child, "cancelled", told);
    }
  }

  /** A commit begins. @param told the results that its answer tells of */
  #begin(told: readonly JobResultRecord[], now: number): void {
    this.#began = ++this.#commits;
    this.#now = now;
    this.#latest = Math.max(this.#latest, now);
    this.#ends = { told: new Map(told.map((result) => [result.jobId, result])), due: [], possible: new Set() };
  }

  /** A commit is over. */
  #settle(): void {
    const { told, due, possible } = this.#ends;
    const others = [...told.keys()].filter((id) => !possible.has(id));
    this.#same("jobs that ended", due.sort(), others.sort());
    this.#ends = NO_ENDS;
  }

  #admit(now: number): void {
    this.#commits++;
    for (const job of this.#unfinished.values()) {
      if (job.lease !== null || job.isReady || job.record.runAt > now || this.#links.isBlocked(job.record.id)) continue;
      job.isReady = true;
      job.readySince = this.#commits;
    }
  }

  #putBack(job: ModelJob, commitId: string | null, isReady: boolean): void {
    this.#endLease(job);
    const gate = this.#gates.gateOf(job.record);
    if (gate !== null) this.#turns.onTurnLost(gate);
    job.waitsSinceMs = this.#history.nowMs;
    job.isReady = isReady;
    job.readySince = this.#commits;
    job.putBackBy = commitId;
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

/** What runs. */
interface Running {
  /** How many more jobs may run, by task. */
  readonly slots: Map<string, number>;
  readonly byGate: Map<string, number>;
}

/** Whether a job is of these queues, and its executor has room left. */
function isOneOf({ queues }: JobCapacity, left: ReadonlyMap<string, number>): (job: ModelJob) => boolean {
  const names = new Set(queues.map(({ executor, taskId }) => `${executor} ${taskId}`));
  return ({ record: { executor, taskId } }) =>
    names.has(`${executor} ${taskId}`) && (left.get(executor) ?? Number.POSITIVE_INFINITY) > 0;
}

/** How many more jobs a commit may acquire, by executor with a bound. */
function leftOf({ bounds = new Map() }: JobCapacity, acquired: readonly JobRecord[]): Map<string, number> {
  const left = new Map(bounds);
  for (const { executor } of acquired) left.set(executor, (left.get(executor) ?? Number.POSITIVE_INFINITY) - 1);
  return left;
}

/** A job that was lost before starts only after the store was told so. */
function mayHaveStarted({ recoveries, startedFence, fence }: JobRecord): boolean {
  return recoveries === 0 || startedFence === fence;
}

/** Whether a job without a lease has a deadline by which it is to start. */
function mayMissStart({ startDeadline, failedAttempts, startedFence }: JobRecord): boolean {
  return startDeadline !== null && failedAttempts === 0 && startedFence === 0;
}

/** Whether a job waits that will not start any more. */
function hasMissedStart({ record, lease }: ModelJob, now: number): boolean {
  return lease === null && mayMissStart(record) && now > (record.startDeadline ?? 0);
}

function numbersOf(attempts: JobRecord["attemptHistory"]): string {
  return `[${(attempts ?? []).map(({ number }) => number)}]`;
}

function idsOf(jobs: readonly ModelJob[]): string[] {
  return jobs.map(({ record }) => record.id).sort();
}

function byRank(a: ModelJob, b: ModelJob): number {
  const byTime = b.record.priority - a.record.priority || a.record.runAt - b.record.runAt;
  // The jobs of different plans of a commit come in any order.
  const isAnyOrder = a.plannedIn !== null && a.plannedIn === b.plannedIn && a.record.scheduleId !== b.record.scheduleId;
  return byTime || (isAnyOrder ? 0 : a.seq - b.seq);
}
