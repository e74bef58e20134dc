import { Heap } from "../../core/heap.ts";
import { OVERLAP_JOBS_PER_PLAN_MAX } from "../../core/limits.ts";
import { type JobRecord, NEVER_RUN } from "../../records/job.ts";
import { type JobResultRecord, withKeptFacts } from "../../records/job-result.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { TaskRecord } from "../../records/task.ts";
import type {
  CancelReport,
  JobAddition,
  JobFilter,
  JobRelease,
  LeaseExtension,
  LeaseExtensionReport,
  LeaseSurrender,
  OverlapReport,
  PlannedJob,
  PlannedOverlap,
  PromotedJob,
  RecordPage,
  RecoveredJob,
  RecoveryReport,
  ReleaseStatus,
  Seen,
  StepRequest,
  StoreInspection,
  TaskPause,
  TaskPauseRequest,
  View,
} from "../data-store.ts";
import { endedWithoutRun } from "../ended-without-run.ts";
import { isHeld, MemoryGates, recordOf } from "./gates.ts";
import { JobsOfSchedules } from "./jobs-of-schedules.ts";
import { countIn, type JobEntry, MemoryQueues, moveTo } from "./queues.ts";
import type { MemoryResults } from "./results.ts";
import { Steps } from "./steps.ts";
import { frozenCopy, type Mutable, pageOf } from "./tables.ts";

/** A `RecoveryReport` that is still being written. */
export interface RecoveryNotes {
  readonly recovered: RecoveredJob[];
  readonly ended: JobResultRecord[];
}

/** What {@link MemoryJobs.see} returns. */
type SeenJobs = Pick<Seen, "nextRunAt" | "leaseEndsAt" | "hasReady">;

const NOTHING_SEEN: SeenJobs = Object.freeze({ nextRunAt: null, leaseEndsAt: null, hasReady: false });

/**
 * The unfinished jobs of a `MemoryDataStore`. Each job is in exactly one heap: a waiting job in a heap of
 * {@link MemoryQueues} or of its gate, a leased job in the heap of the leases, by the end of its lease. So a step reads
 * no more jobs than it moves.
 */
export class MemoryJobs {
  readonly #byId = new Map<string, JobEntry>();
  readonly #byKey = new Map<string, JobEntry>();
  readonly #byFireTime = new Map<string, JobEntry>();
  readonly #countByTask = new Map<string, number>();
  readonly #bySchedule = new JobsOfSchedules();
  readonly #gates = new MemoryGates();
  readonly #queues: MemoryQueues;
  readonly #leased = new Heap<JobEntry>((a, b) => (a.record.acquiredUntil ?? 0) < (b.record.acquiredUntil ?? 0));
  readonly #steps = new Steps<JobEntry>();
  readonly #results: MemoryResults;
  #seq = 0;

  constructor(results: MemoryResults, maxRunningJobs: (taskId: string) => number | null) {
    this.#results = results;
    this.#queues = new MemoryQueues(maxRunningJobs, this.#gates);
  }

  isTaskInUse(taskId: string): boolean {
    return this.#countByTask.has(taskId);
  }

  /** Heeds the settings of a task that was put. */
  configureTask(task: TaskRecord): void {
    if (this.#gates.configure(task.id, task)) this.#admitAnew(task.id, null);
  }

  /** Forgets the settings of a task that no job uses. */
  removeTask(taskId: string): void {
    this.#gates.removeTask(taskId);
  }

  pauseTask(request: TaskPauseRequest): void {
    this.#gates.pause(request, request.paused);
    if (request.paused) this.#admitAnew(request.taskId, request.key);
  }

  get taskPauses(): TaskPause[] {
    return this.#gates.pauses();
  }

  hasJobsOf(scheduleId: string): boolean {
    return this.#bySchedule.has(scheduleId);
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** @param metadata a frozen copy of the job's metadata. The caller makes the copy before the first change, because
   *  reading the metadata may throw */
  add(job: JobRecord, metadata: JobRecord["metadata"]): JobAddition {
    if (this.#byId.has(job.id) || this.#results.hasEnded(job.id)) return { job, isNew: true };
    const existing =
      (job.idempotencyKey === null ? undefined : this.#byKey.get(idempotencyOf(job.idempotencyKey, job.taskId))) ??
      (job.scheduleId === null || job.fireTime === null
        ? undefined
        : this.#byFireTime.get(fireKey(job.fireTime, job.scheduleId)));
    if (existing !== undefined) return { job: recordOf(existing), isNew: false };
    // The store keeps a copy, so that the caller's record itself may be returned.
    const record: Mutable<JobRecord> = { ...job, metadata };
    if (record.heldBy !== undefined) delete record.heldBy;
    this.#insert(record, job.runAt <= job.createdAt);
    return { job, isNew: true };
  }

  /** Tells in the answers which jobs are held, when all else is done. */
  withHolds(additions: JobAddition[]): JobAddition[] {
    if (this.#gates.isEmpty && additions.every(({ job }) => job.heldBy === undefined)) return additions;
    return additions.map((addition) => {
      const { job } = addition;
      const entry = this.#byId.get(job.id);
      const heldBy = entry !== undefined && isHeld(entry) ? "limit" : undefined;
      if (job.heldBy === heldBy) return addition;
      const { heldBy: _, ...rest } = job;
      return { ...addition, job: heldBy === undefined ? rest : { ...rest, heldBy } };
    });
  }

  /** Adds the job of a schedule's fire, unless an unfinished job has the fire time or the id. Returns whether it
   *  did. */
  addOfSchedule(schedule: ScheduleRecord, fire: PlannedJob): boolean {
    if (this.#byId.has(fire.jobId) || this.#byFireTime.has(fireKey(fire.fireTime, schedule.id))) return false;
    const record: Mutable<JobRecord> = {
      id: fire.jobId,
      taskId: schedule.taskId,
      scheduleId: schedule.id,
      executor: schedule.executor,
      payload: schedule.payload,
      priority: schedule.priority,
      runAt: fire.runAt,
      createdAt: fire.createdAt,
      fireTime: fire.fireTime,
      scheduledFireTime: fire.scheduledFireTime,
      startDeadline: fire.startDeadline,
      missedCount: fire.missedCount,
      firstMissedTime: fire.firstMissedTime,
      lastMissedTime: fire.lastMissedTime,
      resultExpirationMs: schedule.resultExpirationMs,
      maxRecoveries: schedule.maxRecoveries,
      metadata: schedule.metadata,
      idempotencyKey: null,
      ...NEVER_RUN,
    };
    if (schedule.concurrencyKey !== undefined) record.concurrencyKey = schedule.concurrencyKey;
    this.#insert(record, fire.runAt <= fire.createdAt);
    return true;
  }

  /** Makes room for a fire of a schedule, or says that the fire makes no job. */
  makeWay(scheduleId: string, { policy }: PlannedOverlap): OverlapReport {
    if (policy === "skip") {
      return { isSkipped: this.#bySchedule.hasFired(scheduleId), replaced: [], cancelRequested: [] };
    }
    const fired = this.#bySchedule.fired(scheduleId);
    const waiting = fired.filter(({ record }) => record.acquiredBy === null).slice(0, OVERLAP_JOBS_PER_PLAN_MAX);
    for (const entry of waiting) this.#drop(entry);
    const running = policy === "cancelRunning" ? fired.filter(isCancellable).slice(0, OVERLAP_JOBS_PER_PLAN_MAX) : [];
    for (const { record } of running) record.cancelRequested = true;
    return {
      isSkipped: false,
      replaced: waiting.map(({ record }) => ({ jobId: record.id, fireTime: record.fireTime ?? 0 })),
      cancelRequested: running.map(({ record }) => record.id),
    };
  }

  inspect(now: number): Pick<StoreInspection, "tasks" | "oldestDueJob"> {
    const tasks = [...this.#countByTask].map(([taskId, count]) => {
      const running = this.#queues.running(taskId);
      const held = this.#gates.heldCount(taskId);
      return { taskId, waiting: count - running, running, ...(held === 0 ? {} : { held }) };
    });
    tasks.sort((a, b) => (a.taskId < b.taskId ? -1 : 1));
    let oldest: JobRecord | null = null;
    const paused = new Set(this.#gates.pauses().flatMap(({ taskId, key }) => (key === null ? [taskId] : [])));
    for (const entry of this.#byId.values()) {
      const { record } = entry;
      const isDue = record.acquiredBy === null && record.runAt <= now;
      if (isDue && !isHeld(entry) && !paused.has(record.taskId) && (oldest === null || record.runAt < oldest.runAt))
        oldest = record;
    }
    const oldestDueJob = oldest === null ? null : { id: oldest.id, taskId: oldest.taskId, runAt: oldest.runAt };
    return { tasks, oldestDueJob };
  }

  get(id: string): JobRecord | null {
    const entry = this.#byId.get(id);
    return entry === undefined ? null : recordOf(entry);
  }

  page(filter: JobFilter): RecordPage<JobRecord> {
    const { items, cursor } = pageOf(this.#byId.values(), filter, ({ record }) =>
      (filter.taskId ?? record.taskId) === record.taskId &&
      (filter.scheduleId ?? record.scheduleId) === record.scheduleId
        ? record
        : null,
    );
    if (this.#gates.isEmpty) return { items, cursor };
    return { items: items.map((record) => this.get(record.id) ?? record), cursor };
  }

  /** Applies the releases of a step. @param report gets the jobs that recovery ends or takes back */
  release(request: StepRequest, report: RecoveryNotes): ReleaseStatus[] {
    this.#gates.beginStep();
    return request.releases.map((release) => this.#release(release, request, report));
  }

  /** Takes back the leases that are no longer live. @param report gets the jobs */
  recover(now: number, report: RecoveryNotes): void {
    for (let entry = this.#leased.peek(); entry !== undefined; entry = this.#leased.peek()) {
      if ((entry.record.acquiredUntil ?? 0) > now) break;
      this.#takeBack(entry, now, report, null);
    }
  }

  acquire({ now, jobs, schedulerId, stepId, until }: StepRequest): JobRecord[] {
    const acquired: JobRecord[] = [];
    if (jobs === null) return acquired;
    for (const { record } of this.#steps.leasedBy(stepId)) {
      if (record.acquiredBy === schedulerId) acquired.push({ ...record });
    }
    // Acquires nothing while a lease waits for recovery, because the lost job may have to come first.
    if ((this.#leased.peek()?.record.acquiredUntil ?? Number.POSITIVE_INFINITY) <= now) return acquired;
    this.#queues.makeDue(now);
    this.#queues.admit(now);
    const acquire = (entry: JobEntry): void => {
      this.#lease(entry, schedulerId, stepId, until);
      this.#gates.lease(entry, now);
      acquired.push({ ...entry.record });
    };
    // What is acquired may let others be admitted, which may be acquired too.
    let count: number;
    do count = this.#queues.take(jobs.queues, jobs.limit - acquired.length, acquire);
    while (this.#queues.admit(now) > 0 && count > 0);
    return acquired;
  }

  /** The jobs that the step has promoted and that were held before it. */
  get promoted(): readonly PromotedJob[] {
    return this.#gates.promoted;
  }

  see({ now, jobs }: View): SeenJobs {
    if (jobs === null) return NOTHING_SEEN;
    this.#queues.makeDue(now);
    return {
      nextRunAt: this.#queues.nextRunAt(now),
      leaseEndsAt: this.#leased.peek()?.record.acquiredUntil ?? null,
      hasReady: this.#queues.hasReady(jobs.queues, now),
    };
  }

  /** @param isSpared whether the leases of a step are left alone besides those of the caller */
  giveUp({ now, schedulerId, incarnation }: LeaseSurrender, isSpared: (stepId: string) => boolean): RecoveryReport {
    const report: RecoveryNotes = { recovered: [], ended: [] };
    for (const entry of [
      ...this.#steps.leasedWhere((stepId) => !stepId.startsWith(incarnation) && !isSpared(stepId)),
    ]) {
      if (entry.record.acquiredBy === schedulerId) this.#takeBack(entry, now, report, null);
    }
    return report;
  }

  extendLeases(extension: LeaseExtension): LeaseExtensionReport {
    const lost: string[] = [];
    const cancelRequested: string[] = [];
    const extended = new Set<JobEntry>();
    for (const { jobId, fence, hasStarted, progress } of extension.jobs) {
      const entry = this.#byId.get(jobId);
      if (entry === undefined || entry.record.fence !== fence || entry.record.acquiredBy !== extension.schedulerId) {
        lost.push(jobId);
        continue;
      }
      extended.add(entry);
      if (hasStarted === true) entry.record.startedFence = fence;
      if (progress !== undefined) entry.record.progress = frozenCopy(progress);
      this.#endLeaseAt(entry, Math.max(entry.record.acquiredUntil ?? 0, extension.until));
      if (entry.record.cancelRequested) cancelRequested.push(jobId);
    }
    this.#giveUpOrphans(extension, extended);
    return { lost, cancelRequested };
  }

  cancel(id: string, now: number): CancelReport {
    const entry = this.#byId.get(id);
    if (entry === undefined) return { status: "missing" };
    const { record } = entry;
    if (record.acquiredBy !== null) {
      record.cancelRequested = true;
      return { status: "requested", taskId: record.taskId, acquiredBy: record.acquiredBy };
    }
    return { status: "cancelled", result: this.#endWithoutRun(entry, "cancelled", now) };
  }

  #insert(record: JobRecord, isReady: boolean): void {
    const seq = this.#seq++;
    const entry: JobEntry = {
      record,
      seq,
      stamp: null,
      gate: null,
      isPromoted: false,
      heldIn: 0,
      turn: null,
      heap: null,
      heapIndex: -1,
      older: null,
      newer: null,
    };
    this.#byId.set(record.id, entry);
    if (record.idempotencyKey !== null) this.#byKey.set(idempotencyOf(record.idempotencyKey, record.taskId), entry);
    if (record.scheduleId !== null) {
      if (record.fireTime !== null) this.#byFireTime.set(fireKey(record.fireTime, record.scheduleId), entry);
      this.#bySchedule.add(record.scheduleId, entry);
    }
    countIn(this.#countByTask, record.taskId, 1);
    if (record.concurrencyKey !== undefined || !this.#gates.isEmpty) this.#gates.join(entry);
    this.#queues.add(entry, isReady);
  }

  /** Returns what the reports tell: the result without what the store keeps of the job. */
  #endWithoutRun(entry: JobEntry, outcome: "cancelled" | "abandoned", now: number): JobResultRecord {
    const result = endedWithoutRun(entry.record, outcome, now);
    this.#end(entry, withKeptFacts({ ...result }, entry.record, null), now);
    return result;
  }

  #end(entry: JobEntry, result: JobResultRecord, now: number): void {
    this.#drop(entry);
    this.#results.keep(result, now);
  }

  #drop(entry: JobEntry): void {
    const { record } = entry;
    this.#endLease(entry, null);
    entry.heap?.remove(entry);
    this.#gates.leave(entry);
    this.#byId.delete(record.id);
    if (record.idempotencyKey !== null) this.#byKey.delete(idempotencyOf(record.idempotencyKey, record.taskId));
    if (record.scheduleId !== null) {
      if (record.fireTime !== null) this.#byFireTime.delete(fireKey(record.fireTime, record.scheduleId));
      this.#bySchedule.remove(record.scheduleId, entry);
    }
    countIn(this.#countByTask, record.taskId, -1);
  }

  #release(release: JobRelease, step: StepRequest, report: RecoveryNotes): ReleaseStatus {
    const { now, schedulerId, stepId, isRepetition } = step;
    const entry = this.#byId.get(release.jobId);
    const isStart = release.kind === "start";
    if (entry === undefined) {
      return isRepetition && !isStart && this.#results.has(release.jobId) ? "released" : "missing";
    }
    const { record } = entry;
    if (record.fence !== release.fence || record.acquiredBy !== schedulerId) {
      const wasPutBack = isRepetition && !isStart && release.kind !== "finish" && entry.stamp === stepId;
      return wasPutBack ? "released" : "fenced";
    }
    if (release.kind === "finish") {
      this.#end(entry, release.result, now);
    } else if (isStart) {
      record.startedFence = record.fence;
    } else if (record.cancelRequested) {
      report.ended.push(this.#endWithoutRun(entry, "cancelled", now));
    } else if (release.kind === "giveUp" && release.hasStarted === true) {
      record.startedFence = record.fence;
      this.#takeBack(entry, now, report, stepId);
    } else {
      if (release.kind === "retry") {
        record.runAt = release.runAt;
        record.failedAttempts = release.failedAttempts;
        if (release.attemptHistory !== undefined) record.attemptHistory = frozenCopy(release.attemptHistory);
      }
      this.#queue(entry, stepId, release.kind === "giveUp" || record.runAt <= now);
    }
    return "released";
  }

  /** @param stamp the step that gave the job up, if any */
  #takeBack(entry: JobEntry, now: number, { recovered, ended }: RecoveryNotes, stamp: string | null): void {
    const { record } = entry;
    // A job that was lost before starts only after the store was told so.
    const mayHaveStarted = record.recoveries === 0 || record.startedFence === record.fence;
    if (record.cancelRequested || (mayHaveStarted && record.recoveries >= record.maxRecoveries)) {
      const outcome = record.cancelRequested ? "cancelled" : "abandoned";
      ended.push(this.#endWithoutRun(entry, outcome, now));
      return;
    }
    if (mayHaveStarted) record.recoveries++;
    this.#queue(entry, stamp, true);
    const { id: jobId, taskId, scheduleId } = record;
    recovered.push({ jobId, taskId, scheduleId, attempt: record.failedAttempts + record.recoveries });
  }

  /** Gives up leases that steps of this incarnation made but the extension does not name. Nobody runs their jobs,
   *  because a try of such a step arrived late. */
  #giveUpOrphans(extension: LeaseExtension, extended: ReadonlySet<JobEntry>): void {
    const { now, schedulerId, incarnation, settledStepId } = extension;
    const isOurs = (stepId: string): boolean =>
      settledStepId !== null && stepId <= settledStepId && stepId.startsWith(incarnation);
    for (const entry of [...this.#steps.leasedWhere(isOurs)]) {
      if (entry.record.acquiredBy !== schedulerId || extended.has(entry)) continue;
      if (entry.record.cancelRequested) this.#endLeaseAt(entry, now);
      else this.#queue(entry, null, true);
    }
  }

  #lease(entry: JobEntry, schedulerId: string, stepId: string, until: number): void {
    entry.record.acquiredBy = schedulerId;
    entry.record.acquiredUntil = until;
    entry.record.fence++;
    this.#steps.lease(stepId, entry);
    this.#queues.count(entry.record.taskId, 1);
    moveTo(this.#leased, entry);
  }

  #endLeaseAt(entry: JobEntry, until: number): void {
    this.#leased.remove(entry);
    entry.record.acquiredUntil = until;
    this.#leased.push(entry);
  }

  /** Puts a leased job back into its queue. The job was ready once, and a clock that is behind does not take that back.
   *  @param stamp id of the step that puts it back, or null */
  #queue(entry: JobEntry, stamp: string | null, isReady: boolean): void {
    this.#endLease(entry, stamp);
    this.#queues.add(entry, isReady);
  }

  /** Ends the lease of an entry; does nothing for an entry that is not leased. */
  #endLease(entry: JobEntry, stamp: string | null): void {
    if (entry.record.acquiredBy === null) return;
    this.#leased.remove(entry);
    entry.record.acquiredBy = null;
    entry.record.acquiredUntil = null;
    this.#steps.endLease(entry, stamp);
    this.#queues.count(entry.record.taskId, -1);
    this.#gates.endLease(entry);
  }

  /** Lets the jobs of a task, or of one key of a task, pass its gates once more. */
  #admitAnew(taskId: string, key: string | null): void {
    for (const entry of this.#byId.values()) {
      const { record } = entry;
      if (record.taskId !== taskId || (key !== null && record.concurrencyKey !== key)) continue;
      const isDue = entry.heap !== null && record.acquiredBy === null && !this.#queues.isDelayed(entry);
      this.#gates.leave(entry);
      this.#gates.join(entry);
      if (isDue) this.#queues.add(entry, true);
    }
  }
}

function isCancellable({ record }: JobEntry): boolean {
  return record.acquiredBy !== null && !record.cancelRequested;
}

/** No key has a NUL character. */
function idempotencyOf(key: string, taskId: string): string {
  return `${key}\0${taskId}`;
}

function fireKey(fireTime: number, scheduleId: string): string {
  return `${fireTime} ${scheduleId}`;
}
