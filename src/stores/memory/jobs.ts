import { Heap } from "../../core/heap.ts";
import { OVERLAP_JOBS_PER_PLAN_MAX } from "../../core/limits.ts";
import { type JobRecord, NEVER_RUN, type NewJobRecord } from "../../records/job.ts";
import { type JobResultRecord, withKeptFacts } from "../../records/job-result.ts";
import type { JobOutcome } from "../../records/policies.ts";
import type { ScheduleRecord } from "../../records/schedule.ts";
import type { TaskRecord } from "../../records/task.ts";
import { addedJob, debouncedRunAt } from "../added-job.ts";
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
import { hasParents, refuseCircles, unknownParents } from "../parents.ts";
import { isCancelledBy, MemoryChains } from "./chains.ts";
import type { JobEntry } from "./gate.ts";
import { isHeld, MemoryGates, recordOf } from "./gates.ts";
import { JobsOfSchedules } from "./jobs-of-schedules.ts";
import { countIn, MemoryQueues, moveTo } from "./queues.ts";
import type { MemoryResults } from "./results.ts";
import { Steps } from "./steps.ts";
import { frozenCopy, type Mutable, pageOf } from "./tables.ts";
import { Bursts, Windows } from "./windows.ts";

/** What a report tells of jobs besides those of its request, while it is still being written. */
export interface RecoveryNotes {
  readonly recovered: RecoveredJob[];
  readonly ended: JobResultRecord[];
  readonly promoted: PromotedJob[];
}

export function emptyNotes(): RecoveryNotes {
  return { recovered: [], ended: [], promoted: [] };
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
  readonly #chains = new MemoryChains();
  readonly #windows = new Windows();
  readonly #bursts = new Bursts();
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

  /**
   * Refuses jobs whose parents are unknown, or that would wait for each other, before anything is changed.
   * @param step the step that adds the jobs, if any: a parent that ends there and leaves no result is unknown
   * @throws {StoreRefusedError}
   */
  checkParents(jobs: readonly NewJobRecord[], step: StepRequest | null): void {
    if (!jobs.some(hasParents)) return;
    refuseCircles(jobs);
    const ids = new Set(jobs.map(({ id }) => id));
    const isKnown = (id: string, now: number): boolean => {
      const entry = this.#byId.get(id);
      const stays = entry !== undefined && (step === null || !vanishesIn(step, entry));
      return ids.has(id) || stays || this.#results.get(id, now) !== null;
    };
    const unknown = jobs
      .filter((job) => hasParents(job) && !this.has(job.id) && !this.#results.hasEnded(job.id))
      .filter((job) => job.retryOf === undefined && this.#rivalOf(job) === undefined)
      .flatMap(({ after = [], createdAt }) => after.filter((id) => !isKnown(id, createdAt)));
    if (unknown.length > 0) throw unknownParents([...new Set(unknown)]);
  }

  /** Adds jobs, whose parents have been checked. @param metadata frozen copies of the jobs' metadata. The caller makes
   *  these copies before the first change, because reading the metadata may throw */
  addAll(
    jobs: readonly NewJobRecord[],
    metadata: readonly JobRecord["metadata"][],
    notes: RecoveryNotes,
  ): readonly JobAddition[] {
    const children: JobEntry[] = [];
    const additions = jobs.map((job, index) => this.#add(job, metadata[index] ?? job.metadata, children));
    this.#startChildren(jobs, additions, children, notes);
    const hasBursts = jobs.some(({ debounce }) => debounce !== undefined);
    if (!hasBursts && !jobs.some(hasParents)) return additions;
    return additions.map((addition, index) => {
      const { job, isNew } = addition;
      const isChild = hasParents(job) && isNew && job.id === jobs[index]?.id;
      const record = this.get(job.id);
      // Later additions of the call may have changed the job of a burst.
      if (record !== null) return isChild || hasBursts ? { ...addition, job: record } : addition;
      return isChild ? { job, isNew, hasEnded: true } : addition;
    });
  }

  /** Has the new jobs with parents wait for these, and lets those wait no longer whose parents have ended. */
  #startChildren(
    jobs: readonly NewJobRecord[],
    additions: readonly JobAddition[],
    children: readonly JobEntry[],
    notes: RecoveryNotes,
  ): void {
    if (children.length === 0) return;
    // Jobs of the same call that were not added have others in their place.
    const standIns = new Map(additions.map(({ job }, index) => [jobs[index]?.id, job.id]));
    for (const entry of children) {
      entry.record.after = Object.freeze((entry.record.after ?? []).map((id) => standIns.get(id) ?? id));
    }
    // All wait before the first one ends, which ends or frees others.
    const ended = new Map(notes.ended.map(({ jobId, outcome }) => [jobId, outcome]));
    const doomed = children.filter((entry) => this.#waitForParents(entry, ended));
    for (const entry of doomed) this.#cancelChildren([entry], entry.record.createdAt, notes);
    for (const entry of children) {
      const isWaiting = this.#isThere(entry) && entry.heap === null && !this.#chains.isBlocked(entry);
      if (isWaiting) this.#queues.add(entry, entry.record.runAt <= entry.record.createdAt);
    }
  }

  #add(job: NewJobRecord, metadata: JobRecord["metadata"], children: JobEntry[]): JobAddition {
    const isWindowed = job.debounce !== undefined || job.once !== undefined;
    if (this.#byId.has(job.id) || this.#results.hasEnded(job.id)) {
      const { record } = (isWindowed ? this.#byId.get(job.id) : undefined) ?? { record: addedJob(job) };
      return { job: { ...record }, isNew: true };
    }
    if (!isWindowed) return this.#addUnlessRivalled(job, metadata, children);
    const burst = this.#bursts.join(job);
    if (burst !== null) {
      const entry = this.#byId.get(burst.jobId);
      if (entry !== undefined && burst.isLast) this.#debounce(entry, job, metadata);
      return this.#standIn(burst.jobId, job);
    }
    const opener = this.#windows.openerOf(job);
    if (opener !== null) return this.#standIn(opener, job);
    const addition = this.#addUnlessRivalled(addedJob(job), metadata, children);
    if (!addition.isNew) return addition;
    this.#windows.added(job);
    this.#bursts.added(job);
    return addition;
  }

  /** The answer to an addition for which another job stands. */
  #standIn(id: string, job: NewJobRecord): JobAddition {
    const entry = this.#byId.get(id);
    if (entry !== undefined) return { job: recordOf(entry), isNew: false };
    return { job: { ...addedJob(job), id }, isNew: false, hasEnded: true };
  }

  hasWindowsToRemove(now: number): boolean {
    return this.#windows.hasOld(now);
  }

  cleanupWindows(now: number, limit: number): number {
    return this.#windows.cleanup(now, limit);
  }

  /** The job of a burst gets the values of the burst's last addition. */
  #debounce(entry: JobEntry, job: NewJobRecord, metadata: JobRecord["metadata"]): void {
    const { executor, payload, priority, startDeadline, resultExpirationMs, maxRecoveries, concurrencyKey } = job;
    const { record } = entry;
    // A job that waits for its parents is in no heap, and its end puts it into one.
    const isQueued = entry.heap !== null;
    // Its gate and its place in a heap depend on the values.
    this.#gates.leave(entry);
    entry.heap?.remove(entry);
    Object.assign(record, { executor, payload, priority, startDeadline, resultExpirationMs, maxRecoveries, metadata });
    record.runAt = debouncedRunAt(job, record.createdAt);
    if (concurrencyKey === undefined) delete record.concurrencyKey;
    else record.concurrencyKey = concurrencyKey;
    this.#gates.join(entry);
    if (isQueued) this.#queues.add(entry, record.runAt <= job.createdAt);
  }

  #addUnlessRivalled(job: JobRecord, metadata: JobRecord["metadata"], children: JobEntry[]): JobAddition {
    const existing = this.#rivalOf(job);
    if (existing !== undefined) return { job: recordOf(existing), isNew: false };
    // The store keeps a copy, so that the caller's record itself may be returned.
    const record: Mutable<JobRecord> = { ...job, metadata };
    if (record.heldBy !== undefined) delete record.heldBy;
    const entry = this.#insert(record);
    if (hasParents(job)) children.push(entry);
    else this.#queues.add(entry, job.runAt <= job.createdAt);
    return { job, isNew: true };
  }

  #rivalOf({ idempotencyKey, taskId, scheduleId, fireTime }: JobRecord): JobEntry | undefined {
    return (
      (idempotencyKey === null ? undefined : this.#byKey.get(idempotencyOf(idempotencyKey, taskId))) ??
      (scheduleId === null || fireTime === null ? undefined : this.#byFireTime.get(fireKey(fireTime, scheduleId)))
    );
  }

  /** Holds a new job while it has unfinished parents. Returns whether a parent that has ended cancels the job.
   *  @param ended the outcomes of the jobs that ended in the same step, whose results may not be kept */
  #waitForParents(entry: JobEntry, ended: ReadonlyMap<string, JobOutcome>): boolean {
    const { after = [], createdAt } = entry.record;
    const open = new Set(after.filter((id) => this.#byId.has(id)));
    if (open.size > 0) this.#chains.block(entry, open);
    return after.some((id) => {
      const outcome = open.has(id) ? undefined : (this.#results.get(id, createdAt)?.outcome ?? ended.get(id));
      return outcome !== undefined && isCancelledBy(entry, outcome);
    });
  }

  /** Tells in the answers which jobs are held, when all else is done. */
  withHolds(additions: readonly JobAddition[]): JobAddition[] {
    if (additions.length === 0) return [];
    return additions.map((addition) => {
      const { job } = addition;
      const mayBeHeld = !this.#gates.isEmpty || job.heldBy !== undefined;
      const entry = mayBeHeld ? this.#byId.get(job.id) : undefined;
      const heldBy = entry === undefined ? undefined : recordOf(entry).heldBy;
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
    this.#queues.add(this.#insert(record), fire.runAt <= fire.createdAt);
    return true;
  }

  /** Makes room for a fire of a schedule, or says that the fire makes no job. */
  makeWay(scheduleId: string, { policy }: PlannedOverlap, now: number, notes: RecoveryNotes): OverlapReport {
    if (policy === "skip") {
      return { isSkipped: this.#bySchedule.hasFired(scheduleId), replaced: [], cancelRequested: [] };
    }
    const fired = this.#bySchedule.fired(scheduleId);
    const waiting = fired.filter(({ record }) => record.acquiredBy === null).slice(0, OVERLAP_JOBS_PER_PLAN_MAX);
    for (const entry of waiting) {
      this.#drop(entry);
      this.#settleChildren(entry.record.id, "cancelled", now, notes);
    }
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
      const held = this.#gates.heldCount(taskId) + this.#chains.blocked(taskId);
      return { taskId, waiting: count - running, running, ...(held === 0 ? {} : { held }) };
    });
    tasks.sort((a, b) => (a.taskId < b.taskId ? -1 : 1));
    let oldest: JobRecord | null = null;
    const paused = new Set(this.#gates.pauses().flatMap(({ taskId, key }) => (key === null ? [taskId] : [])));
    for (const entry of this.#byId.values()) {
      const { record } = entry;
      if (record.acquiredBy !== null || record.runAt > now || paused.has(record.taskId)) continue;
      if (isHeld(entry) || record.heldBy === "parents") continue;
      if (oldest === null || record.runAt < oldest.runAt) oldest = record;
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

  /** The jobs that the step has promoted and that were held before it. @param freed those that waited for their parents
   *  before it, and that their keys may hold now */
  promoted(freed: readonly PromotedJob[]): readonly PromotedJob[] {
    if (freed.length === 0) return this.#gates.promoted;
    return [...freed.filter(({ jobId }) => !this.#isHeld(jobId)), ...this.#gates.promoted];
  }

  #isHeld(jobId: string): boolean {
    const entry = this.#byId.get(jobId);
    return entry !== undefined && isHeld(entry);
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
    const report = emptyNotes();
    for (const entry of [
      ...this.#steps.leasedWhere((stepId) => !stepId.startsWith(incarnation) && !isSpared(stepId)),
    ]) {
      if (entry.record.acquiredBy === schedulerId) this.#takeBack(entry, now, report, null);
    }
    return { recovered: report.recovered, ended: report.ended };
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
    const notes = emptyNotes();
    const result = this.#endWithoutRun(entry, "cancelled", now, notes);
    const ended = notes.ended.slice(1);
    return ended.length === 0 ? { status: "cancelled", result } : { status: "cancelled", result, ended };
  }

  /** The caller puts the job into a queue, or has it wait for its parents. */
  #insert(record: JobRecord): JobEntry {
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
    return entry;
  }

  #isThere(entry: JobEntry): boolean {
    return this.#byId.get(entry.record.id) === entry;
  }

  /** Ends a job and settles its children. Returns the job's result as the report has it. */
  #endWithoutRun(
    entry: JobEntry,
    outcome: "cancelled" | "abandoned",
    now: number,
    notes: RecoveryNotes,
  ): JobResultRecord {
    const result = this.#endAlone(entry, outcome, now, notes);
    this.#settleChildren(result.jobId, outcome, now, notes);
    return result;
  }

  /** Ends a job, and leaves its children as they are. Reports tell the result without what the store keeps of the
   *  job. */
  #endAlone(entry: JobEntry, outcome: "cancelled" | "abandoned", now: number, notes: RecoveryNotes): JobResultRecord {
    const result = endedWithoutRun(entry.record, outcome, now);
    this.#drop(entry);
    this.#results.keep(withKeptFacts({ ...result }, entry.record, null), now);
    notes.ended.push(result);
    return result;
  }

  #end(entry: JobEntry, result: JobResultRecord, now: number, notes: RecoveryNotes): void {
    this.#drop(entry);
    this.#results.keep(result, now);
    this.#settleChildren(result.jobId, result.outcome, now, notes);
  }

  /** Frees or cancels the children of a job that has ended, and then the children of those that are cancelled. */
  #settleChildren(jobId: string, outcome: JobOutcome, now: number, notes: RecoveryNotes): void {
    this.#cancelChildren(this.#freeChildren(jobId, outcome, now, notes), now, notes);
  }

  /** Frees the children whose last parent has ended. Returns those that are to be cancelled. */
  #freeChildren(jobId: string, outcome: JobOutcome, now: number, notes: RecoveryNotes): readonly JobEntry[] {
    const { freed, doomed } = this.#chains.ended(jobId, outcome);
    for (const entry of freed) {
      const { id, taskId, scheduleId, concurrencyKey, runAt } = entry.record;
      this.#chains.unblock(entry);
      this.#queues.add(entry, runAt <= now);
      const key = concurrencyKey === undefined ? {} : { concurrencyKey };
      notes.promoted.push({ jobId: id, taskId, scheduleId, ...key });
    }
    return doomed;
  }

  /** Cancels jobs because of their parents, and then their own children. No recursion, because a chain may be longer
   *  than the stack. */
  #cancelChildren(entries: readonly JobEntry[], now: number, notes: RecoveryNotes): void {
    let level = entries;
    while (level.length > 0) {
      const next: JobEntry[] = [];
      for (const entry of level) {
        // It may have had several parents that were cancelled.
        if (!this.#isThere(entry)) continue;
        this.#endAlone(entry, "cancelled", now, notes);
        for (const child of this.#freeChildren(entry.record.id, "cancelled", now, notes)) next.push(child);
      }
      level = next;
    }
  }

  #drop(entry: JobEntry): void {
    const { record } = entry;
    this.#chains.unblock(entry);
    this.#bursts.over(record.id);
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
      this.#end(entry, release.result, now, report);
    } else if (isStart) {
      record.startedFence = record.fence;
    } else if (record.cancelRequested) {
      this.#endWithoutRun(entry, "cancelled", now, report);
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
  #takeBack(entry: JobEntry, now: number, report: RecoveryNotes, stamp: string | null): void {
    const { record } = entry;
    if (isLastLoss(record)) {
      const outcome = record.cancelRequested ? "cancelled" : "abandoned";
      this.#endWithoutRun(entry, outcome, now, report);
      return;
    }
    if (mayHaveStarted(record)) record.recoveries++;
    this.#queue(entry, stamp, true);
    const { id: jobId, taskId, scheduleId } = record;
    report.recovered.push({ jobId, taskId, scheduleId, attempt: record.failedAttempts + record.recoveries });
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
    this.#bursts.over(entry.record.id);
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

/** A job that was lost before starts only after the store was told so. */
function mayHaveStarted({ recoveries, startedFence, fence }: JobRecord): boolean {
  return recoveries === 0 || startedFence === fence;
}

/** Whether a job ends when its lease is lost. */
function isLastLoss(record: JobRecord): boolean {
  return record.cancelRequested || (mayHaveStarted(record) && record.recoveries >= record.maxRecoveries);
}

/** Whether the releases or the recovery of a step end a job, and leave no result. */
function vanishesIn({ now, schedulerId, recover, releases }: StepRequest, { record }: JobEntry): boolean {
  if (record.acquiredBy === null) return false;
  const isOurs = record.acquiredBy === schedulerId;
  const release = isOurs
    ? releases.find(({ jobId, fence }) => jobId === record.id && fence === record.fence)
    : undefined;
  if (release?.kind === "finish") return release.result.expiresAt <= now;
  const isLost = recover && (record.acquiredUntil ?? 0) <= now;
  const hasStarted = release?.kind === "start" || (release?.kind === "giveUp" && release.hasStarted === true);
  const goesBack = release !== undefined && release.kind !== "start";
  const isTakenBack = goesBack ? record.cancelRequested || hasStarted : isLost;
  const { startedFence, fence, resultExpirationMs } = record;
  const before = { ...record, startedFence: hasStarted ? fence : startedFence };
  return isTakenBack && resultExpirationMs <= 0 && isLastLoss(before);
}

/** No key has a NUL character. */
function idempotencyOf(key: string, taskId: string): string {
  return `${key}\0${taskId}`;
}

function fireKey(fireTime: number, scheduleId: string): string {
  return `${fireTime} ${scheduleId}`;
}
