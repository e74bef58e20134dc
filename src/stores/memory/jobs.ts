import { OVERLAP_JOBS_PER_PLAN_MAX } from "../../core/limits.ts";
import { compareTexts } from "../../core/text.ts";
import type { JobRecord } from "../../records/job.ts";
import type { TaskRecord } from "../../records/task.ts";
import type {
  CancelReport,
  JobFilter,
  OverlapReport,
  PlannedOverlap,
  PromotedJob,
  RecordPage,
  Seen,
  StepRequest,
  StoreInspection,
  TaskPause,
  TaskPauseRequest,
  View,
} from "../data-store.ts";
import { isFound } from "../search.ts";
import { MemoryChains } from "./chains.ts";
import type { JobEntry } from "./gate.ts";
import { isHeld, MemoryGates } from "./gates.ts";
import { JobAdditions } from "./job-additions.ts";
import { JobEnds } from "./job-ends.ts";
import { JobReleases } from "./job-releases.ts";
import { JobTable } from "./job-table.ts";
import { MemoryLeases } from "./leases.ts";
import type { MemoryLedger } from "./ledger.ts";
import { executorSlots, MemoryQueues } from "./queues.ts";
import { emptyNotes, type RecoveryNotes } from "./recovery-notes.ts";
import type { MemoryResults } from "./results.ts";
import { BY_ID, BY_ID_BACKWARDS, type PageOrder, pageOf } from "./tables.ts";
import { Bursts, Windows } from "./windows.ts";

/** What {@link MemoryJobs.see} returns. */
type SeenJobs = Pick<Seen, "nextRunAt" | "nextMissAt" | "leaseEndsAt" | "hasReady">;

const NOTHING_SEEN: SeenJobs = Object.freeze({
  nextRunAt: null,
  nextMissAt: null,
  leaseEndsAt: null,
  hasReady: false,
});

/**
 * The unfinished jobs of a `MemoryDataStore`. Each job is in exactly one heap: a waiting job in a heap of
 * {@link MemoryQueues} or of its gate, a leased job in the heap of {@link MemoryLeases}. So a step reads no more jobs
 * than it moves.
 */
export class MemoryJobs {
  readonly additions: JobAdditions;
  readonly releases: JobReleases;
  readonly table: JobTable = new JobTable();
  readonly #gates = new MemoryGates();
  readonly #chains = new MemoryChains();
  readonly #windows = new Windows();
  readonly #queues: MemoryQueues;
  readonly #leases: MemoryLeases;
  readonly #ends: JobEnds;

  constructor(results: MemoryResults, ledger: MemoryLedger | null, maxRunningJobs: (taskId: string) => number | null) {
    this.#queues = new MemoryQueues(maxRunningJobs, this.#gates);
    const bursts = new Bursts();
    const state = { table: this.table, gates: this.#gates, chains: this.#chains, queues: this.#queues, results };
    this.#leases = new MemoryLeases({ ...state, bursts });
    this.#ends = new JobEnds({ ...state, bursts, leases: this.#leases, ledger });
    this.releases = new JobReleases({ ...state, leases: this.#leases, ends: this.#ends });
    this.additions = new JobAdditions({ ...state, bursts, windows: this.#windows, ends: this.#ends, ledger });
  }

  isTaskInUse(taskId: string): boolean {
    return this.table.countByTask.has(taskId);
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
    return this.table.ofSchedules.has(scheduleId);
  }

  has(id: string): boolean {
    return this.table.has(id);
  }

  hasWindowsToRemove(now: number): boolean {
    return this.#windows.hasOld(now);
  }

  cleanupWindows(now: number, limit: number): number {
    return this.#windows.cleanup(now, limit);
  }

  /** Ends jobs that have missed their start. */
  endMissed(now: number, notes: RecoveryNotes): void {
    this.#ends.endMissed(now, notes);
  }

  /** Makes room for a fire of a schedule, or says that the fire makes no job. */
  makeWay(scheduleId: string, { policy }: PlannedOverlap, now: number, notes: RecoveryNotes): OverlapReport {
    if (policy === "skip") {
      return { isSkipped: this.table.ofSchedules.hasFired(scheduleId, now), replaced: [], cancelRequested: [] };
    }
    const fired = this.table.ofSchedules.fired(scheduleId, now);
    const waiting = fired.filter(({ record }) => record.acquiredBy === null).slice(0, OVERLAP_JOBS_PER_PLAN_MAX);
    for (const entry of waiting) {
      this.#ends.drop(entry);
      this.#ends.settleChildren(entry.record.id, "cancelled", now, notes);
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
    const tasks = [...this.table.countByTask].map(([taskId, count]) => {
      const running = this.#queues.running(taskId);
      const held = this.#gates.heldCount(taskId) + this.#chains.blocked(taskId);
      return { taskId, waiting: count - running, running, ...(held === 0 ? {} : { held }) };
    });
    tasks.sort((a, b) => compareTexts(a.taskId, b.taskId));
    let oldest: JobRecord | null = null;
    for (const { record } of this.table.all()) {
      if (record.acquiredBy !== null || record.runAt > now || record.heldBy === "parents") continue;
      if (oldest === null || record.runAt < oldest.runAt) oldest = record;
    }
    const oldestDueJob = oldest === null ? null : { id: oldest.id, taskId: oldest.taskId, runAt: oldest.runAt };
    return { tasks, oldestDueJob };
  }

  get(id: string): JobRecord | null {
    return this.table.get(id);
  }

  ofFireTime(scheduleId: string, fireTime: number): JobRecord | null {
    return this.table.ofFireTime(scheduleId, fireTime);
  }

  page(filter: JobFilter): RecordPage<JobRecord> {
    const order: PageOrder<JobRecord> = filter.order === "newest" ? BY_ID_BACKWARDS : BY_ID;
    const { items, cursor } = pageOf(this.table.all(), filter, order, (entry) =>
      isTaken(entry, filter) ? entry.record : null,
    );
    if (this.#gates.isEmpty) return { items, cursor };
    return { items: items.map((record) => this.get(record.id) ?? record), cursor };
  }

  acquire({ now, jobs, schedulerId, stepId, until }: StepRequest): JobRecord[] {
    const acquired: JobRecord[] = [];
    if (jobs === null) return acquired;
    for (const { record } of this.#leases.leasedBy(stepId)) {
      if (record.acquiredBy === schedulerId) acquired.push({ ...record });
    }
    // Acquires nothing while a lease waits for recovery, because the lost job may have to come first.
    if ((this.#leases.first?.record.acquiredUntil ?? Number.POSITIVE_INFINITY) <= now) return acquired;
    this.#gates.clampBuckets(now);
    this.#queues.makeDue(now);
    this.#queues.admit(now);
    const acquire = (entry: JobEntry): void => {
      this.#leases.begin(entry, schedulerId, stepId, until);
      this.#gates.lease(entry, now);
      acquired.push({ ...entry.record });
    };
    // What is acquired may let others be admitted, which may be acquired too.
    let count: number;
    const byExecutor = executorSlots(jobs, acquired);
    do count = this.#queues.take(jobs.queues, jobs.limit - acquired.length, acquire, byExecutor);
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
    const entry = this.table.find(jobId);
    return entry !== undefined && isHeld(entry);
  }

  /** @param acquired what the step that looks has acquired */
  see({ now, jobs }: View, acquired: readonly JobRecord[] = []): SeenJobs {
    if (jobs === null) return NOTHING_SEEN;
    this.#gates.clampBuckets(now);
    this.#queues.makeDue(now);
    const deadline = this.table.nextToStart()?.record.startDeadline ?? null;
    return {
      nextRunAt: this.#queues.nextRunAt(now),
      nextMissAt: deadline === null ? null : deadline + 1,
      leaseEndsAt: this.#leases.first?.record.acquiredUntil ?? null,
      hasReady: this.#queues.hasReady(jobs.queues, executorSlots(jobs, acquired), now),
    };
  }

  cancel(id: string, now: number): CancelReport {
    const entry = this.table.find(id);
    if (entry === undefined) return { status: "missing" };
    const { record } = entry;
    if (record.acquiredBy !== null) {
      record.cancelRequested = true;
      return { status: "requested", taskId: record.taskId, acquiredBy: record.acquiredBy };
    }
    const notes = emptyNotes();
    const result = this.#ends.endWithoutRun(entry, "cancelled", now, notes);
    const ended = notes.ended.slice(1);
    return ended.length === 0 ? { status: "cancelled", result } : { status: "cancelled", result, ended };
  }

  /** Lets the jobs of a task, or of one key of a task, pass its gates once more. */
  #admitAnew(taskId: string, key: string | null): void {
    for (const entry of this.table.all()) {
      const { record } = entry;
      if (record.taskId !== taskId || (key !== null && record.concurrencyKey !== key)) continue;
      const isDue = entry.heap !== null && record.acquiredBy === null && !this.#queues.isDelayed(entry);
      this.#gates.leave(entry);
      this.#gates.join(entry);
      if (isDue) this.#queues.add(entry, true);
    }
  }
}

function isTaken(entry: JobEntry, { taskId, scheduleId, state, runAfter, runBefore, search }: JobFilter): boolean {
  const { record } = entry;
  return (
    (taskId ?? record.taskId) === record.taskId &&
    (scheduleId ?? record.scheduleId) === record.scheduleId &&
    (state === undefined || state === stateOf(entry)) &&
    (runAfter === undefined || record.runAt >= runAfter) &&
    (runBefore === undefined || record.runAt < runBefore) &&
    (search === undefined ||
      isFound(search, [record.id, record.taskId, record.scheduleId, record.idempotencyKey, record.concurrencyKey]))
  );
}

function stateOf(entry: JobEntry): JobFilter["state"] {
  if (entry.record.acquiredBy !== null) return "running";
  return isHeld(entry) || entry.record.heldBy !== undefined ? "held" : "queued";
}

function isCancellable({ record }: JobEntry): boolean {
  return record.acquiredBy !== null && !record.cancelRequested;
}
